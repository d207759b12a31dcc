//! Until when what is stored of a server may be served.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use crate::clock::boottime_ns;

/// See the module's doc. A moment is one of the kernel's clock that runs on while the machine sleeps (`CLOCK_BOOTTIME`), in nanoseconds;
/// milliseconds are those since the proxy's start.
#[derive(Debug, Default)]
pub struct Horizon {
    until_ns: AtomicU64,
    /// The same for transactions with a snapshot, whenever that was opened.
    snapshots_until_ns: AtomicU64,
    /// All is carried that was written before.
    reached_ms: AtomicU64,
    /// The latest snapshot, or answer of a replica, that waits for that is of then.
    awaited_ms: AtomicU64,
}

/// Of which moment an answer is to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AsOf {
    /// What is so now.
    Now,
    /// A transaction with a snapshot that was open by then, in milliseconds since the start; `u64::MAX` if it may not be open yet.
    Snapshot {
        /// See above.
        opened_ms: u64,
        /// A replica has opened it, which may show what has not been carried yet, whatever is promised of its primary.
        by_replica: bool,
    },
}

impl Horizon {
    /// Whether an entry may be served now that was complete by then. To be asked when the command is there: what was written later is later
    /// than the command.
    ///
    /// Within a bound a snapshot is given what it shows only if all is carried that was written before it was opened, which it shows, and before
    /// the answer was complete, which may show what the snapshot does not. Clocks tell the rest.
    ///
    /// Cost: a load and a look at the clock; two more for a snapshot.
    #[inline]
    pub(crate) fn holds(&self, of: AsOf, created_ms: u64) -> bool {
        let now_ns = boottime_ns();
        match of {
            AsOf::Now => now_ns < self.until_ns.load(SeqCst),
            AsOf::Snapshot { opened_ms, by_replica } => {
                !by_replica && now_ns < self.snapshots_until_ns.load(SeqCst)
                    || now_ns < self.until_ns.load(SeqCst) && self.has_reached_past(opened_ms.max(created_ms))
            }
        }
    }

    /// Whether all is carried that was written by that moment.
    #[inline]
    pub(super) fn has_reached_past(&self, ms: u64) -> bool {
        self.reached_ms.load(SeqCst) > ms
    }

    /// Entries may be served until then, to transactions with a snapshot too if `snapshots`.
    pub fn extend(&self, until_ns: u64, snapshots: bool) {
        self.snapshots_until_ns.store(if snapshots { until_ns } else { 0 }, SeqCst);
        self.until_ns.store(until_ns, SeqCst);
    }

    /// All that was written before that moment is carried.
    pub fn reach(&self, asked_ms: u64) {
        self.reached_ms.store(asked_ms, SeqCst);
    }

    /// A snapshot has been opened by then: what it shows is to be carried soon, if it is not served without. Says whether that is so.
    pub(crate) fn await_snapshot(&self, opened_ms: u64, by_replica: bool) -> bool {
        let is_served = !by_replica && boottime_ns() < self.snapshots_until_ns.load(SeqCst);
        !is_served && self.await_answer(opened_ms)
    }

    /// What was written by then is to be carried soon. Says whether nothing waited so far.
    pub(super) fn await_answer(&self, ms: u64) -> bool {
        let before = self.awaited_ms.fetch_max(ms, SeqCst);
        before == 0 || before < self.reached_ms.load(SeqCst)
    }

    /// Whether a snapshot, or a replica's answer, waits for what it shows.
    pub fn is_awaited(&self) -> bool {
        let awaited_ms = self.awaited_ms.load(SeqCst);
        awaited_ms > 0 && awaited_ms >= self.reached_ms.load(SeqCst)
    }

    /// Nothing may be served.
    pub fn close(&self) {
        self.extend(0, false);
        self.reached_ms.store(0, SeqCst);
        self.awaited_ms.store(0, SeqCst);
    }

    /// Milliseconds for which entries may be served still.
    pub(crate) fn left_ms(&self) -> u64 {
        self.until_ns.load(SeqCst).saturating_sub(boottime_ns()) / 1_000_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR_NS: u64 = 3_600_000_000_000;

    #[test]
    fn nothing_is_served_before_it_is_extended_nor_past_its_end() {
        let horizon = Horizon::default();
        let moments = [AsOf::Now, AsOf::Snapshot { opened_ms: 5, by_replica: false }];
        let holds = |horizon: &Horizon| moments.map(|of| horizon.holds(of, 3));
        assert_eq!(holds(&horizon), [false, false]);
        horizon.extend(boottime_ns() + HOUR_NS, false);
        assert_eq!(holds(&horizon), [true, false], "a bound holds for no snapshot");
        horizon.extend(boottime_ns() + HOUR_NS, true);
        assert_eq!(holds(&horizon), [true, true]);
        horizon.extend(boottime_ns() - 1, true);
        assert_eq!(holds(&horizon), [false, false]);
        horizon.extend(boottime_ns() + HOUR_NS, true);
        horizon.close();
        assert_eq!(holds(&horizon), [false, false]);
    }

    #[test]
    fn snapshot_is_served_within_a_bound_when_it_and_the_answer_are_carried_past() {
        let horizon = Horizon::default();
        horizon.extend(boottime_ns() + HOUR_NS, false);
        let holds = |opened_ms, created_ms| {
            horizon.holds(AsOf::Snapshot { opened_ms, by_replica: false }, created_ms)
        };
        assert!(horizon.await_snapshot(5, false));
        assert!(!holds(5, 3) && horizon.is_awaited());
        horizon.reach(5);
        assert!(!holds(5, 3) && horizon.is_awaited(), "it may have been opened later in that millisecond");
        horizon.reach(6);
        assert!(holds(5, 3) && !horizon.is_awaited());
        assert!(!holds(5, 6) && !holds(6, 3) && !holds(u64::MAX, 3));
        horizon.extend(boottime_ns() + HOUR_NS, true);
        assert!(!horizon.await_snapshot(9, false) && !horizon.is_awaited(), "it is served without");
        horizon.extend(boottime_ns() - 1, false);
        assert!(!holds(5, 3), "the stream has been lost since");
        horizon.close();
        horizon.extend(boottime_ns() + HOUR_NS, false);
        assert!(!holds(5, 3), "another stream tells nothing of what was before it");
    }
    #[test]
    fn what_a_replica_opened_is_carried_past_whatever_is_promised() {
        let horizon = Horizon::default();
        horizon.extend(boottime_ns() + HOUR_NS, true);
        let holds = |by_replica| horizon.holds(AsOf::Snapshot { opened_ms: 5, by_replica }, 3);
        assert!(holds(false) && !holds(true));
        assert!(horizon.await_snapshot(5, true) && !horizon.await_snapshot(5, true), "once");
        horizon.reach(6);
        assert!(holds(true));
    }
}
