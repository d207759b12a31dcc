//! A statement for which the server or its connection must be waited for more than once: a connection to be made or brought into the
//! session's state, another one where the first was dead, questions behind the answer.

use std::sync::Arc;

use nuthatch_wire::AnswerEnd;

use crate::backend::CheckOutError;
use crate::roster::SessionEnd;
use crate::session::before::flight::start_flight;
use crate::session::inquiry::{Inquiry, capture_of};
use crate::session::lease::causal::may_be_asked_of;
use crate::session::lease::check_out::{Leased, State, finish_lease, lease_at_once, may_wait_instead};
use crate::session::lease::put_away::put_away;
use crate::session::lease::question::{order_and_hear, way};
use crate::session::life::answer::heard::{let_go_of, take_note};
use crate::session::life::answer::replay::{LostTransaction, replay};
use crate::session::life::sent_execution::{ask_after_execution, execute_on};
use crate::session::life::sent_text::{ask_after_text, query_on};
use crate::session::parts::{Around, Dealings, Given, Ground, Hands, Held, Outcome};
use crate::session::statement::{Asked, Plan, Request};
use crate::session::way::{Sent, Trouble};
use crate::session::whole::Session;
use crate::stats::pins::Pins;

/// Ends the transactions on other connections that the statement ends too.
pub(super) async fn end_others(session: &mut Session, asked: &Asked) -> Result<(), Trouble> {
    let Asked { request, plan, .. } = asked;
    let text: Arc<[u8]> = match request {
        Request::Text => session.statements.executed_text(&session.client, plan).into(),
        Request::Execution { text, .. } => Arc::clone(text),
    };
    end_other_transactions(session, plan, &text).await
}

/// Tries again, on another connection, a statement that has come to nothing on this one, if it may be tried again.
pub(super) async fn ask_again(
    session: &mut Session,
    inquiry: &mut Inquiry,
    held: Held,
    trouble: Trouble,
) -> Result<AnswerEnd, Trouble> {
    let plan = &inquiry.asked.plan;
    let (leased, retries_left) = next_lease(session, plan, held, true, trouble, None).await?;
    ask_a_server(session, inquiry, leased, Some(retries_left)).await
}

/// Has a server answer, over a connection that has been had so far; on another when the first is lost and the statement, if
/// it was sent, only reads. `retries_left` is none for the first try.
pub(super) async fn ask_a_server(
    session: &mut Session,
    inquiry: &mut Inquiry,
    mut leased: Leased,
    mut retries_left: Option<u64>,
) -> Result<AnswerEnd, Trouble> {
    let Inquiry { asked, filling, .. } = inquiry;
    let (Asked { request, plan, .. }, mut capture) = (&*asked, capture_of(filling));
    loop {
        let Session { ground, account, context, dealings, .. } = &mut *session;
        // Before it is brought into the session's state; behind that it may be another one.
        leased = match leased {
            Leased::Had(held, _) if !may_be_asked_of(ground, account, dealings, plan, &held) => {
                return Err(give_back(session, held));
            }
            leased => leased,
        };
        let finished = finish_lease(ground, account, context, dealings, plan.hostgroup, leased).await;
        let mut held = match finished {
            Ok(held) => held,
            Err(trouble) => {
                retries_left = Some(after_lost_lease(session, plan, trouble, retries_left)?);
                let Session { ground, account, context, dealings, .. } = &mut *session;
                leased = lease_at_once(ground, account, context, dealings, plan.hostgroup)?;
                continue;
            }
        };
        if !may_be_asked_of(ground, account, dealings, plan, &held) {
            return Err(give_back(session, held));
        }
        let mut was_sent = false;
        let answered = match request {
            Request::Text => query_on(session, plan, capture.as_deref_mut(), &mut held, &mut was_sent).await,
            Request::Execution { id, text } => {
                let capture = capture.as_deref_mut();
                execute_on(session, *id, text, plan, capture, &mut held, &mut was_sent).await
            }
        };
        match answered {
            Ok(end) => {
                session.ground.look_at_clock();
                if let Some(held) = take_note(session, asked, capture.as_deref(), &end, held) {
                    Box::pin(ask_after(session, asked, &end, held)).await?;
                }
                return Ok(end);
            }
            Err(trouble) => {
                if let Some(capture) = &mut capture {
                    capture.begin_again();
                }
                let next = next_lease(session, plan, held, was_sent, trouble, retries_left).await?;
                (leased, retries_left) = (next.0, Some(next.1));
            }
        }
    }
}

