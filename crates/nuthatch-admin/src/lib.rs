//! The faces for operators: the SQL admin listener and metrics.
//!
//! [`Admin`] owns the configuration's layers on a thread of its own; [`serve`] speaks the MySQL protocol to operators'
//! clients in front of it; [`metrics`] gives the same figures to machines. The running proxy is seen through the trait
//! [`DataPlane`] only, which the program implements.
//!
//! Nothing here is on the path of a client's statement: the data plane never waits for this crate or for SQLite.

mod admin;
mod answer;
mod clerk;
mod command;
mod credentials;
mod data_plane;
mod error;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod information_schema;
mod limits;
mod listener;
pub mod metrics;
mod session;
mod start_error;
mod statistic;
mod stats;
mod version;

pub use admin::Admin;
pub use data_plane::{
    CheckLog, CheckResult, DataPlane, FailoverOrder, HostgroupOrder, Killed, ProcessVerb, Reading, Switching,
    SwitchoverMode, SwitchoverOrder,
};
pub use listener::serve;
pub use start_error::StartError;
pub use statistic::{Definition, Kind, Label, Sample, Statistic};
pub use stats::{monitor_rows, rows};
