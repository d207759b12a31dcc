//! As what an answer may be stored.

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
    fn answers_expire_by_their_time_and_exact_ones_without_one_never() {
        assert_eq!(Caching::Ttl(5).expires_ms(10), 15);
        assert_eq!(Caching::Exact { ttl_ms: Some(5) }.expires_ms(u64::MAX - 1), u64::MAX);
        assert_eq!(Caching::Exact { ttl_ms: None }.expires_ms(10), u64::MAX);
        assert!(Caching::Ttl(5).is_any() && !Caching::Ttl(5).is_exact());
        assert!(!Caching::No(NotCached::Empty).is_any());
    }
}
