//! What stands between the servers of a lab and everybody else is held back, cut, and made whole again.

use crate::error::LabError;
use crate::galera;
use crate::lab::{Lab, Result};
use crate::options::Cluster;
use crate::relay::control::{Answer, Command, Passed, tell};
use crate::relay::rules::{Cut, Direction, Hold, Peers};
use crate::role::Role;

impl Lab {
    /// What passes between the server and these others, that way, does not arrive until [`heal`](Self::heal), as
    /// if its packets were dropped: nothing is closed. What one end has sent meanwhile arrives then. Partitions
    /// add up. A connection to the server that is made meanwhile is accepted (by the relay's kernel) and hangs.
    /// A node of Galera is parted from the other nodes too, which takes no relays; members of a group are not.
    ///
    /// # Errors
    /// [`LabError::NoRelays`], [`LabError::NoSuchServer`], [`LabError::Relay`].
    pub fn partition(&self, role: Role, peers: Peers, direction: Direction) -> Result<()> {
        self.server(role)?;
        if let Peers::One(other) = peers {
            self.server(other)?;
        }
        if self.parts_nodes(peers, direction)? {
            self.server(role)?.query(&galera::isolation(1))?;
            if self.state.relay_socket.is_none() {
                return Ok(());
            }
        }
        self.order(&Command::Hold(Hold { node: role, peers, direction }))
    }

    /// Whether what nodes of a cluster tell each other is cut too. It does not pass the relays.
    fn parts_nodes(&self, peers: Peers, direction: Direction) -> Result<bool> {
        let refuse = |what: &str| Err(LabError::BadOption { what: what.into() });
        match (self.state.cluster, peers, direction) {
            (None, ..) | (Some(_), Peers::Outside, _) => Ok(false),
            (Some(Cluster::Galera(_)), Peers::All, Direction::Both) => Ok(true),
            (Some(Cluster::Galera(_)), ..) => {
                refuse("a node of Galera is parted from all others both ways, or from clients (outside)")
            }
            (Some(Cluster::GroupReplication(_)), ..) => {
                refuse("members of a group are parted from clients (outside) only; pause or kill them")
            }
        }
    }

    /// Everything arrives again.
    ///
    /// # Errors
    /// [`LabError::NoRelays`], [`LabError::Relay`].
    pub fn heal(&self) -> Result<()> {
        if let Some(Cluster::Galera(_)) = self.state.cluster {
            for server in self.servers().filter(|server| server.pid().is_some()) {
                server.query(&galera::isolation(0))?;
            }
            if self.state.relay_socket.is_none() {
                return Ok(());
            }
        }
        self.order(&Command::Heal)
    }

    /// All connections to the server are reset, at both ends; new ones are not hindered.
    ///
    /// # Errors
    /// As `partition`.
    pub fn cut(&self, role: Role) -> Result<()> {
        self.server(role)?;
        self.order(&Command::Cut(role))
    }

    /// The first connection to the server that passes so many bytes from now on that way, is reset at both ends
    /// exactly there: these bytes arrive and no more. Replicas' connections count too, those that one end has
    /// closed do not. Takes the place of one that was asked for before and has
    /// not been made.
    ///
    /// # Errors
    /// As `partition`.
    pub fn cut_after(&self, role: Role, direction: Direction, bytes: u64) -> Result<()> {
        self.server(role)?;
        self.order(&Command::CutAfter(Cut { node: role, direction, bytes }))
    }

    /// What has passed to and from the server since the lab was brought up, and whether a cut is still due.
    ///
    /// # Errors
    /// As `partition`.
    pub fn passed(&self, role: Role) -> Result<Passed> {
        self.server(role)?;
        match self.ask_relay(&Command::Passed(role))? {
            Answer::Passed(passed) => Ok(passed),
            other => Err(LabError::Relay { reason: format!("it answers {other:?}") }),
        }
    }

    fn order(&self, command: &Command) -> Result<()> {
        match self.ask_relay(command)? {
            Answer::Failed(reason) => Err(LabError::Relay { reason }),
            Answer::Done | Answer::Passed(_) => Ok(()),
        }
    }

    fn ask_relay(&self, command: &Command) -> Result<Answer> {
        let socket = self.state.relay_socket.as_ref().ok_or(LabError::NoRelays)?;
        tell(socket, command).map_err(LabError::file("reach the relay by", socket))
    }

    /// The relay listens for the servers that run, if there is one.
    pub(crate) fn sync_relays(&self) -> Result<()> {
        if self.state.relay_socket.is_some() { self.order(&Command::Sync) } else { Ok(()) }
    }

    pub(crate) fn tell_relays_to_end(&self) -> Result<()> {
        self.order(&Command::End)
    }
}
