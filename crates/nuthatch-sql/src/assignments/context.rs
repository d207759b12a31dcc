//! Where the assignments of a SET stand.

use crate::classify::cursor::Cursor;
use crate::token::Lexing;

/// Where a list stands.
pub(super) struct Context<'q> {
    pub(super) query: &'q [u8],
    pub(super) lexing: Lexing,
    /// It ends before FOR.
    pub(super) is_for_statement: bool,
}

impl Context<'_> {
    /// Nothing is left of the assignment that `cursor` is in.
    pub(super) fn at_end(&self, cursor: &Cursor<'_>) -> bool {
        cursor.at_end() || cursor.peek_symbol(b',') || (self.is_for_statement && cursor.peek_word(b"FOR"))
    }
}
