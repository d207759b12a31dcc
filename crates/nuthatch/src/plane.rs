//! The running proxy as the admin interface sees it: translation, no knowledge of its own.

mod figures;

use std::sync::Arc;

use nuthatch_admin::rows::{
    CommandCountersRow, ConnectionPoolRow, Digest, ErrorRow, HitRatio, LineRow, LostTransactionsRow,
    MemoryRow, ProcessRow, QueryCacheAdviceRow, QueryCacheEntryRow, QueryCacheFollowRow, QueryCacheRow,
    QueryCacheTableRow, QueryDigestRow, QueryRuleRow, RoleChangeRow, ServerRow, UserRow,
};
use nuthatch_admin::{
    CheckLog, CheckResult, DataPlane, FailoverOrder, HostgroupOrder, Killed, ProcessVerb, Reading, Sample,
    SwitchoverOrder,
};
use nuthatch_config::{HostgroupId, Server, ServerStatus, Snapshot};
use nuthatch_monitor::{CheckKind, Log, Record};
use nuthatch_proxy::{CommandRow, DigestReading, FollowRow, PlacedServer, Proxy};

use crate::certificates::Certificates;
use crate::stops::Stops;
use crate::switching::Switching;

/// The proxy with the ways to stop its process.
#[derive(Debug)]
pub(crate) struct Plane {
    proxy: Arc<Proxy>,
    stops: Stops,
    certificates: Certificates,
    monitored: Arc<Log>,
    switching: Switching,
}

impl Plane {
    pub(crate) fn new(
        proxy: Arc<Proxy>,
        stops: Stops,
        certificates: Certificates,
        monitored: Arc<Log>,
        switching: Switching,
    ) -> Self {
        Self { proxy, stops, certificates, monitored, switching }
    }
}

impl Plane {
    fn server_row(&self, server: PlacedServer) -> ServerRow {
        let hostgroups: Vec<_> = server.hostgroups.iter().map(ToString::to_string).collect();
        ServerRow {
            hostname: server.name.host,
            port: server.name.port,
            role: server.role.map(str::to_owned),
            writer_hostgroup: server.writer_hostgroup.map(|hostgroup| hostgroup.0),
            hostgroups: hostgroups.join(","),
            since: server.since_ms.map(|since_ms| self.proxy.unix_seconds_at(since_ms)),
            why: server.why,
            read_only: server.is_read_only.map(u32::from),
            lag_s: server.lag_s,
            ping_us: server.latency_us,
            trouble: server.trouble,
            warming: u32::from(server.warmth.is_held),
            warm_pct: server.warmth.loaded_pct,
            warm_why: server.warmth.why,
            dumped: server.warmth.dumped_ms.map(|dumped_ms| self.proxy.unix_seconds_at(dumped_ms)),
            dump_trouble: server.warmth.dump_trouble,
        }
    }
}

impl DataPlane for Plane {
    fn publish(&self, snapshot: Arc<Snapshot>) {
        self.proxy.publish(snapshot);
    }

    fn servers(&self) -> Vec<ServerRow> {
        self.proxy.placed_servers().into_iter().map(|server| self.server_row(server)).collect()
    }

    fn servers_in_force(&self) -> Vec<(Arc<Server>, ServerStatus)> {
        self.proxy.servers_in_force()
    }

    fn status(&self) -> Vec<Sample> {
        figures::samples(&self.proxy, &self.switching)
    }

    fn query_digests(&self, reading: Reading) -> Vec<QueryDigestRow> {
        let rows = self.proxy.query_digests(digest_reading(reading));
        rows.into_iter()
            .map(|row| QueryDigestRow {
                hostgroup: i32::try_from(row.hostgroup).unwrap_or(i32::MAX),
                schemaname: text(&row.schemaname).into(),
                username: row.username.into(),
                client_address: row.client_address.into(),
                digest: Digest(row.digest),
                digest_text: text(&row.digest_text).into(),
                count_star: row.count_star,
                first_seen: self.proxy.unix_seconds_at(row.first_seen_ms),
                last_seen: self.proxy.unix_seconds_at(row.last_seen_ms),
                sum_time: row.sum_time_us,
                min_time: row.min_time_us,
                max_time: row.max_time_us,
                sum_rows_affected: row.sum_rows_affected,
                sum_rows_sent: row.sum_rows_sent,
            })
            .collect()
    }

