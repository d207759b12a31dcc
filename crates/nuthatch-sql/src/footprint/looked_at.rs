//! Which columns of the tables that it reads a SELECT may look at.
//!
//! Soundness rests on no grammar here either: a column is looked at if its name stands anywhere in the text, whatever it means there. What
//! looks at columns without naming them means all: `*` but for that of `COUNT(*)`, a NATURAL join, `TABLE t`, a key by the name of `_rowid`, a
//! view, and what servers execute or not.

use std::borrow::Cow;

use smallvec::SmallVec;

use super::ReadFootprint;
use super::names::{Mentions, Scope, is_name};
use crate::catalogue::Catalogue;
use crate::classify::cursor::Cursor;
use crate::column_set::ColumnSet;
use crate::compared::ComparedColumns;
use crate::statement::Name;
use crate::token::{Lexing, Token, TokenKind};

/// Names that mean columns which are not named.
const UNNAMED: [&[u8]; 3] = [b"NATURAL", b"TABLE", b"_rowid"];

impl ReadFootprint {
    /// The same with the columns that `text`, of which it is, may look at in each table. `schema` is the session's default schema. Cost: a pass over
    /// the text, and a comparison of each name in it with each column of its tables.
    #[must_use]
    pub fn with_columns(mut self, text: &[u8], lexing: Lexing, schema: &[u8], catalogue: &Catalogue) -> Self {
        let start = Cursor::at_statement(text, lexing);
        let Some(named) = names(start.clone()).filter(|_| !self.has_view) else { return self };
        let scope = Scope::new(schema, catalogue, &[]);
        for table in Mentions::new(&start).flatten().filter_map(|mention| mention.find(&scope)) {
            let reads = self.tables.iter_mut().filter(|read| read.table == table.id);
            reads.for_each(|read| read.looked_at = of_table(&named, &table.compared));
        }
        self
    }
}

/// All names of a text; none if it may look at columns without naming them.
fn names<'q>(mut cursor: Cursor<'q>) -> Option<SmallVec<[Cow<'q, [u8]>; 32]>> {
    let mut names: SmallVec<[Cow<'q, [u8]>; 32]> = SmallVec::new();
    let mut before = [None, None];
    while let Some(token) = cursor.bump() {
        match token.kind {
            TokenKind::Symbol(b'*') if !counts(before, &cursor) => return None,
            _ if is_name(token) => names.push(Name(token.text).text()),
            _ => {}
        }
        let [_, last] = before;
        before = [last, Some(token)];
    }
    let is_unnamed = |name: &Cow<'_, [u8]>| UNNAMED.iter().any(|word| name.eq_ignore_ascii_case(word));
    let is_certain = !(cursor.has_executable || cursor.is_unclear || cursor.is_unclosed);
    (is_certain && !names.iter().any(is_unnamed)).then_some(names)
}

/// Whether a star behind these tokens is that of `COUNT(*)`.
fn counts([word, parenthesis]: [Option<Token<'_>>; 2], behind: &Cursor<'_>) -> bool {
    word.is_some_and(|word| word.kind == TokenKind::Word && word.text.eq_ignore_ascii_case(b"COUNT"))
        && parenthesis.is_some_and(|token| token.kind == TokenKind::Symbol(b'('))
        && behind.peek_symbol(b')')
}

/// The columns of a table of one of these names.
fn of_table(named: &[Cow<'_, [u8]>], columns: &ComparedColumns) -> ColumnSet {
    let Some(names) = columns.names() else { return ColumnSet::ALL };
    let is_named = |name: &[u8]| named.iter().any(|one| one.eq_ignore_ascii_case(name));
    names.enumerate().filter(|(_, name)| is_named(name)).map(|(place, _)| place).collect()
}
