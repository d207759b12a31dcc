//! How long a statement waits for somebody else's answer to the same: how long it took to ask for its digest, and whether waiting was of use.
//!
//! See `shared/answers/coalescing.rs`. Who waits in vain loses what it has waited, so nobody waits for longer than it takes to ask four times; and a
//! digest whose answers were waited for in vain, as they are written over or cannot be stored, rests: for a tenth of a second at first, for
//! twice as long each time.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

/// Nobody waits for longer than it takes to ask so often, on an average.
const ASKINGS: u64 = 4;

/// Nor is anybody less patient than this.
const PATIENCE_MIN_US: u64 = 20_000;

/// For how long a digest rests when it was waited for in vain for the first time.
const REST_MS: u64 = 100;

/// How often that is doubled at most: to 12.8 s.
const DOUBLINGS_MAX: u8 = 7;

/// A late average: of eight parts one is the last.
const PARTS: u64 = 8;

/// That of one digest. Cost: a load where a statement may wait, a load and a store where an asking ends.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    /// Microseconds that it takes to ask; 0 while none is known.
    asking_us: AtomicU64,
    in_vain: AtomicU8,
    rests_until_ms: AtomicU64,
}

impl Patience {
    /// For how long to wait, where `longest_ms` may be waited at most; none if it is not to be waited at all.
    pub(crate) fn wait_for(&self, longest_ms: u64, now_ms: u64) -> Option<Duration> {
        if longest_ms == 0 || self.rests(now_ms) {
            return None;
        }
        let longest_us = longest_ms.saturating_mul(1000);
        Some(Duration::from_micros(match self.asking_us.load(Ordering::Relaxed) {
            0 => longest_us,
            asking_us => asking_us.saturating_mul(ASKINGS).max(PATIENCE_MIN_US).min(longest_us),
        }))
    }

    /// Whether nobody is to wait now, as it was in vain lately.
    pub(crate) fn rests(&self, now_ms: u64) -> bool {
        now_ms < self.rests_until_ms.load(Ordering::Relaxed)
    }

    /// To ask took so long.
    pub(crate) fn note_asking(&self, took_us: u64) {
        let known_us = self.asking_us.load(Ordering::Relaxed);
        let average_us = if known_us == 0 { took_us } else { known_us - known_us / PARTS + took_us / PARTS };
        self.asking_us.store(average_us.max(1), Ordering::Relaxed);
    }

    /// Somebody has waited, and been given an answer or not.
    pub(crate) fn note_wait(&self, was_of_use: bool, now_ms: u64) {
        if was_of_use {
            self.in_vain.store(0, Ordering::Relaxed);
        } else if !self.rests(now_ms) {
            // Of many who have waited for the same the first counts.
            let before = self.in_vain.load(Ordering::Relaxed).min(DOUBLINGS_MAX);
            self.in_vain.store(before + 1, Ordering::Relaxed);
            self.rests_until_ms.store(now_ms + (REST_MS << before), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_for_longer_than_it_takes_to_ask_four_times_or_than_may_be_waited() {
        let patience = Patience::default();
        assert_eq!(patience.wait_for(0, 0), None);
        assert_eq!(patience.wait_for(5_000, 0), Some(Duration::from_secs(5)));
        patience.note_asking(1_000);
        assert_eq!(patience.wait_for(5_000, 0), Some(Duration::from_millis(20)));
        (0..100).for_each(|_| patience.note_asking(50_000));
        let waits = patience.wait_for(5_000, 0).expect("it is patient");
        assert!((Duration::from_millis(190)..=Duration::from_millis(200)).contains(&waits), "{waits:?}");
        assert_eq!(patience.wait_for(30, 0), Some(Duration::from_millis(30)));
    }

    #[test]
    fn digest_that_was_waited_for_in_vain_rests_for_longer_each_time() {
        let patience = Patience::default();
        let mut now_ms = 1_000;
        for rest_ms in [100, 200, 400] {
            (0..3).for_each(|_| patience.note_wait(false, now_ms));
            assert_eq!(patience.wait_for(10, now_ms + rest_ms - 1), None);
            now_ms += rest_ms;
            assert!(patience.wait_for(10, now_ms).is_some());
        }
        patience.note_wait(true, now_ms);
        patience.note_wait(false, now_ms);
        assert!(patience.wait_for(10, now_ms + 100).is_some());
        (0..300).for_each(|round| patience.note_wait(false, now_ms + round * 100_000));
        assert!(patience.wait_for(10, now_ms + 299 * 100_000 + 12_800).is_some());
    }
}
