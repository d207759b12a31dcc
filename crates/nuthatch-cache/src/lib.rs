//! Bounded store of query results: keys, entries, limits, eviction, expiry.
//!
//! A [`Cache`] maps what was asked (a [`Key`]) to the packets that answered it (an [`Entry`]). Three things hold:
//!
//! - **Exact keys.** `get` compares the whole key, never a hash alone. Two keys with one hash share one place; the
//!   later one has it and the other is a miss, which is counted.
//! - **The limit is a limit.** Entries with their keys and headers, rounded as the allocator rounds them, and the
//!   index with its memory of evicted keys all count. An insert evicts first or is refused.
//! - **A hit is cheap.** One shard look-up under a shared lock and one atomic increment; it allocates nothing.
//!
//! The crate reads no clock: milliseconds are an argument. It does not decide what may be cached, nor whether an entry
//! may be served: the caller asks [`Entry::judge`]. Nothing here does I/O.

mod cache;
mod entry;
mod fill;
mod key;
mod limits;
mod refusal;
mod shard;
mod sweep;
mod usage;
mod weight;

pub use cache::Cache;
pub use entry::{Entry, Judgement};
pub use fill::{Fill, Packets, STATUS_OFFSETS_MAX};
pub use key::{Key, Protocol};
pub use limits::Limits;
pub use refusal::Refusal;
pub use sweep::Sweep;
pub use usage::Usage;
