//! A higher priority for all that takes part, so that a busy machine disturbs a run less.
//!
//! Linux schedules session against session first (`sched_autogroup`), so a process's own nice value is not enough:
//! its session's is set as well, and set back when the guard is dropped.

use std::fs;

use anyhow::{Context, Result};
use rustix::process::setpriority_process;

use crate::cpu::Pid;

/// The sessions that were raised; dropping sets them back to 0.
#[derive(Debug)]
pub(crate) struct Priority {
    nice: i32,
    raised: Vec<Pid>,
}

impl Priority {
    /// This process, and all that it starts from now on, have this nice value. Below 0 needs root.
    pub(crate) fn of_this_process(nice: i32) -> Result<Self> {
        let mut priority = Self { nice, raised: vec![] };
        if nice != 0 {
            setpriority_process(None, nice).with_context(|| format!("cannot set nice {nice}"))?;
            priority.include(std::process::id())?;
        }
        Ok(priority)
    }

    /// The session of `pid` too, if it has one of its own.
    pub(crate) fn include(&mut self, pid: Pid) -> Result<()> {
        if self.nice != 0 && fs::exists(autogroup(pid))? {
            fs::write(autogroup(pid), self.nice.to_string())
                .with_context(|| format!("cannot set nice {} for the session of {pid}", self.nice))?;
            self.raised.push(pid);
        }
        Ok(())
    }
}

impl Drop for Priority {
    fn drop(&mut self) {
        for &pid in &self.raised {
            // The process may have ended with its session.
            drop(fs::write(autogroup(pid), "0"));
        }
    }
}

fn autogroup(pid: Pid) -> String {
    format!("/proc/{pid}/autogroup")
}
