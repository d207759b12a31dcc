//! One connection to a server, with what is known of the state that the server keeps for it.

pub(crate) mod ask_defaults;
pub(crate) mod goodbye;
pub(crate) mod order;
pub(crate) mod prepared;
pub(crate) mod proven;
pub(crate) mod reset;

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use nuthatch_net::{Framed, NetError};
use nuthatch_wire::{CapabilityFlags, ErrPacket, Form, packet_with_attributes};
use tokio::time::Instant;

use crate::backend::connection::prepared::{NamedStatements, PreparedStatements};
use crate::backend::server;
use crate::backend::server::ahead::Ahead;
use crate::backend::server::control::{Borrower, Control};
use crate::backend::server::defaults::Era;
use crate::backend::server::pool::Pooled;
use crate::state::ConnectionState;
use crate::stats::pins::Pins;
use crate::worker::Worker;

/// A server whose pool holds such connections.
pub(crate) type Server = server::Server<Connection>;

/// The right to have one.
pub(super) type Slot = server::Slot<Connection>;

/// No session: what the proxy itself says on a connection changes what a server would tell of the statement before.
const NOBODY: u32 = 0;

/// A logged-in connection. Dropping it closes it.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) framed: Framed,
    pub(crate) state: ConnectionState,
    pub(crate) control: Arc<Control>,
    /// As whom it is logged in.
    pub(crate) user: Arc<str>,
    /// See [`crate::state::capability::SHAPE`].
    pub(crate) shape: CapabilityFlags,
    /// All that its login agreed on.
    pub(crate) capabilities: CapabilityFlags,
    /// Its server tells of changes: `session_track_state_change` was set, and is again after each reset.
    pub(crate) is_told_of_changes: bool,
    /// Its server is to tell of what was committed; it does if it can.
    pub(crate) tells_gtids: bool,
    /// What was asked for at its login and the server does not have.
    pub(crate) refused: CapabilityFlags,
    /// `CONNECTION_ID()` on the server.
    pub(crate) thread_id: u32,
    /// The collation that it logged in with.
    pub(crate) login_collation: u8,
    /// Which worker watches the socket.
    pub(crate) worker: usize,
    /// When its login was done.
    pub(crate) opened: Instant,
    /// What it began with.
    pub(crate) era: Arc<Era>,
    /// The question for one server that it was asked, and whether its server is that one.
    pub(crate) identity: Option<(Arc<str>, bool)>,
    /// What was sent on it before its first use.
    pub(super) init_connect: Arc<str>,
    /// When the server answered a ping last.
    pub(super) pinged_ms: u64,
    /// When it was put back last.
    pub(crate) idle_since_ms: u64,
    /// Statements that it has carried, to tell a fresh one from one that may have died in the pool.
    pub(crate) statements: u64,
    /// Its `LAST_INSERT_ID()`, if it is known.
    pub(crate) insert_id: Option<u64>,
    /// The error that ended its last answer to a session.
    pub(crate) refusal: Option<Box<ErrPacket>>,
    /// What is prepared on it.
    pub(crate) prepared: PreparedStatements,
    /// What is prepared on it by text.
    pub(crate) named: NamedStatements,
    /// The session that had it last.
    pub(crate) last_session: u32,
    /// What is sent with its next packet.
    pub(crate) ahead: Ahead,
    /// Whether a session has it.
    pub(super) is_lent: bool,
    pub(super) slot: Slot,
}

impl Pooled for Connection {
    fn worker(&self) -> usize {
        self.worker
    }

    fn user(&self) -> &str {
        &self.user
    }

    fn is_left_by(&self, thread_id: u32, session: u32) -> bool {
        self.thread_id == thread_id && self.last_session == session
    }

    fn idle_since_ms(&self) -> u64 {
        self.idle_since_ms
    }

    fn silent_since_ms(&self) -> u64 {
        self.idle_since_ms.max(self.pinged_ms)
    }

    fn is_disturbed(&mut self) -> bool {
        self.framed.stream().is_disturbed()
    }

    fn is_for_the_proxy(&mut self) {
        self.last_session = NOBODY;
    }
}

impl Connection {
    pub(crate) const fn server(&self) -> &Arc<Server> {
        &self.slot.server
    }

