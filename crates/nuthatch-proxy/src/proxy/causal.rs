//! Clusters whose servers are to be proven to show what sessions have seen, and what becomes of that.

use std::sync::Arc;

use nuthatch_config::{HostgroupId, ServerName, ServerStatus, Snapshot};

use crate::backend::CatchUp;
use crate::proxy::monitored::{MonitoredServer, monitored};
use crate::shared::Shared;

/// The servers of one cluster.
#[derive(Debug, Clone)]
pub struct CausalCluster {
    /// Who writes stands there.
    pub hostgroup: HostgroupId,
    /// Who writes, if anybody does.
    pub writer: Option<MonitoredServer>,
    /// Who may answer what sessions have seen, the writer aside.
    pub readers: Vec<MonitoredServer>,
    /// What is wished to be proven.
    pub wishes: Arc<CatchUp>,
}

/// The clusters of which some statement is answered by servers that may be behind, as this user reaches their servers.
pub(super) fn clusters(shared: &Shared, user: &str) -> Vec<CausalCluster> {
    let snapshot = shared.configuration.snapshot();
    let all = monitored(shared, user);
    let reachable = |name: &ServerName| all.iter().find(|server| server.name == *name).cloned();
    let of = |(hostgroup, readers): (HostgroupId, Vec<HostgroupId>)| {
        let writer = names(&snapshot, hostgroup).first().and_then(reachable);
        let mut others: Vec<_> = readers.iter().flat_map(|readers| names(&snapshot, *readers)).collect();
        others.sort_by(|one, other| (&one.host, one.port).cmp(&(&other.host, other.port)));
        others.dedup();
        others.retain(|name| writer.as_ref().is_none_or(|writer| writer.name != *name));
        let readers = others.iter().filter_map(reachable).collect();
        let wishes = shared.hostgroups.catch_ups.of(hostgroup);
        CausalCluster { hostgroup, writer, readers, wishes }
    };
    hostgroups(&snapshot).into_iter().map(of).collect()
}

/// Whether statements that write in the hostgroup are sent to that server now.
pub(super) fn writes(shared: &Shared, hostgroup: HostgroupId, server: &ServerName) -> bool {
    names(&shared.configuration.snapshot(), hostgroup).first() == Some(server)
}

/// Who writes, and who may answer in its place.
fn hostgroups(snapshot: &Snapshot) -> Vec<(HostgroupId, Vec<HostgroupId>)> {
    let mut all: Vec<(HostgroupId, Vec<HostgroupId>)> = Vec::new();
    if snapshot.splits_reads() {
        all.extend(snapshot.clusters.pairs.iter().map(|pair| (pair.writer, vec![pair.reader])));
    }
    for rule in snapshot.rules.iter() {
        let Some((from, to)) = rule.gtid_from_hostgroup.zip(rule.destination_hostgroup) else { continue };
        match all.iter_mut().find(|(writer, _)| *writer == from) {
            Some((_, readers)) => readers.push(to),
            None => all.push((from, vec![to])),
        }
    }
    all
}

/// The servers of a hostgroup that take statements, as far as the configuration tells.
fn names(snapshot: &Snapshot, hostgroup: HostgroupId) -> Vec<ServerName> {
    let rows = snapshot.hostgroups.servers(hostgroup).iter();
    let online = rows.filter(|row| row.status == ServerStatus::Online);
    online.map(|row| ServerName { host: row.host.clone(), port: row.port }).collect()
}
