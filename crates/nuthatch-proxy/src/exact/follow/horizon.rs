//! Until when what is stored of a server may be served.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use crate::clock::boottime_ns;

/// See the module's doc. A moment is one of the kernel's clock that runs on while the machine sleeps (`CLOCK_BOOTTIME`), in nanoseconds.
#[derive(Debug, Default)]
pub struct Horizon {
    until_ns: AtomicU64,
    /// The same for transactions with a snapshot.
    snapshots_until_ns: AtomicU64,
}

impl Horizon {
    /// Whether an entry may be served now. To be asked when the command is there: what was written later is later than the command.
    ///
    /// Cost: a load and a look at the clock.
    #[inline]
    pub(crate) fn holds(&self, has_snapshot: bool) -> bool {
        let until_ns = if has_snapshot { &self.snapshots_until_ns } else { &self.until_ns };
        boottime_ns() < until_ns.load(SeqCst)
    }

    /// Entries may be served until then, to transactions with a snapshot too if `snapshots`.
    pub fn extend(&self, until_ns: u64, snapshots: bool) {
        self.snapshots_until_ns.store(if snapshots { until_ns } else { 0 }, SeqCst);
        self.until_ns.store(until_ns, SeqCst);
    }

    /// Nothing may be served.
    pub fn close(&self) {
        self.extend(0, false);
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
        let holds = |horizon: &Horizon| [false, true].map(|has_snapshot| horizon.holds(has_snapshot));
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
}
