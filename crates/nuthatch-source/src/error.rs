//! Why there is no picture of a server.

use std::fmt;

use nuthatch_net::NetError;
use thiserror::Error;

/// Why a server could not be looked at. No secret is in it.
#[derive(Debug, Error)]
pub enum PictureError {
    /// The account does not see everything, and what it does not see is not known to be absent.
    #[error("see all of the server's catalogue; give {0}")]
    MissingPrivileges(MissingPrivileges),
    /// The server could not be reached, refused the login, or its connection failed.
    #[error("reach the server")]
    Lost(#[from] NetError),
    /// The server refused a question.
    #[error("ask the server for {what}: it answered error {code}: {message}")]
    Refused {
        /// What was asked for.
        what: &'static str,
        /// The error's number.
        code: u16,
        /// The server's words.
        message: String,
    },
    /// An answer has another form than any known server gives it.
    #[error("understand the server's answer with {0}")]
    NotUnderstood(&'static str),
    /// An answer is larger than any that is read.
    #[error("hold the server's answer with {what}: it has more than {bytes_max} bytes")]
    TooLarge {
        /// What was asked for.
        what: &'static str,
        /// The limit.
        bytes_max: usize,
    },
}

/// Privileges that an account lacks. As text, the statement that gives them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingPrivileges {
    /// On all schemas, by the names that this server's GRANT has for them.
    pub privileges: Vec<&'static str>,
    /// The account, quoted, as the server has matched it.
    pub account: String,
}

impl fmt::Display for MissingPrivileges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GRANT {} ON *.* TO {}", self.privileges.join(", "), self.account)
    }
}
