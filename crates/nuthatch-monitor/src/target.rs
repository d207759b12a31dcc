//! A server that is looked at.

use std::fmt;

use nuthatch_net::{AskerLogin, BackendAddress};

/// What tells one server from another: many instances share a host.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServerName {
    /// As configured.
    pub host: String,
    /// As configured; 0 for a socket.
    pub port: u16,
}

impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            0 => f.write_str(&self.host),
            port => write!(f, "{}:{port}", self.host),
        }
    }
}

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
}
