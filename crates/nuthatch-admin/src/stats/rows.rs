//! The rows of the stats tables, as the data plane hands them over.
//!
//! Columns, their order and their names are ProxySQL's. No field ever holds a password.

use std::fmt;
use std::sync::Arc;

use rusqlite::types::Value;

use crate::statistic;
use crate::stats::table::{Cell, stats_table};

/// A statement's digest; shown as `0x` and 16 upper-case hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest(pub u64);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:016X}", self.0)
    }
}

impl Cell for HitRatio {
    #[expect(clippy::cast_precision_loss, reason = "four places are shown")]
    fn cell(&self) -> Value {
        let of_ten_thousand = self.hits.saturating_mul(10_000).checked_div(self.look_ups).unwrap_or(0);
        Value::Real(of_ten_thousand as f64 / 10_000.0)
    }
}

impl Cell for Digest {
    fn cell(&self) -> Value {
        Value::Text(self.to_string())
    }
}

stats_table! {
    /// One digest on one hostgroup for one user and schema, in `stats_mysql_query_digest`.
    QueryDigestRow in "stats_mysql_query_digest",
        rows: |plane, reading| plane.query_digests(reading),
        constraints: " , PRIMARY KEY(hostgroup, schemaname, username, client_address, digest)";
    /// The hostgroup that answered; -1 for hits of the query cache.
    hostgroup: i32 => "hostgroup INT",
    /// The session's schema.
    schemaname: Arc<str> => "schemaname VARCHAR NOT NULL",
    /// The frontend user.
    username: Arc<str> => "username VARCHAR NOT NULL",
    /// The client's address, empty unless addresses are tracked.
    client_address: Arc<str> => "client_address VARCHAR NOT NULL",
    /// The digest.
    digest: Digest => "digest VARCHAR NOT NULL",
    /// The normalised statement.
    digest_text: Arc<str> => "digest_text VARCHAR NOT NULL",
    /// How many statements.
    count_star: u64 => "count_star INTEGER NOT NULL",
    /// When it was first seen, in seconds since 1970.
    first_seen: u64 => "first_seen INTEGER NOT NULL",
    /// When it was last seen, in seconds since 1970.
    last_seen: u64 => "last_seen INTEGER NOT NULL",
    /// Time of all, in microseconds; 0 for hits.
    sum_time: u64 => "sum_time INTEGER NOT NULL",
    /// The shortest, in microseconds.
    min_time: u64 => "min_time INTEGER NOT NULL",
    /// The longest, in microseconds.
    max_time: u64 => "max_time INTEGER NOT NULL",
    /// Rows that were changed.
    sum_rows_affected: u64 => "sum_rows_affected INTEGER NOT NULL",
    /// Rows that were sent to clients.
    sum_rows_sent: u64 => "sum_rows_sent INTEGER NOT NULL",
}

/// Hits by look-ups; 0 of none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HitRatio {
    /// How many were hits.
    pub hits: u64,
    /// How many there were.
    pub look_ups: u64,
}

stats_table! {
    /// What the query cache did for one digest on one hostgroup for one user and schema, in `stats_query_cache`.
    QueryCacheRow in "stats_query_cache",
        rows: |plane, reading| plane.query_cache(reading),
        constraints: " , PRIMARY KEY(hostgroup, schemaname, username, digest)";
    /// The hostgroup that is asked where the cache has no answer; -1 where none has been asked since the last reset.
    hostgroup: i32 => "hostgroup INT",
    /// The session's schema.
    schemaname: Arc<str> => "schemaname VARCHAR NOT NULL",
    /// The frontend user.
    username: Arc<str> => "username VARCHAR NOT NULL",
    /// The digest.
    digest: Digest => "digest VARCHAR NOT NULL",
    /// The normalised statement.
    digest_text: Arc<str> => "digest_text VARCHAR NOT NULL",
    /// How often the cache was asked for an answer.
    look_ups: u64 => "look_ups INTEGER NOT NULL",
    /// How often it had one.
    hits: u64 => "hits INTEGER NOT NULL",
    /// Hits by look-ups, from 0 to 1.
    hit_ratio: HitRatio => "hit_ratio REAL NOT NULL",
    /// Answers that were stored.
    fills: u64 => "fills INTEGER NOT NULL",
    /// Entries that are stored now.
    entries: u64 => "entries INTEGER NOT NULL",
    /// What they take, in bytes.
    bytes: u64 => "bytes INTEGER NOT NULL",
    /// What servers would have taken for the hits, in microseconds: as long as for the others on an average.
    backend_time_saved_us: u64 => "backend_time_saved_us INTEGER NOT NULL",
    /// Entries that had to make room for others.
    evicted: u64 => "evicted INTEGER NOT NULL",
    /// Entries that a look-up found to be too old.
    expired: u64 => "expired INTEGER NOT NULL",
    /// Entries that a look-up found to have been written over.
    invalidated: u64 => "invalidated INTEGER NOT NULL",
    /// Answers that were the same when they were read again after that.
    repeated: u64 => "repeated INTEGER NOT NULL",
    /// Why the last answer was not stored, in words; NULL if it was.
    last_not_cached: Option<String> => "last_not_cached VARCHAR",
    /// Whether copies of its answers pay, in words; NULL if that is not known yet.
    admission: Option<String> => "admission VARCHAR",
}

