//! The MariaDB that stands behind the proxy, with sysbench's table.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use nuthatch_lab::{Options, Password, QueryCache, ScratchLab, Server};

use crate::address::Address;
use crate::affinity::{self, Core};
use crate::clock::monotonic;
use crate::cpu::Pid;
use crate::login::Login;
use crate::reply::EofForm;

/// Account and password of every login in a benchmark.
pub(crate) const USER: &str = "bench";
/// See [`USER`].
pub(crate) const PASSWORD: &str = "bench";
/// Schema with the table.
pub(crate) const SCHEMA: &str = "sbtest";

/// Sessions that the server takes unless said otherwise.
const CONNECTIONS_MAX: u32 = 2500;

/// How long replicas may take to get the tables.
const REPLICAS_WAIT: Duration = Duration::from_secs(120);

/// Prepared statements that sessions may have in all: a thousand of sysbench's with ten for each of eight tables, and more.
const PREPARED_MAX: u32 = 1_000_000;

/// What a server is to be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// Sessions that it takes.
    pub(crate) connections_max: u32,
    /// Its own cache.
    pub(crate) query_cache: QueryCache,
    /// Replicas beside it.
    pub(crate) replicas: u16,
    /// `sbtest1` and on.
    pub(crate) tables: u32,
    /// In each of them.
    pub(crate) rows: u32,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            connections_max: CONNECTIONS_MAX,
            query_cache: QueryCache::Off,
            replicas: 0,
            tables: 1,
            rows: 10_000,
        }
    }
}

impl Shape {
    /// Sysbench's schema; the text is made from the ids, so that each run reads the same rows.
    fn load(&self) -> String {
        let tables = (1..=self.tables).map(|table| load_table(table, self.rows));
        ["CREATE DATABASE sbtest;\nUSE sbtest;".to_owned()].into_iter().chain(tables).collect()
    }
}

fn load_table(table: u32, rows: u32) -> String {
    format!(
        "
CREATE TABLE sbtest{table} (
    id INTEGER NOT NULL AUTO_INCREMENT, k INTEGER DEFAULT '0' NOT NULL,
    c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL,
    PRIMARY KEY (id), KEY k_{table} (k)) ENGINE = InnoDB;
INSERT INTO sbtest{table}
SELECT seq, 1 + FLOOR(RAND(seq) * 10000),
    LEFT(REGEXP_REPLACE(CONCAT(SHA2(seq, 512), SHA2(-seq, 512)), '(.{{11}})', '\\\\1-'), 119),
    LEFT(REGEXP_REPLACE(SHA2(seq * 7, 512), '(.{{11}})', '\\\\1-'), 59)
FROM seq_1_to_{rows};
ANALYZE TABLE sbtest{table};"
    )
}

/// A running server; dropping stops and removes it.
#[derive(Debug)]
pub(crate) struct Database {
    lab: ScratchLab,
}

impl Database {
    /// Started, with 10,000 rows in `sbtest.sbtest1`.
    pub(crate) fn start() -> Result<Self> {
        Self::start_for(CONNECTIONS_MAX)
    }

    /// The same, taking so many sessions.
    pub(crate) fn start_for(connections_max: u32) -> Result<Self> {
        Self::start_as(&Shape { connections_max, ..Shape::default() })
    }

    /// As it is wanted.
    pub(crate) fn start_as(shape: &Shape) -> Result<Self> {
        let prepared_max = format!("max_prepared_stmt_count={PREPARED_MAX}");
        let options = Options {
            replicas: shape.replicas,
            buffer_pool_mib: 256,
            connections_max: shape.connections_max,
            query_cache: shape.query_cache,
            user: USER.into(),
            password: Some(Password::new(PASSWORD)?),
            extra: vec!["max_allowed_packet=1G".into(), "log_warnings=0".into(), prepared_max],
            ready_within: Duration::from_secs(120),
            ..Options::default()
        };
        let lab = ScratchLab::up(&options).context("cannot start MariaDB")?;
        lab.primary().query(&shape.load()).context("cannot load sysbench's tables")?;
        Ok(Self { lab })
    }

