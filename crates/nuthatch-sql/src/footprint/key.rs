//! The primary key of the one table that a statement is about: how its column is written there, and which of its values are
//! known.
//!
//! A value is known if the server surely compares and stores it as it is: a plain decimal integer or an integer parameter, inside
//! the column's range.

use super::names::{Mention, Scope, is_name, take_name};
use crate::catalogue::{PrimaryKey, RowKey};
use crate::classify::cursor::Cursor;
use crate::footprint::Parameter;
use crate::statement::Name;
use crate::token::TokenKind;

/// A key as a statement may write it.
pub(super) struct Key<'a, 'q> {
    pub(super) column: &'a PrimaryKey,
    pub(super) table: Mention<'q>,
    pub(super) alias: Option<Name<'q>>,
    pub(super) scope: &'a Scope<'a>,
}

impl Key<'_, '_> {
    /// Takes the key's column, alone or behind its table; else nothing.
    pub(super) fn take_column(&self, cursor: &mut Cursor<'_>) -> bool {
        let mut ahead = cursor.clone();
        let is_key = self.is_column(&mut ahead).unwrap_or(false);
        if is_key {
            *cursor = ahead;
        }
        is_key
    }

    fn is_column(&self, cursor: &mut Cursor<'_>) -> Option<bool> {
        let (qualifier, name) = take_column_name(cursor)?;
        let is_of_table = match qualifier {
            None => true,
            Some(qualifier) => self.is_table(&qualifier),
        };
        Some(is_of_table && is_same(name, &self.column.column))
    }

    /// Whether columns of the table are written behind `qualifier`.
    fn is_table(&self, qualifier: &Mention<'_>) -> bool {
        let schema = || self.table.schema.map_or(self.scope.schema.into(), |schema| schema.text());
        match (self.alias, qualifier.schema) {
            (Some(alias), None) => is_same(qualifier.name, &alias.text()),
            (Some(_), Some(_)) => false,
            (None, None) => is_same(qualifier.name, &self.table.name.text()),
            (None, Some(named)) => {
                is_same(qualifier.name, &self.table.name.text()) && is_same(named, &schema())
            }
        }
    }

    /// Takes a value that the column may hold; else nothing.
    pub(super) fn take_value(&self, cursor: &mut Cursor<'_>) -> Option<Value> {
        take_value(cursor, self.column, self.scope.parameters)
    }
}

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

/// Takes a literal or marker that stands for a value of `column`; else nothing.
pub(super) fn take_value(
    cursor: &mut Cursor<'_>,
    column: &PrimaryKey,
    parameters: &[Parameter],
) -> Option<Value> {
    let token = cursor.peek()?;
    let value = match token.kind {
        TokenKind::Number => decimal(token.text)?,
        TokenKind::Symbol(b'?') => match parameters.get(cursor.markers.checked_sub(1)?)? {
            Parameter::Unsigned(value) => i128::from(*value),
            Parameter::Negative(value) => i128::from(*value),
            Parameter::Time | Parameter::Date | Parameter::Other => return None,
        },
        _ => return None,
    };
    let is_in_range = (i128::from(column.min)..=i128::from(column.max)).contains(&value);
    is_in_range.then(|| cursor.advance())?;
    Some(Value(value))
}

/// The value of decimal digits; none if there is anything else, or more than 64 bits.
fn decimal(digits: &[u8]) -> Option<i128> {
    let digits =
        std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))?;
    digits.parse::<u64>().ok().map(i128::from)
}

/// Takes what is assigned to, and the sign: `column =`, `t.column :=`.
pub(super) fn take_target<'q>(cursor: &mut Cursor<'q>) -> Option<Name<'q>> {
    let (_, column) = take_column_name(cursor)?;
    cursor.take_symbol(b':');
    cursor.take_symbol(b'=').then_some(column)
}

/// Takes the name of a column and, if it is there, of its table and schema.
pub(super) fn take_column_name<'q>(cursor: &mut Cursor<'q>) -> Option<(Option<Mention<'q>>, Name<'q>)> {
    let mut parts = [Some(take_name(cursor)?), None, None];
    for part in parts.iter_mut().skip(1) {
        if cursor.take_symbol(b'.') {
            let token = cursor.bump().filter(|&token| is_name(token))?;
            *part = Some(Name(token.text));
        }
    }
    if cursor.peek_symbol(b'.') {
        return None;
    }
    match parts {
        [Some(schema), Some(table), Some(column)] => {
            Some((Some(Mention { schema: Some(schema), name: table }), column))
        }
        [Some(table), Some(column), None] => Some((Some(Mention { schema: None, name: table }), column)),
        [Some(column), None, None] => Some((None, column)),
        _ => None,
    }
}

/// Whether `name` stands for this text, in whatever case.
pub(super) fn is_same(name: Name<'_>, text: &[u8]) -> bool {
    name.text().eq_ignore_ascii_case(text)
}
