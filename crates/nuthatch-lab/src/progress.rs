//! What a lab tells while it works, so that a person who waits sees why.

use std::fmt;
use std::path::PathBuf;

use crate::role::Role;

/// One thing that the lab begins to do or has found out. `Display` is one line, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// An empty data directory is being made; later labs copy it.
    MakingTemplate(PathBuf),
    /// The server is found running; nothing is done to it.
    AlreadyRunning(Role),
    /// The server is being started.
    Starting(Role),
    /// The chosen port was taken by someone else meanwhile; another one is tried.
    PortTaken(Role, u16),
    /// The server answers.
    Ready(Role, u16),
    /// The replica replicates.
    Replicating(Role),
    /// The node is in its cluster.
    Joined(Role),
    /// The server is being asked to stop.
    Stopping(Role),
    /// The server did not stop in time and is killed.
    Killing(Role),
    /// The server was not running.
    NotRunning(Role),
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MakingTemplate(dir) => {
                write!(f, "making an empty data directory in {} (once)", dir.display())
            }
            Self::AlreadyRunning(role) => write!(f, "{role} is already running"),
            Self::Starting(role) => write!(f, "starting {role}"),
            Self::PortTaken(role, port) => {
                write!(f, "port {port} was taken meanwhile: another one for {role}")
            }
            Self::Ready(role, port) => write!(f, "{role} is ready on 127.0.0.1:{port}"),
            Self::Replicating(role) => write!(f, "{role} replicates"),
            Self::Joined(role) => write!(f, "{role} is in the cluster"),
            Self::Stopping(role) => write!(f, "stopping {role}"),
            Self::Killing(role) => write!(f, "{role} did not stop in time: killing it"),
            Self::NotRunning(role) => write!(f, "{role} is not running"),
        }
    }
}

/// Is told each step before the work it names. Any `FnMut(&Step)` is one.
pub trait Progress {
    /// Takes note of a step; must return soon, since the lab waits for it.
    fn step(&mut self, step: &Step);
}

impl<F: FnMut(&Step)> Progress for F {
    fn step(&mut self, step: &Step) {
        self(step);
    }
}

/// Tells nobody.
pub(crate) struct Silent;

impl Progress for Silent {
    fn step(&mut self, _step: &Step) {}
}
