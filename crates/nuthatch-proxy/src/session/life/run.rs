//! A session's loop: a command is read, answered, and the next is read, until its client has nothing more for it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use nuthatch_net::NetError;
use nuthatch_wire::{Command, ErrorCode};

use crate::roster::{EndReason, SessionEnd};
use crate::session::after::doubts::{end_delays, has_delays};
use crate::session::after::errors::refuse_malformed;
use crate::session::decide::cache_use::judge_cache_use_behind;
use crate::session::fall::PanicCounter;
use crate::session::lease::show::show_idle;
use crate::session::life::answer::answer;
use crate::session::life::arrival::attend::{has_lost_what_it_holds, may_sit_down, send_rest, watch_held};
use crate::session::life::arrival::attributes::take_attributes;
use crate::session::life::arrival::fast_forward::fast_forward;
use crate::session::life::arrival::hit::{look_up_at_hand, serve_hit};
use crate::session::life::command::serve_command;
use crate::session::life::execution::{stmt_bulk_execute, stmt_execute};
use crate::session::life::statement::statement;
use crate::session::parts::{Account, Client, Ground};
use crate::session::statement::{Asked, Request};
use crate::session::way::reply;
use crate::session::whole::Session;
use crate::shared::answers::HitPlan;
use crate::state::Errand;
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
    if (session.client.unsent.is_some() || session.client.has_fallen)
        && let Err(end) = Box::pin(send_rest(session)).await
    {
        return Some(end);
    }
    if session.account.user.fast_forward {
        return match may_sit_down(&session.ground, &mut session.client) {
            true => None,
            false => Some(Box::pin(fast_forward(session)).await),
        };
    }
    loop {
        if has_delays(&session.ground) {
            let Session { ground, account, context, dealings, .. } = session;
            Box::pin(end_delays(ground, account, context, dealings)).await;
        }
        for _ in 0..COMMANDS_AT_A_TIME {
            if may_sit_down(&session.ground, &mut session.client) {
                return has_lost_what_it_holds(&mut session.dealings).then_some(SessionEnd::Gone);
            }
            if let Err(end) = serve_one(session).await {
                return Some(end);
            }
        }
        give_way().await;
    }
}

/// Reads one command and answers it.
async fn serve_one(session: &mut Session) -> Result<(), SessionEnd> {
    let limit_bytes = usize::try_from(session.ground.snapshot.mysql.max_allowed_packet).unwrap_or(usize::MAX);
    let Session { ground, client, .. } = session;
    client.sequence_shift =
        match ground.handle.ending().is_none() && client.framed.take_packet_at_hand(limit_bytes) {
            true => 0,
            false => ground.handle.unless_ended(client.framed.read_packet(0, limit_bytes)).await??,
        };
    // Of what was looked up on the seat it is when it came.
    let now_us = match session.client.has_looked_up {
        true => session.ground.latest_us,
        false => session.ground.look_at_clock(),
    };
    let now_ms = now_us / 1000;
    session.ground.handle.last_active_ms.store(now_ms, Ordering::Relaxed);
    let payload = session.client.framed.payload();
    let counters = &session.ground.worker.counters;
    counters.questions.bump();
    counters.frontend_bytes_received.add(payload.len() as u64 + 4);
    let command = payload.first().copied().and_then(Command::parse);
    if matches!(command, Some(Command::StmtExecute | Command::StmtBulkExecute)) {
        counters.stmt_execute.bump();
    }
    if session.client.has_attributes()
        && take_attributes(&mut session.client, &session.statements, command).is_err()
    {
        session.client.has_looked_up = false;
        let Session { ground, client, context, dealings, .. } = session;
        Box::pin(refuse_malformed(ground, client, context, dealings)).await?;
        rest(session, false);
        return Ok(());
    }
    if let Some(entry) = look_up_once(session, now_ms) {
        return Box::pin(serve_hit(session, entry, now_ms)).await;
    }
    let mut asked: Option<Asked> = None;
    match command {
        Some(Command::Query) => statement(session, now_ms, &mut asked).await?,
        Some(Command::StmtExecute) => stmt_execute(session, now_ms, &mut asked).await?,
        Some(Command::StmtBulkExecute) => {
            Box::pin(stmt_bulk_execute(session, now_ms, &mut asked)).await?;
        }
        command => Box::pin(serve_command(session, command, now_ms)).await?,
    }
    if let Some(asked) = &asked {
        let answered = answer(session, asked, now_ms).await;
        if let Request::Execution { id, .. } = asked.request {
            session.statements.drop_long_data(id);
        }
        answered?;
    }
    rest(session, asked.is_some_and(|asked| asked.plan.facts.is_plain));
    Ok(())
}

/// Looks up the command at hand, unless that was done on the seat.
fn look_up_once(session: &mut Session, now_ms: u64) -> Option<nuthatch_cache::Entry<Arc<HitPlan>>> {
    match std::mem::take(&mut session.client.has_looked_up) {
        true => None,
        false => look_up_at_hand(session, now_ms),
    }
}

/// After a command off the hit path, a plain statement or not: what the next one may do, and what others see.
fn rest(session: &mut Session, was_plain: bool) {
    session.dealings.hands.errand = Errand::default();
    let Session { ground, account, context, cache, dealings, .. } = session;
    judge_cache_use_behind(ground, account, context, cache, dealings, was_plain);
    show_idle(&session.ground, &session.context, &session.dealings.hands);
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
