//! INSERT and REPLACE: one table, and the keys of its new rows as far as they stand there.

use super::key::{Value, is_same, take_column_name, take_target, take_value};
use super::keyword::Keyword;
use super::names::{Mention, Scope, take_alias};
use super::predicate::{KEYS_MAX, skip_parenthesis};
use super::write::Writes;
use super::{WriteFootprint, WrittenRows};
use crate::catalogue::{PrimaryKey, RowKey};
use crate::classify::cursor::Cursor;
use crate::token::TokenKind;

/// What an INSERT or REPLACE writes; none if that is not certain.
pub(super) fn insert(mut cursor: Cursor<'_>, scope: &Scope<'_>) -> Option<WriteFootprint> {
    let head = take_head(&mut cursor)?;
    let table = Mention::take(&mut cursor)?.find(scope)?;
    begins_rows(&cursor).then_some(())?;
    let key = table.key.as_ref().filter(|_| !head.is_delayed);
    let rows = key.and_then(|key| Rows::new(key, scope).take(cursor, &head));
    let mut writes = Writes::new(scope);
    writes.add(table, rows.unwrap_or(WrittenRows::Any))?;
    Some(writes.footprint())
}

/// What stands before the table's name.
struct Head {
    /// Of REPLACE.
    replaces: bool,
    is_delayed: bool,
}

/// With IGNORE, rows that cannot be added are left out.
fn take_head(cursor: &mut Cursor<'_>) -> Option<Head> {
    let replaces = cursor.take_word(b"REPLACE");
    if !replaces && !cursor.take_word(b"INSERT") {
        return None;
    }
    let is_delayed = cursor.take_word(b"DELAYED");
    let _priority = cursor.take_word(b"LOW_PRIORITY") || cursor.take_word(b"HIGH_PRIORITY");
    cursor.take_word(b"IGNORE");
    cursor.take_word(b"INTO");
    Some(Head { replaces, is_delayed })
}

/// What stands behind the table's name is one of the forms in which rows are given.
fn begins_rows(cursor: &Cursor<'_>) -> bool {
    cursor.peek_symbol(b'(')
        || [&b"VALUES"[..], b"VALUE", b"SET", b"SELECT", b"WITH", b"TABLE", b"PARTITION"]
            .iter()
            .any(|word| cursor.peek_word(word))
}

/// Reads the rows of an INSERT for their keys.
struct Rows<'a> {
    key: &'a PrimaryKey,
    scope: &'a Scope<'a>,
    count: usize,
    /// Those of all rows so far; none if one is not known.
    keys: Option<Vec<RowKey>>,
    /// The server makes the key of each row so far.
    all_given: bool,
}

/// What stands in the place of a new row's key.
enum NewKey {
    Known(Value),
    /// Nothing, or NULL.
    Absent,
    Unknown,
}

impl<'a> Rows<'a> {
    fn new(key: &'a PrimaryKey, scope: &'a Scope<'a>) -> Self {
        Self { key, scope, count: 0, keys: Some(Vec::new()), all_given: key.is_auto_increment }
    }

    /// What is written by the statement whose table was taken; none if it may change rows that are there and are not known.
    fn take(mut self, mut cursor: Cursor<'_>, head: &Head) -> Option<WrittenRows> {
        if cursor.take_word(b"PARTITION") {
            cursor.take_symbol(b'(').then_some(())?;
            skip_parenthesis(&mut cursor)?;
        }
        if cursor.take_word(b"SET") {
            self.take_assignments(&mut cursor)?;
        } else {
            let place = self.take_columns(&mut cursor)?;
            (cursor.take_word(b"VALUES") || cursor.take_word(b"VALUE")).then_some(())?;
            self.take_row(&mut cursor, place)?;
            while cursor.take_symbol(b',') {
                self.take_row(&mut cursor, place)?;
            }
        }
        let tail = take_tail(&mut cursor, self.key)?;
        if cursor.has_executable {
            return None;
        }
        if head.replaces || tail.updates {
            // The row that stands in the way has the new one's key, if it is by no other that it does.
            return self.known_keys().filter(|_| self.key.is_only_unique);
        }
        // Rows in an answer take the place of the OK packet that would tell the key.
        if self.all_given && self.count == 1 && !tail.answers_rows {
            return Some(WrittenRows::Given);
        }
        Some(self.known_keys().unwrap_or(WrittenRows::New))
    }

    /// Those of all rows, if each is known and they are not too many.
    fn known_keys(&self) -> Option<WrittenRows> {
        let mut keys = self.keys.clone().filter(|keys| keys.len() <= KEYS_MAX)?;
        keys.sort_unstable();
        keys.dedup();
        Some(WrittenRows::Keys(keys))
    }

    /// Takes the list of columns, if there is one, and says where the key's value stands. An empty list is that of all columns.
    fn take_columns(&self, cursor: &mut Cursor<'_>) -> Option<Place> {
        let has_list = cursor.take_symbol(b'(');
        if !has_list || cursor.take_symbol(b')') {
            return Some(self.key.position.map_or(Place::Unknown, |position| Place::At(position.into())));
        }
        let mut place = Place::Nowhere;
        let mut at = 0;
        while !cursor.take_symbol(b')') {
            let (_, column) = take_column_name(cursor)?;
            if is_same(column, &self.key.column) {
                place = Place::At(at);
            }
            at += 1;
            (cursor.take_symbol(b',') || cursor.peek_symbol(b')')).then_some(())?;
        }
        Some(place)
    }

