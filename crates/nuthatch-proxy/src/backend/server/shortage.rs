//! Whether this machine is short of processors, so that statements wait for the machine and not for a server.
//!
//! Told by the workers' own lateness: the kernel counts for each thread how long it was ready to run and did not
//! (`/proc/self/task/*/schedstat`, the second figure, in nanoseconds). Where a worker spends a fifth of the time so, whatever takes long
//! takes long for all, and one more connection only adds to the queue. Read every 20 ms while anybody waits for a
//! connection; where there are no such figures, nothing is said.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};

/// The time between two looks, in microseconds.
const LOOK_US: u64 = 20_000;

/// The machine is short if a worker was kept waiting for more than one part in so many of the time.
const SHARE: u64 = 5;

/// The names of the workers' threads begin so.
const WORKER: &str = "worker-";

/// See the module's doc. Shared by all who wait.
#[derive(Debug, Default)]
pub(in crate::backend) struct Shortage(AtomicBool);

impl Shortage {
    pub(in crate::backend) fn is_there(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(in crate::backend) fn tell(&self, is_there: bool) {
        self.0.store(is_there, Ordering::Relaxed);
    }
}

/// The figures of the workers' threads. Closed when this is dropped.
#[derive(Debug)]
pub(in crate::backend) struct RunQueue {
    threads: Vec<Thread>,
    looked_us: u64,
}

#[derive(Debug)]
struct Thread {
    figures: File,
    waited_ns: u64,
}

impl RunQueue {
    /// Begins to look, at `now_us`.
    pub(in crate::backend) fn new(now_us: u64) -> Self {
        let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
        let is_worker = |task: &fs::DirEntry| {
            fs::read_to_string(task.path().join("comm")).is_ok_and(|name| name.starts_with(WORKER))
        };
        let threads = tasks.filter(is_worker).filter_map(|task| {
            let figures = File::open(task.path().join("schedstat")).ok()?;
            Some(Thread { waited_ns: waited_ns(&figures)?, figures })
        });
        Self { threads: threads.collect(), looked_us: now_us }
    }

    /// Whether a worker was kept waiting too long since the last look; `None` before it is time for the next.
    pub(in crate::backend) fn look(&mut self, now_us: u64) -> Option<bool> {
        let passed_us = now_us.saturating_sub(self.looked_us);
        if passed_us < LOOK_US {
            return None;
        }
        self.looked_us = now_us;
        let longest_ns = self.threads.iter_mut().filter_map(Thread::waited_since).max();
        Some(is_short(longest_ns.unwrap_or(0), passed_us))
    }
}

impl Thread {
    fn waited_since(&mut self) -> Option<u64> {
        let waited_ns = waited_ns(&self.figures)?;
        Some(waited_ns.saturating_sub(std::mem::replace(&mut self.waited_ns, waited_ns)))
    }
}

fn is_short(waited_ns: u64, passed_us: u64) -> bool {
    waited_ns / 1000 * SHARE > passed_us
}

fn waited_ns(figures: &File) -> Option<u64> {
    let mut bytes = [0; 64];
    let len = figures.read_at(&mut bytes, 0).ok()?;
    let text = std::str::from_utf8(bytes.get(..len)?).ok()?;
    text.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fifth_of_the_time_is_too_long() {
        assert!(!is_short(0, 20_000));
        assert!(!is_short(4_000_000, 20_000));
        assert!(is_short(4_100_000, 20_000));
        assert!(is_short(20_000_000, 20_000));
    }

    #[test]
    fn looks_are_apart() {
        let mut queue = RunQueue::new(1_000_000);
        assert_eq!(queue.look(1_010_000), None);
        assert!(queue.look(1_020_000).is_some());
        assert_eq!(queue.look(1_030_000), None);
    }
}
