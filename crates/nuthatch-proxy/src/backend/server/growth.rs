//! When a server gets one more connection.
//!
//! A server that stands still for a moment (a flush, a lock, a stolen core) would be given a connection for each statement
//! that comes meanwhile, and be left with hundreds that nobody needs. So while a few statements are under way there, the next
//! waits in line for a connection that is put back; one is opened for it when waiting does not help, and further ones at a
//! rate that grows for as long as it does not: the control law of `CoDel` (RFC 8289), which drops packets from a queue by the same
//! evidence. Waiting does not help when the first in line has stood there for a while, or when the line has not been empty for a
//! longer while, however fast it moves: the server is given more work than these connections carry. A standstill of half a second
//! costs about thirty connections; a hundred long statements at once, or a hundred busy clients, have theirs within a second.
//!
//! Where the machine itself is short of processors ([`crate::backend::server::shortage`]), all lines are long and no connection shortens them: then waiting
//! is in vain only where the line does not move at all.
//!
//! Connections that sessions hold between statements (an open transaction) do not count: they say nothing of the server.

use parking_lot::Mutex;

/// With fewer statements under way one is opened at once: each may have a core or a disk to itself.
const UNDER_WAY_FREE: usize = 8;

/// Waiting that is no sign of anything, in microseconds.
const WAIT_FREE_US: u64 = 2_000;

/// A line that is longer without a gap is no burst, in microseconds.
const STANDING_FREE_US: u64 = 20_000;

/// A line that has not moved for longer stands still whatever the machine does, in microseconds.
const STILL_FREE_US: u64 = 50_000;

/// See the module's doc.
#[derive(Debug, Default)]
pub(in crate::backend) struct Growth(Mutex<Pace>);

/// Connections opened one after the other because waiting did not help.
#[derive(Debug, Default)]
struct Pace {
    opened: u32,
    next_us: u64,
}

/// Who asks for a connection.
#[derive(Debug, Clone, Copy)]
pub(in crate::backend) struct Asking {
    /// Now, in microseconds.
    pub(in crate::backend) now_us: u64,
    /// Since when it waits.
    pub(in crate::backend) since_us: u64,
    /// Since when somebody has been waiting all the time.
    pub(in crate::backend) standing_since_us: Option<u64>,
    /// When somebody left the line last, if the machine is short of processors.
    pub(in crate::backend) moved_us: Option<u64>,
}

impl Growth {
    /// Whether one may be opened, with that many statements under way; it is counted as opened then. `interval_us` is the
    /// time from the first to the second; with 0 all may be.
    pub(in crate::backend) fn admits(
        &self,
        asking: Asking,
        interval_us: u64,
        under_way: impl FnOnce() -> usize,
    ) -> bool {
        if interval_us == 0 || under_way() < UNDER_WAY_FREE {
            return true;
        }
        if asking.waits_in_vain() { self.0.lock().admits(asking.now_us, interval_us) } else { false }
    }
}

impl Asking {
    fn waits_in_vain(self) -> bool {
        let for_longer = |since_us, free_us| self.now_us.saturating_sub(since_us) >= free_us;
        if let Some(moved_us) = self.moved_us {
            return for_longer(self.since_us.max(moved_us), STILL_FREE_US);
        }
        for_longer(self.since_us, WAIT_FREE_US)
            || self.standing_since_us.is_some_and(|since_us| for_longer(since_us, STANDING_FREE_US))
    }
}

impl Pace {
    fn admits(&mut self, now_us: u64, interval_us: u64) -> bool {
        if now_us < self.next_us {
            return false;
        }
        // Nobody has asked in vain for a while: what was learned is over.
        if now_us > self.next_us + interval_us {
            self.opened = 0;
        }
        self.opened += 1;
        // The interval by the root of the count, in whole numbers.
        self.next_us = now_us + (interval_us.pow(2) / u64::from(self.opened)).isqrt();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL_US: u64 = 50_000;

    /// Connections opened in `us` for a line whose first has stood there all the time.
    fn opened_in(growth: &Growth, from_us: u64, us: u64) -> usize {
        let asking =
            |now_us| Asking { now_us, since_us: from_us, standing_since_us: Some(from_us), moved_us: None };
        let ask = |now_us: &u64| growth.admits(asking(*now_us), INTERVAL_US, || UNDER_WAY_FREE);
        (from_us..from_us + us).step_by(100).filter(ask).count()
    }

    #[test]
    fn standstill_opens_few_and_need_opens_many() {
        assert_eq!(opened_in(&Growth::default(), 1_000_000, 1_900), 0);
        assert_eq!(opened_in(&Growth::default(), 1_000_000, 50_000), 1);
        let in_half_a_second = opened_in(&Growth::default(), 1_000_000, 500_000);
        assert!((28..=36).contains(&in_half_a_second), "{in_half_a_second}");
        let in_a_second = opened_in(&Growth::default(), 1_000_000, 1_000_000);
        assert!((105..=125).contains(&in_a_second), "{in_a_second}");
    }

    #[test]
    fn line_that_moves_and_never_ends_opens_too() {
        let growth = Growth::default();
        let ask = |now_us| {
            let asking =
                Asking { now_us, since_us: now_us - 500, standing_since_us: Some(1_000_000), moved_us: None };
            growth.admits(asking, INTERVAL_US, || UNDER_WAY_FREE)
        };
        let opened = |from_ms: u64, to_ms: u64| (from_ms..to_ms).filter(|ms| ask(ms * 1_000)).count();
        assert_eq!(opened(1_000, 1_020), 0, "a burst");
        assert_eq!(opened(1_020, 1_060), 1);
        assert!(opened(1_060, 2_060) > 90);
    }

    #[test]
    fn machine_that_is_short_opens_for_a_line_that_stands_still_only() {
        let opened = |moved_before_us: u64| {
            let growth = Growth::default();
            let ask = |now_us: &u64| {
                let asking = Asking {
                    now_us: *now_us,
                    since_us: 1_000_000,
                    standing_since_us: Some(1_000_000),
                    moved_us: Some(now_us - moved_before_us),
                };
                growth.admits(asking, INTERVAL_US, || UNDER_WAY_FREE)
            };
            (1_000_000..2_000_000).step_by(1_000).filter(ask).count()
        };
        assert_eq!(opened(10_000), 0, "it moves, however long it is");
        assert!(opened(900_000) > 80, "nothing is put back");
    }

    #[test]
    fn after_a_pause_it_begins_anew() {
        let growth = Growth::default();
        opened_in(&growth, 1_000_000, 1_000_000);
        assert_eq!(opened_in(&growth, 3_000_000, 50_000), 1);
    }

    #[test]
    fn few_statements_and_no_interval_open_at_once() {
        let growth = Growth::default();
        let asking = Asking { now_us: 5, since_us: 5, standing_since_us: None, moved_us: None };
        assert!(growth.admits(asking, INTERVAL_US, || UNDER_WAY_FREE - 1));
        assert!(growth.admits(asking, 0, || 1_000));
        assert!(!growth.admits(asking, INTERVAL_US, || UNDER_WAY_FREE));
    }
}
