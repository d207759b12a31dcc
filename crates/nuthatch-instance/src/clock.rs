//! The time of day, which people read and which outlives processes, and stretches of it that are measured.

use std::time::{Duration, Instant};

/// Seconds since 1970.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "instances outlive the process; no Tokio clock does")]
pub(crate) fn now_s() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// A moment as a name that sorts by time: `20261129T095226Z`.
pub(crate) fn stamp(seconds: u64) -> String {
    let moment = i64::try_from(seconds).ok().and_then(|s| time::OffsetDateTime::from_unix_timestamp(s).ok());
    let Some(at) = moment else { return seconds.to_string() };
    format!(
        "{:04}{:02}{:02}T{:02}{:02}{:02}Z",
        at.year(),
        u8::from(at.month()),
        at.day(),
        at.hour(),
        at.minute(),
        at.second()
    )
}

/// Since when something goes on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    #[expect(clippy::disallowed_methods, reason = "bytes move on the machine's clock, not on Tokio's")]
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    #[expect(clippy::disallowed_methods, reason = "bytes move on the machine's clock, not on Tokio's")]
    pub(crate) fn elapsed(self) -> Duration {
        Instant::now() - self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_sort_by_time() {
        assert_eq!(stamp(0), "19700101T000000Z");
        assert_eq!(stamp(1_795_945_946), "20261129T095226Z");
    }
}
