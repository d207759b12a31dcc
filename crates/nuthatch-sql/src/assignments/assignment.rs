//! What a SET statement may assign.

use super::value::{UserVariable, Value};
use crate::variable::SystemVariable;

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
