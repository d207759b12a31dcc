//! Why a binlog is not followed.

use nuthatch_net::{AskError, NetError};
use thiserror::Error;

/// What a server answers that is well again a moment later: `ER_CON_COUNT_ERROR`, `ER_SERVER_SHUTDOWN`, `ER_TOO_MANY_USER_CONNECTIONS`,
/// `ER_LOCK_WAIT_TIMEOUT`, `ER_LOCK_DEADLOCK`, `ER_USER_LIMIT_REACHED`, `ER_QUERY_INTERRUPTED`, MariaDB's `ER_CONNECTION_KILLED` and
/// `ER_STATEMENT_TIMEOUT`, MySQL's `ER_QUERY_TIMEOUT` and `ER_SERVER_ISNT_AVAILABLE`.
const PASSING: [u16; 11] = [1040, 1053, 1203, 1205, 1213, 1226, 1317, 1927, 1969, 3024, 3168];

/// See the module's doc. No secret is in it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FollowError {
    /// The connection is lost, or the server did not answer: it is tried again.
    #[error("{0}")]
    Lost(String),
    /// The server refuses, or is not what it must be, until somebody changes something there.
    #[error("{0}")]
    Refused(String),
    /// It is to be followed anew, as more or less can be promised then.
    #[error("{0}")]
    Anew(String),
}

impl From<NetError> for FollowError {
    fn from(error: NetError) -> Self {
        match &error {
            NetError::Refused(packet) if PASSING.contains(&packet.code) => Self::Lost(error.to_string()),
            error if error.is_refusal() => Self::Refused(error.to_string()),
            error => Self::Lost(error.to_string()),
        }
    }
}

impl From<AskError> for FollowError {
    fn from(error: AskError) -> Self {
        match error {
            AskError::Lost(error) => error.into(),
            AskError::Refused { code, .. } if PASSING.contains(&code) => Self::Lost(error.to_string()),
            other => Self::Refused(other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use nuthatch_wire::ErrPacket;

    use super::*;

    #[test]
    fn what_passes_by_itself_is_no_refusal() {
        for (code, is_refusal) in [(1040, false), (1053, false), (1142, true), (1227, true), (1146, true)] {
            let asked = FollowError::from(AskError::Refused { code, message: "why".to_owned() });
            let packet = ErrPacket { code, sql_state: *b"HY000", message: b"why".to_vec() };
            let logged_in = FollowError::from(NetError::Refused(packet));
            for error in [asked, logged_in] {
                assert_eq!(matches!(error, FollowError::Refused(_)), is_refusal, "{error:?}");
            }
        }
    }
}
