//! INSERT and REPLACE: one table, and the keys of its new rows as far as they stand there.

use super::key::{is_one_of, is_same, take_column_name, take_target, take_value};
use super::keyword::Keyword;
use super::names::{Mention, Scope, take_alias};
use super::predicate::{KEYS_MAX, skip_parenthesis};
use super::value::Value;
use super::writes::{Deed, Writes, referenced};
use super::{WriteFootprint, WrittenRows};
use crate::catalogue::{Catalogue, PrimaryKey, RowKey, SideEffects, Table};
use crate::classify::cursor::{Cursor, is_word};
use crate::token::{Lexing, Token, TokenKind};

/// What an INSERT or REPLACE writes; none if that is not certain.
pub(super) fn insert(mut cursor: Cursor<'_>, scope: &Scope<'_>) -> Option<WriteFootprint> {
    let head = take_head(&mut cursor)?;
    let table = Mention::take(&mut cursor)?.find(scope)?;
    begins_rows(&cursor).then_some(())?;
    let deed = deed(&cursor, &head, table);
    let key = table.key.as_ref().filter(|_| !head.is_delayed);
    let rows = key.and_then(|key| Rows::new(key, scope).take(cursor, &head));
    let mut writes = Writes::new(scope);
    writes.add(table, rows.unwrap_or(WrittenRows::Any), deed)?;
    Some(writes.footprint())
}

/// What an INSERT or REPLACE does with the rows of `table`, whose name was taken.
fn deed(cursor: &Cursor<'_>, head: &Head, table: &Table) -> Deed {
    let has_cascades = matches!(table.side_effects, SideEffects::Cascades(_));
    if has_cascades && !head.replaces && changes_none_of(cursor.clone(), referenced(table)) {
        Deed::Keeps
    } else {
        Deed::Any
    }
}

/// Whether what stands behind ON DUPLICATE KEY UPDATE, if that is there, surely is assigned to other columns than these.
fn changes_none_of(mut cursor: Cursor<'_>, columns: &[Box<[u8]>]) -> bool {
    while !cursor.at_end() {
        if !cursor.take_word(b"DUPLICATE") {
            cursor.advance();
            continue;
        }
        let changes = cursor.take_words(&[b"KEY", b"UPDATE"])
            && take_changes(&mut cursor, columns, |_| false).is_some();
        if !changes {
            return false;
        }
    }
    cursor.ends_statement()
}

/// Whether the server made `id` up, if the answer to `text` tells it: not if it is a key that the statement named, or that a trigger
/// did, for these are told too. `false` where that is not certain.
///
/// `text` is an INSERT or REPLACE; `schema` is the session's default schema, empty for none.
#[must_use]
pub fn makes_up(id: u64, text: &[u8], lexing: Lexing, schema: &[u8], catalogue: &Catalogue) -> bool {
    let scope = Scope::new(schema, catalogue, &[]);
    !lexing.ascii_in_characters
        && may_make_up(id, Cursor::at_statement(text, lexing), &scope).unwrap_or(false)
}

fn may_make_up(id: u64, mut cursor: Cursor<'_>, scope: &Scope<'_>) -> Option<bool> {
    let head = take_head(&mut cursor)?;
    let key = Mention::take(&mut cursor)?.find(scope)?.key.as_ref().filter(|key| key.is_auto_increment)?;
    let mut rows = Rows::new(key, scope);
    rows.take_all(&mut cursor)?;
    let tail = take_tail(&mut cursor, key)?;
    // What IGNORE leaves out may have been given an id, which is told if a row with a key follows.
    let names_another =
        || !head.ignores && rows.named.as_ref().is_some_and(|keys| !keys.contains(&RowKey(id)));
    Some((rows.all_given || names_another()) && !tail.updates && !cursor.has_executable)
}

/// Whether `text`, an INSERT or REPLACE, surely names no key that is `id`: it has plain values only, none of which a server would store
/// as this number. A trigger may name one all the same.
#[must_use]
pub fn names_another(id: u64, text: &[u8], lexing: Lexing) -> bool {
    !lexing.ascii_in_characters
        && has_plain_values(Cursor::at_statement(text, lexing), |value| !may_be(value, id)).unwrap_or(false)
}

