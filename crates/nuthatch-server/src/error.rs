//! What can go wrong with a server's programs and files, by who can mend it.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

/// Why something could not be done with a server's programs or files. Reads after "failed to".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// A program of the server is not installed.
    #[error("find {program} in {}: {remedy}", places.join(", "))]
    ProgramMissing {
        /// Name of the program.
        program: &'static str,
        /// Directories that were searched.
        places: Vec<String>,
        /// What to do about it.
        remedy: &'static str,
    },
    /// There is no server where one was named.
    #[error("find a server in {}: neither usr/sbin/mariadbd nor usr/sbin/mysqld is there", path.display())]
    NoInstallation {
        /// The place that was named.
        path: PathBuf,
    },
    /// A password that no option file could hold.
    #[error("use the password: it is empty or has a control character")]
    BadPassword,
    /// A directory of empty data directories belongs to someone else, so nothing in it can be trusted.
    #[error("use {}: it belongs to another user, or others may write to it", path.display())]
    Untrusted {
        /// The directory.
        path: PathBuf,
    },
    /// The empty data directory could not be made.
    #[error("make an empty data directory: {program} ended with {status}; end of what it said:\n{log_tail}")]
    EmptyData {
        /// The program that makes it.
        program: &'static str,
        /// How it ended: a signal is somebody else's.
        status: ExitStatus,
        /// Its last lines.
        log_tail: String,
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
}

impl ServerError {
    /// Makes a `map_err` argument for an operation on `path`.
    pub fn file(what: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { what, path, source }
    }
}
