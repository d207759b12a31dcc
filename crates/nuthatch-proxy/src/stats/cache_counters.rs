//! What the query cache had to do with the statements of one digest, besides the hits.
//!
//! Cost: one atomic addition for each event, none of them on the hit path.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::stats::not_cached::NotCached;
use crate::stats::reading::DigestReading;

/// The counters.
#[derive(Debug, Default)]
pub(crate) struct CacheCounters {
    misses: AtomicU64,
    fills: AtomicU64,
    /// Copies that were made of whole answers, stored or not.
    copies: AtomicU64,
    evicted: AtomicU64,
    expired: AtomicU64,
    invalidated: AtomicU64,
    repeated: AtomicU64,
    /// Of the last answer; nothing if it was stored.
    not_cached: Mutex<Option<NotCached>>,
}

/// A reading of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CacheFigures {
    /// Look-ups that found nothing to serve.
    pub misses: u64,
    /// Answers that were stored.
    pub fills: u64,
    /// Entries that had to make room for others.
    pub evicted: u64,
    /// Entries that a look-up found to be too old.
    pub expired: u64,
    /// Entries that a look-up found to have been written over.
    pub invalidated: u64,
    /// Answers that were the same when they were read again after that, as far as is known.
    pub repeated: u64,
    /// Why the last answer was not stored, in words.
    pub not_cached: Option<String>,
}

impl CacheCounters {
    pub(crate) fn count_miss(&self) {
        self.misses.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_evicted(&self) {
        self.evicted.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_expired(&self) {
        self.expired.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_invalidated(&self) {
        self.invalidated.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_repeated(&self) {
        self.repeated.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes note of whether an answer was stored. Where two do at once, the reason of either stands.
    pub(crate) fn count_fill(&self, stored: Result<(), NotCached>) {
        if stored.is_ok() {
            self.fills.fetch_add(1, Ordering::Relaxed);
        }
        if stored.err().is_none_or(NotCached::is_of_copy) {
            self.copies.fetch_add(1, Ordering::Relaxed);
        }
        if let Some(mut not_cached) = self.not_cached.try_lock() {
            *not_cached = stored.err();
        }
    }

    /// Copies that were made of whole answers, stored or not.
    pub(super) fn copies(&self) -> u64 {
        self.copies.load(Ordering::Relaxed)
    }

    pub(super) fn read(&self, reading: DigestReading) -> CacheFigures {
        let take = |counter: &AtomicU64| match reading {
            DigestReading::Keep => counter.load(Ordering::Relaxed),
            DigestReading::Reset => counter.swap(0, Ordering::Relaxed),
        };
        let mut not_cached = self.not_cached.lock();
        let last = match reading {
            DigestReading::Keep => *not_cached,
            DigestReading::Reset => not_cached.take(),
        };
        CacheFigures {
            misses: take(&self.misses),
            fills: take(&self.fills),
            evicted: take(&self.evicted),
            expired: take(&self.expired),
            invalidated: take(&self.invalidated),
            repeated: take(&self.repeated),
            not_cached: last.map(|why| why.to_string()),
        }
    }
}
