//! A session's loop: a command is read, answered, and the next is read, until its client has nothing more for it.

use std::sync::Arc;

use nuthatch_net::NetError;
use nuthatch_wire::{Command, ErrorCode};

use crate::roster::{EndReason, SessionEnd};
use crate::session::after::doubts::{end_delays, has_delays};
use crate::session::after::errors::refuse_malformed;
use crate::session::fall::PanicCounter;
use crate::session::inquiry::Unfinished;
use crate::session::life::answer::{begin, see_through};
use crate::session::life::arrival::attributes::take_attributes;
use crate::session::life::arrival::fast_forward::fast_forward;
use crate::session::life::arrival::hit::{look_up_at_hand, send_entry, serve_hit};
use crate::session::life::attend::refresh::refresh_if_due;
use crate::session::life::command::serve_command;
use crate::session::life::execution::{stmt_bulk_execute, stmt_execute};
use crate::session::life::seat::{count_command, has_lost_what_it_holds, may_sit_down, rest, watch_held};
use crate::session::life::statement::statement;
use crate::session::parts::{Account, Client, Ground};
use crate::session::statement::Asked;
use crate::session::way::reply;
use crate::session::whole::Session;
use crate::shared::answers::HitPlan;
use crate::worker::executor::give_way;

/// Commands that a client may send ahead and have answered before others have their turn.
const COMMANDS_AT_A_TIME: usize = 64;

/// How a session has run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ran {
    /// Its client has nothing more for it at present.
    MaySit,
    /// It is over.
    Ended,
}

/// Serves the client until it has nothing more for the session, or one side has had enough.
pub(crate) async fn run(session: &mut Session) -> Ran {
    let (shared, handle) = (Arc::clone(&session.ground.shared), Arc::clone(&session.ground.handle));
    let _counted = PanicCounter::new(&shared, session.ground.worker.id);
    handle.runs().await;
    watch_held(&session.ground, &mut session.dealings.hands, false);
    let Some(end) = serve(session).await else { return Ran::MaySit };
    let Session { ground, client, account, .. } = session;
    let end = say_why(ground, client, account, end).await;
    if !matches!(end, SessionEnd::Quit | SessionEnd::Told(EndReason::Drained)) {
        session.ground.worker.counters.clients_aborted.bump();
    }
    tracing::debug!(session = handle.id, ?end, "a session ended");
    Ran::Ended
}

/// Serves the client; `None` when it has nothing more at present.
async fn serve(session: &mut Session) -> Option<SessionEnd> {
    if (session.client.has_unsent() || session.client.has_fallen())
        && let Err(end) = Box::pin(send_rest(session)).await
    {
        return Some(end);
    }
    if session.account.user().fast_forward {
        return match may_sit_down(&session.ground, &mut session.client) {
            true => None,
            false => Some(Box::pin(fast_forward(session)).await),
        };
    }
    loop {
        if session.unfinished.is_none() && has_delays(&session.ground) {
            let Session { ground, account, context, dealings, .. } = session;
            Box::pin(end_delays(ground, account, context, dealings)).await;
        }
        for _ in 0..COMMANDS_AT_A_TIME {
            let unfinished = session.unfinished.take();
            if unfinished.is_none() && may_sit_down(&session.ground, &mut session.client) {
                return has_lost_what_it_holds(&mut session.dealings).then_some(SessionEnd::Gone);
            }
            if let Err(end) = serve_one(session, unfinished).await {
                return Some(end);
            }
        }
        give_way().await;
    }
}

/// Answers what is unfinished; else reads one command and answers it.
async fn serve_one(session: &mut Session, unfinished: Option<Unfinished>) -> Result<(), SessionEnd> {
    let (mut planned, mut inquiry) = (None, None);
    match unfinished {
        None => {
            if take_command(session).await? == Taken::AndServed {
                return Ok(());
            }
        }
        Some(Unfinished::Taken) => {}
        Some(Unfinished::Malformed) => return Box::pin(refuse_attributes(session)).await,
        Some(Unfinished::Planned(plan)) => planned = Some(plan),
        Some(Unfinished::Found(entry)) => {
            let now_ms = session.ground.latest_us / 1000;
            Box::pin(serve_hit(session, entry, now_ms)).await?;
            rest(session, true);
            return Ok(());
        }
        Some(Unfinished::Asked(under_way)) => inquiry = Some(under_way),
    }
    let now_ms = session.ground.latest_us / 1000;
    let mut asked: Option<Asked> = None;
    if inquiry.is_none() {
        let command = session.client.payload().first().copied().and_then(Command::parse);
        match command {
            Some(Command::Query) => statement(session, now_ms, planned, &mut asked).await?,
            Some(Command::StmtExecute) => stmt_execute(session, now_ms, planned, &mut asked).await?,
            Some(Command::StmtBulkExecute) => {
                Box::pin(stmt_bulk_execute(session, now_ms, &mut asked)).await?;
            }
            command => Box::pin(serve_command(session, command, now_ms)).await?,
        }
    }
    let what = inquiry.as_deref().map(|inquiry| &inquiry.asked).or(asked.as_ref());
    let was_plain = what.is_some_and(|asked| asked.plan.facts.is_plain);
    let execution = what.and_then(|asked| asked.request.execution());
    if let Some(asked) = asked {
        match begin(session, asked, now_ms) {
            Ok(begun) => inquiry = Some(begun),
            Err(entry) => Box::pin(serve_hit(session, entry, now_ms)).await?,
        }
    }
    let seen_through = match inquiry {
        Some(inquiry) => see_through(session, inquiry).await,
        None => Ok(()),
    };
    if let Some(id) = execution {
        session.statements.drop_long_data(id);
    }
    seen_through?;
    rest(session, was_plain);
    Ok(())
}

