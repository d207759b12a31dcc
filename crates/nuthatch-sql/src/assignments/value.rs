//! Values as statements give them.

use crate::statement::Name;
use crate::token::literal::unescaped;
use crate::token::{Lexing, Token};
use crate::variable::{Carry, SystemVariable};

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

impl Carry {
    /// Whether a SET to `value` can be done again elsewhere with the same effect. A value that has to be worked out cannot,
    /// even if it is repeatable: what it came to must be asked for first. Nor can a string with letters beyond ASCII, which
    /// depends on the character set in which it is sent.
    #[must_use]
    pub fn allows(self, value: &Value) -> bool {
        let Some(literal) = value.literal().filter(|literal| literal.is_ascii()) else { return false };
        match self {
            Self::Value | Self::Parts | Self::Ordered(_) | Self::SqlMode | Self::Autocommit => true,
            Self::Only(values) => {
                // DEFAULT is a keyword, and no string.
                let is_default = matches!(value, Value::Default);
                let is = |known: &str| literal.eq_ignore_ascii_case(known.as_bytes());
                values.iter().any(|known| is(known) && is_default == (*known == "default"))
            }
            Self::InsertId | Self::Idle | Self::Pins | Self::ReadOnly => false,
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

    pub(super) fn written(token: Token<'_>, lexing: Lexing) -> Option<Self> {
        Some(Self { bytes: unescaped(token.text, lexing)?.into(), source: token.text.into() })
    }

    /// A quoted name where the server takes names for strings.
    pub(super) fn of_name(token: Token<'_>) -> Self {
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
