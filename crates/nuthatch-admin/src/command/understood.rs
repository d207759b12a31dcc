//! What statements of operators may mean.

use super::shown::Show;
use crate::data_plane::{FailoverOrder, HostgroupOrder, ProcessVerb, SwitchoverOrder};

/// One statement, understood. It may hold passwords, so it can be shown in tests only.
#[derive(Clone, PartialEq, Eq)]
#[cfg_attr(test, derive(Debug))]
pub(crate) enum Command {
    /// Nothing is done and the answer is OK: a comment, or a setting of the session that means nothing here.
    Nothing,
    /// SQL for SQLite, as it was typed but for `@@` variables.
    Sql(String),
    /// `COMMIT` or `ROLLBACK`: SQL, and OK if no transaction is open, as clients expect.
    EndTransaction(&'static str),
    /// `USE schema`.
    Use(String),
    /// `SET mysql-x = …` or `SET admin-x = …`.
    SetVariable {
        /// The full name.
        name: String,
        /// The value's text.
        value: String,
    },
    /// A `SHOW` or `DESCRIBE` that is answered by a SELECT.
    Show(Show),
    /// `SHOW WARNINGS`.
    Warnings,
    /// `SHOW COUNT(*) WARNINGS`.
    WarningCount,
    /// `SHOW PROMETHEUS METRICS`.
    PrometheusMetrics,
    /// The one line that COM_STATISTICS asks for; no statement says this.
    StatisticsLine,
    /// What a client's SET GLOBAL means; no statement of an operator says this.
    PutInForce {
        /// The variable's name without `mysql-`.
        name: &'static str,
        /// The value's text.
        value: String,
    },
    /// `LOAD …` or `SAVE …`.
    Transfer(nuthatch_config::Verb),
    /// `PROXYSQL FLUSH QUERY CACHE`, `RESET QUERY CACHE`, `PURGE QUERY CACHE`: no entry stays.
    EmptyQueryCache,
    /// `PURGE QUERY CACHE` with more behind it, as it was typed.
    PurgeQueryCache(String),
    /// `EXPLAIN CACHE …`, as it was typed.
    ExplainCache(String),
    /// `PROXYSQL HELP`.
    Help,
    /// `PROXYSQL RELOAD TLS`.
    ReloadTls,
    /// `PROXYSQL PAUSE` and its like.
    Act(ProcessVerb),
    /// `NUTHATCH SWITCHOVER …`.
    Switchover(SwitchoverOrder),
    /// `NUTHATCH FAILOVER …`.
    Failover(FailoverOrder),
    /// `NUTHATCH HOLD HOSTGROUP n` and its like.
    Order {
        /// Which.
        hostgroup: u32,
        /// What is to be done with it.
        order: HostgroupOrder,
    },
    /// `KILL [CONNECTION] n`.
    Kill(u64),
    /// `TRUNCATE [TABLE] stats.stats_mysql_query_digest`.
    TruncateDigests,
    /// Understood, and refused: what is not there yet.
    Unsupported(String),
    /// Neither SQL nor one of our verbs: what is wrong with it.
    Malformed(String),
}
