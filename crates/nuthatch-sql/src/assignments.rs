//! What one SET statement assigns: the statement as a list of values that a session can keep and set again elsewhere.
//!
//! All or nothing: a statement with any part that is not understood, or with an effect that its text does not name (a stored
//! function, `:=` inside a value), gives none. So what is given is all that the statement changes in the session, if the
//! server takes it. Whether it does is not looked at: a statement that the server refuses changes nothing, since all values
//! are worked out before the first is set; but for one that sets variables of the server too, which may be refused half done.
//!
//! So `SET @old = @@sql_mode, sql_mode = ''` and the same in the other order leave the same in `@old`. The order matters all
//! the same when a list is set again, where variables write over each other: see [`Carry`](crate::Carry).

mod apart;
mod assignment;
mod context;
mod expression;
mod list;
mod operand;
mod render;
mod target;
mod transaction;
mod value;

use crate::classify::cursor::Cursor;
use crate::classify::is_ambiguous;
use crate::token::Lexing;

pub use assignment::{Assignment, Assignments, Role, ServerScope};
pub use render::render;
pub use value::{Reads, Text, UserVariable, Value};

/// What the whole of `query` assigns, if it is one SET statement that is understood whole.
#[must_use]
pub fn assignments(query: &[u8], lexing: Lexing) -> Option<Assignments> {
    let mut cursor = Cursor::new(query, lexing);
    if !cursor.take_word(b"SET") {
        return None;
    }
    let found = match apart::apart(&mut cursor, query, lexing) {
        apart::Apart::Understood(found) => found,
        apart::Apart::NotUnderstood => return None,
        apart::Apart::Assigns => {
            let list = transaction::characteristics(&mut cursor).or_else(|| {
                list::list(&mut cursor, &context::Context { query, lexing, is_for_statement: false })
            })?;
            Assignments::List(list)
        }
    };
    if !matches!(found, Assignments::ForStatement { .. }) {
        while cursor.take_symbol(b';') {}
        if cursor.peek().is_some() {
            return None;
        }
    }
    let is_ambiguous = cursor.is_unclosed || cursor.is_unclear || is_ambiguous(query, lexing);
    (!is_ambiguous).then_some(found)
}

#[cfg(test)]
mod tests;
