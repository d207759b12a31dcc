//! Which core a process runs on.
//!
//! The server under test has a core for itself; whatever drives it has the other. On more than two cores the rest
//! stay idle, so that numbers from different machines have the same shape.

use std::fs;
use std::io;
use std::process::{Child, Command};

use anyhow::{Context, Result, ensure};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::cpu::Pid;

/// A core's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Core(usize);

/// Where the server under test runs.
pub(crate) const SERVER: Core = Core(1);

/// Where the load generator runs, and the database while it stands behind a proxy.
pub(crate) const LOAD: Core = Core(0);

/// An error if this process may not use both cores.
pub(crate) fn require_both() -> Result<()> {
    let allowed = sched_getaffinity(None)?;
    ensure!(allowed.is_set(SERVER.0) && allowed.is_set(LOAD.0), "the benchmark needs cores 0 and 1");
    Ok(())
}

impl Core {
    fn set(self) -> CpuSet {
        let mut set = CpuSet::new();
        set.set(self.0);
        set
    }

    /// Started on this core, as are all threads that the child will ever start.
    pub(crate) fn spawn(self, command: &mut Command) -> io::Result<Child> {
        let before = sched_getaffinity(None)?;
        sched_setaffinity(None, &self.set())?;
        let child = command.spawn();
        sched_setaffinity(None, &before)?;
        child
    }

    /// Moves every thread of `pid` here; threads started later follow the one that starts them.
    pub(crate) fn take(self, pid: Pid) -> Result<()> {
        confine(pid, &self.set())
    }
}

/// Lets every thread of `pid` run on both cores.
pub(crate) fn release(pid: Pid) -> Result<()> {
    let mut both = SERVER.set();
    both.set(LOAD.0);
    confine(pid, &both)
}

fn confine(pid: Pid, cores: &CpuSet) -> Result<()> {
    for task in fs::read_dir(format!("/proc/{pid}/task")).with_context(|| format!("no process {pid}"))? {
        let name = task?.file_name();
        let thread = name.to_str().and_then(|name| name.parse().ok());
        let thread = thread.and_then(rustix::process::Pid::from_raw).context("a task without number")?;
        match sched_setaffinity(Some(thread), cores) {
            // The thread has ended since.
            Ok(()) | Err(rustix::io::Errno::SRCH) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn child_starts_on_its_core_and_can_be_moved() {
        let mut child = SERVER.spawn(Command::new("sleep").arg("30")).unwrap();
        let pid = rustix::process::Pid::from_raw(child.id().cast_signed()).unwrap();
        let is_only_on = |core: Core| sched_getaffinity(Some(pid)).unwrap() == core.set();
        assert!(is_only_on(SERVER));
        LOAD.take(child.id()).unwrap();
        assert!(is_only_on(LOAD));
        child.kill().unwrap();
        child.wait().unwrap();
        require_both().unwrap();
    }
}
