//! One thing that happens, as a value.

use std::fmt;

/// A session's place; who had it before has left.
pub(crate) type Slot = usize;

/// Sessions at a time.
pub(crate) const SLOTS: usize = 4;

/// How a client logs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Manner {
    pub(crate) deprecates_eof: bool,
    /// It asks to be told of changes to its session.
    pub(crate) is_told: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// A session logs in.
    Open(Slot, Manner),
    /// Its client leaves.
    Leave(Slot),
    /// COM_QUERY, also of several statements.
    Query(Slot, String),
    /// COM_STMT_PREPARE, COM_STMT_EXECUTE, COM_STMT_CLOSE.
    Prepared(Slot, String),
    /// A statement that the proxy does not see.
    Past(String),
    /// It is that time from now on.
    Clock(String),
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(slot, manner) => {
                write!(f, "{slot} logs in")?;
                if !manner.deprecates_eof {
                    write!(f, ", without DEPRECATE_EOF")?;
                }
                if manner.is_told {
                    write!(f, ", with SESSION_TRACK")?;
                }
                Ok(())
            }
            Self::Leave(slot) => write!(f, "{slot} leaves"),
            Self::Query(slot, sql) => write!(f, "{slot}: {sql}"),
            Self::Prepared(slot, sql) => write!(f, "{slot}, prepared: {sql}"),
            Self::Past(sql) => write!(f, "past the proxy: {sql}"),
            Self::Clock(time) => write!(f, "the servers' clock: {time}"),
        }
    }
}
