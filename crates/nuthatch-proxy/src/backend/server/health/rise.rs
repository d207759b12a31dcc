//! The rise of a server that comes back: its share of new work grows in ten steps (`mysql-slow_start_ms`).
//!
//! A server that was away has cold caches and few connections. Nobody tells this of its coming and going: who chooses among
//! servers finds it away, and later there again, and from that look on it rises. One that is new was away.
//!
//! Cost: one load for each server of a choice, and nothing where the variable is 0.

use std::sync::atomic::{AtomicU64, Ordering};

/// All of its share.
const STEPS: u64 = 10;

/// It has risen.
const UP: u64 = 0;
const AWAY: u64 = u64::MAX;

/// Since when it rises, in milliseconds of the clock, or one of the above.
#[derive(Debug)]
pub(in crate::backend) struct Rise(AtomicU64);

impl Default for Rise {
    fn default() -> Self {
        Self(AtomicU64::new(AWAY))
    }
}

impl Rise {
    /// It takes no new work now.
    pub(in crate::backend) fn is_away(&self) {
        if self.0.load(Ordering::Relaxed) != AWAY {
            self.0.store(AWAY, Ordering::Relaxed);
        }
    }

    /// How much of its share it gets now, in [`STEPS`], where it rises for `rise_ms`.
    pub(in crate::backend) fn steps(&self, now_ms: u64, rise_ms: u64) -> u64 {
        let since_ms = match self.0.load(Ordering::Relaxed) {
            UP => return STEPS,
            AWAY => {
                self.0.store(now_ms.max(1), Ordering::Relaxed);
                now_ms
            }
            since_ms => since_ms,
        };
        let risen_ms = now_ms.saturating_sub(since_ms);
        if risen_ms >= rise_ms {
            self.0.store(UP, Ordering::Relaxed);
            return STEPS;
        }
        1 + risen_ms * STEPS / rise_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn share_grows_in_ten_steps_from_the_first_look_behind_an_absence() {
        let rise = Rise::default();
        for (now_ms, steps) in
            [(5_000, 1), (5_099, 1), (5_100, 2), (5_550, 6), (5_999, 10), (6_000, 10), (5_000, 10)]
        {
            assert_eq!(rise.steps(now_ms, 1_000), steps, "{now_ms}");
        }
        rise.is_away();
        assert_eq!((rise.steps(9_000, 1_000), rise.steps(9_200, 1_000)), (1, 3));
        assert_eq!(rise.steps(9_200, 100), STEPS, "by another time it has risen");
    }
}
