//! Which servers the monitor is to look at, and what it has found.

use std::collections::HashSet;
use std::sync::Arc;

use nuthatch_config::ServerStatus;
use nuthatch_net::{BackendAddress, BackendTls, ClearPasswords};

use crate::backend::clear_passwords;
use crate::shared::Shared;

/// A server, whatever the number of hostgroups that it stands in.
#[derive(Debug, Clone)]
pub struct MonitoredServer {
    /// As configured.
    pub host: String,
    /// As configured; 0 for a socket.
    pub port: u16,
    /// Where it is.
    pub address: BackendAddress,
    /// TLS for the monitor's account, if connections to it have it; a sentence where it is to be used and cannot be.
    pub tls: Result<Option<BackendTls>, String>,
    /// Whether a server that asks for the password itself gets it.
    pub clear_passwords: ClearPasswords,
    /// How far it is behind matters in some hostgroup.
    pub may_be_behind: bool,
}

/// All servers but those that are cut off (OFFLINE_HARD).
pub(super) fn monitored(shared: &Shared) -> Vec<MonitoredServer> {
    let (snapshot, now_ms) = (shared.configuration.snapshot(), shared.clock.now_ms());
    let rows = || snapshot.hostgroups.iter().flat_map(|(_, servers)| servers);
    let mut seen = HashSet::new();
    let mut monitored = Vec::new();
    for server in shared.hostgroups.servers() {
        let is_cut_off = server.status(now_ms) == ServerStatus::OfflineHard;
        if is_cut_off || !seen.insert((server.host.clone(), server.port)) {
            continue;
        }
        let tls = server.tls_of(&snapshot.mysql.monitor_username);
        let is_it =
            |row: &&Arc<nuthatch_config::Server>| (&row.host, row.port) == (&server.host, server.port);
        let may_be_behind = rows().filter(is_it).any(|row| row.max_replication_lag > 0);
        monitored.push(MonitoredServer {
            host: server.host.clone(),
            port: server.port,
            address: server.address().clone(),
            tls: tls.map_err(|error| error.to_string()),
            clear_passwords: clear_passwords(&snapshot.mysql),
            may_be_behind,
        });
    }
    monitored
}
