//! One client's session: from its login to its last command.
//!
//! A session is one task on one worker. It reads a command, answers it, reads the next. Its state is a value
//! ([`SessionState`]); a backend connection is lent to it for one statement and brought into that state first, unless the
//! session *holds* connections ([`Held`]) for a named reason ([`Pins`]).
//!
//! The life of a statement, each step with its file:
//! 1. `look_up` (hit.rs): key, cache, judgement; on a hit the stored packets go out and that is all.
//! 2. `plan` (plan.rs): digest, class, rules, hostgroup.
//! 3. `answer_alone` (alone.rs): what needs no server.
//! 4. `lease` (lease.rs): a held connection or one from the pool, brought into the session's state.
//! 5. `relay` (relay.rs): the answer to the client with bounded memory, teed into a capture.
//! 6. `learn` (learn.rs): what the statement did to the session; the connection is kept or put back.
//!
//! Everything off the hit path is boxed, so that an idle session's task stays small.

mod alone;
mod capture;
mod command;
mod handle;
mod hit;
mod insert_id;
mod learn;
mod lease;
mod login;
mod pins;
mod plan;
mod prepared;
mod relay;
mod reply;
mod state;
mod statement;
mod trouble;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use nuthatch_config::{Snapshot, User};
use nuthatch_net::{BackendPassword, Framed, NetError};
use nuthatch_sql::Lexing;
use nuthatch_wire::{CapabilityFlags, Command, ErrorCode, StatusFlags};

use crate::Proxy;
use crate::worker::Worker;

pub use handle::ClientAddress;
pub(crate) use handle::{EndReason, SessionHandle, View};
pub(crate) use hit::HitPlan;
use insert_id::InsertId;
use lease::Held;
use login::UserPlace;
pub(crate) use login::{greeted_plugin, log_in, refuse_for_room};
pub(crate) use pins::Pins;
use prepared::Prepared;
pub(crate) use state::{Charset, SessionState};

/// Why a session ended.
#[derive(Debug)]
pub(crate) enum SessionEnd {
    /// The client said COM_QUIT.
    Quit,
    /// The client was gone.
    Gone,
    /// Somebody told it to end.
    Told(EndReason),
    /// The client's socket failed or it broke the protocol.
    Broken(NetError),
}

impl From<NetError> for SessionEnd {
    fn from(error: NetError) -> Self {
        match error {
            NetError::Closed | NetError::Io(_) => Self::Gone,
            error => Self::Broken(error),
        }
    }
}

impl From<EndReason> for SessionEnd {
    fn from(reason: EndReason) -> Self {
        Self::Told(reason)
    }
}

/// Who the client is to the proxy and to the servers.
#[derive(Debug)]
pub(crate) struct Account {
    pub(crate) name: Arc<str>,
    /// The user's frontend row in force.
    pub(crate) user: Arc<User>,
    /// How to log in to servers in its name; `None` when no password is known.
    pub(crate) password: Option<Arc<BackendPassword>>,
}

/// What the last statement left for the next one to ask for.
#[derive(Debug, Clone, Copy, Default)]
struct LastResults {
    row_count: i64,
    found_rows: u64,
}

/// A logged-in client. See the module's doc.
#[derive(Debug)]
pub(crate) struct Session {
    proxy: Arc<Proxy>,
    worker: Arc<Worker>,
    handle: Arc<SessionHandle>,
    client: Framed,
    _place: UserPlace,
    /// By how much answers are numbered higher than from 1: the command's frames but one.
    sequence_shift: u8,
    /// The server's thread that ran the last statement; `None` when no server did.
    last_ran_on: Option<u32>,
    account: Account,
    capabilities: CapabilityFlags,
    shape: CapabilityFlags,
    state: SessionState,
    /// What COM_RESET_CONNECTION goes back to.
    login_charset: Charset,
    /// How its server reads its statements.
    lexing: Lexing,
    snapshot: Arc<Snapshot>,
    /// Number of the session's environment; `None` when the table of environments is full.
    environment: Option<u32>,
    /// *May use the cache*: tested first by the hit path, worked out anew by `learn`.
    may_use_cache: bool,
    held: Vec<Held>,
    last: LastResults,
    insert_id: InsertId,
    wrote_in_transaction: bool,
    /// A connection with state of the session was lost: the client must not go on as if it were still there.
    has_lost_state: bool,
    next_flag_in: u32,
    prepared: Option<Box<Prepared>>,
}

