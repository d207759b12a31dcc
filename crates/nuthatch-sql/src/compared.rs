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
//! - A DECIMAL is its digits, without those that are zero at either end.
//! - A DATE, or a DATETIME of whole seconds, is as it is written in full.
//! - Of an ENUM each member is a string like those above; a read that compares it with another string is not told apart.
//! - NULL is equal to nothing.
//!
//! And it looks at some columns only: a change of others does not change its answer. So what is known of a row may be of those changes only that
//! are seen in some columns ([`hash_of_changes`]).

use std::sync::Arc;

use rapidhash::v3::rapidhash_v3;
use smallvec::SmallVec;

use crate::column_set::ColumnSet;

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
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// DECIMAL with so many digits behind the point. MariaDB finds rows by a key with the constant rounded to these, and does not look again: so
    /// one with more digits is not told apart.
    Decimals {
        /// See above.
        scale: u8,
    },
    /// DATE.
    Dates,
    /// DATETIME of whole seconds.
    Moments,
    /// The members of an ENUM, in order, each by the hash of its normal form; its collation is one in which equal strings have one.
    Members(Arc<[u64]>),
}

impl Holds {
    /// Of an ENUM with these members; none if one of them has no normal form.
    pub fn members<'m>(members: impl IntoIterator<Item = &'m [u8]>) -> Option<Self> {
        let hashes = members.into_iter().map(|member| ColumnValue::of_string(member).known());
        hashes.collect::<Option<_>>().map(Self::Members)
    }
}

/// The columns of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComparedColumns {
    /// How many the table has, of all kinds.
    pub all: u16,
    /// Those whose values have a normal form, ascending by their places; empty where these are not known to be those in a binlog.
    pub columns: Box<[ComparedColumn]>,
    /// The names of all, folded, in order; empty where one has other characters than letters, digits, `_` and `$`, and as above.
    pub names: Box<[Box<[u8]>]>,
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

    /// The names of all, in order; none where they are not known.
    pub(crate) fn names(&self) -> Option<impl Iterator<Item = &[u8]>> {
        (!self.names.is_empty()).then(|| self.names.iter().map(|name| &**name))
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

    /// A number's with digits behind the point, if it is one: a minus or none, digits, a point and digits or none; at most `scale` of these, not
    /// counting those that are zero at the end.
    #[must_use]
    pub fn of_decimal(text: &[u8], scale: u8) -> Option<Self> {
        let (sign, digits) = text.strip_prefix(b"-").map_or((&b""[..], text), |digits| (b"-", digits));
        let (whole, fraction) = match digits.iter().position(|byte| *byte == b'.') {
            Some(point) => (digits.get(..point)?, digits.get(point + 1..)?),
            None => (digits, &b""[..]),
        };
        let are_digits = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
        (whole.len() + fraction.len() > 0 && are_digits(whole) && are_digits(fraction)).then_some(())?;
        let first = whole.iter().position(|digit| *digit != b'0').unwrap_or(whole.len());
        let end = fraction.iter().rposition(|digit| *digit != b'0').map_or(0, |last| last + 1);
        let (whole, fraction) = (whole.get(first..)?, fraction.get(..end)?);
        (fraction.len() <= usize::from(scale)).then_some(())?;
        let sign = if whole.is_empty() && fraction.is_empty() { b"" } else { sign };
        Some(Self::Known(hash(&[sign, whole, b".", fraction].concat())))
    }

    /// A date's.
    #[must_use]
    pub fn of_date([year, month, day]: [u16; 3]) -> Self {
        Self::Known(hash(format!("{year:04}-{month:02}-{day:02}").as_bytes()))
    }

    /// A date's with a time of day.
    #[must_use]
    pub fn of_moment([year, month, day]: [u16; 3], [hour, minute, second]: [u16; 3]) -> Self {
        let text = format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}");
        Self::Known(hash(text.as_bytes()))
    }

    /// A member's of an ENUM, by its number from 1 on; 0 stands for what is none.
    #[must_use]
    pub fn of_member(members: &[u64], number: u64) -> Option<Self> {
        match number {
            0 => Some(Self::of_string(b"")),
            _ => members.get(usize::try_from(number - 1).ok()?).map(|hash| Self::Known(*hash)),
        }
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

/// That of rows of which `hash` is known, where only changes count that are seen in these columns.
#[must_use]
pub fn hash_of_changes(hash: u64, looked_at: ColumnSet) -> u64 {
    if looked_at == ColumnSet::ALL { hash } else { hash_of_values(&[], &[hash, looked_at.bits()]) }
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
    fn decimals_that_are_equal_have_one_normal_form() {
        let of = |text: &str| ColumnValue::of_decimal(text.as_bytes(), 2);
        for (one, other) in
            [("12.30", "0012.3000"), ("5", "5.00"), (".5", "0.50"), ("-0.00", "0"), ("7.", "7")]
        {
            assert_eq!(of(one), of(other), "{one} {other}");
        }
        for (one, other) in [("12.3", "12.03"), ("5", "-5"), ("50", "5"), ("0.5", "5"), ("1.2", "12")] {
            assert_ne!(of(one), of(other), "{one} {other}");
        }
        for none in ["", "-", ".", "1e3", "+5", "--5", "1.2.3", "0x10", " 5", "12.001"] {
            assert_eq!(of(none), None, "{none}");
        }
    }

    #[test]
    fn member_is_the_string_that_it_stands_for() {
        let held = Holds::members([&b"open"[..], b"Shut"]);
        let of = |number| match &held {
            Some(Holds::Members(members)) => ColumnValue::of_member(members, number),
            _ => None,
        };
        assert_eq!(of(2), Some(ColumnValue::of_string(b"shut ")));
        assert_eq!((of(0), of(3)), (Some(ColumnValue::of_string(b"")), None));
        assert_eq!(Holds::members([&b"caf\xc3\xa9"[..]]), None);
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