/// Whether all values of the rows are single literals that `is_fit`, NULL or DEFAULT, and nothing follows them.
fn has_plain_values(mut cursor: Cursor<'_>, is_fit: impl Fn(Token<'_>) -> bool) -> Option<bool> {
    take_head(&mut cursor)?;
    Mention::take(&mut cursor)?;
    let assigns = cursor.take_word(b"SET");
    if !assigns && cursor.take_symbol(b'(') {
        skip_parenthesis(&mut cursor)?;
    }
    let has_rows = assigns || cursor.take_word(b"VALUES") || cursor.take_word(b"VALUE");
    let mut is_fit_all = has_rows && !cursor.has_executable;
    while is_fit_all && !cursor.at_end() {
        if assigns {
            take_target(&mut cursor)?;
        } else if cursor.take_symbol(b'(') || cursor.take_symbol(b')') || cursor.take_symbol(b',') {
            continue;
        }
        let value = cursor.bump()?;
        let is_none = || [&b"NULL"[..], b"DEFAULT"].iter().any(|word| is_word(value, word));
        is_fit_all = is_none() && !cursor.peek_symbol(b'(') || is_fit(value);
        let ends = cursor.at_end() || cursor.peek_symbol(b',') || !assigns && cursor.peek_symbol(b')');
        is_fit_all &= ends && !cursor.has_executable;
        if assigns {
            cursor.take_symbol(b',');
        }
    }
    Some(is_fit_all)
}

/// What is out of a column's range becomes the last number in it, if the SQL mode allows that. Greater ones are negative.
const LAST_OF_TYPES: [u64; 8] = [0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7F_FFFF, 0xFF_FFFF, 0x7FFF_FFFF, 0xFFFF_FFFF];

/// Whether a server may make this number of the literal. Strings are cut behind their digits, and fractions rounded.
fn may_be(literal: Token<'_>, id: u64) -> bool {
    let text = match literal.kind {
        TokenKind::Number | TokenKind::String => literal.text,
        _ => return true,
    };
    let is_number = |digits: &[u8]| {
        std::str::from_utf8(digits)
            .ok()
            .and_then(|digits| digits.parse::<u64>().ok())
            .is_none_or(|it| it == id)
    };
    let has_more = |pair: &[u8]| match pair {
        [digit, b'.' | b'e' | b'E' | b'x' | b'X' | b'b' | b'B'] => digit.is_ascii_digit(),
        [b'.', digit] => digit.is_ascii_digit(),
        _ => false,
    };
    let mut numbers = text.split(|byte| !byte.is_ascii_digit()).filter(|digits| !digits.is_empty());
    LAST_OF_TYPES.contains(&id)
        || id > i64::MAX.cast_unsigned()
        || text.windows(2).any(has_more)
        || numbers.any(is_number)
}

/// What stands before the table's name.
struct Head {
    /// Of REPLACE.
    replaces: bool,
    is_delayed: bool,
    ignores: bool,
}

