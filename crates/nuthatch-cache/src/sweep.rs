//! Where the search for expired entries stands.
//!
//! A timer calls `Cache::expire` with a budget; the search goes on from where the last call stopped, shard after shard.
//! It is not exact: what moves in the index behind its back is met one lap later.

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
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cursor {
    pub(crate) shard: usize,
    /// How many of the shard's entries, in index order, have been looked at.
    pub(crate) offset: usize,
}
