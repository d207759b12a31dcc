//! The idle connections of one server, a list for each worker.
//!
//! A worker looks into its own list first, since a connection from another worker's must be registered anew with its
//! own runtime (two system calls). That is still cheaper than to ask a server to change one: only where no list has a connection in
//! the wanted state, the nearest of the first list that has any is taken.
//!
//! Cost: one uncontended lock for a connection of the own worker in the wanted state; else up to two for each worker.

use std::fmt::Debug;

use parking_lot::Mutex;

/// A connection, as its pool sees it.
pub(crate) trait Pooled: Debug + Send + Sync + 'static {
    /// Which worker it is registered with.
    fn worker(&self) -> usize;
    /// As whom it is logged in.
    fn user(&self) -> &str;
    /// Whether it is that thread's, as this session left it.
    fn is_left_by(&self, thread_id: u32, session: u32) -> bool;
    /// When it was put back last.
    fn idle_since_ms(&self) -> u64;
    /// When its server was heard last.
    fn silent_since_ms(&self) -> u64;
    /// Whether its server has closed it, or said something that nobody asked for.
    fn is_disturbed(&mut self) -> bool;
    /// The proxy will say something on it: nobody has left it so any more.
    fn is_for_the_proxy(&mut self);
}

/// What is wanted of a connection, as the pool sees it.
pub(in crate::backend) trait Choice<C> {
    /// Up to this distance the server has nothing to change.
    const UNCHANGED_DISTANCE_MAX: u32;
    /// How far the connection is from what is wanted; `None` when it cannot be used.
    fn distance(&self, connection: &C) -> Option<u32>;
    /// Whether the statement leads out of the state that the session is in.
    fn is_aimed(&self) -> bool;
    /// Whether nothing must be changed on the connection before the statement.
    fn needs_no_change(&self, connection: &C) -> bool;
}

/// Idle connections. See the module's doc.
#[derive(Debug)]
pub(in crate::backend) struct Pool<C> {
    shelves: Vec<Mutex<Vec<Box<C>>>>,
}

impl<C: Pooled> Pool<C> {
    pub(in crate::backend) fn new(workers: usize) -> Self {
        Self { shelves: (0..workers.max(1)).map(|_| Mutex::default()).collect() }
    }

    pub(in crate::backend) fn len(&self) -> usize {
        self.shelves.iter().map(|shelf| shelf.lock().len()).sum()
    }

    /// Takes the connection that suits best: one that need not be changed, the own worker's first, or else the nearest, if it may be
    /// changed. Those that the server has closed are dropped.
    pub(in crate::backend) fn take(
        &self,
        worker: usize,
        wanted: &impl Choice<C>,
        fit: Fit,
    ) -> Option<Box<C>> {
        let workers = self.shelves.len();
        let take = |far| (0..workers).find_map(|step| self.take_from((worker + step) % workers, wanted, far));
        let unchanged =
            take(Far::Nowhere).or_else(|| if wanted.is_aimed() { take(Far::ByTheStatement) } else { None });
        if unchanged.is_some() || fit == Fit::AsItIs { unchanged } else { take(Far::Anywhere) }
    }

    fn take_from(&self, shelf: usize, wanted: &impl Choice<C>, far: Far) -> Option<Box<C>> {
        loop {
            let mut connection = {
                let mut shelf = self.shelves.get(shelf)?.lock();
                let best = nearest(&shelf, wanted, far)?;
                shelf.swap_remove(best)
            };
            if !connection.is_disturbed() {
                return Some(connection);
            }
        }
    }

    /// Takes any connection of the user, whatever its state.
    pub(in crate::backend) fn take_of(&self, worker: usize, user: &str) -> Option<Box<C>> {
        let workers = self.shelves.len();
        (0..workers).find_map(|step| {
            let mut shelf = self.shelves.get((worker + step) % workers)?.lock();
            let place = shelf.iter_mut().rposition(|idle| idle.user() == user && !idle.is_disturbed())?;
            let mut taken = shelf.swap_remove(place);
            taken.is_for_the_proxy();
            Some(taken)
        })
    }

    /// Takes the connection of that thread, if it is as this session left it.
    pub(in crate::backend) fn take_left(&self, thread_id: u32, session: u32) -> Option<Box<C>> {
        self.shelves.iter().find_map(|shelf| {
            let mut shelf = shelf.lock();
            let place = shelf
                .iter_mut()
                .position(|idle| idle.is_left_by(thread_id, session) && !idle.is_disturbed())?;
            Some(shelf.swap_remove(place))
        })
    }

    /// Takes the connections that have been silent since before `ms`.
    pub(in crate::backend) fn take_silent(&self, ms: u64) -> Vec<Box<C>> {
        let is_silent = |idle: &mut Box<C>| idle.silent_since_ms() < ms;
        let mut taken: Vec<_> = self
            .shelves
            .iter()
            .flat_map(|shelf| shelf.lock().extract_if(.., is_silent).collect::<Vec<_>>())
            .collect();
        taken.iter_mut().for_each(|connection| connection.is_for_the_proxy());
        taken
    }

    /// Puts a connection on the shelf of the worker that it is registered with.
    pub(in crate::backend) fn put(&self, connection: Box<C>) {
        if let Some(shelf) = self.shelves.get(connection.worker()) {
            shelf.lock().push(connection);
        }
    }

    /// Closes one idle connection, the one that has been idle longest on its shelf, to make room for another kind.
    pub(in crate::backend) fn evict_one(&self, worker: usize) -> Option<Box<C>> {
        let workers = self.shelves.len();
        (0..workers).find_map(|step| {
            let mut shelf = self.shelves.get((worker + step) % workers)?.lock();
            let oldest = shelf.iter().enumerate().min_by_key(|(_, idle)| idle.idle_since_ms())?.0;
            Some(shelf.swap_remove(oldest))
        })
    }

