//! A statement that a server answers: over a leased connection, another one if the first was dead, and what is learned of it.

use std::sync::Arc;

use nuthatch_wire::{AnswerEnd, Ending};

use crate::roster::SessionEnd;
use crate::session::after::errors::count_error;
use crate::session::after::learn::learn;
use crate::session::after::pins::delay::learn_delay;
use crate::session::after::plain::{has_left_counts_only, learn_counts};
use crate::session::after::stored_code::learn_stored_code;
use crate::session::before::flight::start_flight;
use crate::session::decide::errand::errand_of_text;
use crate::session::lease::check_out::{Leased, State, finish_lease, lease_at_once, may_wait_instead};
use crate::session::lease::put_away::{put_away, settle};
use crate::session::lease::question::order_and_hear;
use crate::session::life::sent_execution::{
    ask_after_execution, execute_on, keep_cursor, learn_of_execution, send_execution_at_once,
};
use crate::session::life::sent_text::{ask_after_text, learn_of_text, query_on, send_text_at_once};
use crate::session::parts::{Hands, Held};
use crate::session::statement::{Plan, Request};
use crate::session::way::{Capture, Departure, Reading, Sent, Trouble};
use crate::session::whole::Session;
use crate::state::Behind;

/// How far a statement has come without waiting.
#[derive(Debug)]
pub(crate) enum Begun {
    /// It has been sent.
    Sent(Held, Departure),
    /// Not yet.
    Leased(Leased),
}

/// Ends the transactions on other connections that the statement ends too.
pub(crate) async fn end_others(session: &mut Session, request: &Request, plan: &Plan) -> Result<(), Trouble> {
    let text: Arc<[u8]> = match request {
        Request::Text => session.statements.executed_text(&session.client, plan).into(),
        Request::Execution { text, .. } => Arc::clone(text),
    };
    end_other_transactions(session, plan, &text).await
}

/// Has a connection for the statement, if that can be at once.
pub(crate) fn begin_lease(session: &mut Session, request: &Request, plan: &Plan) -> Result<Leased, Trouble> {
    let Session { ground, client, account, context, dealings, .. } = session;
    dealings.hands.errand = match request {
        Request::Text if plan.named.is_none() => {
            errand_of_text(context, &dealings.transaction, &plan.facts, client.statement_text())
        }
        Request::Text | Request::Execution { .. } => context.errand_of(&plan.facts),
    };
    lease_at_once(ground, account, context, dealings, plan.hostgroup)
}

/// Sends the statement, if there is a connection, and nothing need be said on it before.
pub(crate) fn send_at_once(
    session: &mut Session,
    request: &Request,
    plan: &Plan,
    capture: Option<&mut Capture>,
    leased: Leased,
) -> Begun {
    let mut held = match leased {
        Leased::Had(held, State::Own) if held.connection.ahead.is_empty() => held,
        leased => return Begun::Leased(leased),
    };
    let departure = match request {
        Request::Text => send_text_at_once(session, plan, capture, &mut held),
        Request::Execution { id, text } => {
            send_execution_at_once(session, *id, text, plan, capture, &mut held)
        }
    };
    match departure {
        Some(departure) => Begun::Sent(held, departure),
        None => Begun::Leased(Leased::Had(held, State::Own)),
    }
}

/// Tries again, on another connection, a statement that has come to nothing on this one, if it may be tried again.
pub(crate) async fn ask_again(
    session: &mut Session,
    request: &Request,
    plan: &Plan,
    capture: Option<&mut Capture>,
    held: Held,
    trouble: Trouble,
) -> Result<AnswerEnd, Trouble> {
    let retries_left = after_trouble(session, plan, held, true, trouble, None)?;
    let Session { ground, account, context, dealings, .. } = session;
    let leased = lease_at_once(ground, account, context, dealings, plan.hostgroup)?;
    ask_a_server(session, request, plan, capture, leased, Some(retries_left)).await
}

/// Has a server answer, over a connection that has been had so far; on another when the first had died in the pool and the statement, if
/// it was sent, only reads. `retries_left` is none for the first try.
pub(crate) async fn ask_a_server(
    session: &mut Session,
    request: &Request,
    plan: &Plan,
    mut capture: Option<&mut Capture>,
    mut leased: Leased,
    mut retries_left: Option<u64>,
) -> Result<AnswerEnd, Trouble> {
    loop {
        let Session { ground, account, context, dealings, .. } = session;
        let mut held = finish_lease(ground, account, context, dealings, plan.hostgroup, leased).await?;
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
                let reading = capture.and_then(|capture| capture.reading.as_ref());
                if let Some(held) = take_note(session, request, plan, reading, &end, held) {
                    Box::pin(ask_after(session, request, plan, &end, held)).await?;
                }
                return Ok(end);
            }
            Err(trouble) => {
                retries_left = Some(after_trouble(session, plan, held, was_sent, trouble, retries_left)?);
                let Session { ground, account, context, dealings, .. } = session;
                leased = lease_at_once(ground, account, context, dealings, plan.hostgroup)?;
            }
        }
    }
}

