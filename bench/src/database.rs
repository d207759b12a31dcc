//! The MariaDB that stands behind the proxy, with sysbench's table.

use std::time::Duration;

use anyhow::{Context, Result};
use nuthatch_lab::{Options, Password, ScratchLab};

use crate::address::Address;
use crate::affinity::{self, Core};
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

/// Sysbench's schema; the text is made from the ids, so that each run reads the same rows.
const LOAD_TABLE: &str = "
CREATE DATABASE sbtest;
USE sbtest;
CREATE TABLE sbtest1 (
    id INTEGER NOT NULL AUTO_INCREMENT, k INTEGER DEFAULT '0' NOT NULL,
    c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL,
    PRIMARY KEY (id), KEY k_1 (k)) ENGINE = InnoDB;
INSERT INTO sbtest1
SELECT seq, 1 + FLOOR(RAND(seq) * 10000),
    LEFT(REGEXP_REPLACE(CONCAT(SHA2(seq, 512), SHA2(-seq, 512)), '(.{11})', '\\\\1-'), 119),
    LEFT(REGEXP_REPLACE(SHA2(seq * 7, 512), '(.{11})', '\\\\1-'), 59)
FROM seq_1_to_10000;
ANALYZE TABLE sbtest1;";

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
        let options = Options {
            replicas: 0,
            buffer_pool_mib: 256,
            connections_max,
            user: USER.into(),
            password: Some(Password::new(PASSWORD)?),
            extra: vec!["max_allowed_packet=1G".into(), "log_warnings=0".into()],
            ready_within: Duration::from_secs(120),
            ..Options::default()
        };
        let lab = ScratchLab::up(&options).context("cannot start MariaDB")?;
        lab.primary().query(LOAD_TABLE).context("cannot load sbtest1")?;
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
        let rows = self.lab.primary().query(&format!("SHOW GLOBAL STATUS LIKE '{name}'"))?;
        let value = rows.value("Value").and_then(|text| text.parse().ok());
        value.with_context(|| format!("MariaDB does not say {name}"))
    }

    /// Stays beside the load while a proxy has the other core.
    pub(crate) fn stand_behind_proxy(&self) -> Result<()> {
        self.move_to(affinity::LOAD)
    }
}

/// The login of every benchmark.
pub(crate) fn login() -> Login {
    Login { user: USER.into(), password: PASSWORD.into(), schema: SCHEMA.into(), form: EofForm::Packets }
}