    /// Closes all.
    pub(in crate::backend) fn clear(&self) {
        for shelf in &self.shelves {
            let closed = std::mem::take(&mut *shelf.lock());
            drop(closed);
        }
    }

    /// Closes what the server has closed or `is_too_old` and, beyond `keep` connections in all, what has been idle since
    /// before `ms`.
    pub(in crate::backend) fn trim(&self, keep: usize, idle_before_ms: u64, is_too_old: impl Fn(&C) -> bool) {
        let mut surplus = self.len().saturating_sub(keep);
        for shelf in &self.shelves {
            let mut closed = Vec::new();
            let mut shelf = shelf.lock();
            let mut place = 0;
            while let Some(connection) = shelf.get_mut(place) {
                let is_surplus = surplus > 0 && connection.idle_since_ms() < idle_before_ms;
                if is_surplus || is_too_old(connection) || connection.is_disturbed() {
                    surplus -= usize::from(is_surplus);
                    closed.push(shelf.swap_remove(place));
                } else {
                    place += 1;
                }
            }
            drop(shelf);
            drop(closed);
        }
    }
}

/// How much a connection may have to be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::backend) enum Fit {
    /// As much as it takes.
    Any,
    /// Not at all.
    AsItIs,
}

/// How far a connection may be from the state that is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Far {
    /// In it.
    Nowhere,
    /// As far as the statement itself goes.
    ByTheStatement,
    Anywhere,
}

impl Far {
    fn allows<C, W: Choice<C>>(self, distance: u32, wanted: &W, connection: &C) -> bool {
        match self {
            Self::Nowhere => distance <= W::UNCHANGED_DISTANCE_MAX,
            Self::ByTheStatement => wanted.needs_no_change(connection),
            Self::Anywhere => true,
        }
    }
}

/// The place of the nearest connection, the one put back last among equals. The first that takes no change
/// at all ends the search, which is nearly always the last in the list.
fn nearest<C>(shelf: &[Box<C>], wanted: &impl Choice<C>, far: Far) -> Option<usize> {
    let mut best = None;
    for (place, connection) in shelf.iter().enumerate().rev() {
        match wanted.distance(connection) {
            Some(0) => return Some(place),
            Some(distance)
                if best.is_none_or(|(least, _)| distance < least)
                    && far.allows(distance, wanted, connection) =>
            {
                best = Some((distance, place));
            }
            _ => {}
        }
    }
    best.map(|(_, place)| place)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A connection that is so far from what is wanted.
    #[derive(Debug)]
    struct Idle {
        worker: usize,
        distance: u32,
        since_ms: u64,
        is_closed: bool,
    }

    impl Pooled for Idle {
        fn worker(&self) -> usize {
            self.worker
        }

        fn user(&self) -> &str {
            "app"
        }

        fn is_left_by(&self, _thread_id: u32, _session: u32) -> bool {
            false
        }

        fn idle_since_ms(&self) -> u64 {
            self.since_ms
        }

        fn silent_since_ms(&self) -> u64 {
            self.since_ms
        }

        fn is_disturbed(&mut self) -> bool {
            self.is_closed
        }

        fn is_for_the_proxy(&mut self) {}
    }

    struct Nearest;

    impl Choice<Idle> for Nearest {
        const UNCHANGED_DISTANCE_MAX: u32 = 1;

        fn distance(&self, connection: &Idle) -> Option<u32> {
            (connection.distance < 100).then_some(connection.distance)
        }

        fn is_aimed(&self) -> bool {
            false
        }

        fn needs_no_change(&self, _connection: &Idle) -> bool {
            false
        }
    }

    fn pool(connections: &[(usize, u32, u64, bool)]) -> Pool<Idle> {
        let pool = Pool::new(2);
        for &(worker, distance, since_ms, is_closed) in connections {
            pool.put(Box::new(Idle { worker, distance, since_ms, is_closed }));
        }
        pool
    }

    fn taken(pool: &Pool<Idle>, fit: Fit) -> Option<(usize, u32)> {
        pool.take(0, &Nearest, fit).map(|connection| (connection.worker, connection.distance))
    }

    #[test]
    fn unchanged_of_another_worker_goes_before_one_to_be_changed_and_what_cannot_be_used_stays() {
        let pool = pool(&[(0, 3, 0, false), (1, 1, 0, false), (0, 2, 0, false), (0, 100, 0, false)]);
        assert_eq!(taken(&pool, Fit::Any), Some((1, 1)));
        assert_eq!(taken(&pool, Fit::AsItIs), None);
        assert_eq!(taken(&pool, Fit::Any), Some((0, 2)));
        assert_eq!(taken(&pool, Fit::Any), Some((0, 3)));
        assert_eq!((taken(&pool, Fit::Any), pool.len()), (None, 1));
    }

    #[test]
    fn what_the_server_has_closed_is_dropped_and_never_given() {
        let pool = pool(&[(0, 1, 0, false), (0, 0, 0, true)]);
        assert_eq!(taken(&pool, Fit::Any), Some((0, 1)));
        assert_eq!(pool.len(), 0);
    }

    #[test]
    fn trimmed_are_the_closed_the_old_and_what_is_too_many_and_idle_for_long() {
        let pool =
            pool(&[(0, 0, 1, false), (0, 0, 9, false), (1, 0, 2, false), (1, 7, 9, false), (1, 0, 9, true)]);
        pool.trim(3, 5, |idle| idle.distance == 7);
        assert_eq!(pool.len(), 1, "of five two are surplus and idle, one old, one closed");
        assert_eq!(pool.evict_one(1).map(|evicted| evicted.since_ms), Some(9));
    }
}
