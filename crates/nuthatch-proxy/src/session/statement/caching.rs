//! As what an answer may be stored.

use nuthatch_config::{MysqlVariables, Verdict};

use crate::shared::answers::Ageing;
use crate::stats::not_cached::NotCached;

/// How the answer to a statement may be cached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caching {
    /// Not at all.
    No(NotCached),
    /// For so many milliseconds, whatever is written meanwhile.
    Ttl(u32),
    /// Until something is written that it depends on, but no longer than so many milliseconds, if any are said.
    Exact { ttl_ms: Option<u32> },
}

impl Caching {
    /// Until when an answer of that time may be served.
    pub(crate) fn expires_ms(self, created_ms: u64) -> u64 {
        match self {
            Self::Ttl(ttl_ms) | Self::Exact { ttl_ms: Some(ttl_ms) } => {
                created_ms.saturating_add(u64::from(ttl_ms))
            }
            Self::No(_) | Self::Exact { ttl_ms: None } => u64::MAX,
        }
    }

    /// For how many milliseconds at most, if that is said.
    pub(crate) const fn ttl_ms(self) -> Option<u32> {
        match self {
            Self::Ttl(ttl_ms) => Some(ttl_ms),
            Self::Exact { ttl_ms } => ttl_ms,
            Self::No(_) => None,
        }
    }

    /// For how many milliseconds past its time the answer may be served while no server answers. Never what is exact.
    pub(crate) fn stale_if_error_ms(self, verdict: &Verdict) -> u32 {
        let said_ms = verdict.cache_stale_if_error_ms.unwrap_or(0);
        if matches!(self, Self::Ttl(_)) { said_ms } else { 0 }
    }

    /// What becomes of the answer before its time is over, and behind it.
    pub(crate) fn ageing(self, verdict: &Verdict, variables: &MysqlVariables) -> Ageing {
        let Some(ttl_ms) = self.ttl_ms() else { return Ageing::NONE };
        let percent = variables.query_cache_soft_ttl_pct;
        let of_ttl = u32::try_from(u64::from(ttl_ms) * percent / 100).unwrap_or(u32::MAX);
        let is_kept_longer = self.stale_if_error_ms(verdict) > 0;
        Ageing {
            refreshed_after_ms: if (1..100).contains(&percent) { of_ttl } else { u32::MAX },
            stale_after_ms: if is_kept_longer { ttl_ms } else { u32::MAX },
        }
    }

    pub(crate) const fn is_exact(self) -> bool {
        matches!(self, Self::Exact { .. })
    }

    pub(crate) const fn is_any(self) -> bool {
        !matches!(self, Self::No(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_anew_by_percent_and_kept_past_their_time_unless_they_are_exact() {
        let verdict = Verdict { cache_stale_if_error_ms: Some(7), ..Verdict::NOTHING };
        let variables = MysqlVariables { query_cache_soft_ttl_pct: 80, ..MysqlVariables::default() };
        let of = |caching: Caching| caching.ageing(&verdict, &variables);
        assert_eq!(of(Caching::Ttl(1_000)), Ageing { refreshed_after_ms: 800, stale_after_ms: 1_000 });
        let both = Caching::Exact { ttl_ms: Some(1_000) };
        assert_eq!(of(both), Ageing { refreshed_after_ms: 800, stale_after_ms: u32::MAX });
        assert_eq!(of(Caching::Exact { ttl_ms: None }), Ageing::NONE);
        let variables = MysqlVariables { query_cache_soft_ttl_pct: 100, ..variables };
        assert_eq!(Caching::Ttl(5).ageing(&Verdict::NOTHING, &variables), Ageing::NONE);
    }

    #[test]
    fn answers_expire_by_their_time_and_exact_ones_without_one_never() {
        assert_eq!(Caching::Ttl(5).expires_ms(10), 15);
        assert_eq!(Caching::Exact { ttl_ms: Some(5) }.expires_ms(u64::MAX - 1), u64::MAX);
        assert_eq!(Caching::Exact { ttl_ms: None }.expires_ms(10), u64::MAX);
        assert!(Caching::Ttl(5).is_any() && !Caching::Ttl(5).is_exact());
        assert!(!Caching::No(NotCached::Empty).is_any());
    }
}
