//! Whom a `KILL` statement means.

use crate::classify::cursor::Cursor;
use crate::token::{Lexing, TokenKind};

/// What a `KILL` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kill {
    /// Whose.
    pub whom: Whom,
    /// Only its statement is to end.
    pub only_query: bool,
}

/// Whose connection or statement is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whom {
    /// That of this number.
    Numbered(u64),
    /// That of the number that a prepared statement is executed with.
    Bound,
    /// The own one: `CONNECTION_ID()`.
    Own,
}

/// The target of `query`, if the whole of it is `KILL [HARD | SOFT] [CONNECTION | QUERY] {number | ? | CONNECTION_ID()}`. MariaDB's `KILL USER` and
/// `KILL QUERY ID` are none.
#[must_use]
pub fn kill(query: &[u8], lexing: Lexing) -> Option<Kill> {
    let mut cursor = Cursor::new(query, lexing);
    if !cursor.take_word(b"KILL") {
        return None;
    }
    let _hardness = cursor.take_word(b"HARD") || cursor.take_word(b"SOFT");
    let only_query = cursor.take_word(b"QUERY");
    if !only_query {
        cursor.take_word(b"CONNECTION");
    }
    let whom = whom(&mut cursor)?;
    cursor.ends_statement().then_some(Kill { whom, only_query })
}

fn whom(cursor: &mut Cursor<'_>) -> Option<Whom> {
    if cursor.take_symbol(b'?') {
        return Some(Whom::Bound);
    }
    if cursor.take_word(b"CONNECTION_ID") {
        return (cursor.take_symbol(b'(') && cursor.take_symbol(b')')).then_some(Whom::Own);
    }
    let number = cursor.bump().filter(|token| token.kind == TokenKind::Number)?;
    std::str::from_utf8(number.text).ok()?.parse().ok().map(Whom::Numbered)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::ServerFlavor;

    #[test]
    fn target_is_read_in_every_form_and_nothing_else_is_one() {
        let lexing = Lexing::of(ServerFlavor::MariaDb(101_119));
        let of = |whom, only_query| Some(Kill { whom, only_query });
        let (connection, only_query) = (of(Whom::Numbered(7), false), of(Whom::Numbered(7), true));
        for (query, expected) in [
            ("KILL 7", connection),
            ("kill connection 7;", connection),
            ("KILL HARD CONNECTION 7", connection),
            ("/* x */ Kill Soft Query 7 -- y", only_query),
            ("KILL QUERY 7", only_query),
            ("KILL QUERY ?", of(Whom::Bound, true)),
            ("KILL CONNECTION_ID()", of(Whom::Own, false)),
            ("KILL CONNECTION CONNECTION_ID();", of(Whom::Own, false)),
            ("KILL ?, 1", None),
            ("KILL QUERY ID 7", None),
            ("KILL USER app", None),
            ("KILL 7, 8", None),
            ("KILL '7'", None),
            ("KILL -7", None),
            ("KILL 99999999999999999999", None),
            ("KILL", None),
            ("SELECT 7", None),
        ] {
            assert_eq!(kill(query.as_bytes(), lexing), expected, "{query}");
        }
    }
}