stats_table! {
    /// One table that the query cache knows, in `stats_query_cache_tables`; names in lower case.
    QueryCacheTableRow in "stats_query_cache_tables",
        rows: |plane, _| plane.query_cache_tables(), constraints: "";
    /// Its schema.
    schema_name: String => "schema_name VARCHAR NOT NULL",
    /// Its name.
    table_name: String => "table_name VARCHAR NOT NULL",
    /// Answers that were stored and depend on it.
    reads: u64 => "reads INTEGER NOT NULL",
    /// Statements that could write it.
    writes: u64 => "writes INTEGER NOT NULL",
    /// Entries that a look-up found to have been written over by a write to it, where that is certain.
    invalidations: u64 => "invalidations INTEGER NOT NULL",
    /// Why its results are not cached; NULL if they are.
    unsuitable: Option<String> => "unsuitable VARCHAR",
}

stats_table! {
    /// One entry of the query cache, in `stats_query_cache_entries`: the largest ones.
    QueryCacheEntryRow in "stats_query_cache_entries",
        rows: |plane, _| plane.query_cache_entries(), constraints: "";
    /// The frontend user.
    username: String => "username VARCHAR NOT NULL",
    /// The session's schema.
    schemaname: String => "schemaname VARCHAR NOT NULL",
    /// The digest; NULL where digests are not kept.
    digest: Option<Digest> => "digest VARCHAR",
    /// The beginning of the normalised statement.
    query: String => "query VARCHAR NOT NULL",
    /// What it takes, in bytes.
    length: u64 => "length INTEGER NOT NULL",
    /// How much more it would take were it not compressed, in bytes; 0 for one that is not.
    spared: u64 => "spared INTEGER NOT NULL",
    /// Rows of the answer.
    rows: u64 => "\"rows\" INTEGER NOT NULL",
    /// `ttl`, `exact`, or `both`.
    mode: String => "mode VARCHAR NOT NULL",
    /// When it was stored, in milliseconds since 1970.
    created_ms: u64 => "created_ms INTEGER NOT NULL",
    /// When its time is over, in milliseconds since 1970; NULL for an exact one.
    expire_ms: Option<u64> => "expire_ms INTEGER",
    /// When it was stored or served last, in milliseconds since 1970.
    access_ms: u64 => "access_ms INTEGER NOT NULL",
    /// How many have it in their hands: the cache, and those who are sending it.
    ref_count: u64 => "ref_count INTEGER NOT NULL",
    /// How often it was served.
    hits: u64 => "hits INTEGER NOT NULL",
}

stats_table! {
    /// One thing to consider about the query cache, in `stats_query_cache_advice`.
    QueryCacheAdviceRow in "stats_query_cache_advice",
        rows: |plane, _| plane.query_cache_advice(), constraints: "";
    /// What it is about.
    name: String => "name VARCHAR NOT NULL PRIMARY KEY",
    /// What was found.
    value: String => "value VARCHAR NOT NULL",
    /// What to do; empty for nothing.
    advice: String => "advice VARCHAR NOT NULL",
}

