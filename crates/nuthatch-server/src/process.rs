//! Server processes that are known beyond the life of the process that started them.
//!
//! A process id alone is no identity: after the process ended, the number may belong to another one. So a
//! process is remembered with its start time and the boot it belongs to, and is signalled through a
//! descriptor that was opened before that identity was checked.

use std::fs;

use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, pidfd_open, pidfd_send_signal, waitpid};
use serde::{Deserialize, Serialize};

/// Fields of `/proc/PID/stat` after the command's closing parenthesis: proc_pid_stat(5), field 3 is the
/// first.
const STATE_FIELD: usize = 0;
const START_FIELD: usize = 19;

/// The identity of one process on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessMark {
    pid: i32,
    /// Clock ticks between boot and the start of the process.
    start_ticks: u64,
    boot: String,
}

/// What is found under a process id.
struct Seen {
    zombie: bool,
    start_ticks: u64,
}

impl ProcessMark {
    /// The identity of the running process `pid`; `None` when there is none.
    #[must_use]
    pub fn of(pid: u32) -> Option<Self> {
        let pid = i32::try_from(pid).ok()?;
        let seen = look(pid).filter(|seen| !seen.zombie)?;
        Some(Self { pid, start_ticks: seen.start_ticks, boot: boot()? })
    }

    /// Its number.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// When it started, in clock ticks since boot.
    #[must_use]
    pub fn start_ticks(&self) -> u64 {
        self.start_ticks
    }

    /// Whether this very process still runs. One that has ended is reaped if it was this process's child.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        match look(self.pid) {
            Some(seen) if seen.zombie => !self.reap(),
            Some(seen) => seen.start_ticks == self.start_ticks && boot().as_ref() == Some(&self.boot),
            None => false,
        }
    }

    /// See [`stands_still`].
    #[must_use]
    pub fn stands_still(&self) -> bool {
        stands_still(self.pid)
    }

    /// Sends the signal to this very process, or to nobody if it has ended.
    pub fn signal(&self, signal: Signal) {
        let Some(pid) = Pid::from_raw(self.pid) else { return };
        let Ok(descriptor) = pidfd_open(pid, PidfdFlags::empty()) else { return };
        if self.is_alive() && pidfd_send_signal(&descriptor, signal).is_err() {
            tracing::debug!(pid = self.pid, "the process ended before it could be signalled");
        }
    }

    /// Whether nothing of it is left that keeps its files: its number lasts until its last thread has ended too.
    fn reap(&self) -> bool {
        match waitpid(Pid::from_raw(self.pid), WaitOptions::NOHANG) {
            Ok(ended) => ended.is_some(),
            // It belongs to another parent, and its first thread may have ended before the others.
            Err(_) => {
                fs::read_dir(format!("/proc/{}/task", self.pid)).is_ok_and(|threads| threads.count() <= 1)
                    || look(self.pid).is_none()
            }
        }
    }
}

fn look(pid: i32) -> Option<Seen> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = state_and_on(&stat)?.split_ascii_whitespace().collect();
    Some(Seen {
        zombie: ["Z", "X"].contains(fields.get(STATE_FIELD)?),
        start_ticks: fields.get(START_FIELD)?.parse().ok()?,
    })
}

/// Whether none of the process's threads runs, after a SIGSTOP: they stop one after the other. Not so if there is no such process.
#[must_use]
pub fn stands_still(pid: i32) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return false };
    let stats = threads.flatten().map(|thread| fs::read_to_string(thread.path().join("stat")));
    // A thread that has ended meanwhile runs no more.
    stats.flatten().all(|stat| state_and_on(&stat).is_some_and(|fields| fields.starts_with(['T', 'Z', 'X'])))
}

/// What stands behind the command, which may have any characters.
fn state_and_on(stat: &str) -> Option<&str> {
    stat.rsplit_once(')').map(|(_, fields)| fields.trim_start())
}

fn boot() -> Option<String> {
    Some(fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use std::process::{Command, id};

    use super::*;

    #[test]
    fn own_process_is_alive() {
        assert!(ProcessMark::of(id()).unwrap().is_alive());
    }

    #[test]
    fn reused_pid_is_not_the_same_process() {
        let mut mark = ProcessMark::of(id()).unwrap();
        mark.start_ticks -= 1;
        assert!(!mark.is_alive());
        let other_boot = ProcessMark { boot: "another".into(), ..ProcessMark::of(id()).unwrap() };
        assert!(!other_boot.is_alive());
    }

    #[test]
    fn killed_child_is_dead_and_reaped() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let mark = ProcessMark::of(child.id()).unwrap();
        mark.signal(Signal::KILL);
        while mark.is_alive() {
            std::thread::yield_now();
        }
        assert!(look(mark.pid).is_none(), "a zombie is left");
        assert!(child.wait().is_err(), "it was reaped before");
    }
}
