//! How many new connections a hostgroup gets in a second.
//!
//! Spread evenly: what a tenth of a second allows may come at once, no more than that is saved up.

use std::sync::atomic::{AtomicU64, Ordering};

/// As many microseconds' worth may come at once.
const BURST_US: u64 = 100_000;

/// From this many a second on nothing is held back: ProxySQL's default.
const UNLIMITED_PER_SECOND: u64 = 1_000_000;

/// See the module's doc. Holds when the next connection would be due.
#[derive(Debug, Default)]
pub(in crate::backend) struct Throttle(AtomicU64);

impl Throttle {
    /// Whether a connection may be opened at `now_us`; it is counted then.
    pub(in crate::backend) fn admits(&self, now_us: u64, per_second: u64) -> bool {
        if per_second >= UNLIMITED_PER_SECOND {
            return true;
        }
        let interval_us = 1_000_000 / per_second.max(1);
        let ahead_max_us = BURST_US.saturating_sub(interval_us);
        let due = |due_us: u64| due_us.max(now_us);
        let next = |due_us| (due(due_us) - now_us <= ahead_max_us).then(|| due(due_us) + interval_us);
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, next).is_ok()
    }

    /// The connection that was counted last did not come to be.
    pub(in crate::backend) fn give_back(&self, per_second: u64) {
        if per_second < UNLIMITED_PER_SECOND {
            self.0.fetch_sub(1_000_000 / per_second.max(1), Ordering::AcqRel);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_come_than_a_second_allows() {
        for per_second in [1, 7, 10, 500, 999_999] {
            let throttle = Throttle::default();
            let second = 5_000_000..6_000_000;
            let admitted = second
                .step_by(1000)
                .flat_map(|now_us| (0..2000).map(move |_| now_us))
                .filter(|now_us| throttle.admits(*now_us, per_second));
            let admitted = admitted.count() as u64;
            assert!(
                admitted >= per_second && admitted <= per_second + per_second / 10 + 1,
                "{admitted} of {per_second}"
            );
        }
    }

    #[test]
    fn what_was_not_used_is_given_back() {
        let throttle = Throttle::default();
        assert!(throttle.admits(1_000_000, 10));
        assert!(!throttle.admits(1_030_000, 10));
        assert!(throttle.admits(1_100_000, 10));
        assert!(!throttle.admits(1_130_000, 10));
        throttle.give_back(10);
        assert!(throttle.admits(1_130_000, 10));
        assert!(throttle.admits(1_130_000, UNLIMITED_PER_SECOND));
    }
}
