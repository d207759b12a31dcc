//! One client's session: from its login to its last command.
//!
//! A session waits in its worker's lobby and is attended to there; what is not a hit makes it a task, which
//! reads a command, answers it, reads the next, and sits down again when its client has nothing more for it. Its state is a value
//! ([`SessionState`]); a backend connection is lent to it for one statement and brought into that state first, unless the
//! session *holds* connections ([`Held`]) for a named reason ([`Pins`]).
//!
//! The life of a statement, each step with its file:
//! 1. `look_up` (arrive/hit.rs): key, cache, judgement; on a hit the stored packets go out and that is all.
//! 2. `plan` (decide/plan.rs): digest, class, rules, hostgroup.
//! 3. `answer_alone` (decide/alone.rs): what needs no server.
//! 4. `lease` (ask/lease.rs): a held connection or one from the pool, brought into the session's state.
//! 5. `pass_answer` (way/relay.rs): the answer to the client with bounded memory, teed into a capture.
//! 6. `learn` (after/learn.rs): what the statement did to the session; the connection is kept or put back.
//!
//! A session is made of [parts](parts); what is found out of a statement by its text alone is in `statement/`; the steps stand in the
//! folders of the life above, `arrive`, `decide`, `prepare` (prepared statements), `ask`, `after`.
//!
//! Everything off the hit path is boxed, so that the task stays small.

mod after;
mod arrive;
mod ask;
mod decide;
mod fall;
mod parts;
mod prepare;
mod statement;
mod way;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use nuthatch_net::NetError;
use nuthatch_sql::{Lexing, ServerFlavor};
use nuthatch_wire::{Command, ErrorCode, StatusFlags};
use parts::Account;
use parts::CacheUse;
use parts::Client;
use parts::Context;
use parts::Diagnostics;
use parts::Ground;
use parts::Hands;
use parts::Results;
use parts::Statements;
use parts::Transaction;
use way::reply;

use crate::roster::{EndReason, SessionEnd};
use crate::shared::answers::HitPlan;
use crate::state::Errand;
use crate::worker::executor::give_way;

pub(crate) use arrive::attend::Attended;
pub(crate) use arrive::login::log_in;
pub(crate) use arrive::login::refuse_for_room;
pub use decide::explain::Finding;
pub(crate) use decide::explain::explain_for_operator;
pub(crate) use fall::PanicCounter;
pub(crate) use statement::Memo;

/// Commands that a client may send ahead and have answered before others have their turn.
const COMMANDS_AT_A_TIME: usize = 64;

/// A logged-in client. See the module's doc.
#[derive(Debug)]
pub(crate) struct Session {
    ground: Ground,
    client: Client,
    account: Account,
    context: Context,
    cache: CacheUse,
    transaction: Transaction,
    hands: Hands,
    results: Results,
    diagnostics: Diagnostics,
    statements: Statements,
}

/// How a session has run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ran {
    /// Its client has nothing more for it at present.
    MaySit,
    /// It is over.
    Ended,
}

