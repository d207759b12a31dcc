//! Where the search for expired entries stands.
//!
//! A timer calls `Cache::expire` with a budget; the search goes on from where the last call stopped, shard after shard, in the order of tags: what
//! stays there for a lap is looked at once.

use crate::shard::Tag;

/// What one call of `Cache::expire` did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sweep {
    /// Entries looked at.
    pub examined: usize,
    /// Entries removed because their time was over.
    pub expired: u64,
    /// Whether the search came past the last shard: a whole lap is done.
    pub lap_ended: bool,
}

/// The place at which the next call goes on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor {
    pub(crate) shard: usize,
    pub(crate) from: Tag,
}

impl Default for Cursor {
    fn default() -> Self {
        Self { shard: 0, from: Tag::FIRST }
    }
}