stats_table! {
    /// What this proxy has tried to change at who writes and who follows, in `stats_nuthatch_role_changes`: the last thousand tries.
    RoleChangeRow in "stats_nuthatch_role_changes", rows: |plane, _| plane.role_changes(), constraints: "";
    /// The writer hostgroup of the pair.
    hostgroup: u32 => "hostgroup INT NOT NULL",
    /// When it began, in seconds since 1970.
    time: u64 => "time INT NOT NULL",
    /// How long it took, in milliseconds.
    took_ms: u64 => "took_ms INT NOT NULL",
    /// `switchover`; `failover`; `rejoin`: an old primary follows again or stays out; `repair`: what a failover had left.
    kind: &'static str => "kind VARCHAR NOT NULL",
    /// `operator`, or `proxy`.
    ordered_by: &'static str => "ordered_by VARCHAR NOT NULL",
    /// Host and port of who wrote before; of a rejoin or repair, of the server that it is about. NULL where that is not known.
    old_primary: Option<String> => "old_primary VARCHAR",
    /// Host and port of who was to write, or writes; NULL where nobody was chosen.
    new_primary: Option<String> => "new_primary VARCHAR",
    /// `done`, `refused`, `rolled back`, `unfinished`.
    outcome: &'static str => "outcome VARCHAR NOT NULL",
    /// In words; NULL where it is done.
    why: Option<String> => "why VARCHAR",
    /// What was done: a line for each step, with its milliseconds.
    steps: String => "steps VARCHAR NOT NULL",
    /// How often the proxy has tried it in a row, and refused it in these words.
    tries: u64 => "tries INT NOT NULL",
}

stats_table! {
    /// What was lost with an old primary, in `stats_nuthatch_lost_transactions`: the last thousand of such findings.
    LostTransactionsRow in "stats_nuthatch_lost_transactions", rows: |plane, _| plane.lost_transactions(), constraints: "";
    /// The writer hostgroup of the pair.
    hostgroup: u32 => "hostgroup INT NOT NULL",
    /// When it was found, in seconds since 1970.
    time: u64 => "time INT NOT NULL",
    /// Host and port of who wrote before.
    old_primary: String => "old_primary VARCHAR NOT NULL",
    /// Host and port of who writes since.
    new_primary: String => "new_primary VARCHAR NOT NULL",
    /// `acknowledged`: clients of this proxy were told that they are committed. `seen`: the old primary had them when it was seen last.
    /// `surplus`: it had them when it came back.
    known_by: String => "known_by VARCHAR NOT NULL",
    /// How many; NULL where that is not known.
    count: Option<u64> => "count INT",
    /// Their ids; NULL where they are not known.
    gtids: Option<String> => "gtids VARCHAR",
}

stats_table! {
    /// A server whose binlog is followed, in `stats_query_cache_follow`.
    QueryCacheFollowRow in "stats_query_cache_follow", rows: |plane, _| plane.query_cache_follow(),
        constraints: " , PRIMARY KEY (hostname, port)";
    /// As configured.
    hostname: String => "hostname VARCHAR NOT NULL",
    /// As configured.
    port: u16 => "port INT NOT NULL",
    /// What is asked for: `bounded`, `exact`.
    wanted: &'static str => "wanted VARCHAR NOT NULL",
    /// What is promised now: `off` (nothing of it is served), `bounded`, `exact`.
    mode: &'static str => "mode VARCHAR NOT NULL",
    /// Since when, in milliseconds since 1970.
    since_ms: u64 => "since_ms INT NOT NULL",
    /// Why no more than that; NULL where it is what is asked for.
    why: Option<String> => "why VARCHAR",
    /// Number of the binlog file and byte in it up to which it is carried.
    position: String => "position VARCHAR NOT NULL",
    /// For how many milliseconds what is stored may be served, if nothing more is heard.
    left_ms: u64 => "left_ms INT NOT NULL",
    /// Transactions that were carried.
    transactions: u64 => "transactions INT NOT NULL",
    /// Those that the server is not proven to show yet: what they wrote is not served.
    unproven: u64 => "unproven INT NOT NULL",
    /// Writes through the proxy of which only what their events showed was forgotten.
    narrowed: u64 => "narrowed INT NOT NULL",
    /// Those whose events came too late for that.
    late: u64 => "late INT NOT NULL",
    /// How often it began anew, with everything forgotten.
    begun_anew: u64 => "begun_anew INT NOT NULL",
    /// How often it promised less than before.
    falls: u64 => "falls INT NOT NULL",
    /// How long it took until all was carried that the server had written when it was asked: how often that was measured.
    delay_count: u64 => "delay_count INT NOT NULL",
    /// Microseconds of half of these, as an upper bound.
    delay_p50_us: u64 => "delay_p50_us INT NOT NULL",
    /// The same of 99 of 100.
    delay_p99_us: u64 => "delay_p99_us INT NOT NULL",
    /// The longest.
    delay_max_us: u64 => "delay_max_us INT NOT NULL",
}

