//! A collation as definitions of columns name it.

use mysql_common::collations::{Collation, CollationId};

/// Behind the last number of a collation that is known.
const COLLATIONS_END: u16 = 400;

/// A collation as result sets name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ResultCollation {
    pub(crate) number: u16,
    /// Bytes of its longest character.
    pub(crate) character_bytes_max: u8,
}

impl ResultCollation {
    /// The character set's name.
    pub(crate) fn charset(self) -> String {
        Collation::resolve(CollationId::from(self.number)).charset().to_owned()
    }

    pub(super) fn numbered(number: u16) -> Self {
        let known = Collation::resolve(CollationId::from(number));
        Self { number, character_bytes_max: known.max_len().max(1) }
    }

    pub(super) fn find(is_it: impl Fn(&Collation<'_>) -> bool) -> Option<Self> {
        (1..COLLATIONS_END)
            .find(|number| is_it(&Collation::resolve(CollationId::from(*number))))
            .map(Self::numbered)
    }
}
