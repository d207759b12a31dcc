//! CPU time of processes, from the kernel's own accounts.
//!
//! The total is nanoseconds from `/proc/PID/task/*/schedstat`, the user share is from `/proc/PID/stat`, which the
//! kernel samples at each tick (4 ms): good to a few percent over ten seconds, not over one. Threads that end
//! inside a window are lost from the total, so nothing here is measured while threads come and go.
//!
//! On a shared machine others take CPU as well. That is counted too (`Machine`), so that a disturbed slice is known.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// A process id.
pub(crate) type Pid = u32;

/// CPU time that a process has used since its start.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ProcessCpu {
    total: Duration,
    user_ticks: u64,
    system_ticks: u64,
}

/// CPU time that went to others since the machine's start, in ticks of 10 ms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Machine {
    foreign_ticks: u64,
    steal_ticks: u64,
}

/// Which processes a window is about.
#[derive(Debug, Clone)]
pub(crate) struct Meter {
    /// Whose CPU time is wanted.
    pub(crate) measured: Pid,
    /// Who else takes part, so that its CPU time is not foreign. The measured process and this one always do.
    pub(crate) participants: Vec<Pid>,
}

/// A window's beginning.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Opened {
    machine: Machine,
    measured: ProcessCpu,
}

/// What happened in a window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Usage {
    /// Of the measured process, all its threads.
    pub(crate) total_us: f64,
    /// The part of `total_us` in user space, tick-sampled.
    pub(crate) user_us: f64,
    /// Of all processes that take no part, and what the hypervisor gave to others.
    pub(crate) foreign_us: f64,
}

impl Meter {
    /// Begins a window. The measured process is read last, so that reading the others is not counted.
    pub(crate) fn open(&self) -> Result<Opened> {
        let machine = self.machine()?;
        Ok(Opened { machine, measured: ProcessCpu::of(self.measured)? })
    }

    /// Ends a window. The measured process is read first.
    pub(crate) fn close(&self, opened: &Opened) -> Result<Usage> {
        let measured = ProcessCpu::of(self.measured)?;
        let machine = self.machine()?;
        Ok(Usage::between(opened, &Opened { machine, measured }))
    }

    fn machine(&self) -> Result<Machine> {
        let mut foreign_ticks = 0;
        for entry in fs::read_dir("/proc")? {
            let Some(pid) = entry?.file_name().to_str().and_then(|name| name.parse::<Pid>().ok()) else {
                continue;
            };
            if pid == self.measured || pid == std::process::id() || self.participants.contains(&pid) {
                continue;
            }
            // A process that has just gone is counted by its parent.
            if let Ok(text) = fs::read_to_string(format!("/proc/{pid}/stat")) {
                foreign_ticks += Ticks::parse(&text)?.with_children;
            }
        }
        let steal_ticks = steal_ticks(&fs::read_to_string("/proc/stat")?)?;
        Ok(Machine { foreign_ticks, steal_ticks })
    }
}

impl Usage {
    fn between(opened: &Opened, closed: &Opened) -> Self {
        let total_us = (closed.measured.total.saturating_sub(opened.measured.total)).as_secs_f64() * 1e6;
        let user = closed.measured.user_ticks - opened.measured.user_ticks;
        let system = closed.measured.system_ticks - opened.measured.system_ticks;
        let user_share = user as f64 / ((user + system) as f64).max(1.0);
        let foreign = closed.machine.foreign_ticks.saturating_sub(opened.machine.foreign_ticks);
        let steal = closed.machine.steal_ticks.saturating_sub(opened.machine.steal_ticks);
        Self { total_us, user_us: total_us * user_share, foreign_us: ticks_us(foreign + steal) }
    }
}

/// CPU time that a process has used since its start, all its threads.
pub(crate) fn used_us(pid: Pid) -> Result<f64> {
    Ok(ProcessCpu::of(pid)?.total.as_secs_f64() * 1e6)
}

