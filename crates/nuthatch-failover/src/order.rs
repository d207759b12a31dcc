//! What is to be done, and to whom.

use std::time::Duration;

use nuthatch_config::{HostgroupId, ServerName};
use nuthatch_net::{AskerLogin, BackendAddress};

/// An account on servers. Shows no password.
#[derive(Clone, Debug)]
pub struct Account {
    /// Its name; empty where none is configured.
    pub user: String,
    /// Its password.
    pub password: nuthatch_config::Secret,
}

/// A server, where it is, and how it is logged in to as the account that changes roles, or why nobody can.
pub type KnownServer = (ServerName, BackendAddress, Result<AskerLogin, String>);

/// A replication pair.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// Its writer hostgroup.
    pub hostgroup: HostgroupId,
    /// Who takes the writes now, as the monitor knows.
    pub writer: Option<ServerName>,
    /// All servers of the pair.
    pub servers: Vec<KnownServer>,
}

/// An old primary that nothing is sent to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptOut {
    /// Who.
    pub name: ServerName,
    /// What it has beyond all others counts as lost, and was told so.
    pub is_given_up: bool,
}

/// What is to be known of a switchover before it touches anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begun {
    /// The writer hostgroup of the pair.
    pub hostgroup: HostgroupId,
    /// Who took the writes.
    pub old: ServerName,
    /// Who is to take them.
    pub new: ServerName,
    /// Whether events ran on the old one.
    pub ran_events: bool,
}

/// How long is waited for what.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Open transactions, and statements under way; then their sessions are ended.
    pub transactions: Duration,
    /// What else keeps a session on its connection: temporary tables, named locks.
    pub pins: Duration,
    /// One answer of a server.
    pub answer: Duration,
    /// The new primary has all of the old one.
    pub catch_up: Duration,
}

/// See the module's doc.
#[derive(Clone, Debug)]
pub struct Order {
    /// Of which pair.
    pub cluster: Cluster,
    /// Who is to take the writes.
    pub to: ServerName,
    /// As whom replicas log in to the new primary.
    pub replication: Account,
    /// How long is waited.
    pub limits: Limits,
}
