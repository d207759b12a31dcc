//! How a server replicates: who it is, whom it follows, and whether its position tells what it has applied.
//!
//! A position is evidence only where every transaction has one and what has one has been applied: so of a primary everything that is
//! written must be in its binlog, with GTIDs; and a replica must apply all of it, and write nothing itself. What is not known to be so is
//! not: see [`NoEvidence`]. Only a replica that follows its primary directly counts: one in between may leave out what it likes, and passes
//! the transaction's number on.

use std::fmt;

use nuthatch_sql::ServerFlavor;

use crate::NotASource;
use crate::definitions::RoutineDefinition;
use crate::question::{NamedRow, Question, Server};
use crate::routines::may_leave_binlog;
use crate::settings::Settings;

/// MySQL's since 8.2, and the only words since 8.4.
const BINARY_LOG_STATUS: Question = Question { what: "the binlog", sql: "SHOW BINARY LOG STATUS" };
const MASTER_STATUS: Question = Question { what: "the binlog", sql: "SHOW MASTER STATUS" };

/// What makes a server the one that it is: MySQL's UUID; of a MariaDB its number, host, port and directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    text: String,
    flavor: Family,
}

/// By which of the two it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    MariaDb,
    MySql,
}

/// Whom a replica follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    /// As the replica was told.
    pub host: String,
    /// As the replica was told.
    pub port: u16,
    /// MySQL's; empty where it has never reached it.
    pub uuid: String,
    /// The number in replication; 0 where it has never reached it.
    pub server_id: u64,
}

/// See the module's doc.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replication {
    /// None if the server does not tell.
    pub identity: Option<Identity>,
    /// `server_id`.
    pub server_id: u64,
    /// Whether it takes writes from nobody but its source and administrators.
    pub is_read_only: bool,
    /// Whom it follows; none if nobody, or several.
    pub upstream: Option<Upstream>,
    /// Whether its position tells of all that is written there.
    pub as_primary: Result<(), NoEvidence>,
    /// Whether its position tells what it has applied.
    pub as_replica: Result<(), NoEvidence>,
}

/// Why a server's position proves nothing. As text a clause: "the answers of replicas are not stored: …".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the texts say it")]
pub enum NoEvidence {
    NoReplica,
    SeveralSources,
    Filtered,
    Skips,
    FiresTriggers,
    Writable,
    WithoutGtids,
    NoIdentity,
    Unsuited(NotASource),
    PrimaryWithoutBinlog,
    PrimaryWithoutGtids,
    PrimaryLogsStatements,
    PrimaryFilters,
    PrimaryHidesBinlog,
    PrimaryReadOnly,
    PrimaryRoutine,
}

impl fmt::Display for NoEvidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoReplica => "it is no replica",
            Self::SeveralSources => "it replicates from several servers",
            Self::Filtered => "it leaves out some of what its primary writes: it has replication filters",
            Self::Skips => {
                "it may leave out some of what its primary writes: slave_skip_errors, slave_exec_mode, \
                 replicate_events_marked_for_skip or a skip counter says so"
            }
            Self::FiresTriggers => "its slave_run_triggers_for_rbr is on: it writes what its primary does not",
            Self::Writable => "its read_only is off: what is written there itself is not on its primary",
            Self::WithoutGtids => {
                "it replicates without GTIDs: it cannot be known what it has applied (gtid_mode, MASTER_USE_GTID)"
            }
            Self::NoIdentity => "it does not tell who it is",
            Self::Unsuited(_) => "its settings do not suit",
            Self::PrimaryWithoutBinlog => "its primary has no binlog",
            Self::PrimaryWithoutGtids => "its primary's gtid_mode is not ON: it cannot be known what it has applied",
            Self::PrimaryLogsStatements => {
                "its primary's binlog_format is STATEMENT: what it applies may come to something else"
            }
            Self::PrimaryFilters => "its primary leaves schemas out of the binlog (binlog_do_db, binlog_ignore_db)",
            Self::PrimaryHidesBinlog => {
                "it is not known what its primary leaves out of the binlog: the account may not ask; on MariaDB, \
                 GRANT BINLOG MONITOR to it"
            }
            Self::PrimaryReadOnly => "its primary's read_only is on",
            Self::PrimaryRoutine => {
                "a stored routine of its primary may write past the binlog: sql_log_bin, gtid_next, gtid_seq_no or \
                 binlog_format stands in it, or it is not shown"
            }
        })
    }
}

