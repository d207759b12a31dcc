//! The idle connections of one server, a list for each worker.
//!
//! A worker looks into its own list first, since a connection from another worker's must be registered anew with its
//! own runtime (two system calls). That is still cheaper than to ask a server to change one: only where no list has a connection in
//! the wanted state, the nearest of the first list that has any is taken.
//!
//! Cost: one uncontended lock for a connection of the own worker in the wanted state; else up to two for each worker.

use parking_lot::Mutex;

use super::Wanted;
use super::connection::Connection;

/// No session: what the proxy itself says on a connection changes what a server would tell of the statement before.
const NOBODY: u32 = 0;

/// Idle connections. See the module's doc.
#[derive(Debug)]
#[expect(clippy::vec_box, reason = "connections move between shelves and sessions at each statement")]
pub(super) struct Pool {
    shelves: Vec<Mutex<Vec<Box<Connection>>>>,
}

impl Pool {
    pub(super) fn new(workers: usize) -> Self {
        Self { shelves: (0..workers.max(1)).map(|_| Mutex::default()).collect() }
    }

    pub(super) fn len(&self) -> usize {
        self.shelves.iter().map(|shelf| shelf.lock().len()).sum()
    }

    /// Takes the connection that suits best: one that need not be changed, the own worker's first, or else the nearest, if it may be
    /// changed. Those that the server has closed are dropped.
    pub(super) fn take(&self, worker: usize, wanted: &Wanted<'_>, fit: Fit) -> Option<Box<Connection>> {
        let workers = self.shelves.len();
        let take = |far| (0..workers).find_map(|step| self.take_from((worker + step) % workers, wanted, far));
        let unchanged =
            take(Far::Nowhere).or_else(|| if wanted.is_aimed() { take(Far::ByTheStatement) } else { None });
        if unchanged.is_some() || fit == Fit::AsItIs { unchanged } else { take(Far::Anywhere) }
    }

    fn take_from(&self, shelf: usize, wanted: &Wanted<'_>, far: Far) -> Option<Box<Connection>> {
        loop {
            let mut connection = {
                let mut shelf = self.shelves.get(shelf)?.lock();
                let best = nearest(&shelf, wanted, far)?;
                shelf.swap_remove(best)
            };
            if !connection.framed.stream().is_disturbed() {
                return Some(connection);
            }
        }
    }

    /// Takes any connection of the user, whatever its state.
    pub(super) fn take_of(&self, worker: usize, user: &str) -> Option<Box<Connection>> {
        let workers = self.shelves.len();
        (0..workers).find_map(|step| {
            let mut shelf = self.shelves.get((worker + step) % workers)?.lock();
            let place = shelf
                .iter_mut()
                .rposition(|idle| *idle.user == *user && !idle.framed.stream().is_disturbed())?;
            let mut taken = shelf.swap_remove(place);
            taken.last_session = NOBODY;
            Some(taken)
        })
    }

    /// Takes the connection of that thread, if it is as this session left it.
    pub(super) fn take_left(&self, thread_id: u32, session: u32) -> Option<Box<Connection>> {
        self.shelves.iter().find_map(|shelf| {
            let mut shelf = shelf.lock();
            let place = shelf.iter_mut().position(|idle| {
                idle.thread_id == thread_id
                    && idle.last_session == session
                    && !idle.framed.stream().is_disturbed()
            })?;
            Some(shelf.swap_remove(place))
        })
    }

    /// Takes the connections that have been silent since before `ms`.
    #[expect(clippy::vec_box, reason = "they move on to tasks")]
    pub(super) fn take_silent(&self, ms: u64) -> Vec<Box<Connection>> {
        let is_silent = |idle: &mut Box<Connection>| idle.idle_since_ms.max(idle.pinged_ms) < ms;
        let mut taken: Vec<_> = self
            .shelves
            .iter()
            .flat_map(|shelf| shelf.lock().extract_if(.., is_silent).collect::<Vec<_>>())
            .collect();
        taken.iter_mut().for_each(|connection| connection.last_session = NOBODY);
        taken
    }

    /// Puts a connection on the shelf of the worker that it is registered with.
    pub(super) fn put(&self, connection: Box<Connection>) {
        if let Some(shelf) = self.shelves.get(connection.worker) {
            shelf.lock().push(connection);
        }
    }

    /// Closes one idle connection, the one that has been idle longest on its shelf, to make room for another kind.
    pub(super) fn evict_one(&self, worker: usize) -> Option<Box<Connection>> {
        let workers = self.shelves.len();
        (0..workers).find_map(|step| {
            let mut shelf = self.shelves.get((worker + step) % workers)?.lock();
            let oldest = shelf.iter().enumerate().min_by_key(|(_, idle)| idle.idle_since_ms)?.0;
            Some(shelf.swap_remove(oldest))
        })
    }

    /// Closes all.
    pub(super) fn clear(&self) {
        for shelf in &self.shelves {
            let closed = std::mem::take(&mut *shelf.lock());
            drop(closed);
        }
    }

    /// Closes what the server has closed or `is_too_old` and, beyond `keep` connections in all, what has been idle since
    /// before `ms`.
    pub(super) fn trim(&self, keep: usize, idle_before_ms: u64, is_too_old: impl Fn(&Connection) -> bool) {
        let mut surplus = self.len().saturating_sub(keep);
        for shelf in &self.shelves {
            let mut closed = Vec::new();
            let mut shelf = shelf.lock();
            let mut place = 0;
            while let Some(connection) = shelf.get_mut(place) {
                let is_surplus = surplus > 0 && connection.idle_since_ms < idle_before_ms;
                if is_surplus || is_too_old(connection) || connection.framed.stream().is_disturbed() {
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
pub(super) enum Fit {
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
    fn allows(self, distance: u32, wanted: &Wanted<'_>, connection: &Connection) -> bool {
        match self {
            Self::Nowhere => distance <= Wanted::UNCHANGED_DISTANCE_MAX,
            Self::ByTheStatement => wanted.needs_no_change(connection),
            Self::Anywhere => true,
        }
    }
}

/// The place of the nearest connection, the one put back last among equals. The first that takes no change
/// at all ends the search, which is nearly always the last in the list.
fn nearest(shelf: &[Box<Connection>], wanted: &Wanted<'_>, far: Far) -> Option<usize> {
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
