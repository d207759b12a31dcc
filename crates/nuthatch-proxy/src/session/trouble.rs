//! What can keep a statement from its answer, and what becomes of it: the one place where that is decided.

use nuthatch_net::NetError;
use nuthatch_wire::{ErrPacket, ErrorCode};

use crate::backend::CheckOutError;
use crate::roster::{EndReason, SessionEnd};

use super::prepared::UNSUPPORTED_PS;
use super::{Session, reply};

/// Why a statement has no answer from a server.
#[derive(Debug)]
pub(super) enum Trouble {
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

/// What a server keeps by connection. As text, the error of who asks for it where that is not held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Elsewhere {
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
pub(super) enum Answered {
    /// Nothing.
    Nothing,
    /// Some packets; the next would have this number. `None`: half a packet.
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

impl Trouble {
    /// Of a connection that failed before anything was answered.
    pub(super) const fn before_any_answer(error: NetError) -> Self {
        Self::Lost(error, Answered::Nothing)
    }

    /// Whether the connection waits for a command again: the server has answered in full, or was not asked.
    pub(super) const fn leaves_connection_usable(&self) -> bool {
        matches!(self, Self::Refused(_) | Self::UnknownStatement(_) | Self::NoBulk | Self::Elsewhere(_))
    }

    /// A server does not know the session's schema.
    pub(super) const fn is_unknown_schema(&self) -> bool {
        const UNKNOWN_DATABASE: u16 = 1049;
        let (Self::Refused(refusal) | Self::CheckOut(CheckOutError::Refused(refusal))) = self else {
            return false;
        };
        refusal.code == UNKNOWN_DATABASE
    }

    /// Whether the statement certainly did nothing that another try would do twice.
    pub(super) const fn left_no_trace(&self) -> bool {
        matches!(self, Self::Lost(_, Answered::Nothing))
    }
}

impl Session {
    /// Tells the client what kept its statement from an answer, and ends the session where it must end.
    pub(super) async fn reply_trouble(&mut self, trouble: Trouble) -> Result<(), SessionEnd> {
        let (sequence, code, message) = match trouble {
            Trouble::End(end) => return Err(end),
            Trouble::Refused(error) | Trouble::CheckOut(CheckOutError::Refused(error)) => {
                self.note_error(error.code, &error.message);
                self.send(&reply::err_of_server(&error)).await?;
                return self.go_on_unless_lost();
            }
            Trouble::CheckOut(error) => self.told_of_check_out(error),
            Trouble::Lost(_, Answered::Some(None)) | Trouble::Cut(Answered::Some(None)) => {
                return Err(SessionEnd::Gone);
            }
            Trouble::Lost(error, answered) => {
                self.worker.counters.lost_during_query.bump();
                tracing::info!(session = self.handle.id, user = %self.account.name, %error,
                    "lost a server's connection during a statement");
                let message = "Lost connection to MySQL server during query".to_owned();
                (answered.next_sequence(), ErrorCode::SERVER_LOST, message)
            }
            Trouble::Cut(answered) => {
                self.worker.counters.lost_during_query.bump();
                let message = "Server was taken offline during the statement".to_owned();
                (answered.next_sequence(), ErrorCode::SERVER_OFFLINE, message)
            }
            Trouble::RefusedAhead(refusal) => {
                tracing::warn!(session = self.handle.id, user = %self.account.name, code = refusal.code,
                    "a server refused what it had accepted before, and the statement behind it has run: \
                     its answer is withheld");
                let message = "Lost connection to MySQL server during query".to_owned();
                (1, ErrorCode::SERVER_LOST, message)
            }
            Trouble::Unfit => {
                let message = "Lost connection to MySQL server during query".to_owned();
                (1, ErrorCode::SERVER_LOST, message)
            }
            Trouble::Inheritance(variable) => return self.end_for_inheritance(&variable).await,
            Trouble::Elsewhere(what) => (1, ErrorCode::NOT_SUPPORTED_YET, what.to_string()),
            Trouble::NoBulk => (1, ErrorCode::UNSUPPORTED_PS, UNSUPPORTED_PS.to_owned()),
            Trouble::UnknownStatement(id) => {
                let function = self.function_at_hand();
                let message = format!("Unknown prepared statement handler ({id}) given to {function}");
                (1, ErrorCode::UNKNOWN_STMT_HANDLER, message)
            }
        };
        self.worker.counters.generated_errors.bump();
        self.note_error(code.code, message.as_bytes());
        self.send(&reply::err(sequence, code, &message)).await?;
        self.go_on_unless_lost()
    }

    /// The session cannot have what it began with any more.
    async fn end_for_inheritance(&mut self, variable: &str) -> Result<(), SessionEnd> {
        let message = format!(
            "The server's default of '{variable}' was changed since this session's login, and the session may not set \
             it back: log in again"
        );
        self.worker.counters.generated_errors.bump();
        self.send(&reply::err(1, ErrorCode::ABORTED_CONNECTION, &message)).await?;
        Err(SessionEnd::Gone)
    }

    /// Why there is no connection; a server's own refusal is passed on as it is.
    fn told_of_check_out(&self, error: CheckOutError) -> (u8, ErrorCode, String) {
        match error {
            CheckOutError::Timeout { hostgroup, waited_ms, why } => {
                self.worker.counters.connect_timeouts.bump();
                let message = format!(
                    "Max connect timeout reached while reaching hostgroup {hostgroup} after {waited_ms}ms: {why}"
                );
                (1, ErrorCode::MAX_CONNECT_TIMEOUT, message)
            }
            CheckOutError::NoServer { hostgroup } => {
                let sender = match hostgroup == self.account.user.default_hostgroup {
                    true => format!("the default_hostgroup of user '{}'", self.account.name),
                    false => "a query rule".to_owned(),
                };
                let message = format!(
                    "No server stands in hostgroup {hostgroup}, to which {sender} sends the statement"
                );
                (1, ErrorCode::MAX_CONNECT_TIMEOUT, message)
            }
            CheckOutError::Login(why) => {
                (1, ErrorCode::ACCESS_DENIED, format!("Access denied on the way to the server: {why}"))
            }
            CheckOutError::Refused(refusal) => {
                let code = ErrorCode { code: refusal.code, sql_state: refusal.sql_state };
                (1, code, String::from_utf8_lossy(&refusal.message).into_owned())
            }
        }
    }

    /// As a server would: a client that goes on would write outside the transaction that it believes in.
    fn go_on_unless_lost(&mut self) -> Result<(), SessionEnd> {
        if std::mem::take(&mut self.has_lost_state) { Err(SessionEnd::Gone) } else { Ok(()) }
    }
}

impl Answered {
    fn next_sequence(self) -> u8 {
        match self {
            Self::Some(Some(sequence)) => sequence,
            Self::Nothing | Self::Some(None) => 1,
        }
    }
}
