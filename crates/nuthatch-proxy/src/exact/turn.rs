//! Marks that wait until all statements have ended that were looked at before a definition was changed.
//!
//! A statement in flight holds the turn in which it was looked at. A change of a definition ends the turn and parks its marks there;
//! they are settled when nobody holds that turn any more, nor one before it: an older turn keeps the next one alive.

use std::sync::{Arc, OnceLock};

use nuthatch_cache::Marks;
use parking_lot::Mutex;

/// See the module's doc.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    parked: Mutex<Vec<Marks>>,
    next: OnceLock<Arc<Self>>,
}

impl Turn {
    /// Keeps the marks pending until nobody holds this turn, or one before it.
    pub(super) fn park(&self, marks: Marks) {
        self.parked.lock().push(marks);
    }

    /// Ends this turn, which must be the last one, and begins the next.
    pub(super) fn end(&self) -> Arc<Self> {
        let next = Arc::default();
        self.next.set(Arc::clone(&next)).expect("a turn ends once");
        next
    }
}

/// One after the other: a chain may be longer than a stack is deep.
impl Drop for Turn {
    fn drop(&mut self) {
        self.parked.get_mut().drain(..).for_each(Marks::settle);
        let mut next = self.next.take();
        while let Some(mut turn) = next.and_then(Arc::into_inner) {
            turn.parked.get_mut().drain(..).for_each(Marks::settle);
            next = turn.next.take();
        }
    }
}

#[cfg(test)]
mod tests {
    use nuthatch_cache::{ClockOptions, Clocks};

    use super::*;

    #[test]
    fn marks_are_settled_when_no_turn_before_theirs_is_held() {
        let clocks = Arc::new(Clocks::new(ClockOptions::default()));
        let first = Arc::new(Turn::default());
        let second = first.end();
        let third = second.end();
        second.park(clocks.raise(vec![clocks.everything()]));
        drop((second, third));
        assert_eq!(clocks.pending(), 1, "the first is held");
        drop(first);
        assert_eq!(clocks.pending(), 0);
    }

    #[test]
    fn chain_of_any_length_ends_without_a_stack_of_that_depth() {
        let first = Arc::new(Turn::default());
        let mut last = Arc::clone(&first);
        for _ in 0..1_000_000 {
            last = last.end();
        }
        drop((last, first));
    }
}
