//! What classification says of a statement: its kind, whether its result may be cached, what it leaves in the session.
//!
//! All of it is conservative: what is not understood is not cacheable, writes, and changes unknown session state.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// What [`classify`](crate::classify()) found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement<'q> {
    /// What sort of statement it is.
    pub kind: Kind,
    /// Ok only for one plain SELECT, or SHOW of definitions, whose result is a function of its text, the session environment and the tables.
    pub cache: Result<(), NotCacheable>,
    /// Why a later execution may give another result although no table changed (`NOW`, `RAND`, `UUID`, `SLEEP`, the schema `mysql`, …).
    /// A cache with a time to live may hold such a result, an exact one may not.
    pub volatile: Option<&'static str>,
    /// What it may do to data, transaction and session.
    pub effects: Effects<'q>,
    /// Where its first word is; empty if it has none.
    pub first_word: Range<usize>,
}

/// What a footprint needs of what a statement was found to be: the same for all statements of one shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    pub(crate) kind: Kind,
    pub(crate) cache: Result<(), NotCacheable>,
    pub(crate) is_volatile: bool,
    pub(crate) writes: bool,
    pub(crate) runs_unseen_code: bool,
}

impl Class {
    /// Of a statement that was taken apart.
    #[must_use]
    pub const fn of(statement: &Statement<'_>) -> Self {
        Self {
            kind: statement.kind,
            cache: statement.cache,
            is_volatile: statement.volatile.is_some(),
            writes: statement.effects.writes,
            runs_unseen_code: statement.effects.runs_unseen_code,
        }
    }

    /// The sort of the statement.
    #[must_use]
    pub const fn kind(self) -> Kind {
        self.kind
    }

    /// Whether it runs code that its text does not show: see [`Effects::runs_unseen_code`].
    #[must_use]
    pub const fn runs_unseen_code(self) -> bool {
        self.runs_unseen_code
    }
}

/// The sort of a statement, by its first words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A query: SELECT, also in parentheses and after WITH; VALUES and TABLE.
    Select,
    /// INSERT.
    Insert,
    /// REPLACE.
    Replace,
    /// UPDATE, also after WITH.
    Update,
    /// DELETE, also after WITH.
    Delete,
    /// CALL.
    Call,
    /// SET.
    Set,
    /// USE.
    Use,
    /// BEGIN, START TRANSACTION.
    Begin,
    /// COMMIT.
    Commit,
    /// ROLLBACK of the whole transaction.
    Rollback,
    /// SAVEPOINT, RELEASE SAVEPOINT, ROLLBACK TO.
    Savepoint,
    /// A change of the schema.
    Ddl(Ddl),
    /// SHOW.
    Show,
    /// EXPLAIN, DESCRIBE, MariaDB's ANALYZE of a statement.
    Explain,
    /// LOCK TABLES, LOCK INSTANCE.
    Lock,
    /// UNLOCK.
    Unlock,
    /// PREPARE in text.
    Prepare,
    /// EXECUTE, EXECUTE IMMEDIATE.
    Execute,
    /// DEALLOCATE PREPARE, DROP PREPARE.
    Deallocate,
    /// DO.
    Do,
    /// HANDLER.
    Handler,
    /// LOAD DATA, LOAD XML.
    LoadData,
    /// KILL.
    Kill,
    /// XA.
    Xa,
    /// GRANT, REVOKE.
    Grant,
    /// FLUSH.
    Flush,
    /// Anything else.
    Other,
    /// Nothing but white space and comments.
    Empty,
    /// Several statements.
    Multi,
}

impl Kind {
    /// It writes rows of tables, and is nothing but that: one row after the other, as its text says.
    #[must_use]
    pub const fn writes_rows(self) -> bool {
        matches!(self, Self::Insert | Self::Replace | Self::Update | Self::Delete)
    }

    /// It reads or writes rows, whatever its text.
    #[must_use]
    pub const fn moves_rows(self) -> bool {
        matches!(self, Self::Select) || self.writes_rows()
    }
}

/// The sort of a schema change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ddl {
    /// CREATE.
    Create,
    /// ALTER.
    Alter,
    /// DROP.
    Drop,
    /// TRUNCATE.
    Truncate,
    /// RENAME.
    Rename,
}

/// Why a result must not be stored or served. The first reason in the text is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NotCacheable {
    /// It is neither a SELECT nor a SHOW of schemas, tables or columns.
    NotSelect,
    /// It is several statements.
    Multi,
    /// It locks rows or moves a sequence.
    Locking,
    /// It writes its result to a file or to variables.
    Into,
    /// It reads or sets a user variable.
    UserVariable,
    /// It reads a system variable that others than the session set too, or that tells something.
    SystemVariable,
    /// It calls this function or has this option, whose effect or result belongs to the session.
    Function(&'static str),
    /// It calls a function that is not known to be free of effects: stored, loadable, or new.
    UnknownFunction,
    /// It has PROCEDURE ANALYSE.
    Procedure,
    /// It reads a system-versioned table as of another time.
    SystemTime,
    /// A string, name or comment has no end.
    Unclosed,
    /// Whether the server executes a comment in it cannot be told.
    ExecutableComment,
    /// It asks for it: SQL_NO_CACHE.
    SqlNoCache,
    /// A hint in it sets a variable by which the answer may belong to the session.
    Hint,
    /// It holds bytes that no statement has, or that may be cut in two ways.
    NotUnderstood,
}

