//! One client's session: from its login to its last command.
//!
//! A session waits in its worker's lobby and is attended to there; what is not a hit makes it a task, which
//! reads a command, answers it, reads the next, and sits down again when its client has nothing more for it. Its state is a value
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
//! Everything off the hit path is boxed, so that the task stays small.

mod alone;
mod answer;
mod attend;
mod attributes;
mod begin;
mod bulk;
mod cache_use;
mod capture;
mod change_user;
mod command;
mod connection_numbers;
mod cursor;
mod delay;
mod diagnostics;
mod errand;
mod exact;
mod execute;
mod execution;
mod explain;
mod fall;
mod fast_forward;
mod found_rows;
mod handlers;
mod hit;
mod inheritance;
mod insert_id;
mod internal;
mod kill;
mod learn;
mod lease;
mod login;
mod memo;
mod multiplexing;
mod named_locks;
mod own_values;
mod parameters;
mod passage;
mod plan;
mod preparation_state;
mod prepared;
mod query_cache;
mod relay;
mod reply;
mod reset;
mod set;
mod statement;
mod statement_room;
mod stored_code;
mod temporary;
mod text_prepared;
mod tracker;
mod transcode;
mod trouble;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use nuthatch_config::{HostgroupId, QueryCacheType, Snapshot, User};
use nuthatch_net::{BackendPassword, Framed, NetError};
use nuthatch_sql::{Lexing, ServerFlavor};
use nuthatch_wire::{Attributes, CapabilityFlags, Command, ErrorCode, Nonce, StatusFlags};

use crate::answers::HitPlan;
use crate::backend::Server;
use crate::exact::Touched;
use crate::executor::give_way;
use crate::roster::{EndReason, SessionEnd, SessionHandle};
use crate::shared::Shared;
use crate::state::{Charset, Errand, Found, SessionState};
use crate::worker::Worker;

pub(crate) use attend::Attended;
use begin::Beginning;
use cache_use::Off;
use diagnostics::Diagnostics;
pub use explain::Finding;
pub(crate) use explain::explain_for_operator;
pub(crate) use fall::PanicCounter;
use hit::Unsent;
use inheritance::Begun;
use insert_id::InsertId;
use lease::Held;
use login::UserPlace;
pub(crate) use login::{log_in, refuse_for_room};
pub(crate) use memo::Memo;
use prepared::Prepared;
use text_prepared::Names;

/// Commands that a client may send ahead and have answered before others have their turn.
const COMMANDS_AT_A_TIME: usize = 64;

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
    found_rows: Found,
}

/// A connection that the session let go of: its server, its hostgroup, the server's thread.
type Left = (Arc<Server>, HostgroupId, u32);

