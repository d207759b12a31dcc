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
