//! The reserved words by which the parts of a statement are told apart.

use crate::classify::cursor::Cursor;
use crate::token::{Token, TokenKind};

const WORD_BYTES_MAX: usize = 13;

/// A word that begins, ends or forbids something here. All but EXCEPT, INTERSECT, JSON_TABLE, LATERAL, RETURNING and WINDOW are
/// reserved in all servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keyword {
    And,
    As,
    Between,
    Case,
    Default,
    Delete,
    Distinct,
    Dual,
    For,
    From,
    Group,
    Having,
    Ignore,
    Interval,
    Join,
    JsonTable,
    Lateral,
    Limit,
    LowPriority,
    On,
    /// OR, XOR.
    Or,
    Order,
    Returning,
    Select,
    Set,
    /// EXCEPT, INTERSECT.
    SetOperation,
    StraightJoin,
    Table,
    Union,
    Update,
    Using,
    Values,
    Where,
    Window,
    With,
}

impl Keyword {
    /// Which of these words the token is. A word behind a dot is a name all the same.
    pub(super) fn of(token: Token<'_>) -> Option<Self> {
        // None of them is a single letter, as many columns are.
        if token.kind != TokenKind::Word || token.text.len() < 2 {
            return None;
        }
        let mut buffer = [0; WORD_BYTES_MAX];
        let lower = buffer.get_mut(..token.text.len())?;
        lower.copy_from_slice(token.text);
        lower.make_ascii_lowercase();
        Some(match &*lower {
            b"and" => Self::And,
            b"as" => Self::As,
            b"between" => Self::Between,
            b"case" => Self::Case,
            b"default" => Self::Default,
            b"delete" => Self::Delete,
            b"distinct" | b"distinctrow" => Self::Distinct,
            b"dual" => Self::Dual,
            b"except" | b"intersect" => Self::SetOperation,
            b"for" => Self::For,
            b"from" => Self::From,
            b"group" => Self::Group,
            b"having" => Self::Having,
            b"ignore" => Self::Ignore,
            b"interval" => Self::Interval,
            b"join" => Self::Join,
            b"json_table" => Self::JsonTable,
            b"lateral" => Self::Lateral,
            b"limit" => Self::Limit,
            b"low_priority" => Self::LowPriority,
            b"on" => Self::On,
            b"or" | b"xor" => Self::Or,
            b"order" => Self::Order,
            b"returning" => Self::Returning,
            b"select" => Self::Select,
            b"set" => Self::Set,
            b"straight_join" => Self::StraightJoin,
            b"table" => Self::Table,
            b"union" => Self::Union,
            b"update" => Self::Update,
            b"using" => Self::Using,
            b"values" => Self::Values,
            b"where" => Self::Where,
            b"window" => Self::Window,
            b"with" => Self::With,
            _ => return None,
        })
    }

    /// The word that comes next in `cursor`.
    pub(super) fn next(cursor: &Cursor<'_>) -> Option<Self> {
        Self::of(cursor.peek()?)
    }
}

/// Whether what comes next belongs to the JOIN behind it, and is no alias.
pub(super) fn begins_join(cursor: &Cursor<'_>) -> bool {
    [&b"INNER"[..], b"CROSS", b"LEFT", b"RIGHT", b"NATURAL"].iter().any(|word| cursor.peek_word(word))
}

/// Whether what comes next stands behind the condition of a join.
pub(super) fn ends_condition_of_join(cursor: &Cursor<'_>) -> bool {
    let is_function = || {
        let mut ahead = cursor.clone();
        ahead.advance();
        // LEFT and RIGHT are functions, too.
        ahead.peek_symbol(b'(')
    };
    cursor.peek_symbol(b',')
        || matches!(Keyword::next(cursor), Some(Keyword::Where | Keyword::Join))
        || begins_join(cursor) && !is_function()
}
