//! Settings of whole hostgroups (`mysql_hostgroup_attributes`) and what they say in the place of variables.

use crate::follow::Follow;
use crate::tls::SslVerify;

/// What acts of a row of `mysql_hostgroup_attributes`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HostgroupAttributes {
    /// In the place of `mysql-ssl_p2s_verify`; then there must be an authority to verify by.
    pub ssl_verify: Option<SslVerify>,
    /// In the place of `mysql-free_connections_pct`.
    pub free_connections_pct: Option<u64>,
    /// In the place of `mysql-connection_warming`.
    pub connection_warming: Option<bool>,
    /// In the place of `mysql-throttle_connections_per_sec_to_hostgroup`.
    pub throttle_connections_per_sec: Option<u64>,
    /// In the place of `mysql-connection_growth_interval_ms`.
    pub growth_interval_ms: Option<u64>,
    /// In the place of `mysql-monitor_slave_lag_when_null`.
    pub lag_when_null_s: Option<u64>,
    /// In the place of `mysql-query_cache_follow`.
    pub follow: Option<Follow>,
    /// In the place of `mysql-init_connect`.
    pub init_connect: Option<String>,
    /// How its servers get warm before they get their whole share.
    pub warming: OwnWarming,
    /// For how long sessions keep their connections.
    pub delays: MultiplexDelays,
    /// Sessions keep their connections until they end, whatever `mysql-multiplexing` says.
    pub is_not_multiplexed: bool,
}

/// For how long a session keeps its connection after a statement; what is `None` is said elsewhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MultiplexDelays {
    /// In the place of `mysql-auto_increment_delay_multiplex`.
    pub auto_increment_statements: Option<u64>,
    /// In the place of `mysql-auto_increment_delay_multiplex_timeout_ms`.
    pub auto_increment_timeout_ms: Option<u64>,
    /// In the place of `mysql-connection_delay_multiplex_ms`.
    pub connection_ms: Option<u64>,
}

impl MultiplexDelays {
    /// The keys that a JSON object has for them, and the largest value of each.
    pub(crate) const KEYS: [(&'static str, u64); 3] = [
        ("auto_increment_delay_multiplex", 1_000_000),
        ("auto_increment_delay_multiplex_timeout_ms", 3_600_000),
        ("connection_delay_multiplex_ms", 300_000),
    ];

    /// Takes the value of a key of [`Self::KEYS`]; `false` when it is another.
    pub(crate) fn take(&mut self, key: &str, value: u64) -> bool {
        let place = match key {
            "auto_increment_delay_multiplex" => &mut self.auto_increment_statements,
            "auto_increment_delay_multiplex_timeout_ms" => &mut self.auto_increment_timeout_ms,
            "connection_delay_multiplex_ms" => &mut self.connection_ms,
            _ => return false,
        };
        *place = Some(value);
        true
    }

    /// What this says, and where it says nothing, what `other` does.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            auto_increment_statements: self.auto_increment_statements.or(other.auto_increment_statements),
            auto_increment_timeout_ms: self.auto_increment_timeout_ms.or(other.auto_increment_timeout_ms),
            connection_ms: self.connection_ms.or(other.connection_ms),
        }
    }
}

/// How servers of a hostgroup get warm, as it says itself; what is `None` is said by the variables.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OwnWarming {
    /// In the place of `mysql-warm_pct`.
    pub pct: Option<u64>,
    /// In the place of `mysql-warm_weight`.
    pub weight_pct: Option<u64>,
    /// In the place of `mysql-warm_max_ms`.
    pub ms_max: Option<u64>,
    /// In the place of `mysql-warm_reads_per_sec`.
    pub reads_per_second: Option<u64>,
    /// In the place of `mysql-warm_dump_interval_ms`.
    pub dump_interval_ms: Option<u64>,
}

impl OwnWarming {
    /// The keys that a JSON object has for them, and the largest value of each, as that of the variable.
    pub(crate) const KEYS: [(&'static str, u64); 5] = [
        ("warm_pct", 100),
        ("warm_weight", 100),
        ("warm_max_ms", 86_400_000),
        ("warm_reads_per_sec", 100_000),
        ("warm_dump_interval_ms", 604_800_000),
    ];

    /// Takes the value of a key of [`Self::KEYS`]; others are none of it.
    pub(crate) fn take(&mut self, key: &str, value: u64) {
        let place = match key {
            "warm_pct" => &mut self.pct,
            "warm_weight" => &mut self.weight_pct,
            "warm_max_ms" => &mut self.ms_max,
            "warm_reads_per_sec" => &mut self.reads_per_second,
            "warm_dump_interval_ms" => &mut self.dump_interval_ms,
            _ => return,
        };
        *place = Some(value);
    }
}
