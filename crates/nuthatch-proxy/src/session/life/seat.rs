//! Where a session takes a command up and is done with it: what is counted, what it lets go of, and whether it may sit.

use std::sync::atomic::Ordering;

use nuthatch_wire::{Command, HEADER_LEN};

use crate::session::after::doubts::has_delays;
use crate::session::decide::cache_use::judge_cache_use_behind;
use crate::session::lease::show::show_idle;
use crate::session::parts::{Client, Dealings, Ground, Hands, Held};
use crate::session::whole::Session;
use crate::state::Errand;

/// A longer execution's room is given back when the session sits down.
const EXECUTION_BYTES_KEPT: usize = 1024;

/// Counts a command, which came then.
#[inline]
pub(crate) fn count_command(session: &Session, payload: &[u8], now_ms: u64) {
    let ground = &session.ground;
    ground.handle.last_active_ms.store(now_ms, Ordering::Relaxed);
    let counters = &ground.worker.counters;
    counters.questions.bump();
    counters.frontend_bytes_received.add((payload.len() + HEADER_LEN) as u64);
    let is_execution =
        |byte: &u8| *byte == Command::StmtExecute as u8 || *byte == Command::StmtBulkExecute as u8;
    if payload.first().is_some_and(is_execution) {
        counters.stmt_execute.bump();
    }
}

/// After a command off the hit path, a plain statement or not: what the next one may do, and what others see.
pub(crate) fn rest(session: &mut Session, was_plain: bool) {
    session.dealings.hands.set_errand(Errand::default());
    let Session { ground, account, context, cache, dealings, .. } = session;
    judge_cache_use_behind(ground, account, context, cache, dealings, was_plain);
    show_idle(&session.ground, &session.context, &session.dealings.hands);
    note_times(&session.ground, &session.dealings);
}

/// Since when it is idle, and since when a transaction is open.
fn note_times(ground: &Ground, dealings: &Dealings) {
    let handle = &ground.handle;
    let since_ms = handle.transaction_since_ms.load(Ordering::Relaxed);
    let is_open = dealings.are_in_transaction();
    if is_open != (since_ms > 0) {
        let came_ms = handle.last_active_ms.load(Ordering::Relaxed).max(1);
        handle.transaction_since_ms.store(if is_open { came_ms } else { 0 }, Ordering::Relaxed);
    }
    handle.last_active_ms.store(ground.latest_us / 1000, Ordering::Relaxed);
}

/// Whether nothing is left to do for the client at present.
pub(crate) fn may_sit_down(ground: &Ground, client: &mut Client) -> bool {
    !client.framed().has_more()
        && !client.framed_mut().stream().has_buffered()
        && client.framed_mut().socket().is_some_and(|socket| !socket.may_read())
        && ground.handle.ending().is_none()
        && !client.has_fallen()
}

/// Lets go of what it needs only while it runs, and says that it is on that seat; `false` when it must run on.
pub(crate) fn may_sit_at(session: &mut Session, seat: usize) -> bool {
    settle_down(session);
    let socket = session.client.framed_mut().socket();
    let is_quiet = socket.is_none_or(|socket| socket.watch_writing(false).is_ok());
    is_quiet && session.ground.handle.sits(&session.ground.worker, seat)
}

/// Whether a session that has answered a command on its seat may stay there; then it has let go of what it needs no longer.
pub(crate) fn may_stay(session: &mut Session) -> bool {
    let may = may_sit_down(&session.ground, &mut session.client)
        && !has_delays(&session.ground)
        && !session.dealings.hands.held.iter().any(Held::is_lost);
    if may {
        settle_down(session);
    }
    may
}

/// Lets go of what a session needs only for the command at hand, and watches over what it holds.
fn settle_down(session: &mut Session) {
    session.client.framed_mut().drop_packet();
    session.client.set_attributes(None);
    if let Some(prepared) = session.statements.prepared_mut() {
        prepared.forget_longer_than(EXECUTION_BYTES_KEPT);
    }
    if !session.dealings.hands.held.is_empty() {
        watch_held(&session.ground, &mut session.dealings.hands, true);
    }
}

/// Has the end of a connection that the session holds rouse it from its seat, or no longer.
pub(crate) fn watch_held(ground: &Ground, hands: &mut Hands, watches: bool) {
    for held in &mut hands.held {
        if let Some(socket) = held.connection.framed.socket() {
            socket.readiness().mourn(watches.then(|| ground.handle.rouser()));
        }
    }
}

/// Whether a server has closed a connection with state of the session: a client of that server would be closed too. A
/// connection that only remembers what the last statement left is let go; one whose transaction may be done again is kept for that, which the
/// next statement has done.
pub(crate) fn has_lost_what_it_holds(dealings: &mut Dealings) -> bool {
    dealings.hands.held.iter_mut().for_each(Held::close_if_lost);
    let has_lost_state =
        dealings.hands.held.iter().any(|held| held.is_lost() && dealings.results.is_state_of(held));
    dealings.hands.held.retain(|held| !held.is_lost());
    has_lost_state
}
