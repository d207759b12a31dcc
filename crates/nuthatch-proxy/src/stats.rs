//! What the data plane counts.
//!
//! [`Counters`] are a worker's own and are summed when somebody asks; [`Digests`] is the bounded map behind
//! `stats_mysql_query_digest`. Nothing here is reset by reading unless the caller says so.

mod admission;
mod cache_counters;
mod commands;
mod counters;
mod digests;
mod door;
mod errors;
pub(crate) mod not_cached;
mod patience;
mod pin_counters;
pub(crate) mod pins;
mod reading;
mod replays;
mod table_counters;

pub use cache_counters::CacheFigures;
pub use commands::{COMMAND_BUCKETS, CommandRow};
pub(crate) use commands::{CommandCounters, StatementCommand, command_rows};
pub use counters::Totals;
pub(crate) use counters::{Counter, Counters};
pub use digests::DigestRow;
pub(crate) use digests::{DigestCounters, Digests, HOSTGROUP_CACHE, Observation, Observed};
pub(crate) use door::Comer;
pub use errors::ErrorRow;
pub(crate) use errors::{Errors, Occurrence};
pub(crate) use pin_counters::PinCounters;
pub use reading::DigestReading;
pub(crate) use replays::NoReplay;
pub(crate) use table_counters::TableCounters;