    fn errors(&self, reading: Reading) -> Vec<ErrorRow> {
        let rows = self.proxy.errors(digest_reading(reading));
        rows.into_iter()
            .map(|row| ErrorRow {
                hostgroup: row.hostgroup,
                hostname: row.hostname,
                port: row.port,
                username: row.username,
                client_address: row.client_address,
                schemaname: text(&row.schemaname),
                errno: row.errno,
                count_star: row.count_star,
                first_seen: self.proxy.unix_seconds_at(row.first_seen_ms),
                last_seen: self.proxy.unix_seconds_at(row.last_seen_ms),
                last_error: text(&row.last_error),
            })
            .collect()
    }

    fn query_cache(&self, reading: Reading) -> Vec<QueryCacheRow> {
        let rows = self.proxy.query_cache(digest_reading(reading));
        rows.into_iter()
            .map(|row| QueryCacheRow {
                hostgroup: i32::try_from(row.hostgroup).unwrap_or(i32::MAX),
                schemaname: text(&row.schemaname).into(),
                username: row.username.into(),
                digest: Digest(row.digest),
                digest_text: text(&row.digest_text).into(),
                look_ups: row.look_ups,
                hits: row.hits,
                hit_ratio: HitRatio { hits: row.hits, look_ups: row.look_ups },
                fills: row.fills,
                entries: row.entries,
                bytes: row.bytes,
                backend_time_saved_us: row.backend_time_saved_us,
                evicted: row.evicted,
                expired: row.expired,
                invalidated: row.invalidated,
                repeated: row.repeated,
                last_not_cached: row.last_not_cached,
                admission: row.admission,
            })
            .collect()
    }

    fn query_cache_tables(&self) -> Vec<QueryCacheTableRow> {
        let rows = self.proxy.cached_tables();
        rows.into_iter()
            .map(|row| QueryCacheTableRow {
                schema_name: text(&row.schema),
                table_name: text(&row.table),
                reads: row.reads,
                writes: row.writes,
                invalidations: row.invalidations,
                unsuitable: row.unsuitable,
            })
            .collect()
    }

    fn query_cache_entries(&self) -> Vec<QueryCacheEntryRow> {
        let rows = self.proxy.cached_entries();
        rows.into_iter()
            .map(|row| QueryCacheEntryRow {
                username: text(&row.user),
                schemaname: text(&row.schema),
                digest: row.digest.map(Digest),
                query: text(&row.query),
                length: row.length,
                spared: row.spared,
                rows: row.rows,
                mode: row.mode.to_owned(),
                created_ms: row.created_ms,
                expire_ms: row.expire_ms,
                access_ms: row.access_ms,
                ref_count: row.ref_count,
                hits: row.hits,
            })
            .collect()
    }

    fn query_cache_follow(&self) -> Vec<QueryCacheFollowRow> {
        let row = |row: FollowRow| QueryCacheFollowRow {
            hostname: row.server.host,
            port: row.server.port,
            wanted: row.wanted.word(),
            mode: row.standing.mode.word(),
            since_ms: row.since_unix_ms,
            why: Some(row.standing.why).filter(|why| !why.is_empty()),
            position: row.position,
            left_ms: row.left_ms,
            transactions: row.transactions,
            unproven: row.unproven,
            narrowed: row.narrowed,
            late: row.late,
            begun_anew: row.begun_anew,
            falls: row.falls,
            delay_count: row.delay.count,
            delay_p50_us: row.delay.p50_us,
            delay_p99_us: row.delay.p99_us,
            delay_max_us: row.delay.max_us,
        };
        self.proxy.follows().into_iter().map(row).collect()
    }

    fn query_cache_advice(&self) -> Vec<QueryCacheAdviceRow> {
        let rows = self.proxy.cache_advice(&self.proxy.query_cache(DigestReading::Keep));
        rows.into_iter()
            .map(|row| QueryCacheAdviceRow {
                name: row.name.to_owned(),
                value: row.value,
                advice: row.advice.into_owned(),
            })
            .collect()
    }

