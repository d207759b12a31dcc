//! Why a binlog is not followed.

use nuthatch_net::{AskError, NetError};
use thiserror::Error;

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
        match error.is_refusal() {
            true => Self::Refused(error.to_string()),
            false => Self::Lost(error.to_string()),
        }
    }
}

impl From<AskError> for FollowError {
    fn from(error: AskError) -> Self {
        match error {
            AskError::Lost(error) => error.into(),
            other => Self::Refused(other.to_string()),
        }
    }
}
