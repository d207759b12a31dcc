//! What the exact cache promises of writes past the proxy.

/// See the module's doc. A later one promises more.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Hash)]
pub enum Follow {
    /// Nothing: they are not seen.
    #[default]
    Off,
    /// Nothing is served that is older than `mysql-query_cache_max_staleness_ms`.
    Bounded,
    /// Nothing is served that is older than what was acknowledged to anybody.
    Exact,
}

impl Follow {
    const ALL: [Self; 3] = [Self::Off, Self::Bounded, Self::Exact];

    /// The mode of this word, in any case.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.word().eq_ignore_ascii_case(word))
    }

    /// off, bounded or exact.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Bounded => "bounded",
            Self::Exact => "exact",
        }
    }
}
