//! What is compared with what.

use std::fmt;

use clap::ValueEnum;
use serde::Serialize;

/// A kind of server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(super) enum Candidate {
    /// The canned-reply server.
    Floor,
    /// The proxy, every answer from its cache.
    Hit,
    /// The proxy, no answer from its cache.
    Pass,
    /// What only passes bytes on to the database.
    Relay,
    /// The database itself.
    Direct,
}

/// How clients reach it. (A proxy reaches the database over TCP in either case.)
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(super) enum Transport {
    /// Over loopback.
    Tcp,
    /// Over a Unix socket.
    Unix,
}

/// One line of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct Contestant {
    /// The server.
    pub(super) candidate: Candidate,
    /// How it is reached.
    pub(super) transport: Transport,
}

impl Contestant {
    /// The floor over TCP, to which all ratios are taken.
    pub(super) const FLOOR: Self = Self { candidate: Candidate::Floor, transport: Transport::Tcp };
}

impl fmt::Display for Contestant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let candidate = match self.candidate {
            Candidate::Floor => "floor",
            Candidate::Hit => "hit",
            Candidate::Pass => "pass",
            Candidate::Relay => "relay",
            Candidate::Direct => "direct",
        };
        let transport = match self.transport {
            Transport::Tcp => "TCP",
            Transport::Unix => "Unix",
        };
        write!(f, "{candidate} {transport}")
    }
}
