//! The warnings and errors of the last statement, and how many rows it found: what the next one may ask for.
//!
//! A server keeps them with the connection. Held until the next statement, which mostly does not ask, a connection would be of no use
//! to others while the client thinks. So before a session lets go of one on which something is left, it fetches that: the client has its
//! answer by then. `SHOW WARNINGS` and its kin are answered from it. Where not all can be had (more than the server lists) the
//! connection is held, as it is with `mysql-hold_for_diagnostics`, for GET DIAGNOSTICS.
//!
//! Which statements leave the list of the one before alone: `fate.rs`.

use std::sync::Arc;

use nuthatch_sql::{Kind, diagnostics_question};
use nuthatch_wire::{AnswerEnd, AnswerKind, Command, Ending};

use crate::backend::{Connection, Hostgroups};
use crate::session::after::fate::{Done, fate_of_last};
use crate::session::after::found_rows::{asks_for_found_rows, fetch_found_rows};
use crate::session::lease::question::way;
use crate::session::parts::{
    Client, Context, Dealings, Diagnostics, Fate, Ground, Held, Left, List, Recipient, Rows,
};
use crate::session::statement::Facts;
use crate::session::way::{Trouble, command_packet};
use crate::state::{Charset, Found, ResultCollation};
use crate::stats::pins::Pins;

/// More than these bytes are not kept.
const BYTES_MAX: usize = 64 << 10;

/// A server may leave out what is beyond this many (`max_error_count`).
const ROWS_UNTOLD_MAX: usize = 64;

/// Fetches what the statement has left on the connection, if that is all that it would be held for. The client has its answer:
/// a connection that fails now is closed, and the session goes on without.
pub(crate) async fn keep_what_is_left(
    ground: &Ground,
    context: &Context,
    dealings: &mut Dealings,
    end: &AnswerEnd,
    held: &mut Held,
) -> Result<(), Trouble> {
    match fetch_what_is_left(ground, context, dealings, end, held).await {
        Err(Trouble::Lost(..) | Trouble::Cut(_) | Trouble::Late(_))
            if !held.pins().contains(Pins::FOUND_ROWS) =>
        {
            held.connection.control.cut();
            held.unpin(Pins::PASSING);
            let lost = lost_list(context, &dealings.diagnostics);
            dealings.diagnostics.have(lost);
            Ok(())
        }
        outcome => outcome,
    }
}

async fn fetch_what_is_left(
    ground: &Ground,
    context: &Context,
    dealings: &mut Dealings,
    end: &AnswerEnd,
    held: &mut Held,
) -> Result<(), Trouble> {
    if dealings.diagnostics.is_in_doubt() {
        let there = Box::pin(fetch_list(ground, context, &dealings.diagnostics, held)).await?;
        dealings.diagnostics.settle(there);
        dealings.hands.forget_what_ran_last();
    }
    if !must_fetch_what_is_left(ground, &dealings.diagnostics, held) {
        return Ok(());
    }
    if held.pins().contains(Pins::DIAGNOSTICS) {
        Box::pin(fetch_diagnostics(ground, context, dealings, end, held)).await?;
    }
    if held.pins().contains(Pins::FOUND_ROWS) && !held.pins().contains(Pins::DIAGNOSTICS) {
        Box::pin(fetch_found_rows(ground, context, dealings, held)).await?;
    }
    Ok(())
}

pub(crate) async fn fetch_diagnostics(
    ground: &Ground,
    context: &Context,
    dealings: &mut Dealings,
    end: &AnswerEnd,
    held: &mut Held,
) -> Result<(), Trouble> {
    let Some(mut list) = fetch_list(ground, context, &dealings.diagnostics, held).await? else {
        return Ok(());
    };
    let (count, told) = (list.len(), usize::from(end.ok.warnings));
    // An error tells no count, nor does a statement that left alone what one before it had left.
    let is_told = !matches!(end.ending, Ending::Err(_)) && told > 0;
    let is_whole = if is_told { count == told } else { count < ROWS_UNTOLD_MAX };
    if is_whole {
        let server = Arc::clone(held.connection.server());
        list.leave_on((server, held.hostgroup, held.connection.thread_id));
        dealings.diagnostics.have_too(list);
        dealings.hands.forget_what_ran_last();
        held.unpin(Pins::DIAGNOSTICS);
    }
    Ok(())
}

/// Holds the connection again that has what is asked for in a way that is not understood, if nobody has had it since.
pub(crate) fn retake_what_is_left(ground: &Ground, dealings: &mut Dealings, facts: &Facts) {
    if facts.asks.diagnostics
        && let Some(left) = dealings.diagnostics.take_left()
        && let Some(mut held) = retake(ground, left)
    {
        held.pin(Pins::DIAGNOSTICS);
        dealings.diagnostics.note_left_on(held.connection.thread_id);
        dealings.hands.held.push(held);
    } else if facts.reads_counts()
        && dealings.hands.held.is_empty()
        && let Some(left) = dealings.hands.take_left()
        && (!facts.asks.row_count || dealings.hands.last_ran_on() == Some(left.2))
        && (!asks_for_found_rows(&dealings.results, facts) || dealings.results.found_rows_are_on(left.2))
    {
        // ROW_COUNT() and FOUND_ROWS() in larger statements.
        let held = retake(ground, left);
        dealings.hands.held.extend(held);
    }
}