    fn lines(&self) -> Vec<LineRow> {
        let words = |text: String| Some(text).filter(|text| !text.is_empty());
        let rows = self.proxy.lines();
        rows.into_iter()
            .map(|row| LineRow {
                hostgroup: row.hostgroup,
                waiting: row.waiting,
                waiting_max: row.waiting_max,
                waiting_limit: row.statements_limit,
                waiting_bytes: row.waiting_bytes,
                waiting_bytes_limit: row.bytes_limit,
                refused: row.refused,
                oldest_wait_ms: row.oldest_wait_ms,
                reason: words(row.reason),
                held: u32::from(row.held),
                hold_reason: words(row.hold_reason),
                connections_used: row.connections_used,
                connections_unfinished: row.connections_unfinished,
                connections_max: row.connections_max,
                pins: row.pins,
            })
            .collect()
    }

    fn role_changes(&self) -> Vec<RoleChangeRow> {
        self.switching.memory().history.rows()
    }

    fn lost_transactions(&self) -> Vec<LostTransactionsRow> {
        self.switching.memory().losses.rows()
    }

    fn order(&self, hostgroup: u32, order: HostgroupOrder) -> Result<(), String> {
        match order {
            HostgroupOrder::Hold { max_ms } => self.proxy.hold_by_order(HostgroupId(hostgroup), max_ms),
            HostgroupOrder::Release if self.proxy.release_by_order(HostgroupId(hostgroup)) => {}
            HostgroupOrder::Release => return Err(format!("no operator holds hostgroup {hostgroup}")),
        }
        Ok(())
    }

    fn commands_counters(&self) -> Vec<CommandCountersRow> {
        let row = |CommandRow { command, time_us, buckets }: CommandRow| {
            let [us_100, us_500, ms_1, ms_5, ms_10, ms_50, ms_100, ms_500, s_1, s_5, s_10, longer] = buckets;
            CommandCountersRow {
                command: command.to_owned(),
                total_time_us: time_us,
                total_cnt: buckets.iter().sum(),
                cnt_100us: us_100,
                cnt_500us: us_500,
                cnt_1ms: ms_1,
                cnt_5ms: ms_5,
                cnt_10ms: ms_10,
                cnt_50ms: ms_50,
                cnt_100ms: ms_100,
                cnt_500ms: ms_500,
                cnt_1s: s_1,
                cnt_5s: s_5,
                cnt_10s: s_10,
                cnt_infs: longer,
            }
        };
        self.proxy.commands().into_iter().map(row).collect()
    }

    fn memory_metrics(&self) -> Vec<MemoryRow> {
        let cache = self.proxy.levels().cache;
        let of_process = |name: &str| memory_of_process(name).unwrap_or_default();
        [
            ("resident_memory", of_process("VmRSS")),
            ("resident_memory_max", of_process("VmHWM")),
            ("query_cache_memory", cache.bytes),
            ("query_cache_memory_limit", cache.limit_bytes),
            ("stack_memory", of_process("VmStk")),
        ]
        .map(|(name, bytes)| MemoryRow { variable_name: name.to_owned(), variable_value: bytes.to_string() })
        .into()
    }

    fn query_rules(&self) -> Vec<QueryRuleRow> {
        let snapshot = self.proxy.snapshot();
        snapshot.rules.hits().map(|(rule_id, hits)| QueryRuleRow { rule_id, hits }).collect()
    }

    fn connection_pool(&self, reading: Reading) -> Vec<ConnectionPoolRow> {
        let rows = self.proxy.connection_pool();
        if reading == Reading::Reset {
            self.proxy.reset_connection_pool();
        }
        rows.into_iter()
            .map(|row| ConnectionPoolRow {
                hostgroup: row.hostgroup,
                srv_host: row.srv_host,
                srv_port: row.srv_port,
                status: row.status.to_owned(),
                conn_used: row.conn_used,
                conn_free: row.conn_free,
                conn_ok: row.conn_ok,
                conn_err: row.conn_err,
                max_conn_used: row.max_conn_used,
                queries: row.queries,
                queries_gtid_sync: row.queries_gtid_sync,
                bytes_data_sent: row.bytes_data_sent,
                bytes_data_recv: row.bytes_data_recv,
                latency_us: row.latency_us,
                tls: row.tls.to_owned(),
            })
            .collect()
    }

