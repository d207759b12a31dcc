//! Which servers the monitor is to look at, and what for.

use std::collections::HashSet;

use nuthatch_config::{CheckType, ClusterKind, HostgroupId, ServerName, ServerStatus, Snapshot, Warming};
use nuthatch_net::{BackendAddress, BackendTls, ClearPasswords};

use crate::backend::clear_passwords;
use crate::shared::Shared;

/// A server, whatever the number of hostgroups that it stands in.
#[derive(Debug, Clone)]
pub struct MonitoredServer {
    /// As configured.
    pub name: ServerName,
    /// Where it is.
    pub address: BackendAddress,
    /// TLS for the account, if connections to it have it; a sentence where it is to be used and cannot be.
    pub tls: Result<Option<BackendTls>, String>,
    /// Whether a server that asks for the password itself gets it.
    pub clear_passwords: ClearPasswords,
    /// How far it is behind matters in some hostgroup.
    pub may_be_behind: bool,
    /// Milliseconds between dumps of its buffer pool, 0 for none; none where nothing of it matters.
    pub pool_dump_interval_ms: Option<u64>,
    /// By which checks its pairs know their writers.
    pub access: Vec<CheckType>,
    /// Of what it is a member, and how many transactions it may be behind there; 0 for no limit.
    pub member: Option<(ClusterKind, u64)>,
}

/// All servers but those that an operator has cut off (OFFLINE_HARD), as this user reaches them.
pub(super) fn monitored(shared: &Shared, user: &str) -> Vec<MonitoredServer> {
    let configured = std::sync::Arc::clone(shared.places.lock().configured());
    let mut seen = HashSet::new();
    let mut monitored = Vec::new();
    let servers = shared.hostgroups.servers();
    for server in &servers {
        let name = ServerName { host: server.host.clone(), port: server.port };
        let rows: Vec<_> = rows_of(&configured, &name).collect();
        let is_cut_off = rows.iter().all(|row| row.status == ServerStatus::OfflineHard);
        if is_cut_off || !seen.insert(name.clone()) {
            continue;
        }
        let tls = server.tls_of(user);
        let placed = servers.iter().filter(|other| other.is_same_as(server)).map(|other| other.hostgroup);
        let named = rows.iter().map(|row| row.hostgroup);
        monitored.push(MonitoredServer {
            address: server.address().clone(),
            tls: tls.map_err(|error| error.to_string()),
            clear_passwords: clear_passwords(&configured.mysql),
            may_be_behind: rows.iter().any(|row| row.max_replication_lag > 0),
            pool_dump_interval_ms: pool_dump_interval_ms(&configured, placed.chain(named)),
            access: access(&configured, &name),
            member: member(&configured, &name),
            name,
        });
    }
    monitored
}

fn rows_of<'a>(
    configured: &'a Snapshot,
    name: &'a ServerName,
) -> impl Iterator<Item = &'a nuthatch_config::Server> {
    configured
        .hostgroups
        .iter()
        .filter_map(|(id, _)| configured.hostgroups.server(id, name))
        .map(|row| &**row)
}

/// The shortest interval of its hostgroups: those that it is configured in, and those that it has been placed in.
fn pool_dump_interval_ms(
    configured: &Snapshot,
    hostgroups: impl Iterator<Item = HostgroupId>,
) -> Option<u64> {
    let warming = hostgroups.map(|hostgroup| configured.warming(hostgroup));
    let intervals: Vec<_> = warming.filter(Warming::is_any).map(|warming| warming.dump_interval_ms).collect();
    let shortest = intervals.iter().copied().filter(|interval_ms| *interval_ms > 0).min();
    (!intervals.is_empty()).then_some(shortest.unwrap_or(0))
}

fn stands_in(configured: &Snapshot, name: &ServerName, hostgroups: &[HostgroupId]) -> bool {
    hostgroups.iter().any(|id| configured.hostgroups.server(*id, name).is_some())
}

fn access(configured: &Snapshot, name: &ServerName) -> Vec<CheckType> {
    let pairs = configured.clusters.pairs.iter();
    let own = pairs.filter(|pair| stands_in(configured, name, &[pair.writer, pair.reader]));
    let mut checks: Vec<_> = own.map(|pair| pair.check).collect();
    checks.sort_unstable();
    checks.dedup();
    checks
}

fn member(configured: &Snapshot, name: &ServerName) -> Option<(ClusterKind, u64)> {
    let mut clusters = configured.clusters.clusters.iter();
    let own = clusters.find(|cluster| stands_in(configured, name, &cluster.hostgroups()))?;
    Some((own.kind, own.behind_max))
}
