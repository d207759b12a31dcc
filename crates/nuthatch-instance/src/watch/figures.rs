//! What is asked of each instance's server.

use nuthatch_net::AnswerTable;
use nuthatch_server::Kind;
use nuthatch_sql::PoolLoad;
use rustix::fs::statvfs;
use tokio::task::JoinSet;

use crate::ask::{SOON, Session};
use crate::error::InstanceError;
use crate::replication::dialect;
use crate::replication::status::{Following, Status};
use crate::root::{Place, Root};
use crate::summary::Summary;

/// An instance at one moment.
#[derive(Clone, Debug)]
pub struct Figures {
    /// What is known without asking its server.
    pub summary: Summary,
    /// What its server says; else why it says nothing.
    pub live: Result<Live, String>,
    /// What its disk has left, in bytes.
    pub disk_left_bytes: Option<u64>,
}

/// What a server says of itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Live {
    /// Since it started, in seconds.
    pub uptime_s: u64,
    /// Connections that are there, this one not counted.
    pub connections: u64,
    /// And how many may be.
    pub connections_max: u64,
    /// Reads of pages, and how many of these the buffer pool did not have.
    pub pool_reads: (u64, u64),
    /// Pages of the buffer pool that hold something, and all.
    pub pool_pages: (u64, u64),
    /// Which part of the pages that were dumped at its end is loaded; 1 when all are, or when there were none to load.
    pub warmth: f64,
    /// Whether clients may not write to it.
    pub read_only: bool,
    /// Whom it replicates from.
    pub sources: Vec<Source>,
}

/// A server that an instance replicates from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its address.
    pub address: String,
    /// Whether both threads run.
    pub is_running: bool,
    /// What it does, if not that.
    pub following: Following,
    /// How far it is behind, in seconds; unknown while it does not run.
    pub behind_s: Option<u64>,
    /// How many transactions it has fetched and not applied.
    pub unapplied: Option<u64>,
    /// Whether over TLS.
    pub over_tls: bool,
    /// What went wrong; empty if nothing did.
    pub error: String,
}

impl Figures {
    /// Of all instances, by name. They are asked at the same time: one that hangs keeps nobody waiting for another.
    ///
    /// # Errors
    /// As [`Summary::all`]; that a server does not answer is none.
    pub async fn all(root: &Root) -> Result<Vec<Self>, InstanceError> {
        let mut asked = JoinSet::new();
        for name in root.names()? {
            let place = root.find(&name)?;
            let summary = Summary::of(root, &place)?;
            asked.spawn(Self::ask(place, summary));
        }
        let mut all = asked.join_all().await;
        all.sort_by(|one, other| one.summary.name.cmp(&other.summary.name));
        Ok(all)
    }

    /// Of one instance.
    ///
    /// # Errors
    /// As [`Summary::of`]; that its server does not answer is none.
    pub async fn of(root: &Root, place: Place) -> Result<Self, InstanceError> {
        let summary = Summary::of(root, &place)?;
        Ok(Self::ask(place, summary).await)
    }

    async fn ask(place: Place, summary: Summary) -> Self {
        let live = match summary.pid {
            Some(_) => Live::of(&place, summary.server).await.map_err(|error| error.to_string()),
            None => Err(summary.why.clone().unwrap_or_else(|| format!("it is {}", summary.state))),
        };
        let disk = statvfs(place.data()).ok();
        let disk_left_bytes = disk.map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize));
        Self { summary, live, disk_left_bytes }
    }
}

impl Live {
    async fn of(place: &Place, kind: Kind) -> Result<Self, InstanceError> {
        let mut session = Session::open(place).await?;
        let status = session.ask("SHOW GLOBAL STATUS", SOON).await?;
        let variables = session
            .ask("SHOW GLOBAL VARIABLES WHERE Variable_name IN ('max_connections', 'read_only')", SOON)
            .await?;
        let replication = session.ask(dialect::status(kind), SOON).await?;
        let number = |name: &str| value(&status, name).and_then(|text| text.parse().ok()).unwrap_or(0);
        Ok(Self {
            uptime_s: number("Uptime"),
            connections: number("Threads_connected").saturating_sub(1),
            connections_max: value(&variables, "max_connections")
                .and_then(|text| text.parse().ok())
                .unwrap_or(0),
            pool_reads: (number("Innodb_buffer_pool_read_requests"), number("Innodb_buffer_pool_reads")),
            pool_pages: (number("Innodb_buffer_pool_pages_data"), number("Innodb_buffer_pool_pages_total")),
            warmth: warmth(&value(&status, "Innodb_buffer_pool_load_status").unwrap_or_default()),
            read_only: value(&variables, "read_only").as_deref() == Some("ON"),
            sources: sources(&replication),
        })
    }
}

/// The value in a table of names and values, in any case.
fn value(table: &AnswerTable, name: &str) -> Option<String> {
    table.texts().find(|[found, _]: &[String; 2]| found.eq_ignore_ascii_case(name)).map(|[_, value]| value)
}

/// Which part of what was dumped is loaded, by `Innodb_buffer_pool_load_status`.
fn warmth(status: &str) -> f64 {
    match PoolLoad::of_status(status) {
        PoolLoad::Loading { all: 0, .. } => 0.0,
        PoolLoad::Loading { loaded, all } => (loaded as f64 / all as f64).min(1.0),
        _ => 1.0,
    }
}

/// Whom it replicates from, as `SHOW REPLICA STATUS` has them.
fn sources(table: &AnswerTable) -> Vec<Source> {
    let source = |status: Status| Source {
        address: status.source(),
        is_running: status.following() == Following::Running,
        following: status.following(),
        behind_s: status.behind_s,
        unapplied: status.unapplied,
        over_tls: status.over_tls,
        error: status.why().unwrap_or_default(),
    };
    dialect::statuses(table).into_iter().map(source).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warmth_is_the_part_that_is_loaded() {
        for (status, expected) in [
            ("Loaded 2048/8192 pages", 0.25),
            ("Buffer pool(s) load completed at 261129  7:00:00", 1.0),
            ("Loading of buffer pool not started", 1.0),
            ("Loaded 0/0 pages", 1.0),
            ("", 1.0),
        ] {
            assert!((warmth(status) - expected).abs() < 1e-9, "{status}");
        }
    }

    #[test]
    fn replication_is_read_by_either_familys_names() {
        let names = [
            "Source_Host",
            "Source_Port",
            "Replica_IO_Running",
            "Replica_SQL_Running",
            "Seconds_Behind_Source",
            "Last_IO_Error",
            "Last_SQL_Error",
        ];
        let row = ["10.0.0.2", "3307", "Connecting", "Yes", "", "no route", ""];
        let table = AnswerTable {
            names: names.map(String::from).into(),
            rows: vec![row.iter().map(|text| Some(text.as_bytes().to_vec())).collect()],
        };
        let source = Source {
            address: "10.0.0.2:3307".into(),
            is_running: false,
            following: Following::Connecting,
            behind_s: None,
            unapplied: Some(0),
            over_tls: false,
            error: "error 0: no route".into(),
        };
        assert_eq!(sources(&table), [source]);
    }
}
