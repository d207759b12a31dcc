//! What the data plane counts.
//!
//! [`Counters`] are a worker's own and are summed when somebody asks; [`Digests`] is the bounded map behind
//! `stats_mysql_query_digest`. Nothing here is reset by reading unless the caller says so.

mod cache_advice;
mod cache_counters;
mod cached_entries;
mod cached_tables;
mod commands;
mod counters;
mod digests;
mod errors;
mod query_cache;

pub use cache_advice::CacheAdvice;
pub use cache_counters::CacheFigures;
pub use cached_entries::CachedEntryRow;
pub use cached_tables::CachedTableRow;
pub use commands::{COMMAND_BUCKETS, CommandRow};
pub(crate) use commands::{CommandCounters, StatementCommand, command_rows};
pub use counters::Totals;
pub(crate) use counters::{Counter, Counters};
pub(crate) use digests::{DigestCounters, Digests, HOSTGROUP_CACHE, Observation, Observed};
pub use digests::{DigestReading, DigestRow};
pub use errors::ErrorRow;
pub(crate) use errors::{Errors, Occurrence};
pub use query_cache::QueryCacheRow;
