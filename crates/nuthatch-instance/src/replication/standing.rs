//! What a server says of itself that replication depends on.

use std::collections::HashMap;
use std::fmt;

use nuthatch_net::AnswerTable;
use nuthatch_server::Kind;
use serde::{Deserialize, Serialize};

use crate::ask::{SOON, Session};
use crate::error::InstanceError;
use crate::replication::dialect;
use crate::replication::status::{Following, Status};

/// A server at one moment. It crosses from host to host as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// Whose server it is.
    pub kind: Kind,
    /// `10.11.14-MariaDB-…`, `9.7.4`.
    pub version: String,
    /// Its number in replication.
    pub server_id: u32,
    /// MySQL's name for it; empty of a MariaDB.
    pub uuid: String,
    /// MariaDB's number of the line of its own transactions.
    pub domain: u32,
    /// Each setting that keeps it from being a source, as it would have to be.
    pub misfits: Vec<String>,
    /// What it has executed: MariaDB's `gtid_current_pos`, MySQL's `gtid_executed`.
    pub executed: String,
    /// What it has executed by replication: MariaDB's `gtid_slave_pos`; that of MySQL is no other than all.
    pub replicated: String,
    /// Whose transactions it knows of: MariaDB's `gtid_binlog_state`.
    pub known: String,
    /// What its binlogs do not hold any more; `None` where it does not say so to this account.
    pub purged: Option<String>,
    /// Whether clients may not write to it.
    pub read_only: bool,
    /// Whether it offers TLS.
    pub has_tls: bool,
    /// `auto_increment_increment` and `auto_increment_offset`.
    pub auto_increment: (u64, u64),
    /// Whom it follows: HOST:PORT each.
    pub sources: Vec<String>,
    /// Whether one of these does not let it in.
    pub login_fails: bool,
    /// How it does with the first of these.
    pub following: Option<FollowingNow>,
}

/// How a replica does with its source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FollowingNow {
    /// What it does.
    pub state: Following,
    /// Whether over TLS.
    pub over_tls: bool,
    /// What went wrong last.
    pub why: Option<String>,
}

/// What is asked of a server; those of the other kind it does not know. What may be long is asked by [`gtids`]: SHOW cuts it.
const VARIABLES: &str = "'version', 'server_id', 'server_uuid', 'gtid_domain_id', 'log_bin', 'binlog_format', 'log_slave_updates', \
    'log_replica_updates', 'gtid_mode', 'read_only', 'have_ssl', 'ssl_cert', 'auto_increment_increment', 'auto_increment_offset'";

/// Who is asked: an instance, or any server.
pub(crate) trait Asked {
    /// Whether it may be kept from asking something: by an account that may replicate, and nothing else.
    const IS_FOREIGN: bool;

    /// The answer to a statement.
    async fn ask(&mut self, sql: &str) -> Result<AnswerTable, InstanceError>;

    /// The same; empty where it may not be asked.
    async fn ask_if_allowed(&mut self, sql: &str) -> Result<AnswerTable, InstanceError> {
        match self.ask(sql).await {
            Err(_) if Self::IS_FOREIGN => Ok(AnswerTable::default()),
            answer => answer,
        }
    }
}

impl Asked for Session {
    const IS_FOREIGN: bool = false;

    async fn ask(&mut self, sql: &str) -> Result<AnswerTable, InstanceError> {
        Self::ask(self, sql, SOON).await
    }
}

