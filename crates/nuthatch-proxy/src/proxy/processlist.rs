//! The rows of `stats_mysql_processlist`.

use std::sync::atomic::Ordering;

use crate::shared::Shared;

/// A row of `stats_mysql_processlist`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the columns of ProxySQL's table under their names")]
pub struct ProcessRow {
    pub worker: u64,
    pub session_id: u32,
    pub user: String,
    pub db: Vec<u8>,
    pub cli_host: String,
    pub cli_port: u16,
    pub hostgroup: Option<u32>,
    pub command: &'static str,
    pub time_ms: u64,
    pub info: Option<Vec<u8>>,
    pub server_host: Option<String>,
    pub server_port: Option<u16>,
    pub local_host: Option<String>,
    pub local_port: Option<u16>,
    pub pins: String,
}

/// All sessions, by their numbers.
pub(super) fn processlist(shared: &Shared) -> Vec<ProcessRow> {
    let now_ms = shared.clock.now_ms();
    let mut rows = Vec::new();
    shared.roster.for_each(|worker, handle| {
        let view = handle.view.lock().clone();
        let idle_since_ms = handle.last_active_ms.load(Ordering::Relaxed);
        let since_ms = if view.command == "Sleep" { idle_since_ms } else { view.since_ms };
        let info = view.shown_info();
        let server = view.server().map(|server| (server.host.clone(), server.port));
        let (server_host, server_port) = server.unzip();
        rows.push(ProcessRow {
            worker: worker as u64,
            session_id: handle.id,
            user: view.user.map(|user| user.to_string()).unwrap_or_default(),
            db: view.schema,
            cli_host: handle.address().host.to_string(),
            cli_port: handle.address().port,
            hostgroup: view.hostgroup.filter(|_| view.command != "Sleep" || !view.pins.is_empty()),
            command: view.command,
            time_ms: now_ms.saturating_sub(since_ms),
            info,
            server_host,
            server_port,
            local_host: None,
            local_port: None,
            pins: view.pins,
        });
    });
    rows.sort_by_key(|row| row.session_id);
    rows
}
