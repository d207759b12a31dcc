//! The backends and the groups they stand in: `mysql_servers` in force.
//!
//! This is what the admin asked for. What a server does right now (shunned after failures, lagging) is the data
//! plane's knowledge, not this crate's.

use std::{collections::BTreeMap, fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};

/// Number of a hostgroup.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct HostgroupId(pub u32);

impl fmt::Display for HostgroupId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// What tells one server from another, in however many hostgroups it stands: many instances share a host.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ServerName {
    /// As configured.
    pub host: String,
    /// As configured; 0 for a socket.
    pub port: u16,
}

impl fmt::Display for ServerName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            0 => out.write_str(&self.host),
            port => write!(out, "{}:{port}", self.host),
        }
    }
}

/// What may be done with a server.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ServerStatus {
    /// Takes new work.
    Online,
    /// Takes no new work until it recovers.
    Shunned,
    /// Finishes what it has and takes no new work.
    OfflineSoft,
    /// Is cut off at once.
    OfflineHard,
}

impl ServerStatus {
    /// ProxySQL's word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Online => "ONLINE",
            Self::Shunned => "SHUNNED",
            Self::OfflineSoft => "OFFLINE_SOFT",
            Self::OfflineHard => "OFFLINE_HARD",
        }
    }
}

impl fmt::Display for ServerStatus {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

/// The text is no status.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("is none of ONLINE, SHUNNED, OFFLINE_SOFT, OFFLINE_HARD")]
pub struct UnknownStatus;

impl FromStr for ServerStatus {
    type Err = UnknownStatus;

    fn from_str(text: &str) -> Result<Self, UnknownStatus> {
        [Self::Online, Self::Shunned, Self::OfflineSoft, Self::OfflineHard]
            .into_iter()
            .find(|status| status.as_str().eq_ignore_ascii_case(text))
            .ok_or(UnknownStatus)
    }
}

/// One row of `mysql_servers`, typed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Server {
    /// The group it stands in.
    pub hostgroup: HostgroupId,
    /// Name or address; with port 0 the path of a Unix socket.
    pub host: String,
    /// TCP port; 0 means that `host` is a path.
    pub port: u16,
    /// Port of a GTID reporter; 0 for none.
    pub gtid_port: u16,
    /// What the admin wants done with it.
    pub status: ServerStatus,
    /// Share of new work among the servers of its group; 0 takes none.
    pub weight: u32,
    /// Use the compressed protocol.
    pub compression: bool,
    /// Backend connections allowed.
    pub max_connections: u32,
    /// Seconds of replication lag beyond which it is not used; 0 for no limit.
    pub max_replication_lag: u32,
    /// Connect with TLS.
    pub use_ssl: bool,
    /// Milliseconds of ping time beyond which it is not used; 0 for no limit.
    pub max_latency_ms: u32,
    /// Free text.
    pub comment: String,
}

impl Server {
    /// Its name, in whichever hostgroup.
    pub fn name(&self) -> ServerName {
        ServerName { host: self.host.clone(), port: self.port }
    }

    /// A row with ProxySQL's defaults: online, weight 1, 1,000 connections.
    pub fn new(hostgroup: HostgroupId, host: impl Into<String>, port: u16) -> Self {
        Self {
            hostgroup,
            host: host.into(),
            port,
            gtid_port: 0,
            status: ServerStatus::Online,
            weight: 1,
            compression: false,
            max_connections: 1_000,
            max_replication_lag: 0,
            use_ssl: false,
            max_latency_ms: 0,
            comment: String::new(),
        }
    }
}

/// All servers by hostgroup, each group in the order of the table.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Hostgroups(BTreeMap<HostgroupId, Vec<Arc<Server>>>);

impl Hostgroups {
    /// Sorts `servers` into their groups. Of two rows with equal (hostgroup, host, port) the later one stands.
    pub fn new(servers: impl IntoIterator<Item = Server>) -> Self {
        let mut groups: BTreeMap<HostgroupId, Vec<Arc<Server>>> = BTreeMap::new();
        for server in servers {
            let group = groups.entry(server.hostgroup).or_default();
            group.retain(|known| (&known.host, known.port) != (&server.host, server.port));
            group.push(Arc::new(server));
        }
        Self(groups)
    }

    /// The servers of a group, whatever their status; empty if there is no such group.
    pub fn servers(&self, hostgroup: HostgroupId) -> &[Arc<Server>] {
        self.0.get(&hostgroup).map_or(&[], Vec::as_slice)
    }

    /// The servers of a group without those that are cut off (OFFLINE_HARD), where others are there: those may never answer.
    pub fn usable(&self, hostgroup: HostgroupId) -> impl Iterator<Item = &Arc<Server>> {
        let servers = self.servers(hostgroup);
        let is_cut_off = |server: &Arc<Server>| server.status == ServerStatus::OfflineHard;
        let are_all = servers.iter().all(is_cut_off);
        servers.iter().filter(move |server| are_all || !is_cut_off(server))
    }

    /// Each group that has a row, in the order of the numbers, with its servers.
    pub fn iter(&self) -> impl Iterator<Item = (HostgroupId, &[Arc<Server>])> {
        self.0.iter().map(|(hostgroup, servers)| (*hostgroup, servers.as_slice()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_stand_in_their_group_and_later_row_replaces() {
        let groups = Hostgroups::new([
            Server::new(HostgroupId(1), "a", 3306),
            Server::new(HostgroupId(0), "a", 3306),
            Server { weight: 7, ..Server::new(HostgroupId(1), "a", 3306) },
            Server::new(HostgroupId(1), "a", 3307),
        ]);
        let weights: Vec<_> =
            groups.servers(HostgroupId(1)).iter().map(|server| (server.port, server.weight)).collect();
        assert_eq!(weights, [(3306, 7), (3307, 1)]);
        assert!(groups.servers(HostgroupId(9)).is_empty());
        assert_eq!(groups.iter().map(|(group, _)| group.0).collect::<Vec<_>>(), [0, 1]);
    }

    #[test]
    fn status_reads_and_writes_the_same_word() {
        for status in ["ONLINE", "SHUNNED", "OFFLINE_SOFT", "OFFLINE_HARD"] {
            assert_eq!(status.parse::<ServerStatus>().map(ServerStatus::as_str), Ok(status));
        }
        assert_eq!("GONE".parse::<ServerStatus>(), Err(UnknownStatus));
    }
}