impl Identity {
    /// As the server's variables say.
    fn of(settings: &Settings, flavor: ServerFlavor) -> Option<Self> {
        let text = |name| Some(String::from_utf8_lossy(settings.value(name)?).into_owned());
        let (flavor, text) = match flavor {
            ServerFlavor::MySql(_) => (Family::MySql, text("server_uuid").filter(|uuid| !uuid.is_empty())?),
            ServerFlavor::MariaDb(_) => {
                let parts = ["server_id", "hostname", "port", "datadir"].map(text);
                let parts: Option<Vec<_>> = parts.into_iter().collect();
                (Family::MariaDb, parts?.join("/"))
            }
        };
        Some(Self { text, flavor })
    }

    /// What the server answers when it is asked for its identity.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// A SELECT that has a row on this server and none on any other. Leaves nothing behind in a session and opens no snapshot.
    #[must_use]
    pub fn question(&self) -> String {
        let digits: String = self.text.bytes().map(|byte| format!("{byte:02X}")).collect();
        format!("SELECT 1 FROM DUAL WHERE {} = X'{digits}'", self.flavor.identity())
    }

    pub(crate) const fn family(&self) -> Family {
        self.flavor
    }
}

impl Family {
    /// The expression of it.
    pub(crate) const fn identity(self) -> &'static str {
        match self {
            Self::MariaDb => "CONCAT_WS('/', @@server_id, @@hostname, @@port, @@datadir)",
            Self::MySql => "@@server_uuid",
        }
    }
}

impl Upstream {
    fn of(status: &NamedRow) -> Option<Self> {
        let text = |names| Some(String::from_utf8_lossy(either(status, names)?).into_owned());
        Some(Self {
            host: text(["Source_Host", "Master_Host"])?,
            port: text(["Source_Port", "Master_Port"])?.parse().ok()?,
            uuid: text(["Source_UUID", "Master_UUID"]).unwrap_or_default(),
            server_id: text(["Source_Server_Id", "Master_Server_Id"])?.parse().ok()?,
        })
    }

    /// Whether it is the server that replicates so, which is configured under that address. A UUID is that of one server; numbers are
    /// equal all over the world, so the address must be the same too.
    #[must_use]
    pub fn is(&self, server: &Replication, host: &str, port: u16) -> bool {
        match &server.identity {
            Some(Identity { text, flavor: Family::MySql }) => self.uuid.eq_ignore_ascii_case(text),
            Some(Identity { flavor: Family::MariaDb, .. }) => {
                self.server_id == server.server_id && (self.host.as_str(), self.port) == (host, port)
            }
            None => false,
        }
    }
}

/// How the server replicates, by its variables, its routines and what it says of its sources. `suits`: whether sessions begin as they
/// seem to.
pub(crate) async fn replication(
    server: &mut impl Server,
    flavor: ServerFlavor,
    status: &[NamedRow],
    settings: &Settings,
    suits: Result<(), NotASource>,
    routines: &[RoutineDefinition],
) -> Replication {
    let upstream = match status {
        [one] => Upstream::of(one),
        _ => None,
    };
    let as_primary = match status {
        [] => as_primary(server, flavor, settings, routines).await,
        _ => Err(NoEvidence::Unsuited(NotASource::Replica)),
    };
    let server_id = settings.value("server_id").and_then(|id| std::str::from_utf8(id).ok()?.parse().ok());
    Replication {
        identity: Identity::of(settings, flavor),
        server_id: server_id.unwrap_or(0),
        is_read_only: !settings.value("read_only").is_none_or(is_off),
        upstream,
        as_primary,
        as_replica: as_replica(flavor, status, settings, suits),
    }
}

