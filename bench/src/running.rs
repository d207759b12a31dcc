//! A child process that does not outlive the benchmark.
//!
//! Its output goes to a file, the end of which is part of the error when the child dies early.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::affinity::Core;
use crate::clock::monotonic;
use crate::cpu::Pid;

/// How long a child may take to stop before it is killed.
const STOP_WAIT: Duration = Duration::from_secs(10);

/// How often a child that stops or starts is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Lines of a dead child's log that an error shows.
const LOG_LINES_SHOWN: usize = 15;

/// A child process; dropping stops it.
#[derive(Debug)]
pub(crate) struct Running {
    name: String,
    child: Child,
    log: PathBuf,
}

impl Running {
    /// Started on `core` with its output in `log`.
    pub(crate) fn spawn(name: &str, command: &mut Command, core: Core, log: &Path) -> Result<Self> {
        let file = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
        command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
        let program = command.get_program().display().to_string();
        let child = core.spawn(command).with_context(|| format!("cannot start {program}"))?;
        Ok(Self { name: name.to_owned(), child, log: log.to_owned() })
    }

    /// Its process.
    pub(crate) fn pid(&self) -> Pid {
        self.child.id()
    }

    /// An error with the end of its log if the child has ended.
    pub(crate) fn require_alive(&mut self) -> Result<()> {
        match self.child.try_wait()? {
            None => Ok(()),
            Some(status) => bail!("{} ended ({status}):\n{}", self.name, self.log_tail()),
        }
    }

    /// Waits until `attempt` succeeds; an error if the child ends or the time is over.
    pub(crate) fn wait_until(
        &mut self,
        limit: Duration,
        mut attempt: impl FnMut() -> Result<()>,
    ) -> Result<()> {
        let deadline = monotonic() + limit;
        loop {
            self.require_alive()?;
            match attempt() {
                Ok(()) => return Ok(()),
                Err(error) if monotonic() > deadline => {
                    let waited = limit.as_secs();
                    return Err(error.context(format!(
                        "{} is not ready after {waited} s:\n{}",
                        self.name,
                        self.log_tail()
                    )));
                }
                Err(_) => std::thread::sleep(LOOK_EVERY),
            }
        }
    }

    fn log_tail(&self) -> String {
        let text = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<_> = text.lines().collect();
        lines[lines.len().saturating_sub(LOG_LINES_SHOWN)..].join("\n")
    }

    fn stop(&mut self) -> Result<()> {
        let pid = rustix::process::Pid::from_raw(self.pid().cast_signed()).context("process 0")?;
        if self.child.try_wait()?.is_some() {
            return Ok(());
        }
        rustix::process::kill_process(pid, rustix::process::Signal::TERM)?;
        let deadline = monotonic() + STOP_WAIT;
        while self.child.try_wait()?.is_none() {
            if monotonic() > deadline {
                self.child.kill()?;
                self.child.wait()?;
            }
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Nothing is left to do for a child that cannot even be killed.
        drop(self.stop());
    }
}

/// As many descriptors as the system allows, here and in the children.
pub(crate) fn raise_open_files() -> Result<()> {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit })
        .context("cannot raise the limit of open files")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::affinity::LOAD;

    #[test]
    fn an_early_death_is_told_with_the_childs_last_words() {
        let directory = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "echo port taken >&2; exit 3"]);
        let log = directory.path().join("log");
        let mut running = Running::spawn("the server", &mut command, LOAD, &log).unwrap();
        let error = running.wait_until(Duration::from_secs(10), || bail!("not yet")).unwrap_err().to_string();
        assert!(error.contains("the server ended (exit status: 3):\nport taken"), "{error}");
    }

    #[test]
    fn dropping_stops_the_child() {
        let directory = tempfile::tempdir().unwrap();
        let log = directory.path().join("log");
        let running = Running::spawn("sleep", Command::new("sleep").arg("60"), LOAD, &log).unwrap();
        let process = PathBuf::from(format!("/proc/{}", running.pid()));
        assert!(process.exists());
        drop(running);
        assert!(!process.exists());
    }
}
