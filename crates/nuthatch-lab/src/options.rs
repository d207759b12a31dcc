//! What a lab is asked to be.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use nuthatch_server::{Installation, Kind, Password};
use serde::{Deserialize, Serialize};

use crate::duty::Duty;
use crate::error::LabError;
use crate::role::Role;

/// Replicas that one lab may have; each is a real server, and a test machine is small.
const REPLICAS_MAX: u16 = 8;

/// Nodes of a cluster: what a group of MySQL may have.
const NODES_MAX: u16 = 9;

/// Length of a user name that both MariaDB and MySQL take.
const USER_CHARS_MAX: usize = 32;

/// The query cache of the server itself (MariaDB only), which would hide what the proxy does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueryCache {
    /// Not there at all.
    #[default]
    Off,
    /// On, with this many MiB.
    OnMib(u32),
}

/// Whether a commit waits until a replica has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SemiSync {
    /// It does not.
    #[default]
    Off,
    /// It waits before others see it; every server can be either side, so that any may be promoted.
    AfterSync,
}

/// Servers that agree on each write among themselves, instead of a primary and its replicas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cluster {
    /// So many nodes of MariaDB with Galera; each takes writes.
    Galera(u16),
    /// So many members of a group of MySQL, one of which takes writes.
    GroupReplication(u16),
}

impl Cluster {
    /// How many servers.
    #[must_use]
    pub fn nodes(self) -> u16 {
        match self {
            Self::Galera(nodes) | Self::GroupReplication(nodes) => nodes,
        }
    }

    fn kind(self) -> Kind {
        match self {
            Self::Galera(_) => Kind::MariaDb,
            Self::GroupReplication(_) => Kind::MySql,
        }
    }
}

impl fmt::Display for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Galera(nodes) => write!(f, "{nodes} nodes of Galera"),
            Self::GroupReplication(nodes) => write!(f, "{nodes} members of a group"),
        }
    }
}

/// Relays before the servers, which hold back and cut what passes: for partitions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Relays {
    /// None: clients connect to the servers.
    #[default]
    Off,
    /// On threads of this process, with which they end.
    Here,
    /// In a process of their own, which this program is when it is called with `lab relay DIR`.
    Program(PathBuf),
}

/// How a lab is made. `Default` is what the tests and `make run` use: a primary and one replica.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which servers; default Debian's MariaDB.
    pub installation: Installation,
    /// Replicas beside the primary, 0 to 8; default 1.
    pub replicas: u16,
    /// A cluster of 1 to 9 servers instead of a primary and replicas; default none.
    pub cluster: Option<Cluster>,
    /// Semi-synchronous replication; default off. While no replica is there, a commit waits for the server's
    /// own time limit, 10 s if `extra` says nothing else.
    pub semi_sync: SemiSync,
    /// Relays before the servers; default off.
    pub relays: Relays,
    /// A disk of its own for each server of a new lab, of so many MiB, which can be filled
    /// ([`Lab::fill_disk`](crate::Lab::fill_disk)). It is in memory, and only who may mount can have it; default none.
    pub disk_mib: Option<u32>,
    /// InnoDB's buffer pool of each server, in MiB, at least 8; default 128.
    pub buffer_pool_mib: u32,
    /// The servers' own query cache; default off. MySQL has none and ignores this.
    pub query_cache: QueryCache,
    /// `max_connections` of each server; default 1,000.
    pub connections_max: u32,
    /// The account with all privileges that is made for the lab's users; default `nuthatch`.
    pub user: String,
    /// Its password; `None` keeps the lab's, or generates one for a new lab.
    pub password: Option<Password>,
    /// Further lines for the servers' option files, such as `thread_handling=pool-of-threads`; default none.
    pub extra: Vec<String>,
    /// Further variables of the servers' environment, such as `TZ`; default none. They are not there while an empty data directory is
    /// made.
    pub environment: Vec<(String, String)>,
    /// Where empty data directories are kept for copying; `None` is `.lab-templates` beside the lab's
    /// directory.
    pub templates: Option<PathBuf>,
    /// How long each server may take to answer; default 60 s.
    pub ready_within: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            installation: Installation::debian_mariadb(),
            replicas: 1,
            cluster: None,
            semi_sync: SemiSync::Off,
            relays: Relays::Off,
            disk_mib: None,
            buffer_pool_mib: 128,
            query_cache: QueryCache::Off,
            connections_max: 1000,
            user: "nuthatch".into(),
            password: None,
            extra: Vec::new(),
            environment: Vec::new(),
            templates: None,
            ready_within: Duration::from_secs(60),
        }
    }
}

