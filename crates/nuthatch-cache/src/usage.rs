//! What the cache holds and what it has done.
//!
//! The counters only grow; a look-up that hits or misses bumps none of them, because the hit path shares no written cache
//! line between workers. Whoever looks up counts that.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::shard::Rule;

/// A reading of a cache. Each shard's figures are of one moment; the shards are read one after the other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Entries held now, expired ones that no one has removed yet included.
    pub entries: u64,
    /// Bytes held now: entries as allocated, what they have in common, and the index with its memory of evicted keys and trials. Never above `limit_bytes`.
    pub bytes: u64,
    /// The part of `bytes` that is kept once for all entries of a kind.
    pub kinds_bytes: u64,
    /// The most that that may be.
    pub kinds_bytes_max: u64,
    /// How many kinds are kept so.
    pub kinds: u64,
    /// The part of `bytes` that is index.
    pub index_bytes: u64,
    /// How many entries are compressed.
    pub compressed: u64,
    /// What they would take besides if they were not, in bytes.
    pub spared_bytes: u64,
    /// The limit in force.
    pub limit_bytes: u64,
    /// The most that one entry may weigh.
    pub entry_bytes_max: u64,
    /// Fills that were kept.
    pub sets: u64,
    /// Bytes of packets in those fills.
    pub bytes_in: u64,
    /// Entries whose place a later fill took: of the same key, or of one with the same hash.
    pub replaced: u64,
    /// Entries that had to make room.
    pub evicted: u64,
    /// Entries removed because their time was over.
    pub expired: u64,
    /// Entries removed because a clock that they depend on had moved.
    pub invalidated: u64,
    /// Answers that were the same when they were read again after that, as far as is known.
    pub repeated: u64,
    /// Entries removed by request: one by one, or by a flush.
    pub purged: u64,
    /// Fills that were not kept.
    pub refused: u64,
    /// The part of these that was not let in: those that would have had to go are used more.
    pub not_admitted: u64,
    /// How often an entry was compressed.
    pub compressions: u64,
    /// How often one was held as it is sent again, being in steady use.
    pub made_plain: u64,
    /// By which rule it is chosen now who goes.
    pub rule: Rule,
    /// How often the three rules were tried with a question.
    pub trials: u64,
    /// How often each would have had the answer, in the order of [`Rule::ALL`].
    pub trial_hits: [u64; Rule::ALL.len()],
}

/// The counters behind [`Usage`].
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) sets: AtomicU64,
    pub(crate) bytes_in: AtomicU64,
    pub(crate) replaced: AtomicU64,
    pub(crate) evicted: AtomicU64,
    pub(crate) expired: AtomicU64,
    pub(crate) invalidated: AtomicU64,
    pub(crate) repeated: AtomicU64,
    pub(crate) purged: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) not_admitted: AtomicU64,
    pub(crate) compressions: AtomicU64,
    pub(crate) made_plain: AtomicU64,
}

impl Counters {
    /// The counters alone; what is held now is the shards' to say.
    pub(crate) fn read(&self) -> Usage {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Usage {
            sets: of(&self.sets),
            bytes_in: of(&self.bytes_in),
            replaced: of(&self.replaced),
            evicted: of(&self.evicted),
            expired: of(&self.expired),
            invalidated: of(&self.invalidated),
            repeated: of(&self.repeated),
            purged: of(&self.purged),
            refused: of(&self.refused),
            not_admitted: of(&self.not_admitted),
            compressions: of(&self.compressions),
            made_plain: of(&self.made_plain),
            ..Usage::default()
        }
    }
}

/// Adds to a counter that orders nothing.
pub(crate) fn add(counter: &AtomicU64, count: u64) {
    if count > 0 {
        counter.fetch_add(count, Ordering::Relaxed);
    }
}
