//! Why an instance could not be worked on, by who can mend it.

use std::path::PathBuf;

use nuthatch_server::ServerError;

use crate::name::InstanceName;

/// Why something was not done. Reads after "failed to".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstanceError {
    /// What was asked for cannot be done as things are; nothing was touched.
    #[error("{0}")]
    Refused(String),
    /// There is no such instance.
    #[error("find {name}: there is no such instance in {}{}", root.display(), these(have))]
    NoInstance {
        /// Its name.
        name: InstanceName,
        /// Where it was looked for.
        root: PathBuf,
        /// Who is there.
        have: Vec<InstanceName>,
    },
    /// A file of ours is not as this version writes it, or a person has made a mistake in it.
    #[error("read {}: {what}", path.display())]
    BadFile {
        /// The file.
        path: PathBuf,
        /// What is wrong, with its line where that is known.
        what: String,
    },
    /// A server does not run, or cannot be reached.
    #[error("ask {name}: {what}")]
    Unreachable {
        /// The instance.
        name: InstanceName,
        /// Why.
        what: String,
    },
    /// A server refused a statement.
    #[error("have {name} do it: error {code}: {message}")]
    Statement {
        /// The instance.
        name: InstanceName,
        /// The error's number.
        code: u16,
        /// The server's words.
        message: String,
    },
    /// A server did not start.
    #[error("start {name}: {what}; end of its log:\n{log_tail}")]
    NotStarted {
        /// The instance.
        name: InstanceName,
        /// What happened to it.
        what: String,
        /// The last lines of its error log.
        log_tail: String,
    },
    /// A server did not end in time; it was not killed.
    #[error(
        "stop {name}: process {pid} has not ended after {waited_s} s, and goes on stopping; it was not killed"
    )]
    StillRunning {
        /// The instance.
        name: InstanceName,
        /// Its process.
        pid: i32,
        /// Seconds waited.
        waited_s: u64,
    },
    /// A program that does a part of the work has not done it.
    #[error("{doing}: {program} ended with {status}: {log_tail}")]
    Tool {
        /// What it was to do.
        doing: &'static str,
        /// The program.
        program: String,
        /// How it ended.
        status: std::process::ExitStatus,
        /// What it complained of.
        log_tail: String,
    },
    /// Programs or files of the server.
    #[error(transparent)]
    Server(#[from] ServerError),
}

fn these(have: &[InstanceName]) -> String {
    if have.is_empty() {
        return ", which has none yet".into();
    }
    let names: Vec<&str> = have.iter().map(InstanceName::as_str).collect();
    format!(", which has {}", names.join(", "))
}
