//! What holds for the connections of a hostgroup: its own settings, or the variables.

use crate::attributes::HostgroupAttributes;
use crate::server::HostgroupId;
use crate::snapshot::Snapshot;

/// How the connections of a hostgroup are kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PoolSettings {
    /// Percent of a server's `max_connections` that may lie idle.
    pub free_connections_pct: u64,
    /// Idle connections are opened up to that share.
    pub connection_warming: bool,
    /// New connections in a second.
    pub connections_per_second: u64,
    /// Milliseconds between the first and the second connection for statements that wait; 0 for none.
    pub growth_interval_ms: u64,
    /// Connections of a server up to which one more is opened rather than an idle one changed.
    pub connections_before_change: u64,
    /// Milliseconds in which a server that comes back gets its share by and by; 0 for at once.
    pub slow_start_ms: u64,
    /// Statements for each new connection; empty for none.
    pub init_connect: String,
    /// Milliseconds after which a connection is closed; 0 for never.
    pub connection_age_ms_max: u64,
    /// Milliseconds between pings of an idle connection.
    pub ping_interval_ms: u64,
    /// Milliseconds for a ping.
    pub ping_timeout_ms: u64,
}

impl Snapshot {
    /// Whether sessions give connections of a hostgroup back after a statement that leaves nothing behind.
    #[must_use]
    pub fn multiplexes(&self, hostgroup: HostgroupId) -> bool {
        let is_not = |own: &HostgroupAttributes| own.is_not_multiplexed;
        self.mysql.multiplexing && !self.hostgroup_attributes.get(&hostgroup).is_some_and(is_not)
    }

    /// How the connections of a hostgroup are kept.
    #[must_use]
    pub fn pool_settings(&self, hostgroup: HostgroupId) -> PoolSettings {
        let (variables, attributes) = (&self.mysql, self.hostgroup_attributes.get(&hostgroup));
        PoolSettings {
            free_connections_pct: attributes
                .and_then(|own| own.free_connections_pct)
                .unwrap_or(variables.free_connections_pct),
            connection_warming: attributes
                .and_then(|own| own.connection_warming)
                .unwrap_or(variables.connection_warming),
            connections_per_second: attributes
                .and_then(|own| own.throttle_connections_per_sec)
                .unwrap_or(variables.throttle_connections_per_sec_to_hostgroup),
            growth_interval_ms: attributes
                .and_then(|own| own.growth_interval_ms)
                .unwrap_or(variables.connection_growth_interval_ms),
            connections_before_change: variables.connections_before_change,
            slow_start_ms: variables.slow_start_ms,
            init_connect: attributes
                .and_then(|own| own.init_connect.clone())
                .unwrap_or_else(|| variables.init_connect.clone()),
            connection_age_ms_max: variables.connection_max_age_ms,
            ping_interval_ms: variables.ping_interval_server_msec,
            ping_timeout_ms: variables.ping_timeout_server,
        }
    }
}
