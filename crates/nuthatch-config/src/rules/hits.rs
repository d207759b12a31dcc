//! How often a rule matched.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Matches of one rule since it was loaded. Never goes down.
#[derive(Debug)]
pub struct RuleHits {
    rule_id: u32,
    count: AtomicU64,
}

impl RuleHits {
    pub(super) const fn new(rule_id: u32) -> Self {
        Self { rule_id, count: AtomicU64::new(0) }
    }

    /// The rule's number.
    pub fn rule_id(&self) -> u32 {
        self.rule_id
    }

    /// Counts one match.
    pub fn bump(&self) {
        self.count.fetch_add(1, Relaxed);
    }

    /// Matches so far.
    pub fn count(&self) -> u64 {
        self.count.load(Relaxed)
    }
}
