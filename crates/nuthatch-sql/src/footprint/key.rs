//! The primary key of the one table that a statement is about: how its column is written there, and where its values stand.

use super::names::{Mention, Scope, is_name, take_name};
use super::value::{Looked, Place, Range, Spelling, Value};
use crate::catalogue::PrimaryKey;
use crate::classify::cursor::Cursor;
use crate::statement::Name;
use crate::token::{Token, TokenKind};
use crate::words::is_one_of as is_one_of_words;

/// Words that without quotes are values, whatever columns there are: on some servers, or in some SQL modes.
const NO_COLUMNS: [&[u8]; 24] = [
    b"true",
    b"false",
    b"null",
    b"default",
    b"unknown",
    b"current_user",
    b"session_user",
    b"system_user",
    b"user",
    b"current_role",
    b"rownum",
    b"sysdate",
    b"sqlcode",
    b"sqlerrm",
    b"current_date",
    b"current_time",
    b"current_timestamp",
    b"localtime",
    b"localtimestamp",
    b"utc_date",
    b"utc_time",
    b"utc_timestamp",
    b"binary",
    b"not",
];

/// A table as a statement names it, alone.
#[derive(Clone, Copy)]
pub(super) struct Named<'a, 'q> {
    pub(super) table: Mention<'q>,
    pub(super) alias: Option<Name<'q>>,
    pub(super) scope: &'a Scope<'a>,
}

/// A key as a statement may write it.
pub(super) struct Key<'a, 'q> {
    pub(super) column: &'a PrimaryKey,
    pub(super) of: Named<'a, 'q>,
}

impl Named<'_, '_> {
    /// Takes the name of a column, alone or behind its table; none, with anything taken, if another thing stands here or it is another
    /// table's.
    pub(super) fn take_column<'c>(&self, cursor: &mut Cursor<'c>) -> Option<Name<'c>> {
        let (qualifier, name) = take_column_name(cursor)?;
        let is_of_table = match qualifier {
            None => !is_one_of_words(name.as_written(), &NO_COLUMNS),
            Some(qualifier) => self.is_table(&qualifier),
        };
        is_of_table.then_some(name)
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
}

impl Key<'_, '_> {
    /// Takes the key's column, alone or behind its table, in parentheses or without; else nothing.
    pub(super) fn take_column(&self, cursor: &mut Cursor<'_>) -> bool {
        let is_key = |name: &Name<'_>| is_same(*name, &self.column.column);
        in_parentheses(cursor, |inside| self.of.take_column(inside).filter(is_key)).is_some()
    }

    /// Takes a value that the column may hold; else nothing.
    pub(super) fn take_value(&self, cursor: &mut Cursor<'_>) -> Option<Value> {
        take_value(cursor, self.column, self.of.scope)
    }
}

/// Takes a literal or marker that stands for a value of `column`, in parentheses or without; else nothing.
pub(super) fn take_value(cursor: &mut Cursor<'_>, column: &PrimaryKey, scope: &Scope<'_>) -> Option<Value> {
    take_integer(cursor, Range::of(column), scope)
}

/// The same of any column that holds these integers.
pub(super) fn take_integer(cursor: &mut Cursor<'_>, range: Range, scope: &Scope<'_>) -> Option<Value> {
    if cursor.peek_symbol(b'(') {
        in_parentheses(cursor, |inside| take_bare_value(inside, range, scope))
    } else {
        take_bare_value(cursor, range, scope)
    }
}

fn take_bare_value(cursor: &mut Cursor<'_>, range: Range, scope: &Scope<'_>) -> Option<Value> {
    let token = cursor.peek()?;
    let (place, value) = match token.kind {
        TokenKind::Number => literal(token, Spelling::Plain, range),
        TokenKind::String if token.text.starts_with(b"'") => literal(token, Spelling::Quoted, range),
        TokenKind::Symbol(b'-') => return take_negated(cursor, range, scope),
        TokenKind::Symbol(b'?') => {
            let marker = cursor.markers.checked_sub(1)?;
            (Place::Marker(marker), range.parameter(scope.parameters, marker))
        }
        _ => return None,
    };
    scope.note(Looked { place, range, value });
    if value.is_some() {
        cursor.advance();
    }
    value
}

fn take_negated(cursor: &mut Cursor<'_>, range: Range, scope: &Scope<'_>) -> Option<Value> {
    let mut ahead = cursor.clone();
    ahead.advance();
    let token = ahead.bump().filter(|token| token.kind == TokenKind::Number)?;
    let (place, value) = literal(token, Spelling::Negated, range);
    scope.note(Looked { place, range, value });
    if value.is_some() {
        *cursor = ahead;
    }
    value
}

fn literal(token: Token<'_>, spelling: Spelling, range: Range) -> (Place, Option<Value>) {
    (Place::Literal(token.start, spelling), range.literal(token.text, spelling))
}

/// So many parentheses may be around a column or a value.
const PARENTHESES_MAX: usize = 8;

/// Takes parentheses, if there are any, what `take` takes, and those that close them; else nothing.
pub(super) fn in_parentheses<'q, T>(
    cursor: &mut Cursor<'q>,
    take: impl FnOnce(&mut Cursor<'q>) -> Option<T>,
) -> Option<T> {
    let (mut ahead, mut open) = (cursor.clone(), 0);
    while open < PARENTHESES_MAX && ahead.take_symbol(b'(') {
        open += 1;
    }
    let taken = take(&mut ahead)?;
    let are_closed = (0..open).all(|_| ahead.take_symbol(b')'));
    are_closed.then(|| {
        *cursor = ahead;
        taken
    })
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

/// Whether `name` stands for one of these texts, in whatever case.
pub(super) fn is_one_of(name: Name<'_>, texts: &[Box<[u8]>]) -> bool {
    texts.iter().any(|text| is_same(name, text))
}

/// Whether `name` stands for this text, in whatever case.
pub(super) fn is_same(name: Name<'_>, text: &[u8]) -> bool {
    name.text().eq_ignore_ascii_case(text)
}