/// The server of that connection does not show what the statement needs: nothing was asked on it.
fn give_back(session: &mut Session, held: Held) -> Trouble {
    let Session { ground, account, context, dealings, .. } = session;
    put_away(ground, account, context, dealings, held, None);
    CheckOutError::Behind.into()
}

/// Has another connection for a statement that came to nothing on this one: to try it again, or behind the transaction that was open
/// here, done again. Returns how often it may be tried again besides.
///
/// # Errors
/// The trouble, if it may not be tried again.
async fn next_lease(
    session: &mut Session,
    plan: &Plan,
    mut held: Held,
    was_sent: bool,
    trouble: Trouble,
    retries_left: Option<u64>,
) -> Result<(Leased, u64), Trouble> {
    let given = given(was_sent, &trouble);
    let lost = LostTransaction::of(session, plan, &mut held, &trouble, given);
    match after_trouble(session, plan, held, given, trouble, retries_left) {
        Ok(retries_left) => {
            let Session { ground, account, context, dealings, .. } = session;
            let leased = lease_at_once(ground, account, context, dealings, plan.hostgroup)?;
            Ok((leased, retries_left))
        }
        Err(trouble) => {
            let Some(lost) = lost else { return Err(trouble) };
            match Box::pin(replay(session, plan, lost)).await {
                Some(held) => Ok((Leased::Had(held, State::Own), retries_left.unwrap_or_default())),
                None => Err(trouble),
            }
        }
    }
}

/// How much of the statement a server has got.
fn given(was_sent: bool, trouble: &Trouble) -> Given {
    if was_sent && !trouble.is_undone() { Given::Something } else { Given::Nothing }
}

/// Lets go of a connection on which a statement came to nothing. Returns how often it may be tried again after this further try.
///
/// # Errors
/// The trouble, if it may not be tried again.
fn after_trouble(
    session: &mut Session,
    plan: &Plan,
    held: Held,
    given: Given,
    trouble: Trouble,
    retries_left: Option<u64>,
) -> Result<u64, Trouble> {
    session.ground.look_at_clock();
    let Session { ground, account, context, dealings, .. } = session;
    let retries_left = retries_left.unwrap_or(plan.retries(&ground.snapshot.mysql));
    let asks_it = held.was_held() && plan.facts.asks_of_the_last();
    // A BEGIN that was held back may have been brought to it.
    let carries_nothing = dealings.results.can_do_without(&held);
    let may_repeat = carries_nothing && !asks_it && (given == Given::Nothing || is_repeatable(ground, plan));
    let may_wait = may_wait_instead(&held, &plan.facts);
    let outcome = Outcome::of(&plan.facts, held.around(context.state.autocommit), given);
    if !may_repeat {
        note_outcome(dealings, outcome, &trouble);
    }
    put_away(ground, account, context, dealings, held, Some(&trouble));
    if may_wait && matches!(trouble, Trouble::RefusedAhead(_)) {
        dealings.hands.send_nothing_ahead();
        return Ok(retries_left);
    }
    if !may_repeat || !trouble.left_no_trace() || retries_left == 0 || !has_others(ground, plan, &trouble) {
        note_outcome(dealings, outcome, &trouble);
        return Err(trouble);
    }
    ground.worker.counters.retries.bump();
    Ok(retries_left - 1)
}

/// The connection was lost that was to be brought into the session's state: nothing was sent yet. Returns how often it may be tried again
/// after this further try.
///
/// # Errors
/// The trouble, if it may not be tried again.
pub(in crate::session::life) fn after_lost_lease(
    session: &mut Session,
    plan: &Plan,
    trouble: Trouble,
    retries_left: Option<u64>,
) -> Result<u64, Trouble> {
    let Session { ground, dealings, .. } = session;
    let retries_left = retries_left.unwrap_or(plan.retries(&ground.snapshot.mysql));
    let is_tied = dealings.hands.has_lost_state() || plan.facts.asks_of_the_last();
    if is_tied || !trouble.left_no_trace() || retries_left == 0 || !has_others(ground, plan, &trouble) {
        note_outcome(dealings, Outcome::of(&plan.facts, Around::Nothing, Given::Nothing), &trouble);
        return Err(trouble);
    }
    ground.look_at_clock();
    ground.worker.counters.retries.bump();
    Ok(retries_left - 1)
}

