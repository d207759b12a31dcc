//! What the admin interface asks of the running proxy.
//!
//! The program implements [`DataPlane`] over the proxy, so that this crate does not know it. All methods are called from
//! the admin's own thread or from the metrics task, never from a worker; an implementation may take as long as it needs to
//! collect its rows, and must not wait for the admin interface.

use std::pin::Pin;
use std::sync::Arc;

use nuthatch_config::{Server, ServerStatus, Snapshot};

use crate::statistic::Sample;
use crate::stats::rows::{
    CommandCountersRow, ConnectionPoolRow, ErrorRow, LineRow, LostTransactionsRow, MemoryRow, ProcessRow,
    QueryCacheAdviceRow, QueryCacheEntryRow, QueryCacheFollowRow, QueryCacheRow, QueryCacheTableRow,
    QueryDigestRow, QueryRuleRow, RoleChangeRow, ServerRow, UserRow,
};

/// The running proxy, as operators see it.
pub trait DataPlane: Send + Sync + 'static {
    /// Puts the configuration in force: when this returns, every worker decides by it.
    fn publish(&self, snapshot: Arc<Snapshot>);

    /// Every figure that has a source, in any order; a statistic without a source is left out.
    fn status(&self) -> Vec<Sample>;

    /// The rows of `stats_mysql_query_digest`; with [`Reading::Reset`] the map is empty afterwards and the rows returned
    /// are what it held.
    fn query_digests(&self, reading: Reading) -> Vec<QueryDigestRow>;

    /// The rows of `stats_query_cache`; with [`Reading::Reset`] the map of digests is empty afterwards, as after
    /// [`Self::query_digests`].
    fn query_cache(&self, reading: Reading) -> Vec<QueryCacheRow>;

    /// The rows of `stats_query_cache_tables`: one for each table that the cache knows.
    fn query_cache_tables(&self) -> Vec<QueryCacheTableRow>;

    /// The rows of `stats_query_cache_entries`: the largest entries.
    fn query_cache_entries(&self) -> Vec<QueryCacheEntryRow>;

    /// The rows of `stats_query_cache_follow`; none where no binlog is followed.
    fn query_cache_follow(&self) -> Vec<QueryCacheFollowRow> {
        Vec::new()
    }

    /// The rows of `stats_query_cache_advice`.
    fn query_cache_advice(&self) -> Vec<QueryCacheAdviceRow>;

    /// The rows of `stats_mysql_query_rules`: each rule in force and how often it matched.
    fn query_rules(&self) -> Vec<QueryRuleRow>;

    /// The rows of `stats_mysql_connection_pool`; with [`Reading::Reset`] the counters (not the levels) start anew.
    fn connection_pool(&self, reading: Reading) -> Vec<ConnectionPoolRow>;

    /// The rows of `stats_mysql_processlist`: one for each client session.
    fn processlist(&self) -> Vec<ProcessRow>;

    /// The rows of `stats_mysql_users`: one for each frontend user in force.
    fn users(&self) -> Vec<UserRow>;

    /// The rows of `stats_nuthatch_lines`; none where nobody waits in lines.
    fn lines(&self) -> Vec<LineRow> {
        Vec::new()
    }

    /// Does what the operator asked of a hostgroup.
    ///
    /// # Errors
    /// A sentence that says why not.
    fn order(&self, _hostgroup: u32, _order: HostgroupOrder) -> Result<(), String> {
        Err("this data plane holds no hostgroups".to_owned())
    }

    /// The rows of `stats_mysql_commands_counters`; none where they are not counted.
    fn commands_counters(&self) -> Vec<CommandCountersRow> {
        Vec::new()
    }

    /// The rows of `stats_memory_metrics`; none where memory is not measured.
    fn memory_metrics(&self) -> Vec<MemoryRow> {
        Vec::new()
    }

    /// The rows of `stats_mysql_errors`; none where errors are not kept.
    fn errors(&self, _reading: Reading) -> Vec<ErrorRow> {
        Vec::new()
    }

    /// What the monitor's checks of one kind came to, the oldest first; none without a monitor.
    fn check_log(&self, _log: CheckLog) -> Vec<CheckResult> {
        Vec::new()
    }

    /// The rows of `stats_nuthatch_servers`; none where nobody looks at servers.
    fn servers(&self) -> Vec<ServerRow> {
        Vec::new()
    }

    /// The rows of `stats_nuthatch_lost_transactions`, the oldest first; none where nobody changes primaries.
    fn lost_transactions(&self) -> Vec<LostTransactionsRow> {
        Vec::new()
    }

    /// The rows of `stats_nuthatch_role_changes`, the oldest first; none where nobody changes roles.
    fn role_changes(&self) -> Vec<RoleChangeRow> {
        Vec::new()
    }

    /// The rows of `mysql_servers` in force, with all servers where they stand now, and each one's status now.
    fn servers_in_force(&self) -> Vec<(Arc<Server>, ServerStatus)>;

    /// Purges the query cache wholly and returns how many entries were in it.
    fn flush_query_cache(&self) -> u64;

    /// Purges the part of the query cache that the statement, a `PURGE QUERY CACHE …`, names; says how many entries that were, and what
    /// was done in words.
    ///
    /// # Errors
    /// A sentence that says what is wrong with the statement; nothing was purged.
    fn purge_query_cache(&self, statement: &str) -> Result<(u64, String), String>;

    /// What the query cache would do with the statement that this one, an `EXPLAIN CACHE …`, is about: steps and findings.
    ///
    /// # Errors
    /// A sentence that says what is wrong with the statement.
    fn explain_cache(&self, statement: &str) -> Result<Vec<(&'static str, String)>, String>;

    /// Reads certificate and key again; clients that connect from now on see them.
    ///
    /// # Errors
    /// A sentence that says what is wrong with them; the old ones stay in force.
    fn reload_tls(&self) -> Result<(), String>;

    /// Closes the client session of that number. The answer says if there was one.
    fn kill_connection(&self, session: u64) -> Killed;

    /// Has another server take the writes of a pair, or says what would hinder it: rows of what was done or found, each with its time or
    /// weight. What was begun is brought to its end also if the future is dropped.
    ///
    /// # Errors
    /// Sentences: it was refused, taken back, or is left for somebody to finish.
    fn switch_over(&self, _order: SwitchoverOrder) -> Switching {
        Box::pin(std::future::ready(Err("nobody changes primaries here".to_owned())))
    }

    /// Puts another server in the place of a primary that is gone, or says what would hinder it; as [`Self::switch_over`].
    ///
    /// # Errors
    /// Sentences: it was refused, taken back, or is left for somebody to finish.
    fn fail_over(&self, _order: FailoverOrder) -> Switching {
        Box::pin(std::future::ready(Err("nobody changes primaries here".to_owned())))
    }

    /// Does what the operator asked of the whole process. The answer to the operator is sent after this returns, so a verb
    /// that ends the process only begins to end it here.
    fn act(&self, verb: ProcessVerb);
}