fn ticks_us(ticks: u64) -> f64 {
    ticks as f64 * 1e6 / rustix::param::clock_ticks_per_second() as f64
}

impl ProcessCpu {
    fn of(pid: Pid) -> Result<Self> {
        let mut nanoseconds = 0;
        for task in fs::read_dir(format!("/proc/{pid}/task")).with_context(|| format!("no process {pid}"))? {
            if let Ok(text) = fs::read_to_string(task?.path().join("schedstat")) {
                nanoseconds += first_number(&text)?;
            }
        }
        let ticks = Ticks::parse(&fs::read_to_string(format!("/proc/{pid}/stat"))?)?;
        Ok(Self {
            total: Duration::from_nanos(nanoseconds),
            user_ticks: ticks.user,
            system_ticks: ticks.system,
        })
    }
}

fn first_number(text: &str) -> Result<u64> {
    let word = text.split_ascii_whitespace().next().context("empty schedstat")?;
    word.parse().with_context(|| format!("schedstat begins with {word:?}"))
}

/// Fields 14 to 17 of `/proc/PID/stat` (proc(5)).
#[derive(Debug, PartialEq, Eq)]
struct Ticks {
    user: u64,
    system: u64,
    /// User and system, own and of children waited for.
    with_children: u64,
}

impl Ticks {
    /// The name in field 2 may hold spaces and brackets, so counting begins behind the last bracket.
    fn parse(stat: &str) -> Result<Self> {
        let (_, rest) = stat.rsplit_once(')').context("no name in stat")?;
        let times: Vec<u64> =
            rest.split_ascii_whitespace().skip(11).take(4).filter_map(|word| word.parse().ok()).collect();
        let [user, system, child_user, child_system] = times[..] else {
            anyhow::bail!("stat has too few fields: {stat:?}");
        };
        Ok(Self { user, system, with_children: user + system + child_user + child_system })
    }
}

/// Field 8 of the first line of `/proc/stat`.
fn steal_ticks(stat: &str) -> Result<u64> {
    let word = stat.split_ascii_whitespace().nth(8).context("no steal time in /proc/stat")?;
    word.parse().with_context(|| format!("steal time is {word:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_read_behind_a_name_with_brackets() {
        let stat = "12 (a) b) (c) S 1 1 1 0 -1 4194304 100 0 0 0 250 75 3 4 20 0 5 0 99 1 1";
        assert_eq!(Ticks::parse(stat).unwrap(), Ticks { user: 250, system: 75, with_children: 332 });
        assert!(Ticks::parse("12 (a) S 1 1").is_err());
    }

    #[test]
    fn steal_is_the_eighth_number() {
        assert_eq!(steal_ticks("cpu  1 2 3 4 5 6 7 88 9 10\ncpu0 1").unwrap(), 88);
    }

    #[test]
    fn user_share_divides_the_exact_total() {
        let reading = |total_ms, user_ticks, system_ticks, foreign_ticks| Opened {
            machine: Machine { foreign_ticks, steal_ticks: 5 },
            measured: ProcessCpu { total: Duration::from_millis(total_ms), user_ticks, system_ticks },
        };
        let usage = Usage::between(&reading(100, 1, 9, 1000), &reading(1100, 26, 84, 1003));
        assert_eq!(usage, Usage { total_us: 1_000_000.0, user_us: 250_000.0, foreign_us: 30_000.0 });
    }

    #[test]
    fn own_work_is_seen_and_not_foreign() {
        let meter = Meter { measured: std::process::id(), participants: vec![] };
        let opened = meter.open().unwrap();
        let start = crate::clock::monotonic();
        while crate::clock::monotonic() - start < Duration::from_millis(300) {}
        let usage = meter.close(&opened).unwrap();
        assert!(usage.total_us > 30_000.0, "{usage:?}");
        assert!(usage.user_us <= usage.total_us, "{usage:?}");
    }
}
