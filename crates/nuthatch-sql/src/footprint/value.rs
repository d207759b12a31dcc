//! Values of a primary key: which are known, and where they stand.
//!
//! A value is known if the server surely compares and stores it as it is: a plain decimal integer, with a minus or without, one in
//! single quotes as a server itself would write it, or an integer parameter, inside the column's range. An integer in quotes may be
//! compared as a double: so it is known only as far as each double is one integer.

use std::cell::RefCell;

use crate::catalogue::{PrimaryKey, RowKey};
use crate::compared::ColumnValue;
use crate::footprint::Parameter;
use crate::outline::Literal;

/// A value inside the range of a key's column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Value(i128);

impl Value {
    /// The key of this value. None for 0, for which an INSERT may store another.
    pub(super) fn key(self) -> Option<RowKey> {
        (self.0 != 0).then(|| self.bits()).flatten()
    }

    /// Its 64 bits.
    pub(super) fn bits(self) -> Option<RowKey> {
        let negative = || i64::try_from(self.0).ok().map(i64::cast_unsigned);
        u64::try_from(self.0).ok().or_else(negative).map(RowKey)
    }

    pub(super) fn next(self) -> Self {
        Self(self.0 + 1)
    }

    pub(super) fn previous(self) -> Self {
        Self(self.0 - 1)
    }
}

/// The first and last key from `least` to `greatest`; none if there is nothing between, or if their bits are in another order.
pub(super) fn range(least: Value, greatest: Value) -> Option<(RowKey, RowKey)> {
    let have_one_sign = (least.0 < 0) == (greatest.0 < 0);
    if least <= greatest && have_one_sign { Some((least.bits()?, greatest.bits()?)) } else { None }
}

/// Where a value stands that may be one of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In the text, from here on.
    Literal(usize, Spelling),
    /// Behind this `?`, from 0.
    Marker(usize),
}

/// How a literal is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spelling {
    /// A number.
    Plain,
    /// A number behind a minus, which is no part of the literal.
    Negated,
    /// A string in single quotes.
    Quoted,
}

impl Spelling {
    /// What it is in an outline.
    pub(super) fn literal(self) -> Literal {
        match self {
            Self::Plain | Self::Negated => Literal::Number,
            Self::Quoted => Literal::String,
        }
    }

    /// The value of a literal that is written so; none if it is not surely an integer for the server.
    fn value(self, text: &[u8]) -> Option<i128> {
        match self {
            Self::Plain => decimal(text).map(i128::from),
            Self::Negated => decimal(text).and_then(negated),
            Self::Quoted => quoted(text),
        }
    }
}

/// A look at what may be a value of a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Looked {
    pub(super) place: Place,
    pub(super) range: Range,
    /// None for what is no integer, or out of the range.
    pub(super) value: Option<Value>,
}

/// All looks at values of one statement, in no order, some more than once.
pub(super) type Looks = RefCell<Vec<Looked>>;

/// The values that the column of a key holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    min: i64,
    max: u64,
}

impl Range {
    pub(super) const fn new(min: i64, max: u64) -> Self {
        Self { min, max }
    }

    pub(super) const fn of(column: &PrimaryKey) -> Self {
        Self { min: column.min, max: column.max }
    }

    /// The value of a literal as it is written, if it is one of these.
    pub(super) fn literal(self, text: &[u8], spelling: Spelling) -> Option<Value> {
        self.holds(spelling.value(text)?)
    }

    /// That of a parameter, by its place among all of them.
    pub(super) fn parameter(self, parameters: &[Parameter], number: usize) -> Option<Value> {
        let value = match parameters.get(number)? {
            Parameter::Unsigned(value) => i128::from(*value),
            Parameter::Negative(value) => i128::from(*value),
            Parameter::Text { integer, .. } => i128::from((*integer)?),
            Parameter::Time | Parameter::Date | Parameter::Other => return None,
        };
        self.holds(value)
    }

    fn holds(self, value: i128) -> Option<Value> {
        (i128::from(self.min)..=i128::from(self.max)).contains(&value).then_some(Value(value))
    }
}

