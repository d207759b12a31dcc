//! What a server says in the place of an answer when it serves a connection no more.
//!
//! Such an error is not the statement's: to its client the connection is lost, and a statement that may be asked again is asked of
//! another server. Two kinds are known, by looking at MySQL 9.7 and MariaDB 10.11:
//!
//! - a packet with the number 0: the server has said it of itself, before it has read a byte of the statement, which is not
//!   run. MySQL ends connections by `wait_timeout` with such a packet (4031), which may cross with a statement on its way;
//! - `ER_SERVER_SHUTDOWN`: a shutdown has interrupted the statement. What that had done is unknown.
//!
//! Not among them is `ER_UNKNOWN_COM_ERROR` of a node of Galera outside its cluster: it may come in the middle of a procedure that has
//! committed before, and the connection goes on.

use nuthatch_wire::{AnswerScanner, ErrPacket, ErrorCode, FrameHeader, HEADER_LEN};

/// `ER_CLIENT_INTERACTION_TIMEOUT` of MySQL.
const IDLE_FOR_TOO_LONG: u16 = 4031;

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct Goodbye {
    pub(crate) refusal: ErrPacket,
    pub(crate) asked: Asked,
}

/// Whether a server that says goodbye has read what it was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// Surely nothing of it.
    Unread,
    /// It may have.
    MaybeRead,
}

impl Goodbye {
    /// What an answer is, if it is one: `bytes` are the first of it, and `scanner` has just consumed so many of them.
    pub(crate) fn of(scanner: &AnswerScanner, bytes: &[u8], consumed: usize) -> Option<Self> {
        let refusal = scanner.refusal()?;
        // Rows before it, or results, are an answer.
        let header =
            FrameHeader::parse(bytes).filter(|header| header.payload_len + HEADER_LEN == consumed)?;
        let asked = asked_by(header.sequence, refusal)?;
        Some(Self { refusal: refusal.clone(), asked })
    }
}

/// What has become of what was asked, if that is a goodbye.
fn asked_by(sequence: u8, refusal: &ErrPacket) -> Option<Asked> {
    const SHUTDOWN: u16 = ErrorCode::SERVER_SHUTDOWN.code;
    const KILLED: u16 = ErrorCode::CONNECTION_KILLED.code;
    match (sequence, refusal.code) {
        (0, IDLE_FOR_TOO_LONG | KILLED | SHUTDOWN) => Some(Asked::Unread),
        // Whoever numbers its packets so: no statement is answered by that.
        (0, _) | (_, SHUTDOWN) => Some(Asked::MaybeRead),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(code: u16, message: &str) -> ErrPacket {
        ErrPacket { code, sql_state: *b"HY000", message: message.as_bytes().into() }
    }

    #[test]
    fn goodbyes_are_told_from_errors_of_statements() {
        for (sequence, code, message, expected) in [
            (
                0,
                4031,
                "The client was disconnected by the server because of inactivity.",
                Some(Asked::Unread),
            ),
            (0, 1927, "Connection was killed", Some(Asked::Unread)),
            (0, 1105, "Unknown error", Some(Asked::MaybeRead)),
            (1, 1053, "Server shutdown in progress", Some(Asked::MaybeRead)),
            (1, 1047, "WSREP has not yet prepared node for application use", None),
            (1, 1317, "Query execution was interrupted", None),
            (1, 1064, "You have an error in your SQL syntax", None),
        ] {
            assert_eq!(asked_by(sequence, &refusal(code, message)), expected, "{code}");
        }
    }
}