/// A clause for an operator: "is not cached because …".
impl fmt::Display for NotCacheable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotSelect => "it is neither a SELECT nor a SHOW of schemas, tables or columns",
            Self::Multi => "it is several statements",
            Self::Locking => "it locks rows or moves a sequence",
            Self::Into => "it writes its result to a file or to variables",
            Self::UserVariable => "it reads or sets a user variable",
            Self::SystemVariable => "it reads a system variable that more than the session sets",
            Self::Function(name) => {
                return write!(f, "{name} in it has an effect or a result that belongs to the session");
            }
            Self::UnknownFunction => "it calls a function that is not known to be free of effects",
            Self::Procedure => "it has PROCEDURE ANALYSE",
            Self::SystemTime => "it reads a system-versioned table as of another time",
            Self::Unclosed => "a string, name or comment in it has no end",
            Self::ExecutableComment => "whether the server executes a comment in it cannot be told",
            Self::Hint => {
                "a hint in it sets a variable that the answer, or the session afterwards, may follow"
            }
            Self::SqlNoCache => "it says SQL_NO_CACHE or no_cache",
            Self::NotUnderstood => "it is not understood",
        })
    }
}

/// What a statement may do to data, transaction and session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts, each read by another part of the session"
)]
pub struct Effects<'q> {
    /// What it sets in the session, if it is a SET or USE.
    pub set: SetEffect<'q>,
    /// Why the session must keep its backend connection afterwards, and for this statement.
    pub pin: Option<PinReason>,
    /// Which reason to keep the connection it ends.
    pub unpin: Option<PinReason>,
    /// It reads what the statement before left: warnings, errors.
    pub reads_diagnostics: bool,
    /// It surely names no table, neither one of the server's own.
    pub names_no_table: bool,
    /// It reads the last insert id.
    pub reads_insert_id: bool,
    /// It reads FOUND_ROWS().
    pub reads_found_rows: bool,
    /// It reads ROW_COUNT().
    pub reads_row_count: bool,
    /// It reads `SQL%ROWCOUNT`: FOUND_ROWS() as well, where ROW_COUNT() is -1.
    pub reads_oracle_row_count: bool,
    /// It may change data: true unless it is proven to be a pure read.
    pub writes: bool,
    /// Whether it ends the open transaction.
    pub ends_transaction: TransactionEnd,
    /// The server closes the connection after it (`COMMIT RELEASE`, `SHUTDOWN`, …).
    pub disconnects: bool,
    /// It runs code that the text does not show (CALL, EXECUTE, a stored function): any session state may change.
    pub runs_unseen_code: bool,
    /// A hint sets a variable for it: MySQL tells of a changed session behind it.
    pub sets_by_hint: bool,
}

/// What a SET or USE leaves in the session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SetEffect<'q> {
    /// Nothing.
    #[default]
    None,
    /// `autocommit`, and nothing else.
    Autocommit(bool),
    /// SET NAMES, and nothing else.
    Names {
        /// The character set.
        charset: Name<'q>,
        /// The collation, if one is given.
        collation: Option<Name<'q>>,
    },
    /// The default schema.
    Schema(Name<'q>),
    /// SET CHARACTER SET, and nothing else.
    CharacterSet(Name<'q>),
    /// Something else, or several things.
    Unknown,
}

/// Why a session must keep its backend connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PinReason {
    /// It sets or reads a user variable.
    UserVariable,
    /// It makes a temporary table.
    TemporaryTable,
    /// LOCK TABLES.
    LockTables,
    /// GET_LOCK().
    GetLock,
    /// PREPARE in text.
    PreparedStatement,
    /// HANDLER … OPEN.
    Handler,
    /// FLUSH TABLES … WITH READ LOCK or FOR EXPORT.
    FlushTablesWithReadLock,
    /// XA.
    Xa,
    /// SQL_CALC_FOUND_ROWS.
    FoundRows,
    /// An unknown SET.
    SessionVariable,
    /// BACKUP STAGE, BACKUP LOCK, LOCK INSTANCE.
    Backup,
}

/// How a statement ends the open transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TransactionEnd {
    /// It does not.
    #[default]
    No,
    /// COMMIT.
    Commit,
    /// COMMIT AND CHAIN: another transaction begins.
    CommitAndChain,
    /// ROLLBACK.
    Rollback,
    /// ROLLBACK AND CHAIN: another transaction begins.
    RollbackAndChain,
    /// It commits before it runs, even when it then fails.
    Implicit,
    /// It may commit.
    Maybe,
}

/// A name, or a string in the place of one, as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Name<'q>(pub(crate) &'q [u8]);

impl<'q> Name<'q> {
    /// With its quotes, as written.
    #[must_use]
    pub fn as_written(self) -> &'q [u8] {
        self.0
    }

    /// Without quotes; doubled quotes inside are one. Borrowed unless there are any.
    #[must_use]
    pub fn text(self) -> Cow<'q, [u8]> {
        let (Some(&quote @ (b'`' | b'"' | b'\'')), Some(inner)) =
            (self.0.first(), self.0.get(1..self.0.len().saturating_sub(1)))
        else {
            return Cow::Borrowed(self.0);
        };
        if !inner.contains(&quote) {
            return Cow::Borrowed(inner);
        }
        let mut text = Vec::with_capacity(inner.len());
        let mut bytes = inner.iter().copied();
        while let Some(byte) = bytes.next() {
            text.push(byte);
            if byte == quote {
                bytes.next();
            }
        }
        Cow::Owned(text)
    }
}
