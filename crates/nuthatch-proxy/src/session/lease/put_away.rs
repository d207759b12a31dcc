//! Connections that a session is done with: kept while there is a reason, put back, reset or closed.

use std::sync::Arc;
use std::time::Duration;

use nuthatch_sql::Leaves;
use tokio::time::timeout;

use crate::backend::{Abandoned, Connection, Reset};
use crate::exact::CodeOf;
use crate::session::lease::inheritance::pin_of_inheritance;
use crate::session::parts::{
    Account, CODE, Context, Dealings, Ground, Hands, Held, InsertId, Outcome, Statements,
};
use crate::session::way::Trouble;
use crate::stats::pins::Pins;

/// Reasons to hold a connection whose cause a reset does not end for certain. MariaDB 10.11 keeps profiles, and goes on making them.
const LASTING: Pins =
    Pins::XA.with(Pins::REPLICATION).with(Pins::UNKNOWN).with(Pins::NEXT_TRANSACTION).with(Pins::PROFILES);

/// Puts the connection back; one that carries state of the session is reset first, or closed.
pub(crate) fn put_back(ground: &Ground, held: Held) {
    if !held.in_transaction() && !held.pins().leaves_state_behind() && !held.is_tainted() {
        ground.shared.hostgroups.check_in(held.connection, ground.latest_us / 1000);
    } else {
        reset_and_put_back(ground, held);
    }
}

/// Whether nothing but the configuration keeps the connection, and what the last statement left, and its hostgroup is held.
pub(crate) fn is_wanted_by_hold(ground: &Ground, held: &Held) -> bool {
    let pins = held.pins();
    pins.are_configured()
        && pins.without(Pins::CONFIGURED).without(Pins::PASSING).is_empty()
        && ground.shared.hostgroups.is_held(ground.worker.id, held.hostgroup)
}

/// Has the connection reset, and put back then; closes it where that is not enough, or not wanted.
fn reset_and_put_back(ground: &Ground, held: Held) {
    let is_enough = !held.in_transaction()
        && held.pins().without(LASTING) == held.pins()
        && reset_ends_stored_code(ground, &held);
    let Held { mut connection, .. } = held;
    if !is_enough || !connection.can_be_reset() || connection.control.has_kill() {
        return;
    }
    let Some(turn) = connection.server().begin_reset(ground.snapshot.mysql.connpoll_reset_queue_length)
    else {
        return;
    };
    let (shared, worker) = (Arc::clone(&ground.shared), Arc::clone(&ground.worker));
    let patience = Duration::from_millis(ground.snapshot.mysql.connect_timeout_server);
    let _detached = ground.worker.spawn(async move {
        let outcome = timeout(patience, connection.reset()).await;
        drop(turn);
        if let Ok(Ok(Reset::Done)) = outcome {
            worker.counters.resets.bump();
            shared.hostgroups.check_in(connection, shared.clock.now_ms());
        }
    });
}

/// Closes a connection on which a statement of the session may still run, and has the server end that first.
pub(crate) fn abandon(ground: &Ground, account: &Account, connection: Box<Connection>) {
    let is_wanted = ground.snapshot.mysql.kill_backend_connection_when_disconnect;
    if !is_wanted || connection.control.expects_kill() {
        return;
    }
    let (shared, worker, snapshot) =
        (Arc::clone(&ground.shared), Arc::clone(&ground.worker), Arc::clone(&ground.snapshot));
    let abandoned = Abandoned { connection, password: account.password().cloned() };
    let _detached = ground.worker.spawn(async move {
        shared.hostgroups.end_abandoned(abandoned, &worker, &snapshot.mysql, &shared.clock).await;
    });
}

/// Keeps, puts back or closes a connection after what was done with it. One that is in the middle of an answer, or
/// failed, is closed; if it carried state of the session, the session cannot go on.
pub(crate) fn put_away(
    ground: &Ground,
    account: &Account,
    context: &Context,
    dealings: &mut Dealings,
    held: Held,
    trouble: Option<&Trouble>,
) {
    ground.handle.view.lock().running = None;
    held.connection.control.work(false);
    if trouble.is_none_or(Trouble::leaves_connection_usable) && held.connection.ahead.is_empty() {
        settle(ground, context, dealings, held);
    } else {
        if dealings.results.is_state_of(&held) {
            dealings.hands.lose_state();
        }
        if held.ends_transaction() {
            dealings.hands.note_outcome(Outcome::RolledBack);
        }
        if dealings.results.insert_id_is_at(held.connection.thread_id) {
            dealings.results.set_insert_id(InsertId::default());
        }
        if let Some(Trouble::Lost(..)) = trouble {
            ground.shared.hostgroups.note_lost(held.connection.server(), ground.shared.clock.now_ms());
            dealings.hands.ask_others_first();
        }
        match trouble {
            // The session ends, or does not wait any longer, while the server is at work.
            Some(Trouble::End(_) | Trouble::Late(_)) => abandon(ground, account, held.connection),
            _ => drop(held),
        }
    }
}

/// Keeps the connection while there is a reason, and puts it back otherwise.
pub(crate) fn settle(ground: &Ground, context: &Context, dealings: &mut Dealings, mut held: Held) {
    let running = ground.handle.view.lock().running.take();
    held.connection.control.work(false);
    held.unpin(Pins::OLDER_DEFAULTS);
    held.pin(pin_of_inheritance(context, &held));
    held.taint_if_apart();
    let reasons = held.reasons();
    if !reasons.is_empty() {
        show_reasons(ground, &mut held);
        dealings.hands.held.push(held);
    } else if held.is_tainted() {
        dealings.hands.let_go_of(None);
        reset_and_put_back(ground, held);
    } else {
        dealings.diagnostics.leave(held.connection.thread_id);
        let left = running.map(|running| (running.server, held.hostgroup, running.thread_id));
        dealings.hands.let_go_of(left);
        ground.shared.hostgroups.check_in(held.connection, ground.latest_us / 1000);
    }
}

/// The connection is kept: counts for what, and shows it to those who wait until nothing of sessions is on any.
pub(crate) fn show_reasons(ground: &Ground, held: &mut Held) {
    ground.worker.counters.pins.bump();
    held.connection.control.keep_for(held.reasons());
    ground.worker.pinned_by.count(held.count_reasons());
}

/// Lets go of a connection on which the proxy has asked something itself: settles it, or puts it away if there was trouble.
pub(crate) fn let_go_after(
    ground: &Ground,
    account: &Account,
    context: &Context,
    dealings: &mut Dealings,
    held: Held,
    trouble: Option<&Trouble>,
) {
    match trouble {
        None => settle(ground, context, dealings, held),
        trouble => put_away(ground, account, context, dealings, held, trouble),
    }
}

/// Gives back everything, whatever it was held for. What carries state of the session is reset first, or closed.
pub(crate) fn let_go(ground: &Ground, hands: &mut Hands, statements: &mut Statements) {
    for held in std::mem::take(&mut hands.held) {
        put_back(ground, held);
    }
    statements.forget_all();
}

/// Whether a reset ends all that stored code may have left on the connection.
fn reset_ends_stored_code(ground: &Ground, held: &Held) -> bool {
    let may_have_run = held.pins().without(CODE) != held.pins() || held.is_tainted();
    if !may_have_run {
        return true;
    }
    let catalogues = ground.shared.exact.catalogues.look();
    let CodeOf::Known(code, _) = catalogues.stored_code(held.hostgroup) else {
        ground.shared.exact.want_stored_code();
        return false;
    };
    code.most() < Leaves::Lasting
}
