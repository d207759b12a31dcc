//! The rows of `stats_nuthatch_servers` and `runtime_mysql_servers`: what servers are now.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use nuthatch_config::{CheckType, HostgroupId, Role, Server as ServerRow, ServerName, ServerStatus};

use crate::backend::Server;
use crate::shared::Shared;

/// A row of `stats_nuthatch_servers`: one server by host and port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedServer {
    /// As configured.
    pub name: ServerName,
    /// What it is in its cluster; none outside of clusters.
    pub role: Option<&'static str>,
    /// The writer hostgroup of its cluster.
    pub writer_hostgroup: Option<HostgroupId>,
    /// Where it stands now.
    pub hostgroups: BTreeSet<HostgroupId>,
    /// In milliseconds since the proxy's start.
    pub since_ms: Option<u64>,
    /// In words.
    pub why: Option<String>,
    /// Whether it takes writes, by the last look that told.
    pub is_read_only: Option<bool>,
    /// Seconds that it is behind its source, by the last look that told.
    pub lag_s: Option<u64>,
    /// Of the last ping.
    pub latency_us: Option<u64>,
    /// Why nothing new is sent to it, where that is so.
    pub trouble: Option<String>,
    /// How cold it is.
    pub warmth: Warmth,
}

/// How cold a server is: of its hostgroups, by one that holds it for that, if one does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Warmth {
    /// It gets little of its share, or none.
    pub is_held: bool,
    /// Percent of the pages that it had dumped; none where it loads none.
    pub loaded_pct: Option<u64>,
    /// Why it is held, or was not any more.
    pub why: Option<String>,
    /// When it was asked for a dump of its buffer pool, and began one, last; in milliseconds since the proxy's start.
    pub dumped_ms: Option<u64>,
    /// Why it begins none.
    pub dump_trouble: Option<String>,
}

/// A replication pair, as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// By what a server is known to be a writer.
    pub check: CheckType,
    /// Who takes the writes.
    pub writer: Option<ServerName>,
    /// All of its servers that an operator has not cut off.
    pub servers: Vec<ServerName>,
    /// Those that an operator lets take statements (ONLINE).
    pub online: Vec<ServerName>,
    /// Who took the writes last, there or not.
    pub last_writer: Option<ServerName>,
    /// How many servers are configured for it, those included that an operator has cut off.
    pub configured: usize,
    /// Those that may be sent statements at all (ONLINE, with a weight), and how heavy each is.
    pub weights: Vec<(ServerName, u64)>,
}

/// The pair of that writer hostgroup.
pub(super) fn pair(shared: &Shared, writer_hostgroup: HostgroupId) -> Option<Pair> {
    let places = shared.places.lock();
    let configured = places.configured();
    let pair = configured.clusters.pairs.iter().find(|pair| pair.writer == writer_hostgroup)?;
    let rows = [pair.writer, pair.reader].into_iter().flat_map(|id| configured.hostgroups.servers(id));
    let rows: Vec<_> = rows.collect();
    let named = |is_it: &dyn Fn(ServerStatus) -> bool| -> Vec<ServerName> {
        let some = rows.iter().filter(|row| is_it(row.status)).map(|row| row.name());
        some.collect::<BTreeSet<_>>().into_iter().collect()
    };
    let writes = |(placed, _): &&(nuthatch_config::Placed, u64)| {
        placed.writer_hostgroup == writer_hostgroup && placed.role == Role::Writer
    };
    let writer = places.placed().iter().find(writes).map(|(placed, _)| placed.server.clone());
    let servers = named(&|status| status != ServerStatus::OfflineHard);
    let online = named(&|status| status == ServerStatus::Online);
    let mut weights: BTreeMap<ServerName, u64> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.status == ServerStatus::Online && row.weight > 0) {
        let weight = weights.entry(row.name()).or_default();
        *weight = (*weight).max(row.weight.into());
    }
    Some(Pair {
        check: pair.check,
        writer,
        servers,
        online,
        last_writer: places.last_writer(writer_hostgroup).cloned(),
        configured: named(&|_| true).len(),
        weights: weights.into_iter().collect(),
    })
}

/// All servers, by host and port.
pub(super) fn placed(shared: &Shared) -> Vec<PlacedServer> {
    let places = shared.places.lock();
    let (in_force, now_ms) = (shared.configuration.snapshot(), shared.clock.now_ms());
    let rows = || in_force.hostgroups.iter().flat_map(|(_, rows)| rows);
    let names: BTreeSet<_> = rows().map(|row| row.name()).collect();
    let of = |name: ServerName| {
        let placed = places.placed().iter().find(|(placed, _)| placed.server == name);
        let servers: Vec<_> = shared.hostgroups.servers_at(&name.host, name.port).collect();
        PlacedServer {
            role: placed.map(|(placed, _)| placed.role.as_str()),
            writer_hostgroup: placed.map(|(placed, _)| placed.writer_hostgroup),
            hostgroups: rows().filter(|row| row.name() == name).map(|row| row.hostgroup).collect(),
            since_ms: placed.map(|(_, since)| *since),
            why: placed.map(|(placed, _)| placed.why.clone()),
            is_read_only: places.is_writable(&name).map(|is_writable| !is_writable),
            lag_s: servers.iter().find_map(|server| server.lag_s()),
            latency_us: servers.iter().find_map(|server| server.ping_us()),
            trouble: servers.iter().find_map(|server| server.why_not(now_ms)),
            warmth: warmth(&servers),
            name,
        }
    };
    names.into_iter().map(of).collect()
}

/// Of one server in its hostgroups.
fn warmth(servers: &[Arc<Server>]) -> Warmth {
    let mut gates: Vec<_> = servers.iter().map(|server| server.gate()).collect();
    gates.sort_by_key(|gate| (!gate.is_closed, gate.why.is_none()));
    let gate = gates.into_iter().next().unwrap_or_default();
    let dumps = servers.first().map(|server| server.known.life.dumps()).unwrap_or_default();
    Warmth {
        is_held: gate.is_closed,
        loaded_pct: gate.loaded_pct,
        why: gate.why,
        dumped_ms: dumps.last_ms,
        dump_trouble: dumps.trouble,
    }
}

/// The rows of `mysql_servers` in force, each with its status right now.
pub(super) fn servers_in_force(shared: &Shared) -> Vec<(Arc<ServerRow>, ServerStatus)> {
    let (in_force, now_ms) = (shared.configuration.snapshot(), shared.clock.now_ms());
    let servers = shared.hostgroups.servers();
    let status = |row: &Arc<ServerRow>| {
        let is_it = |server: &&Arc<_>| is_of(row, server);
        servers.iter().find(is_it).map_or(row.status, |server| server.status(now_ms))
    };
    let rows = in_force.hostgroups.iter().flat_map(|(_, rows)| rows);
    rows.map(|row| (Arc::clone(row), status(row))).collect()
}

fn is_of(row: &ServerRow, server: &Server) -> bool {
    (row.hostgroup, &row.host, row.port) == (server.hostgroup, &server.host, server.port)
}
