//! What a variable may hold, when it acts, and how its text is read and written.

use crate::loss_max::LossMax;
use crate::query_cache::{QueryCacheSize, QueryCacheType};
use crate::secret::Secret;

/// The values a variable takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// `true` or `false`; `1`, `0`, `on` and `off` are understood.
    Flag,
    /// A whole number within bounds, both included.
    Count {
        /// Smallest value.
        min: u64,
        /// Largest value.
        max: u64,
    },
    /// Any text.
    Text,
    /// Any text, never logged.
    Secret,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A type of the query cache, by number or word.
    CacheType,
    /// MiB of the query cache, with a fraction where a client has set it in bytes.
    CacheSize {
        /// Largest value.
        mib_max: u64,
    },
    /// A number of transactions, or any.
    LossMax,
}

/// When a variable's value matters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// From the `LOAD … TO RUNTIME` on.
    Acts,
    /// When the program starts.
    AtStart,
    /// Kept and shown, but nothing looks at it yet.
    Stored,
    /// It tells and cannot be set.
    ReadOnly,
}

/// One variable of the struct `T`.
pub struct Variable<T> {
    /// ProxySQL's name without the prefix.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// When it matters.
    pub effect: Effect,
    /// One line for operators.
    pub doc: &'static str,
    /// Whether ProxySQL has no such variable.
    pub own: bool,
    pub(super) assign: fn(&mut T, &str) -> Result<(), VariableFault>,
    pub(super) text: fn(&T) -> String,
}

/// Why a value is refused. Reads after the variable's name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum VariableFault {
    /// There is no such variable.
    #[error("is unknown")]
    Unknown,
    /// It only tells.
    #[error("is read-only")]
    ReadOnly,
    /// Not a truth value.
    #[error("takes true or false")]
    Flag,
    /// Not a whole number within bounds.
    #[error("takes a whole number from {min} to {max}")]
    Count {
        /// Smallest value.
        min: u64,
        /// Largest value.
        max: u64,
    },
    /// None of the words.
    #[error("takes one of: {}", .0.join(", "))]
    Choice(&'static [&'static str]),
    /// Neither the word nor a number.
    #[error("takes {}", LossMax::SPELLING)]
    LossMax,
}

/// A type that a variable's field can have.
pub(super) trait Value: Sized {
    fn parse(text: &str, kind: Kind) -> Result<Self, VariableFault>;
    fn text(&self) -> String;
}

impl Value for bool {
    fn parse(text: &str, _: Kind) -> Result<Self, VariableFault> {
        match text.trim().to_ascii_lowercase().as_str() {
            "true" | "1" | "on" => Ok(true),
            "false" | "0" | "off" => Ok(false),
            _ => Err(VariableFault::Flag),
        }
    }

    fn text(&self) -> String {
        self.to_string()
    }
}

impl Value for u64 {
    fn parse(text: &str, kind: Kind) -> Result<Self, VariableFault> {
        let Kind::Count { min, max } = kind else { unreachable!("the table gives a number its bounds") };
        let value = text.trim().parse().ok().filter(|value| (min..=max).contains(value));
        value.ok_or(VariableFault::Count { min, max })
    }

    fn text(&self) -> String {
        self.to_string()
    }
}

impl Value for String {
    fn parse(text: &str, kind: Kind) -> Result<Self, VariableFault> {
        match kind {
            Kind::Choice(words) => {
                let word = words.iter().find(|word| word.eq_ignore_ascii_case(text.trim()));
                word.map(|word| (*word).to_owned()).ok_or(VariableFault::Choice(words))
            }
            _ => Ok(text.to_owned()),
        }
    }

    fn text(&self) -> String {
        self.clone()
    }
}

impl Value for QueryCacheType {
    fn parse(text: &str, _: Kind) -> Result<Self, VariableFault> {
        let text = text.trim();
        let of_number = text.parse().ok().and_then(Self::of_number);
        of_number.or_else(|| Self::of_word(text)).ok_or(VariableFault::Choice(Self::SPELLINGS))
    }

    fn text(&self) -> String {
        self.number().to_string()
    }
}

impl Value for QueryCacheSize {
    fn parse(text: &str, kind: Kind) -> Result<Self, VariableFault> {
        let Kind::CacheSize { mib_max } = kind else { unreachable!("the table gives a size its bound") };
        Self::parse_mib(text.trim(), mib_max).ok_or(VariableFault::Count { min: 0, max: mib_max })
    }

    fn text(&self) -> String {
        self.mib()
    }
}

impl Value for LossMax {
    fn parse(text: &str, _: Kind) -> Result<Self, VariableFault> {
        Self::parse(text).ok_or(VariableFault::LossMax)
    }

    fn text(&self) -> String {
        self.to_string()
    }
}

impl Value for Secret {
    fn parse(text: &str, _: Kind) -> Result<Self, VariableFault> {
        Ok(Self::new(text))
    }

    fn text(&self) -> String {
        self.expose().to_owned()
    }
}
