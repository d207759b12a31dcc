//! The counters of one worker.
//!
//! Only the worker's own thread writes them, so a bump is a load and a store on a line that no other core writes; anyone
//! may read. A counter that several threads bump is not here.

use std::sync::atomic::{AtomicU64, Ordering};

/// Defines the counters once: their struct, its sum over workers, and the reading of both.
macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// One worker's counters. See the module's doc.
        #[derive(Debug, Default)]
        #[repr(align(128))]
        pub(crate) struct Counters { $($(#[$doc])* pub(crate) $name: Counter,)* }

        /// The counters of all workers together.
        #[derive(Debug, Default, Clone, PartialEq, Eq)]
        pub struct Totals { $($(#[$doc])* pub $name: u64,)* }

        impl Totals {
            /// Adds one worker's counters.
            pub(crate) fn add(&mut self, worker: &Counters) {
                $(self.$name += worker.$name.read();)*
            }
        }
    };
}

/// A counter that one thread bumps.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn bump(&self) {
        self.add(1);
    }

    pub(crate) fn add(&self, n: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

counters! {
    /// Statements and commands of clients.
    questions,
    /// Sessions that got past their login.
    clients_created,
    /// Sessions that ended without COM_QUIT, and connections that ended before a login.
    clients_aborted,
    /// Logins refused for a wrong user or password.
    denied_password,
    /// Connections refused for `mysql-max_connections`.
    denied_max_connections,
    /// Logins refused for a user's `max_connections`.
    denied_max_user_connections,
    /// Bytes that came from clients.
    frontend_bytes_received,
    /// Bytes that went to clients.
    frontend_bytes_sent,
    /// Bytes that came from servers.
    backend_bytes_received,
    /// Bytes that went to servers.
    backend_bytes_sent,
    /// Look-ups of statements that may be cached.
    cache_get,
    /// Of those, the ones answered from the cache.
    cache_get_ok,
    /// Bytes of answers from the cache.
    cache_bytes_out,
    /// Of the hits, those whose entries were compressed.
    cache_decompressions,
    /// Bytes of the buffers in which they are decompressed.
    cache_scratch_bytes,
    /// SELECTs that went to a server and could not be cached, or were not wanted in the cache.
    selects_not_cached,
    /// Answers of which no copy was made, as those of their digests did not pay.
    answers_on_probation,
    /// Statements that waited for somebody else's answer to the same.
    cache_waits,
    /// Of those, the ones that were answered so.
    cache_waits_answered,
    /// Of those, the ones that had waited for as long as they may.
    cache_waits_over,
    /// Entries that were read anew before their time was over.
    cache_refreshes,
    /// What was to be read anew so, and was not stored.
    cache_refreshes_failed,
    /// What was to be read anew while as much was as may be at a time.
    cache_refreshes_refused,
    /// Answers past their time that were given because no server answered.
    cache_stale_answers,
    /// Snapshots of transactions that were opened for a read that the cache was to answer.
    cache_snapshots_opened,
    /// Sessions' connections taken from a pool at once.
    pool_immediate,
    /// Sessions' connections had after all.
    pool_success,
    /// Requests for a connection that failed.
    pool_failure,
    /// Of those, the ones that ran into `connect_timeout_server_max`.
    connect_timeouts,
    /// ERR packets that the proxy itself made.
    generated_errors,
    /// `SET NAMES` sent by the proxy to bring a connection into a session's state.
    backend_set_names,
    /// `COM_INIT_DB` sent for the same.
    backend_init_db,
    /// `COM_CHANGE_USER` sent to leave a schema.
    backend_change_user,
    /// Connects that a server refused for its own limit of connections.
    servers_without_room,
    /// `SET autocommit` sent for the same.
    backend_set_autocommit,
    /// `SET` of other variables sent for the same.
    backend_set_variables,
    /// COM_INIT_DB from clients.
    frontend_init_db,
    /// `USE` from clients.
    frontend_use_db,
    /// `SET NAMES` from clients.
    frontend_set_names,
    /// COMMIT from clients.
    commit,
    /// Of these and of ROLLBACK, those that were answered before their server had.
    commit_early,
    /// COMMIT answered without a server, for want of a transaction.
    commit_filtered,
    /// ROLLBACK from clients.
    rollback,
    /// ROLLBACK answered without a server.
    rollback_filtered,
    /// `SET autocommit` from clients.
    autocommit,
    /// `SET autocommit` answered without a server.
    autocommit_filtered,
    /// COM_STMT_PREPARE from clients, each forwarded.
    stmt_prepare,
    /// COM_STMT_EXECUTE from clients, each forwarded.
    stmt_execute,
    /// COM_STMT_CLOSE from clients, each forwarded.
    stmt_close,
    /// Statements slower than `mysql-long_query_time`.
    slow_queries,
    /// Statements sent again after their connection was lost.
    retries,
    /// Reads that `mysql-read_write_split` sent to readers.
    reads_split,
    /// Statements that waited until a server was known to show what their session has seen.
    causal_reads_waited,
    /// Microseconds for which they did.
    causal_reads_waited_us,
    /// Statements that went to who writes for want of such a server.
    causal_reads_by_writer,
    /// Sessions that ended by a panic.
    panics,
    /// Packets out of order or otherwise not the protocol.
    malformed_packets,
    /// Statements whose connection was lost or cut before their answer was whole.
    lost_during_query,
    /// Statements by which a transaction may have been committed or not, as their connection was lost.
    unknown_commits,
    /// Transactions whose connection was lost and that were to be done again.
    replays,
    /// Of those, the ones that were.
    replays_done,
    /// Of those, the ones that were not for a statement that cannot be repeated.
    replays_refused_statement,
    /// The same for tables without transactions.
    replays_refused_tables,
    /// The same for their size, or the time that it takes.
    replays_refused_limits,
    /// The same as it is not known that the lost thread is gone.
    replays_refused_alive,
    /// The same as what was told is not so again.
    replays_refused_differs,
    /// Connections that a session kept beyond its statement.
    pins,
    /// Connections whose statement was ended by a KILL, for nobody waited for it.
    killed_connections,
    /// Statements that a client's KILL ended.
    killed_queries,
    /// Statements whose time was over before they had their answer.
    late_statements,
    /// Sessions that ended because their transaction lasted too long.
    long_transactions,
    /// The same, because it was idle for too long.
    idle_transactions,
    /// Waits for a connection that `throttle_connections_per_sec` made longer.
    throttled,
    /// Connections with state that were reset and put back.
    resets,
    /// Lists of warnings and errors that were fetched, so that no connection had to be held for them.
    diagnostics_fetched,
}
