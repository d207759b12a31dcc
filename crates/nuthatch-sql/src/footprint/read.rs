//! What the answer to a SELECT depends on.

use std::borrow::Cow;

use super::call::stored_function;
use super::equality::equality;
use super::from::{Places, places};
use super::index_hint::take_index_hints;
use super::information_schema;
use super::join::equalities;
use super::key::{Key, Named};
use super::keyword::Keyword;
use super::names::{Mention, Mentions, Scope, take_alias};
use super::predicate::{Rows, skip_parenthesis, take_rows};
use super::shown;
use super::today::{Tables, is_maker, rests_on_today};
use super::{Equality, NotExact, Parameter, ReadFootprint, ReadRows, TableRead};
use crate::catalogue::{Catalogue, Table, TableId, fold};
use crate::classify::cursor::Cursor;
use crate::column_set::ColumnSet;
use crate::statement::{Class, Kind};
use crate::token::{Lexing, TokenKind};

/// What the answer to `text` depends on, if it is one SELECT, or SHOW of definitions, whose answer follows from its text and the tables that it reads.
///
/// `class` is what [`crate::classify`] says of this very text; `schema` is the session's default schema, empty for none; `parameters` are the values of the `?` in order, none for a statement
/// that is not prepared. Cost: 12,600 instructions (about 2 µs) for a point select.
///
/// # Errors
///
/// Why the answer cannot be cached as exact.
pub fn read_footprint(
    text: &[u8],
    class: Class,
    lexing: Lexing,
    schema: &[u8],
    catalogue: &Catalogue,
    parameters: &[Parameter],
) -> Result<ReadFootprint, NotExact> {
    if lexing.ascii_in_characters || class.cache.is_err() || class.is_volatile {
        return Err(NotExact::NotUnderstood);
    }
    let start = Cursor::at_statement(text, lexing);
    if let Some(name) = stored_function(&start, catalogue) {
        return Err(NotExact::StoredFunction(name.text().into()));
    }
    let scope = Scope::new(schema, catalogue, parameters);
    if class.kind == Kind::Show {
        return shown::footprint(&start, &scope);
    }
    let found = tables(&start, &scope)?;
    if found.may_hold_time(text, parameters) && found.rests_on_today(&start, parameters) {
        return Err(NotExact::Today);
    }
    let Places { queries, definitions } = places(&start, &scope)?;
    let is_unsteady = definitions.is_some_and(|asked| asked.may_change_by_itself(catalogue));
    if is_unsteady || definitions.is_some() && !information_schema::asks_for_definitions_only(&start) {
        return Err(NotExact::MoreThanDefinitions);
    }
    let mut narrowed = if queries == 1 { narrowed(&start, &scope) } else { Vec::new() };
    let rows_of = |table| {
        let known = narrowed.iter().position(|(narrowed, _)| *narrowed == table);
        let rows = known.map_or(ReadRows::Any, |known| narrowed.swap_remove(known).1);
        TableRead { table, rows, looked_at: ColumnSet::ALL }
    };
    let tables = found.tables.into_iter().map(rows_of).collect();
    Ok(ReadFootprint { tables, has_view: found.has_view, definitions })
}

/// What the names of a statement tell.
#[derive(Default)]
struct Found<'a> {
    /// All tables that it may read, each once.
    tables: Vec<TableId>,
    /// Those of them that it names, each time.
    named: Vec<&'a Table>,
    has_view: bool,
    /// One may make a value of type TIME.
    makes_time: bool,
}

impl Found<'_> {
    /// Whether a value of type TIME may be in the statement.
    fn may_hold_time(&self, text: &[u8], parameters: &[Parameter]) -> bool {
        self.makes_time
            || self.named.iter().any(|table| !table.time_columns.is_empty())
            || parameters.contains(&Parameter::Time)
            // `{t '10:00:00'}`
            || text.contains(&b'{')
    }

    fn rests_on_today(&self, start: &Cursor<'_>, parameters: &[Parameter]) -> bool {
        let columns = self.named.iter().flat_map(|table| table.time_columns.iter());
        let names = columns.map(|name| Cow::Borrowed(&**name)).collect();
        let is_one = self.named.first().is_some_and(|one| self.named.iter().all(|other| one.id == other.id));
        rests_on_today(start, names, if is_one { Tables::One } else { Tables::Several }, parameters)
    }
}

