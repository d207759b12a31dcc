//! The variables that need more than to be set again, each with the reason; and those that have several names.

use super::Carry::{self, Autocommit, Idle, InsertId, Only, Ordered, Parts, Pins, ReadOnly, SqlMode};
use super::Group;

/// A variable that is not carried like most.
pub(super) struct Special {
    pub(super) name: &'static str,
    pub(super) carry: Carry,
    pub(super) why: &'static str,
}

/// Another name of a variable.
pub(super) struct Alias {
    pub(super) name: &'static str,
    pub(super) of: &'static str,
    pub(super) family: Family,
}

/// Whose servers have an alias.
#[derive(Clone, Copy)]
pub(super) enum Family {
    Both,
    MariaDb,
    MySql,
}

const fn row(name: &'static str, carry: Carry, why: &'static str) -> Special {
    Special { name, carry, why }
}

const fn alias(name: &'static str, of: &'static str, family: Family) -> Alias {
    Alias { name, of, family }
}

const OFF: Carry = Only(&["0", "off", "false"]);
const ON: Carry = Only(&["1", "on", "true"]);

/// Sorted by name.
#[rustfmt::skip]
pub(super) const SPECIAL: &[Special] = &[
    row("autocommit", Autocommit, "turning it on commits"),
    row("character_set_client", Ordered(Group::CharacterSet), "SET NAMES and SET CHARACTER SET set it"),
    row("character_set_collations", Ordered(Group::CharacterSet), "says which collation SET NAMES means"),
    row("character_set_connection", Ordered(Group::CharacterSet), "sets collation_connection"),
    row("character_set_database", Pins, "follows the default schema: each USE sets it"),
    row("character_set_results", Ordered(Group::CharacterSet), "SET NAMES and SET CHARACTER SET set it"),
    row("character_set_server", Ordered(Group::ServerCharacterSet), "sets collation_server"),
    row("collation_connection", Ordered(Group::CharacterSet), "sets character_set_connection"),
    row("collation_database", Pins, "follows the default schema: each USE sets it"),
    row("collation_server", Ordered(Group::ServerCharacterSet), "sets character_set_server"),
    row("completion_type", Only(&["0", "no_chain"]), "COMMIT begins a transaction, or ends the connection"),
    row("debug", Pins, "changes or stops the server itself; builds for debugging only"),
    row("debug_dbug", Pins, "changes or stops the server itself; builds for debugging only"),
    row("debug_sync", Pins, "changes or stops the server itself; builds for debugging only"),
    row("default_collation_for_utf8mb4", Ordered(Group::CharacterSet), "says which collation SET NAMES means"),
    row("default_master_connection", Pins, "is about a replication connection"),
    row("error_count", ReadOnly, "only tells something"),
    row("external_user", ReadOnly, "only tells something"),
    row("gtid_domain_id", Pins, "what the connection writes goes to the binlog as that of another server"),
    row("gtid_next", Only(&["automatic"]), "belongs to one transaction"),
    row("gtid_owned", ReadOnly, "only tells something"),
    row("gtid_seq_no", Pins, "belongs to the next statement or transaction"),
    row("immediate_server_version", Pins, "is set by the replay of a binlog only"),
    row("in_transaction", ReadOnly, "only tells something"),
    row("insert_id", Pins, "belongs to the next statement or transaction"),
    row("interactive_timeout", Idle, "the server would hang up on a connection that another session has by then"),
    row("last_gtid", ReadOnly, "only tells something"),
    row("last_insert_id", InsertId, "every INSERT changes it"),
    row("log_queries_not_using_indexes", Ordered(Group::SlowLog), "sets log_slow_filter"),
    row("log_slow_admin_statements", Ordered(Group::SlowLog), "sets log_slow_disabled_statements"),
    row("log_slow_disabled_statements", Ordered(Group::SlowLog), "sets log_slow_admin_statements and log_slow_slave_statements"),
    row("log_slow_filter", Ordered(Group::SlowLog), "log_queries_not_using_indexes sets it"),
    row("log_slow_slave_statements", Ordered(Group::SlowLog), "sets log_slow_disabled_statements"),
    row("max_allowed_packet", ReadOnly, "a session has what was global when it began"),
    row("max_join_size", Ordered(Group::SelectSize), "turns sql_big_selects on or off"),
    row("max_relay_log_size", Pins, "is about a replication connection"),
    row("max_user_connections", ReadOnly, "a session has what was global when it began"),
    row("net_buffer_length", ReadOnly, "a session has what was global when it began"),
    row("old", Ordered(Group::CharacterSet), "sets old_mode"),
    row("old_mode", Ordered(Group::CharacterSet), "says which character set the name utf8 means"),
    row("optimizer_switch", Parts, "'mrr=on' leaves the other switches as they were"),
    row("optimizer_trace", Only(&["enabled=off", "enabled=off,one_line=off"]), "traces stay in the connection"),
    row("optimizer_trace_features", Pins, "forgets the traces that the connection has"),
    row("optimizer_trace_limit", Pins, "forgets the traces that the connection has"),
    row("optimizer_trace_offset", Pins, "forgets the traces that the connection has"),
    row("original_commit_timestamp", Pins, "belongs to the next statement or transaction"),
    row("original_server_version", Pins, "is set by the replay of a binlog only"),
    row("proxy_user", ReadOnly, "only tells something"),
    row("pseudo_slave_mode", OFF, "the connection takes what comes for a binlog"),
    row("pseudo_thread_id", Pins, "the connection gives itself out for another"),
    row("rand_seed1", Pins, "each RAND() changes it"),
    row("rand_seed2", Pins, "each RAND() changes it"),
    row("rbr_exec_mode", Pins, "is set by the replay of a binlog only"),
    row("redirect_url", Pins, "sends clients elsewhere"),
    row("require_row_format", Pins, "is set by the replay of a binlog only"),
    row("resultset_metadata", Only(&["full"]), "changes the form of answers"),
    row("server_id", Pins, "what the connection writes goes to the binlog as that of another server"),
    row("session_track_gtids", OFF, "OK packets would say what those of the proxy do not"),
    row("session_track_transaction_info", OFF, "OK packets would say what those of the proxy do not"),
    row("skip_parallel_replication", OFF, "replicas would leave out what another session writes"),
    row("skip_replication", OFF, "replicas would leave out what another session writes"),
    row("sql_auto_is_null", OFF, "ON makes `id IS NULL` ask for the last insert id"),
    row("sql_big_selects", Ordered(Group::SelectSize), "max_join_size turns it on or off"),
    row("sql_log_bin", ON, "OFF on a connection that another session gets by mistake loses writes on replicas"),
    row("sql_mode", SqlMode, "ANSI_QUOTES and NO_BACKSLASH_ESCAPES change how statements are cut"),
    row("sql_slave_skip_counter", Pins, "is about a replication connection"),
    row("statement_id", ReadOnly, "only tells something"),
    row("system_versioning_asof", Only(&["default"]), "a time is read in the time zone of that moment"),
    row("timestamp", Only(&["0", "default"]), "the clock stands still: what the cache takes for volatile is not, and the reverse"),
    row("transaction_allow_batching", Pins, "is set by the replay of a binlog only"),
    row("wait_timeout", Idle, "the server would hang up on a connection that another session has by then"),
    row("warning_count", ReadOnly, "only tells something"),
    row("wsrep_causal_reads", Ordered(Group::Galera), "sets wsrep_sync_wait"),
    row("wsrep_gtid_seq_no", Pins, "belongs to the next statement or transaction"),
    row("wsrep_on", ON, "the cluster would not get what another session writes"),
    row("wsrep_sync_wait", Ordered(Group::Galera), "sets wsrep_causal_reads"),
];

