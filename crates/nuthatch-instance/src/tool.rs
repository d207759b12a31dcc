//! Programs of the servers that do a part of the work: each ends with this process, and says why it did not do it.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use nuthatch_server::{Program, ServerError, tail};

use crate::account::Account;
use crate::error::InstanceError;

/// Takes a backup of a MariaDB that runs, and makes its files a data directory again.
pub(crate) const MARIADB_BACKUP: Program = Program {
    name: "mariadb-backup",
    remedy: "install Debian's mariadb-backup, of the server's own series (tools/side-apt.sh takes it too)",
};

/// Unpacks what `mariadb-backup` streams; comes with it.
pub(crate) const MBSTREAM: Program = Program { name: "mbstream", remedy: MARIADB_BACKUP.remedy };

/// Has `program` end when the thread that starts it does; it is the account's process, if root works for another.
///
/// It is killed: what it works on is thrown away then, and a MariaDB that is asked to end while it starts can hang.
///
/// (`setpriv` of util-linux, which Debian always has: what it does takes `unsafe` code otherwise.)
pub(crate) fn tied(program: &Path, account: Option<&Account>) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL"]);
    if let Some(account) = account {
        command.arg(format!("--reuid={}", account.uid)).arg(format!("--regid={}", account.gid));
        command.arg("--clear-groups");
    }
    command.arg(program).stdin(Stdio::null());
    command
}

/// A program that runs, and the file that it complains to.
pub(crate) struct Running {
    child: Child,
    program: PathBuf,
    log: PathBuf,
}

impl Running {
    /// Starts it; what it complains of goes to `log`.
    pub(crate) fn start(command: &mut Command, program: &Path, log: &Path) -> Result<Self, InstanceError> {
        let file = File::create(log).map_err(ServerError::file("write", log))?;
        let child = command.stderr(file).spawn().map_err(ServerError::file("run", program))?;
        Ok(Self { child, program: program.into(), log: log.into() })
    }

    /// The process.
    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Waits for its end, which must be a success.
    pub(crate) fn done(mut self, doing: &'static str) -> Result<(), InstanceError> {
        drop(self.child.stdin.take());
        let status = self.child.wait().map_err(ServerError::file("wait for", &self.program))?;
        if status.success() {
            return Ok(());
        }
        Err(self.failed(doing, status))
    }

    fn failed(&self, doing: &'static str, status: ExitStatus) -> InstanceError {
        InstanceError::Tool {
            doing,
            program: self.program.display().to_string(),
            status,
            log_tail: complaint(&self.log),
        }
    }
}

impl Drop for Running {
    /// Nobody waits for it any more.
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            drop(self.child.kill());
            drop(self.child.wait());
        }
    }
}

/// Runs it to its end; what it says goes to `log` too.
pub(crate) fn run(
    command: &mut Command,
    program: &Path,
    log: &Path,
    doing: &'static str,
) -> Result<(), InstanceError> {
    command.stdout(Stdio::null());
    Running::start(command, program, log)?.done(doing)
}

/// A line that is longer says nothing to a person.
const LINE_MAX: usize = 400;

/// The lines of a log that say what went wrong, else its last.
fn complaint(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let is_error = |line: &&str| {
        let line = line.to_ascii_lowercase();
        line.contains("error") || line.contains("failed")
    };
    // Dumps of pages are what was in them, and nobody's to read here.
    let is_dump = |line: &&str| line.len() > LINE_MAX;
    let errors: Vec<&str> = text.lines().filter(is_error).filter(|line| !is_dump(line)).take(5).collect();
    if errors.is_empty() {
        let tail = tail(log);
        return tail.lines().filter(|line| !is_dump(line)).collect::<Vec<_>>().join("\n");
    }
    errors.join("\n")
}
