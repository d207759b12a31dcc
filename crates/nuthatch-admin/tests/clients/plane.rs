//! A data plane that counts what it is told and has a few rows of everything.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use nuthatch_admin::rows::{
    ConnectionPoolRow, Digest, HitRatio, ProcessRow, QueryCacheAdviceRow, QueryCacheEntryRow, QueryCacheRow,
    QueryCacheTableRow, QueryDigestRow, QueryRuleRow, UserRow,
};
use nuthatch_admin::{DataPlane, Killed, ProcessVerb, Reading, Sample, Statistic};
use nuthatch_config::{Server, ServerStatus, Snapshot};
use parking_lot::Mutex;

/// The fake.
#[derive(Default)]
pub(crate) struct Plane {
    pub(crate) published: Mutex<Vec<Arc<Snapshot>>>,
    pub(crate) verbs: Mutex<Vec<ProcessVerb>>,
    pub(crate) flushes: AtomicU64,
    digests_cleared: AtomicU64,
}

impl DataPlane for Plane {
    fn publish(&self, snapshot: Arc<Snapshot>) {
        self.published.lock().push(snapshot);
    }

    fn status(&self) -> Vec<Sample> {
        vec![
            Statistic::WorkerSessions.sample_of_part(1, 4),
            Statistic::QueryCacheCountGetOk.sample(90),
            Statistic::QueryCacheCountGet.sample(100),
            Statistic::QueriesFrontendsBytesSent.sample(2000),
            Statistic::QueriesFrontendsBytesRecv.sample(1000),
            Statistic::Uptime.sample(12),
            Statistic::Questions.sample(345),
            Statistic::ClientConnectionsConnected.sample(9),
            Statistic::WorkerSessions.sample_of_part(0, 5),
        ]
    }

    fn servers_in_force(&self) -> Vec<(Arc<Server>, ServerStatus)> {
        let published = self.published.lock();
        let rows = published.last().into_iter().flat_map(|snapshot| snapshot.hostgroups.iter());
        let status = |server: &Arc<Server>| match server.port {
            3306 => ServerStatus::Shunned,
            _ => server.status,
        };
        rows.flat_map(|(_, rows)| rows).map(|server| (Arc::clone(server), status(server))).collect()
    }

    fn query_digests(&self, reading: Reading) -> Vec<QueryDigestRow> {
        let cleared = match reading {
            Reading::Keep => self.digests_cleared.load(Ordering::SeqCst),
            Reading::Reset => self.digests_cleared.swap(1, Ordering::SeqCst),
        };
        if cleared > 0 {
            return Vec::new();
        }
        vec![digest_row(-1, 0xBF00_1A0C_1378_1C1D, 1000, 0), digest_row(0, 0x290B_92FD_7438_26DA, 20, 5000)]
    }

    fn query_cache(&self, _reading: Reading) -> Vec<QueryCacheRow> {
        vec![QueryCacheRow {
            hostgroup: 0,
            schemaname: "sbtest".into(),
            username: "app".into(),
            digest: Digest(0xBF00_1A0C_1378_1C1D),
            digest_text: "SELECT c FROM sbtest1 WHERE id=?".into(),
            look_ups: 8,
            hits: 7,
            hit_ratio: HitRatio { hits: 7, look_ups: 8 },
            fills: 1,
            entries: 1,
            bytes: 300,
            backend_time_saved_us: 1400,
            evicted: 0,
            expired: 0,
            invalidated: 0,
            repeated: 0,
            last_not_cached: None,
            admission: None,
        }]
    }

    fn query_cache_tables(&self) -> Vec<QueryCacheTableRow> {
        vec![QueryCacheTableRow {
            schema_name: "sbtest".to_owned(),
            table_name: "log".to_owned(),
            reads: 0,
            writes: 5,
            invalidations: 0,
            unsuitable: Some("is of an engine other than InnoDB and MyISAM".to_owned()),
        }]
    }

