//! What a lab's accounts are for, apart from the one that may do everything.

/// An account with no more rights than one duty needs, as an operator would make it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duty {
    /// Looks at servers: replication, read_only, the members of a group.
    Monitor,
    /// Fetches events: what replicas log in with.
    Replication,
    /// Changes who writes: read_only, replication, events, connections of others.
    Failover,
}

impl Duty {
    /// Every duty.
    pub const ALL: [Self; 3] = [Self::Monitor, Self::Replication, Self::Failover];

    /// The account's name.
    #[must_use]
    pub fn user(self) -> &'static str {
        match self {
            Self::Monitor => "nuthatch_monitor",
            Self::Replication => "nuthatch_replication",
            Self::Failover => "nuthatch_failover",
        }
    }
}

/// A name and its password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Login {
    /// The account's name.
    pub user: String,
    /// Its password.
    pub password: Password,
}
use nuthatch_server::Password;
