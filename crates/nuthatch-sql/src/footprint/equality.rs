//! The columns of a table that a WHERE compares with constants by `=` or IN.
//!
//! What is compared is certain: an integer column with what is surely an integer, a string column with one string in single quotes that has
//! no backslash or quote in it, or with a parameter; a DECIMAL with a number that has no exponent, a date with one that is written in full
//! in single quotes, an ENUM with one of its members. Of all else (another collation by COLLATE, an introducer, strings side by side, numbers
//! beside strings) something is left behind the value, or nothing is taken.

use super::date_literal::{date, moment};
use super::key::{Named, in_parentheses, take_column_name, take_integer};
use super::predicate::{Demands, take_condition_of};
use super::value::Range;
use super::{Equality, Parameter};
use crate::catalogue::Table;
use crate::classify::cursor::Cursor;
use crate::compared::{ColumnPlaces, ColumnValue, ComparedColumn, Holds, hash_of_others, hash_of_values};
use crate::token::{Token, TokenKind};

/// So many columns are looked at together.
const COLUMNS_MAX: usize = 4;

/// A number of more is none that a DECIMAL holds as it is written.
const DECIMAL_DIGITS_MAX: usize = 30;

/// So many combinations of values are told apart.
const COMBINATIONS_MAX: usize = 64;

/// What the WHERE whose conditions come next demands of what the table's rows hold that it shows; none if it demands nothing that is certain.
/// `others`: the other tables of the statement. A column that is named alone and may be one of theirs is nobody's.
pub(super) fn equality(
    cursor: Cursor<'_>,
    table: &Table,
    of: Named<'_, '_>,
    others: &[&Table],
) -> Option<Equality> {
    equal(cursor, &By { table, of, others }).equality()
}

/// The same, as it stands there.
pub(super) fn equal(mut cursor: Cursor<'_>, by: &By<'_, '_>) -> Equal {
    if by.table.compared.columns.is_empty() {
        return Equal::default();
    }
    take_condition_of(&mut cursor, by).unwrap_or_default()
}

/// By what a condition is understood.
pub(super) struct By<'b, 'q> {
    pub(super) table: &'b Table,
    pub(super) of: Named<'b, 'q>,
    pub(super) others: &'b [&'b Table],
}

/// For each column, in no order, the hashes of the values that it may have.
#[derive(Default)]
pub(super) struct Equal(Vec<(u16, Vec<u64>)>);

impl Demands for Equal {
    type Condition = (u16, Vec<u64>);
    type By<'b, 'q> = By<'b, 'q>;

    fn take_condition(cursor: &mut Cursor<'_>, by: &By<'_, '_>) -> Option<Self::Condition> {
        let mut ahead = cursor.clone();
        let condition = by.take_column_first(&mut ahead);
        if condition.is_some() {
            *cursor = ahead;
        }
        condition.or_else(|| by.take_value_first(cursor))
    }

    /// Of two for one column either will do.
    fn add(&mut self, (column, values): Self::Condition) {
        if !self.0.iter().any(|(known, _)| *known == column) {
            self.0.push((column, values));
        }
    }

    fn add_all(&mut self, other: Self) {
        other.0.into_iter().for_each(|condition| self.add(condition));
    }

    /// Of columns that both compare; each with the values of both, which is more than they leave together.
    fn or(self, other: Self) -> Self {
        let with_others = |(column, mut values): (u16, Vec<u64>)| {
            let (_, others) = other.0.iter().find(|(known, _)| *known == column)?;
            values.extend(others);
            values.sort_unstable();
            values.dedup();
            Some((column, values))
        };
        Self(self.0.into_iter().filter_map(with_others).collect())
    }
}

impl Equal {
    /// What the column may have; none if it may have anything.
    pub(super) fn values(&self, column: u16) -> Option<&[u64]> {
        self.0.iter().find(|(known, _)| *known == column).map(|(_, values)| &**values)
    }

    pub(super) fn equality(mut self) -> Option<Equality> {
        // Those with the fewest values tell most.
        self.0.sort_by_key(|(column, values)| (values.len(), *column));
        self.0.truncate(COLUMNS_MAX);
        while self.combinations() > COMBINATIONS_MAX {
            self.0.pop();
        }
        self.0.sort_by_key(|(column, _)| *column);
        let columns: ColumnPlaces = self.0.iter().map(|(column, _)| *column).collect();
        (!columns.is_empty()).then_some(())?;
        let mut combined = vec![Vec::new()];
        for (_, values) in &self.0 {
            let with_each = |known: Vec<u64>| values.iter().map(move |value| [&*known, &[*value]].concat());
            combined = combined.into_iter().flat_map(with_each).collect();
        }
        let mut hashes: Vec<u64> = combined.iter().map(|values| hash_of_values(&columns, values)).collect();
        hashes.push(hash_of_others(&columns));
        hashes.sort_unstable();
        hashes.dedup();
        Some(Equality { columns, hashes })
    }

    fn combinations(&self) -> usize {
        self.0.iter().map(|(_, values)| values.len()).fold(1, usize::saturating_mul)
    }
}

