//! What is kept with a cached answer.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use nuthatch_cache::Plan;
use nuthatch_config::RuleHits;

use crate::exact::{AsOf, Tenure};
use crate::state::Found;
use crate::stats::DigestCounters;

/// What a hit does to its session, and bumps besides the worker's counters: as if the statement had gone its way.
///
/// Of those that are equal the cache keeps one: those of one digest most often.
#[derive(Debug, Clone)]
pub(crate) struct HitPlan {
    pub(crate) digest: Option<Arc<DigestCounters>>,
    pub(crate) rules: Box<[Arc<RuleHits>]>,
    /// What FOUND_ROWS() is behind it; none for as many as there are rows.
    pub(crate) found_rows: Option<Found>,
    /// What few answers have, so that a look-up asks once.
    pub(crate) terms: Option<Box<Terms>>,
    /// A server would leave the warnings and errors of the statement before alone.
    pub(crate) leaves_diagnostics: bool,
}

/// On what terms the answer may be served.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
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
    /// What FOUND_ROWS() is behind an answer of so many rows.
    #[inline]
    pub(crate) fn found_rows(&self, rows: u64) -> Found {
        self.found_rows.unwrap_or(Found::Known(rows))
    }

    /// What two equal ones have in common: counters by where they stand.
    fn parts(&self) -> impl PartialEq + Hash {
        let digest = self.digest.as_ref().map_or(0, |digest| Arc::as_ptr(digest).addr());
        (digest, self.found_rows, &self.terms, self.leaves_diagnostics)
    }

    fn rule_places(&self) -> impl Iterator<Item = usize> {
        self.rules.iter().map(|rule| Arc::as_ptr(rule).addr())
    }

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

impl PartialEq for HitPlan {
    fn eq(&self, other: &Self) -> bool {
        self.parts() == other.parts() && self.rule_places().eq(other.rule_places())
    }
}

impl Eq for HitPlan {}

impl Hash for HitPlan {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.parts().hash(state);
        self.rule_places().for_each(|place| place.hash(state));
    }
}

impl Plan for HitPlan {
    /// Rules and terms; counters are others' too.
    fn weight_bytes(&self) -> u64 {
        let terms_bytes = self.terms.as_ref().map_or(0, |_| size_of::<Terms>());
        (size_of_val(&*self.rules) + terms_bytes).next_multiple_of(16) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::Horizon;

    fn plan(tenure: Option<Tenure>) -> HitPlan {
        HitPlan {
            digest: None,
            rules: Box::default(),
            found_rows: None,
            terms: Terms::of(false, tenure),
            leaves_diagnostics: false,
        }
    }

    #[test]
    fn plans_are_equal_that_ask_the_same() {
        let [here, there] = [(), ()].map(|()| Arc::new(Horizon::default()));
        let of = |horizon: &Arc<Horizon>| plan(Some(Tenure::new(Arc::clone(horizon), false)));
        assert_eq!(of(&here), of(&here));
        assert_ne!(of(&here), of(&there));
        assert_ne!(of(&here), plan(None));
        assert_ne!(of(&here), plan(Some(Tenure::new(here.clone(), true))));
    }

    #[test]
    fn found_rows_are_the_rows_unless_told_otherwise() {
        let limited = HitPlan { found_rows: Some(Found::Known(7)), ..plan(None) };
        assert_eq!((plan(None).found_rows(3), limited.found_rows(3)), (Found::Known(3), Found::Known(7)));
    }
}