fn retake(ground: &Ground, (server, hostgroup, thread_id): Left) -> Option<Held> {
    let taken = Hostgroups::take_left(&server, thread_id, ground.handle.id, &ground.worker);
    taken.map(|connection| Held::lent(ground, hostgroup, connection))
}

pub(crate) async fn fetch_list(
    ground: &Ground,
    context: &Context,
    diagnostics: &Diagnostics,
    held: &mut Held,
) -> Result<Option<List>, Trouble> {
    ground.worker.counters.diagnostics_fetched.bump();
    let form = held.connection.form();
    let collation = collation_on(context, diagnostics, &held.connection);
    let mut way = way(ground, held);
    way.send(&command_packet(Command::Query, b"SHOW WARNINGS")).await?;
    let answer = way.read_up_to(AnswerKind::ResultSets, BYTES_MAX).await?;
    let list = answer.and_then(|answer| List::parse(&answer, form, collation));
    Ok(list.map(|mut list| {
        let own = collation_of_results(context, diagnostics);
        if list.collation() != own {
            list.come_in(context.lexing.server, own);
        }
        list
    }))
}

/// The answer to a question for warnings and errors that the session has.
pub(crate) fn answer_from_diagnostics(
    client: &Client,
    context: &Context,
    dealings: &mut Dealings,
    facts: &Facts,
    text: &[u8],
    rows_are: Rows,
) -> Option<Vec<u8>> {
    if !facts.asks.diagnostics {
        return None;
    }
    let list = dealings.diagnostics.list().filter(|list| !list.is_lost())?;
    let question = diagnostics_question(text, context.lexing)?;
    let to = Recipient { capabilities: client.capabilities(), status: dealings.status(context), rows_are };
    let answer = list.answer(&question, to);
    dealings.results.set_row_count(-1);
    if facts.kind == Kind::Select {
        dealings.results.set_found_rows(Found::Known(1), None);
    }
    if fate_of_last(context, &dealings.diagnostics, text, facts, Done::Runs) != Fate::Kept {
        dealings.diagnostics.drop_list();
    }
    Some(answer)
}

/// Whether the statement has left something on the connection that is to be fetched.
pub(crate) fn must_fetch_what_is_left(ground: &Ground, diagnostics: &Diagnostics, held: &mut Held) -> bool {
    if diagnostics.is_in_doubt() {
        return true;
    }
    let is_let_go = !held.in_transaction() && held.pins().without(Pins::PASSING).is_empty();
    if !is_let_go && !held.is_to_be_asked() || ground.snapshot.mysql.hold_for_diagnostics {
        return false;
    }
    if !diagnostics.are_on(held.connection.thread_id) {
        // The session has been told of others since.
        held.unpin(Pins::DIAGNOSTICS);
    }
    held.pins().contains(Pins::DIAGNOSTICS) || held.pins().contains(Pins::FOUND_ROWS)
}

/// In which collation results come over a connection: behind a SET NAMES that failed it may be another than the session's.
fn collation_on(context: &Context, diagnostics: &Diagnostics, connection: &Connection) -> ResultCollation {
    let there = &connection.state;
    if there.charset == context.state.charset && context.state.settings.agrees_in_names(&there.settings) {
        return collation_of_results(context, diagnostics);
    }
    let of_results = there.settings.get(b"character_set_results").map(Charset::of_variable);
    of_results.as_ref().unwrap_or(&there.charset).of_results(context.lexing.server)
}

/// After a statement that a server ran: what it has left is on its connection.
pub(crate) fn learn_diagnostics(diagnostics: &mut Diagnostics, end: &AnswerEnd, held: &Held) {
    let has_some = end.has_warned || matches!(end.ending, Ending::Err(_));
    if has_some || diagnostics.fate() == Fate::Forgotten {
        diagnostics.note_left_on(held.connection.thread_id);
    }
}

pub(crate) fn lost_list(context: &Context, diagnostics: &Diagnostics) -> List {
    List::lost(collation_of_results(context, diagnostics))
}

pub(crate) fn collation_of_results(context: &Context, diagnostics: &Diagnostics) -> ResultCollation {
    let server = context.lexing.server;
    match context.state.settings.get(b"character_set_results") {
        Some(charset) => Charset::of_variable(charset).of_results(server),
        None => diagnostics.results_charset().unwrap_or(&context.state.charset).of_results(server),
    }
}

/// After a change of character set.
pub(crate) fn translate_diagnostics(context: &Context, diagnostics: &mut Diagnostics) {
    let collation = collation_of_results(context, diagnostics);
    diagnostics.come_in(context.lexing.server, collation);
}