/// A logged-in client. See the module's doc.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a session")]
pub(crate) struct Session {
    shared: Arc<Shared>,
    worker: Arc<Worker>,
    /// What its worker remembers of statements.
    memo: Arc<Memo>,
    handle: Arc<SessionHandle>,
    client: Framed,
    user_place: UserPlace,
    /// By how much answers are numbered higher than from 1: the command's frames but one.
    sequence_shift: u8,
    /// The server's thread that ran the last statement; `None` when no server did.
    last_ran_on: Option<u32>,
    /// The server's thread whose `FOUND_ROWS()` is the session's, as far as the session used it last.
    found_rows_on: Option<u32>,
    account: Account,
    capabilities: CapabilityFlags,
    /// What the client's first password answer was computed with; COM_CHANGE_USER goes by it again.
    nonce: Nonce,
    shape: CapabilityFlags,
    state: SessionState,
    /// What COM_RESET_CONNECTION goes back to.
    login_charset: Charset,
    /// How its server reads its statements.
    lexing: Lexing,
    /// What it began with.
    begun: Begun,
    snapshot: Arc<Snapshot>,
    /// Number of the session's environment; `None` when the table of environments is full.
    environment: Option<u32>,
    /// Its own `query_cache_type`, if it has set one.
    query_cache_type: Option<QueryCacheType>,
    /// *May use the cache*: tested first by the hit path, worked out anew by `cache_use`.
    may_use_cache: bool,
    /// The same for exact entries.
    may_use_exact: bool,
    /// The hostgroup that all its statements go to at present, whatever the rules say.
    answers_from: Option<HostgroupId>,
    /// Why it may not, where it may not.
    off: Off,
    held: Vec<Held>,
    last: LastResults,
    /// The server's thread that has the warnings and errors of the last statement, if the session holds it.
    diagnostics_on: Option<u32>,
    /// Where the session left them, having fetched them.
    left_on: Option<Left>,
    /// The connection that was let go of last.
    left: Option<Left>,
    /// The statement at hand leaves those of the one before alone, unless it has some.
    leaves_diagnostics: bool,
    /// What a SET CHARACTER SET made of the results' character set.
    results_charset: Option<Charset>,
    /// Warnings and errors of the last statement, if the session has them itself.
    diagnostics: Option<Box<Diagnostics>>,
    insert_id: InsertId,
    wrote_in_transaction: bool,
    beginning: Beginning,
    /// What its open transaction has written.
    touched: Touched,
    /// It has set `session_track_state_change`.
    is_told_of_changes: bool,
    /// What the statement at hand asks of a connection.
    errand: Errand,
    /// A connection with state of the session was lost: the client must not go on as if it were still there.
    has_lost_state: bool,
    next_flag_in: u32,
    prepared: Option<Box<Prepared>>,
    names: Option<Box<Names>>,
    /// The execution at hand, as the cache knows it.
    execution: Vec<u8>,
    /// The same as other clients would send it: of a client whose statements come with attributes.
    plain_execution: Vec<u8>,
    /// Those of the statement at hand.
    attributes: Option<Box<Attributes>>,
    /// The rest of an answer that the client has not taken yet.
    unsent: Option<Box<Unsent>>,
    /// The command at hand was looked up on the seat, in vain.
    has_looked_up: bool,
    /// When the clock was looked at last.
    latest_us: u64,
    /// It panicked on its seat.
    has_fallen: bool,
}

impl Session {
    /// Serves the client until it has nothing more for the session, which is given back then, or one side has had enough.
    pub(crate) async fn run(mut self: Box<Self>) -> Option<Box<Self>> {
        let (shared, handle) = (Arc::clone(&self.shared), Arc::clone(&self.handle));
        let _counted = PanicCounter::new(&shared, self.worker.id);
        handle.runs().await;
        self.watch_held(false);
        let Some(end) = self.serve().await else { return Some(self) };
        let end = self.say_why(end).await;
        if !matches!(end, SessionEnd::Quit | SessionEnd::Told(EndReason::Drained)) {
            self.worker.counters.clients_aborted.bump();
        }
        tracing::debug!(session = handle.id, ?end, "a session ended");
        None
    }

    /// Serves the client; `None` when it has nothing more at present.
    async fn serve(&mut self) -> Option<SessionEnd> {
        if let Err(end) = self.send_rest().await {
            return Some(end);
        }
        if self.account.user.fast_forward {
            return match self.may_sit_down() {
                true => None,
                false => Some(Box::pin(self.fast_forward()).await),
            };
        }
        loop {
            self.end_delays().await;
            for _ in 0..COMMANDS_AT_A_TIME {
                if self.may_sit_down() {
                    return self.has_lost_what_it_holds().then_some(SessionEnd::Gone);
                }
                if let Err(end) = self.serve_one().await {
                    return Some(end);
                }
            }
            give_way().await;
        }
    }

