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
    /// What becomes of it before and behind its time.
    pub(crate) ageing: Ageing,
}

/// What becomes of an answer with a time before that is over, and behind it: milliseconds from when it was stored on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Ageing {
    /// Whoever asks for it from then on has it read anew.
    pub(crate) refreshed_after_ms: u32,
    /// From then on it is served only while no server answers.
    pub(crate) stale_after_ms: u32,
}

impl Ageing {
    /// It is read anew when nobody is given it any more.
    pub(crate) const NONE: Self = Self { refreshed_after_ms: u32::MAX, stale_after_ms: u32::MAX };
}

impl Terms {
    /// Those of an answer, if it has any.
    pub(crate) fn of(counts_all_rows: bool, tenure: Option<Tenure>, ageing: Ageing) -> Option<Box<Self>> {
        let has_any = counts_all_rows || tenure.is_some() || ageing != Ageing::NONE;
        has_any.then(|| Box::new(Self { counts_all_rows, tenure, ageing }))
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

    /// Whether an answer of that moment is served only while no server answers.
    pub(crate) fn is_stale(&self, created_ms: u64, now_ms: u64) -> bool {
        self.is_older_than(created_ms, now_ms, |ageing| ageing.stale_after_ms)
    }

    /// Whether an answer of that moment is to be read anew.
    #[inline]
    pub(crate) fn is_due(&self, created_ms: u64, now_ms: u64) -> bool {
        self.is_older_than(created_ms, now_ms, |ageing| ageing.refreshed_after_ms)
    }

    #[inline]
    fn is_older_than(&self, created_ms: u64, now_ms: u64, limit: impl FnOnce(&Ageing) -> u32) -> bool {
        let limit_ms = self.terms.as_ref().map(|terms| limit(&terms.ageing));
        let age_ms = || now_ms.saturating_sub(created_ms);
        limit_ms.is_some_and(|limit_ms| limit_ms < u32::MAX && age_ms() >= u64::from(limit_ms))
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
            terms: Terms::of(false, tenure, Ageing::NONE),
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
    fn answers_are_due_and_stale_by_their_age() {
        let ageing = Ageing { refreshed_after_ms: 80, stale_after_ms: 100 };
        let plan = HitPlan { terms: Terms::of(false, None, ageing), ..plan(None) };
        let at = |now_ms| (plan.is_due(1_000, now_ms), plan.is_stale(1_000, now_ms));
        assert_eq!([1_000, 1_079].map(at), [(false, false); 2]);
        assert_eq!([1_080, 1_099, 1_100].map(at), [(true, false), (true, false), (true, true)]);
        let plan = HitPlan { terms: Terms::of(true, None, Ageing::NONE), ..plan };
        assert!(!plan.is_due(0, u64::MAX) && !plan.is_stale(0, u64::MAX));
    }

    #[test]
    fn found_rows_are_the_rows_unless_told_otherwise() {
        let limited = HitPlan { found_rows: Some(Found::Known(7)), ..plan(None) };
        assert_eq!((plan(None).found_rows(3), limited.found_rows(3)), (Found::Known(3), Found::Known(7)));
    }
}
