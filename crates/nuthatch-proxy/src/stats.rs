//! What the data plane counts.
//!
//! [`Counters`] are a worker's own and are summed when somebody asks; [`Digests`] is the bounded map behind
//! `stats_mysql_query_digest`. Nothing here is reset by reading unless the caller says so.

mod counters;
mod digests;

pub use counters::Totals;
pub(crate) use counters::{Counter, Counters};
pub(crate) use digests::{DigestCounters, Digests, HOSTGROUP_CACHE, Observation, Observed};
pub use digests::{DigestReading, DigestRow};
