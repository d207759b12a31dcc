//! What is kept with a cached answer.

use std::sync::Arc;

use nuthatch_config::RuleHits;

use crate::state::Found;
use crate::stats::DigestCounters;

/// What a hit does to its session, and bumps besides the worker's counters: as if the statement had gone its way.
#[derive(Debug)]
pub(crate) struct HitPlan {
    pub(crate) digest: Option<Arc<DigestCounters>>,
    pub(crate) rules: Box<[Arc<RuleHits>]>,
    /// What FOUND_ROWS() is behind it.
    pub(crate) found_rows: Found,
    /// A server would leave the warnings and errors of the statement before alone.
    pub(crate) leaves_diagnostics: bool,
}

impl HitPlan {
    /// The counters of the statement's digest, unless there was no room for them.
    pub(crate) fn counters(&self) -> Option<&Arc<DigestCounters>> {
        self.digest.as_ref()
    }

    /// Whether the rule has matched the statement.
    pub(crate) fn has_rule(&self, rule_id: u32) -> bool {
        self.rules.iter().any(|rule| rule.rule_id() == rule_id)
    }

    pub(crate) fn count_invalidated(&self) {
        if let Some(digest) = &self.digest {
            digest.cache().count_invalidated();
        }
    }

    pub(crate) fn count_evicted(&self) {
        if let Some(digest) = &self.digest {
            digest.cache().count_evicted();
        }
    }

    pub(crate) fn count_expired(&self) {
        if let Some(digest) = &self.digest {
            digest.cache().count_expired();
        }
    }
}
