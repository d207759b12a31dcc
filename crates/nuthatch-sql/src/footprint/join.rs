//! A SELECT of several tables whose WHERE compares columns of theirs with constants.
//!
//! A row of a table that does not hold what the WHERE demands of it takes no part in any row of the answer: not in an inner join, and not in an
//! outer one, whose rows of NULLs do not hold it either. Only one form of FROM is understood: tables by their names, with commas or JOIN … ON
//! between them. With USING and NATURAL a column that is named alone is of two tables; so they are not.

use super::Equality;
use super::equality::equality;
use super::index_hint::take_index_hints;
use super::key::{Named, is_same};
use super::keyword::Keyword;
use super::names::{Mention, Scope, take_alias};
use super::predicate::skip_parenthesis;
use crate::catalogue::{Table, TableId};
use crate::classify::cursor::Cursor;
use crate::statement::Name;
use crate::token::TokenKind;

/// Of more tables none is narrowed.
const TABLES_MAX: usize = 16;

/// A table as it stands in the FROM.
struct Joined<'a, 'q> {
    table: &'a Table,
    mention: Mention<'q>,
    alias: Option<Name<'q>>,
}

/// What is demanded of the rows of each table, as far as it is certain; none if the tables are not. `cursor` is behind FROM.
pub(super) fn equalities(mut cursor: Cursor<'_>, scope: &Scope<'_>) -> Option<Vec<(TableId, Equality)>> {
    let joined = take_tables(&mut cursor, scope)?;
    cursor.take_word(b"WHERE").then_some(())?;
    let mut found = Vec::new();
    for (at, one) in joined.iter().enumerate() {
        let others = || joined.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, other)| other);
        if others().any(|other| other.table.id == one.table.id) {
            continue;
        }
        let tables: Vec<&Table> = others().map(|other| other.table).collect();
        let of = Named { table: one.mention, alias: one.alias, scope };
        found.extend(equality(cursor.clone(), one.table, of, &tables).map(|held| (one.table.id, held)));
    }
    Some(found)
}

/// Takes tables up to the WHERE; none if anything else stands there, or two go by one name.
fn take_tables<'a, 'q>(cursor: &mut Cursor<'q>, scope: &Scope<'a>) -> Option<Vec<Joined<'a, 'q>>> {
    let mut joined = vec![take_table(cursor, scope)?];
    while Keyword::next(cursor) != Some(Keyword::Where) {
        let is_listed = cursor.take_symbol(b',');
        if !is_listed {
            take_join(cursor)?;
        }
        joined.push(take_table(cursor, scope)?);
        if !is_listed && cursor.take_word(b"ON") {
            skip_condition(cursor)?;
        }
        (joined.len() <= TABLES_MAX).then_some(())?;
    }
    let name = |one: &Joined<'a, 'q>| one.alias.unwrap_or(one.mention.name);
    let is_once = |(at, one): (usize, &Joined<'a, 'q>)| {
        !joined.iter().take(at).any(|other| is_same(name(one), &name(other).text()))
    };
    joined.iter().enumerate().all(is_once).then_some(())?;
    Some(joined)
}

fn take_table<'a, 'q>(cursor: &mut Cursor<'q>, scope: &Scope<'a>) -> Option<Joined<'a, 'q>> {
    let mention = Mention::take(cursor)?;
    let table = mention.find(scope)?;
    let alias = if begins_join(cursor) { None } else { take_alias(cursor) };
    take_index_hints(cursor)?;
    Some(Joined { table, mention, alias })
}

/// Whether what comes next belongs to the JOIN behind it, and is no alias.
fn begins_join(cursor: &Cursor<'_>) -> bool {
    [&b"INNER"[..], b"CROSS", b"LEFT", b"RIGHT", b"NATURAL"].iter().any(|word| cursor.peek_word(word))
}

/// Takes `[INNER | CROSS | {LEFT | RIGHT} [OUTER]] JOIN`.
fn take_join(cursor: &mut Cursor<'_>) -> Option<()> {
    if cursor.take_word(b"LEFT") || cursor.take_word(b"RIGHT") {
        cursor.take_word(b"OUTER");
    } else if !cursor.take_word(b"INNER") {
        cursor.take_word(b"CROSS");
    }
    cursor.take_word(b"JOIN").then_some(())
}

/// Goes behind the condition of a join.
fn skip_condition(cursor: &mut Cursor<'_>) -> Option<()> {
    while !cursor.peek_symbol(b',') {
        match Keyword::next(cursor) {
            Some(Keyword::Where | Keyword::Join) => return Some(()),
            Some(Keyword::And | Keyword::Or | Keyword::Between) | None => {}
            Some(_) => return None,
        }
        if begins_join(cursor) {
            let mut ahead = cursor.clone();
            ahead.advance();
            // LEFT and RIGHT are functions, too.
            if !ahead.peek_symbol(b'(') {
                return Some(());
            }
        }
        match cursor.bump()?.kind {
            TokenKind::Symbol(b'(') => skip_parenthesis(cursor)?,
            TokenKind::Symbol(b'.') => cursor.advance(),
            TokenKind::Symbol(b'{' | b'}' | b')' | b';') => return None,
            _ => {}
        }
    }
    Some(())
}
