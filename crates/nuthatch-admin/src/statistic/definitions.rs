//! The definitions themselves.
//!
//! Names are ProxySQL's where ProxySQL has the figure, metric names follow its exporter with our prefix. What is ours
//! stands at the end. A new figure is one line here and one sample in the data plane's `status()`.

use super::{Definition, Kind, Label};

macro_rules! label {
    () => {
        Label::None
    };
    ($label:literal) => {
        Label::Part($label)
    };
    ($label:literal = $value:literal) => {
        Label::Fixed($label, $value)
    };
}

macro_rules! statistics {
    ($($key:ident = $kind:ident $name:literal, $metric:literal {$($label:tt)*}, $help:literal;)*) => {
        /// The key of a global statistic; [`Statistic::definition`] says the rest.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Statistic {
            $(#[doc = $help] $key,)*
        }

        pub(super) static DEFINITIONS: &[Definition] = &[
            $(Definition {
                statistic: Statistic::$key,
                name: $name,
                metric: $metric,
                label: label!($($label)*),
                kind: Kind::$kind,
                help: $help,
            },)*
        ];
    };
}

statistics! {
    Uptime = Counter "ProxySQL_Uptime", "uptime_seconds" {}, "Seconds since the process started.";
    Questions = Counter "Questions", "questions" {}, "Statements that clients sent.";
    SlowQueries = Counter "Slow_queries", "slow_queries" {},
        "Statements that took longer than mysql-long_query_time.";
    ActiveTransactions = Gauge "Active_Transactions", "active_transactions" {},
        "Client sessions with an open transaction.";
    ThreadWorkers = Gauge "MySQL_Thread_Workers", "mysql_thread_workers" {}, "Worker threads.";

    ClientConnectionsConnected = Gauge "Client_Connections_connected", "client_connections_connected" {},
        "Client connections that are open.";
    ClientConnectionsNonIdle = Gauge "Client_Connections_non_idle", "client_connections_non_idle" {},
        "Client connections with a statement in progress.";
    ClientConnectionsHostgroupLocked = Gauge "Client_Connections_hostgroup_locked",
        "client_connections_hostgroup_locked" {}, "Client connections that are pinned to one hostgroup.";
    ClientConnectionsLimit = Gauge "Client_Connections_limit", "client_connections_limit" {},
        "The most client connections (mysql-max_connections).";
    ClientConnectionsCreated = Counter "Client_Connections_created", "client_connections" {"status" = "created"},
        "Client connections by what became of them.";
    ClientConnectionsAborted = Counter "Client_Connections_aborted", "client_connections" {"status" = "aborted"},
        "Client connections by what became of them.";

    ServerConnectionsConnected = Gauge "Server_Connections_connected", "server_connections_connected" {},
        "Backend connections that are open.";
    ServerConnectionsPercent = Gauge "Server_Connections_percent", "server_connections_percent" {},
        "Backend connections that are open, in percent of the client connections that are open.";
    ServerConnectionsCreated = Counter "Server_Connections_created", "server_connections" {"status" = "created"},
        "Backend connections by what became of them.";
    ServerConnectionsAborted = Counter "Server_Connections_aborted", "server_connections" {"status" = "aborted"},
        "Backend connections by what became of them.";
    ServerConnectionsDelayed = Counter "Server_Connections_delayed", "server_connections" {"status" = "delayed"},
        "Backend connections by what became of them.";

    QueriesBackendsBytesRecv = Counter "Queries_backends_bytes_recv",
        "queries_backends_bytes" {"traffic_flow" = "recv"}, "Bytes exchanged with backends.";
    QueriesBackendsBytesSent = Counter "Queries_backends_bytes_sent",
        "queries_backends_bytes" {"traffic_flow" = "sent"}, "Bytes exchanged with backends.";
    QueriesFrontendsBytesRecv = Counter "Queries_frontends_bytes_recv",
        "queries_frontends_bytes" {"traffic_flow" = "recv"}, "Bytes exchanged with clients.";
    QueriesFrontendsBytesSent = Counter "Queries_frontends_bytes_sent",
        "queries_frontends_bytes" {"traffic_flow" = "sent"}, "Bytes exchanged with clients.";

    QueryProcessorTime = Counter "Query_Processor_time_nsec", "query_processor_time_nanoseconds" {},
        "Nanoseconds spent in query rules.";
    BackendQueryTime = Counter "Backend_query_time_nsec", "backend_query_time_nanoseconds" {},
        "Nanoseconds spent waiting for backends.";
    BackendBuffersBytes = Gauge "mysql_backend_buffers_bytes", "mysql_backend_buffers_bytes" {},
        "Bytes in the buffers of backend connections.";
    FrontendBuffersBytes = Gauge "mysql_frontend_buffers_bytes", "mysql_frontend_buffers_bytes" {},
        "Bytes in the buffers of client connections.";
    SessionInternalBytes = Gauge "mysql_session_internal_bytes", "mysql_session_internal_bytes" {},
        "Bytes that sessions hold besides their buffers.";

    ComAutocommit = Counter "Com_autocommit", "com_autocommit" {}, "SET autocommit that clients sent.";
    ComCommit = Counter "Com_commit", "com_commit" {}, "COMMIT that clients sent.";
    ComRollback = Counter "Com_rollback", "com_rollback" {}, "ROLLBACK that clients sent.";
    ComAutocommitFiltered = Counter "Com_autocommit_filtered", "com_autocommit_filtered" {},
        "SET autocommit answered without a server.";
    ComCommitEarly = Counter "Com_commit_early", "com_commit_early" {},
        "COMMIT and ROLLBACK of transactions that had only read, answered before their server had (mysql-commit_reads_early).";
    ComCommitFiltered = Counter "Com_commit_filtered", "com_commit_filtered" {}, "COMMIT answered without a server.";
    ComRollbackFiltered = Counter "Com_rollback_filtered", "com_rollback_filtered" {},
        "ROLLBACK answered without a server.";
    ServersWithoutRoom = Counter "Server_Connections_refused_full", "server_connections_refused_full" {},
        "Connects that a server refused for its own limit of connections (errors 1040, 1203, 1226).";
    ComBackendChangeUser = Counter "Com_backend_change_user", "com_backend_change_user" {},
        "COM_CHANGE_USER sent to backends.";
    ComBackendInitDb = Counter "Com_backend_init_db", "com_backend_init_db" {}, "COM_INIT_DB sent to backends.";
    ComBackendSetNames = Counter "Com_backend_set_names", "com_backend_set_names" {},
        "SET NAMES sent to backends.";
    ComBackendSetVariables = Counter "Com_backend_set_variables", "com_backend_set_variables" {},
        "SET of session and user variables sent to backends.";
    ComFrontendInitDb = Counter "Com_frontend_init_db", "com_frontend_init_db" {},
        "COM_INIT_DB that clients sent.";
    ComFrontendSetNames = Counter "Com_frontend_set_names", "com_frontend_set_names" {},
        "SET NAMES that clients sent.";
    ComFrontendUseDb = Counter "Com_frontend_use_db", "com_frontend_use_db" {}, "USE that clients sent.";
    ComBackendStmtPrepare = Counter "Com_backend_stmt_prepare", "com_backend_stmt" {"op" = "prepare"},
        "Commands on prepared statements sent to backends.";
    ComBackendStmtExecute = Counter "Com_backend_stmt_execute", "com_backend_stmt" {"op" = "execute"},
        "Commands on prepared statements sent to backends.";
    ComBackendStmtClose = Counter "Com_backend_stmt_close", "com_backend_stmt" {"op" = "close"},
        "Commands on prepared statements sent to backends.";
    ComFrontendStmtPrepare = Counter "Com_frontend_stmt_prepare", "com_frontend_stmt" {"op" = "prepare"},
        "Commands on prepared statements that clients sent.";
    ComFrontendStmtExecute = Counter "Com_frontend_stmt_execute", "com_frontend_stmt" {"op" = "execute"},
        "Commands on prepared statements that clients sent.";
    ComFrontendStmtClose = Counter "Com_frontend_stmt_close", "com_frontend_stmt" {"op" = "close"},
        "Commands on prepared statements that clients sent.";

    AccessDeniedWrongPassword = Counter "Access_Denied_Wrong_Password", "access_denied_wrong_password" {},
        "Logins refused for user or password (1045).";
    AccessDeniedMaxConnections = Counter "Access_Denied_Max_Connections", "access_denied_max_connections" {},
        "Logins refused because mysql-max_connections was reached (1040).";
    AccessDeniedMaxUserConnections = Counter "Access_Denied_Max_User_Connections",
        "access_denied_max_user_connections" {},
        "Logins refused because the user's max_connections was reached (1226).";

    ConnPoolGetConnImmediate = Counter "ConnPool_get_conn_immediate", "connpool_get_conn_immediate" {},
        "Backend connections handed out by the worker that held them.";
    ConnPoolGetConnSuccess = Counter "ConnPool_get_conn_success", "connpool_get_conn_success" {},
        "Backend connections handed out from the pool.";
    ConnPoolGetConnFailure = Counter "ConnPool_get_conn_failure", "connpool_get_conn_failure" {},
        "Requests for which the pool had no connection.";
    ConnPoolGetConnLatencyAwareness = Counter "ConnPool_get_conn_latency_awareness",
        "connpool_get_conn_latency_awareness" {}, "Backend connections chosen with regard to latency.";
    MyconnpollGet = Counter "MyHGM_myconnpoll_get", "myhgm_myconnpool_get" {}, "Requests to the connection pool.";
    MyconnpollGetOk = Counter "MyHGM_myconnpoll_get_ok", "myhgm_myconnpool_get_ok" {},
        "Requests to the connection pool that were met.";
    MyconnpollPush = Counter "MyHGM_myconnpoll_push", "myhgm_myconnpool_push" {},
        "Connections given back to the pool.";
    MyconnpollReset = Counter "MyHGM_myconnpoll_reset", "myhgm_myconnpool_reset" {},
        "Connections that were reset before they were used again.";
    MyconnpollDestroy = Counter "MyHGM_myconnpoll_destroy", "myhgm_myconnpool_destroy" {},
        "Connections that the pool closed.";
    ConnPoolMemoryBytes = Gauge "ConnPool_memory_bytes", "connpool_memory_bytes" {},
        "Bytes that the connection pool holds.";
    ServersTableVersion = Counter "Servers_table_version", "servers_table_version" {},
        "How often the servers in force changed.";

    StmtClientActiveTotal = Gauge "Stmt_Client_Active_Total", "stmt_client_active" {},
        "Prepared statements that clients hold.";
    StmtServerActiveTotal = Gauge "Stmt_Server_Active_Total", "stmt_server_active" {},
        "Prepared statements open on backends.";

    MaxConnectTimeouts = Counter "max_connect_timeouts", "mysql_max_connect_timeouts" {},
        "Statements that found no server within mysql-connect_timeout_server_max (9001).";
    GeneratedErrorPackets = Counter "generated_error_packets", "mysql_generated_error_packets" {},
        "ERR packets that the proxy made itself.";
    UnexpectedFrontendPackets = Counter "mysql_unexpected_frontend_packets", "mysql_unexpected_frontend_packets" {},
        "Packets from clients that did not fit the protocol.";
    UnexpectedFrontendComQuit = Counter "mysql_unexpected_frontend_com_quit",
        "mysql_unexpected_frontend_com_quit" {}, "COM_QUIT from clients while a statement was in progress.";
    KilledBackendConnections = Counter "mysql_killed_backend_connections", "mysql_killed_backend_connections" {},
        "Backend connections that were killed.";
    KilledBackendQueries = Counter "mysql_killed_backend_queries", "mysql_killed_backend_queries" {},
        "Statements on backends that were killed.";
    BackendOfflineDuringQuery = Counter "backend_offline_during_query", "mysql_backend_offline_during_query" {},
        "Statements whose backend went away while they ran.";
    HostgroupLockedQueries = Counter "hostgroup_locked_queries", "hostgroup_locked_queries" {},
        "Statements of sessions that are pinned to one hostgroup.";
    HostgroupLockedSetCmds = Counter "hostgroup_locked_set_cmds", "hostgroup_locked_set_cmds" {},
        "SET statements that pinned a session to one hostgroup.";

    QueryCacheMemoryBytes = Gauge "Query_Cache_Memory_bytes", "query_cache_memory_bytes" {},
        "Bytes that the query cache holds: entries, keys and metadata.";
    QueryCacheCountGet = Counter "Query_Cache_count_GET", "query_cache_count_get" {},
        "Look-ups of statements that may be cached.";
    QueryCacheCountGetOk = Counter "Query_Cache_count_GET_OK", "query_cache_count_get_ok" {},
        "Look-ups that were answered from the cache; over count_get this is the hit ratio.";
    QueryCacheCountSet = Counter "Query_Cache_count_SET", "query_cache_count_set" {}, "Results stored.";
    QueryCacheBytesIn = Counter "Query_Cache_bytes_IN", "query_cache_bytes" {"op" = "written"},
        "Bytes of results stored in the cache and sent from it.";
    QueryCacheBytesOut = Counter "Query_Cache_bytes_OUT", "query_cache_bytes" {"op" = "read"},
        "Bytes of results stored in the cache and sent from it.";
    QueryCachePurged = Counter "Query_Cache_Purged", "query_cache_purged" {},
        "Entries that left the cache for any reason.";
    QueryCacheEntries = Gauge "Query_Cache_Entries", "query_cache_entries" {}, "Entries in the cache.";

    QueryCacheLimitBytes = Gauge "Query_Cache_Limit_bytes", "query_cache_limit_bytes" {},
        "The limit of the query cache in bytes (mysql-query_cache_size_MB).";
    QueryCacheEntryLimitBytes = Gauge "Query_Cache_Entry_Limit_bytes", "query_cache_entry_limit_bytes" {},
        "The largest entry in bytes that the cache takes.";
    QueryCacheEvicted = Counter "Query_Cache_Evicted", "query_cache_outcomes" {"outcome" = "evicted"},
        "Entries that left the cache, or were not let in, by reason.";
    QueryCacheExpired = Counter "Query_Cache_Expired", "query_cache_outcomes" {"outcome" = "expired"},
        "Entries that left the cache, or were not let in, by reason.";
    QueryCacheFlushed = Counter "Query_Cache_Flushed", "query_cache_outcomes" {"outcome" = "purged"},
        "Entries that left the cache, or were not let in, by reason.";
    QueryCacheInvalidated = Counter "Query_Cache_Invalidated", "query_cache_outcomes" {"outcome" = "invalidated"},
        "Entries that left the cache, or were not let in, by reason.";
    QueryCacheReplaced = Counter "Query_Cache_Replaced", "query_cache_outcomes" {"outcome" = "replaced"},
        "Entries that left the cache, or were not let in, by reason.";
    QueryCacheRefused = Counter "Query_Cache_Refused", "query_cache_outcomes" {"outcome" = "refused"},
        "Entries that left the cache, or were not let in, by reason.";

    QueryCacheRepeated = Counter "Query_Cache_Repeated", "query_cache_repeated" {},
        "Answers that were the same when they were read again after they had been written over, as far as is known.";

    QueryCacheCompressedEntries = Gauge "Query_Cache_Compressed_entries", "query_cache_compressed_entries" {},
        "Entries that are held compressed (mysql-query_cache_compress_min_bytes).";
    QueryCacheCompressionSparedBytes = Gauge "Query_Cache_Compression_spared_bytes", "query_cache_compression_spared_bytes" {},
        "Bytes that they would take besides were they not.";
    QueryCacheCompressions = Counter "Query_Cache_Compressions", "query_cache_compressions" {},
        "How often an entry was compressed, as the cache was short of memory.";
    QueryCacheDecompressions = Counter "Query_Cache_Decompressions", "query_cache_decompressions" {},
        "Hits of compressed entries.";
    QueryCacheMadePlain = Counter "Query_Cache_Made_plain", "query_cache_made_plain" {},
        "How often a compressed entry was held plain again, being hit all the time.";
    QueryCacheDecompressionBytes = Gauge "Query_Cache_Decompression_bytes", "query_cache_decompression_bytes" {},
        "Bytes of the workers' buffers in which they are decompressed, beside the cache: 80 KiB for each worker that has met one.";

    QueryCacheTables = Gauge "Query_Cache_Tables", "query_cache_tables" {},
        "Tables and views of which it is known what reads and writes of them depend on and change.";
    QueryCacheTablesLimit = Gauge "Query_Cache_Tables_Limit", "query_cache_tables_limit" {},
        "The most tables whose changes are followed (mysql-query_cache_tables_max).";
    QueryCacheFollowedOff = Gauge "Query_Cache_Followed_Off", "query_cache_followed" {"mode" = "off"},
        "Servers whose binlogs are followed, by what is promised of writes past the proxy; off: nothing of them is served.";
    QueryCacheFollowedBounded = Gauge "Query_Cache_Followed_Bounded", "query_cache_followed" {"mode" = "bounded"},
        "Servers whose binlogs are followed, by what is promised of writes past the proxy; off: nothing of them is served.";
    QueryCacheFollowedExact = Gauge "Query_Cache_Followed_Exact", "query_cache_followed" {"mode" = "exact"},
        "Servers whose binlogs are followed, by what is promised of writes past the proxy; off: nothing of them is served.";
    QueryCacheFollowTransactions = Counter "Query_Cache_Follow_Transactions", "query_cache_follow_transactions" {},
        "Transactions that were read from binlogs.";
    QueryCacheFollowUnproven = Gauge "Query_Cache_Follow_Unproven", "query_cache_follow_unproven" {},
        "Of these, those that their server is not proven to show yet: what they wrote is not served.";
    QueryCacheFollowFalls = Counter "Query_Cache_Follow_Falls", "query_cache_follow_falls" {},
        "How often less was promised of writes past the proxy than before.";
    QueryCacheFollowNarrowed = Counter "Query_Cache_Follow_Narrowed", "query_cache_follow_held" {"ended" = "narrowed"},
        "Writes through the proxy that waited for their events: narrowed by what these showed, or too late (mysql-query_cache_follow_event_wait_ms).";
    QueryCacheFollowLate = Counter "Query_Cache_Follow_Late", "query_cache_follow_held" {"ended" = "late"},
        "Writes through the proxy that waited for their events: narrowed by what these showed, or too late (mysql-query_cache_follow_event_wait_ms).";
    QueryCacheFollowColumns = Gauge "Query_Cache_Follow_Columns", "query_cache_follow_columns" {},
        "Sets of columns that reads compare with constants and look at, of all tables: what rows hold in them, and whether it changes, is read from binlogs.";
    QueryCacheFollowColumnsLeftOut = Counter "Query_Cache_Follow_Columns_Left_Out", "query_cache_follow_columns_left_out" {},
        "Reads that compare others, of a table that has as many as it may (mysql-query_cache_follow_columns_max).";
    QueryCacheFollowDelayUs = Gauge "Query_Cache_Follow_Delay_us", "query_cache_follow_delay_microseconds" {},
        "The longest time in which nearly all (99 of 100) was carried that a server had written when it was asked, in microseconds.";
    QueryCacheClockBytes = Gauge "Query_Cache_Clock_bytes", "query_cache_clock_bytes" {},
        "Bytes of address space for the clocks of tables, rows and blocks.";
    QueryCacheClockMoves = Counter "Query_Cache_Clock_Moves", "query_cache_clock_moves" {},
        "Clocks that writes have moved.";
    QueryCacheWritesPending = Gauge "Query_Cache_Writes_Pending", "query_cache_writes_pending" {},
        "Writes in flight, or of unknown outcome: what they touch is not served until it is known.";
    QueryCacheWritesStranded = Counter "Query_Cache_Writes_Stranded", "query_cache_writes_stranded" {},
        "Writes whose outcome was never learned; what they touched stays uncached until a restart.";

    QueryDigestEntries = Gauge "Query_Digest_Entries", "query_digest_entries" {}, "Rows in the digest map.";
    QueryDigestLimit = Gauge "Query_Digest_Limit", "query_digest_limit" {}, "The most rows the digest map takes.";
    StatementShapes = Gauge "Statement_Shapes", "statement_shapes" {}, "Shapes of statements that the workers remember.";
    StatementShapesLimit = Gauge "Statement_Shapes_Limit", "statement_shapes_limit" {}, "The most shapes that the workers remember.";
    QueryDigestDropped = Counter "Query_Digest_Dropped", "query_digest_dropped" {},
        "Statements that were not counted because the digest map was full.";
    StatementPlanEntries = Gauge "Statement_Plan_Entries", "statement_plan_entries" {},
        "Statement plans that are memoised.";
    StatementPlanLimit = Gauge "Statement_Plan_Limit", "statement_plan_limit" {},
        "The most statement plans that are memoised.";
    SessionEnvironmentEntries = Gauge "Session_Environment_Entries", "session_environment_entries" {},
        "Session environments that are interned.";
    SessionEnvironmentLimit = Gauge "Session_Environment_Limit", "session_environment_limit" {},
        "The most session environments that are interned.";
    QueryCacheKinds = Gauge "Query_Cache_Kinds", "query_cache_kinds" {},
        "Kinds of cached answers: who asked, by which rules, the columns; kept once for all answers of a kind.";
    QueryCacheKindBytes = Gauge "Query_Cache_Kind_bytes", "query_cache_kind_bytes" {},
        "Bytes that they take, a part of the cache's.";
    QueryCacheKindBytesLimit = Gauge "Query_Cache_Kind_bytes_Limit", "query_cache_kind_bytes_limit" {},
        "The most that they take, a part of the cache's limit; what is over is charged to its answer.";
    QueryCacheCaptureBytes = Gauge "Query_Cache_Capture_bytes", "query_cache_capture_bytes" {},
        "Bytes that copies of answers on their way into the cache take, beside it, from 16 KiB on each.";
    QueryCacheCaptureBytesLimit = Gauge "Query_Cache_Capture_bytes_Limit", "query_cache_capture_bytes_limit" {},
        "The most that they take together.";
    QueryCacheCapturesRefused = Counter "Query_Cache_Captures_refused", "query_cache_captures_refused" {},
        "Answers that were not stored because such copies took all of that.";
    QueryCacheNotAdmitted = Counter "Query_Cache_Not_admitted", "query_cache_not_admitted" {},
        "Answers that were not stored because those that would have had to go for them were asked for more often.";
    QueryCacheOnProbation = Gauge "Query_Cache_On_probation", "query_cache_on_probation" {},
        "Digests of whose answers copies are made for one key in 16 only, as copies of all did not pay (stats_query_cache: admission).";
    QueryCacheProbationAnswers = Counter "Query_Cache_Probation_answers", "query_cache_probation_answers" {},
        "Answers to such digests of which no copy was made.";
    QueryCacheWaits = Counter "Query_Cache_Waits", "query_cache_waits" {},
        "Statements that waited while somebody else was asking a server the same for the cache.";
    QueryCacheWaitsAnswered = Counter "Query_Cache_Waits_answered", "query_cache_waits_answered" {},
        "Those of them that were answered from the cache then.";
    QueryCacheWaitsOver = Counter "Query_Cache_Waits_over", "query_cache_waits_over" {},
        "Those of them that had waited for as long as they may (mysql-query_cache_wait_max_ms), and were asked by themselves.";
    QueryCacheRefreshes = Counter "Query_Cache_Refreshes", "query_cache_refreshes" {},
        "Entries that were read anew before their time was over (mysql-query_cache_soft_ttl_pct).";
    QueryCacheRefreshesFailed = Counter "Query_Cache_Refreshes_failed", "query_cache_refreshes_failed" {},
        "What was to be read anew so, and was not stored: no server answered, or with an error.";
    QueryCacheRefreshesRefused = Counter "Query_Cache_Refreshes_refused", "query_cache_refreshes_refused" {},
        "What was to be read anew so while 32 others were, and was left to the next who asks.";
    QueryCacheRefreshesUnderWay = Gauge "Query_Cache_Refreshes_under_way", "query_cache_refreshes_under_way" {},
        "Entries that are being read anew at the moment.";
    QueryCacheStaleAnswers = Counter "Query_Cache_Stale_answers", "query_cache_stale_answers" {},
        "Answers past their time that were given because no server answered, where a rule allows that (cache_stale_if_error_ms).";
    QueryCacheSnapshotsOpened = Counter "Query_Cache_Snapshots_opened", "query_cache_snapshots_opened" {},
        "Snapshots of transactions that were opened by themselves, as the cache had what the first read asked for (mysql-query_cache_opens_snapshots).";
    QueryCacheRule = Gauge "Query_Cache_Rule", "query_cache_rule" {},
        "By what it is chosen which answers go when the cache is full: 0 the time of the last use, 1 the same and those used twice at most before, 2 how often they were used.";
    QueryCacheTrials = Counter "Query_Cache_Trials", "query_cache_trials" {},
        "Look-ups of a part of all questions with which the three rules are tried.";
    QueryCacheTrialHitsRecency = Counter "Query_Cache_Trial_hits_recency", "query_cache_trial_hits_recency" {},
        "Those of them that rule 0 would have had the answer to.";
    QueryCacheTrialHitsProven = Counter "Query_Cache_Trial_hits_proven", "query_cache_trial_hits_proven" {},
        "Those of them that rule 1 would have had the answer to.";
    QueryCacheTrialHitsFrequency = Counter "Query_Cache_Trial_hits_frequency", "query_cache_trial_hits_frequency" {},
        "Those of them that rule 2 would have had the answer to.";

    StatementRetries = Counter "Statement_Retries", "statement_retries" {},
        "Statements sent again after their connection was lost.";
    ReadsSplit = Counter "Reads_Split", "reads_split" {},
        "Reads that mysql-read_write_split sent to readers.";
    CausalReadsWaited = Counter "Causal_Reads_Waited", "causal_reads_waited" {},
        "Statements that waited until a server was known to show what their session has seen.";
    CausalReadsWaitedUs = Counter "Causal_Reads_Waited_us", "causal_reads_waited_microseconds" {},
        "Microseconds for which they did, in all.";
    ServersWarming = Gauge "Servers_Warming", "servers_warming" {},
        "Servers, once for each hostgroup, that get a part of their share of statements because they were started anew and are cold.";
    WarmGatesClosed = Counter "Warm_Gates_Closed", "warm_gates_closed" {},
        "How often a server was held so.";
    WarmDumps = Counter "Warm_Dumps", "warm_dumps" {"outcome" = "begun"},
        "Dumps of their buffer pools that servers were asked for, by what they did.";
    WarmDumpsRefused = Counter "Warm_Dumps_Refused", "warm_dumps" {"outcome" = "refused"},
        "Dumps of their buffer pools that servers were asked for, by what they did.";
    WarmReads = Counter "Warm_Reads", "warm_reads" {"outcome" = "sent"},
        "Reads of others that were to be sent to cold servers too (mysql-warm_reads_per_sec), by what became of them.";
    WarmReadsLeftOut = Counter "Warm_Reads_Left_Out", "warm_reads" {"outcome" = "left_out"},
        "Reads of others that were to be sent to cold servers too (mysql-warm_reads_per_sec), by what became of them.";
    WarmReadsFailed = Counter "Warm_Reads_Failed", "warm_reads" {"outcome" = "failed"},
        "Reads of others that were to be sent to cold servers too (mysql-warm_reads_per_sec), by what became of them.";
    CausalReadsByWriter = Counter "Causal_Reads_By_Writer", "causal_reads_by_writer" {},
        "Statements that went to who writes, as no reader was known to show it, or none was there.";
    SwitchoversDone = Counter "Switchovers_Done", "switchovers" {"outcome" = "done"},
        "Switchovers that this proxy has done or tried, by how they ended.";
    SwitchoversRefused = Counter "Switchovers_Refused", "switchovers" {"outcome" = "refused"},
        "Switchovers that this proxy has done or tried, by how they ended.";
    SwitchoversRolledBack = Counter "Switchovers_Rolled_Back", "switchovers" {"outcome" = "rolled_back"},
        "Switchovers that this proxy has done or tried, by how they ended.";
    SwitchoversUnfinished = Counter "Switchovers_Unfinished", "switchovers" {"outcome" = "unfinished"},
        "Switchovers that this proxy has done or tried, by how they ended.";
    FailoversDone = Counter "Failovers_Done", "failovers" {"outcome" = "done"},
        "Failovers that this proxy has done or tried, by how they ended.";
    FailoversRefused = Counter "Failovers_Refused", "failovers" {"outcome" = "refused"},
        "Failovers that this proxy has done or tried, by how they ended.";
    FailoversRolledBack = Counter "Failovers_Rolled_Back", "failovers" {"outcome" = "rolled_back"},
        "Failovers that this proxy has done or tried, by how they ended.";
    FailoversUnfinished = Counter "Failovers_Unfinished", "failovers" {"outcome" = "unfinished"},
        "Failovers that this proxy has done or tried, by how they ended.";
    FailoverLostTransactions = Counter "Failover_Lost_Transactions", "failover_lost_transactions" {},
        "Transactions, acknowledged through this proxy, that were lost with old primaries, as far as that is known.";
    CommitsUnknown = Counter "Commits_Unknown", "commits_unknown" {},
        "Statements by which a transaction may have been committed or not: their connection was lost under them.";
    TransactionReplays = Counter "Transaction_Replays", "transaction_replays" {},
        "Transactions whose connection was lost and that were written down to be done again (mysql-transaction_replay).";
    TransactionReplaysDone = Counter "Transaction_Replays_Done", "transaction_replays_done" {},
        "Of those, the ones that were done again.";
    TransactionReplaysRefusedStatement = Counter "Transaction_Replays_Refused_statement", "transaction_replays_refused" {"reason" = "statement"},
        "Transactions whose connection was lost and that were not done again, by the reason.";
    TransactionReplaysRefusedTables = Counter "Transaction_Replays_Refused_tables", "transaction_replays_refused" {"reason" = "tables"},
        "Transactions whose connection was lost and that were not done again, by the reason.";
    TransactionReplaysRefusedLimits = Counter "Transaction_Replays_Refused_limits", "transaction_replays_refused" {"reason" = "limits"},
        "Transactions whose connection was lost and that were not done again, by the reason.";
    TransactionReplaysRefusedAlive = Counter "Transaction_Replays_Refused_alive", "transaction_replays_refused" {"reason" = "alive"},
        "Transactions whose connection was lost and that were not done again, by the reason.";
    TransactionReplaysRefusedDiffers = Counter "Transaction_Replays_Refused_differs", "transaction_replays_refused" {"reason" = "differs"},
        "Transactions whose connection was lost and that were not done again, by the reason.";
    StatementsTimedOut = Counter "Statements_Timed_Out", "statements_timed_out" {},
        "Statements that took longer than mysql-default_query_timeout or a rule's timeout (1907).";
    TransactionsTooLong = Counter "Transactions_Too_Long", "sessions_ended_for_transactions" {"limit" = "max_transaction_time"},
        "Sessions that were ended because of their transaction, by the limit that it reached.";
    TransactionsTooIdle = Counter "Transactions_Too_Idle", "sessions_ended_for_transactions" {"limit" = "max_transaction_idle_time"},
        "Sessions that were ended because of their transaction, by the limit that it reached.";
    SessionsWaiting = Gauge "Sessions_Waiting", "sessions_waiting" {},
        "Sessions that wait for a backend connection.";
    LineLongest = Gauge "Line_Longest", "line_statements" {},
        "Statements that wait in the longest line of a hostgroup.";
    LineLongestLimit = Gauge "Line_Longest_limit", "line_statements_limit" {},
        "Statements that may wait in one line (mysql-line_max_statements); 0 for no limit.";
    LineBytes = Gauge "Line_Bytes", "line_bytes" {},
        "Bytes of the statements that wait in the line that has most of them.";
    LineBytesLimit = Gauge "Line_Bytes_limit", "line_bytes_limit" {},
        "Bytes of statements that may wait in one line (mysql-line_max_bytes); 0 for no limit.";
    LineRefused = Counter "Line_Refused", "line_refused" {},
        "Statements that were refused because the line of their hostgroup was full (9001).";
    HostgroupsHeld = Gauge "Hostgroups_Held", "hostgroups_held" {},
        "Hostgroups that are held: new statements wait.";
    HostgroupsWithoutServer = Gauge "Hostgroups_Without_Server", "hostgroups_without_server" {},
        "Hostgroups of mysql_*_hostgroups of which no server takes statements: these wait.";
    DiagnosticsFetched = Counter "Diagnostics_Fetched", "diagnostics_fetched" {},
        "Lists of warnings and errors fetched so that no connection had to be held for them.";
    ConnectionsPinned = Counter "Connections_Pinned", "connections_pinned" {},
        "Backend connections that a session kept beyond a statement.";
    PinsTransaction = Counter "Pins_transaction", "pins" {"reason" = "transaction"},
        "Times that a session began to keep its backend connection, by the reason.";
    PinsHasWarnings = Counter "Pins_has_warnings", "pins" {"reason" = "has_warnings"},
        "Times that a session began to keep its backend connection, by the reason.";
    PinsFoundRows = Counter "Pins_found_rows", "pins" {"reason" = "found_rows"},
        "Times that a session began to keep its backend connection, by the reason.";
    PinsUserVariable = Counter "Pins_user_variable", "pins" {"reason" = "user_variable"},
        "Times that a session began to keep its backend connection, by the reason.";
    PinsSessionVariable = Counter "Pins_session_variable", "pins" {"reason" = "session_variable"},
        "Times that a session began to keep its backend connection, by the reason.";
    PinsTemporaryTable = Counter "Pins_temporary_table", "pins" {"reason" = "temporary_table"},
        "Times that a session began to keep its backend connection, by the reason.";
    PinsLockTables = Counter "Pins_lock_tables", "pins" {"reason" = "lock_tables"},
        "Times that a session began to keep its backend connection, by the reason.";
    PinsGetLock = Counter "Pins_get_lock", "pins" {"reason" = "get_lock"},
        "Times that a session began to keep its backend connection, by the reason.";
    PinsTextPreparedStatement = Counter "Pins_text_prepared_statement", "pins" {"reason" = "text_prepared_statement"},
        "Times that a session began to keep its backend connection, by the reason.";
    PinsHandler = Counter "Pins_handler", "pins" {"reason" = "handler"},
        "Times that a session began to keep its backend connection, by the reason.";
    PinsXa = Counter "Pins_xa", "pins" {"reason" = "xa"},
        "Times that a session began to keep its backend connection, by the reason.";
    PinsUnknownStatement = Counter "Pins_unknown_statement", "pins" {"reason" = "unknown_statement"},
        "Times that a session began to keep its backend connection, by the reason.";
    PinsNoMultiplex = Counter "Pins_no_multiplex", "pins" {"reason" = "no_multiplex"},
        "Times that a session began to keep its backend connection, by the reason.";
    PinsReplication = Counter "Pins_replication", "pins" {"reason" = "replication"},
        "Times that a session began to keep its backend connection, by the reason.";
    PinsCursor = Counter "Pins_cursor", "pins" {"reason" = "cursor"},
        "Times that a session began to keep its backend connection, by the reason.";
    PinsNextTransaction = Counter "Pins_next_transaction", "pins" {"reason" = "next_transaction"},
        "Times that a session began to keep its backend connection, by the reason.";
    PinsDelayMultiplex = Counter "Pins_delay_multiplex", "pins" {"reason" = "delay_multiplex"},
        "Times that a session began to keep its backend connection, by the reason.";
    PinsMetadataLock = Counter "Pins_metadata_lock", "pins" {"reason" = "metadata_lock"},
        "Times that a session began to keep its backend connection, by the reason.";
    PinsSavepoint = Counter "Pins_savepoint", "pins" {"reason" = "savepoint"},
        "Times that a session began to keep its backend connection, by the reason.";
    PinsProfiles = Counter "Pins_profiles", "pins" {"reason" = "profiles"},
        "Times that a session began to keep its backend connection, by the reason.";
    PinsStoredCode = Counter "Pins_stored_code", "pins" {"reason" = "stored_code"},
        "Times that a session began to keep its backend connection, by the reason.";
    PinsUnseenCode = Counter "Pins_unseen_code", "pins" {"reason" = "unseen_code"},
        "Times that a session began to keep its backend connection, by the reason.";
    PinsOlderDefaults = Counter "Pins_older_defaults", "pins" {"reason" = "older_defaults"},
        "Times that a session began to keep its backend connection, by the reason.";
    PinsFastForward = Counter "Pins_fast_forward", "pins" {"reason" = "fast_forward"},
        "Times that a session began to keep its backend connection, by the reason.";
    PinsMultiplexingOff = Counter "Pins_multiplexing_off", "pins" {"reason" = "multiplexing_off"},
        "Times that a session began to keep its backend connection, by the reason.";
    SessionsPinned = Gauge "Sessions_Pinned", "sessions_pinned" {},
        "Sessions that keep a backend connection now.";

    WorkerSessions = Gauge "Worker_Sessions", "worker_sessions" {"worker"}, "Client sessions of a worker.";
    WorkerPanics = Counter "Worker_Panics", "worker_panics" {}, "Sessions that ended by a panic.";
    LogLinesDropped = Counter "Log_Lines_Dropped", "log_lines_dropped" {},
        "Log lines left out because their rate was reached.";
    ConfigurationEpoch = Gauge "Configuration_Epoch", "configuration_epoch" {},
        "The epoch of the configuration in force; moves by one with each LOAD that changes it.";
}
