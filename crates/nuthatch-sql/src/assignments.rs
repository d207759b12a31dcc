//! What one SET statement assigns: the statement as a list of values that a session can keep and set again elsewhere.
//!
//! All or nothing: a statement with any part that is not understood, or with an effect that its text does not name (a stored
//! function, `:=` inside a value), gives none. So what is given is all that the statement changes in the session, if the
//! server takes it. Whether it does is not looked at: a statement that the server refuses changes nothing, since all values
//! are worked out before the first is set.
//!
//! So `SET @old = @@sql_mode, sql_mode = ''` and the same in the other order leave the same in `@old`. The order matters all
//! the same when a list is set again, where variables write over each other: see [`Carry`](crate::Carry).

mod apart;
mod expression;
mod list;
mod render;
mod target;
mod transaction;
mod value;

use crate::classify::cursor::Cursor;
use crate::classify::is_ambiguous;
use crate::token::Lexing;
use crate::variable::SystemVariable;

pub use render::render;
pub use value::{Reads, Text, UserVariable, Value};

/// What a SET statement is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Assignments {
    /// What it assigns, in order; never empty.
    List(Vec<Assignment>),
    /// MariaDB's `SET STATEMENT … FOR …`: as long as the statement after it runs, and no longer.
    ForStatement {
        /// What is set.
        list: Vec<Assignment>,
        /// Where that statement begins.
        start: usize,
    },
    /// `SET ROLE`: what the session may do.
    Role(Role),
    /// MariaDB's `SET SESSION AUTHORIZATION`: whose session it is.
    SessionAuthorization,
    /// MySQL's `SET RESOURCE GROUP`: where the session's thread, or others, may run.
    ResourceGroup,
    /// `SET PASSWORD`, `SET DEFAULT ROLE`: accounts, and nothing of the session.
    Account,
}

/// One thing that is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Assignment {
    /// The session's value of a system variable.
    Session {
        /// Which.
        variable: SystemVariable,
        /// To what.
        value: Value,
    },
    /// For the next transaction only: SET TRANSACTION, and `SET @@transaction_isolation` and its like without a scope.
    NextTransaction {
        /// Isolation level or access mode.
        variable: SystemVariable,
        /// To what.
        value: Value,
    },
    /// The server's own value of a system variable; nothing changes in the session.
    Server {
        /// For how long.
        scope: ServerScope,
        /// Which.
        variable: SystemVariable,
        /// To what.
        value: Value,
    },
    /// A user variable.
    User {
        /// Which.
        variable: UserVariable,
        /// To what.
        value: Value,
    },
    /// SET NAMES. Names are in lower case.
    Names {
        /// The character set; none for the server's default.
        charset: Option<Box<str>>,
        /// The collation; none for the character set's default.
        collation: Option<Box<str>>,
    },
    /// SET CHARACTER SET, with the character set in lower case, or none for the default. The collation of the connection
    /// becomes that of the default schema, so it depends on both which schema that is and when.
    CharacterSet(Option<Box<str>>),
}

/// How long a server remembers what is global.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ServerScope {
    /// GLOBAL: until it ends.
    Global,
    /// PERSIST: from now on.
    Persist,
    /// PERSIST_ONLY: from its next start on.
    PersistOnly,
}

/// What SET ROLE asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// NONE.
    None,
    /// DEFAULT (MySQL).
    Default,
    /// ALL (MySQL).
    All,
    /// Roles by name, or ALL EXCEPT some, as written.
    Named(Box<[u8]>),
}

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
                list::list(&mut cursor, &list::Context { query, lexing, is_for_statement: false })
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
