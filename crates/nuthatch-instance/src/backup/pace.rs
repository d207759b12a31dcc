//! How fast bytes are moved, and how many have been: one limit for all who move some at the same time.

use std::io::{self, Read, Write};
use std::time::Duration;

use parking_lot::Mutex;

use crate::clock::Stopwatch;
use crate::progress::{Moved, Progress, Step};

/// How many bytes are read at once.
const CHUNK_BYTES: usize = 256 << 10;

/// How often somebody hears of it.
const SAY_EVERY: Duration = Duration::from_millis(200);

/// What was sent ahead of its time is at most this much behind.
const BURST: Duration = Duration::from_millis(100);

/// A limit of bytes per second, which all share who have it.
#[derive(Debug)]
pub struct Pace {
    bytes_per_s: Option<u64>,
    started: Stopwatch,
    /// By when all that was taken so far may have been moved, since the start.
    due: Mutex<Duration>,
}

impl Pace {
    /// `None` limits nothing.
    #[must_use]
    pub fn new(bytes_per_s: Option<u64>) -> Self {
        Self { bytes_per_s, started: Stopwatch::start(), due: Mutex::new(Duration::ZERO) }
    }

    /// The limit.
    pub(crate) fn bytes_per_s(&self) -> Option<u64> {
        self.bytes_per_s
    }

    /// Waits until so many more bytes may be moved.
    fn take(&self, bytes: usize) {
        let Some(limit) = self.bytes_per_s else { return };
        let now = self.started.elapsed();
        let cost = Duration::from_nanos((bytes as u64).saturating_mul(1_000_000_000) / limit.max(1));
        let due = {
            let mut due = self.due.lock();
            *due = (*due).max(now.saturating_sub(BURST)) + cost;
            *due
        };
        std::thread::sleep(due.saturating_sub(now));
    }
}

/// Tells how far one piece of work has come.
pub(crate) struct Meter<'a> {
    what: String,
    total: Option<u64>,
    done: u64,
    said: Option<Stopwatch>,
    progress: &'a mut dyn Progress,
}

impl<'a> Meter<'a> {
    /// Of a piece of work, as it is called; `total` is how many bytes it is likely to be.
    pub(crate) fn new(what: String, total: Option<u64>, progress: &'a mut dyn Progress) -> Self {
        Self { what, total, done: 0, said: None, progress }
    }

    pub(crate) fn add(&mut self, bytes: usize) {
        self.set(self.done + bytes as u64);
    }

    /// So many in all.
    pub(crate) fn set(&mut self, done: u64) {
        self.done = done;
        if self.said.is_none_or(|said| said.elapsed() >= SAY_EVERY) {
            self.said = Some(Stopwatch::start());
            self.say(false);
        }
    }

    /// It is done.
    pub(crate) fn end(mut self) -> u64 {
        self.say(true);
        self.done
    }

    fn say(&mut self, over: bool) {
        let moved = Moved { what: self.what.clone(), done: self.done, total: self.total, over };
        self.progress.step(&Step::Moved(moved));
    }
}

/// Moves all that there is, at that pace.
pub(crate) fn pump(
    from: &mut dyn Read,
    to: &mut dyn Write,
    pace: &Pace,
    meter: &mut Meter<'_>,
) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let bytes = match from.read(&mut chunk) {
            Ok(0) => return Ok(()),
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        pace.take(bytes);
        to.write_all(&chunk[..bytes])?;
        meter.add(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_share_a_limit_keep_it_together() {
        let pace = Pace::new(Some(10 << 20));
        let started = Stopwatch::start();
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut nobody = |_: &Step| {};
                    let mut meter = Meter::new("x".into(), None, &mut nobody);
                    pump(&mut io::repeat(1).take(3 << 20), &mut io::sink(), &pace, &mut meter).unwrap();
                    assert_eq!(meter.end(), 3 << 20);
                });
            }
        });
        let took = started.elapsed();
        assert!(took >= Duration::from_millis(450), "6 MiB at 10 MiB/s took {took:?}");
        assert!(took <= Duration::from_secs(3), "{took:?}");
    }
}