/// Lets go of a connection on which a statement came to nothing. Returns how often it may be tried again after this further try.
///
/// # Errors
/// The trouble, if it may not be tried again.
fn after_trouble(
    session: &mut Session,
    plan: &Plan,
    held: Held,
    was_sent: bool,
    trouble: Trouble,
    retries_left: Option<u64>,
) -> Result<u64, Trouble> {
    let Session { ground, account, context, dealings, .. } = session;
    let retries_left = retries_left.unwrap_or(ground.snapshot.mysql.query_retries_on_failure);
    let asks_it = held.was_held && plan.facts.asks_of_the_last();
    let may_repeat = held.is_fresh && !asks_it && (!was_sent || !plan.facts.writes);
    let may_wait = may_wait_instead(&held, &plan.facts);
    put_away(ground, account, context, dealings, held, Some(&trouble));
    if may_wait && matches!(trouble, Trouble::RefusedAhead(_)) {
        dealings.hands.errand.behind = Behind::Nothing;
        return Ok(retries_left);
    }
    if !may_repeat || !trouble.left_no_trace() || retries_left == 0 {
        return Err(trouble);
    }
    ground.worker.counters.retries.bump();
    Ok(retries_left - 1)
}

/// Learns from the answer that the client has by now, so that nothing may be tried again, and lets go of the connection. Returns it if
/// its server must be asked for more first: see [`ask_after`].
pub(crate) fn take_note(
    session: &mut Session,
    request: &Request,
    plan: &Plan,
    reading: Option<&Reading>,
    end: &AnswerEnd,
    mut held: Held,
) -> Option<Held> {
    session.ground.look_at_clock();
    let Session { ground, client, account, context, dealings, statements, .. } = session;
    let (text, executed) = match request {
        Request::Text => (client.statement_text(), statements.executed_text(client, plan)),
        Request::Execution { text, .. } => (&**text, &**text),
    };
    if has_left_counts_only(context, dealings, &plan.facts, end, &held) {
        learn_counts(ground, context, dealings, &plan.facts, text, end, &mut held);
    } else {
        learn(ground, context, dealings, &plan.facts, text, end, &mut held);
        dealings.transaction.learn_opening(reading, end);
    }
    learn_delay(ground, account, end, &mut held);
    learn_stored_code(ground, context, plan, executed, end, &mut held);
    let must_ask = match request {
        Request::Text => learn_of_text(session, plan, end, &mut held),
        Request::Execution { id, text } => learn_of_execution(session, *id, text, plan, end, &mut held),
    };
    if must_ask {
        return Some(held);
    }
    let_go_of(session, request, plan, end, held);
    None
}

/// Asks the server for what its answer did not tell, and lets go of the connection.
pub(crate) async fn ask_after(
    session: &mut Session,
    request: &Request,
    plan: &Plan,
    end: &AnswerEnd,
    mut held: Held,
) -> Result<(), Trouble> {
    let learned = match request {
        Request::Text => ask_after_text(session, plan, end, &mut held).await,
        Request::Execution { .. } => ask_after_execution(session, plan, end, &mut held).await,
    };
    if let Err(trouble) = learned {
        let Session { ground, account, context, dealings, .. } = session;
        put_away(ground, account, context, dealings, held, Some(&trouble));
        return Err(Trouble::End(SessionEnd::Gone));
    }
    let_go_of(session, request, plan, end, held);
    Ok(())
}

/// Lets go of the connection of an answered statement, unless there is a reason to keep it.
fn let_go_of(session: &mut Session, request: &Request, plan: &Plan, end: &AnswerEnd, mut held: Held) {
    let Session { ground, client, account, context, dealings, statements, .. } = session;
    let text = match request {
        Request::Text => client.statement_text(),
        Request::Execution { id, text } => {
            keep_cursor(statements, *id, &mut held);
            text
        }
    };
    if let Ending::Err(number) = end.ending {
        count_error(ground, account, context, number, text, &plan.facts, &mut held);
    }
    // One that the server hangs up on is closed.
    if !plan.facts.hangs_up(end) {
        settle(ground, context, dealings, held);
    }
}

/// Sends the client's COMMIT or ROLLBACK (`text`) also to other connections with a transaction, of which there can
/// be some when the user's `transaction_persistent` is 0.
async fn end_other_transactions(session: &mut Session, plan: &Plan, text: &[u8]) -> Result<(), Trouble> {
    let other = |held: &Held| is_other_transaction(held, plan);
    while let Some(place) = session.dealings.hands.held.iter().position(other) {
        let mut held = session.dealings.hands.held.swap_remove(place);
        let sent = Sent {
            text,
            schema: &[],
            parameters: &[],
            is_prepared: false,
            is_read_otherwise: false,
            is_repeated: false,
        };
        let Session { ground, account, context, dealings, .. } = session;
        let mut flight = start_flight(ground, account, context, &dealings.transaction, plan, &sent, &held);
        let outcome = order_and_hear(ground, &mut held, text, &mut flight).await;
        (held.in_transaction, held.is_surely_in_transaction) = (outcome.is_err(), false);
        put_away(ground, account, context, dealings, held, outcome.as_ref().err());
        outcome?;
    }
    Ok(())
}

fn is_other_transaction(held: &Held, plan: &Plan) -> bool {
    held.in_transaction && held.hostgroup != plan.hostgroup
}

/// Whether a transaction is open on another connection than that of the statement.
pub(crate) fn has_other_transactions(hands: &Hands, plan: &Plan) -> bool {
    hands.held.iter().any(|held| is_other_transaction(held, plan))
}
