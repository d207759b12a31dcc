//! CREATE, ALTER, DROP and RENAME of tables, views and indexes: whose definition changes.
//!
//! All that the statement names is looked at anew, and all that reads or changes what it names. Triggers are not among them: a
//! DROP TRIGGER does not say whose.

use std::collections::HashSet;

use super::names::{Mention, Mentions, Scope};
use super::{TableWrites, WriteFootprint};
use crate::catalogue::{Table, TableId, fold};
use crate::classify::cursor::Cursor;
use crate::token::TokenKind;

/// What the statement defines anew; none if that is not certain.
pub(super) fn definition(start: &Cursor<'_>, scope: &Scope<'_>) -> Option<WriteFootprint> {
    is_one_with_plain_names(start.clone()).then_some(())?;
    let mut cursor = start.clone();
    match object(&mut cursor)? {
        Object::TemporaryTable => Some(WriteFootprint::Tables(TableWrites::new())),
        Object::Index => changed(start, scope),
        Object::Table if start.peek_word(b"CREATE") => created(start, cursor, scope),
        Object::Table if makes_tables_or_parents(start) => None,
        Object::Table => changed(start, scope),
    }
}

/// What OPTIMIZE TABLE defines anew: InnoDB makes the table again, by what is the default now (in MariaDB also the engine, and forms of
/// columns).
pub(super) fn optimized(start: &Cursor<'_>, scope: &Scope<'_>) -> Option<WriteFootprint> {
    is_one_with_plain_names(start.clone()).then(|| changed(start, scope))?
}

/// What a statement is about.
enum Object {
    /// Or a view.
    Table,
    /// One of the session's own.
    TemporaryTable,
    Index,
}

/// A view with a DEFINER is not told from a routine by its class, which then looks no further. In MariaDB's MSSQL mode names stand in
/// brackets, whatever is in them.
fn is_one_with_plain_names(mut cursor: Cursor<'_>) -> bool {
    while !cursor.at_end() {
        if cursor.take_symbol(b'[') {
            return false;
        }
        cursor.advance();
    }
    while cursor.take_symbol(b';') {}
    cursor.peek().is_none()
}

/// Reads past the word that says what is created, altered, dropped or renamed.
fn object(cursor: &mut Cursor<'_>) -> Option<Object> {
    cursor.advance();
    loop {
        if cursor.take_words(&[b"SQL", b"SECURITY"]) {
            cursor.advance();
        } else if cursor.take_word(b"ALGORITHM") || cursor.take_word(b"DEFINER") {
            cursor.take_symbol(b'=').then_some(())?;
            skip_account(cursor);
        } else if cursor.take_word(b"TEMPORARY") {
            let is_table = cursor.take_word(b"TABLE") || cursor.take_word(b"TABLES");
            return is_table.then_some(Object::TemporaryTable);
        } else if cursor.take_word(b"INDEX") {
            return Some(Object::Index);
        } else if take_one_of(cursor, &TABLES) {
            return Some(Object::Table);
        } else if !take_one_of(cursor, &OPTIONS) {
            return None;
        }
    }
}

const TABLES: [&[u8]; 3] = [b"TABLE", b"TABLES", b"VIEW"];

/// What may stand before them.
const OPTIONS: [&[u8]; 9] =
    [b"OR", b"REPLACE", b"ONLINE", b"OFFLINE", b"IGNORE", b"UNIQUE", b"FULLTEXT", b"SPATIAL", b"VECTOR"];

fn take_one_of(cursor: &mut Cursor<'_>, words: &[&[u8]]) -> bool {
    words.iter().any(|word| cursor.take_word(word))
}

/// Takes a word, or the name of an account: `root@localhost`, `CURRENT_USER()`.
fn skip_account(cursor: &mut Cursor<'_>) {
    cursor.advance();
    if cursor.peek().is_some_and(|token| token.kind == TokenKind::UserVariable) {
        cursor.advance();
    }
    if cursor.take_symbol(b'(') {
        cursor.take_symbol(b')');
    }
}

/// What a CREATE of a table or view changes, of which `name` is what follows that word.
///
/// One that is not there yet is nothing that an answer depends on, and nothing else changes: unless a trigger or a view names it
/// already, or it is changed with its parent.
fn created(start: &Cursor<'_>, mut name: Cursor<'_>, scope: &Scope<'_>) -> Option<WriteFootprint> {
    name.take_words(&[b"IF", b"NOT", b"EXISTS"]);
    let made = Mention::take(&mut name)?;
    if made.find(scope).is_some() {
        return changed(start, scope);
    }
    Mentions::new(start).all(|mention| mention.is_ok()).then_some(())?;
    let schema = made.schema.map_or(scope.schema.into(), |schema| schema.text());
    let name = made.name.text();
    if makes_tables_or_parents(start) || schema.is_empty() || scope.catalogue.code_may_name(&name) {
        return None;
    }
    Some(WriteFootprint::Definition { tables: Vec::new(), named: vec![(fold(&schema), fold(&name))] })
}

/// Whether a table may come to be by another's name or of its partition, or one come to be another's child.
fn makes_tables_or_parents(start: &Cursor<'_>) -> bool {
    let mut cursor = start.clone();
    while !cursor.at_end() {
        let renames = cursor.take_word(b"RENAME") && !take_one_of(&mut cursor, &PARTS);
        if renames || cursor.take_word(b"REFERENCES") || cursor.take_words(&[b"CONVERT", b"PARTITION"]) {
            return true;
        }
        cursor.advance();
    }
    false
}

/// What an ALTER may rename within a table.
const PARTS: [&[u8]; 3] = [b"COLUMN", b"INDEX", b"KEY"];

/// All tables that are named, and those whose meaning rests on them.
fn changed(start: &Cursor<'_>, scope: &Scope<'_>) -> Option<WriteFootprint> {
    let mut named = HashSet::new();
    let mut tables = HashSet::new();
    for mention in Mentions::new(start) {
        let mention = mention.ok()?;
        let schema = mention.schema.map_or(scope.schema.into(), |schema| schema.text());
        if schema.is_empty() {
            continue;
        }
        named.insert((fold(&schema), fold(&mention.name.text())));
        tables.extend(mention.find(scope).map(|table| table.id));
    }
    let mut affected = tables.clone();
    for (schema, name, table) in scope.catalogue.tables() {
        let is_named = tables.contains(&table.id);
        if !is_named && !rests_on(table, &tables) {
            continue;
        }
        // It would be forgotten meanwhile, and who reads it not watched.
        (!table.reading_may_write()).then_some(())?;
        if is_named {
            affected.extend(&table.reads);
            affected.extend(&*table.side_effects.tables()?);
        } else {
            affected.insert(table.id);
            named.insert((schema.into(), name.into()));
        }
    }
    let (mut tables, mut named): (Vec<_>, Vec<_>) =
        (affected.into_iter().collect(), named.into_iter().collect());
    tables.sort_unstable();
    named.sort_unstable();
    Some(WriteFootprint::Definition { tables, named })
}

/// Whether a table reads one of those that are named, or changes it when written.
fn rests_on(table: &Table, named: &HashSet<TableId>) -> bool {
    let besides = table.side_effects.tables().unwrap_or_default();
    table.reads.iter().chain(&*besides).any(|id| named.contains(id))
}
