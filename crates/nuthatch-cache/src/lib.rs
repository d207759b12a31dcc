//! Bounded store of query results: keys, entries, clocks, limits, eviction, expiry.
//!
//! A [`Cache`] maps what was asked (a [`Key`]) to the packets that answered it (an [`Entry`]). Three things hold:
//!
//! - **Exact keys.** `get` compares the whole key, never a hash alone.
//! - **The limit is a limit.** Entries with their keys and headers, rounded as the allocator rounds them, what they have
//!   in common, and the index with its memory of evicted keys all count. An insert evicts first or is refused.
//! - **A hit is cheap.** One shard look-up under a shared lock and one atomic increment; it allocates nothing.
//!
//! An exact entry names the [`Clocks`] that writes to its tables and rows move, and the moment that its answer was asked
//! for; what holds by them is said there.
//!
//! The crate reads no time: milliseconds are an argument. It does not decide what may be cached, nor whether an entry
//! may be served: the caller asks [`Entry::judge`] and [`Clocks::standing`]. Nothing here does I/O.

mod atomic;
mod cache;
mod clocks;
mod entry;
mod fill;
mod key;
mod kind;
mod kinds;
mod limits;
mod line;
mod mix;
mod occupancy;
mod pace;
mod plan;
mod refusal;
mod repeats;
mod shard;
mod sweep;
mod usage;
mod weight;

pub use cache::{Cache, Kept};
pub use clocks::{BLOCK_KEYS, Clock, ClockList, ClockOptions, Clocks, Marks, Sequence, Standing};
pub use entry::{Entry, Judgement, PIECE_BYTES_MAX};
pub use fill::{Fill, STATUS_OFFSETS_MAX};
pub use key::{Key, Name, NameHash, Protocol};
pub use limits::Limits;
pub use plan::Plan;
pub use refusal::Refusal;
pub use shard::{Over, Rule};
pub use sweep::Sweep;
pub use usage::Usage;
