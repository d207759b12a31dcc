//! How a lab is, as a person or a script wants to know it.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use nuthatch_server::Kind;

use crate::role::Role;

/// How a server's process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Liveness {
    /// It runs and answers.
    Running,
    /// It runs and does not answer.
    Mute,
    /// There is no such process.
    Stopped,
}

impl fmt::Display for Liveness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Running => "running",
            Self::Mute => "mute",
            Self::Stopped => "stopped",
        })
    }
}

/// How one of a replica's two threads is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Thread {
    /// It works.
    Running,
    /// It tries to reach the primary.
    Connecting,
    /// It does not run.
    Stopped,
}

impl Thread {
    /// From a column of `SHOW REPLICA STATUS`.
    pub(crate) fn parse(text: &str) -> Self {
        match text {
            "Yes" => Self::Running,
            "Connecting" | "Preparing" => Self::Connecting,
            _ => Self::Stopped,
        }
    }
}

/// A replica's word on its replication.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Replication {
    /// The thread that fetches events.
    pub io: Thread,
    /// The thread that applies them.
    pub sql: Thread,
    /// Position (GTID) up to which events were fetched.
    pub received: String,
    /// Seconds behind the primary; `None` when the replica does not know.
    pub lag_s: Option<u64>,
    /// What stopped a thread, as the server says it; empty if nothing did.
    pub error: String,
}

impl Replication {
    /// Whether both threads run.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.io == Thread::Running && self.sql == Thread::Running
    }
}

/// A node's word on its cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Member {
    /// Its state: `Synced` with Galera, `ONLINE` in a group, or another word of the server's.
    pub state: String,
    /// `Primary` or `non-Primary` with Galera (its component), `PRIMARY` or `SECONDARY` in a group.
    pub role: String,
    /// How many nodes it sees, itself with them.
    pub size: u16,
}

impl Member {
    /// Whether it takes part in a cluster that goes on.
    #[must_use]
    pub fn is_in(&self) -> bool {
        self.state == "ONLINE" || (self.state == "Synced" && self.role == "Primary")
    }
}

/// One server of a lab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ServerStatus {
    /// Its place in the lab.
    pub role: Role,
    /// How its process is.
    pub state: Liveness,
    /// Where it listens.
    pub host: &'static str,
    /// Where clients connect: its TCP port, or that of the relay before it.
    pub port: u16,
    /// Its own TCP port.
    pub direct_port: u16,
    /// Its Unix socket.
    pub socket: PathBuf,
    /// Its process; `None` when it does not run.
    pub pid: Option<i32>,
    /// Its version, as it said at its last start.
    pub version: String,
    /// The position (GTID) that it has executed; empty when it does not answer or nothing was written yet.
    pub position: String,
    /// Whether ordinary accounts may not write on it; `None` when it does not answer.
    pub read_only: Option<bool>,
    /// Its replication; `None` on one that follows nobody, or when it does not answer.
    pub replication: Option<Replication>,
    /// Its place in its cluster; `None` without one, or when it does not answer.
    pub member: Option<Member>,
    /// Its error log.
    pub error_log: PathBuf,
}

/// An account for one duty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AccountStatus {
    /// Its name.
    pub user: &'static str,
    /// File with its password, readable by its owner only.
    pub password_file: PathBuf,
}

/// A whole lab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Status {
    /// The lab's directory, absolute.
    pub dir: PathBuf,
    /// Whose servers they are.
    pub kind: Kind,
    /// The account for the lab's users.
    pub user: String,
    /// File with that account's password, readable by its owner only.
    pub password_file: PathBuf,
    /// The primary first, then the replicas by number.
    pub servers: Vec<ServerStatus>,
    /// The accounts for one duty each.
    pub accounts: Vec<AccountStatus>,
}

impl Status {
    /// Whether every server answers, every replica replicates, and every node of a cluster sees all others.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        let size = self.servers.len();
        let well = |server: &ServerStatus| match server.role {
            Role::Primary => true,
            Role::Replica(_) => server.replication.as_ref().is_some_and(Replication::is_running),
            Role::Node(_) => {
                let member = server.member.as_ref();
                member.is_some_and(|member| member.is_in() && usize::from(member.size) == size)
            }
        };
        self.servers.iter().all(|server| server.state == Liveness::Running && well(server))
    }

    /// Whether no server runs.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.servers.iter().all(|server| server.state == Liveness::Stopped)
    }
}

/// A table for people, one line a server, then a line with the account.
impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<10} {:<8} {:>5} {:>8} {:<28} {:<9} {:<12} replication",
            "server", "state", "port", "pid", "version", "writes", "position"
        )?;
        for server in &self.servers {
            let pid = server.pid.map_or_else(|| "-".into(), |pid| pid.to_string());
            let position = if server.position.is_empty() { "-" } else { &server.position };
            writeln!(
                f,
                "{:<10} {:<8} {:>5} {pid:>8} {:<28} {:<9} {position:<12} {}",
                server.role.to_string(),
                server.state,
                server.port,
                server.version,
                server.read_only.map_or("-", |read_only| if read_only { "read-only" } else { "yes" }),
                replication_words(server)
            )?;
        }
        write!(f, "account {}, password in {}", self.user, self.password_file.display())?;
        for account in &self.accounts {
            write!(f, "\naccount {}, password in {}", account.user, account.password_file.display())?;
        }
        Ok(())
    }
}

fn replication_words(server: &ServerStatus) -> String {
    if let Some(Member { state, role, size }) = &server.member {
        return format!("{state}, {role}, sees {size}");
    }
    match &server.replication {
        None => "-".into(),
        Some(replication) if replication.is_running() => {
            replication.lag_s.map_or_else(|| "running".into(), |lag_s| format!("running, {lag_s} s behind"))
        }
        Some(replication) => {
            format!("fetching: {:?}, applying: {:?} {}", replication.io, replication.sql, replication.error)
        }
    }
}
