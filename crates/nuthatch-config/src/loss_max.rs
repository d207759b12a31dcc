//! How many acknowledged transactions a failover may lose.

use std::fmt;

/// `mysql-failover_max_loss`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LossMax {
    /// Any number.
    #[default]
    Any,
    /// So many at most.
    Transactions(u64),
}

impl LossMax {
    /// What stands for one in a setting.
    pub(crate) const SPELLING: &'static str = "any, or a whole number";

    /// That of this word or number.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text.trim() {
            word if word.eq_ignore_ascii_case("any") => Some(Self::Any),
            number => number.parse().ok().map(Self::Transactions),
        }
    }
}

impl fmt::Display for LossMax {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => out.write_str("any"),
            Self::Transactions(max) => write!(out, "{max}"),
        }
    }
}