    /// Whether statements come to it with their attributes.
    pub(crate) const fn takes_attributes(&self) -> bool {
        self.shape.contains(CapabilityFlags::CLIENT_QUERY_ATTRIBUTES)
    }

    /// Whether its server executes a statement for many sets of parameters.
    pub(crate) const fn takes_bulk(&self) -> bool {
        self.capabilities.contains(CapabilityFlags::MARIADB_CLIENT_STMT_BULK_OPERATIONS)
    }

    /// The packet as it must come over this connection.
    pub(crate) fn worded<'p>(&self, packet: &'p [u8]) -> Cow<'p, [u8]> {
        let worded = self.takes_attributes().then(|| packet_with_attributes(packet)).flatten();
        worded.map_or(Cow::Borrowed(packet), Cow::Owned)
    }

    /// Has the next write begin with this order of the proxy's own.
    pub(crate) fn add_ahead(&mut self, packet: &[u8]) {
        let worded = self.worded(packet);
        self.ahead.add(&worded);
    }

    /// How its answers look.
    pub(crate) const fn form(&self) -> Form {
        Form::of(self.shape)
    }

    /// Whether its server is known to be the one that has a row for that question.
    pub(crate) fn identified_by(&self, question: &str) -> bool {
        matches!(&self.identity, Some((asked, true)) if **asked == *question)
    }

    /// Whether it was asked that question.
    pub(crate) fn was_asked(&self, question: &str) -> bool {
        matches!(&self.identity, Some((asked, _)) if **asked == *question)
    }

    /// Whether something is sent on it before its first use.
    pub(super) fn has_first_orders(&self) -> bool {
        self.is_told_of_changes || self.has_init_connect()
    }

    /// Whether it may have begun with another value of the variable than DEFAULT gives it.
    pub(crate) fn begins_otherwise(&self, name: &[u8]) -> bool {
        self.has_init_connect() || name == b"sql_mode" && !self.can_be_reset()
    }

    /// Whether `mysql-init_connect` was sent on it.
    pub(crate) fn has_init_connect(&self) -> bool {
        !self.init_connect.is_empty()
    }

    /// Has `worker` watch the socket, on whose thread this is.
    pub(super) fn move_to(&mut self, worker: &Worker) -> Result<(), NetError> {
        if self.worker != worker.id {
            self.framed.move_to(worker.registrar())?;
            self.worker = worker.id;
        }
        Ok(())
    }

    /// Counts it as in use by `session`, which has that number.
    pub(crate) fn lend<B: Borrower>(&mut self, session: &Arc<B>, number: u32) {
        self.control.used_by(session);
        self.last_session = number;
        self.count_as_lent();
    }

    /// Counts it as in use from now on.
    pub(super) fn count_as_lent(&mut self) {
        if !std::mem::replace(&mut self.is_lent, true) {
            self.server().count_lent();
        }
    }

    pub(super) fn give_back(&mut self) {
        self.control.keep_for(Pins::NONE);
        if std::mem::take(&mut self.is_lent) {
            self.server().count_given_back();
        }
        if let Some(socket) = self.framed.socket()
            && socket.watch_writing(false).is_err()
        {
            self.control.cut();
        }
    }

    /// Whether it is to be closed when it is put back.
    pub(super) fn is_too_old(&self) -> bool {
        self.server().is_too_old(self.opened, &self.era) || self.tells_gtids != self.server().tells_gtids()
    }

    /// Counts bytes that went to and came from the server.
    pub(crate) fn count_bytes(&self, sent: usize, received: usize) {
        let counters = self.server().counters();
        counters.bytes_sent.fetch_add(sent as u64, Ordering::Relaxed);
        counters.bytes_received.fetch_add(received as u64, Ordering::Relaxed);
    }

    /// Counts one statement that only a server might answer which shows what its session has seen.
    pub(crate) fn count_causal(&self) {
        self.server().counters().causal.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts one statement.
    pub(crate) fn count_statement(&mut self) {
        self.statements += 1;
        self.server().counters().queries.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if self.is_lent {
            self.server().count_given_back();
        }
        self.server().forget(&self.control);
    }
}
