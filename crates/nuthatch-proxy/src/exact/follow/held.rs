//! What writes through the proxy have not told of themselves: which rows, and what these hold. It stays pending until their events are
//! carried, which tell it; only that has moved then.
//!
//! The binlog holds a write when its client has its answer. So what was held before the server is asked for its binlog's end is carried
//! when all is carried up to that end. Until then the wide clocks are pending; from then on the narrow ones are that the events raised, or
//! have moved. What waits for too long, or for a follower that is lost, moves as a whole.

use nuthatch_cache::Marks;
use parking_lot::Mutex;

use crate::clock::boottime_ns;

/// So many writes may wait at a time.
const HELD_MAX: usize = 65_536;

/// See the module's doc. Nothing can be held before it is opened.
#[derive(Debug, Default)]
pub(super) struct Held(Mutex<Queue>);

/// In the order of their moments.
#[derive(Debug, Default)]
struct Queue {
    is_open: bool,
    waiting: Vec<(u64, Marks)>,
}

impl Held {
    /// From now on writes may be held.
    pub(super) fn open(&self) {
        self.0.lock().is_open = true;
    }

    /// What is held has moved, and nothing more can be held.
    pub(super) fn close(&self) {
        let mut queue = self.0.lock();
        queue.is_open = false;
        let waiting = std::mem::take(&mut queue.waiting);
        drop(queue);
        waiting.into_iter().for_each(|(_, marks)| marks.settle());
    }

    /// Holds them until the events of what was written before now are carried; says whether they are the first. If nothing can be held they
    /// have moved.
    pub(super) fn hold(&self, marks: Marks) -> bool {
        let mut queue = self.0.lock();
        if !queue.is_open || queue.waiting.len() >= HELD_MAX {
            drop(queue);
            marks.settle();
            return false;
        }
        queue.waiting.push((boottime_ns(), marks));
        queue.waiting.len() == 1
    }

    /// Whether writes may be held.
    pub(super) fn is_open(&self) -> bool {
        self.0.lock().is_open
    }

    /// Whether it is known that none waits.
    pub(super) fn is_empty(&self) -> bool {
        self.0.try_lock().is_some_and(|queue| queue.waiting.is_empty())
    }

    /// Those held before that moment, if nobody is adding one.
    pub(super) fn take_before(&self, before_ns: u64) -> Vec<Marks> {
        let Some(mut queue) = self.0.try_lock() else { return Vec::new() };
        let count = queue.waiting.partition_point(|(since_ns, _)| *since_ns < before_ns);
        queue.waiting.drain(..count).map(|(_, marks)| marks).collect()
    }
}

/// Nobody is left who would carry them.
impl Drop for Held {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use nuthatch_cache::{ClockOptions, Clocks, Standing};

    use super::*;

    #[test]
    fn what_is_held_waits_for_its_moment_and_moves_where_nobody_carries_it() {
        let clocks = Arc::new(Clocks::new(ClockOptions::default()));
        let one = |number| clocks.raise(vec![clocks.row(1, number)]);
        let standing = |number| clocks.standing([clocks.row(1, number)], nuthatch_cache::Sequence::default());
        let held = Held::default();
        assert!(!held.hold(one(1)));
        assert_eq!(standing(1), Standing::Moved, "nobody carries it");
        held.open();
        let before_ns = boottime_ns();
        assert!(held.hold(one(2)) && !held.hold(one(3)));
        assert!(held.take_before(before_ns).is_empty() && !held.is_empty());
        held.take_before(u64::MAX).into_iter().for_each(Marks::release);
        assert_eq!([standing(2), standing(3)], [Standing::Holds; 2]);
        assert!(held.is_empty() && held.hold(one(4)));
        drop(held);
        assert_eq!(standing(4), Standing::Moved);
        assert_eq!(clocks.pending(), 0);
    }
}
