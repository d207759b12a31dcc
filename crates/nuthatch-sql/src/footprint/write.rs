//! What a statement may write: by its kind.

use super::call::stored_function;
use super::change::{delete, update};
use super::definition::{definition, optimized};
use super::insert::insert;
use super::names::{Mention, Mentions, Scope};
use super::writes::{Deed, Writes};
use super::{Parameter, TableWrites, WriteFootprint, WrittenRows};
use crate::catalogue::{Catalogue, Table};
use crate::classify::cursor::{Cursor, is_word};
use crate::statement::{Class, Ddl, Kind, NotCacheable};
use crate::token::{Lexing, TokenKind};

/// What `text` may write. It may be any text; what is not understood may write everything.
///
/// `class` is what [`crate::classify`] says of this very text; `schema` is the session's default schema, empty for none; `parameters` are the values of the `?` in order, none for a statement
/// that is not prepared. When what is written takes effect is not said here: a BEGIN writes nothing, though it may commit.
#[must_use]
pub fn write_footprint(
    text: &[u8],
    class: Class,
    lexing: Lexing,
    schema: &[u8],
    catalogue: &Catalogue,
    parameters: &[Parameter],
) -> WriteFootprint {
    written(text, class, lexing, &Scope::new(schema, catalogue, parameters))
}

/// The same where names and markers stand for what `scope` says.
pub(super) fn written(text: &[u8], class: Class, lexing: Lexing, scope: &Scope<'_>) -> WriteFootprint {
    if lexing.ascii_in_characters || class.runs_unseen_code {
        return WriteFootprint::Everything;
    }
    let start = Cursor::at_statement(text, lexing);
    if runs_unseen_code(&start, scope) {
        return WriteFootprint::Everything;
    }
    let footprint = if writes_no_row(class, &start) {
        Some(WriteFootprint::Tables(TableWrites::new()))
    } else {
        of_kind(class.kind, &start, scope)
    };
    footprint.unwrap_or(WriteFootprint::Everything)
}

/// A stored function is called by the name of a known one, or a view is named whose text calls code that was not looked into:
/// reading may write.
fn runs_unseen_code(start: &Cursor<'_>, scope: &Scope<'_>) -> bool {
    let is_unseen = |mention: Mention<'_>| mention.find(scope).is_some_and(Table::reading_may_write);
    stored_function(start, scope.catalogue).is_some()
        || scope.catalogue.has_writing_views() && Mentions::new(start).filter_map(Result::ok).any(is_unseen)
}

/// Nothing that anyone could read is changed by it.
fn writes_no_row(class: Class, start: &Cursor<'_>) -> bool {
    match class.kind {
        Kind::Lock | Kind::Unlock | Kind::Kill => true,
        Kind::Set | Kind::Multi if sets_globally(start) => false,
        // It moves a sequence: nothing that reads one is cached.
        Kind::Select if class.cache == Err(NotCacheable::Locking) => true,
        Kind::Other => !class.writes || maintains_tables(start.clone()),
        _ => !class.writes,
    }
}

/// Something of the server is set, or may be.
fn sets_globally(start: &Cursor<'_>) -> bool {
    let mut cursor = start.clone();
    let mut tokens = std::iter::from_fn(|| cursor.bump());
    tokens.any(|token| match token.kind {
        TokenKind::Word => {
            [&b"GLOBAL"[..], b"PERSIST", b"PERSIST_ONLY"].iter().any(|scope| is_word(token, scope))
        }
        TokenKind::SystemVariable => {
            let name = token.text.trim_ascii_start().strip_prefix(b"@@").unwrap_or_default();
            let begins_with =
                |scope: &[u8]| name.get(..scope.len()).is_some_and(|head| head.eq_ignore_ascii_case(scope));
            begins_with(b"GLOBAL") || begins_with(b"PERSIST") || name.is_empty() || name.starts_with(b"`")
        }
        _ => false,
    })
}

/// ANALYZE and CHECK leave the rows as they are. (REPAIR may lose some.)
fn maintains_tables(mut cursor: Cursor<'_>) -> bool {
    let maintains = [&b"ANALYZE"[..], b"CHECK"].iter().any(|word| cursor.take_word(word));
    let _option = cursor.take_word(b"NO_WRITE_TO_BINLOG") || cursor.take_word(b"LOCAL");
    maintains && (cursor.take_word(b"TABLE") || cursor.take_word(b"TABLES"))
}

/// What a statement of this kind writes; none if that is not certain.
fn of_kind(kind: Kind, start: &Cursor<'_>, scope: &Scope<'_>) -> Option<WriteFootprint> {
    if kind == Kind::Ddl(Ddl::Truncate) {
        return truncate(start.clone(), scope);
    }
    if let Kind::Ddl(_) = kind {
        return definition(start, scope);
    }
    if kind == Kind::Other && start.peek_word(b"OPTIMIZE") {
        return optimized(start, scope);
    }
    has_ascii_names(start).then_some(())?;
    match kind {
        Kind::Insert | Kind::Replace => insert(start.clone(), scope),
        Kind::Update => update(start, scope),
        Kind::Delete => delete(start, scope),
        Kind::LoadData => load(start.clone(), scope),
        _ => None,
    }
}

/// All names are understood: the server compares no two of them otherwise than they are compared here.
fn has_ascii_names(start: &Cursor<'_>) -> bool {
    // What makes a name one that is not understood is a byte beyond ASCII in it, or a dot beside it.
    start.is_ascii_without_dots() || Mentions::new(start).all(|mention| mention.is_ok())
}

/// `TRUNCATE [TABLE] t [WAIT n | NOWAIT]`, which commits.
fn truncate(mut cursor: Cursor<'_>, scope: &Scope<'_>) -> Option<WriteFootprint> {
    has_ascii_names(&cursor).then_some(())?;
    cursor.take_word(b"TRUNCATE").then_some(())?;
    cursor.take_word(b"TABLE");
    let table = Mention::take(&mut cursor)?.find(scope)?;
    let is_whole = cursor.at_end() || cursor.peek_word(b"WAIT") || cursor.peek_word(b"NOWAIT");
    let mut writes = Writes::new(scope);
    writes.add(table, WrittenRows::Any, Deed::Any)?;
    is_whole.then(|| writes.committed())
}

/// `LOAD {DATA | XML} … INTO TABLE t …`.
fn load(mut cursor: Cursor<'_>, scope: &Scope<'_>) -> Option<WriteFootprint> {
    while !cursor.take_words(&[b"INTO", b"TABLE"]) {
        cursor.bump()?;
    }
    let table = Mention::take(&mut cursor)?.find(scope)?;
    let mut writes = Writes::new(scope);
    writes.add(table, WrittenRows::Any, Deed::Any)?;
    Some(writes.footprint())
}