/// Whether what the server has applied is all that its primary has written so far as its position tells. `status`: what it says of its sources.
pub(crate) fn as_replica(
    flavor: ServerFlavor,
    status: &[NamedRow],
    settings: &Settings,
    suits: Result<(), NotASource>,
) -> Result<(), NoEvidence> {
    let status = match status {
        [] => return Err(NoEvidence::NoReplica),
        [one] => one,
        _ => return Err(NoEvidence::SeveralSources),
    };
    let is_one_of = |names: [&str; 2], words: &[&str]| {
        says(names.into_iter().find_map(|name| settings.value(name)), words)
    };
    let is_filter = |name: &str| name.get(..10).is_some_and(|start| start.eq_ignore_ascii_case("Replicate_"));
    let filters = status.iter().any(|(name, value)| is_filter(name) && !value.is_empty());
    let skips = either(status, ["Skip_Counter", "Skip_Counter"]) != Some(b"0")
        || !is_one_of(["replica_skip_errors", "slave_skip_errors"], &["OFF", ""])
        || !is_one_of(["replica_exec_mode", "slave_exec_mode"], &["STRICT"])
        || settings
            .value("replicate_events_marked_for_skip")
            .is_some_and(|word| !word.eq_ignore_ascii_case(b"REPLICATE"));
    let fires =
        settings.value("slave_run_triggers_for_rbr").is_some_and(|word| !word.eq_ignore_ascii_case(b"NO"));
    let has_gtids = match flavor {
        ServerFlavor::MySql(_) => says(settings.value("gtid_mode"), &["ON"]),
        ServerFlavor::MariaDb(_) => {
            says(either(status, ["Using_Gtid", "Using_Gtid"]), &["Slave_Pos", "Current_Pos"])
        }
    };
    match suits {
        Err(why) => Err(NoEvidence::Unsuited(why)),
        Ok(()) if filters => Err(NoEvidence::Filtered),
        Ok(()) if skips => Err(NoEvidence::Skips),
        Ok(()) if fires => Err(NoEvidence::FiresTriggers),
        Ok(()) if settings.value("read_only").is_none_or(is_off) => Err(NoEvidence::Writable),
        Ok(()) if !has_gtids => Err(NoEvidence::WithoutGtids),
        Ok(()) => Ok(()),
    }
}

async fn as_primary(
    server: &mut impl Server,
    flavor: ServerFlavor,
    settings: &Settings,
    routines: &[RoutineDefinition],
) -> Result<(), NoEvidence> {
    let is_one_of = |name, words: &[&str]| says(settings.value(name), words);
    if !is_one_of("log_bin", &["ON", "1"]) {
        return Err(NoEvidence::PrimaryWithoutBinlog);
    }
    if let ServerFlavor::MySql(_) = flavor
        && !is_one_of("gtid_mode", &["ON"])
    {
        return Err(NoEvidence::PrimaryWithoutGtids);
    }
    if settings.value("binlog_format").is_some_and(|format| format.eq_ignore_ascii_case(b"STATEMENT")) {
        return Err(NoEvidence::PrimaryLogsStatements);
    }
    if !settings.value("read_only").is_some_and(is_off) {
        return Err(NoEvidence::PrimaryReadOnly);
    }
    if routines.iter().any(may_leave_binlog) {
        return Err(NoEvidence::PrimaryRoutine);
    }
    let question = match flavor {
        ServerFlavor::MySql(80_200..) => BINARY_LOG_STATUS,
        _ => MASTER_STATUS,
    };
    let status = server.ask_named(question).await.unwrap_or_default();
    let filters = ["Binlog_Do_DB", "Binlog_Ignore_DB"];
    match status.first().map(|row| filters.map(|name| either(row, [name, name]))) {
        Some([Some(b""), Some(b"")]) => Ok(()),
        Some([Some(_), Some(_)]) => Err(NoEvidence::PrimaryFilters),
        _ => Err(NoEvidence::PrimaryHidesBinlog),
    }
}

/// A flag's value, as variables and SELECT write it.
pub(crate) fn is_off(value: &[u8]) -> bool {
    says(Some(value), &["OFF", "0"])
}

fn says(value: Option<&[u8]>, words: &[&str]) -> bool {
    value.is_some_and(|value| words.iter().any(|word| value.eq_ignore_ascii_case(word.as_bytes())))
}

/// The value under one of two names, of which servers of other versions have the other.
fn either<'r>(row: &'r NamedRow, names: [&str; 2]) -> Option<&'r [u8]> {
    let mut found = row.iter().filter(|(name, _)| names.iter().any(|one| name.eq_ignore_ascii_case(one)));
    found.next().map(|(_, value)| value.as_slice())
}

#[cfg(test)]
mod tests;