    /// Takes `(value, …)`.
    fn take_row(&mut self, cursor: &mut Cursor<'_>, place: Place) -> Option<()> {
        cursor.take_symbol(b'(').then_some(())?;
        let mut found = match place {
            Place::Nowhere => NewKey::Absent,
            _ if cursor.peek_symbol(b')') => NewKey::Absent,
            _ => NewKey::Unknown,
        };
        let mut at = 0;
        while !cursor.take_symbol(b')') {
            if place == Place::At(at) {
                found = self.take_key(cursor, |cursor| cursor.peek_symbol(b',') || cursor.peek_symbol(b')'));
            }
            skip_value(cursor, |_| false)?;
            (cursor.take_symbol(b',') || cursor.peek_symbol(b')')).then_some(())?;
            at += 1;
        }
        self.add(found);
        Some(())
    }

    /// Takes `column = value, …`.
    fn take_assignments(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        let mut found = NewKey::Absent;
        loop {
            let column = take_target(cursor)?;
            if is_same(column, &self.key.column) {
                found = self.take_key(cursor, |cursor| {
                    cursor.peek_symbol(b',')
                        || cursor.at_end()
                        || Keyword::next(cursor).is_some_and(ends_rows)
                });
            }
            skip_value(cursor, ends_rows)?;
            if !cursor.take_symbol(b',') {
                break;
            }
        }
        self.add(found);
        Some(())
    }

    /// Takes the value of a key, if it is nothing but that; else nothing.
    fn take_key(&self, cursor: &mut Cursor<'_>, ends: impl Fn(&Cursor<'_>) -> bool) -> NewKey {
        let mut ahead = cursor.clone();
        let found = if ahead.take_word(b"NULL") {
            NewKey::Absent
        } else {
            take_value(&mut ahead, self.key, self.scope.parameters).map_or(NewKey::Unknown, NewKey::Known)
        };
        if !ends(&ahead) {
            return NewKey::Unknown;
        }
        *cursor = ahead;
        found
    }

    fn add(&mut self, key: NewKey) {
        self.count += 1;
        self.all_given &= matches!(key, NewKey::Absent);
        let known = match key {
            NewKey::Known(value) => value.key(),
            NewKey::Absent | NewKey::Unknown => None,
        };
        match (&mut self.keys, known) {
            (Some(keys), Some(key)) if keys.len() <= KEYS_MAX => keys.push(key),
            _ => self.keys = None,
        }
    }
}

/// Where the value of the key stands in a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    At(usize),
    Nowhere,
    Unknown,
}

/// Whether the word stands behind the values of `SET column = value, …`.
const fn ends_rows(word: Keyword) -> bool {
    matches!(word, Keyword::On | Keyword::As | Keyword::Returning)
}

/// Goes behind an expression: to a comma or parenthesis that is not its own, to the end, or to a word that ends it.
fn skip_value(cursor: &mut Cursor<'_>, ends: impl Fn(Keyword) -> bool) -> Option<()> {
    while !(cursor.at_end() || cursor.peek_symbol(b',') || cursor.peek_symbol(b')')) {
        if Keyword::next(cursor).is_some_and(&ends) {
            break;
        }
        match cursor.bump()?.kind {
            TokenKind::Symbol(b'(') => skip_parenthesis(cursor)?,
            TokenKind::Symbol(b'.') => cursor.advance(),
            _ => {}
        }
    }
    Some(())
}

/// What follows the rows.
struct Tail {
    /// By RETURNING.
    answers_rows: bool,
    /// Rows that stand in the way are changed, but for their keys.
    updates: bool,
}

/// Takes what may follow the rows, to the end; none if a row that is there may be given another key. Behind ON DUPLICATE KEY UPDATE,
/// RETURNING counts as part of the last value.
fn take_tail(cursor: &mut Cursor<'_>, key: &PrimaryKey) -> Option<Tail> {
    if cursor.take_word(b"AS") {
        take_alias(cursor)?;
        if cursor.take_symbol(b'(') {
            skip_parenthesis(cursor)?;
        }
    }
    let updates = cursor.take_words(&[b"ON", b"DUPLICATE", b"KEY", b"UPDATE"]);
    if updates {
        take_changes(cursor, key)?;
    }
    let answers_rows = cursor.take_word(b"RETURNING");
    if answers_rows {
        // Where RETURNING is no keyword it may be a column, and ON DUPLICATE KEY UPDATE follow.
        while !cursor.at_end() {
            skip_value(cursor, |word| word == Keyword::On)?;
            cursor.take_symbol(b',').then_some(()).or_else(|| cursor.at_end().then_some(()))?;
        }
    }
    cursor.at_end().then_some(Tail { answers_rows, updates })
}

/// Takes `column = value, …` behind ON DUPLICATE KEY UPDATE; none if the key is among the columns.
fn take_changes(cursor: &mut Cursor<'_>, key: &PrimaryKey) -> Option<()> {
    loop {
        let column = take_target(cursor)?;
        (!is_same(column, &key.column)).then_some(())?;
        // Where RETURNING is no keyword it may be a column: what stands behind it has to be a change as well.
        skip_value(cursor, |_| false)?;
        if !cursor.take_symbol(b',') {
            return Some(());
        }
    }
}
