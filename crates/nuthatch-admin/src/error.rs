//! What a statement can be refused for, and the one place where that becomes the code and SQLSTATE of an ERR packet.
//!
//! SQLite's own messages reach the operator unchanged. ProxySQL sends 1045 for everything; here a fault has the code that
//! MySQL has for it, and 1064 (42000) where there is none, so that drivers raise the right class of exception.

use std::time::Duration;

use nuthatch_wire::ErrorCode;
use thiserror::Error;

/// Why a statement was refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum AdminError {
    /// SQLite refused it: its own message.
    #[error("{message}")]
    Sqlite { fault: SqliteFault, message: String },
    /// Not one of our verbs' forms.
    #[error("{0}")]
    Malformed(String),
    /// Several statements came in one packet from a client that did not ask for that.
    #[error("several statements in one packet need CLIENT_MULTI_STATEMENTS")]
    SeveralStatements,
    /// There is no statement in the packet.
    #[error("Query was empty")]
    Empty,
    /// Known, and not there yet.
    #[error("{0} is not supported yet")]
    Unsupported(String),
    /// What is asked for is not allowed to anyone.
    #[error("{0}")]
    Forbidden(String),
    /// The account may only read the statistics.
    #[error("this account may only read the statistics")]
    StatsAccount,
    #[error("Unknown database '{0}'")]
    UnknownSchema(String),
    #[error("Table '{0}' doesn't exist")]
    UnknownTable(String),
    #[error("Unknown system variable '{0}'")]
    UnknownVariable(String),
    /// A variable that exists does not take the value, or a module cannot be moved.
    #[error("{0}")]
    Refused(String),
    #[error("Unknown thread id: {0}")]
    UnknownSession(u64),
    /// Another session's transaction did not end in time.
    #[error("another admin session has had a transaction open for more than {} s; try again", .0.as_secs())]
    Busy(Duration),
    /// LOAD and SAVE act on what is committed.
    #[error("LOAD and SAVE need a COMMIT or ROLLBACK of the open transaction first")]
    InTransaction,
    #[error("the result is larger than {limit_bytes} bytes; add a LIMIT")]
    ResultTooLarge { limit_bytes: usize },
    #[error("the statement ran for more than {} s and was interrupted", .0.as_secs())]
    TooLong(Duration),
    /// The program panicked over it.
    #[error("the statement hit a fault of the program; the log says more")]
    Fault,
    /// The admin thread is gone or going.
    #[error("the admin interface is stopping")]
    Stopping,
}

/// What SQLite found wrong, as far as MySQL has a code for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SqliteFault {
    Unique,
    NotNull,
    Check,
    NoSuchTable,
    NoSuchColumn,
    Other,
}

impl AdminError {
    /// The code and SQLSTATE that clients see.
    pub(crate) fn code(&self) -> ErrorCode {
        match self {
            Self::Sqlite { fault, .. } => fault.code(),
            Self::Malformed(_) | Self::SeveralStatements => ErrorCode::PARSE_ERROR,
            Self::Empty => ErrorCode::EMPTY_QUERY,
            Self::Unsupported(_) => ErrorCode::NOT_SUPPORTED_YET,
            Self::Forbidden(_) | Self::StatsAccount => ErrorCode::SPECIFIC_ACCESS_DENIED,
            Self::UnknownSchema(_) => code(1049, b"42000"),
            Self::UnknownTable(_) => code(1146, b"42S02"),
            Self::UnknownVariable(_) => code(1193, b"HY000"),
            Self::Refused(_) => code(1231, b"42000"),
            Self::UnknownSession(_) => ErrorCode::NO_SUCH_THREAD,
            Self::Busy(_) => code(1205, b"HY000"),
            Self::InTransaction => code(1192, b"HY000"),
            Self::ResultTooLarge { .. } => ErrorCode::NET_PACKET_TOO_LARGE,
            Self::TooLong(_) => code(1317, b"70100"),
            Self::Fault => ErrorCode::UNKNOWN_ERROR,
            Self::Stopping => ErrorCode::SERVER_SHUTDOWN,
        }
    }
}

impl SqliteFault {
    fn code(self) -> ErrorCode {
        match self {
            Self::Unique => code(1062, b"23000"),
            Self::NotNull => code(1048, b"23000"),
            Self::Check => code(4025, b"23000"),
            Self::NoSuchTable => code(1146, b"42S02"),
            Self::NoSuchColumn => code(1054, b"42S22"),
            Self::Other => ErrorCode::PARSE_ERROR,
        }
    }

    fn of(extended_code: i32, message: &str) -> Self {
        match extended_code {
            rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE | rusqlite::ffi::SQLITE_CONSTRAINT_PRIMARYKEY => {
                Self::Unique
            }
            rusqlite::ffi::SQLITE_CONSTRAINT_NOTNULL => Self::NotNull,
            rusqlite::ffi::SQLITE_CONSTRAINT_CHECK => Self::Check,
            _ if message.starts_with("no such table") => Self::NoSuchTable,
            _ if message.starts_with("no such column") => Self::NoSuchColumn,
            _ => Self::Other,
        }
    }
}

const fn code(code: u16, sql_state: &[u8; 5]) -> ErrorCode {
    ErrorCode { code, sql_state: *sql_state }
}

impl From<rusqlite::Error> for AdminError {
    fn from(error: rusqlite::Error) -> Self {
        if error.sqlite_error_code() == Some(rusqlite::ErrorCode::AuthorizationForStatementDenied) {
            return Self::Forbidden("this is not allowed here".to_owned());
        }
        let (extended_code, message) = match &error {
            rusqlite::Error::SqliteFailure(code, Some(message)) => (code.extended_code, message.clone()),
            rusqlite::Error::SqlInputError { error, msg, .. } => (error.extended_code, msg.clone()),
            other => (0, other.to_string()),
        };
        Self::Sqlite { fault: SqliteFault::of(extended_code, &message), message }
    }
}