/// Each set on one name and read by the other in the end-to-end tests. The manuals' pages of the variables say so too.
#[rustfmt::skip]
pub(super) const ALIASES: &[Alias] = &[
    // "A synonym for last_insert_id", both manuals.
    alias("identity", "last_insert_id", Family::Both),
    // MySQL 5.7.20 and MariaDB 11.1.1 gave them the second names; MySQL 8.0.3 took the first away.
    alias("tx_isolation", "transaction_isolation", Family::Both),
    alias("tx_read_only", "transaction_read_only", Family::Both),
    // MariaDB's server system variables: "alias for" or "synonym of".
    alias("log_slow_min_examined_row_limit", "min_examined_row_limit", Family::MariaDb),
    alias("log_slow_query", "slow_query_log", Family::MariaDb),
    alias("log_slow_query_time", "long_query_time", Family::MariaDb),
    // In MySQL a variable of its own.
    alias("old_alter_table", "alter_algorithm", Family::MariaDb),
    // MySQL took it away in 5.7.5.
    alias("storage_engine", "default_storage_engine", Family::Both),
    alias("tmp_memory_table_size", "tmp_table_size", Family::MariaDb),
    // MySQL 8.0.26.
    alias("pseudo_replica_mode", "pseudo_slave_mode", Family::MySql),
];
