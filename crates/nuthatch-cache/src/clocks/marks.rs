//! Marks: the pending counts that a write holds while nobody can tell whether it has happened.

use std::fmt;
use std::sync::Arc;

use super::{Clock, ClockList, Clocks};

/// Pending counts that somebody holds. While they are held, nothing that depends on one of these clocks is served or stored.
///
/// They end in one of three ways. Dropped without one of them, as in a panic, they stay pending for ever: it is not known
/// what the server did. That is counted as stranded.
#[must_use = "marks that are dropped stay pending for ever"]
pub struct Marks {
    shared: Arc<Clocks>,
    /// Ascending, without repetition: each has been raised once.
    clocks: ClockList,
    is_resolved: bool,
}

impl Clocks {
    /// Makes the clocks pending, for a write that has not been sent yet. A clock given twice is raised once.
    ///
    /// Cost: one atomic update for each clock; no allocation.
    pub fn raise(self: &Arc<Self>, clocks: impl Into<ClockList>) -> Marks {
        Marks::raise(self.clone(), clocks.into())
    }
}

impl Marks {
    /// Raises the pending count of each clock, once.
    fn raise(shared: Arc<Clocks>, mut clocks: ClockList) -> Self {
        // Those of one write come so.
        if !clocks.is_sorted_by(|one, next| one < next) {
            clocks.sort_unstable();
            clocks.dedup();
        }
        for clock in &clocks {
            shared.raise_one(*clock);
        }
        shared.tally.0.raised();
        Self { shared, clocks, is_resolved: false }
    }

    /// What is held, ascending.
    pub fn clocks(&self) -> &[Clock] {
        &self.clocks
    }

    /// Every clock held has moved, and none is held any more. To be called when the write is acknowledged, or may have
    /// happened and can happen no more; and before its client hears of it.
    pub fn settle(self) {
        self.move_all(&self.clocks);
        self.lower();
    }

    /// The same, but only `moved` have moved. Some of them may not have been held, if a wider one was held for them: the
    /// row of a key that the server gave, while `absent` was held.
    pub fn settle_only(self, moved: &[Clock]) {
        debug_assert!(
            moved.iter().all(|clock| self.clocks.first() <= Some(clock)),
            "a clock wider than all that were held has moved"
        );
        self.move_all(moved);
        self.lower();
    }

    /// `moved` have moved, and none is held any more but those that `is_kept`: what they stand for comes to be known later. They stay pending,
    /// and are ended as these marks would have been.
    pub fn settle_but(mut self, moved: &[Clock], is_kept: impl Fn(Clock) -> bool) -> Self {
        if !moved.is_empty() {
            self.move_all(moved);
        }
        let shared = &self.shared;
        self.clocks.retain(|clock| {
            let stays = is_kept(*clock);
            if !stays {
                shared.lower_one(*clock);
            }
            stays
        });
        self
    }

    /// None is held any more and none has moved: nothing was written.
    pub fn release(self) {
        self.lower();
    }

    /// The version is drawn here, after the acknowledgement. A reader who notes a later moment sees the write.
    fn move_all(&self, moved: &[Clock]) {
        let version = self.shared.draw();
        for clock in moved {
            self.shared.move_one(*clock, version);
        }
    }

    /// Last of all: a reader who finds a wide clock quiet must find the narrow ones moved that it was held for.
    fn lower(mut self) {
        for clock in &self.clocks {
            self.shared.lower_one(*clock);
        }
        self.is_resolved = true;
        self.shared.tally.0.resolved();
    }
}

impl Drop for Marks {
    fn drop(&mut self) {
        if !self.is_resolved {
            self.shared.tally.0.stranded();
        }
    }
}

impl fmt::Debug for Marks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Marks").field("clocks", &self.clocks).finish_non_exhaustive()
    }
}
