//! What a change of definitions is of.

use nuthatch_sql::{FoldedName, Kind, LOCK_FUNCTIONS, bare_words, is_one_of};

/// Which tables a change of definitions is of.
#[derive(Debug, Clone)]
pub(super) enum Changed {
    Tables(Vec<FoldedName>),
    All,
}

/// Whether a change of definitions may make stored code, or give code that is there another name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Makes {
    /// It does, or drops it.
    Code,
    /// It makes or drops views, which may run code by what stands in their texts.
    Views,
    /// The same of views that run none, as far as was known when code had been made so many times.
    PlainViews { times_made: u64 },
    /// It may, out of sight.
    Maybe,
    /// It makes, changes or drops tables.
    Tables,
}

impl Makes {
    /// What is said of it by its text and kind: code that is made is named by what it is.
    pub(crate) fn of(text: &[u8], kind: Kind) -> Self {
        let names = |what: &[&[u8]]| bare_words(text).any(|word| is_one_of(word, what));
        match kind {
            Kind::Ddl(_) if names(&CODE) => Self::Code,
            Kind::Ddl(_) if names(&[b"view"]) => Self::Views,
            Kind::Ddl(_) => Self::Tables,
            _ => Self::Maybe,
        }
    }

    /// The same of a text that `leaves_nothing`, by what was known when code had been made so many times.
    pub(crate) fn of_known(
        text: &[u8],
        kind: Kind,
        times_made: u64,
        leaves_nothing: impl FnOnce() -> bool,
    ) -> Self {
        let locks = || bare_words(text).any(|word| is_one_of(word, &LOCK_FUNCTIONS));
        match Self::of(text, kind) {
            Self::Views if leaves_nothing() && !locks() => Self::PlainViews { times_made },
            makes => makes,
        }
    }
}

/// Words without which a definition makes no code, and has none run by other names.
const CODE: [&[u8]; 5] = [b"function", b"procedure", b"package", b"trigger", b"rename"];
