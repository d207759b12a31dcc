//! What can go wrong in a lab, by who can mend it.

use std::io;
use std::path::PathBuf;

use nuthatch_server::ServerError;

use crate::role::Role;

/// Why a lab could not do what it was asked. Reads after "failed to".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabError {
    /// An option is out of its range; the caller mends it.
    #[error("use the lab's options: {what}")]
    BadOption {
        /// What is wrong, as a sentence.
        what: String,
    },
    /// There is no lab in this directory.
    #[error("open a lab in {}: there is none", dir.display())]
    NoLab {
        /// The directory.
        dir: PathBuf,
    },
    /// The directory holds something else, which is not touched.
    #[error("make a lab in {}: the directory is not empty and is no lab", dir.display())]
    NotALab {
        /// The directory.
        dir: PathBuf,
    },
    /// The lab that stands there was made with another shape.
    #[error("bring up the lab as asked: it was made with {have}, and {asked} is asked for; remove it first")]
    ShapeDiffers {
        /// What the lab has.
        have: String,
        /// What the options ask for.
        asked: String,
    },
    /// The lab has no such server.
    #[error("find {role}: this lab has no such server")]
    NoSuchServer {
        /// The server that was asked for.
        role: Role,
    },
    /// A file or process operation failed.
    #[error("{what} {}", path.display())]
    File {
        /// The operation, as a verb.
        what: &'static str,
        /// What it was tried on.
        path: PathBuf,
        /// The system's word.
        source: io::Error,
    },
    /// The state file is not what this version writes.
    #[error("read the lab's state in {}", path.display())]
    State {
        /// The state file.
        path: PathBuf,
        /// Where it is wrong.
        source: serde_json::Error,
    },
    /// A program, a file or an empty data directory of a server.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// A server ended while it was starting.
    #[error("start {role}: it ended at once; end of its log:\n{log_tail}")]
    Exited {
        /// The server.
        role: Role,
        /// Last lines of its error log.
        log_tail: String,
    },
    /// A server runs, but does not answer in time.
    #[error("start {role}: not ready after {waited_s} s: {reason}; end of its log:\n{log_tail}")]
    NotReady {
        /// The server.
        role: Role,
        /// Seconds waited.
        waited_s: u64,
        /// What the last attempt to talk to it said.
        reason: String,
        /// Last lines of its error log.
        log_tail: String,
    },
    /// A replica did not reach the wanted state in time.
    #[error("replicate to {role}: {reason}")]
    Replication {
        /// The replica.
        role: Role,
        /// What it says of itself.
        reason: String,
    },
    /// The lab was made without relays.
    #[error("cut what passes to a server: the lab has no relays; make it with --relays")]
    NoRelays,
    /// The relay before the servers does not do what it is told.
    #[error("relay: {reason}")]
    Relay {
        /// Its words.
        reason: String,
    },
    /// A server refused a statement, or could not be reached.
    #[error("run a statement on {role}: {message}")]
    Statement {
        /// The server.
        role: Role,
        /// The command-line client's message.
        message: String,
    },
    /// A server did not end, not even when killed.
    #[error("stop {role}: process {pid} does not end")]
    StillRunning {
        /// The server.
        role: Role,
        /// Its process.
        pid: i32,
    },
}

impl LabError {
    /// Makes a `map_err` argument for an operation on `path`.
    pub(crate) fn file(what: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { what, path, source }
    }
}
