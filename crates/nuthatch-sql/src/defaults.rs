//! Texts that change what sessions begin with: the global values of session variables.
//!
//! An open session keeps what it began with, as it keeps the privileges of its login.

use crate::assignments::{Assignment, Assignments, ServerScope, assignments};
use crate::statement::Kind;
use crate::token::{Lexing, ServerFlavor};
use crate::variable::{Carry, SystemVariable};
use crate::words::{is_one_of, words};

/// Words of a text that sets global values at once, in whatever statement of several. PERSIST_ONLY waits for a restart.
const WORDS: [&[u8]; 2] = [b"global", b"persist"];

/// Whether a statement changes what sessions begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultsChange {
    /// As far as its text says, it does not. What it runs without saying so is not seen.
    No,
    /// A SET does, at once.
    Set,
    /// One of several statements, or what is prepared, may, at an unknown time.
    Within,
}

/// Whether a statement of this kind changes what sessions begin with.
#[must_use]
pub fn defaults_change(text: &[u8], kind: Kind, lexing: Lexing) -> DefaultsChange {
    match kind {
        _ if !says_so(text) || is_reset(text) => DefaultsChange::No,
        Kind::Set => of_set(text, lexing),
        Kind::Multi | Kind::Begin | Kind::Execute | Kind::Call | Kind::Other => DefaultsChange::Within,
        _ => DefaultsChange::No,
    }
}

fn of_set(text: &[u8], lexing: Lexing) -> DefaultsChange {
    let is_change = |assignment: &Assignment| match assignment {
        Assignment::Server { scope: ServerScope::Global | ServerScope::Persist, variable, .. } => {
            variable.is_inherited()
        }
        _ => false,
    };
    match assignments(text, lexing) {
        Some(Assignments::List(list)) if !list.iter().any(is_change) => DefaultsChange::No,
        Some(Assignments::List(_)) | None => DefaultsChange::Set,
        Some(Assignments::ForStatement { .. }) => DefaultsChange::Within,
        Some(_) => DefaultsChange::No,
    }
}

/// RESET PERSIST leaves the values as they are until the server's next start.
fn is_reset(text: &[u8]) -> bool {
    words(text).next().is_some_and(|word| word.eq_ignore_ascii_case(b"reset"))
}

fn says_so(text: &[u8]) -> bool {
    words(text).any(|word| is_one_of(word, &WORDS))
}

impl SystemVariable {
    /// Whether sessions begin with its global value: not what a login says itself, what follows the schema, and what the proxy has set
    /// on each connection.
    #[must_use]
    pub fn is_inherited(&self) -> bool {
        const OF_THE_LOGIN: [&str; 7] = [
            "character_set_client",
            "character_set_connection",
            "character_set_database",
            "character_set_results",
            "collation_connection",
            "collation_database",
            "session_track_state_change",
        ];
        /// Of these a session has the account's, the replication's or the proxy's value of now, or may set no other for itself (the delayed
        /// threads).
        const OF_NOW: [&str; 8] = [
            "max_delayed_threads",
            "max_insert_delayed_threads",
            "max_relay_log_size",
            "max_user_connections",
            "query_cache_strip_comments",
            "query_cache_type",
            "query_cache_wlock_invalidate",
            "sql_slave_skip_counter",
        ];
        // Others of these only tell something, which changes by itself: gtid_owned of MySQL has a global value.
        let is_begun_with = match self.carry() {
            Carry::ReadOnly => matches!(self.name(), "max_allowed_packet" | "net_buffer_length"),
            _ => self.is_known(),
        };
        is_begun_with && !OF_NOW.contains(&self.name()) && !OF_THE_LOGIN.contains(&self.name())
    }
}

/// What only some sessions may set for themselves, on both servers or on one (measured as a user without privileges on MariaDB 10.11
/// and MySQL 9.7).
#[rustfmt::skip]
const PRIVILEGED: [&str; 16] = [
    "binlog_annotate_row_events", "binlog_direct_non_transactional_updates", "binlog_format", "binlog_row_image",
    "binlog_row_value_options", "binlog_rows_query_log_events", "binlog_transaction_compression",
    "binlog_transaction_compression_level_zstd", "gtid_domain_id", "innodb_tmpdir", "log_disabled_statements",
    "server_id", "sql_log_bin", "sql_log_off", "wsrep_on", "xa_detach_on_prepare",
];
#[rustfmt::skip]
const PRIVILEGED_ON_MYSQL: [&str; 17] = [
    "bulk_insert_buffer_size", "character_set_filesystem", "connection_memory_chunk_size", "connection_memory_limit",
    "global_connection_memory_tracking", "gtid_next", "histogram_generation_max_mem_size", "innodb_strict_mode",
    "internal_tmp_mem_storage_engine", "low_priority_updates", "max_error_count", "min_examined_row_limit", "preload_buffer_size", "select_into_buffer_size",
    "select_into_disk_sync_delay", "sql_generate_invisible_primary_key", "sql_require_primary_key",
];

impl SystemVariable {
    /// Whether some users may not set it for their sessions.
    #[must_use]
    pub fn needs_privilege(&self, server: ServerFlavor) -> bool {
        let is_mysql = matches!(server, ServerFlavor::MySql(_));
        PRIVILEGED.contains(&self.name()) || is_mysql && PRIVILEGED_ON_MYSQL.contains(&self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::classify;

    #[test]
    fn statements_that_change_what_sessions_begin_with_are_told_from_others() {
        use DefaultsChange::{No, Set, Within};
        for (text, expected) in [
            ("SET GLOBAL sql_mode = ''", Set),
            ("set @@global.sql_mode = ''", Set),
            ("SET PERSIST sql_mode = DEFAULT", Set),
            ("SET @@persist.sql_mode = ''", Set),
            ("SET @a = 1, GLOBAL read_only = 1, @@global.lc_time_names = @a", Set),
            ("SET GLOBAL TRANSACTION ISOLATION LEVEL READ COMMITTED", Set),
            ("SET GLOBAL sql_select_limit = (SELECT f())", Set),
            ("/*!50000 SET GLOBAL sql_mode = '' */", Set),
            ("SET GLOBAL read_only = 1", No),
            ("SET GLOBAL hot.key_buffer_size = 1", Set),
            ("SET PERSIST_ONLY sql_mode = ''", No),
            ("SET sql_mode = @@global.sql_mode", No),
            ("SET SESSION sql_mode = ''", No),
            ("SET GLOBAL character_set_client = latin1", No),
            ("SET GLOBAL gtid_owned = ''", No),
            ("RESET PERSIST", No),
            ("DO 1; SET GLOBAL sql_mode = ''", Within),
            ("EXECUTE IMMEDIATE 'SET GLOBAL sql_mode = 1'", Within),
            ("SET STATEMENT lock_wait_timeout=5 FOR SET GLOBAL sql_mode = ''", Within),
            ("BEGIN NOT ATOMIC SET GLOBAL sql_mode = ''; END", Within),
            ("SELECT @@global.sql_mode", No),
            ("CALL p()", No),
            ("SHOW GLOBAL VARIABLES", No),
        ] {
            for server in [ServerFlavor::MariaDb(101_119), ServerFlavor::MySql(90_700)] {
                let lexing = Lexing::of(server);
                let kind = classify(text.as_bytes(), lexing).kind;
                assert_eq!(
                    defaults_change(text.as_bytes(), kind, lexing),
                    expected,
                    "{text} {server:?} {kind:?}"
                );
            }
        }
    }
}
