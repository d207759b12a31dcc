//! Whom a `KILL` statement means.

use crate::classify::cursor::Cursor;
use crate::token::{Lexing, TokenKind};

/// What a `KILL` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kill {
    /// The number of the connection.
    pub id: u64,
    /// Only its statement is to end.
    pub only_query: bool,
}

/// The target of `query`, if the whole of it is `KILL [HARD | SOFT] [CONNECTION | QUERY] number`. MariaDB's `KILL USER` and
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
    let number = cursor.bump().filter(|token| token.kind == TokenKind::Number)?;
    let id = std::str::from_utf8(number.text).ok()?.parse().ok()?;
    cursor.ends_statement().then_some(Kill { id, only_query })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::ServerFlavor;

    #[test]
    fn target_is_read_in_every_form_and_nothing_else_is_one() {
        let lexing = Lexing {
            ansi_quotes: false,
            no_backslash_escapes: false,
            ascii_in_characters: false,
            server: ServerFlavor::MariaDb(101_119),
        };
        let (connection, only_query) =
            (Some(Kill { id: 7, only_query: false }), Some(Kill { id: 7, only_query: true }));
        for (query, expected) in [
            ("KILL 7", connection),
            ("kill connection 7;", connection),
            ("KILL HARD CONNECTION 7", connection),
            ("/* x */ Kill Soft Query 7 -- y", only_query),
            ("KILL QUERY 7", only_query),
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
