//! Counts of marks, for metrics. They order nothing.

use std::sync::atomic::{AtomicU64, Ordering};

/// How many marks have been raised, and how they ended.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pending: AtomicU64,
    stranded: AtomicU64,
}

impl Tally {
    pub(super) fn raised(&self) {
        self.pending.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn resolved(&self) {
        self.pending.fetch_sub(1, Ordering::Relaxed);
    }

    /// They stay in the count of pending ones, as they do on their clocks.
    pub(super) fn stranded(&self) {
        self.stranded.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn pending_now(&self) -> u64 {
        self.pending.load(Ordering::Relaxed)
    }

    pub(super) fn stranded_so_far(&self) -> u64 {
        self.stranded.load(Ordering::Relaxed)
    }
}
