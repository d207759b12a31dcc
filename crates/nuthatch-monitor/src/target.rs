//! A server that is looked at.

use std::time::Duration;

use nuthatch_config::{CheckType, ClusterKind, ServerName};
use nuthatch_net::{AskerLogin, BackendAddress};

/// A server, and how it is logged in to. Shows no password.
#[derive(Clone, Debug)]
pub struct Target {
    /// Its name.
    pub name: ServerName,
    /// Where it is.
    pub address: BackendAddress,
    /// As whom, or why nobody can.
    pub login: Result<AskerLogin, String>,
    /// Whether it matters how far it is behind.
    pub may_be_behind: bool,
    /// How its buffer pool is looked after; none where that does not matter.
    pub pool: Option<PoolCheck>,
    /// What else matters.
    pub roles: Roles,
}

/// How a server's buffer pool is looked after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolCheck {
    /// Between dumps that it is asked for; none where it is asked for none.
    pub dump_interval: Option<Duration>,
}

/// By what a server's place in its clusters is found out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roles {
    /// Whether it takes writes, by each of these.
    pub access: Vec<CheckType>,
    /// What it is in its group or Galera cluster.
    pub member: Option<MemberCheck>,
}

/// How a member is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberCheck {
    /// Of what.
    pub kind: ClusterKind,
    /// How many transactions it may be behind; 0 for no limit.
    pub behind_max: u64,
}