/// The value of decimal digits; none if there is anything else, or more than 64 bits.
fn decimal(digits: &[u8]) -> Option<u64> {
    let add = |sum: u64, digit: &u8| {
        let digit = digit.is_ascii_digit().then(|| u64::from(*digit - b'0'))?;
        sum.checked_mul(10)?.checked_add(digit)
    };
    let (_at_least_one, _) = digits.split_first()?;
    digits.iter().try_fold(0, add)
}

/// Servers take the least integer of 64 bits for a decimal number.
fn negated(value: u64) -> Option<i128> {
    i64::try_from(value).ok().map(|value| -i128::from(value))
}

/// Up to here a double is no other integer's.
const EXACT_MAX: u64 = (1 << 53) - 1;

/// The value of a string with its quotes, if what it holds is how a server writes an integer: `'7'`, `'-7'`.
fn quoted(text: &[u8]) -> Option<i128> {
    written(text.strip_prefix(b"'")?.strip_suffix(b"'")?)
}

/// The value of a string that is how a server writes an integer.
fn written(inside: &[u8]) -> Option<i128> {
    let digits = inside.strip_prefix(b"-").unwrap_or(inside);
    let value = decimal(digits).filter(|value| *value <= EXACT_MAX)?;
    let is_canonical = !digits.starts_with(b"0") || inside == b"0";
    let is_negative = digits.len() < inside.len();
    is_canonical.then(|| if is_negative { -i128::from(value) } else { i128::from(value) })
}

impl Parameter {
    /// A string that was sent as one.
    #[must_use]
    pub fn of_string(string: &[u8]) -> Self {
        let hash = ColumnValue::of_string(string).known();
        Self::Text { hash, integer: written(string).and_then(|value| i64::try_from(value).ok()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_values_only_as_a_server_would_write_them() {
        let range = Range { min: i64::MIN, max: u64::MAX };
        for (text, spelling, expected) in [
            ("7", Spelling::Plain, Some(7)),
            ("007", Spelling::Plain, Some(7)),
            ("18446744073709551615", Spelling::Plain, Some(i128::from(u64::MAX))),
            ("7.0", Spelling::Plain, None),
            ("7", Spelling::Negated, Some(-7)),
            ("0", Spelling::Negated, Some(0)),
            ("9223372036854775807", Spelling::Negated, Some(-i128::from(i64::MAX))),
            ("9223372036854775808", Spelling::Negated, None),
            ("'7'", Spelling::Quoted, Some(7)),
            ("'0'", Spelling::Quoted, Some(0)),
            ("'-7'", Spelling::Quoted, Some(-7)),
            ("'9007199254740991'", Spelling::Quoted, Some(9_007_199_254_740_991)),
            ("'-9007199254740991'", Spelling::Quoted, Some(-9_007_199_254_740_991)),
            ("'9007199254740992'", Spelling::Quoted, None),
            ("'99999999999999999999'", Spelling::Quoted, None),
            ("'-0'", Spelling::Quoted, None),
            ("'07'", Spelling::Quoted, None),
            ("'-07'", Spelling::Quoted, None),
            ("'+7'", Spelling::Quoted, None),
            ("'--7'", Spelling::Quoted, None),
            ("' 7'", Spelling::Quoted, None),
            ("'7 '", Spelling::Quoted, None),
            ("'7.0'", Spelling::Quoted, None),
            ("'7e0'", Spelling::Quoted, None),
            ("'7x'", Spelling::Quoted, None),
            ("''", Spelling::Quoted, None),
            ("'-'", Spelling::Quoted, None),
            ("'", Spelling::Quoted, None),
            ("\"7\"", Spelling::Quoted, None),
            ("'\\7'", Spelling::Quoted, None),
            ("'7''8'", Spelling::Quoted, None),
        ] {
            let value = range.literal(text.as_bytes(), spelling).map(|Value(value)| value);
            assert_eq!(value, expected, "{text} {spelling:?}");
        }
    }
}
