//! The SET statements that assign no variables, or not for the session.

use super::context::Context;
use super::list::list;
use super::{Assignments, Role};
use crate::classify::cursor::{Cursor, is_word};
use crate::token::{Lexing, TokenKind};

/// What comes after SET.
pub(super) enum Apart {
    /// This, to its end.
    Understood(Assignments),
    /// One of these statements, but not in a form that is known.
    NotUnderstood,
    /// None of them, so nothing was taken: variables are assigned.
    Assigns,
}

/// Takes a statement that assigns no variables.
pub(super) fn apart(cursor: &mut Cursor<'_>, query: &[u8], lexing: Lexing) -> Apart {
    if cursor.take_word(b"ROLE") {
        return role(cursor, query)
            .map_or(Apart::NotUnderstood, |role| Apart::Understood(Assignments::Role(role)));
    }
    if cursor.take_word(b"STATEMENT") {
        return for_statement(cursor, query, lexing).map_or(Apart::NotUnderstood, Apart::Understood);
    }
    let found = if cursor.take_word(b"PASSWORD") || cursor.take_words(&[b"DEFAULT", b"ROLE"]) {
        Assignments::Account
    } else if cursor.take_words(&[b"SESSION", b"AUTHORIZATION"]) {
        Assignments::SessionAuthorization
    } else if cursor.take_words(&[b"RESOURCE", b"GROUP"]) {
        Assignments::ResourceGroup
    } else {
        return Apart::Assigns;
    };
    while !cursor.at_end() {
        cursor.advance();
    }
    Apart::Understood(found)
}

fn for_statement(cursor: &mut Cursor<'_>, query: &[u8], lexing: Lexing) -> Option<Assignments> {
    let list = list(cursor, &Context { query, lexing, is_for_statement: true })?;
    if !cursor.take_word(b"FOR") {
        return None;
    }
    let start = cursor.peek()?.start;
    // What began in a comment may end in it.
    (!cursor.has_executable).then_some(Assignments::ForStatement { list, start })
}

fn role(cursor: &mut Cursor<'_>, query: &[u8]) -> Option<Role> {
    let first = cursor.peek()?;
    let start = first.start;
    let mut end = start;
    let mut tokens = 0_usize;
    while !cursor.at_end() {
        let token = cursor.bump().filter(|token| {
            let is_name = matches!(token.kind, TokenKind::Word | TokenKind::Quoted | TokenKind::String);
            // `@host` after a name looks like a user variable.
            is_name || matches!(token.kind, TokenKind::UserVariable | TokenKind::Symbol(b','))
        })?;
        end = token.start + token.text.len();
        tokens += 1;
    }
    Some(match tokens {
        1 if is_word(first, b"NONE") => Role::None,
        1 if is_word(first, b"DEFAULT") => Role::Default,
        1 if is_word(first, b"ALL") => Role::All,
        _ => Role::Named(query.get(start..end)?.into()),
    })
}
