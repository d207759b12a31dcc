//! The proxy's time: milliseconds and microseconds since its start on Tokio's pausable clock, and the wall clock's
//! seconds derived from them.
//!
//! This is the one place where the data plane asks for wall time, once, at its start.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

/// Counts from the start of the proxy.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    started: Instant,
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
        Self { started: Instant::now(), started_unix }
    }

    /// Microseconds since the start.
    #[must_use]
    pub fn now_us(&self) -> u64 {
        let elapsed = self.started.elapsed();
        elapsed.as_secs() * 1_000_000 + u64::from(elapsed.subsec_micros())
    }

    /// Both at once.
    pub(crate) fn now(&self) -> Now {
        let us = self.now_us();
        Now { us, ms: us / 1000 }
    }

    /// Milliseconds since the start.
    #[must_use]
    pub fn now_ms(&self) -> u64 {
        let elapsed = self.started.elapsed();
        elapsed.as_secs() * 1000 + u64::from(elapsed.subsec_millis())
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
