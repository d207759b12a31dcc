//! What stands after the `=`.

use super::assignment::ServerScope;
use super::context::Context;
use super::expression::expression;
use super::target::{Scope, system_variable};
use super::value::{Reads, Text, UserVariable, Value};
use crate::classify::cursor::{Cursor, is_word};
use crate::token::{ServerFlavor, Token, TokenKind};

/// Takes a value up to the end of its assignment.
pub(super) fn operand(cursor: &mut Cursor<'_>, context: &Context<'_>) -> Option<Value> {
    let mut ahead = cursor.clone();
    if let Some(value) = single(&mut ahead, context).filter(|_| context.at_end(&ahead)) {
        *cursor = ahead;
        return Some(value);
    }
    expression(cursor, context)
}

/// A literal, a word or a variable.
fn single(cursor: &mut Cursor<'_>, context: &Context<'_>) -> Option<Value> {
    let first = cursor.bump()?;
    Some(match first.kind {
        TokenKind::Number => Value::Number(ascii(first.text)?),
        TokenKind::Symbol(sign @ (b'-' | b'+')) => {
            let number = cursor.bump().filter(|token| token.kind == TokenKind::Number)?;
            Value::Number(format!("{}{}", char::from(sign), ascii(number.text)?).into())
        }
        TokenKind::String => Value::Text(Text::written(first, context.lexing)?),
        TokenKind::Quoted => Value::Text(Text::of_name(first)),
        TokenKind::Word if is_word(first, b"DEFAULT") => Value::Default,
        TokenKind::Word if !WORKED_OUT.iter().any(|word| is_word(first, word)) => {
            Value::Word(ascii(first.text)?)
        }
        TokenKind::UserVariable => Value::User(UserVariable::written(first.text)?),
        TokenKind::SystemVariable => read(first, cursor, context.lexing.server)?,
        _ => return None,
    })
}

/// Words that are calls of functions. SYSDATE, ROWNUM, SQLCODE and SQLERRM are such in MariaDB's Oracle mode.
const WORKED_OUT: [&[u8]; 14] = [
    b"CURRENT_DATE",
    b"CURRENT_TIME",
    b"CURRENT_TIMESTAMP",
    b"CURRENT_USER",
    b"CURRENT_ROLE",
    b"LOCALTIME",
    b"LOCALTIMESTAMP",
    b"UTC_DATE",
    b"UTC_TIME",
    b"UTC_TIMESTAMP",
    b"SYSDATE",
    b"ROWNUM",
    b"SQLCODE",
    b"SQLERRM",
];

fn read(token: Token<'_>, cursor: &mut Cursor<'_>, server: ServerFlavor) -> Option<Value> {
    let (variable, scope) = system_variable(token, cursor, server)?;
    let reads = match scope {
        None => Reads::Either,
        Some(Scope::Session) => Reads::Session,
        Some(Scope::Server(ServerScope::Global)) => Reads::Global,
        Some(Scope::Server(_)) => return None,
    };
    Some(Value::System { reads, variable })
}

fn ascii(text: &[u8]) -> Option<Box<str>> {
    std::str::from_utf8(text).ok().filter(|text| text.is_ascii()).map(Into::into)
}
