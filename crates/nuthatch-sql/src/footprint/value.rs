//! Values of a primary key: which are known, and where they stand.
//!
//! A value is known if the server surely compares and stores it as it is: a plain decimal integer or an integer parameter, inside
//! the column's range.

use std::cell::RefCell;

use crate::catalogue::{PrimaryKey, RowKey};
use crate::footprint::Parameter;

/// A value inside the range of a key's column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Value(i128);

impl Value {
    /// The key of this value. None for 0, for which an INSERT may store another.
    pub(super) fn key(self) -> Option<RowKey> {
        (self.0 != 0).then(|| self.bits()).flatten()
    }

    /// Its 64 bits.
    fn bits(self) -> Option<RowKey> {
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
    Literal(usize),
    /// Behind this `?`, from 0.
    Marker(usize),
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
    pub(super) const fn of(column: &PrimaryKey) -> Self {
        Self { min: column.min, max: column.max }
    }

    /// The value of a number as it is written, if it is one of these.
    pub(super) fn literal(self, text: &[u8]) -> Option<Value> {
        self.holds(decimal(text)?.into())
    }

    /// That of a parameter, by its place among all of them.
    pub(super) fn parameter(self, parameters: &[Parameter], number: usize) -> Option<Value> {
        let value = match parameters.get(number)? {
            Parameter::Unsigned(value) => i128::from(*value),
            Parameter::Negative(value) => i128::from(*value),
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
