//! UPDATE and DELETE: of one table, by its rows; of several, all that the statement names.

use super::from::places;
use super::index_hint::take_index_hints;
use super::insert::take_changes;
use super::key::{Key, Named, is_same, take_target};
use super::keyword::Keyword;
use super::names::{Mention, Scope, take_alias};
use super::predicate::{Rows, ends_where, skip_parenthesis, take_rows};
use super::writes::{Deed, Writes, all_mentioned, referenced};
use super::{WriteFootprint, WrittenRows};
use crate::catalogue::{PrimaryKey, SideEffects, Table};
use crate::classify::cursor::Cursor;
use crate::statement::Name;
use crate::token::TokenKind;

/// What an UPDATE writes; none if that is not certain.
pub(super) fn update(start: &Cursor<'_>, scope: &Scope<'_>) -> Option<WriteFootprint> {
    let single = single_update(start.clone(), scope);
    single.map_or_else(|| of_several(start, scope), |target| target.footprint(scope))
}

/// What a DELETE writes; none if that is not certain.
pub(super) fn delete(start: &Cursor<'_>, scope: &Scope<'_>) -> Option<WriteFootprint> {
    let single = single_delete(start.clone(), scope);
    single.map_or_else(|| of_several(start, scope), |target| target.footprint(scope))
}

/// All tables that are named may be written, if none is named that is not known.
fn of_several(start: &Cursor<'_>, scope: &Scope<'_>) -> Option<WriteFootprint> {
    places(start, scope).ok()?;
    all_mentioned(start, scope)
}

/// The only table that a statement writes, and those rows of it that are known.
struct Target<'a> {
    table: &'a Table,
    rows: Option<WrittenRows>,
    deed: Deed,
}

impl Target<'_> {
    fn footprint(self, scope: &Scope<'_>) -> Option<WriteFootprint> {
        let mut writes = Writes::new(scope);
        writes.add(self.table, self.rows.unwrap_or(WrittenRows::Any), self.deed)?;
        Some(writes.footprint())
    }
}

/// `UPDATE [LOW_PRIORITY] [IGNORE] t [[AS] a] SET …`.
fn single_update<'a>(mut cursor: Cursor<'_>, scope: &Scope<'a>) -> Option<Target<'a>> {
    cursor.take_word(b"UPDATE").then_some(())?;
    cursor.take_word(b"LOW_PRIORITY");
    let ignores = cursor.take_word(b"IGNORE");
    let mention = Mention::take(&mut cursor)?;
    let table = mention.find(scope)?;
    let alias = take_alias(&mut cursor);
    take_index_hints(&mut cursor)?;
    cursor.take_word(b"SET").then_some(())?;
    let deed = deed_of_update(&cursor, table);
    let rows = table.key.as_ref().filter(|_| !ignores).and_then(|key| {
        skip_assignments(&mut cursor, key)?;
        rows_left(cursor, key, mention, alias, scope)
    });
    Some(Target { table, rows, deed })
}

/// What an UPDATE does whose SET is behind the cursor.
fn deed_of_update(cursor: &Cursor<'_>, table: &Table) -> Deed {
    if matches!(table.side_effects, SideEffects::Cascades(_))
        && changes_none_of(cursor.clone(), referenced(table))
    {
        Deed::Keeps
    } else {
        Deed::Changes
    }
}

/// Whether all assignments, which come next, surely are to other columns than these.
fn changes_none_of(mut cursor: Cursor<'_>, columns: &[Box<[u8]>]) -> bool {
    let ends = |word| word == Keyword::Where || ends_where(word);
    let is_certain = take_changes(&mut cursor, columns, ends).is_some()
        && (cursor.at_end() || Keyword::next(&cursor).is_some_and(ends));
    while cursor.bump().is_some() {}
    is_certain && !cursor.has_executable
}

/// `DELETE [LOW_PRIORITY] [QUICK] [IGNORE] FROM t [[AS] a] [WHERE …] [ORDER BY …] [LIMIT …]`.
fn single_delete<'a>(mut cursor: Cursor<'_>, scope: &Scope<'a>) -> Option<Target<'a>> {
    cursor.take_word(b"DELETE").then_some(())?;
    cursor.take_word(b"LOW_PRIORITY");
    cursor.take_word(b"QUICK");
    let ignores = cursor.take_word(b"IGNORE");
    cursor.take_word(b"FROM").then_some(())?;
    let mention = Mention::take(&mut cursor)?;
    let table = mention.find(scope)?;
    let alias = take_alias(&mut cursor);
    if cursor.at_end() || Keyword::next(&cursor).is_some_and(ends_where) {
        return Some(Target { table, rows: None, deed: Deed::Removes });
    }
    (Keyword::next(&cursor) == Some(Keyword::Where)).then_some(())?;
    let rows = table.key.as_ref().filter(|_| !ignores);
    let rows = rows.and_then(|key| rows_left(cursor, key, mention, alias, scope));
    Some(Target { table, rows, deed: Deed::Removes })
}

/// Goes from behind SET to the WHERE; none if there is none, or the key itself may be assigned to.
fn skip_assignments(cursor: &mut Cursor<'_>, key: &PrimaryKey) -> Option<()> {
    loop {
        let column = take_target(cursor)?;
        (!is_same(column, &key.column)).then_some(())?;
        while !(cursor.at_end() || cursor.peek_symbol(b',')) {
            match Keyword::next(cursor) {
                Some(Keyword::Where) => return Some(()),
                Some(word) if ends_where(word) => return None,
                _ => {}
            }
            match cursor.bump()?.kind {
                TokenKind::Symbol(b'(') => skip_parenthesis(cursor)?,
                TokenKind::Symbol(b'.') => cursor.advance(),
                _ => {}
            }
        }
        cursor.take_symbol(b',').then_some(())?;
    }
}

/// The rows that the WHERE which comes next leaves, if they are told by their keys.
fn rows_left(
    mut cursor: Cursor<'_>,
    column: &PrimaryKey,
    table: Mention<'_>,
    alias: Option<Name<'_>>,
    scope: &Scope<'_>,
) -> Option<WrittenRows> {
    cursor.take_word(b"WHERE").then_some(())?;
    let key = Key { column, of: Named { table, alias, scope } };
    let Rows::Keys(keys) = take_rows(&mut cursor, &key)? else { return None };
    while cursor.bump().is_some() {}
    (!cursor.has_executable).then_some(WrittenRows::Keys(keys.into()))
}
