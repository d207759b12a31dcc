//! A statement that a server answers: over a leased connection, another one if the first was dead, and what is learned of it.

use nuthatch_wire::{AnswerEnd, Ending};

use crate::roster::SessionEnd;
use crate::session::after::errors::count_error;
use crate::session::after::learn::learn;
use crate::session::after::pins::delay::learn_delay;
use crate::session::after::stored_code::learn_stored_code;
use crate::session::before::flight::{own_up, start_flight};
use crate::session::decide::errand::errand_of_text;
use crate::session::lease::check_out::{lease, may_wait_instead};
use crate::session::lease::put_away::{put_away, settle};
use crate::session::lease::question::order_and_hear;
use crate::session::life::sent_execution::{execute_on, learn_of_execution};
use crate::session::life::sent_text::{learn_of_text, query_on};
use crate::session::parts::{Hands, Held};
use crate::session::statement::{Plan, Request};
use crate::session::way::{Capture, Sent, Trouble};
use crate::session::whole::Session;
use crate::state::Behind;

/// Has a server answer, on another connection when the first had died in the pool and the statement, if it was sent, only reads.
pub(crate) async fn ask_a_server(
    session: &mut Session,
    request: Request<'_>,
    plan: &Plan,
    mut capture: Option<&mut Capture>,
) -> Result<AnswerEnd, Trouble> {
    own_up(&session.ground, &mut session.dealings.transaction);
    if plan.facts.transaction.ends && has_other_transactions(&session.dealings.hands, plan) {
        match request {
            Request::Text => {
                let text = session.statements.executed_text(&session.client, plan);
                Box::pin(end_other_transactions(session, plan, &text)).await?;
            }
            Request::Execution { text, .. } => Box::pin(end_other_transactions(session, plan, text)).await?,
        }
    }
    session.dealings.hands.errand = match request {
        Request::Text if plan.named.is_none() => errand_of_text(
            &session.context,
            &session.dealings.transaction,
            &plan.facts,
            session.client.statement_text(),
        ),
        Request::Text | Request::Execution { .. } => session.context.errand_of(&plan.facts),
    };
    let mut retries_left = session.ground.snapshot.mysql.query_retries_on_failure;
    loop {
        let Session { ground, account, context, dealings, .. } = session;
        let mut held = lease(ground, account, context, dealings, plan.hostgroup).await?;
        let mut was_sent = false;
        let answered = match request {
            Request::Text => query_on(session, plan, capture.as_deref_mut(), &mut held, &mut was_sent).await,
            Request::Execution { id, text } => {
                let capture = capture.as_deref_mut();
                execute_on(session, id, text, plan, capture, &mut held, &mut was_sent).await
            }
        };
        match answered {
            Ok(end) => {
                take_note(session, request, plan, &end, held).await?;
                session
                    .dealings
                    .transaction
                    .learn_opening(capture.and_then(|capture| capture.reading.as_ref()), &end);
                return Ok(end);
            }
            Err(trouble) => {
                let asks_it = held.was_held && plan.facts.asks_of_the_last();
                let may_repeat = held.is_fresh && !asks_it && (!was_sent || !plan.facts.writes);
                let may_wait = may_wait_instead(&held, &plan.facts);
                let Session { ground, account, context, dealings, .. } = session;
                put_away(ground, account, context, dealings, held, Some(&trouble));
                if may_wait && matches!(trouble, Trouble::RefusedAhead(_)) {
                    dealings.hands.errand.behind = Behind::Nothing;
                    continue;
                }
                if !may_repeat || !trouble.left_no_trace() || retries_left == 0 {
                    return Err(trouble);
                }
                retries_left -= 1;
                ground.worker.counters.retries.bump();
            }
        }
    }
}

/// Learns from the answer that the client has by now, so that nothing may be tried again, and lets go of the connection.
async fn take_note(
    session: &mut Session,
    request: Request<'_>,
    plan: &Plan,
    end: &AnswerEnd,
    mut held: Held,
) -> Result<(), Trouble> {
    session.ground.look_at_clock();
    let Session { ground, client, account, context, dealings, statements, .. } = session;
    let by_name = statements.prepared_text(plan);
    let (text, executed) = match request {
        Request::Text => (client.statement_text(), by_name.as_deref()),
        Request::Execution { text, .. } => (text, None),
    };
    learn(ground, context, dealings, &plan.facts, text, end, &mut held);
    learn_delay(ground, account, end, &mut held);
    learn_stored_code(ground, context, plan, executed.unwrap_or(text), end, &mut held);
    let learned = match request {
        Request::Text => learn_of_text(session, plan, end, &mut held).await,
        Request::Execution { id, text } => learn_of_execution(session, id, text, plan, end, &mut held).await,
    };
    let Session { ground, client, account, context, dealings, .. } = session;
    if let Err(trouble) = learned {
        put_away(ground, account, context, dealings, held, Some(&trouble));
        return Err(Trouble::End(SessionEnd::Gone));
    }
    if let Ending::Err(number) = end.ending {
        let text = match request {
            Request::Text => client.statement_text(),
            Request::Execution { text, .. } => text,
        };
        count_error(ground, account, context, number, text, &plan.facts, &mut held);
    }
    // One that the server hangs up on is closed.
    if !plan.facts.hangs_up(end) {
        settle(ground, context, dealings, held);
    }
    Ok(())
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
fn has_other_transactions(hands: &Hands, plan: &Plan) -> bool {
    hands.held.iter().any(|held| is_other_transaction(held, plan))
}
