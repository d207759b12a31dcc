//! What the monitor has found servers to be.

use std::collections::HashMap;

use crate::clusters::CheckType;
use crate::server::ServerName;

/// By server. None stands for one that nobody has looked at.
pub type Findings = HashMap<ServerName, Finding>;

/// What was found of one server.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Finding {
    /// Whether it takes writes, by each check that a pair asks for.
    pub access: HashMap<CheckType, Access>,
    /// What it is in its group or Galera cluster.
    pub member: Option<Member>,
}

/// What one look came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AccessFinding {
    /// It takes writes.
    Writable,
    /// It does not.
    ReadOnly,
    /// It let so many looks run out of time that it counts as read-only.
    Silent {
        /// In words.
        why: String,
    },
    /// Nobody is there: connections are refused or reset.
    Gone {
        /// In words.
        why: String,
    },
}

/// Whether a server takes writes, by all looks so far.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Access {
    /// By the last look that told.
    seen_writable: Option<bool>,
    /// Why it counts as read-only though nobody has seen that.
    silent: Option<String>,
    gone: Option<String>,
}

/// What a server is in its group or Galera cluster.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Member {
    /// It belongs to the part that goes on.
    Usable {
        /// It takes no writes.
        is_read_only: bool,
        /// It is farther behind than it may be, at so many looks in a row that this counts: a clause.
        behind: Option<String>,
    },
    /// It does not, or is not there: a clause.
    Unusable {
        /// Behind "because".
        why: String,
    },
}

impl Access {
    /// Takes note of one more look.
    pub fn note(&mut self, finding: &AccessFinding) {
        (self.silent, self.gone) = (None, None);
        match finding {
            AccessFinding::Writable => self.seen_writable = Some(true),
            AccessFinding::ReadOnly => self.seen_writable = Some(false),
            AccessFinding::Silent { why } => self.silent = Some(why.clone()),
            AccessFinding::Gone { why } => self.gone = Some(why.clone()),
        }
    }

    /// Whether it counts as one that takes writes; none if nothing is known.
    pub const fn is_writable(&self) -> Option<bool> {
        match self.silent {
            Some(_) => Some(false),
            None => self.seen_writable,
        }
    }

    /// Whether the last look has seen that it takes none.
    pub fn is_seen_read_only(&self) -> bool {
        self.seen_writable == Some(false) && self.silent.is_none() && self.gone.is_none()
    }

    /// Why it counts as read-only though nobody has seen that.
    pub fn silent(&self) -> Option<&str> {
        self.silent.as_deref()
    }

    /// Why it is not there.
    pub fn gone(&self) -> Option<&str> {
        self.gone.as_deref()
    }
}