/// Whether the statement does nothing that another try would do twice, nor waits for what the first holds.
fn is_repeatable(ground: &Ground, plan: &Plan) -> bool {
    let facts = &plan.facts;
    let locks = facts.pins.contains(Pins::GET_LOCK) || facts.pins.contains(Pins::LOCK_TABLES);
    let may_write = facts.writes || facts.may_write() || ground.shared.exact.catalogues.reads_may_write();
    !may_write && !locks
}

/// Whether another try may find a server: behind one that was taken offline there must be others, or some may come.
fn has_others(ground: &Ground, plan: &Plan, trouble: &Trouble) -> bool {
    match trouble {
        Trouble::Cut(_) => ground.shared.hostgroups.has_or_awaits_server(plan.hostgroup, ground.latest_us),
        _ => true,
    }
}

/// Keeps for the client what is known of a statement whose connection was lost.
fn note_outcome(dealings: &mut Dealings, outcome: Outcome, trouble: &Trouble) {
    if trouble.is_of_lost_connection() {
        dealings.hands.note_outcome(outcome);
    }
}

/// Asks the server for what its answer did not tell, and lets go of the connection.
pub(super) async fn ask_after(
    session: &mut Session,
    asked: &Asked,
    end: &AnswerEnd,
    mut held: Held,
) -> Result<(), Trouble> {
    let Asked { request, plan, .. } = asked;
    let learned = match end_its_time(&session.ground, &mut held).await {
        Err(trouble) => Err(trouble),
        Ok(()) => match request {
            Request::Text => ask_after_text(session, plan, end, &mut held).await,
            Request::Execution { .. } => ask_after_execution(session, plan, end, &mut held).await,
        },
    };
    if let Err(trouble) = learned {
        let Session { ground, account, context, dealings, .. } = session;
        put_away(ground, account, context, dealings, held, Some(&trouble));
        return Err(Trouble::End(SessionEnd::Gone));
    }
    let_go_of(session, asked, end, held);
    Ok(())
}

/// What is asked behind an answer is not the statement.
async fn end_its_time(ground: &Ground, held: &mut Held) -> Result<(), Trouble> {
    ground.handle.lift_time_limit();
    match held.connection.control.is_late() {
        true => Box::pin(way(ground, held).outlive_kill()).await,
        false => Ok(()),
    }
}

/// Sends the client's COMMIT or ROLLBACK (`text`) also to other connections with a transaction, of which there can
/// be some when the user's `transaction_persistent` is 0.
async fn end_other_transactions(session: &mut Session, plan: &Plan, text: &[u8]) -> Result<(), Trouble> {
    let other = |held: &Held| is_other_transaction(held, plan);
    while let Some(place) = session.dealings.hands.held.iter().position(other) {
        let mut held = session.dealings.hands.held.swap_remove(place);
        let sent = Sent { text, schema: &[], parameters: &[], is_read_otherwise: false, is_repeated: false };
        let Session { ground, account, context, dealings, .. } = session;
        let mut flight = start_flight(ground, account, context, &dealings.transaction, plan, &sent, &held);
        let outcome = order_and_hear(ground, &mut held, text, &mut flight).await;
        if let Err(trouble) = &outcome {
            let of_it = Outcome::of(&plan.facts, held.around(context.state.autocommit), given(true, trouble));
            note_outcome(dealings, of_it, trouble);
        }
        held.assume_transaction(outcome.is_err());
        put_away(ground, account, context, dealings, held, outcome.as_ref().err());
        outcome?;
    }
    Ok(())
}

fn is_other_transaction(held: &Held, plan: &Plan) -> bool {
    held.in_transaction() && held.hostgroup != plan.hostgroup
}

/// Whether a transaction is open on another connection than that of the statement.
pub(super) fn has_other_transactions(hands: &Hands, plan: &Plan) -> bool {
    hands.held.iter().any(|held| is_other_transaction(held, plan))
}
