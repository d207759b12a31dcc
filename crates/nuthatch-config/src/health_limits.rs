//! When a server is passed over though it is online.

use crate::{Server, Snapshot};

/// See the module's doc. 0 is no limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HealthLimits {
    /// Milliseconds that a ping may take.
    pub latency_ms_max: u64,
    /// Seconds that it may be behind.
    pub lag_s_max: u64,
    /// Looks in a row beyond that.
    pub lag_count: u64,
    /// Seconds that it counts as being behind where it does not know.
    pub lag_when_null_s: u64,
}

impl Snapshot {
    /// Of a server in its hostgroup.
    pub fn health_limits(&self, server: &Server) -> HealthLimits {
        let (variables, attributes) = (&self.mysql, self.hostgroup_attributes.get(&server.hostgroup));
        HealthLimits {
            latency_ms_max: match server.max_latency_ms {
                0 => variables.default_max_latency_ms,
                own => own.into(),
            },
            lag_s_max: server.max_replication_lag.into(),
            lag_count: variables.monitor_replication_lag_count,
            lag_when_null_s: attributes
                .and_then(|own| own.lag_when_null_s)
                .unwrap_or(variables.monitor_slave_lag_when_null),
        }
    }
}
