//! What can keep a statement from its answer.

use nuthatch_net::NetError;
use nuthatch_wire::ErrPacket;

use crate::backend::{Asked, CheckOutError, Goodbye};
use crate::roster::{EndReason, SessionEnd};

/// What a server says of statements that cannot be prepared.
pub(crate) const UNSUPPORTED_PS: &str =
    "This command is not supported in the prepared statement protocol yet";

/// Why a statement has no answer from a server.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The client's side is over.
    End(SessionEnd),
    /// No connection could be had.
    CheckOut(CheckOutError),
    /// A server refused what should have brought its connection into the session's state.
    Refused(ErrPacket),
    /// The same, when a statement was behind it already.
    RefusedAhead(ErrPacket),
    /// The server was taken offline while it worked.
    Cut(Answered),
    /// The connection failed.
    Lost(NetError, Answered),
    /// The statement's time is over, and its server has not ended it.
    Late(Box<Late>),
    /// It asks for what only a connection knows that is not held.
    Elsewhere(Elsewhere),
    /// The session began with a value of this variable that servers do not begin with any more, and may not set it.
    Inheritance(String),
    /// The connection could not be made what the session needs; another can.
    Unfit,
    /// The client names a prepared statement that is not there.
    UnknownStatement(u32),
    /// The server does not execute a statement for many sets of parameters.
    NoBulk,
}

/// What a client still has to get of an answer that is over.
#[derive(Debug)]
pub(crate) struct Late {
    /// What goes before the error.
    pub(crate) unsent: Vec<u8>,
    /// The number of the error's packet; none where none can stand: in the middle of another, or of definitions.
    pub(crate) next_sequence: Option<u8>,
    /// The statement surely came to nothing: its server did not have all of it.
    pub(crate) is_undone: bool,
}

impl Late {
    /// Of an answer of which the client has so much.
    pub(crate) fn after(answered: Answered) -> Self {
        let next_sequence = match answered {
            Answered::Unasked | Answered::Nothing => Some(1),
            Answered::Some(next_sequence) => next_sequence,
        };
        Self { unsent: Vec::new(), next_sequence, is_undone: answered == Answered::Unasked }
    }
}

/// What a server keeps by connection. As text, the error of who asks for it where that is not held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Elsewhere {
    /// FOUND_ROWS() or ROW_COUNT() inside a larger statement.
    #[error(
        "FOUND_ROWS() and ROW_COUNT() inside a larger statement are not supported by the proxy outside a transaction: SELECT the function \
         by itself"
    )]
    Counts,
    /// LASTVAL() or its like.
    #[error(
        "LASTVAL() and PREVIOUS VALUE FOR are not supported by the proxy outside a transaction in which NEXTVAL() of the sequence was \
         called: keep the value that NEXTVAL() gave"
    )]
    Sequence,
    /// The number of the last change.
    #[error(
        "@@last_gtid is not supported by the proxy where the connection of the change was let go of: add it to \
         session_track_system_variables, or have a query rule with multiplex=0 keep the session's connection"
    )]
    Gtid,
    /// Warnings or errors in a question that is not understood.
    #[error(
        "GET DIAGNOSTICS and @@warning_count inside a larger statement are not supported by the proxy outside a transaction, unless \
         mysql-hold_for_diagnostics is set: use SHOW WARNINGS"
    )]
    Diagnostics,
}

/// How much of the answer the client has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answered {
    /// Nothing, and no byte of the statement was given to a server's socket, or the server has said that it has read none.
    Unasked,
    /// Nothing.
    Nothing,
    /// Some of it; an ERR packet would have this number. `None`: it takes none there.
    Some(Option<u8>),
}

impl From<SessionEnd> for Trouble {
    fn from(end: SessionEnd) -> Self {
        Self::End(end)
    }
}

impl From<EndReason> for Trouble {
    fn from(reason: EndReason) -> Self {
        Self::End(reason.into())
    }
}

impl From<CheckOutError> for Trouble {
    fn from(error: CheckOutError) -> Self {
        Self::CheckOut(error)
    }
}

impl From<Goodbye> for Trouble {
    fn from(Goodbye { refusal, asked }: Goodbye) -> Self {
        let answered = match asked {
            Asked::Unread => Answered::Unasked,
            Asked::MaybeRead => Answered::Nothing,
        };
        Self::Lost(NetError::Goodbye(refusal), answered)
    }
}

impl Trouble {
    /// Of a connection that failed before anything was answered.
    pub(crate) const fn before_any_answer(error: NetError) -> Self {
        Self::Lost(error, Answered::Nothing)
    }

    /// Whether the connection waits for a command again: the server has answered in full, or was not asked.
    pub(crate) const fn leaves_connection_usable(&self) -> bool {
        matches!(self, Self::Refused(_) | Self::UnknownStatement(_) | Self::NoBulk | Self::Elsewhere(_))
    }

    /// A server does not know the session's schema.
    pub(crate) const fn is_unknown_schema(&self) -> bool {
        const UNKNOWN_DATABASE: u16 = 1049;
        let (Self::Refused(refusal) | Self::CheckOut(CheckOutError::Refused(refusal))) = self else {
            return false;
        };
        refusal.code == UNKNOWN_DATABASE
    }

    /// No server of the hostgroup could be asked that shows what the statement needs.
    pub(crate) const fn is_of_who_is_behind(&self) -> bool {
        matches!(self, Self::CheckOut(CheckOutError::Behind | CheckOutError::NoServer { .. }))
    }

    /// Whether a connection failed or was cut of whose answer the client has nothing.
    pub(crate) const fn left_no_trace(&self) -> bool {
        matches!(
            self,
            Self::Lost(_, Answered::Unasked | Answered::Nothing)
                | Self::Cut(Answered::Unasked | Answered::Nothing)
        )
    }

    /// Whether the statement surely has not been run, nor will be.
    pub(crate) fn is_undone(&self) -> bool {
        match self {
            Self::Lost(_, answered) | Self::Cut(answered) => *answered == Answered::Unasked,
            Self::Late(late) => late.is_undone,
            _ => false,
        }
    }

    /// Whether a connection is gone on which a statement may be at work.
    pub(crate) const fn is_of_lost_connection(&self) -> bool {
        matches!(self, Self::Lost(..) | Self::Cut(_) | Self::Late(_) | Self::RefusedAhead(_) | Self::Unfit)
    }

    /// The same, of which the server got a part at least.
    #[must_use]
    pub(crate) fn having_begun(self) -> Self {
        match self {
            Self::Lost(error, Answered::Unasked) => Self::Lost(error, Answered::Nothing),
            Self::Cut(Answered::Unasked) => Self::Cut(Answered::Nothing),
            begun => begun,
        }
    }
}

impl Answered {
    pub(crate) fn next_sequence(self) -> u8 {
        match self {
            Self::Some(Some(sequence)) => sequence,
            Self::Unasked | Self::Nothing | Self::Some(None) => 1,
        }
    }
}
