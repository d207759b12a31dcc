//! One validated configuration that never changes: what a command sees from its first byte to its last.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use crate::{
    attributes::HostgroupAttributes,
    clusters::Clusters,
    follow::Follow,
    rules::Rules,
    server::{HostgroupId, Hostgroups},
    tls::SslParams,
    user::Users,
    variables::{AdminVariables, MysqlVariables},
};

/// Counts the configurations that differ for the data plane. It moves by one with each `LOAD … TO RUNTIME` that
/// changes anything but admin variables; entries of the cache from an older epoch are judged anew.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Epoch(pub u64);

impl Epoch {
    /// The one after this.
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// One configuration. Cheap to clone: each part is shared.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// Which configuration this is.
    pub epoch: Epoch,
    /// Active users.
    pub users: Users,
    /// Servers by hostgroup.
    pub hostgroups: Hostgroups,
    /// Hostgroups that belong together.
    pub clusters: Arc<Clusters>,
    /// Hostgroups of clusters: they are there also while no server stands in them.
    pub named_hostgroups: Arc<HashSet<HostgroupId>>,
    /// Settings of whole hostgroups.
    pub hostgroup_attributes: Arc<BTreeMap<HostgroupId, HostgroupAttributes>>,
    /// TLS towards single servers.
    pub ssl_params: Arc<[SslParams]>,
    /// Active query rules, compiled.
    pub rules: Rules,
    /// The `mysql-*` variables.
    pub mysql: MysqlVariables,
    /// The `admin-*` variables.
    pub admin: AdminVariables,
}

impl Snapshot {
    /// A first configuration (epoch 1) of users, servers and rules, with every variable at its default.
    /// To set a variable, change the field: `Snapshot { mysql: MysqlVariables { … }, ..snapshot }`.
    pub fn new(users: Users, hostgroups: Hostgroups, rules: Rules) -> Self {
        Self { epoch: Epoch(1), users, hostgroups, rules, ..Self::default() }
    }

    /// The shortest time, in milliseconds, after which a statement may be too late.
    pub fn timeout_ms_min(&self) -> u64 {
        let by_rules = self.rules.timeout_ms_min().map_or(u64::MAX, u64::from);
        by_rules.min(self.mysql.default_query_timeout)
    }

    /// What is promised of writes past the proxy in a hostgroup, as it is asked for: by what it says itself, or by the variable.
    #[must_use]
    pub fn follow(&self, hostgroup: HostgroupId) -> Follow {
        let own = self.hostgroup_attributes.get(&hostgroup).and_then(|own| own.follow);
        own.or_else(|| Follow::of_word(&self.mysql.query_cache_follow)).unwrap_or_default()
    }

    /// Whether anything is promised of writes past the proxy anywhere.
    pub fn follows_any(&self) -> bool {
        self.hostgroups.iter().any(|(hostgroup, _)| self.follow(hostgroup) != Follow::Off)
    }

    /// Whether servers are asked to tell the ids of transactions that they have committed.
    pub fn asks_for_gtids(&self) -> bool {
        self.mysql.default_session_track_gtids == "OWN_GTID" || self.mysql.failover != "off"
    }

    /// Whether clients that want to be told of changes are told these, too.
    pub fn tells_gtids(&self) -> bool {
        self.mysql.client_session_track_gtid && self.mysql.default_session_track_gtids == "OWN_GTID"
    }

    /// Whether reads are sent away from who writes.
    pub fn splits_reads(&self) -> bool {
        self.mysql.read_write_split == 1 && !self.clusters.pairs.is_empty()
    }

    /// Whether it matters what sessions have seen: some statements are answered by servers that may be behind.
    pub fn keeps_positions(&self) -> bool {
        self.splits_reads() || self.rules.gtid_hostgroups().next().is_some()
    }

    /// Where the reads of a writer hostgroup go if they are split from the rest.
    pub fn readers_of(&self, writer: HostgroupId) -> Option<HostgroupId> {
        let pair = self.clusters.pairs.iter().find(|pair| pair.writer == writer);
        pair.filter(|_| self.splits_reads()).map(|pair| pair.reader)
    }

    /// The hostgroup that takes the writes which a server of this one shows.
    pub fn writer_of(&self, hostgroup: HostgroupId) -> HostgroupId {
        self.clusters.pairs.iter().find(|pair| pair.has(hostgroup)).map_or(hostgroup, |pair| pair.writer)
    }

    /// Whether the data plane cannot tell it from `other`. Epochs, admin variables and hit counters do not count.
    pub fn serves_like(&self, other: &Self) -> bool {
        self.users == other.users
            && self.hostgroups == other.hostgroups
            && self.clusters == other.clusters
            && self.named_hostgroups == other.named_hostgroups
            && self.hostgroup_attributes == other.hostgroup_attributes
            && self.ssl_params == other.ssl_params
            && self.rules == other.rules
            && self.mysql == other.mysql
    }
}