/// With IGNORE, rows that cannot be added are left out.
fn take_head(cursor: &mut Cursor<'_>) -> Option<Head> {
    let replaces = cursor.take_word(b"REPLACE");
    if !replaces && !cursor.take_word(b"INSERT") {
        return None;
    }
    let is_delayed = cursor.take_word(b"DELAYED");
    let _priority = cursor.take_word(b"LOW_PRIORITY") || cursor.take_word(b"HIGH_PRIORITY");
    let ignores = cursor.take_word(b"IGNORE");
    cursor.take_word(b"INTO");
    Some(Head { replaces, is_delayed, ignores })
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
    /// Those that stand there, but for 0; none if one may be any, or they are too many.
    named: Option<Vec<RowKey>>,
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
        let (keys, named) = (Some(Vec::new()), Some(Vec::new()));
        Self { key, scope, count: 0, keys, named, all_given: key.is_auto_increment }
    }

    /// What is written by the statement whose table was taken; none if it may change rows that are there and are not known.
    fn take(mut self, mut cursor: Cursor<'_>, head: &Head) -> Option<WrittenRows> {
        self.take_all(&mut cursor)?;
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

    /// Takes all that stands between the table's name and what follows the rows.
    fn take_all(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        if cursor.take_word(b"PARTITION") {
            cursor.take_symbol(b'(').then_some(())?;
            skip_parenthesis(cursor)?;
        }
        if cursor.take_word(b"SET") {
            return self.take_assignments(cursor);
        }
        let place = self.take_columns(cursor)?;
        (cursor.take_word(b"VALUES") || cursor.take_word(b"VALUE")).then_some(())?;
        self.take_row(cursor, place)?;
        while cursor.take_symbol(b',') {
            self.take_row(cursor, place)?;
        }
        Some(())
    }

    /// Those of all rows, if each is known and they are not too many.
    fn known_keys(&self) -> Option<WrittenRows> {
        let mut keys = self.keys.clone().filter(|keys| keys.len() <= KEYS_MAX)?;
        keys.sort_unstable();
        keys.dedup();
        Some(WrittenRows::Keys(keys.into()))
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
            take_value(&mut ahead, self.key, self.scope).map_or(NewKey::Unknown, NewKey::Known)
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
        let known = match &key {
            NewKey::Known(value) => value.key(),
            NewKey::Absent | NewKey::Unknown => None,
        };
        match (&mut self.keys, known) {
            (Some(keys), Some(key)) if keys.len() <= KEYS_MAX => keys.push(key),
            _ => self.keys = None,
        }
        match (&mut self.named, key, known) {
            (Some(keys), _, Some(key)) if keys.len() <= KEYS_MAX => keys.push(key),
            (Some(_), NewKey::Absent | NewKey::Known(_), None) => {}
            _ => self.named = None,
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
        // Where RETURNING is no keyword it may be a column: what stands behind it has to be a change as well.
        take_changes(cursor, std::slice::from_ref(&key.column), |_| false)?;
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

/// Takes `column = value, …`, up to a word that ends it; none if one of these is among the columns.
pub(super) fn take_changes(
    cursor: &mut Cursor<'_>,
    columns: &[Box<[u8]>],
    ends: impl Fn(Keyword) -> bool,
) -> Option<()> {
    loop {
        let column = take_target(cursor)?;
        (!is_one_of(column, columns)).then_some(())?;
        skip_value(cursor, &ends)?;
        if !cursor.take_symbol(b',') {
            return Some(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::ServerFlavor;

    #[test]
    fn plain_values_name_no_other_key_than_their_own() {
        for (text, id, expected) in [
            ("INSERT INTO t (v) VALUES ('a')", 5, true),
            ("INSERT INTO t (v) VALUES (6), (7);", 5, true),
            ("INSERT INTO t VALUES (NULL, '123-456')", 12, true),
            ("INSERT t SET v = DEFAULT, w = 7", 5, true),
            ("REPLACE INTO t () VALUES ()", 5, true),
            ("INSERT INTO t (id, v) VALUES (5, 'a')", 5, false),
            ("INSERT INTO t VALUES ('5', 'a')", 5, false),
            ("INSERT INTO t VALUES (005)", 5, false),
            ("INSERT INTO t VALUES (4.6)", 5, false),
            ("INSERT INTO t VALUES ('4.6')", 5, false),
            ("INSERT INTO t VALUES (.46e1)", 5, false),
            ("INSERT INTO t VALUES (5e0)", 5, false),
            ("INSERT INTO t VALUES (2+3)", 5, false),
            ("INSERT INTO t VALUES (10-5)", 5, false),
            ("INSERT INTO t VALUES (-1)", 5, false),
            ("INSERT INTO t VALUES (1<<2)", 4, false),
            ("INSERT INTO t VALUES (true)", 1, false),
            ("INSERT INTO t VALUES (CURRENT_DATE)", 20_201_010, false),
            ("INSERT INTO t VALUES (DATE'2020-10-10')", 20_201_010, false),
            ("INSERT INTO t VALUES (DEFAULT(id))", 5, false),
            ("INSERT INTO t VALUES (ABS(-3))", 4, false),
            ("INSERT INTO t VALUES (0x05)", 5, false),
            ("INSERT INTO t VALUES (x'05')", 5, false),
            ("INSERT INTO t VALUES (99999)", 32_767, false),
            ("INSERT INTO t VALUES (99999999999999999999)", 5, false),
            ("INSERT INTO t VALUES (?)", 5, false),
            ("INSERT INTO t SELECT * FROM u", 5, false),
            ("INSERT INTO t (v) VALUES (1) ON DUPLICATE KEY UPDATE v=2", 5, false),
            ("INSERT INTO t SET v = v + 1", 5, false),
            ("INSERT INTO t VALUES (@a)", 5, false),
            ("INSERT INTO t /*! (id) VALUES (7) */", 5, false),
            ("LOAD DATA LOCAL INFILE 'x' INTO TABLE t", 5, false),
        ] {
            let lexing = Lexing::of(ServerFlavor::MariaDb(101_119));
            assert_eq!(names_another(id, text.as_bytes(), lexing), expected, "{text}");
        }
    }
}
