//! Which named locks a statement takes or gives back: `GET_LOCK('x', 10)`, `RELEASE_LOCK('x')`.

use crate::classify::cursor::{Cursor, is_word};
use crate::token::{Lexing, TokenKind};

/// The functions by which a session takes and gives back locks that last beyond its statement and transaction.
pub const LOCK_FUNCTIONS: [&[u8]; 5] = [
    b"get_lock",
    b"release_lock",
    b"release_all_locks",
    b"service_get_read_locks",
    b"service_get_write_locks",
];

/// What a statement does with named locks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Locks<'q> {
    /// The names of locks that it takes, as the strings that stand there.
    pub taken: Vec<&'q [u8]>,
    /// It takes others as well, whose names do not stand there.
    pub takes_others: bool,
    /// It gives some back, all of them perhaps.
    pub releases: bool,
}

/// What `query` does with named locks, as far as it calls their functions itself.
#[must_use]
pub fn locks(query: &[u8], lexing: Lexing) -> Locks<'_> {
    let mut cursor = Cursor::new(query, lexing);
    let mut locks = Locks::default();
    while let Some(token) = cursor.bump() {
        if token.kind != TokenKind::Word || !cursor.peek_symbol(b'(') {
            continue;
        }
        if is_word(token, b"GET_LOCK") {
            cursor.advance();
            let name = cursor.peek().filter(|name| name.kind == TokenKind::String);
            let mut behind = cursor.clone();
            behind.advance();
            match name {
                Some(name) if behind.peek_symbol(b',') => locks.taken.push(name.text),
                _ => locks.takes_others = true,
            }
        } else if is_word(token, b"RELEASE_LOCK") || is_word(token, b"RELEASE_ALL_LOCKS") {
            locks.releases = true;
        }
    }
    locks.takes_others |= cursor.is_unclosed || cursor.has_executable;
    locks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::ServerFlavor;

    #[test]
    fn names_are_those_that_stand_there() {
        let lexing = Lexing::of(ServerFlavor::MariaDb(101_119));
        let none: [&str; 0] = [];
        for (query, taken, takes_others, releases) in [
            ("SELECT GET_LOCK('a', 1)", vec!["'a'"], false, false),
            ("select get_lock ( 'a''b' , 1), GET_LOCK(\"c\", 0)", vec!["'a''b'", "\"c\""], false, false),
            ("SELECT GET_LOCK('a' 'b', 1)", none.to_vec(), true, false),
            ("SELECT GET_LOCK(CONCAT('a'), 1)", none.to_vec(), true, false),
            ("SELECT GET_LOCK(@a, 1), GET_LOCK('x', 1)", vec!["'x'"], true, false),
            ("DO RELEASE_LOCK('a')", none.to_vec(), false, true),
            ("SELECT RELEASE_ALL_LOCKS()", none.to_vec(), false, true),
            ("SELECT 'GET_LOCK(', get_lock", none.to_vec(), false, false),
        ] {
            let found = locks(query.as_bytes(), lexing);
            let taken: Vec<_> = taken.iter().map(|name| name.as_bytes()).collect();
            assert_eq!(found, Locks { taken, takes_others, releases }, "{query}");
        }
    }
}
