//! A SELECT of several tables whose WHERE compares columns of theirs with constants.
//!
//! A row of a table that does not hold what the WHERE demands of it takes no part in any row of the answer: not in an inner join, and not in an
//! outer one, whose rows of NULLs do not hold it either. Only one form of FROM is understood: tables by their names, with commas or JOIN … ON
//! between them. With USING and NATURAL a column that is named alone is of two tables; so they are not.
//!
//! What is demanded of a column is demanded of those that have to be equal to it, too (`linked.rs`).

use super::Equality;
use super::equality::{By, Equal, equal};
use super::index_hint::take_index_hints;
use super::key::{Named, is_same};
use super::keyword::{Keyword, begins_join, ends_condition_of_join};
use super::linked::{Link, Reach, Tables, link_all, links_of_on, links_of_where};
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
    /// How it is joined to those before it, and on which condition.
    join: Join,
    on: Option<Cursor<'q>>,
}

/// How a table is joined to those before it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Join {
    /// As the first one, with a comma, or with any JOIN but an outer one.
    Inner,
    Left,
    Right,
}

/// What is demanded of the rows of each table, as far as it is certain; none if the tables are not. `cursor` is behind FROM.
pub(super) fn equalities(mut cursor: Cursor<'_>, scope: &Scope<'_>) -> Option<Vec<(TableId, Equality)>> {
    let joined = take_tables(&mut cursor, scope)?;
    cursor.take_word(b"WHERE").then_some(())?;
    let others: Vec<Vec<&Table>> = (0..joined.len()).map(|at| others(&joined, at)).collect();
    let bys = joined.iter().zip(&others).map(|(one, others)| {
        let of = Named { table: one.mention, alias: one.alias, scope };
        By { table: one.table, of, others }
    });
    let tables = Tables(bys.collect());
    let mut demanded: Vec<Equal> = tables.0.iter().map(|by| equal(cursor.clone(), by)).collect();
    link_all(&mut demanded, &links(&joined, cursor, &tables));
    let is_once =
        |one: &Joined<'_, '_>| joined.iter().filter(|other| other.table.id == one.table.id).count() == 1;
    let found = joined.iter().zip(demanded).filter(|(one, _)| is_once(one));
    Some(found.filter_map(|(one, held)| Some((one.table.id, held.equality()?))).collect())
}

/// The tables but for that at `at`.
fn others<'a>(joined: &[Joined<'a, '_>], at: usize) -> Vec<&'a Table> {
    let others = joined.iter().enumerate().filter(|(other, _)| *other != at);
    others.map(|(_, other)| other.table).collect()
}

/// Which columns of two tables are the same in all rows that the WHERE leaves; `cursor` is behind it. None with a RIGHT JOIN: a row of what
/// stands before it may matter by being there.
fn links(joined: &[Joined<'_, '_>], cursor: Cursor<'_>, tables: &Tables<'_, '_>) -> Vec<Link> {
    if joined.iter().any(|one| one.join == Join::Right) {
        return Vec::new();
    }
    let mut links: Vec<Link> = links_of_where(cursor, tables).collect();
    for (at, one) in joined.iter().enumerate() {
        let Some(on) = one.on.clone() else { continue };
        let reach = if one.join == Join::Left { Reach::LeftInto(at) } else { Reach::Both };
        links.extend(links_of_on(on, tables, reach));
    }
    links
}

/// Takes tables up to the WHERE; none if anything else stands there, or two go by one name.
fn take_tables<'a, 'q>(cursor: &mut Cursor<'q>, scope: &Scope<'a>) -> Option<Vec<Joined<'a, 'q>>> {
    let mut joined = vec![take_table(cursor, scope, Join::Inner)?];
    while Keyword::next(cursor) != Some(Keyword::Where) {
        let is_listed = cursor.take_symbol(b',');
        let join = if is_listed { Join::Inner } else { take_join(cursor)? };
        let mut one = take_table(cursor, scope, join)?;
        if !is_listed && cursor.take_word(b"ON") {
            one.on = Some(cursor.clone());
            skip_condition(cursor)?;
        }
        joined.push(one);
        (joined.len() <= TABLES_MAX).then_some(())?;
    }
    let name = |one: &Joined<'a, 'q>| one.alias.unwrap_or(one.mention.name);
    let is_once = |(at, one): (usize, &Joined<'a, 'q>)| {
        !joined.iter().take(at).any(|other| is_same(name(one), &name(other).text()))
    };
    joined.iter().enumerate().all(is_once).then_some(())?;
    Some(joined)
}

fn take_table<'a, 'q>(cursor: &mut Cursor<'q>, scope: &Scope<'a>, join: Join) -> Option<Joined<'a, 'q>> {
    let mention = Mention::take(cursor)?;
    let table = mention.find(scope)?;
    let alias = if begins_join(cursor) { None } else { take_alias(cursor) };
    take_index_hints(cursor)?;
    Some(Joined { table, mention, alias, join, on: None })
}

/// Takes `[INNER | CROSS | {LEFT | RIGHT} [OUTER]] JOIN`.
fn take_join(cursor: &mut Cursor<'_>) -> Option<Join> {
    let is_left = cursor.take_word(b"LEFT");
    let is_right = !is_left && cursor.take_word(b"RIGHT");
    if is_left || is_right {
        cursor.take_word(b"OUTER");
    } else if !cursor.take_word(b"INNER") {
        cursor.take_word(b"CROSS");
    }
    let join = match (is_left, is_right) {
        (true, _) => Join::Left,
        (_, true) => Join::Right,
        _ => Join::Inner,
    };
    cursor.take_word(b"JOIN").then_some(join)
}

/// Goes behind the condition of a join.
fn skip_condition(cursor: &mut Cursor<'_>) -> Option<()> {
    while !ends_condition_of_join(cursor) {
        match Keyword::next(cursor) {
            Some(Keyword::And | Keyword::Or | Keyword::Between) | None => {}
            Some(_) => return None,
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
