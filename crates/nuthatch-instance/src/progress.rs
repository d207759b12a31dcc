//! What is told while it is worked on, so that a person who waits sees why.

use std::fmt;
use std::path::PathBuf;

use crate::name::InstanceName;

/// One thing that is begun or was found out. `Display` is one line, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// An empty data directory is made; later instances copy it.
    MakingEmpty(PathBuf),
    /// A port and memory were chosen.
    Chosen(InstanceName, String),
    /// The server is being started.
    Starting(InstanceName),
    /// It answers.
    Ready(InstanceName, String),
    /// Nothing is to be done.
    Already(InstanceName, &'static str),
    /// The server is being asked to end.
    Stopping(InstanceName),
    /// It still stops, after so many seconds.
    StillStopping(InstanceName, u64),
    /// It has ended.
    Stopped(InstanceName),
    /// A note for the person.
    Note(String),
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MakingEmpty(dir) => write!(f, "making an empty data directory in {} (once)", dir.display()),
            Self::Chosen(name, what) => write!(f, "{name}: {what}"),
            Self::Starting(name) => write!(f, "starting {name}"),
            Self::Ready(name, address) => write!(f, "{name} is ready on {address}"),
            Self::Already(name, what) => write!(f, "{name} {what} already"),
            Self::Stopping(name) => write!(f, "stopping {name}"),
            Self::StillStopping(name, seconds) => {
                write!(f, "{name} still writes down what it has: {seconds} s")
            }
            Self::Stopped(name) => write!(f, "{name} has stopped"),
            Self::Note(text) => f.write_str(text),
        }
    }
}

/// Is told each step. Any `FnMut(&Step)` is one.
pub trait Progress {
    /// Takes note of a step; must return soon.
    fn step(&mut self, step: &Step);
}

impl<F: FnMut(&Step)> Progress for F {
    fn step(&mut self, step: &Step) {
        self(step);
    }
}
