//! How often a rule matched.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Matches of one rule since it was loaded. Never goes down.
#[derive(Debug, Default)]
pub struct RuleHits(AtomicU64);

impl RuleHits {
    /// Counts one match.
    pub fn bump(&self) {
        self.0.fetch_add(1, Relaxed);
    }

    /// Matches so far.
    pub fn count(&self) -> u64 {
        self.0.load(Relaxed)
    }
}
