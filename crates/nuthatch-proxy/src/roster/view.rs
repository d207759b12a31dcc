//! What others see of a session.

use std::sync::Arc;

use crate::backend::{Control, Server};
use crate::roster::secrecy::shown;

/// What `stats_mysql_processlist` shows of a session; changed on the slow path only.
#[derive(Debug, Clone, Default)]
pub(crate) struct View {
    pub(crate) user: Option<Arc<str>>,
    pub(crate) schema: Vec<u8>,
    pub(crate) command: &'static str,
    pub(crate) since_ms: u64,
    /// The statement at hand, or the one before it: `has_info` tells.
    pub(crate) info: Vec<u8>,
    pub(crate) has_info: bool,
    /// Of the command at hand.
    pub(crate) bytes: usize,
    pub(crate) hostgroup: Option<u32>,
    /// The server that a session's bytes pass to as they are.
    pub(crate) passes_to: Option<Arc<Server>>,
    /// The connection that works for it at the moment.
    pub(crate) running: Option<Running>,
    /// The first connection that it holds between statements: its server, and its number there.
    pub(crate) holds: Option<(Arc<Server>, u32)>,
    pub(crate) pins: String,
}

/// A connection with a statement of the session on it.
#[derive(Debug, Clone)]
pub(crate) struct Running {
    pub(crate) control: Arc<Control>,
    pub(crate) server: Arc<Server>,
    /// `CONNECTION_ID()` on the server.
    pub(crate) thread_id: u32,
}

impl View {
    /// Whether the connection of that number works for the session, or is held by it.
    pub(crate) fn has_connection(&self, server: &Server, thread_id: u32) -> bool {
        let is_it = |other: &Server, number| number == thread_id && other.is_same_as(server);
        self.running.as_ref().is_some_and(|running| is_it(&running.server, running.thread_id))
            || self.holds.as_ref().is_some_and(|(other, number)| is_it(other, *number))
    }

    /// The server whose connection works for it, or is held by it between statements: of one that waits for a connection it is not
    /// known yet.
    pub(crate) fn server(&self) -> Option<&Server> {
        let running = self.running.as_ref().map(|running| &running.server);
        let held = || self.holds.as_ref().map(|(server, _)| server).filter(|_| self.command == "Sleep");
        running.or_else(held).or(self.passes_to.as_ref()).map(|server| &**server)
    }

    /// The statement at hand as others may see it.
    pub(crate) fn shown_info(&self) -> Option<Vec<u8>> {
        self.has_info.then(|| shown(&self.info).to_vec())
    }
}
