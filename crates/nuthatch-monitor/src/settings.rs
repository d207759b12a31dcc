//! How servers are looked at: ProxySQL's `monitor_…` variables.

use std::time::Duration;

use crate::member::MemberPatience;

/// See the module's doc.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether anything is looked at.
    pub is_enabled: bool,
    /// For how long results are kept in the log.
    pub history: Duration,
    /// Logins.
    pub connect: CheckTimes,
    /// Pings over a connection that stays.
    pub ping: CheckTimes,
    /// Pings in a row without an answer after which a server is silent.
    pub ping_failures_max: u64,
    /// Looks at how far replicas are behind.
    pub lag: CheckTimes,
    /// The table of pt-heartbeat that tells it, as `schema.table`; empty for what the server says of its replication.
    pub heartbeat: String,
    /// What the log shows where a replica does not know.
    pub lag_when_null_s: u64,
    /// Looks at buffer pools.
    pub pool: CheckTimes,
    /// Looks at whether servers take writes.
    pub access: CheckTimes,
    /// Of these, in a row without an answer, after which a server counts as read-only.
    pub access_timeouts_max: u64,
    /// Looks at members of groups.
    pub group: CheckTimes,
    /// How often a member may be found wanting.
    pub group_patience: MemberPatience,
    /// Looks at nodes of Galera clusters.
    pub galera: CheckTimes,
    /// How often a node may be found wanting.
    pub galera_patience: MemberPatience,
}

/// When a check is made, and how long it may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckTimes {
    /// From the beginning of one to that of the next.
    pub interval: Duration,
    /// After which it has failed.
    pub timeout: Duration,
}