fn tables<'a>(start: &Cursor<'_>, scope: &Scope<'a>) -> Result<Found<'a>, NotExact> {
    let mut found = Found::default();
    for mention in Mentions::new(start) {
        let mention = mention?;
        found.makes_time |= is_maker(mention.name.as_written());
        let Some(table) = mention.find(scope) else { continue };
        if let Some(reason) = table.unsuitable {
            return Err(NotExact::Unsuitable(fold(&mention.name.text()), reason));
        }
        found.has_view |= table.is_view;
        found.named.push(table);
        found.tables.extend([table.id]);
        found.tables.extend_from_slice(&table.reads);
    }
    found.tables.sort_unstable();
    found.tables.dedup();
    Ok(found)
}

/// The tables of a SELECT without other queries in it of which it reads certain rows only.
fn narrowed(start: &Cursor<'_>, scope: &Scope<'_>) -> Vec<(TableId, ReadRows)> {
    if let Some(one) = rows(start.clone(), scope) {
        return vec![one];
    }
    let several = of_several(start.clone(), scope).unwrap_or_default();
    several.into_iter().map(|(table, held)| (table, ReadRows::Equal(held))).collect()
}

fn of_several(mut cursor: Cursor<'_>, scope: &Scope<'_>) -> Option<Vec<(TableId, Equality)>> {
    cursor.take_word(b"SELECT").then_some(())?;
    skip_clause(&mut cursor, |word| word == Keyword::From)?;
    cursor.take_word(b"FROM").then_some(())?;
    let found = equalities(cursor.clone(), scope)?;
    while cursor.bump().is_some() {}
    (!cursor.has_executable).then_some(found)
}

/// The one table that a SELECT without other queries in it is about, and the rows of it that it reads; none if these are not
/// certain.
fn rows(mut cursor: Cursor<'_>, scope: &Scope<'_>) -> Option<(TableId, ReadRows)> {
    cursor.take_word(b"SELECT").then_some(())?;
    let mut is_row_by_row = skip_clause(&mut cursor, |word| word == Keyword::From)?;
    cursor.take_word(b"FROM").then_some(())?;
    let mention = Mention::take(&mut cursor)?;
    let table = mention.find(scope)?;
    let alias = take_alias(&mut cursor);
    take_index_hints(&mut cursor)?;
    cursor.take_word(b"WHERE").then_some(())?;
    let (at_where, of) = (cursor.clone(), Named { table: mention, alias, scope });
    let key = table.key.as_ref().map(|column| Key { column, of });
    let by_key = key.and_then(|key| take_rows(&mut cursor, &key));
    is_row_by_row &= skip_clause(&mut cursor, |_| false)?;
    let is_certain = !cursor.has_executable;
    let rows = match by_key {
        Some(Rows::Keys(keys)) => ReadRows::Keys { keys, rows_tell_if_found: is_row_by_row },
        Some(Rows::Range(from, to)) => ReadRows::Range { from, to },
        None => ReadRows::Equal(equality(at_where, table, of, &[])?),
    };
    is_certain.then_some((table.id, rows))
}

/// Goes to the word that ends this part of the statement, or to the end, and says whether it surely leaves one row of the answer
/// for each row of the table: without a function, which may be one of all rows, and without a word that groups or limits.
fn skip_clause(cursor: &mut Cursor<'_>, ends: impl Fn(Keyword) -> bool) -> Option<bool> {
    let mut is_row_by_row = true;
    while !cursor.at_end() {
        let word = Keyword::next(cursor);
        if word.is_some_and(&ends) {
            break;
        }
        is_row_by_row &= !matches!(
            word,
            Some(Keyword::Distinct | Keyword::Group | Keyword::Having | Keyword::Limit | Keyword::Window)
        );
        match cursor.bump()?.kind {
            TokenKind::Symbol(b'(') => {
                is_row_by_row = false;
                skip_parenthesis(cursor)?;
            }
            TokenKind::Symbol(b'.') => cursor.advance(),
            _ => {}
        }
    }
    Some(is_row_by_row)
}
