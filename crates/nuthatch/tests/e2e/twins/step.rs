//! One command of a session, as a value. `{s}` in a text is the session's own schema, which its twin has under another name.

use std::fmt;

use crate::client::{Cursor, Types, Value};

/// Which of a script's prepared statements.
pub(super) type Slot = usize;

#[derive(Debug, Clone)]
pub(super) enum Step {
    /// COM_QUERY, also of several statements.
    Query(String),
    /// COM_STMT_PREPARE.
    Prepare(Slot, String),
    /// COM_STMT_EXECUTE; as many of the values as there are parameters, in turn.
    Execute(Slot, Vec<Value>, Types, Cursor),
    /// COM_STMT_SEND_LONG_DATA for the first parameter.
    LongData(Slot, String),
    /// COM_STMT_FETCH of so many rows.
    Fetch(Slot, u32),
    /// COM_STMT_RESET.
    ResetStatement(Slot),
    /// COM_STMT_CLOSE.
    Close(Slot),
    /// COM_INIT_DB.
    InitDb(String),
    /// COM_RESET_CONNECTION.
    ResetConnection,
    /// COM_CHANGE_USER to the same user, into the session's own schema.
    ChangeUser,
    /// COM_PING.
    Ping,
}

impl Step {
    pub(super) fn query(sql: impl Into<String>) -> Self {
        Self::Query(sql.into())
    }

    /// Whether a cache may have its answer.
    pub(super) fn may_be_cached(&self) -> bool {
        match self {
            Self::Query(sql) => sql.starts_with("SELECT"),
            Self::Execute(..) => true,
            _ => false,
        }
    }
}

/// As the test's source would have it.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Query(sql) => write!(f, "{sql:?}"),
            Self::Execute(slot, values, types, cursor) => {
                write!(f, "Execute({slot}, [")?;
                for value in values {
                    match value {
                        Value::Text(text) => write!(f, "Text({:?}), ", String::from_utf8_lossy(text))?,
                        other => write!(f, "{other:?}, ")?,
                    }
                }
                write!(f, "], {types:?}, {cursor:?})")
            }
            other => write!(f, "{other:?}"),
        }
    }
}
