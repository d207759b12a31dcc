//! The `mysql-*` variables.

use super::{
    define::variables,
    kind::{Effect, Kind, Value, Variable, VariableFault},
};
use crate::loss_max::LossMax;
use crate::query_cache::{QueryCacheSize, QueryCacheType};
use crate::secret::Secret;

variables! {
    /// The `mysql-*` variables, named as ProxySQL names them, in lower case.
    pub struct MysqlVariables = "mysql";

    // Query cache.
    threshold_resultset_size: count(1_024..=1_073_741_824) = 4_194_304, Acts,
        "Bytes of a result beyond which it is not cached.";
    query_cache_type: cache_type = QueryCacheType::Off, Acts, own,
        "What is cached by itself: 0 nothing, though rules with `cache_ttl` and comments with `ttl` still act; 1 every SELECT that can be proven safe, until what it reads is written through this proxy (writes past it are not seen); 2 only those with SQL_CACHE or `/* nuthatch: cache */`. A session may say another for itself.";
    query_cache_size as "query_cache_size_MB": cache_size(..=10_485_760) = 256, Acts,
        "MiB that the query cache may take, everything counted. A hard limit; 0 caches nothing. Clients see it in bytes, as `query_cache_size`.";
    query_cache_opens_snapshots: flag = true, Acts, own,
        "Whether a transaction in REPEATABLE READ whose first read the cache can answer has its snapshot opened by itself (START TRANSACTION WITH CONSISTENT SNAPSHOT), so that the read need not be asked.";
    query_cache_soft_ttl_pct: count(0..=100) = 0, Acts,
        "Percent of a rule's TTL after which an entry that is asked for is read anew, by the proxy, so that nobody waits for it; 0 and 100: off.";
    query_cache_wait_max_ms: count(0..=600_000) = 5_000, Acts, own,
        "Milliseconds for which a statement waits, at most, while somebody else is asking the same for the cache; then it is asked by itself. It never waits for more than four times as long as such a question takes on an average. 0: it does not wait. A rule may say another (`cache_timeout`).";
    query_cache_compress_min_bytes: count(0..=1_073_741_824) = 16_384, Acts, own,
        "Bytes of a result from which on it is held compressed while the cache is full, if that spares a quarter of it and it is not in steady use; 0: none is.";
    query_cache_admission: flag = true, Acts, own,
        "Whether copies are made of answers only where they pay: a digest whose copies cost more time than its hits save is on probation, with one key in 16, until they save more. What a rule or a comment asks to be cached is not judged.";
    query_cache_handle_warnings: count(0..=1) = 0, Stored,
        "Cache results that came with warnings: 0 no, 1 yes, without the warnings.";
    query_cache_stores_empty_result: flag = true, Acts,
        "Cache results without rows where the rule does not say.";
    query_cache_catalogue_username: text = "", Acts, own,
        "Account by which tables, keys, views and triggers of the servers are read; what is cached by `query_cache_type` rests on it. Empty: users of the configuration are tried.";
    query_cache_catalogue_password: secret = "", Acts, own,
        "Password of that account.";
    query_cache_catalogue_interval_ms: count(1_000..=86_400_000) = 60_000, Acts, own,
        "Milliseconds after which they are read anew, besides after each change of a schema that the proxy sees.";
    query_cache_replica_interval_ms: count(0..=60_000) = 50, Acts, own,
        "Least milliseconds between two questions to a replica what it has applied, asked while answers of its could be cached by `query_cache_type`; 0: answers of replicas are not.";
    query_cache_follow: choice("off", "bounded", "exact") = "off", Acts, own,
        "What is promised of writes past this proxy: off nothing; bounded: nothing is served that is older than `query_cache_max_staleness_ms`; exact: nothing is served that is older than what was acknowledged to anybody, as the proxy is a semi-synchronous replica of the primary. A hostgroup may say another (`query_cache_follow` in `hostgroup_settings`). See docs/writes-past-the-proxy.md.";
    query_cache_follow_username: text = "", Acts, own,
        "Account by which the binlog is followed: REPLICATION SLAVE, with it on MariaDB BINLOG MONITOR, on MySQL REPLICATION CLIENT; for `exact` INSERT and UPDATE on the marker table.";
    query_cache_follow_password: secret = "", Acts, own,
        "Password of that account.";
    query_cache_max_staleness_ms: count(10..=60_000) = 100, Acts, own,
        "Milliseconds by which an answer may be older than the server's, where the binlog is followed within a bound; past that statements pass.";
    query_cache_follow_marker: text = "nuthatch.marker", Acts, own,
        "Table, as schema.table, in which the proxy writes a row to know that its server waits for it; for `exact` only.";
    query_cache_follow_lease_ms: count(0..=60_000) = 0, Acts, own,
        "Milliseconds for which one such write vouches, at most; 0: as long as the server's semi-sync time-out. What is above that counts as that.";
    query_cache_follow_timeout_max_ms: count(100..=60_000) = 2_000, Acts, own,
        "The longest semi-sync time-out with which the proxy takes part: for so long it may hold up every write, once, when it dies.";
    query_cache_follow_event_wait_ms: count(0..=60_000) = 20, Acts, own,
        "Milliseconds for which what a write through the proxy does not tell of itself waits for its event, where the binlog is followed: then only what the event shows is forgotten. After that all that the write may have changed is.";
    query_cache_follow_columns_max: count(0..=1_000) = 64, Acts, own,
        "Sets of columns of a table that are learnt from reads which compare them with constants and look at them, where the binlog is followed; 0: none. Half of them are left to reads that look at all. Answers about others depend on the whole table.";
    query_cache_tables_max: count(1..=16_777_216) = 65_536, AtStart, own,
        "Tables whose changes are followed; what reads others is not cached.";

    // Multiplexing.
    connection_delay_multiplex_ms: count(0..=300_000) = 0, Acts,
        "Milliseconds for which a session keeps its backend connection after each statement.";
    multiplexing: flag = true, Acts,
        "Give the backend connection back after a statement that leaves no state behind; false: keep it until the session ends.";
    enforce_autocommit_on_reads: flag = false, Stored,
        "Send the session's autocommit to the backend before reads too.";
    autocommit_false_not_reusable: flag = false, Stored,
        "Do not pool backend connections whose autocommit is off.";
    autocommit_false_is_transaction: flag = false, Stored,
        "Take autocommit off for an open transaction.";
    set_query_lock_on_hostgroup: count(0..=1) = 1, Stored,
        "A SET that is not understood locks the session on its hostgroup: 0 no, 1 yes.";
    set_parser_algorithm: count(1..=2) = 2, Stored,
        "How ProxySQL parses SET; this proxy has one parser.";
    reset_connection_algorithm: count(1..=2) = 2, Stored,
        "How ProxySQL resets a backend connection.";
    auto_increment_delay_multiplex: count(0..=1_000_000) = 0, Acts,
        "Statements for which a session keeps its backend connection after an AUTO_INCREMENT insert.";
    auto_increment_delay_multiplex_timeout_ms: count(0..=3_600_000) = 10_000, Acts,
        "Milliseconds after which that hold ends.";
    keep_multiplexing_variables: text = "tx_isolation,transaction_isolation,version", Stored,
        "Variables that a SELECT may name without pinning the session.";
    client_session_track_gtid: flag = true, Acts,
        "Pass GTIDs that servers tell by `mysql-default_session_track_gtids` on to clients that want to be told of changes (CLIENT_SESSION_TRACK).";
    default_session_track_gtids: choice("OFF", "OWN_GTID") = "OFF", Acts,
        "OWN_GTID: servers tell the GTID of each commit (MySQL: `session_track_gtids`; MariaDB: `last_gtid`). `mysql-failover` asks for it too, to know what a new primary lacks; causal reads do without.";
    handle_warnings: count(0..=1) = 1, Stored,
        "Keep the backend connection after warnings, so that SHOW WARNINGS can be answered: 0 no, 1 yes.";

    allow_shutdown: flag = false, Acts, own,
        "Let clients stop servers by SHUTDOWN and RESTART, if their privileges allow it; false: these are refused.";

    // Pool of backend connections.
    shun_on_failures: count(0..=10_000_000) = 5, Acts,
        "Connect errors within a second after which a server is shunned.";
    shun_recovery_time_sec: count(0..=31_536_000) = 10, Acts,
        "Seconds without errors after which a shunned server is tried again.";
    unshun_algorithm: count(0..=1) = 0, Acts,
        "Behind a login that works, a server is not shunned any more in its hostgroup (0) or in all of them (1).";
    query_retries_on_failure: count(0..=1_000) = 1, Acts,
        "How often a statement is sent again when the connection is lost before its answer begins, where no rule with `retries` says otherwise.";
    connect_retries_on_failure: count(0..=1_000) = 10, Stored,
        "How often a refused connect is tried again.";
    connect_retries_delay: count(0..=10_000) = 1, Acts,
        "Milliseconds between such tries.";
    connection_max_age_ms: count(0..=86_400_000) = 0, Acts,
        "Milliseconds after its login from which on a backend connection is closed when it is idle or put back; 0: never.";
    connect_timeout_client: count(500..=3_600_000) = 10_000, Acts,
        "Milliseconds that a client has for its login.";
    connect_timeout_server: count(10..=120_000) = 1_000, Acts,
        "Milliseconds for one connect to a backend.";
    connect_timeout_server_max: count(10..=3_600_000) = 10_000, Acts,
        "Milliseconds in which any server of the hostgroup must be reached; then error 9001.";
    hold_for_writer_ms: count(0..=3_600_000) = 10_000, Acts, own,
        "Milliseconds for which a statement waits while its hostgroup is held, or while a hostgroup that a `mysql_*_hostgroups` row names has no server that takes statements; then error 9001. `mysql-connect_timeout_server_max` begins when that is over.";
    read_write_split: count(0..=1) = 0, Acts, own,
        "1: reads that do nothing else, outside of transactions, go from the writer hostgroup of a `mysql_replication_hostgroups` row to its readers, where no rule says otherwise; a session never goes back behind what it has seen.";
    causal_reads: choice("SESSION", "GLOBAL") = "SESSION", Acts, own,
        "What a read that a replica answers must show: what its own session has written and seen, or what anybody had written before it came, also past this proxy.";
    causal_reads_timeout_ms: count(0..=60_000) = 100, Acts, own,
        "Milliseconds for which such a read waits for a replica that shows it; then the writer answers.";
    commit_reads_early: flag = true, Acts, own,
        "Whether COMMIT and ROLLBACK of a transaction that has only read are answered when they are sent, so that a client does not wait for the server's answer; where its BEGIN was held back (docs/query-cache.md).";
    transaction_replay: flag = false, Acts, own,
        "Do an open transaction again on another connection when its own is lost before COMMIT was sent, if each of its statements is answered as it was.";
    transaction_replay_max_bytes: count(1_024..=14_680_064) = 1_048_576, Acts, own,
        "Bytes of the statements of a transaction that is done again; a larger one is not.";
    transaction_replay_max_ms: count(10..=3_600_000) = 10_000, Acts, own,
        "Milliseconds in which a transaction must be known to be gone from its server, and a connection be had for it; then the client is told that it is lost.";
    transaction_replay_attempts: count(1..=1_000) = 3, Acts, own,
        "How often one transaction is done again.";
    line_max_statements: count(0..=10_000_000) = 10_000, Acts, own,
        "Statements that may wait in the line of one hostgroup; one more is refused at once, 9001. 0: no limit.";
    line_max_bytes: count(0..=1_099_511_627_776) = 268_435_456, Acts, own,
        "Bytes of the statements that may wait in the line of one hostgroup; what would make it more is refused at once, 9001, but for one that waits alone. 0: no limit.";
    free_connections_pct: count(0..=100) = 10, Acts,
        "Percent of a server's max_connections that may lie idle in the pool.";
    connection_warming: flag = false, Acts,
        "Keep that share of idle connections, of the kind that was opened last, ahead of need.";
    session_idle_ms: count(1..=3_600_000) = 1, Stored,
        "Milliseconds after which ProxySQL moves a session to its idle threads.";
    tcp_keepalive_time: count(0..=7_200) = 120, Acts,
        "Seconds of silence after which TCP keepalive probes begin.";
    use_tcp_keepalive: flag = true, Acts,
        "Use TCP keepalive.";
    throttle_connections_per_sec_to_hostgroup: count(1..=100_000_000) = 1_000_000, Acts,
        "New backend connections per second and hostgroup; more wait in line. From 1000000 on there is no limit.";
    connection_growth_interval_ms: count(0..=60_000) = 50, Acts, own,
        "Milliseconds between the first and second connection opened to a server for statements that wait although eight are under way there; then faster. 0: at once.";
    hold_for_diagnostics: flag = false, Acts, own,
        "Hold the connection of a statement that left warnings or an error until the next statement: GET DIAGNOSTICS works then.";
    slow_start_ms: count(0..=3_600_000) = 0, Acts, own,
        "Milliseconds in which a server that comes back gets its share of new work by and by, in ten steps; 0: all of it at once.";
    warm_pct: count(0..=100) = 90, Acts, own,
        "Percent of the pages of its dumped buffer pool that a server which was started has loaded when it gets its whole share of new work (a key of `hostgroup_settings` too, as the other four); 0: at once.";
    warm_weight: count(0..=100) = 0, Acts, own,
        "Percent of its share of new work that such a server gets until then; 0: nothing, as long as another server takes statements.";
    warm_max_ms: count(0..=86_400_000) = 600_000, Acts, own,
        "Milliseconds after which it gets its whole share in any case; 0: at once.";
    warm_reads_per_sec: count(0..=100_000) = 0, Acts, own,
        "Reads sent to other servers of the hostgroup that are sent to such a server too, each second at most, where it has no dump to load; 0: none, and it gets its whole share at once.";
    warm_dump_interval_ms: count(0..=604_800_000) = 300_000, Acts, own,
        "Milliseconds between dumps of its buffer pool that a warm server is asked for, by the monitor's account; 0: it is asked for none.";
    connections_before_change: count(0..=1_000_000) = 3, Acts, own,
        "Connections of a server up to which one more is opened for a session rather than an idle one brought into its state.";
    max_transaction_idle_time: count(1_000..=1_728_000_000) = 14_400_000, Acts,
        "Milliseconds for which an open transaction may be idle; then its session is closed.";
    max_transaction_time: count(1_000..=1_728_000_000) = 14_400_000, Acts,
        "Milliseconds that a transaction may last; then its session is closed, also while a statement runs.";
    wait_timeout: count(0..=1_728_000_000) = 28_800_000, Acts,
        "Milliseconds after which an idle client is closed; 0: never.";
    max_connections: count(1..=1_000_000) = 10_000, Acts,
        "Client connections allowed; one more gets error 1040.";
    default_max_latency_ms: count(0..=1_728_000_000) = 1_000, Acts,
        "max_latency_ms of servers whose row has 0: milliseconds of a ping beyond which a server is passed over; 0: none.";
    ping_interval_server_msec: count(1_000..=604_800_000) = 10_000, Acts,
        "Milliseconds between pings on an idle backend connection.";
    ping_timeout_server: count(10..=600_000) = 200, Acts,
        "Milliseconds for such a ping; then the connection is closed.";
    poll_timeout: count(10..=20_000) = 2_000, Stored,
        "Milliseconds of ProxySQL's poll; this proxy does not poll.";
    poll_timeout_on_failure: count(10..=20_000) = 100, Stored,
        "Milliseconds of ProxySQL's poll after a connect error; this proxy does not poll.";
    kill_backend_connection_when_disconnect: flag = true, Acts,
        "KILL what a client left running when it went.";
    session_idle_show_processlist: flag = true, Stored,
        "Show idle sessions in the process list.";
    default_reconnect: flag = true, Stored,
        "Take a fresh backend connection when the old one is lost between statements.";
    stacksize: count(262_144..=4_194_304) = 1_048_576, Stored,
        "Bytes of stack of ProxySQL's threads.";
    threads: count(0..=255) = 0, Stored,
        "Worker threads of ProxySQL; here `--workers` says it, and 0 stands for one for each core.";
    init_connect: text = "", Acts,
        "Statements sent on each new backend connection before its first use, and after a reset; an error refuses the connection.";
    connpoll_reset_queue_length: count(0..=10_000) = 50, Acts,
        "Connections of one server that may be under reset at a time; others are closed instead. 0 resets none.";
    min_num_servers_lantency_awareness: count(0..=10_000) = 1_000, Stored,
        "Servers in a hostgroup from which on near ones are preferred.";

    // Prepared statements.
    max_stmts_per_connection: count(1..=1_024) = 100, Acts,
        "Prepared statements kept on one backend connection; the least recently used is closed for another.";
    max_stmts_cache: count(128..=1_048_576) = 10_000, Stored,
        "Prepared statements kept in all.";

    // Monitor.
    monitor_enabled: flag = true, Acts,
        "Check the backends at all.";
    monitor_history: count(1_000..=604_800_000) = 7_200_000, Acts,
        "Milliseconds for which the results of checks are kept, up to 100000 of each kind.";
    monitor_connect_interval: count(100..=604_800_000) = 120_000, Acts,
        "Milliseconds between connect checks, which are logged only.";
    monitor_connect_timeout: count(100..=600_000) = 600, Acts,
        "Milliseconds for a connect check.";
    monitor_ping_interval: count(100..=604_800_000) = 8_000, Acts,
        "Milliseconds between ping checks.";
    monitor_ping_max_failures: count(1..=1_000_000) = 3, Acts,
        "Failed pings in a row after which a server is shunned and its connections are cut. It is pinged each second then.";
    monitor_ping_timeout: count(100..=600_000) = 1_000, Acts,
        "Milliseconds for a ping check.";
    monitor_aws_rds_topology_discovery_interval: count(0..=100_000) = 0, Stored,
        "Read-only checks between looks at the RDS topology; 0: never.";
    monitor_read_only_interval: count(100..=604_800_000) = 1_000, Acts,
        "Milliseconds between checks of read_only.";
    monitor_read_only_timeout: count(100..=600_000) = 800, Acts,
        "Milliseconds for a check of read_only.";
    monitor_read_only_max_timeout_count: count(1..=1_000_000) = 3, Acts,
        "Timeouts in a row after which a server counts as read-only.";
    monitor_replication_lag_group_by_host: flag = false, Stored,
        "Each server is looked at once by its host and port, in however many hostgroups it stands.";
    monitor_replication_lag_interval: count(100..=604_800_000) = 10_000, Acts,
        "Milliseconds between checks of replication lag.";
    monitor_replication_lag_timeout: count(100..=600_000) = 1_000, Acts,
        "Milliseconds for a check of replication lag.";
    monitor_warm_interval: count(100..=604_800_000) = 2_000, Acts, own,
        "Milliseconds between looks at servers' buffer pools, where `mysql-warm_pct` or `mysql-warm_dump_interval_ms` asks for them; of a server that is not warm, a quarter of a second at most.";
    monitor_warm_timeout: count(100..=600_000) = 1_000, Acts, own,
        "Milliseconds for a look at a server's buffer pool.";
    monitor_replication_lag_count: count(1..=10) = 1, Acts,
        "Checks in a row beyond the limit before a server is shunned for lag.";
    monitor_groupreplication_healthcheck_interval: count(100..=604_800_000) = 5_000, Acts,
        "Milliseconds between checks of group replication.";
    monitor_groupreplication_healthcheck_timeout: count(100..=600_000) = 800, Acts,
        "Milliseconds for a check of group replication.";
    monitor_groupreplication_healthcheck_max_timeout_count: count(1..=10) = 3, Acts,
        "Timeouts in a row after which a member counts as offline.";
    monitor_groupreplication_max_transactions_behind_count: count(1..=10) = 3, Acts,
        "Checks in a row beyond the limit before a member is shunned.";
    monitor_groupreplication_max_transactions_behind_for_read_only: count(0..=2) = 1, Acts,
        "Which members max_transactions_behind is for: 0 writers, 1 readers, 2 both.";
    monitor_galera_healthcheck_interval: count(50..=604_800_000) = 5_000, Acts,
        "Milliseconds between checks of Galera.";
    monitor_galera_healthcheck_timeout: count(50..=600_000) = 800, Acts,
        "Milliseconds for a check of Galera.";
    monitor_galera_healthcheck_max_timeout_count: count(1..=10) = 3, Acts,
        "Timeouts in a row after which a node counts as offline.";
    monitor_username: text = "monitor", Acts,
        "The monitor's account on the backends.";
    monitor_password: secret = "monitor", Acts,
        "Password of that account.";
    monitor_replication_lag_use_percona_heartbeat: text = "", Acts,
        "Table of pt-heartbeat to read the lag from, as schema.table; empty: SHOW REPLICA STATUS, of all channels.";
    monitor_query_interval: count(100..=604_800_000) = 60_000, Stored,
        "Kept by ProxySQL for old configurations.";
    monitor_query_timeout: count(100..=600_000) = 100, Stored,
        "Kept by ProxySQL for old configurations.";
    monitor_slave_lag_when_null: count(0..=604_800) = 60, Acts,
        "Seconds of lag assumed when the server says NULL.";
    monitor_threads_min: count(2..=256) = 8, Stored,
        "Each check of each server is a task of its own: there are no threads to be counted.";
    monitor_threads_max: count(4..=1_024) = 128, Stored,
        "The same.";
    monitor_threads_queue_maxsize: count(16..=1_024) = 128, Stored,
        "The same: no check waits for another.";
    monitor_local_dns_cache_ttl: count(0..=604_800_000) = 300_000, Stored,
        "Names are resolved by the system at each connect, with its own cache.";
    monitor_local_dns_cache_refresh_interval: count(0..=604_800_000) = 60_000, Stored,
        "The same.";
    monitor_local_dns_resolver_queue_maxsize: count(16..=1_024) = 128, Stored,
        "The same.";
    monitor_wait_timeout: flag = true, Stored,
        "A connection of the monitor's that its server has closed is opened anew within the same check.";
    monitor_writer_is_also_reader: flag = true, Acts,
        "Keep a server that becomes a writer in the reader hostgroup too.";
    two_writers: choice("refuse", "proxysql") = "refuse", Acts, own,
        "What becomes of a second server of a replication pair that takes writes: `refuse` keeps it out as long as the first one is writer, `proxysql` has both write.";
    failover_username: text = "", Acts, own,
        "The account that changes roles on servers: read_only, replication, events.";
    failover_password: secret = "", Acts, own,
        "Password of that account.";
    replication_username: text = "", Acts, own,
        "The account by which servers follow a new primary.";
    replication_password: secret = "", Acts, own,
        "Password of that account.";
    failover: choice("off", "manual", "auto") = "off", Acts, own,
        "What is done when the primary of a replication pair is gone: `off` follows what others do, `manual` waits for NUTHATCH FAILOVER, `auto` acts. It takes three servers.";
    failover_max_loss: loss_max = LossMax::Any, Acts, own,
        "Transactions, acknowledged through this proxy, that `auto` may lose with the old primary; with a number it does not go on where they are not known.";
    failover_catch_up_ms: count(100..=86_400_000) = 60_000, Acts, own,
        "Milliseconds for which a failover waits until the new primary has applied what it has received; then it begins anew.";
    failover_fence_command: text = "", Acts, own,
        "Program and arguments, run without a shell before a failover touches anything; {host}, {port} and {hostgroup} name the old primary. Unless it ends with 0 there is no failover.";
    failover_fence_timeout_ms: count(100..=600_000) = 10_000, Acts, own,
        "Milliseconds within which it must end.";
    switchover_transactions_ms: count(0..=3_600_000) = 3_000, Acts, own,
        "Milliseconds for which a switchover waits for open transactions and running statements; then their sessions are ended.";
    switchover_pins_ms: count(0..=3_600_000) = 3_000, Acts, own,
        "The same for what else keeps a session on its connection: temporary tables, named locks.";
    switchover_catch_up_ms: count(100..=3_600_000) = 5_000, Acts, own,
        "Milliseconds for which a switchover waits until the new primary has all of the old one; then it is taken back.";

    // Rules.
    threshold_query_length: count(1_024..=1_073_741_824) = 524_288, Stored,
        "Bytes of a statement beyond which ProxySQL neither digests nor routes it.";
    query_rules_fast_routing_algorithm: count(1..=2) = 1, Stored,
        "Where ProxySQL keeps its fast routing map.";
    mirror_max_concurrency: count(1..=8_192) = 16, Stored,
        "Mirrored statements that run at once.";
    mirror_max_queue_length: count(0..=1_048_576) = 32_000, Stored,
        "Mirrored statements that may wait.";
    default_query_delay: count(0..=3_600_000) = 0, Acts,
        "Milliseconds by which each statement is held back before it is sent; a rule's `delay` is added.";
    default_query_timeout: count(1_000..=1_728_000_000) = 86_400_000, Acts,
        "Milliseconds that a statement may run where no rule with a `timeout` says otherwise; then it is killed on its server, and answered with error 1907.";
    query_processor_iterations: count(0..=1_000_000) = 0, Acts,
        "How often a flagOUT starts the rules again from the first; 0: the walk only goes on.";
    query_processor_regex: count(1..=2) = 1, Stored,
        "ProxySQL's regex engine; this proxy chooses for each pattern.";

    // Statistics.
    verbose_query_error: flag = false, Stored,
        "Log user, schema and statement with each error of a backend.";
    query_digests_max_digest_length: count(16..=1_048_576) = 2_048, Acts,
        "Bytes after which a digest text is cut.";
    query_digests_max_query_length: count(16..=1_048_576) = 65_000, Acts,
        "Bytes of a statement that are normalised for its digest.";
    query_digests_grouping_limit: count(1..=2_089) = 3, Acts,
        "Values in a list that a digest text shows before `...`.";
    query_digests_groups_grouping_limit: count(0..=2_089) = 10, Acts,
        "Lists of values that a digest text shows before `...`; 0: all.";
    long_query_time: count(0..=1_728_000_000) = 1_000, Acts,
        "Milliseconds beyond which a statement counts as slow.";
    sessions_sort: flag = true, Stored,
        "ProxySQL serves the sessions that waited longest first.";
    show_processlist_extended: count(0..=2) = 0, Stored,
        "Add a JSON column to the process list: 0 no, 1 yes, 2 yes and indented.";
    commands_stats: flag = true, Acts,
        "Count statements by command.";
    query_digests: flag = true, Acts,
        "Keep statistics by digest.";
    query_digests_lowercase: flag = false, Acts,
        "Write digest texts in lower case.";
    query_digests_replace_null: flag = false, Acts,
        "Replace NULL by `?` in digest texts.";
    query_digests_no_digits: flag = false, Acts,
        "Replace digits in names by `?` in digest texts.";
    query_digests_normalize_digest_text: flag = false, Stored,
        "Keep digest texts apart from the statistics, so that equal ones are stored once.";
    query_digests_track_hostname: flag = false, Acts,
        "Keep statistics by digest and client address.";
    query_digests_keep_comment: flag = false, Acts,
        "Leave comments in digest texts.";
    query_digests_max_entries: count(100..=10_000_000) = 20_000, Acts, own,
        "Digests that the statistics hold; more are counted together.";
    shapes_max_entries: count(0..=1_000_000) = 1_000, Acts, own,
        "Shapes of statements that each worker remembers, and as many older ones, so as not to take each statement apart; 0 for none.";
    parse_failure_logs_digest: flag = false, Stored,
        "Log the digest of a SET that is not understood.";
    servers_stats: flag = true, Stored,
        "Unused by ProxySQL.";
    stats_time_backend_query: flag = false, Stored,
        "Sum up the time spent waiting for backends.";
    stats_time_query_processor: flag = false, Stored,
        "Sum up the time spent in the rules.";

    // Logs.
    eventslog_filename: text = "", Stored,
        "File of the log of statements; empty: none.";
    eventslog_filesize: count(1_048_576..=1_073_741_824) = 104_857_600, Stored,
        "Bytes after which that file is rotated.";
    eventslog_default_log: count(0..=1) = 0, Stored,
        "Log statements for which no rule says anything: 0 no, 1 yes.";
    eventslog_format: count(1..=2) = 1, Stored,
        "Format of that log: 1 binary, 2 JSON.";
    auditlog_filename: text = "", Stored,
        "File of the log of logins; empty: none.";
    auditlog_filesize: count(1_048_576..=1_073_741_824) = 104_857_600, Stored,
        "Bytes after which that file is rotated.";
    log_mysql_warnings_enabled: flag = false, Stored,
        "Log the warnings of backends.";
    log_unhealthy_connections: flag = true, Stored,
        "Log pooled connections that turn out dead.";
    binlog_reader_connect_retry_msec: count(200..=120_000) = 3_000, Stored,
        "Milliseconds between tries to reach ProxySQL's binlog reader.";

    // Security.
    client_host_cache_size: count(0..=1_048_576) = 0, Stored,
        "Client addresses whose errors are counted.";
    client_host_error_counts: count(0..=1_048_576) = 0, Stored,
        "Errors after which a client address is refused; 0: never.";
    have_ssl: flag = true, Acts,
        "Offer TLS to clients.";
    ssl_min_version: choice("TLSv1.2", "TLSv1.3") = "TLSv1.2", Acts, own,
        "Oldest version of TLS that clients may speak.";
    default_authentication_plugin: choice("mysql_native_password", "caching_sha2_password")
        = "mysql_native_password", Acts,
        "Authentication plugin offered in the greeting.";
    clear_password_from_clients: flag = false, Acts, own,
        "Take passwords by `mysql_clear_password`, over TLS or a Unix socket only, and ask for them so where a client does not speak the plugin of the hash.";
    clear_password_to_servers: flag = false, Acts, own,
        "Answer servers that ask by `mysql_clear_password` (PAM, LDAP), over TLS that verifies them or a Unix socket only.";
    ssl_p2s_ca: text = "", Acts, "File of the authorities that vouch for backends (PEM).";
    ssl_p2s_capath: text = "", Acts, "Directory of files of the authorities that vouch for backends (PEM).";
    ssl_p2s_verify: choice("hostname", "ca", "off") = "hostname", Acts, own,
        "How far a backend's certificate is believed where `mysql-ssl_p2s_ca` or `mysql-ssl_p2s_capath` is set: `hostname` (an authority vouches for it and it bears the host's name), `ca` (an authority vouches for it), `off`.";
    ssl_p2s_cert: text = "", Acts, "File of the certificate shown to backends (PEM).";
    ssl_p2s_key: text = "", Acts, "File of that certificate's key (PEM).";
    ssl_p2s_cipher: text = "", Stored, "Ciphers allowed towards backends.";
    ssl_p2s_crl: text = "", Acts, "File of lists of revoked certificates (PEM); every certificate of a backend's chain must be covered by one.";
    ssl_p2s_crlpath: text = "", Acts, "Directory of files of such lists.";
    ssl_p2s_min_version: choice("TLSv1.2", "TLSv1.3") = "TLSv1.2", Acts, own,
        "Oldest version of TLS spoken with backends, where their row of `mysql_servers_ssl_params` does not say.";
    ldap_user_variable: text = "", Stored,
        "User variable that carries the LDAP name to backends.";
    add_ldap_user_comment: text = "", Stored,
        "Name of the comment that carries the LDAP name to backends.";
    proxy_protocol_networks: text = "", Acts,
        "Networks whose clients may send a PROXY header, separated by commas; `*`: all; `localhost`: Unix sockets.";

    // Protocol.
    enable_client_deprecate_eof: flag = true, Stored,
        "Offer CLIENT_DEPRECATE_EOF to clients.";
    enable_server_deprecate_eof: flag = true, Stored,
        "Use CLIENT_DEPRECATE_EOF towards backends.";
    enable_load_data_local_infile: flag = false, Acts,
        "Allow LOAD DATA LOCAL INFILE.";
    handle_unknown_charset: count(0..=2) = 1, Stored,
        "A client's unknown character set: 0 refuse, 1 use the default and log, 2 use the default.";
    have_compress: flag = true, Acts,
        "Offer compression to clients.";
    interfaces: text = "", Stored,
        "Addresses that ProxySQL listens on, separated by `;`; here `--mysql` says it.";
    max_allowed_packet: count(8_192..=1_073_741_824) = 67_108_864, Acts,
        "Bytes of the largest packet accepted from a client.";
    automatic_detect_sqli: flag = false, Stored,
        "Look for SQL injection.";
    firewall_whitelist_enabled: flag = false, Stored,
        "Allow only the statements listed in the firewall tables.";
    firewall_whitelist_errormsg: text = "Firewall blocked this query", Stored,
        "What a blocked statement is told.";
    hostgroup_manager_verbose: count(0..=3) = 1, Stored,
        "How much of the hostgroups' changes is logged.";
    throttle_max_bytes_per_second_to_client: count(0..=2_147_483_647) = 0, Stored,
        "Bytes per second sent to one client; 0: no limit.";
    throttle_ratio_server_to_client: count(0..=100) = 0, Stored,
        "How far reading from a backend is slowed to the client's pace; 0: off.";
    default_schema: text = "information_schema", Stored,
        "Schema that ProxySQL gives a client that names none; here such a client has none.";
    default_charset: text = "utf8", Stored,
        "Character set of clients that name none.";
    default_collation_connection: text = "utf8_general_ci", Stored,
        "Collation of clients that name none.";
    server_capabilities: count(0..=4_294_967_295) = 569_899, Stored,
        "Capability bits of ProxySQL's greeting; here they are the backend's.";
    server_version: text = "", Acts,
        "Version in the greeting; empty: the backend's, as it is learned.";
    aurora_max_lag_ms_only_read_from_replicas: count(0..=100) = 2, Stored,
        "Replicas from which on a max_lag_ms keeps reads off the writer.";
    data_packets_history_size: count(0..=2_147_483_647) = 0, Stored,
        "Packets of each connection that ProxySQL keeps for debugging.";
    evaluate_replication_lag_on_servers_load: count(0..=1) = 1, Stored,
        "Judge the lag again after LOAD MYSQL SERVERS: 0 no, 1 yes.";
}
