//! Whether a text stops the server.

use crate::classify::cursor::{Cursor, is_word};
use crate::token::literal::unescaped;
use crate::token::{Lexing, Token, TokenKind};
use crate::words::has_part;

/// Whether `query` holds a `SHUTDOWN` or `RESTART` in the place of a statement: alone, among several, in a comment that is executed,
/// in a block or the body of a routine, or as the literal that PREPARE or EXECUTE IMMEDIATE takes. What an expression comes to, and a
/// routine that is there already, cannot be seen.
#[must_use]
pub fn stops_server(query: &[u8], lexing: Lexing) -> bool {
    may_stop(query, lexing) && holds(query, lexing)
}

/// Spares other texts being cut.
fn may_stop(query: &[u8], lexing: Lexing) -> bool {
    let stands_in = |word: &[u8]| has_part(query, word);
    // An escape in a literal may hide a letter.
    let may_hide = !lexing.no_backslash_escapes && query.contains(&b'\\');
    stands_in(b"shutdown")
        || stands_in(b"restart")
        || may_hide && (stands_in(b"prepare") || stands_in(b"immediate"))
}

fn holds(query: &[u8], lexing: Lexing) -> bool {
    let (mut cursor, mut before): (_, Option<Token<'_>>) = (Cursor::new(query, lexing), None);
    let creates = cursor.peek_word(b"CREATE");
    while let Some(token) = cursor.bump() {
        let is_behind =
            |words: &[&[u8]]| before.is_some_and(|before| words.iter().any(|word| is_word(before, word)));
        let begins = before.is_none_or(|before| before.kind == TokenKind::Symbol(b';'));
        let begins_in_block =
            || is_behind(&[b"BEGIN", b"THEN", b"ELSE", b"DO", b"ATOMIC", b"LOOP", b"REPEAT"]);
        let found = match token.kind {
            TokenKind::Word if is_word(token, b"SHUTDOWN") || is_word(token, b"RESTART") => {
                begins && (cursor.at_end() || cursor.peek_word(b"WAIT"))
                    || begins_in_block() && cursor.peek_symbol(b';')
                    || creates && is_body(before, &cursor)
            }
            TokenKind::String if is_behind(&[b"FROM", b"IMMEDIATE"]) => {
                unescaped(token.text, lexing).is_some_and(|inner| holds(&inner, lexing))
            }
            _ => false,
        };
        if found {
            return true;
        }
        before = Some(token);
    }
    false
}

/// The whole body of a routine: `CREATE PROCEDURE p() SHUTDOWN`.
fn is_body(before: Option<Token<'_>>, behind: &Cursor<'_>) -> bool {
    before.is_some_and(|before| before.kind == TokenKind::Symbol(b')')) && behind.at_end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::ServerFlavor;

    #[test]
    fn statement_that_stops_a_server_is_seen_wherever_it_stands() {
        let lexing = Lexing::of(ServerFlavor::MariaDb(101_119));
        for text in [
            "SHUTDOWN",
            "shutdown;",
            " /* x */ SHUTDOWN -- y",
            "SHUTDOWN WAIT FOR ALL SLAVES",
            "RESTART",
            "/*! SHUTDOWN */",
            "/*M! SHUTDOWN */",
            "/*!99999 SHUTDOWN */ SELECT 1; SHUTDOWN",
            "SELECT 1; SHUTDOWN",
            "SHUTDOWN; SELECT 1",
            "PREPARE s FROM 'SHUTDOWN'",
            "PREPARE s FROM 'SHUT\\DOWN'",
            "EXECUTE IMMEDIATE 'shutdown'",
            "EXECUTE IMMEDIATE \"EXECUTE IMMEDIATE 'shutdown'\"",
            "BEGIN NOT ATOMIC SHUTDOWN; END",
            "IF 1 THEN SHUTDOWN; END IF",
            "CREATE PROCEDURE p() SHUTDOWN",
            "CREATE PROCEDURE p() BEGIN SELECT 1; SHUTDOWN; END",
        ] {
            assert!(stops_server(text.as_bytes(), lexing), "{text}");
        }
        for text in [
            "SELECT shutdown FROM t",
            "SELECT 'SHUTDOWN'",
            "SELECT CASE WHEN a THEN shutdown END FROM t",
            "GRANT SHUTDOWN ON *.* TO u",
            "INSERT INTO t VALUES ('a; SHUTDOWN')",
            "SELECT 1 -- ; SHUTDOWN",
            "SELECT restart, `shutdown` FROM jobs",
            "SELECT COUNT(*) shutdown",
            "PREPARE s FROM 'SELECT shutdown FROM t'",
            "ALTER SEQUENCE s RESTART",
            "ALTER SEQUENCE s RESTART 5",
        ] {
            assert!(!stops_server(text.as_bytes(), lexing), "{text}");
        }
    }
}
