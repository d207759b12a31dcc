//! The names that the tokens of a statement hold, and the tables that they may be.
//!
//! Every name is taken for a table's: alone for one of the default schema, behind a dot for one of the schema that the name before
//! it may be. So what is found is a superset, whatever the statement's grammar.

use super::keyword::Keyword;
use super::value::{Looked, Looks};
use crate::catalogue::{Catalogue, Schema, Table};
use crate::classify::cursor::Cursor;
use crate::footprint::{NotExact, Parameter};
use crate::statement::Name;
use crate::token::{Token, TokenKind};

/// What names and markers of a statement stand for.
pub(super) struct Scope<'a> {
    /// The default schema; empty for none.
    pub(super) schema: &'a [u8],
    /// Its tables.
    tables: Option<Schema<'a>>,
    pub(super) catalogue: &'a Catalogue,
    pub(super) parameters: &'a [Parameter],
    /// Whoever wants to know which values were looked at.
    looks: Option<&'a Looks>,
}

impl<'a> Scope<'a> {
    pub(super) fn new(schema: &'a [u8], catalogue: &'a Catalogue, parameters: &'a [Parameter]) -> Self {
        Self { schema, tables: catalogue.schema(schema), catalogue, parameters, looks: None }
    }

    /// The same, with all looks noted in `looks`.
    pub(super) fn noting(self, looks: &'a Looks) -> Self {
        Self { looks: Some(looks), ..self }
    }

    /// A value was looked at.
    pub(super) fn note(&self, looked: Looked) {
        if let Some(looks) = self.looks {
            looks.borrow_mut().push(looked);
        }
    }
}

/// A name in a statement, as that of a table.
#[derive(Clone, Copy)]
pub(super) struct Mention<'q> {
    pub(super) schema: Option<Name<'q>>,
    pub(super) name: Name<'q>,
}

impl<'q> Mention<'q> {
    /// Takes the name that comes next, with its schema if there is one; none, with anything taken, if it is followed by a dot.
    pub(super) fn take(cursor: &mut Cursor<'q>) -> Option<Self> {
        let first = take_name(cursor)?;
        if !cursor.take_symbol(b'.') {
            return Some(Self { schema: None, name: first });
        }
        let second = cursor.bump().filter(|&token| is_name_behind_dot(token))?;
        let is_whole = !cursor.peek_symbol(b'.');
        is_whole.then_some(Self { schema: Some(first), name: Name(second.text) })
    }

    /// The table of this name, if it is known.
    pub(super) fn find<'a>(&self, scope: &Scope<'a>) -> Option<&'a Table> {
        let name = self.name.text();
        match self.schema {
            Some(schema) => scope.catalogue.table(&schema.text(), &name),
            None => scope.tables?.table(&name),
        }
    }

    /// As written, without quotes.
    pub(super) fn text(&self) -> Box<[u8]> {
        let mut text = Vec::new();
        if let Some(schema) = self.schema {
            text.extend_from_slice(&schema.text());
            text.push(b'.');
        }
        text.extend_from_slice(&self.name.text());
        text.into()
    }
}

/// Takes a name in quotes or without; nothing else.
pub(super) fn take_name<'q>(cursor: &mut Cursor<'q>) -> Option<Name<'q>> {
    let token = cursor.peek().filter(|&token| is_name(token))?;
    cursor.advance();
    Some(Name(token.text))
}

/// Takes the alias of a table, with AS or without.
pub(super) fn take_alias<'q>(cursor: &mut Cursor<'q>) -> Option<Name<'q>> {
    let begins_hint = || cursor.peek_word(b"USE") || cursor.peek_word(b"FORCE");
    let is_bare = Keyword::next(cursor).is_none() && !begins_hint();
    if cursor.take_word(b"AS") || is_bare { take_name(cursor) } else { None }
}

pub(super) fn is_name(token: Token<'_>) -> bool {
    matches!(token.kind, TokenKind::Word | TokenKind::Quoted)
}

pub(super) fn is_name_behind_dot(token: Token<'_>) -> bool {
    is_name(token) || is_name_of_digits(token)
}

/// Behind a dot, `7` and `1e5` are names.
fn is_name_of_digits(token: Token<'_>) -> bool {
    token.kind == TokenKind::Number && token.text.iter().all(u8::is_ascii_alphanumeric)
}

/// All names of a text that may be a table's.
pub(super) struct Mentions<'q> {
    cursor: Cursor<'q>,
    before: Before<'q>,
}

/// What stands before a token.
#[derive(Clone, Copy)]
enum Before<'q> {
    Other,
    /// A name, or a keyword, which is none before a dot.
    Name(Token<'q>),
    /// A name that a dot makes one.
    NameBehindDot(Token<'q>),
    Dot,
    DotBehind(Token<'q>),
}

impl<'q> Mentions<'q> {
    pub(super) fn new(start: &Cursor<'q>) -> Self {
        Self { cursor: start.clone(), before: Before::Other }
    }

    fn name(&mut self, token: Token<'q>) -> Result<Mention<'q>, NotExact> {
        let schema = match self.before {
            Before::DotBehind(schema) => Some(Name(schema.text)),
            _ => None,
        };
        self.before = match self.before {
            Before::Dot | Before::DotBehind(_) => Before::NameBehindDot(token),
            _ => Before::Name(token),
        };
        if !token.text.is_ascii() {
            return Err(NotExact::NameNotAscii);
        }
        Ok(Mention { schema, name: Name(token.text) })
    }

    /// A keyword right before a dot is a name for the server, but not before a space and a dot.
    fn dot(&mut self) -> Result<(), NotExact> {
        let (before, is_keyword) = match self.before {
            Before::Name(token) => (Before::DotBehind(token), Keyword::of(token).is_some()),
            Before::NameBehindDot(token) => (Before::DotBehind(token), false),
            _ => (Before::Dot, false),
        };
        self.before = before;
        if is_keyword { Err(NotExact::NotUnderstood) } else { Ok(()) }
    }
}

impl<'q> Iterator for Mentions<'q> {
    type Item = Result<Mention<'q>, NotExact>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let token = self.cursor.bump()?;
            match token.kind {
                TokenKind::Word | TokenKind::Quoted => return Some(self.name(token)),
                TokenKind::Number if matches!(self.before, Before::Dot | Before::DotBehind(_)) => {
                    let is_name = is_name_of_digits(token);
                    return Some(if is_name { self.name(token) } else { Err(NotExact::NotUnderstood) });
                }
                TokenKind::Symbol(b'.') => {
                    if let Err(reason) = self.dot() {
                        return Some(Err(reason));
                    }
                }
                _ => self.before = Before::Other,
            }
        }
    }
}
