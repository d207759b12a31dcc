//! Whom a `KILL` statement means.

use crate::classify::cursor::Cursor;
use crate::token::{Lexing, TokenKind};

/// What a `KILL` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kill<'q> {
    /// Whose.
    pub whom: Whom<'q>,
    /// Only its statement is to end.
    pub only_query: bool,
}

/// Whose connection or statement is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whom<'q> {
    /// That of this number.
    Numbered(u64),
    /// That of the number that a prepared statement is executed with.
    Bound,
    /// That of the number in this user variable, `@` included.
    Variable(&'q [u8]),
    /// The own one: `CONNECTION_ID()`.
    Own,
}

/// The target of `query`, if the whole of it is `KILL [HARD | SOFT] [CONNECTION | QUERY] {number | ? | @variable | NULL | CONNECTION_ID()}`.
/// NULL is 0 for a server, and what is below 0 a number that nobody has. MariaDB's `KILL USER` and
/// `KILL QUERY ID` are none.
#[must_use]
pub fn kill(query: &[u8], lexing: Lexing) -> Option<Kill<'_>> {
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

fn whom<'q>(cursor: &mut Cursor<'q>) -> Option<Whom<'q>> {
    if cursor.take_symbol(b'?') {
        return Some(Whom::Bound);
    }
    if cursor.take_word(b"CONNECTION_ID") {
        return (cursor.take_symbol(b'(') && cursor.take_symbol(b')')).then_some(Whom::Own);
    }
    if cursor.take_word(b"NULL") {
        return Some(Whom::Numbered(0));
    }
    let is_negative = cursor.take_symbol(b'-');
    let token = cursor.bump()?;
    match token.kind {
        TokenKind::UserVariable if !is_negative => Some(Whom::Variable(token.text)),
        TokenKind::Number => {
            let number: u64 = std::str::from_utf8(token.text).ok()?.parse().ok()?;
            Some(Whom::Numbered(if is_negative { number.wrapping_neg() } else { number }))
        }
        _ => None,
    }
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
            ("KILL -1", of(Whom::Numbered(u64::MAX), false)),
            ("KILL NULL", of(Whom::Numbered(0), false)),
            ("KILL QUERY @k;", of(Whom::Variable(b"@k"), true)),
            ("KILL @`a b`", of(Whom::Variable(b"@`a b`"), false)),
            ("KILL @k + 1", None),
            ("KILL -@k", None),
            ("KILL 99999999999999999999", None),
            ("KILL", None),
            ("SELECT 7", None),
        ] {
            assert_eq!(kill(query.as_bytes(), lexing), expected, "{query}");
        }
    }
}