    /// With so many rows, if it has fewer.
    pub(crate) fn grow_to(&self, rows: u64) -> Result<()> {
        if rows <= 10_000 {
            return Ok(());
        }
        let insert = format!(
            "USE sbtest; INSERT INTO sbtest1 SELECT seq, 1 + FLOOR(RAND(seq) * 10000), RPAD(SHA2(seq, 512), 119, seq), \
             LEFT(SHA2(seq, 256), 59) FROM seq_10001_to_{rows}; ANALYZE TABLE sbtest1;"
        );
        self.lab.primary().query(&insert).context("cannot load more of sbtest1")?;
        Ok(())
    }

    /// `MariaDB 10.11...`.
    pub(crate) fn version(&self) -> String {
        self.lab.primary().version().to_owned()
    }

    /// Its TCP address.
    pub(crate) fn tcp(&self) -> Address {
        Address::Tcp(self.lab.primary().address())
    }

    /// Its Unix socket.
    pub(crate) fn unix(&self) -> Address {
        Address::Unix(self.lab.primary().socket().to_owned())
    }

    /// Its process.
    pub(crate) fn pid(&self) -> Result<Pid> {
        let pid = self.lab.primary().pid().context("MariaDB has ended")?;
        Ok(pid.cast_unsigned())
    }

    /// The processes of the server and its replicas.
    pub(crate) fn pids(&self) -> Result<Vec<Pid>> {
        let pid = |pid: Option<i32>| pid.map(i32::cast_unsigned).context("MariaDB has ended");
        self.lab.servers().map(|server| pid(server.pid())).collect()
    }

    /// TCP addresses of the server and its replicas.
    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        self.lab.servers().map(|server| server.address()).collect()
    }

    /// Returns when each replica has the rows of the first table.
    pub(crate) fn wait_for_replicas(&self, rows: u32) -> Result<()> {
        let deadline = monotonic() + REPLICAS_WAIT;
        let count = format!("SELECT 1 FROM sbtest.sbtest1 HAVING COUNT(*) = {rows}");
        for server in self.lab.servers() {
            while server.query(&count).ok().is_none_or(|rows| rows.first().is_none()) {
                ensure!(monotonic() < deadline, "a replica does not get the tables");
                std::thread::sleep(Duration::from_millis(50));
            }
        }
        Ok(())
    }

    /// Executes statements.
    pub(crate) fn execute(&self, sql: &str) -> Result<()> {
        self.lab.primary().query(sql).map(drop).with_context(|| format!("MariaDB refuses {sql:?}"))
    }

    /// Moves it to a core.
    pub(crate) fn move_to(&self, core: Core) -> Result<()> {
        core.take(self.pid()?)
    }

    /// SELECTs that it has executed since its start.
    pub(crate) fn selects(&self) -> Result<u64> {
        self.counted("Com_select")
    }

    /// One of its counters.
    pub(crate) fn counted(&self, name: &str) -> Result<u64> {
        counted(self.lab.primary(), name)
    }

    /// The same of the server and its replicas together.
    pub(crate) fn counted_by_all(&self, name: &str) -> Result<u64> {
        self.lab.servers().map(|server| counted(server, name)).sum()
    }

    /// Stays beside the load while a proxy has the other core.
    pub(crate) fn stand_behind_proxy(&self) -> Result<()> {
        self.move_to(affinity::LOAD)
    }
}

fn counted(server: Server<'_>, name: &str) -> Result<u64> {
    let rows = server.query(&format!("SHOW GLOBAL STATUS LIKE '{name}'"))?;
    let value = rows.value("Value").and_then(|text| text.parse().ok());
    value.with_context(|| format!("MariaDB does not say {name}"))
}

/// The login of every benchmark.
pub(crate) fn login() -> Login {
    Login { user: USER.into(), password: PASSWORD.into(), schema: SCHEMA.into(), form: EofForm::Packets }
}
