//! How often a rule matched.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::stripes::Stripes;

/// Matches of one rule since it was loaded. Never goes down.
#[derive(Debug)]
pub struct RuleHits {
    rule_id: u32,
    count: AtomicU64,
    /// Those behind which the cache had the answer.
    cached: Stripes<AtomicU64>,
}

impl RuleHits {
    pub(super) const fn new(rule_id: u32) -> Self {
        Self { rule_id, count: AtomicU64::new(0), cached: Stripes::new() }
    }

    /// The rule's number.
    pub fn rule_id(&self) -> u32 {
        self.rule_id
    }

    /// Counts one match.
    pub fn bump(&self) {
        self.count.fetch_add(1, Relaxed);
    }

    /// Counts one match of a statement that the cache answered on the worker of that number.
    #[inline]
    pub fn bump_cached(&self, worker: usize) {
        self.cached.of(worker).fetch_add(1, Relaxed);
    }

    /// Matches so far.
    pub fn count(&self) -> u64 {
        self.count.load(Relaxed) + self.cached.all().map(|count| count.load(Relaxed)).sum::<u64>()
    }
}
