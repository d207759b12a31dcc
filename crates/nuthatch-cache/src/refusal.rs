//! Why an answer was not kept.
//!
//! A refusal is not a failure: the client has its answer already. Each is counted in `Usage::refused`.

/// Why `Cache::insert` did not keep an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The limit is 0: nothing is kept.
    #[error("cache is switched off")]
    Off,
    /// The entry would weigh more than one entry may.
    #[error("entry of {bytes} bytes exceeds the largest allowed, {bytes_max}")]
    TooLarge {
        /// What the entry would weigh, with key, header and rounding.
        bytes: u64,
        /// What an entry may weigh: the configured limit, or half a shard where that is less.
        bytes_max: u64,
    },
    /// The cache is full of answers that are asked for more often: this one is kept when it is asked for again and again.
    #[error("cache is full of answers that are asked for more often")]
    NotAdmitted,
    /// The limits were lowered while the entry was being made.
    #[error("no room is left for the entry")]
    NoRoom,
    /// The fill contradicts itself: too many status offsets, or one outside of the packets, a user or schema of more
    /// than 65,535 bytes, more clocks than that, or more rows than four billion.
    #[error("answer is not what its description says")]
    Malformed,
}
