//! Has another server of a replication pair take the writes.
//!
//! [`switch_over`] changes the primary while it is there: what the old one has acknowledged is on the new one before that takes a write, and
//! until then every failure leaves things as they were. [`check`] says beforehand what would hinder it.
//!
//! It asks and tells servers by connections of its own, as an account of its own. What statements of clients do meanwhile is not its
//! business: who has them wait, and sends them elsewhere, is the caller ([`Traffic`]). It rests on GTIDs alone.

mod dialect;
mod gtid;
mod hindrance;
mod link;
mod order;
mod survey;
mod switchover;
mod traffic;

pub use hindrance::{Finding, Weight};
pub use order::{Account, Cluster, Limits, Order};
pub use switchover::{Outcome, Step, check, switch_over};
pub use traffic::{Holding, Traffic, Work};
