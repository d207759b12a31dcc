//! What rises and falls.

use std::sync::atomic::Ordering;

use nuthatch_cache::Usage;

use crate::backend::{PoolRow, line_levels};
use crate::exact::ExactLevels;
use crate::floor::Floor;
use crate::shared::Shared;
use crate::shared::answers::{CaptureUsage, ENVIRONMENTS_MAX};

/// Where the admin interface's figures come from, besides [`Totals`](crate::Totals).
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is named after the statistic that it becomes")]
pub struct Levels {
    pub uptime_seconds: u64,
    pub clients_connected: u64,
    pub clients_non_idle: u64,
    pub active_transactions: u64,
    pub sessions_pinned: u64,
    pub servers_created: u64,
    pub servers_failed: u64,
    pub servers_connected: u64,
    pub sessions_per_worker: Vec<u64>,
    pub digests: u64,
    pub digests_max: u64,
    pub digests_dropped: u64,
    /// Those whose answers are hardly copied for the cache.
    pub digests_on_probation: u64,
    /// Shapes of statements that the workers remember.
    pub shapes: u64,
    /// The most that they do.
    pub shapes_max: u64,
    /// Sessions that wait for a connection, and those in the longest line.
    pub waiting: u64,
    pub line_longest: u64,
    /// Bytes of the statements in the line that has most.
    pub line_bytes: u64,
    pub line_statements_max: u64,
    pub line_bytes_max: u64,
    /// Statements for which a line was too full.
    pub line_refused: u64,
    pub hostgroups_held: u64,
    /// Named ones without a server that takes statements.
    pub hostgroups_without_server: u64,
    pub environments: u64,
    pub environments_max: u64,
    pub max_connections: u64,
    pub cache: Usage,
    /// Copies of answers on their way into it.
    pub captures: CaptureUsage,
    /// Entries that are being read anew before their time is over.
    pub refreshes_under_way: u64,
    pub exact: ExactLevels,
    pub panics: u64,
}

/// All of it now.
pub(super) fn levels(shared: &Shared, floor: &Floor) -> Levels {
    let (mut non_idle, mut in_transaction, mut pinned) = (0, 0, 0);
    shared.roster.for_each(|_, handle| {
        let view = handle.view.lock();
        non_idle += u64::from(view.command != "Sleep");
        in_transaction += u64::from(view.pins.split(',').any(|pin| pin == "transaction"));
        pinned += u64::from(!view.pins.is_empty());
    });
    let (servers_created, servers_failed) = shared.hostgroups.connects();
    let (pools, lines) = (connection_pool(shared), line_levels(&shared.hostgroups));
    let variables = shared.configuration.snapshot();
    let (digests, lobbies) = (&shared.answers.digests, floor.lobbies());
    Levels {
        uptime_seconds: shared.clock.now_ms() / 1000,
        clients_connected: floor.taken() as u64,
        clients_non_idle: non_idle,
        active_transactions: in_transaction,
        sessions_pinned: pinned,
        servers_created,
        servers_failed,
        servers_connected: pools.iter().map(|row| row.conn_used + row.conn_free).sum(),
        sessions_per_worker: lobbies.iter().map(|lobby| lobby.taken() as u64).collect(),
        digests: digests.len() as u64,
        digests_max: variables.mysql.query_digests_max_entries,
        digests_dropped: digests.dropped(),
        digests_on_probation: digests.on_probation(),
        shapes: lobbies.iter().map(|lobby| lobby.memo.len() as u64).sum(),
        shapes_max: 2 * variables.mysql.shapes_max_entries * lobbies.len() as u64,
        waiting: lines.waiting,
        line_longest: lines.longest,
        line_bytes: lines.most_bytes,
        line_statements_max: variables.mysql.line_max_statements,
        line_bytes_max: variables.mysql.line_max_bytes,
        line_refused: lines.refused,
        hostgroups_held: lines.held,
        hostgroups_without_server: lines.without_server,
        environments: shared.answers.environments.len() as u64,
        environments_max: ENVIRONMENTS_MAX as u64,
        max_connections: variables.mysql.max_connections,
        cache: shared.answers.cache.usage(),
        captures: shared.answers.capture_room.usage(),
        refreshes_under_way: shared.answers.refreshes.load(Ordering::Relaxed) as u64,
        exact: shared.exact.levels(),
        panics: shared.panics(),
    }
}

/// The rows of `stats_mysql_connection_pool`.
pub(super) fn connection_pool(shared: &Shared) -> Vec<PoolRow> {
    let now_ms = shared.clock.now_ms();
    let mut rows: Vec<_> = shared.hostgroups.servers().iter().map(|server| server.pool_row(now_ms)).collect();
    rows.sort_by(|a, b| (a.hostgroup, &a.srv_host, a.srv_port).cmp(&(b.hostgroup, &b.srv_host, b.srv_port)));
    rows
}