impl Options {
    /// Refuses what no server could be started with, or what would end up unquoted in SQL or an option file.
    pub(crate) fn check(&self) -> Result<(), LabError> {
        let refuse = |what: String| Err(LabError::BadOption { what });
        if self.replicas > REPLICAS_MAX {
            return refuse(format!("{} replicas, and at most {REPLICAS_MAX} are possible", self.replicas));
        }
        if let Some(cluster) = self.cluster {
            if !(1..=NODES_MAX).contains(&cluster.nodes()) {
                return refuse(format!("{cluster}, and 1 to {NODES_MAX} are possible"));
            }
            if cluster.kind() != self.installation.kind {
                return refuse("Galera is for MariaDB, group replication for MySQL".into());
            }
        }
        if self.buffer_pool_mib < 8 {
            return refuse(format!("a buffer pool of {} MiB, and 8 is the least", self.buffer_pool_mib));
        }
        if !(10..=100_000).contains(&self.connections_max) {
            return refuse(format!("{} connections, and 10 to 100000 are possible", self.connections_max));
        }
        if let Some(line) = self.extra.iter().find(|line| line.chars().any(char::is_control)) {
            return refuse(format!("the option line {line:?} has a control character"));
        }
        self.check_user()
    }

    /// The servers of a lab, the first of which begins.
    pub(crate) fn roles(&self) -> Vec<Role> {
        match self.cluster {
            Some(cluster) => (1..=cluster.nodes()).map(Role::Node).collect(),
            None => [Role::Primary].into_iter().chain((1..=self.replicas).map(Role::Replica)).collect(),
        }
    }

    fn check_user(&self) -> Result<(), LabError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        let of_duties = Duty::ALL.map(Duty::user);
        let reserved = self.user == "root" || of_duties.contains(&self.user.as_str());
        if (1..=USER_CHARS_MAX).contains(&self.user.len()) && self.user.chars().all(plain) && !reserved {
            return Ok(());
        }
        let what = format!(
            "the user name {:?}: 1 to {USER_CHARS_MAX} of A-Z a-z 0-9 _ - . and not one of the lab's own accounts",
            self.user
        );
        Err(LabError::BadOption { what })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_out_of_range_are_refused_by_name() {
        let refused: [(Options, &str); 8] = [
            (Options { cluster: Some(Cluster::Galera(10)), ..Options::default() }, "10 nodes of Galera"),
            (Options { cluster: Some(Cluster::GroupReplication(3)), ..Options::default() }, "for MySQL"),
            (Options { replicas: 9, ..Options::default() }, "9 replicas"),
            (Options { buffer_pool_mib: 1, ..Options::default() }, "1 MiB"),
            (Options { connections_max: 1, ..Options::default() }, "1 connections"),
            (Options { user: "a'b".into(), ..Options::default() }, "a'b"),
            (Options { user: "root".into(), ..Options::default() }, "root"),
            (Options { extra: vec!["a\nb".into()], ..Options::default() }, "control character"),
        ];
        for (options, word) in refused {
            let message = options.check().unwrap_err().to_string();
            assert!(message.contains(word), "{message}");
        }
        Options::default().check().unwrap();
    }
}
