//! What stands after the `=`.

use super::expression::expression;
use super::list::Context;
use super::target::{Scope, system_variable};
use crate::classify::cursor::{Cursor, is_word};
use crate::statement::Name;
use crate::token::literal::unescaped;
use crate::token::{ServerFlavor, Token, TokenKind};
use crate::variable::SystemVariable;

/// A value as a statement gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number as written, with its sign.
    Number(Box<str>),
    /// A string.
    Text(Text),
    /// A word as written: ON, TRUE, NULL, a name.
    Word(Box<str>),
    /// DEFAULT: a system variable's global value.
    Default,
    /// A system variable, and nothing else.
    System {
        /// Whose value of it.
        reads: Reads,
        /// Which.
        variable: SystemVariable,
    },
    /// A user variable, and nothing else.
    User(UserVariable),
    /// Something to work out. It has no effect of its own but what is worked out, and the last insert id, found rows and row
    /// count that it may read.
    Expression {
        /// As written.
        source: Box<[u8]>,
        /// It comes to the same on every connection, and is cut alike under every SQL mode.
        is_repeatable: bool,
    },
}

/// A string. Two of them are equal if they stand for the same, however they are written.
#[derive(Clone, Debug)]
pub struct Text {
    bytes: Box<[u8]>,
    source: Box<[u8]>,
}

/// Whose value of a system variable is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reads {
    /// `@@x`: the session's if it has one, else the server's.
    Either,
    /// `@@session.x`, `@@local.x`.
    Session,
    /// `@@global.x`.
    Global,
}

/// A user variable by its name: without `@` and quotes, in lower case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UserVariable(Box<str>);

/// Takes a value up to the end of its assignment.
pub(super) fn value(cursor: &mut Cursor<'_>, context: &Context<'_>) -> Option<Value> {
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
        TokenKind::String => Value::Text(Text::written(first, context)?),
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
        Some(Scope::Server(super::ServerScope::Global)) => Reads::Global,
        Some(Scope::Server(_)) => return None,
    };
    Some(Value::System { reads, variable })
}

fn ascii(text: &[u8]) -> Option<Box<str>> {
    std::str::from_utf8(text).ok().filter(|text| text.is_ascii()).map(Into::into)
}

impl Value {
    /// Its bytes, if it is a literal: a string's without quotes, a word's as written, DEFAULT as that word.
    #[must_use]
    pub fn literal(&self) -> Option<&[u8]> {
        match self {
            Self::Number(text) | Self::Word(text) => Some(text.as_bytes()),
            Self::Text(text) => Some(&text.bytes),
            Self::Default => Some(b"default"),
            Self::System { .. } | Self::User(_) | Self::Expression { .. } => None,
        }
    }
}

impl Text {
    /// The string that stands for `bytes`.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Self {
        let mut source = Vec::with_capacity(bytes.len() + 2);
        source.push(b'\'');
        for &byte in bytes {
            source.extend(std::iter::repeat_n(byte, 1 + usize::from(matches!(byte, b'\'' | b'\\'))));
        }
        source.push(b'\'');
        Self { bytes: bytes.into(), source: source.into() }
    }

    fn written(token: Token<'_>, context: &Context<'_>) -> Option<Self> {
        Some(Self { bytes: unescaped(token.text, context.lexing)?.into(), source: token.text.into() })
    }

    /// A quoted name where the server takes names for strings.
    fn of_name(token: Token<'_>) -> Self {
        Self { bytes: Name(token.text).text().as_ref().into(), source: token.text.into() }
    }

    /// What it stands for, in the character set in which the client talked.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// As it was written, with quotes: means the same only where statements are cut as they were there.
    #[must_use]
    pub fn source(&self) -> &[u8] {
        &self.source
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for Text {}

impl UserVariable {
    /// The variable written as `text`, with its `@`. None where servers differ in which names are one: letters beyond ASCII
    /// (MySQL compares without accents), spaces at the end; and none for a name with a backslash, which may be an escape.
    pub(super) fn written(text: &[u8]) -> Option<Self> {
        Self::named(&Name(text.get(1..)?).text())
    }

    /// The variable called `name`, by the same rules.
    #[must_use]
    pub fn named(name: &[u8]) -> Option<Self> {
        let is_plain = |byte: &u8| matches!(byte, b' '..=b'~') && *byte != b'\\';
        let is_sure = !name.is_empty() && !name.ends_with(b" ") && name.iter().all(is_plain);
        let name = std::str::from_utf8(name).ok().filter(|_| is_sure)?;
        Some(Self(name.to_ascii_lowercase().into()))
    }

    /// Its name, in lower case.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0
    }
}