    /// Reads one command and answers it.
    async fn serve_one(&mut self) -> Result<(), SessionEnd> {
        let limit_bytes = usize::try_from(self.snapshot.mysql.max_allowed_packet).unwrap_or(usize::MAX);
        self.sequence_shift = self.handle.unless_ended(self.client.read_packet(0, limit_bytes)).await??;
        let now_ms = self.look_at_clock() / 1000;
        self.handle.last_active_ms.store(now_ms, Ordering::Relaxed);
        let payload = self.client.payload();
        let counters = &self.worker.counters;
        counters.questions.bump();
        counters.frontend_bytes_received.add(payload.len() as u64 + 4);
        let command = payload.first().copied().and_then(Command::parse);
        if matches!(command, Some(Command::StmtExecute | Command::StmtBulkExecute)) {
            counters.stmt_execute.bump();
        }
        if self.has_attributes() && self.take_attributes(command).is_err() {
            self.has_looked_up = false;
            self.refuse_malformed().await?;
            self.rest();
            return Ok(());
        }
        if let Some(entry) = self.look_up_once(now_ms) {
            return self.serve_hit(&entry, now_ms).await;
        }
        match command {
            Some(Command::Query) => Box::pin(self.statement(now_ms)).await?,
            command => Box::pin(self.command(command, now_ms)).await?,
        }
        self.rest();
        Ok(())
    }

    /// Looks up the command at hand, unless that was done on the seat.
    fn look_up_once(&mut self, now_ms: u64) -> Option<nuthatch_cache::Entry<Arc<HitPlan>>> {
        match std::mem::take(&mut self.has_looked_up) {
            true => None,
            false => self.look_up_at_hand(now_ms),
        }
    }

    /// Microseconds since the start of the proxy; what follows in this command goes by it.
    fn look_at_clock(&mut self) -> u64 {
        self.latest_us = self.shared.clock.now_us();
        self.latest_us
    }

    /// After a command off the hit path: what the next one may do, and what others see.
    fn rest(&mut self) {
        self.errand = Errand::default();
        self.judge_cache_use();
        self.show_idle();
    }

    /// The status flags that this client's answers carry.
    fn status(&self) -> StatusFlags {
        let mut status = StatusFlags::empty();
        status.set(StatusFlags::SERVER_STATUS_AUTOCOMMIT, self.state.autocommit);
        status.set(StatusFlags::SERVER_STATUS_IN_TRANS, self.is_in_transaction());
        let Lexing { ansi_quotes, no_backslash_escapes, .. } = self.lexing;
        // MySQL never tells of it.
        let is_mariadb = matches!(self.lexing.server, ServerFlavor::MariaDb(_));
        status.set(StatusFlags::SERVER_STATUS_ANSI_QUOTES, ansi_quotes && is_mariadb);
        status.set(StatusFlags::SERVER_STATUS_NO_BACKSLASH_ESCAPES, no_backslash_escapes);
        status
    }

    fn is_in_transaction(&self) -> bool {
        self.beginning.is_held_back() || self.held.iter().any(|held| held.in_transaction)
    }

    /// Takes over the configuration in force, if it has changed.
    ///
    /// # Errors
    /// When the user is no longer active.
    fn take_over_configuration(&mut self) -> Result<(), SessionEnd> {
        if self.shared.configuration.epoch() == self.snapshot.epoch.0 {
            return Ok(());
        }
        self.snapshot = self.shared.configuration.snapshot();
        let Some(user) = self.snapshot.users.frontend(self.account.name.as_bytes()) else {
            return Err(EndReason::UserGone.into());
        };
        self.account.user = Arc::clone(user);
        self.account.password = self.shared.doors.backend_password(&self.snapshot, &self.account.name);
        self.take_over_multiplexing();
        self.renumber_environment();
        Ok(())
    }

    /// Tells the client, as far as it can still hear, why its session ends.
    async fn say_why(&mut self, end: SessionEnd) -> SessionEnd {
        let (code, message) = match &end {
            SessionEnd::Quit
            | SessionEnd::Gone
            | SessionEnd::Told(EndReason::Idle | EndReason::KilledByClient) => return end,
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
                let address = &self.handle.address();
                tracing::warn!(client = %address.host, port = address.port, user = %self.account.name, %error,
                    "closed a client's connection");
                (ErrorCode::NET_PACKETS_OUT_OF_ORDER, "Got packets out of order".to_owned())
            }
        };
        self.worker.counters.generated_errors.bump();
        let goodbye = reply::err(1, code, &message);
        // A client that does not read must not keep its session alive.
        let patience = std::time::Duration::from_millis(200);
        let saying = tokio::time::timeout(patience, self.client.write(&goodbye));
        drop(self.worker.with_tokio(saying).await);
        end
    }
}
