//! Columns that reads compare with constants, and how what rows hold in them is told apart.
//!
//! A read with `a = 'x' AND b = 7` on one table shows only rows that hold both; so its answer is as it was while none is written that holds
//! them before or after. What is held is known as a hash: of the columns, and of the value of each in a *normal form*. That two values
//! which a server takes for equal have the same one is all that soundness needs; that others have too costs hits only.
//!
//! - Integers are what they are.
//! - Of a string of up to 1,024 bytes, all from 0x20 to 0x7E: its letters in lower case, without spaces at its end. This holds in collations
//!   that were tested for it (`tests/soundness`), and in those that compare bytes. Any other string is *another*: it may be equal to anything,
//!   so every read of these columns depends on rows with such ones.
//! - NULL is equal to nothing.

use rapidhash::v3::rapidhash_v3;
use smallvec::SmallVec;

/// A longer one has no normal form: somebody may wait for who reads it.
const STRING_BYTES_MAX: usize = 1024;

/// Stands in the place of values, for rows that hold another string.
const OTHERS: u64 = u64::MAX;

/// A column whose values have a normal form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedColumn {
    /// Its name, folded.
    pub name: Box<[u8]>,
    /// Its place among all columns, from 0.
    pub position: u16,
    /// What it holds.
    pub holds: Holds,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Integers in that range.
    Integers {
        /// The least: 0 or negative.
        min: i64,
        /// The greatest.
        max: u64,
    },
    /// Strings, under a collation in which equal ones have one normal form.
    Strings,
}

/// The columns of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComparedColumns {
    /// How many the table has, of all kinds.
    pub all: u16,
    /// Those whose values have a normal form, ascending by their places; empty where these are not known to be those in a binlog.
    pub columns: Box<[ComparedColumn]>,
}

/// What a row holds in one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnValue {
    /// NULL.
    Null,
    /// Something that has a normal form, by its hash.
    Known(u64),
    /// A string that has none.
    Other,
}

/// Some columns by their places, ascending.
pub type ColumnPlaces = SmallVec<[u16; 4]>;

impl ComparedColumns {
    /// The column at that place, if its values have a normal form.
    #[must_use]
    pub fn at(&self, position: u16) -> Option<&ComparedColumn> {
        let found = self.columns.binary_search_by_key(&position, |column| column.position).ok()?;
        self.columns.get(found)
    }

    /// The column of that name, in whatever case.
    pub(crate) fn named(&self, name: &[u8]) -> Option<&ComparedColumn> {
        self.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name))
    }
}

impl ColumnValue {
    /// An integer's, by its 64 bits; those of a negative one in two's complement.
    #[must_use]
    pub fn of_integer(bits: u64) -> Self {
        Self::Known(hash(&bits.to_le_bytes()))
    }

    /// The hash of what has a normal form.
    #[must_use]
    pub(crate) const fn known(self) -> Option<u64> {
        match self {
            Self::Known(hash) => Some(hash),
            Self::Null | Self::Other => None,
        }
    }

    /// A string's.
    #[must_use]
    pub fn of_string(string: &[u8]) -> Self {
        let end = string.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
        let trimmed = string.get(..end).unwrap_or_default();
        if trimmed.len() > STRING_BYTES_MAX || !trimmed.iter().all(|byte| (0x20..=0x7E).contains(byte)) {
            return Self::Other;
        }
        let mut lower: SmallVec<[u8; 64]> = SmallVec::from_slice(trimmed);
        lower.make_ascii_lowercase();
        Self::Known(hash(&lower))
    }
}

/// What is known of a row that holds these in those columns: a hash, or nothing where it is equal to nothing.
pub fn hash_of_row(columns: &[u16], values: impl IntoIterator<Item = ColumnValue>) -> Option<u64> {
    let mut known: SmallVec<[u64; 4]> = SmallVec::new();
    let mut has_other = false;
    for value in values {
        match value {
            ColumnValue::Null => return None,
            ColumnValue::Known(hash) => known.push(hash),
            ColumnValue::Other => has_other = true,
        }
    }
    Some(if has_other { hash_of_others(columns) } else { hash_of_values(columns, &known) })
}

/// That of rows which hold another string in one of these columns.
pub(crate) fn hash_of_others(columns: &[u16]) -> u64 {
    hash_of_values(columns, &[OTHERS])
}

/// That of rows which hold these values in those columns, each by its hash.
pub(crate) fn hash_of_values(columns: &[u16], values: &[u64]) -> u64 {
    let mut bytes: SmallVec<[u8; 64]> = SmallVec::new();
    columns.iter().for_each(|column| bytes.extend_from_slice(&column.to_le_bytes()));
    values.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
    hash(&bytes)
}

/// The same in the whole process.
fn hash(bytes: &[u8]) -> u64 {
    rapidhash_v3(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_that_a_server_may_take_for_equal_have_one_normal_form() {
        let of = |text: &str| ColumnValue::of_string(text.as_bytes());
        assert_eq!(of("Name"), of("nAME  "));
        assert_eq!(of(""), of("   "));
        assert_ne!(of("name"), of(" name"));
        assert_ne!(of("name"), of("names"));
        for other in ["n\u{e4}me", "na\tme", "name\0", "\u{7f}"] {
            assert_eq!(of(other), ColumnValue::Other, "{other:?}");
        }
        assert!(matches!(of(&"a".repeat(300)), ColumnValue::Known(_)));
    }

    #[test]
    fn rows_are_known_by_columns_and_values() {
        let (one, two) = (ColumnValue::of_integer(1), ColumnValue::of_integer(2));
        let of = |columns: &[u16], values: &[ColumnValue]| hash_of_row(columns, values.iter().copied());
        assert_ne!(of(&[0, 1], &[one, two]), of(&[0, 1], &[two, one]));
        assert_ne!(of(&[0], &[one]), of(&[1], &[one]));
        assert_eq!(of(&[0, 1], &[one, ColumnValue::Null]), None);
        assert_eq!(of(&[0, 1], &[ColumnValue::Other, ColumnValue::Null]), None);
        assert_eq!(of(&[0, 1], &[ColumnValue::Other, two]), Some(hash_of_others(&[0, 1])));
    }
}
