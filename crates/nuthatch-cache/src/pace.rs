//! How many entries are let pass after some that did not shrink: a cache full of what does not costs next to nothing.

use std::sync::atomic::{AtomicU32, Ordering};

/// See the module's doc.
#[derive(Default)]
pub(crate) struct Pace {
    pause: AtomicU32,
    left: AtomicU32,
}

impl Pace {
    /// Whether one more is tried.
    pub(crate) fn is_due(&self) -> bool {
        let left = self.left.load(Ordering::Relaxed);
        if left > 0 {
            self.left.store(left - 1, Ordering::Relaxed);
        }
        left == 0
    }

    /// One was tried.
    pub(crate) fn note(&self, has_shrunk: bool) {
        /// The longest pause.
        const PAUSE_MAX: u32 = 64;
        let longer = (self.pause.load(Ordering::Relaxed) * 2).clamp(1, PAUSE_MAX);
        let pause = if has_shrunk { 0 } else { longer };
        self.pause.store(pause, Ordering::Relaxed);
        self.left.store(pause, Ordering::Relaxed);
    }
}
