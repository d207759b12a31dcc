//! `FOUND_ROWS()`, as far as it is known.

/// What is known of FOUND_ROWS().
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Found {
    /// Its value.
    Known(u64),
    /// Only a connection knows, if any does.
    Elsewhere,
}

impl Default for Found {
    fn default() -> Self {
        Self::Known(0)
    }
}

impl Found {
    pub(crate) const fn known(self) -> Option<u64> {
        match self {
            Self::Known(count) => Some(count),
            Self::Elsewhere => None,
        }
    }
}
