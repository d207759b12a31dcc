//! What can keep a statement from its answer, and what becomes of it: the one place where that is decided.

use nuthatch_wire::ErrorCode;

use crate::backend::CheckOutError;
use crate::roster::SessionEnd;
use crate::session::Session;
use crate::session::parts::{Account, Ground, Hands};
use crate::session::way::{Answered, Trouble, UNSUPPORTED_PS, reply};

impl Session {
    /// Tells the client what kept its statement from an answer, and ends the session where it must end.
    pub(crate) async fn reply_trouble(&mut self, trouble: Trouble) -> Result<(), SessionEnd> {
        let (sequence, code, message) = match trouble {
            Trouble::End(end) => return Err(end),
            Trouble::Refused(error) | Trouble::CheckOut(CheckOutError::Refused(error)) => {
                self.note_error(error.code, &error.message);
                self.client.send(&self.ground, &reply::err_of_server(&error)).await?;
                return go_on_unless_lost(&mut self.hands);
            }
            Trouble::CheckOut(error) => told_of_check_out(&self.ground, &self.account, error),
            Trouble::Lost(_, Answered::Some(None)) | Trouble::Cut(Answered::Some(None)) => {
                return Err(SessionEnd::Gone);
            }
            Trouble::Lost(error, answered) => {
                self.ground.worker.counters.lost_during_query.bump();
                tracing::info!(session = self.ground.handle.id, user = %self.account.name, %error,
                    "lost a server's connection during a statement");
                let message = "Lost connection to MySQL server during query".to_owned();
                (answered.next_sequence(), ErrorCode::SERVER_LOST, message)
            }
            Trouble::Cut(answered) => {
                self.ground.worker.counters.lost_during_query.bump();
                let message = "Server was taken offline during the statement".to_owned();
                (answered.next_sequence(), ErrorCode::SERVER_OFFLINE, message)
            }
            Trouble::RefusedAhead(refusal) => {
                tracing::warn!(session = self.ground.handle.id, user = %self.account.name, code = refusal.code,
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
        self.ground.worker.counters.generated_errors.bump();
        self.note_error(code.code, message.as_bytes());
        self.client.send(&self.ground, &reply::err(sequence, code, &message)).await?;
        go_on_unless_lost(&mut self.hands)
    }

    /// The session cannot have what it began with any more.
    async fn end_for_inheritance(&mut self, variable: &str) -> Result<(), SessionEnd> {
        let message = format!(
            "The server's default of '{variable}' was changed since this session's login, and the session may not set \
             it back: log in again"
        );
        self.ground.worker.counters.generated_errors.bump();
        self.client.send(&self.ground, &reply::err(1, ErrorCode::ABORTED_CONNECTION, &message)).await?;
        Err(SessionEnd::Gone)
    }
}

/// Why there is no connection; a server's own refusal is passed on as it is.
fn told_of_check_out(ground: &Ground, account: &Account, error: CheckOutError) -> (u8, ErrorCode, String) {
    match error {
        CheckOutError::Timeout { hostgroup, waited_ms, why } => {
            ground.worker.counters.connect_timeouts.bump();
            let message = format!(
                "Max connect timeout reached while reaching hostgroup {hostgroup} after {waited_ms}ms: {why}"
            );
            (1, ErrorCode::MAX_CONNECT_TIMEOUT, message)
        }
        CheckOutError::NoServer { hostgroup } => {
            let sender = match hostgroup == account.user.default_hostgroup {
                true => format!("the default_hostgroup of user '{}'", account.name),
                false => "a query rule".to_owned(),
            };
            let message =
                format!("No server stands in hostgroup {hostgroup}, to which {sender} sends the statement");
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
fn go_on_unless_lost(hands: &mut Hands) -> Result<(), SessionEnd> {
    if std::mem::take(&mut hands.has_lost_state) { Err(SessionEnd::Gone) } else { Ok(()) }
}
