//! The monotonic clock that the benchmarks read.
//!
//! Everything here measures real time, so Tokio's pausable clock is of no use; this is the only place that asks
//! for the time. Cost: one vDSO call, about 20 ns.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Time since an arbitrary fixed point; never goes back.
pub(crate) fn monotonic() -> Duration {
    #[expect(clippy::disallowed_methods, reason = "the one place where benchmarks ask for time")]
    let now = clock_gettime(ClockId::Monotonic);
    let seconds = u64::try_from(now.tv_sec).expect("the monotonic clock starts at zero");
    let nanoseconds = u32::try_from(now.tv_nsec).expect("nanoseconds are below one second");
    Duration::new(seconds, nanoseconds)
}
