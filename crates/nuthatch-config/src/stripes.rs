//! Counters that many threads bump at once, each on a cache line of its own.
//!
//! Memory is taken at the first bump: half a KiB. Threads past the eighth share lines with others; no count is lost.

use std::fmt;
use std::sync::OnceLock;

/// How many threads have a line of their own.
const STRIPES: usize = 8;

/// A `C`, which fits a cache line, for each of some threads.
#[derive(Default)]
pub struct Stripes<C>(OnceLock<Box<[Stripe<C>; STRIPES]>>);

#[derive(Default)]
#[repr(align(64))]
struct Stripe<C>(C);

impl<C: Default> Stripes<C> {
    /// None yet.
    pub const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// That of the thread with that number. Cost: a load; one allocation at the first call.
    #[inline]
    pub fn of(&self, thread: usize) -> &C {
        let stripes = self.0.get_or_init(Box::default);
        &stripes[thread % STRIPES].0
    }

    /// Those of all threads.
    pub fn all(&self) -> impl Iterator<Item = &C> {
        self.0.get().into_iter().flat_map(|stripes| stripes.iter().map(|stripe| &stripe.0))
    }
}

impl<C> fmt::Debug for Stripes<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stripes").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    use super::*;

    #[test]
    fn eight_threads_write_eight_lines_and_all_is_counted() {
        let stripes = Stripes::<[AtomicU64; 4]>::new();
        assert_eq!(stripes.all().count(), 0);
        let lines: HashSet<usize> =
            (0..16).map(|thread| std::ptr::from_ref(stripes.of(thread)).addr() / 64).collect();
        assert_eq!(lines.len(), STRIPES);
        for thread in 0..16 {
            stripes.of(thread)[0].fetch_add(thread as u64, Relaxed);
        }
        assert_eq!(stripes.all().map(|counters| counters[0].load(Relaxed)).sum::<u64>(), 120);
    }
}
