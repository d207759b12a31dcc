//! The time of day, which people read and which outlives processes.

/// Seconds since 1970.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "instances outlive the process; no Tokio clock does")]
pub(crate) fn now_s() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