impl Standing {
    /// What the server says now.
    pub(crate) async fn of(server: &mut impl Asked) -> Result<Self, InstanceError> {
        let sql = format!("SHOW GLOBAL VARIABLES WHERE Variable_name IN ({VARIABLES})");
        let answer = server.ask(&sql).await?;
        let said: HashMap<String, String> = answer
            .texts()
            .map(|[name, value]: [String; 2]| (name.to_lowercase(), value.replace('\n', "")))
            .collect();
        let text = |name: &str| said.get(name).cloned().unwrap_or_default();
        let number = |name: &str| text(name).parse().unwrap_or(0);
        let kind = if text("version").contains("MariaDB") { Kind::MariaDb } else { Kind::MySql };
        // Who may not ask this is told nothing; what is wrong shows when replication starts.
        let statuses = dialect::statuses(&server.ask_if_allowed(dialect::status(kind)).await?);
        let Gtids { executed, replicated, known, purged } =
            gtids(server, kind, is_on(&text("log_bin"))).await?;
        Ok(Self {
            kind,
            version: text("version"),
            server_id: text("server_id").parse().unwrap_or(0),
            uuid: text("server_uuid"),
            domain: text("gtid_domain_id").parse().unwrap_or(0),
            misfits: misfits(kind, &said),
            executed,
            replicated,
            known,
            purged,
            read_only: is_on(&text("read_only")),
            has_tls: text("have_ssl") == "YES" || (kind == Kind::MySql && !text("ssl_cert").is_empty()),
            auto_increment: (number("auto_increment_increment"), number("auto_increment_offset")),
            login_fails: statuses.iter().any(Status::login_fails),
            following: statuses.first().map(FollowingNow::of),
            sources: statuses.iter().map(Status::source).collect(),
        })
    }
}

impl FollowingNow {
    fn of(status: &Status) -> Self {
        Self { state: status.following(), over_tls: status.over_tls, why: status.why() }
    }
}

impl fmt::Display for FollowingNow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.state)?;
        self.why.as_ref().map_or(Ok(()), |why| write!(f, ", {why}"))
    }
}

/// Which transactions a server has: as in [`Standing`].
struct Gtids {
    executed: String,
    replicated: String,
    known: String,
    purged: Option<String>,
}

/// At one moment, and whole: SHOW VARIABLES cuts values at 1024 (MySQL) or 4096 bytes (MariaDB).
async fn gtids(server: &mut impl Asked, kind: Kind, has_binlogs: bool) -> Result<Gtids, InstanceError> {
    let sql = match kind {
        Kind::MariaDb => {
            "SELECT @@GLOBAL.gtid_current_pos AS executed, @@GLOBAL.gtid_slave_pos AS replicated, @@GLOBAL.gtid_binlog_state AS known"
        }
        Kind::MySql => "SELECT @@GLOBAL.gtid_executed AS executed, @@GLOBAL.gtid_purged AS purged",
    };
    let answer = server.ask(sql).await?;
    let text = |name: &str| answer.text(name).map(|text| text.replace(char::is_whitespace, ""));
    let purged = match kind {
        Kind::MySql => text("purged"),
        Kind::MariaDb if has_binlogs => purged(server).await?,
        Kind::MariaDb => None,
    };
    let text = |name: &str| text(name).unwrap_or_default();
    Ok(Gtids { executed: text("executed"), replicated: text("replicated"), known: text("known"), purged })
}

/// The settings without which nobody could follow the server by GTID.
fn misfits(kind: Kind, said: &HashMap<String, String>) -> Vec<String> {
    let is_so = |name: &str, wanted: &str| {
        // A server that does not know the variable has only the one way.
        said.get(name).is_none_or(|value| value.eq_ignore_ascii_case(wanted))
    };
    let (updates, gtid) = match kind {
        Kind::MariaDb => ("log_slave_updates", None),
        Kind::MySql => ("log_replica_updates", Some(("gtid_mode", "ON"))),
    };
    let wanted = [("log_bin", "ON"), ("binlog_format", "ROW"), (updates, "ON")];
    let missing = wanted.into_iter().chain(gtid).filter(|(name, wanted)| !is_so(name, wanted));
    missing.map(|(name, wanted)| format!("{name}={wanted}")).collect()
}

fn is_on(value: &str) -> bool {
    value == "ON" || value == "1"
}

/// The state at the beginning of MariaDB's oldest binlog; `None` where it may not be asked.
async fn purged(server: &mut impl Asked) -> Result<Option<String>, InstanceError> {
    let logs = server.ask_if_allowed("SHOW BINARY LOGS").await?;
    let Some([first]) = logs.texts().next() else { return Ok(None) };
    let sql = format!("SELECT BINLOG_GTID_POS('{first}', 4) AS purged");
    Ok(Some(server.ask_if_allowed(&sql).await?.text("purged").unwrap_or_default()))
}