stats_table! {
    /// What one server is now, in `stats_nuthatch_servers`: by host and port, in however many hostgroups it stands.
    ServerRow in "stats_nuthatch_servers", rows: |plane, _| plane.servers(),
        constraints: " , PRIMARY KEY (hostname, port)";
    /// As configured.
    hostname: String => "hostname VARCHAR NOT NULL",
    /// As configured.
    port: u16 => "port INT NOT NULL",
    /// `writer`, `backup writer`, `reader`, `kept out`, `offline`, `unknown`; NULL outside of clusters.
    role: Option<String> => "role VARCHAR",
    /// The writer hostgroup of its cluster; NULL outside of clusters.
    writer_hostgroup: Option<u32> => "writer_hostgroup INT",
    /// Where it stands now, separated by commas.
    hostgroups: String => "hostgroups VARCHAR NOT NULL",
    /// Since when it has its role, in seconds since 1970.
    since: Option<u64> => "since INT",
    /// By what it has its role, in words.
    why: Option<String> => "why VARCHAR",
    /// 1 where it takes no writes, by the last look that told; NULL where none did.
    read_only: Option<u32> => "read_only INT",
    /// Seconds that it is behind its source; NULL where that is not known.
    lag_s: Option<u64> => "lag_s INT",
    /// Microseconds of the last ping; NULL where there was none.
    ping_us: Option<u64> => "ping_us INT",
    /// Why nothing new is sent to it, in words; NULL where it is used.
    trouble: Option<String> => "trouble VARCHAR",
    /// 1 while it gets little of its share of statements, or none, as it was started anew and is cold.
    warming: u32 => "warming INT NOT NULL",
    /// Percent of the pages that it had dumped which are loaded; NULL where it loads none, or was not asked.
    warm_pct: Option<u64> => "warm_pct INT",
    /// Why it is held, or is not any more, in words; NULL where it never was.
    warm_why: Option<String> => "warm_why VARCHAR",
    /// When it dumped its buffer pool last because the proxy asked for that, in seconds since 1970.
    dumped: Option<u64> => "dumped INT",
    /// Why it refused the last dump, and what mends that, in words.
    dump_trouble: Option<String> => "dump_trouble VARCHAR",
}

stats_table! {
    /// One rule in force, in `stats_mysql_query_rules`.
    QueryRuleRow in "stats_mysql_query_rules", rows: |plane, _| plane.query_rules(), constraints: "";
    /// The rule.
    rule_id: u32 => "rule_id INTEGER PRIMARY KEY",
    /// How many statements it matched since it was loaded.
    hits: u64 => "hits INT NOT NULL",
}

stats_table! {
    /// One server in one hostgroup, in `stats_mysql_connection_pool`.
    ConnectionPoolRow in "stats_mysql_connection_pool",
        rows: |plane, reading| plane.connection_pool(reading), constraints: "";
    /// The hostgroup.
    hostgroup: u32 => "hostgroup INT",
    /// Host name, address or socket path.
    srv_host: String => "srv_host VARCHAR",
    /// Port; 0 for a socket path.
    srv_port: u16 => "srv_port INT",
    /// `ONLINE`, `SHUNNED`, `OFFLINE_SOFT` or `OFFLINE_HARD`.
    status: String => "status VARCHAR",
    /// Connections that serve a session now.
    conn_used: u64 => "ConnUsed INT",
    /// Connections that wait in the pool.
    conn_free: u64 => "ConnFree INT",
    /// Connections that were opened.
    conn_ok: u64 => "ConnOK INT",
    /// Connections that could not be opened.
    conn_err: u64 => "ConnERR INT",
    /// The most connections in use at once.
    max_conn_used: u64 => "MaxConnUsed INT",
    /// Statements sent.
    queries: u64 => "Queries INT",
    /// Statements sent that asked for a GTID.
    queries_gtid_sync: u64 => "Queries_GTID_sync INT",
    /// Bytes sent to the server.
    bytes_data_sent: u64 => "Bytes_data_sent INT",
    /// Bytes received from the server.
    bytes_data_recv: u64 => "Bytes_data_recv INT",
    /// The last measured latency, in microseconds.
    latency_us: u64 => "Latency_us INT",
    /// Empty without TLS; else how far the server's certificate is believed: `unverified`, `ca`, `hostname`.
    tls: String => "tls VARCHAR",
}

