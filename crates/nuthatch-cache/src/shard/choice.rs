//! By which rule a cache chooses who goes: the one in force, and the trials that tell which it is to be.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::heat::Worth;
use super::index::Tag;
use super::rule::{Rule, Ruling};
use super::trials::{Part, Sample, Trials};
use crate::line::Line;

/// Shared by all shards of a cache.
pub(crate) struct Choice {
    ruling: Line<Ruling>,
    trials: Line<Mutex<Trials>>,
    /// With keys whose hash has none of these bits trials are made.
    mask: AtomicU64,
}

impl Choice {
    /// That of a cache with this limit, in bytes, of whose load nothing is known.
    pub(crate) fn new(limit_bytes: u64) -> Self {
        Self {
            ruling: Line(Ruling::new(Rule::default())),
            trials: Line(Mutex::new(Trials::new(limit_bytes))),
            mask: AtomicU64::new(Part::of(limit_bytes).mask()),
        }
    }

    /// The rule in force.
    pub(crate) const fn ruling(&self) -> &Ruling {
        &self.ruling.0
    }

    /// What a hit reads of it.
    #[cfg(test)]
    pub(crate) fn read_at(&self) -> usize {
        std::ptr::from_ref(&self.mask).addr()
    }

    /// Whether trials are made with a key of that hash.
    #[inline]
    pub(crate) fn is_tried(&self, hash: u64) -> bool {
        hash & self.mask.load(Ordering::Relaxed) == 0
    }

    /// The key with that hash, with which trials are made, was asked for, and its answer is now this.
    pub(crate) fn ask(&self, hash: u64, sample: Sample, worth: Option<Worth>) {
        self.trials.0.lock().ask(Tag::of(hash), sample, worth, &self.ruling.0);
    }

    /// The same, unless others ask just then.
    pub(crate) fn ask_if_free(&self, hash: u64, sample: Sample, worth: Option<Worth>) {
        if let Some(mut trials) = self.trials.0.try_lock() {
            trials.ask(Tag::of(hash), sample, worth, &self.ruling.0);
        }
    }

    /// The answer to the key with that hash is not valid any more.
    pub(crate) fn forget(&self, hash: u64) {
        if self.is_tried(hash) {
            self.trials.0.lock().forget(Tag::of(hash));
        }
    }

    /// No answer is valid any more, or the limit is another. The rule stays, and what was counted.
    pub(crate) fn restart(&self, limit_bytes: u64) {
        self.trials.0.lock().restart(limit_bytes);
        self.mask.store(Part::of(limit_bytes).mask(), Ordering::Relaxed);
    }

    /// What the trials take in memory, in bytes; how often they were asked; how often each had the answer, in the order of [`Rule::ALL`].
    pub(crate) fn figures(&self) -> (u64, u64, [u64; Rule::ALL.len()]) {
        let trials = self.trials.0.lock();
        let (lookups, hits) = trials.figures();
        (trials.bytes(), lookups, hits)
    }
}