    fn query_cache_entries(&self) -> Vec<QueryCacheEntryRow> {
        vec![QueryCacheEntryRow {
            username: "app".to_owned(),
            schemaname: "sbtest".to_owned(),
            digest: Some(Digest(0xBF00_1A0C_1378_1C1D)),
            query: "SELECT c FROM sbtest1 WHERE id=?".to_owned(),
            length: 300,
            spared: 0,
            rows: 1,
            mode: "exact".to_owned(),
            created_ms: 1_700_000_000_000,
            expire_ms: None,
            access_ms: 1_700_000_001_000,
            ref_count: 1,
            hits: 3,
        }]
    }

    fn query_cache_advice(&self) -> Vec<QueryCacheAdviceRow> {
        let (name, value) = ("hit_ratio".to_owned(), "87 %".to_owned());
        vec![QueryCacheAdviceRow { name, value, advice: String::new() }]
    }

    fn query_rules(&self) -> Vec<QueryRuleRow> {
        vec![QueryRuleRow { rule_id: 7, hits: 42 }]
    }

    fn connection_pool(&self, _reading: Reading) -> Vec<ConnectionPoolRow> {
        vec![ConnectionPoolRow {
            hostgroup: 0,
            srv_host: "127.0.0.1".to_owned(),
            srv_port: 3306,
            status: "SHUNNED".to_owned(),
            conn_used: 1,
            conn_free: 2,
            conn_ok: 3,
            conn_err: 4,
            max_conn_used: 5,
            queries: 6,
            queries_gtid_sync: 0,
            bytes_data_sent: 7,
            bytes_data_recv: 8,
            latency_us: 9,
            tls: String::new(),
        }]
    }

    fn processlist(&self) -> Vec<ProcessRow> {
        vec![ProcessRow {
            thread_id: 0,
            session_id: 11,
            user: Some("app".to_owned()),
            db: Some("shop".to_owned()),
            cli_host: Some("10.0.0.5".to_owned()),
            cli_port: Some(40000),
            hostgroup: Some(0),
            l_srv_host: None,
            l_srv_port: None,
            srv_host: Some("127.0.0.1".to_owned()),
            srv_port: Some(3306),
            command: Some("Query".to_owned()),
            time_ms: 3,
            info: Some("SELECT SLEEP(1)".to_owned()),
            status_flags: 0,
            extended_info: None,
        }]
    }

    fn users(&self) -> Vec<UserRow> {
        vec![UserRow {
            username: "app".to_owned(),
            frontend_connections: 9,
            frontend_max_connections: 10_000,
        }]
    }

    fn reload_tls(&self) -> Result<(), String> {
        Ok(())
    }

    fn flush_query_cache(&self) -> u64 {
        self.flushes.fetch_add(1, Ordering::SeqCst)
    }

    fn purge_query_cache(&self, statement: &str) -> Result<(u64, String), String> {
        match statement.ends_with("RULE 7") {
            true => Ok((2, "2 entries were purged".to_owned())),
            false => Err("PURGE QUERY CACHE is followed by RULE 7".to_owned()),
        }
    }

    fn explain_cache(&self, statement: &str) -> Result<Vec<(&'static str, String)>, String> {
        Ok(vec![("statement", statement.to_owned())])
    }

    fn kill_connection(&self, session: u64) -> Killed {
        assert_ne!(session, 13, "the fake panics over this session");
        if session == 11 { Killed::Told } else { Killed::Unknown }
    }

    fn act(&self, verb: ProcessVerb) {
        self.verbs.lock().push(verb);
    }
}

fn digest_row(hostgroup: i32, digest: u64, count_star: u64, sum_time: u64) -> QueryDigestRow {
    QueryDigestRow {
        hostgroup,
        schemaname: "sbtest".into(),
        username: "app".into(),
        client_address: "".into(),
        digest: Digest(digest),
        digest_text: "SELECT c FROM sbtest1 WHERE id=?".into(),
        count_star,
        first_seen: 1_700_000_000,
        last_seen: 1_700_000_100,
        sum_time,
        min_time: sum_time / 10,
        max_time: sum_time / 2,
        sum_rows_affected: 0,
        sum_rows_sent: count_star,
    }
}
