//! What is kept with a cached answer.

use std::sync::Arc;

use nuthatch_config::RuleHits;

use crate::exact::{AsOf, Tenure};
use crate::state::Found;
use crate::stats::DigestCounters;

/// What a hit does to its session, and bumps besides the worker's counters: as if the statement had gone its way.
#[derive(Debug)]
pub(crate) struct HitPlan {
    pub(crate) digest: Option<Arc<DigestCounters>>,
    pub(crate) rules: Box<[Arc<RuleHits>]>,
    /// What FOUND_ROWS() is behind it.
    pub(crate) found_rows: Found,
    /// What few answers have, so that a look-up asks once.
    pub(crate) terms: Option<Box<Terms>>,
    /// A server would leave the warnings and errors of the statement before alone.
    pub(crate) leaves_diagnostics: bool,
}

/// On what terms the answer may be served.
#[derive(Debug)]
pub(crate) struct Terms {
    /// It has SQL_CALC_FOUND_ROWS: who has a connection of its own is to find the count there.
    pub(crate) counts_all_rows: bool,
    /// Until when it may be served, if the binlog of its server is followed.
    pub(crate) tenure: Option<Tenure>,
}

impl Terms {
    /// Those of an answer, if it has any.
    pub(crate) fn of(counts_all_rows: bool, tenure: Option<Tenure>) -> Option<Box<Self>> {
        (counts_all_rows || tenure.is_some()).then(|| Box::new(Self { counts_all_rows, tenure }))
    }
}

impl HitPlan {
    /// The counters of the statement's digest, unless there was no room for them.
    pub(crate) fn counters(&self) -> Option<&Arc<DigestCounters>> {
        self.digest.as_ref()
    }

    /// Whether the answer may be served by now, as far as writes past the proxy are followed. To be asked when the command is there.
    ///
    /// Cost: where they are followed, a load and a look at the clock.
    #[inline]
    pub(crate) fn is_within_tenure(
        &self,
        of: impl FnOnce() -> AsOf,
        created_ms: impl FnOnce() -> u64,
    ) -> bool {
        self.tenure().is_none_or(|tenure| tenure.holds(of(), created_ms()))
    }

    /// Until when it may be served, if the binlog of its server is followed.
    pub(crate) fn tenure(&self) -> Option<&Tenure> {
        self.terms.as_ref()?.tenure.as_ref()
    }

    pub(crate) fn counts_all_rows(&self) -> bool {
        self.terms.as_ref().is_some_and(|terms| terms.counts_all_rows)
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

    pub(crate) fn count_repeated(&self) {
        if let Some(digest) = &self.digest {
            digest.cache().count_repeated();
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