impl Session {
    /// Serves the client until one side has had enough.
    pub(crate) async fn serve(mut self) -> SessionEnd {
        loop {
            if let Err(end) = self.serve_one().await {
                return self.say_why(end).await;
            }
        }
    }

    /// Reads one command and answers it.
    async fn serve_one(&mut self) -> Result<(), SessionEnd> {
        let limit_bytes = usize::try_from(self.snapshot.mysql.max_allowed_packet).unwrap_or(usize::MAX);
        self.sequence_shift = self.handle.unless_ended(self.client.read_packet(0, limit_bytes)).await??;
        let now_ms = self.proxy.clock.now_ms();
        self.handle.last_active_ms.store(now_ms, Ordering::Relaxed);
        let payload = self.client.payload();
        let counters = &self.worker.counters;
        counters.questions.bump();
        counters.frontend_bytes_received.add(payload.len() as u64 + 4);
        match payload.first().copied().and_then(Command::parse) {
            Some(Command::Query) => match self.look_up(now_ms) {
                Some(entry) => self.serve_hit(&entry, now_ms).await,
                None => {
                    Box::pin(self.statement(now_ms)).await?;
                    self.rest();
                    Ok(())
                }
            },
            command => {
                Box::pin(self.command(command, now_ms)).await?;
                self.rest();
                Ok(())
            }
        }
    }

    /// After a command off the hit path: what the next one may do, and what others see.
    fn rest(&mut self) {
        self.judge_cache_use();
        self.show_idle();
    }

    /// The status flags that this client's answers carry.
    fn status(&self) -> StatusFlags {
        let mut status = StatusFlags::empty();
        status.set(StatusFlags::SERVER_STATUS_AUTOCOMMIT, self.state.autocommit);
        status.set(StatusFlags::SERVER_STATUS_IN_TRANS, self.is_in_transaction());
        status
    }

    fn is_in_transaction(&self) -> bool {
        self.held.iter().any(|held| held.in_transaction)
    }

    /// Takes over the configuration in force, if it has changed.
    ///
    /// # Errors
    /// When the user is no longer active.
    fn take_over_configuration(&mut self) -> Result<(), SessionEnd> {
        if self.proxy.epoch() == self.snapshot.epoch.0 {
            return Ok(());
        }
        self.snapshot = self.proxy.snapshot();
        let Some(user) = self.snapshot.users.frontend(self.account.name.as_bytes()) else {
            return Err(EndReason::UserGone.into());
        };
        self.account.user = Arc::clone(user);
        self.account.password = self.proxy.backend_password(&self.snapshot, &self.account.name);
        self.renumber_environment();
        Ok(())
    }

    /// Tells the client, as far as it can still hear, why its session ends.
    async fn say_why(&mut self, end: SessionEnd) -> SessionEnd {
        let (code, message) = match &end {
            SessionEnd::Quit | SessionEnd::Gone | SessionEnd::Told(EndReason::Idle) => return end,
            SessionEnd::Told(EndReason::Killed) => {
                (ErrorCode::CONNECTION_KILLED, "Connection was killed".to_owned())
            }
            SessionEnd::Told(EndReason::UserGone) => {
                let name = &self.account.name;
                (ErrorCode::ACCESS_DENIED, format!("User '{name}' is no longer active"))
            }
            SessionEnd::Told(EndReason::Drained | EndReason::Stopped) => {
                (ErrorCode::SERVER_SHUTDOWN, "Server shutdown in progress".to_owned())
            }
            SessionEnd::Broken(NetError::PacketTooLarge { .. }) => (
                ErrorCode::NET_PACKET_TOO_LARGE,
                "Got a packet bigger than 'max_allowed_packet' bytes".to_owned(),
            ),
            SessionEnd::Broken(error) => {
                self.worker.counters.malformed_packets.bump();
                let address = &self.handle.address;
                tracing::warn!(client = %address.host, port = address.port, user = %self.account.name, %error,
                    "closed a client's connection");
                (ErrorCode::NET_PACKETS_OUT_OF_ORDER, "Got packets out of order".to_owned())
            }
        };
        self.worker.counters.generated_errors.bump();
        let goodbye = reply::err(1, code, &message);
        // A client that does not read must not keep its session alive.
        let patience = std::time::Duration::from_millis(200);
        drop(tokio::time::timeout(patience, self.client.write(&goodbye)).await);
        end
    }
}
