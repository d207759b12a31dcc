//! One server of a lab, as its users see it.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use crate::client::Rows;
use crate::lab::{Lab, Result};
use crate::role::Role;
use crate::state::ServerState;

/// A view of one server. What it says of ports and processes is what its [`Lab`] knew when it was last
/// changed.
#[derive(Clone, Copy, Debug)]
pub struct Server<'lab> {
    pub(crate) lab: &'lab Lab,
    pub(crate) state: &'lab ServerState,
}

impl Lab {
    /// The primary; of a cluster the first node.
    ///
    /// # Panics
    /// Never: no lab is made without one.
    #[must_use]
    pub fn primary(&self) -> Server<'_> {
        self.servers().next().expect("every lab has a first server")
    }

    /// One server.
    ///
    /// # Errors
    /// [`LabError::NoSuchServer`](crate::LabError::NoSuchServer).
    pub fn server(&self, role: Role) -> Result<Server<'_>> {
        Ok(Server { lab: self, state: self.server_state(role)? })
    }

    /// All servers, the primary first.
    pub fn servers(&self) -> impl Iterator<Item = Server<'_>> {
        self.state.servers.iter().map(|state| Server { lab: self, state })
    }
}

impl<'lab> Server<'lab> {
    /// Its place in the lab.
    #[must_use]
    pub fn role(&self) -> Role {
        self.state.role
    }

    /// Where clients, proxies and replicas connect: the relay before it, if it has one.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port()).into()
    }

    /// The port of that on 127.0.0.1.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.state.public_port()
    }

    /// Where it listens itself, past any relay.
    #[must_use]
    pub fn direct_address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.state.port).into()
    }

    /// Its Unix socket.
    #[must_use]
    pub fn socket(&self) -> &'lab Path {
        &self.state.socket
    }

    /// Its version, as it said at its last start.
    #[must_use]
    pub fn version(&self) -> &'lab str {
        &self.state.version
    }

    /// Its process, if it runs.
    #[must_use]
    pub fn pid(&self) -> Option<i32> {
        let mark = self.state.process.as_ref()?;
        mark.is_alive().then(|| mark.pid())
    }

    /// Its error log, of its last start.
    #[must_use]
    pub fn error_log(&self) -> PathBuf {
        self.lab.layout.error_log(self.state.role)
    }

    /// Runs one statement as root over the Unix socket, past any proxy; with several, their answers follow
    /// each other and only the first has its columns told apart.
    ///
    /// # Errors
    /// [`LabError::Statement`](crate::LabError::Statement) with the client's message.
    pub fn query(&self, sql: &str) -> Result<Rows> {
        self.lab.client(self.state)?.run(sql)
    }
}