impl By<'_, '_> {
    /// Takes `column = value` or `column IN (value, …)`; none, with anything taken, if another thing stands here.
    fn take_column_first(&self, cursor: &mut Cursor<'_>) -> Option<(u16, Vec<u64>)> {
        let column = self.take_column(cursor)?;
        let values = if cursor.take_word(b"IN") {
            self.take_list(cursor, column)?
        } else {
            cursor.take_symbol(b'=').then_some(())?;
            vec![self.take_value(cursor, column)?]
        };
        Some((column.position, values))
    }

    /// Takes `value = column`.
    fn take_value_first(&self, cursor: &mut Cursor<'_>) -> Option<(u16, Vec<u64>)> {
        // Whose value it is is known only behind it.
        let mut ahead = cursor.clone();
        ahead.bump()?;
        while !(ahead.at_end() || ahead.peek_symbol(b'=')) {
            ahead.bump().filter(|token| matches!(token.kind, TokenKind::Number | TokenKind::Symbol(b')')))?;
        }
        ahead.take_symbol(b'=').then_some(())?;
        let column = self.take_column(&mut ahead)?;
        let value = self.take_value(cursor, column)?;
        cursor.take_symbol(b'=').then_some(())?;
        self.take_column(cursor)?;
        Some((column.position, vec![value]))
    }

    /// Takes the name of a column of the table that has a normal form; none, with anything taken, if another thing stands here.
    pub(super) fn take_column(&self, cursor: &mut Cursor<'_>) -> Option<&ComparedColumn> {
        in_parentheses(cursor, |inside| {
            let (qualifier, _) = take_column_name(&mut inside.clone())?;
            let name = self.of.take_column(inside)?.text();
            // Where another table has one of that name in a form that is not known, the server refuses the statement.
            let is_theirs = |other: &&Table| other.compared.named(&name).is_some();
            let is_ours = qualifier.is_some() || !self.others.iter().any(is_theirs);
            self.table.compared.named(&name).filter(|_| is_ours)
        })
    }

    fn take_list(&self, cursor: &mut Cursor<'_>, column: &ComparedColumn) -> Option<Vec<u64>> {
        cursor.take_symbol(b'(').then_some(())?;
        let mut values = vec![self.take_value(cursor, column)?];
        while values.len() < COMBINATIONS_MAX && cursor.take_symbol(b',') {
            values.push(self.take_value(cursor, column)?);
        }
        cursor.take_symbol(b')').then_some(())?;
        values.sort_unstable();
        values.dedup();
        Some(values)
    }

    /// Takes a value, by its hash; none, with anything taken, if it has no normal form.
    fn take_value(&self, cursor: &mut Cursor<'_>, column: &ComparedColumn) -> Option<u64> {
        match &column.holds {
            Holds::Integers { min, max } => {
                let value = take_integer(cursor, Range::new(*min, *max), self.of.scope)?;
                ColumnValue::of_integer(value.bits()?.0).known()
            }
            Holds::Strings => in_parentheses(cursor, |inside| self.take_string(inside)),
            Holds::Members(members) => in_parentheses(cursor, |inside| self.take_string(inside))
                .filter(|member| members.contains(member)),
            Holds::Decimals { scale } => in_parentheses(cursor, |inside| take_decimal(inside, *scale)),
            Holds::Dates => {
                in_parentheses(cursor, |inside| date(take_plain(inside)?)).and_then(ColumnValue::known)
            }
            Holds::Moments => {
                in_parentheses(cursor, |inside| moment(take_plain(inside)?)).and_then(ColumnValue::known)
            }
        }
    }

    fn take_string(&self, cursor: &mut Cursor<'_>) -> Option<u64> {
        let token = cursor.bump()?;
        match token.kind {
            TokenKind::String => ColumnValue::of_string(plain(token)?).known(),
            TokenKind::Symbol(b'?') => match self.of.scope.parameters.get(cursor.markers.checked_sub(1)?)? {
                Parameter::Text { hash, .. } => *hash,
                _ => None,
            },
            _ => None,
        }
    }
}

/// Takes what stands in single quotes, without a quote or a backslash in it.
fn take_plain<'q>(cursor: &mut Cursor<'q>) -> Option<&'q [u8]> {
    plain(cursor.bump().filter(|token| token.kind == TokenKind::String)?)
}

fn plain(token: Token<'_>) -> Option<&[u8]> {
    let inside = token.text.strip_prefix(b"'")?.strip_suffix(b"'")?;
    (!inside.iter().any(|byte| matches!(byte, b'\'' | b'\\'))).then_some(inside)
}

/// Takes a number with a minus or without, as far as it is surely a DECIMAL or an integer for the server.
fn take_decimal(cursor: &mut Cursor<'_>, scale: u8) -> Option<u64> {
    let is_negative = cursor.take_symbol(b'-');
    let token = cursor.bump().filter(|token| token.kind == TokenKind::Number)?;
    (token.text.len() <= DECIMAL_DIGITS_MAX).then_some(())?;
    let sign = if is_negative { &b"-"[..] } else { b"" };
    ColumnValue::of_decimal(&[sign, token.text].concat(), scale)?.known()
}
