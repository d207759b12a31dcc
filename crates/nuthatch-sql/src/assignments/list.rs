//! The assignments of a SET, comma by comma.

use super::assignment::Assignment;
use super::context::Context;
use super::operand::operand;
use super::target::{Scope, Target, target};
use crate::classify::cursor::{Cursor, is_word};
use crate::statement::Name;
use crate::token::{Token, TokenKind};

/// Takes assignments up to the end of the list, which is at least one.
pub(super) fn list(cursor: &mut Cursor<'_>, context: &Context<'_>) -> Option<Vec<Assignment>> {
    let mut scope = Scope::Session;
    let mut list = Vec::new();
    loop {
        list.push(assignment(cursor, &mut scope, context)?);
        if !context.at_end(cursor) {
            return None;
        }
        if !cursor.take_symbol(b',') {
            return Some(list);
        }
    }
}

fn assignment(cursor: &mut Cursor<'_>, scope: &mut Scope, context: &Context<'_>) -> Option<Assignment> {
    if cursor.take_word(b"NAMES") {
        let charset = charset(cursor)?;
        let collation = if cursor.take_word(b"COLLATE") { self::charset(cursor)? } else { None };
        return Some(Assignment::Names { charset, collation });
    }
    if cursor.take_word(b"CHARSET")
        || cursor.take_words(&[b"CHARACTER", b"SET"])
        || cursor.take_words(&[b"CHAR", b"SET"])
    {
        return charset(cursor).map(Assignment::CharacterSet);
    }
    let target = target(cursor, scope, context.lexing.server)?;
    take_assign(cursor)?;
    let value = operand(cursor, context)?;
    Some(match target {
        Target::User(variable) => Assignment::User { variable, value },
        Target::NextTransaction(variable) => Assignment::NextTransaction { variable, value },
        Target::System(variable, scope) => match scope.of_server() {
            Some(scope) => Assignment::Server { scope, variable, value },
            None => Assignment::Session { variable, value },
        },
    })
}

/// A character set or collation, or DEFAULT.
#[expect(clippy::option_option, reason = "no name is an answer, a text that is no name is not")]
fn charset(cursor: &mut Cursor<'_>) -> Option<Option<Box<str>>> {
    let token = cursor.bump()?;
    if is_word(token, b"DEFAULT") {
        return Some(None);
    }
    let is_name = matches!(token.kind, TokenKind::Word | TokenKind::Quoted | TokenKind::String);
    let name = Name(token.text).text();
    let is_plain = !name.is_empty() && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let name = std::str::from_utf8(&name).ok().filter(|_| is_name && is_plain)?;
    Some(Some(name.to_ascii_lowercase().into()))
}

/// `=`, or `:=` without a space in it.
fn take_assign(cursor: &mut Cursor<'_>) -> Option<()> {
    let first = cursor.bump()?;
    let is_equals = |token: Token<'_>| token.kind == TokenKind::Symbol(b'=');
    if is_equals(first) {
        return Some(());
    }
    let second = (first.kind == TokenKind::Symbol(b':')).then(|| cursor.bump()).flatten()?;
    (is_equals(second) && second.start == first.start + 1).then_some(())
}
