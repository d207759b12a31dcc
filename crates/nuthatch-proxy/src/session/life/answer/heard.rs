//! What follows when a statement has its answer, as far as that takes no waiting.

use nuthatch_sql::TransactionEnd;
use nuthatch_wire::{AnswerEnd, Ending};

use crate::session::after::errors::{count_error, note_that_time_is_over};
use crate::session::after::learn::learn;
use crate::session::after::pins::delay::learn_delay;
use crate::session::after::plain::{has_left_counts_only, learn_counts};
use crate::session::after::stored_code::learn_stored_code;
use crate::session::before::flight::{land, land_lost};
use crate::session::inquiry::{Filling, Inquiry, Stage, capture_of};
use crate::session::lease::put_away::settle;
use crate::session::life::answer::early::has_ended_it;
use crate::session::life::answer::record::record;
use crate::session::life::answer::store::store;
use crate::session::life::answer::together::tell_others;
use crate::session::life::sent_execution::{keep_cursor, learn_cursor, learn_of_execution};
use crate::session::life::sent_text::learn_of_text;
use crate::session::parts::{Dealings, Ground, Held};
use crate::session::statement::{Asked, Caching, Plan, Request};
use crate::session::way::{Capture, Departure, Trouble, is_of_time};
use crate::session::whole::Session;
use crate::shared::answers::Brought;
use crate::stats::not_cached::{Full, NotCached};

/// The statement that was sent over `held` has its answer by now, which the ground's latest look at the clock tells, or none.
pub(crate) fn heard(
    session: &mut Session,
    inquiry: &mut Inquiry,
    held: Held,
    departure: Departure,
    answered: Result<AnswerEnd, Trouble>,
) {
    let Departure { flight, kind, number, .. } = departure;
    let Session { ground, dealings, statements, .. } = session;
    inquiry.stage = match answered {
        Err(trouble) => {
            land_lost(ground, &mut dealings.transaction, &dealings.hands, flight);
            Stage::Lost(held, trouble)
        }
        Ok(end) => {
            land(ground, &mut dealings.transaction, &dealings.hands, flight);
            if let Request::Execution { id, .. } = inquiry.asked.request {
                learn_cursor(statements, id, (kind, number), &end, &held);
            }
            let capture = capture_of(&mut inquiry.filling);
            match take_note(session, &inquiry.asked, capture.as_deref(), &end, held) {
                Some(held) => Stage::Noted(held, Box::new(end)),
                None => Stage::Done(end),
            }
        }
    };
}

/// Counts the statement, which is done, and stores its answer if it may be.
pub(crate) fn conclude(session: &mut Session, inquiry: Box<Inquiry>, end: &AnswerEnd) {
    let Inquiry { asked: Asked { request, plan, caching }, filling, .. } = *inquiry;
    session.ground.observe_at(session.ground.latest_us, &plan, end.ok.affected_rows, end.rows);
    plan.count_fill(filling.and_then(|filling| fill(session, &request, &plan, caching, end, *filling)));
}

/// Stores the answer if it may be, and tells those of it who wait for it.
fn fill(
    session: &mut Session,
    request: &Request,
    plan: &Plan,
    caching: Caching,
    end: &AnswerEnd,
    filling: Filling,
) -> Result<(), NotCached> {
    let Filling { capture, comer, leading } = filling;
    let stored = store(session, request, plan, caching, end, capture);
    if let Some(leading) = leading {
        let brought = if stored.is_ok() { Brought::Stored } else { Brought::Nothing };
        tell_others(&session.ground, plan, leading, brought);
    }
    let is_refused = stored == Err(NotCached::Full(Full::OfOthers));
    if let Some(digest) = plan.digest.as_ref().filter(|_| is_refused || stored.is_ok()) {
        digest.door().note(comer, stored.is_ok());
    }
    stored
}

/// Learns from the answer that the client has by now, so that nothing may be tried again, and lets go of the connection. Returns it if
/// its server must be asked for more first: see [`ask_after`](super::again::ask_after).
pub(super) fn take_note(
    session: &mut Session,
    asked: &Asked,
    capture: Option<&Capture>,
    end: &AnswerEnd,
    mut held: Held,
) -> Option<Held> {
    let Asked { request, plan, .. } = asked;
    let Session { ground, client, account, context, dealings, statements, .. } = session;
    if plan.facts.transaction.end == TransactionEnd::Commit {
        held.connection.state.ends_transactions = has_ended_it(end);
    }
    dealings.transaction.note_statement(&plan.facts);
    let (text, executed) = match request {
        Request::Text => (client.statement_text(), statements.executed_text(client, plan)),
        Request::Execution { text, .. } => (&**text, &**text),
    };
    if has_left_counts_only(context, dealings, &plan.facts, end, &held) {
        learn_counts(ground, context, dealings, &plan.facts, text, end, &mut held);
    } else {
        learn(ground, context, dealings, &plan.facts, text, end, &mut held);
        let reading = capture.and_then(|capture| capture.reading.as_ref());
        dealings.transaction.learn_opening(reading, end, || ground.shared.clock.now_ms());
    }
    if dealings.hands.position.is_kept() {
        note_position(ground, dealings, plan, &held);
        if plan.is_split() {
            held.stand_apart();
        }
    }
    if is_of_time(held.connection.refusal.as_deref()) {
        note_that_time_is_over(ground, context, dealings);
    }
    learn_delay(ground, account, end, &mut held);
    learn_stored_code(ground, context, plan, executed, end, &mut held);
    held.taint_if_apart();
    if let Some(print) = capture.and_then(Capture::print) {
        record(session, asked, end, print, &mut held);
    }
    let must_ask = match request {
        Request::Text => learn_of_text(session, plan, end, &mut held),
        Request::Execution { id, text } => learn_of_execution(session, *id, text, plan, end, &mut held),
    };
    if must_ask {
        return Some(held);
    }
    let_go_of(session, asked, end, held);
    None
}

/// The session has seen what the server has just answered.
fn note_position(ground: &Ground, dealings: &mut Dealings, plan: &Plan, held: &Held) {
    let server = held.connection.server();
    if plan.may_be_behind() {
        held.connection.count_causal();
    }
    let writer = plan.causal.unwrap_or_else(|| ground.snapshot.writer_of(held.hostgroup));
    let now_us = ground.shared.clock.now_us();
    dealings.hands.position.saw(writer, &server.known.caught_up, now_us);
}

/// Lets go of the connection of an answered statement, unless there is a reason to keep it.
pub(super) fn let_go_of(session: &mut Session, asked: &Asked, end: &AnswerEnd, mut held: Held) {
    let Asked { request, plan, .. } = asked;
    let Session { ground, client, account, context, dealings, statements, .. } = session;
    if let Some(id) = request.execution() {
        keep_cursor(statements, id, &mut held);
    }
    let text = request.text(client.statement_text());
    if let Ending::Err(number) = end.ending {
        count_error(ground, account, context, number, text, &plan.facts, &mut held);
    }
    // One that the server hangs up on is closed.
    if !plan.facts.hangs_up(end) {
        settle(ground, context, dealings, held);
    }
}
