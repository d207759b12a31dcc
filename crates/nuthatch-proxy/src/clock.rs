//! The proxy's time: milliseconds and microseconds since its start on the kernel's monotonic clock, and the wall clock's
//! seconds derived from them.
//!
//! This is the one place where the data plane asks for wall time, once, at its start.
//!
//! Every statement takes one or two looks at the clock: it is read without the standard library's moments, whose differences cost as much
//! as the reading (70 instructions of a pass-through, 30 of a hit). Tests that pause Tokio's clock do not pause this one.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};

/// Counts from the start of the proxy.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    /// Nanoseconds of the monotonic clock.
    started_ns: u64,
    started_unix: Duration,
}

/// A moment since the start, in both units.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Now {
    pub(crate) us: u64,
    pub(crate) ms: u64,
}

impl Clock {
    /// Starts now.
    #[must_use]
    pub fn start() -> Self {
        #[expect(clippy::disallowed_methods, reason = "the one place where wall time is asked for")]
        let wall = SystemTime::now();
        let started_unix = wall.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { started_ns: monotonic_ns(), started_unix }
    }

    /// Microseconds since the start.
    #[must_use]
    pub fn now_us(&self) -> u64 {
        (monotonic_ns() - self.started_ns) / 1000
    }

    /// Both at once.
    pub(crate) fn now(&self) -> Now {
        let us = self.now_us();
        Now { us, ms: us / 1000 }
    }

    /// Milliseconds since the start.
    #[must_use]
    pub fn now_ms(&self) -> u64 {
        (monotonic_ns() - self.started_ns) / 1_000_000
    }

    /// Milliseconds since 1970 at `ms` milliseconds after the start.
    #[must_use]
    pub fn unix_ms_at(&self, ms: u64) -> u64 {
        let since_1970 = self.started_unix + Duration::from_millis(ms);
        since_1970.as_secs() * 1000 + u64::from(since_1970.subsec_millis())
    }

    /// Seconds since 1970 at `ms` milliseconds after the start.
    #[must_use]
    pub fn unix_seconds_at(&self, ms: u64) -> u64 {
        (self.started_unix + Duration::from_millis(ms)).as_secs()
    }
}

/// Nanoseconds of the kernel's clock that runs on while the machine sleeps (`CLOCK_BOOTTIME`), and while this process is stopped.
#[must_use]
pub fn boottime_ns() -> u64 {
    #[expect(clippy::disallowed_methods, reason = "the one place where time is asked for")]
    let now = clock_gettime(ClockId::Boottime);
    // Neither is ever negative.
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}

/// Nanoseconds of the kernel's monotonic clock, which never goes back.
fn monotonic_ns() -> u64 {
    #[expect(clippy::disallowed_methods, reason = "the one place where time is asked for")]
    let now = clock_gettime(ClockId::Monotonic);
    // Neither is ever negative.
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_agree_and_time_goes_on() {
        let clock = Clock::start();
        let before = clock.now();
        std::thread::sleep(Duration::from_millis(3));
        let after = clock.now();
        assert_eq!(after.ms, after.us / 1000);
        assert!(after.us - before.us >= 3000, "{before:?} {after:?}");
        assert!(clock.now_ms() >= after.ms && clock.now_us() >= after.us);
    }
}