stats_table! {
    /// One client session, in `stats_mysql_processlist`.
    ProcessRow in "stats_mysql_processlist", rows: |plane, _| plane.processlist(), constraints: "";
    /// The worker.
    thread_id: u32 => "ThreadID INT NOT NULL",
    /// The session, as `KILL CONNECTION` takes it.
    session_id: u64 => "SessionID INTEGER PRIMARY KEY",
    /// The frontend user.
    user: Option<String> => "user VARCHAR",
    /// The session's schema.
    db: Option<String> => "db VARCHAR",
    /// The client's address.
    cli_host: Option<String> => "cli_host VARCHAR",
    /// The client's port.
    cli_port: Option<u16> => "cli_port INT",
    /// The hostgroup that the statement runs on.
    hostgroup: Option<i32> => "hostgroup INT",
    /// The proxy's address towards the server.
    l_srv_host: Option<String> => "l_srv_host VARCHAR",
    /// The proxy's port towards the server.
    l_srv_port: Option<u16> => "l_srv_port INT",
    /// The server that the session holds a connection to.
    srv_host: Option<String> => "srv_host VARCHAR",
    /// That server's port.
    srv_port: Option<u16> => "srv_port INT",
    /// What the session does: `Sleep`, `Query` …
    command: Option<String> => "command VARCHAR",
    /// For how long, in milliseconds.
    time_ms: u64 => "time_ms INT NOT NULL",
    /// The statement; never one that may hold a password.
    info: Option<String> => "info VARCHAR",
    /// Bits that pin the session, 0 for none.
    status_flags: u64 => "status_flags INT",
    /// More about the session as JSON, where mysql-show_processlist_extended asks for it.
    extended_info: Option<String> => "extended_info VARCHAR",
}

stats_table! {
    /// One frontend user, in `stats_mysql_users`.
    UserRow in "stats_mysql_users", rows: |plane, _| plane.users(), constraints: "";
    /// The user.
    username: String => "username VARCHAR PRIMARY KEY",
    /// Client connections that are open.
    frontend_connections: u64 => "frontend_connections INT NOT NULL",
    /// The most that the user may open.
    frontend_max_connections: u64 => "frontend_max_connections INT NOT NULL",
}

stats_table! {
    /// One kind of statement, in `stats_mysql_commands_counters`: how many took at most so long.
    CommandCountersRow in "stats_mysql_commands_counters", rows: |plane, _| plane.commands_counters(), constraints: "";
    /// The kind: `SELECT`, `INSERT` …
    command: String => "Command VARCHAR NOT NULL PRIMARY KEY",
    /// Time of all, in microseconds.
    total_time_us: u64 => "Total_Time_us INT NOT NULL",
    /// How many.
    total_cnt: u64 => "Total_cnt INT NOT NULL",
    /// At most 100 µs.
    cnt_100us: u64 => "cnt_100us INT NOT NULL",
    /// At most 500 µs.
    cnt_500us: u64 => "cnt_500us INT NOT NULL",
    /// At most 1 ms.
    cnt_1ms: u64 => "cnt_1ms INT NOT NULL",
    /// At most 5 ms.
    cnt_5ms: u64 => "cnt_5ms INT NOT NULL",
    /// At most 10 ms.
    cnt_10ms: u64 => "cnt_10ms INT NOT NULL",
    /// At most 50 ms.
    cnt_50ms: u64 => "cnt_50ms INT NOT NULL",
    /// At most 100 ms.
    cnt_100ms: u64 => "cnt_100ms INT NOT NULL",
    /// At most 500 ms.
    cnt_500ms: u64 => "cnt_500ms INT NOT NULL",
    /// At most 1 s.
    cnt_1s: u64 => "cnt_1s INT NOT NULL",
    /// At most 5 s.
    cnt_5s: u64 => "cnt_5s INT NOT NULL",
    /// At most 10 s.
    cnt_10s: u64 => "cnt_10s INT NOT NULL",
    /// Longer.
    cnt_infs: u64 => "cnt_INFs INT NOT NULL",
}