impl Session {
    /// Serves the client until it has nothing more for the session, or one side has had enough.
    pub(crate) async fn run(&mut self) -> Ran {
        let (shared, handle) = (Arc::clone(&self.ground.shared), Arc::clone(&self.ground.handle));
        let _counted = PanicCounter::new(&shared, self.ground.worker.id);
        handle.runs().await;
        self.watch_held(false);
        let Some(end) = self.serve().await else { return Ran::MaySit };
        let end = say_why(&self.ground, &mut self.client, &self.account, end).await;
        if !matches!(end, SessionEnd::Quit | SessionEnd::Told(EndReason::Drained)) {
            self.ground.worker.counters.clients_aborted.bump();
        }
        tracing::debug!(session = handle.id, ?end, "a session ended");
        Ran::Ended
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
        let limit_bytes =
            usize::try_from(self.ground.snapshot.mysql.max_allowed_packet).unwrap_or(usize::MAX);
        self.client.sequence_shift =
            self.ground.handle.unless_ended(self.client.framed.read_packet(0, limit_bytes)).await??;
        let now_ms = look_at_clock(&mut self.ground) / 1000;
        self.ground.handle.last_active_ms.store(now_ms, Ordering::Relaxed);
        let payload = self.client.framed.payload();
        let counters = &self.ground.worker.counters;
        counters.questions.bump();
        counters.frontend_bytes_received.add(payload.len() as u64 + 4);
        let command = payload.first().copied().and_then(Command::parse);
        if matches!(command, Some(Command::StmtExecute | Command::StmtBulkExecute)) {
            counters.stmt_execute.bump();
        }
        if self.client.has_attributes() && self.take_attributes(command).is_err() {
            self.client.has_looked_up = false;
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
        match std::mem::take(&mut self.client.has_looked_up) {
            true => None,
            false => self.look_up_at_hand(now_ms),
        }
    }

    /// After a command off the hit path: what the next one may do, and what others see.
    fn rest(&mut self) {
        self.hands.errand = Errand::default();
        self.judge_cache_use();
        self.show_idle();
    }

    /// The status flags that this client's answers carry.
    fn status(&self) -> StatusFlags {
        let mut status = StatusFlags::empty();
        status.set(StatusFlags::SERVER_STATUS_AUTOCOMMIT, self.context.state.autocommit);
        status.set(StatusFlags::SERVER_STATUS_IN_TRANS, is_in_transaction(&self.transaction, &self.hands));
        let Lexing { ansi_quotes, no_backslash_escapes, .. } = self.context.lexing;
        // MySQL never tells of it.
        let is_mariadb = matches!(self.context.lexing.server, ServerFlavor::MariaDb(_));
        status.set(StatusFlags::SERVER_STATUS_ANSI_QUOTES, ansi_quotes && is_mariadb);
        status.set(StatusFlags::SERVER_STATUS_NO_BACKSLASH_ESCAPES, no_backslash_escapes);
        status
    }

    /// Takes over the configuration in force, if it has changed.
    ///
    /// # Errors
    /// When the user is no longer active.
    fn take_over_configuration(&mut self) -> Result<(), SessionEnd> {
        if self.ground.shared.configuration.epoch() == self.ground.snapshot.epoch.0 {
            return Ok(());
        }
        self.ground.snapshot = self.ground.shared.configuration.snapshot();
        let Some(user) = self.ground.snapshot.users.frontend(self.account.name.as_bytes()) else {
            return Err(EndReason::UserGone.into());
        };
        self.account.user = Arc::clone(user);
        self.account.password =
            self.ground.shared.doors.backend_password(&self.ground.snapshot, &self.account.name);
        self.take_over_multiplexing();
        self.renumber_environment();
        Ok(())
    }
}

/// Microseconds since the start of the proxy; what follows in this command goes by it.
fn look_at_clock(ground: &mut Ground) -> u64 {
    ground.latest_us = ground.shared.clock.now_us();
    ground.latest_us
}

fn is_in_transaction(transaction: &Transaction, hands: &Hands) -> bool {
    transaction.beginning.is_held_back() || hands.held.iter().any(|held| held.in_transaction)
}

/// Tells the client, as far as it can still hear, why its session ends.
async fn say_why(ground: &Ground, client: &mut Client, account: &Account, end: SessionEnd) -> SessionEnd {
    let (code, message) = match &end {
        SessionEnd::Quit
        | SessionEnd::Gone
        | SessionEnd::Told(EndReason::Idle | EndReason::KilledByClient) => return end,
        SessionEnd::Told(EndReason::Killed) => {
            (ErrorCode::CONNECTION_KILLED, "Connection was killed".to_owned())
        }
        SessionEnd::Told(EndReason::UserGone) => {
            let name = &account.name;
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
            ground.worker.counters.malformed_packets.bump();
            let address = &ground.handle.address();
            tracing::warn!(client = %address.host, port = address.port, user = %account.name, %error,
                "closed a client's connection");
            (ErrorCode::NET_PACKETS_OUT_OF_ORDER, "Got packets out of order".to_owned())
        }
    };
    ground.worker.counters.generated_errors.bump();
    let goodbye = reply::err(1, code, &message);
    // A client that does not read must not keep its session alive.
    let patience = std::time::Duration::from_millis(200);
    let saying = tokio::time::timeout(patience, client.framed.write(&goodbye));
    drop(ground.worker.with_tokio(saying).await);
    end
}