/// A table of the monitor's checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckLog {
    /// `mysql_server_connect_log`.
    Connect,
    /// `mysql_server_ping_log`.
    Ping,
    /// `mysql_server_replication_lag_log`.
    ReplicationLag,
    /// `mysql_server_read_only_log`.
    ReadOnly,
    /// `mysql_server_group_replication_log`.
    GroupReplication,
    /// `mysql_server_galera_log`.
    Galera,
}

/// What a check of the monitor's came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckResult {
    /// As configured.
    pub hostname: String,
    /// As configured.
    pub port: u16,
    /// When it began, in microseconds since 1970.
    pub began_us: u64,
    /// Microseconds that it took; none where it failed.
    pub took_us: Option<u64>,
    /// What it found, in the order of the table's own columns; what is missing is NULL.
    pub found: Vec<Option<String>>,
    /// Why it failed.
    pub error: Option<String>,
}

/// What becomes of a [`DataPlane::switch_over`].
pub type Switching = Pin<Box<dyn Future<Output = Result<Vec<(String, String)>, String>> + Send>>;

/// `NUTHATCH SWITCHOVER`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwitchoverOrder {
    /// The writer hostgroup of a replication pair.
    pub hostgroup: u32,
    /// Who is to take the writes.
    pub hostname: String,
    /// Its port.
    pub port: u16,
    /// Whether it is to be done.
    pub mode: SwitchoverMode,
}

/// `NUTHATCH FAILOVER`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailoverOrder {
    /// The writer hostgroup of a replication pair.
    pub hostgroup: u32,
    /// Host and port of who is to take the writes; none for who has most.
    pub to: Option<(String, u16)>,
    /// Whether it is to be done.
    pub mode: SwitchoverMode,
}

/// Whether a switchover is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SwitchoverMode {
    /// Only what would hinder it is told.
    Check,
    /// It is done.
    Act,
}

/// What happens to counters that were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// They go on.
    Keep,
    /// They start at zero: what was read is what they held up to then.
    Reset,
}

/// What came of a [`DataPlane::kill_connection`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Killed {
    /// The session was told to close.
    Told,
    /// There is no session of that number.
    Unknown,
}

/// What an operator may ask of a hostgroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostgroupOrder {
    /// Have new statements wait.
    Hold {
        /// For so long at most.
        max_ms: u64,
    },
    /// Let them go on.
    Release,
}

/// Verbs that act on the whole process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessVerb {
    /// Take no new clients; those that are there go on.
    Pause,
    /// Take new clients again.
    Resume,
    /// Drain and stop, as on SIGTERM.
    Shutdown,
    /// Stop at once, without a drain.
    Kill,
}
