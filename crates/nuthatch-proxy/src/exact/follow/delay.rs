//! How late what was written came to be carried: a histogram of powers of two.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const BUCKETS: usize = 40;

/// In microseconds. One thread writes.
#[derive(Debug)]
pub(super) struct Delays {
    /// How many were below 2^n microseconds and not below half of it.
    buckets: [AtomicU64; BUCKETS],
    max_us: AtomicU64,
}

/// What it comes to, in microseconds; percentiles are upper bounds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is named after what it is")]
pub struct DelayFigures {
    pub count: u64,
    pub p50_us: u64,
    pub p99_us: u64,
    pub max_us: u64,
}

impl Default for Delays {
    fn default() -> Self {
        Self { buckets: [const { AtomicU64::new(0) }; BUCKETS], max_us: AtomicU64::new(0) }
    }
}

impl Delays {
    pub(super) fn note(&self, us: u64) {
        let bucket = (u64::BITS - us.leading_zeros()) as usize;
        if let Some(bucket) = self.buckets.get(bucket.min(BUCKETS - 1)) {
            bucket.fetch_add(1, Relaxed);
        }
        self.max_us.fetch_max(us, Relaxed);
    }

    pub(super) fn figures(&self) -> DelayFigures {
        let counts: Vec<u64> = self.buckets.iter().map(|bucket| bucket.load(Relaxed)).collect();
        let (count, max_us) = (counts.iter().sum::<u64>(), self.max_us.load(Relaxed));
        let below = |percent: u64| {
            let wanted = (count * percent).div_ceil(100);
            let mut seen = 0;
            let bucket = counts.iter().position(|count| {
                seen += count;
                seen >= wanted
            });
            bucket.map_or(0, |bucket| (1_u64 << bucket).min(max_us))
        };
        match count {
            0 => DelayFigures::default(),
            _ => DelayFigures { count, p50_us: below(50), p99_us: below(99), max_us },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_upper_bounds_and_the_largest_is_exact() {
        let delays = Delays::default();
        assert_eq!(delays.figures(), DelayFigures::default());
        (0..98).for_each(|_| delays.note(100));
        delays.note(3000);
        delays.note(70_000);
        let figures = delays.figures();
        assert_eq!(figures, DelayFigures { count: 100, p50_us: 128, p99_us: 4096, max_us: 70_000 });
        delays.note(u64::MAX);
        assert_eq!(delays.figures().max_us, u64::MAX);
    }
}