/// What became of a command that was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Taken {
    ToBeServed,
    AndServed,
}

/// Reads one command, and answers it if it is a hit, or cannot be read.
async fn take_command(session: &mut Session) -> Result<Taken, SessionEnd> {
    let limit_bytes = usize::try_from(session.ground.snapshot.mysql.max_allowed_packet).unwrap_or(usize::MAX);
    let Session { ground, client, .. } = session;
    let sequence_shift =
        match ground.handle.ending().is_none() && client.framed_mut().take_packet_at_hand(limit_bytes) {
            true => 0,
            false => ground.handle.unless_ended(client.framed_mut().read_packet(0, limit_bytes)).await??,
        };
    client.shift_sequence(sequence_shift);
    // Of what was looked up on the seat it is when it came.
    let now_us = match session.client.has_looked_up() {
        true => session.ground.latest_us,
        false => session.ground.look_at_clock(),
    };
    let now_ms = now_us / 1000;
    let payload = session.client.payload();
    count_command(session, payload, now_ms);
    let command = payload.first().copied().and_then(Command::parse);
    if session.client.has_attributes()
        && take_attributes(&mut session.client, &session.statements, command).is_err()
    {
        session.client.forget_looked_up();
        Box::pin(refuse_attributes(session)).await?;
        return Ok(Taken::AndServed);
    }
    if let Some(entry) = look_up_once(session, now_ms) {
        refresh_if_due(session, &entry, session.client.payload(), now_ms);
        Box::pin(serve_hit(session, entry, now_ms)).await?;
        return Ok(Taken::AndServed);
    }
    Ok(Taken::ToBeServed)
}

/// Refuses a command with attributes that no client sends.
async fn refuse_attributes(session: &mut Session) -> Result<(), SessionEnd> {
    let Session { ground, client, context, dealings, .. } = &mut *session;
    refuse_malformed(ground, client, context, dealings).await?;
    rest(session, false);
    Ok(())
}

/// Looks up the command at hand, unless that was done on the seat.
fn look_up_once(session: &mut Session, now_ms: u64) -> Option<nuthatch_cache::Entry<HitPlan>> {
    match session.client.takes_looked_up() {
        true => None,
        false => look_up_at_hand(session, now_ms),
    }
}

/// Tells the client, as far as it can still hear, why its session ends.
async fn say_why(ground: &Ground, client: &mut Client, account: &Account, end: SessionEnd) -> SessionEnd {
    let (code, message) = match &end {
        SessionEnd::Quit
        | SessionEnd::Gone
        | SessionEnd::Told(EndReason::Idle | EndReason::KilledByClient) => return end,
        SessionEnd::Told(reason @ (EndReason::LongTransaction | EndReason::IdleTransaction))
        | SessionEnd::InAnswer(reason @ (EndReason::LongTransaction | EndReason::IdleTransaction)) => {
            count_transaction(ground, account, *reason);
            return end;
        }
        SessionEnd::InAnswer(_) => return end,
        SessionEnd::Told(EndReason::Killed) => {
            (ErrorCode::CONNECTION_KILLED, "Connection was killed".to_owned())
        }
        SessionEnd::Told(EndReason::SwitchedOver) => {
            let pins = ground.handle.view.lock().pins.clone();
            let held = if pins.is_empty() { "a statement".to_owned() } else { pins };
            let message = format!(
                "Connection was closed for a switchover of its server, which could not wait for {held} any longer \
                 (mysql-switchover_pins_ms, mysql-switchover_transactions_ms)"
            );
            (ErrorCode::CONNECTION_KILLED, message)
        }
        SessionEnd::Told(EndReason::UserGone) => {
            let name = account.name();
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
            tracing::warn!(client = %address.host, port = address.port, user = %account.name(), %error,
                "closed a client's connection");
            (ErrorCode::NET_PACKETS_OUT_OF_ORDER, "Got packets out of order".to_owned())
        }
    };
    ground.worker.counters.generated_errors.bump();
    let goodbye = reply::err(1, code, &message);
    // A client that does not read must not keep its session alive.
    let patience = std::time::Duration::from_millis(200);
    let saying = tokio::time::timeout(patience, client.framed_mut().write(&goodbye));
    drop(ground.worker.with_tokio(saying).await);
    end
}

/// Its client is hung up on, as ProxySQL does it.
fn count_transaction(ground: &Ground, account: &Account, reason: EndReason) {
    let counters = &ground.worker.counters;
    let (counter, variable) = match reason {
        EndReason::LongTransaction => (&counters.long_transactions, "mysql-max_transaction_time"),
        _ => (&counters.idle_transactions, "mysql-max_transaction_idle_time"),
    };
    counter.bump();
    let address = &ground.handle.address();
    tracing::warn!(client = %address.host, port = address.port, user = %account.name(), limit = variable,
        "closed a client's connection, whose transaction took too long");
}

/// Sends what the client did not take while the session sat.
pub(crate) async fn send_rest(session: &mut Session) -> Result<(), SessionEnd> {
    if session.client.has_fallen() {
        return Err(SessionEnd::Gone);
    }
    match session.client.take_unsent() {
        Some(unsent) => send_entry(session, &unsent.entry, unsent.written).await,
        None => Ok(()),
    }
}
