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
    /// Bytes were moved.
    Moved(Moved),
    /// A note for the person.
    Note(String),
}

/// How far a piece of work has come that moves bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The work, as it is called: there can be several at the same time.
    pub what: String,
    /// Bytes so far.
    pub done: u64,
    /// Bytes in all, as far as that is known.
    pub total: Option<u64>,
    /// Whether that was all.
    pub over: bool,
}

impl fmt::Display for Moved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mib = |bytes: u64| bytes.div_ceil(1 << 20);
        write!(f, "{}: {} MiB", self.what, mib(self.done))?;
        match self.total.filter(|total| *total >= self.done && !self.over) {
            Some(total) => write!(f, " of {}", mib(total)),
            None => Ok(()),
        }
    }
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
            Self::Moved(moved) => moved.fmt(f),
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