    fn processlist(&self) -> Vec<ProcessRow> {
        let rows = self.proxy.processlist();
        rows.into_iter()
            .map(|row| ProcessRow {
                thread_id: u32::try_from(row.worker).unwrap_or(u32::MAX),
                session_id: u64::from(row.session_id),
                user: Some(row.user),
                db: Some(text(&row.db)),
                cli_host: Some(row.cli_host),
                cli_port: Some(row.cli_port),
                hostgroup: row.hostgroup.and_then(|hostgroup| i32::try_from(hostgroup).ok()),
                l_srv_host: row.local_host,
                l_srv_port: row.local_port,
                srv_host: row.server_host,
                srv_port: row.server_port,
                command: Some(row.command.to_owned()),
                time_ms: row.time_ms,
                info: row.info.as_deref().map(text),
                status_flags: 0,
                extended_info: (!row.pins.is_empty()).then(|| format!("{{\"pinned_by\":\"{}\"}}", row.pins)),
            })
            .collect()
    }

    fn users(&self) -> Vec<UserRow> {
        let snapshot = self.proxy.snapshot();
        let connected = self.proxy.users();
        let sessions =
            |name: &str| connected.iter().find(|(user, _)| **user == *name).map_or(0, |(_, count)| *count);
        let frontend = snapshot.users.iter().filter(|user| user.frontend);
        frontend
            .map(|user| UserRow {
                username: user.name.clone(),
                frontend_connections: u64::from(sessions(&user.name)),
                frontend_max_connections: u64::from(user.max_connections),
            })
            .collect()
    }

    fn reload_tls(&self) -> Result<(), String> {
        let tls = self.certificates.load().map_err(|error| format!("{error:#}"))?;
        self.proxy.offer_tls(Some(tls));
        tracing::info!("took over certificate and key for clients by order of an operator");
        Ok(())
    }

    fn switch_over(&self, order: SwitchoverOrder) -> nuthatch_admin::Switching {
        Box::pin(self.switching.clone().act(order))
    }

    fn fail_over(&self, order: FailoverOrder) -> nuthatch_admin::Switching {
        Box::pin(self.switching.clone().fail_over(order))
    }

    fn check_log(&self, log: CheckLog) -> Vec<CheckResult> {
        let kind = match log {
            CheckLog::Connect => CheckKind::Connect,
            CheckLog::Ping => CheckKind::Ping,
            CheckLog::ReplicationLag => CheckKind::Lag,
            CheckLog::ReadOnly => CheckKind::Access,
            CheckLog::GroupReplication => CheckKind::GroupReplication,
            CheckLog::Galera => CheckKind::Galera,
        };
        let result = |Record { server, began_us, took_us, error, found }| CheckResult {
            hostname: server.host,
            port: server.port,
            began_us,
            took_us,
            found,
            error,
        };
        self.monitored.records(kind).into_iter().map(result).collect()
    }

    fn flush_query_cache(&self) -> u64 {
        self.proxy.flush_query_cache()
    }

    fn purge_query_cache(&self, statement: &str) -> Result<(u64, String), String> {
        let purged = self.proxy.purge_by_order(statement.as_bytes())?;
        Ok((purged.entries(), purged.told()))
    }

    fn explain_cache(&self, statement: &str) -> Result<Vec<(&'static str, String)>, String> {
        self.proxy.explain_cache(statement.as_bytes())
    }

    fn kill_connection(&self, session: u64) -> Killed {
        match u32::try_from(session).is_ok_and(|session| self.proxy.kill(session)) {
            true => Killed::Told,
            false => Killed::Unknown,
        }
    }

    fn act(&self, verb: ProcessVerb) {
        match verb {
            ProcessVerb::Pause => self.proxy.pause(),
            ProcessVerb::Resume => self.proxy.resume(),
            ProcessVerb::Shutdown => self.stops.soon.cancel(),
            ProcessVerb::Kill => self.stops.now.cancel(),
        }
    }
}

fn digest_reading(reading: Reading) -> DigestReading {
    match reading {
        Reading::Keep => DigestReading::Keep,
        Reading::Reset => DigestReading::Reset,
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Bytes that the kernel counts for this process under a name of `/proc/self/status`, which has them in KiB.
fn memory_of_process(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib << 10)
}