stats_table! {
    /// One figure of memory, in `stats_memory_metrics`.
    MemoryRow in "stats_memory_metrics", rows: |plane, _| plane.memory_metrics(), constraints: "";
    /// What takes the memory.
    variable_name: String => "Variable_Name VARCHAR NOT NULL PRIMARY KEY",
    /// How much, in bytes, as text.
    variable_value: String => "Variable_Value VARCHAR NOT NULL",
}

stats_table! {
    /// One error code of one server for one user, in `stats_mysql_errors`.
    ErrorRow in "stats_mysql_errors",
        rows: |plane, reading| plane.errors(reading),
        constraints: " , PRIMARY KEY (hostgroup, hostname, port, username, client_address, schemaname, errno)";
    /// The hostgroup.
    hostgroup: u32 => "hostgroup INT NOT NULL",
    /// The server.
    hostname: String => "hostname VARCHAR NOT NULL",
    /// Its port.
    port: u16 => "port INT NOT NULL",
    /// The frontend user.
    username: String => "username VARCHAR NOT NULL",
    /// The client's address.
    client_address: String => "client_address VARCHAR NOT NULL",
    /// The session's schema.
    schemaname: String => "schemaname VARCHAR NOT NULL",
    /// The code of the ERR packet.
    errno: u16 => "errno INT NOT NULL",
    /// How many.
    count_star: u64 => "count_star INTEGER NOT NULL",
    /// When it was first seen, in seconds since 1970.
    first_seen: u64 => "first_seen INTEGER NOT NULL",
    /// When it was last seen, in seconds since 1970.
    last_seen: u64 => "last_seen INTEGER NOT NULL",
    /// The message of the last.
    last_error: String => "last_error VARCHAR NOT NULL",
}

stats_table! {
    /// The line of one hostgroup, in `stats_nuthatch_lines`.
    LineRow in "stats_nuthatch_lines", rows: |plane, _| plane.lines(), constraints: "";
    /// The hostgroup.
    hostgroup: u32 => "hostgroup INT NOT NULL PRIMARY KEY",
    /// Statements that wait for one of its connections.
    waiting: u64 => "waiting INT NOT NULL",
    /// The most that have at one time.
    waiting_max: u64 => "waiting_max INT NOT NULL",
    /// How many may; 0 for no limit.
    waiting_limit: u64 => "waiting_limit INT NOT NULL",
    /// Bytes of them.
    waiting_bytes: u64 => "waiting_bytes INT NOT NULL",
    /// How many there may be; 0 for no limit.
    waiting_bytes_limit: u64 => "waiting_bytes_limit INT NOT NULL",
    /// Statements that were refused because of these limits.
    refused: u64 => "refused INT NOT NULL",
    /// For how long who has waited longest does.
    oldest_wait_ms: u64 => "oldest_wait_ms INT NOT NULL",
    /// Why nothing is lent; NULL where nobody waits and nothing is in the way.
    reason: Option<String> => "reason VARCHAR",
    /// 1 while the hostgroup is held.
    held: u32 => "held INT CHECK (held IN (0,1)) NOT NULL",
    /// Why it is.
    hold_reason: Option<String> => "hold_reason VARCHAR",
    /// Connections in use, and those that are being opened.
    connections_used: u64 => "connections_used INT NOT NULL",
    /// Of those, what must be waited for until nothing runs there any more: with a statement, a transaction or other state of a session.
    connections_unfinished: u64 => "connections_unfinished INT NOT NULL",
    /// `max_connections` of its servers that take statements.
    connections_max: u64 => "connections_max INT NOT NULL",
    /// For what sessions keep connections between statements, each reason with its number.
    pins: String => "pins VARCHAR NOT NULL",
}

stats_table! {
    /// One global statistic, in `stats_mysql_global`.
    GlobalRow in "stats_mysql_global", rows: |plane, _| global(plane.status()), constraints: "";
    /// Its name.
    variable_name: String => "Variable_Name VARCHAR NOT NULL PRIMARY KEY",
    /// Its value as text, as ProxySQL has it.
    variable_value: String => "Variable_Value VARCHAR NOT NULL",
}

fn global(mut samples: Vec<statistic::Sample>) -> Vec<GlobalRow> {
    statistic::sort(&mut samples);
    samples
        .iter()
        .map(|sample| GlobalRow { variable_name: sample.name(), variable_value: sample.value.to_string() })
        .collect()
}
