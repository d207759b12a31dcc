//! Has another server of a replication pair take the writes.
//!
//! [`switch_over`] changes the primary while it is there: what the old one has acknowledged is on the new one before that takes a write, and
//! until then every failure leaves things as they were. [`check`] says beforehand what would hinder it. [`fail_over`] puts another one in the
//! place of a primary that is gone, and says what is lost with it; [`rejoin`] has the old one follow when it is back, and
//! [`look_for_leftover`] finds what nobody finished.
//!
//! It asks and tells servers by connections of its own, as an account of its own. What statements of clients do meanwhile is not its
//! business: who has them wait, and sends them elsewhere, is the caller ([`Traffic`]). It rests on GTIDs alone.

mod acknowledgements;
mod at_once;
mod dialect;
mod failover;
mod following;
mod gtid;
mod hindrance;
mod leftover;
mod link;
mod loss;
mod order;
mod rejoin;
mod sighting;
mod steps;
mod survey;
mod switchover;
mod traffic;
mod votes;

pub use failover::{Cause, Demand, FenceCommand, Report, Silence, check_failover, fail_over};
pub use hindrance::{Finding, Weight};
pub use leftover::{Care, Leftover, look_for_leftover};
pub use loss::Lacking;
pub use order::{Account, Begun, Cluster, KeptOut, KnownServer, Limits, Order};
pub use rejoin::{Rejoined, Rejoining, rejoin};
pub use sighting::Sighting;
pub use steps::{Outcome, Step};
pub use switchover::{Interrupted, check, look_at_interrupted, switch_over, take_back};
pub use traffic::{Holding, Promoted, Replaced, Traffic, Work};
