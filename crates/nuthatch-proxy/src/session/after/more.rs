//! What a server is asked behind a statement, because its answer did not tell.

use nuthatch_sql::DefaultsChange;
use nuthatch_wire::{AnswerEnd, StatusFlags};

use crate::backend::Changing;
use crate::session::after::diagnostics::fetch_diagnostics;
use crate::session::after::insert_id::keep_insert_id;
use crate::session::after::schema::learn_dropped_schema;
use crate::session::after::set::learn_worked_out;
use crate::session::lease::inheritance::ask_defaults;
use crate::session::parts::{Context, Dealings, Ground, Held, Results};
use crate::session::statement::Facts;
use crate::session::way::Trouble;
use crate::stats::pins::Pins;

/// Asks for what sessions begin with now that the statement has changed that: before the session takes its next command.
async fn learn_changed_defaults(
    ground: &Ground,
    context: &Context,
    dealings: &mut Dealings,
    end: &AnswerEnd,
    held: &mut Held,
) -> Result<(), Trouble> {
    let changing: Option<Changing> = held.take_changing();
    if held.pins().contains(Pins::DIAGNOSTICS) && !ground.snapshot.mysql.hold_for_diagnostics {
        Box::pin(fetch_diagnostics(ground, context, dealings, end, held)).await?;
    }
    // What is asked would take their place; then the next connection asks.
    if !held.pins().contains(Pins::DIAGNOSTICS) {
        dealings.hands.forget_what_ran_last();
        dealings.diagnostics.forget_where_left();
        ask_defaults(ground, held).await?;
    }
    drop(changing);
    Ok(())
}

/// Whether the server must be asked for anything that its answer did not tell.
pub(crate) fn must_ask_for_more(results: &Results, facts: &Facts, end: &AnswerEnd, held: &Held) -> bool {
    held.is_to_be_asked() || leaves_out(results, end, held) || facts.server.defaults != DefaultsChange::No
}

/// Asks the server for what its answer did not tell of the session's variables, and of anything else.
pub(crate) async fn ask_for_more(
    ground: &Ground,
    context: &mut Context,
    dealings: &mut Dealings,
    facts: &Facts,
    end: &AnswerEnd,
    held: &mut Held,
) -> Result<(), Trouble> {
    if held.is_to_be_asked() {
        Box::pin(learn_worked_out(ground, context, dealings, facts, held)).await?;
    }
    if leaves_out(&dealings.results, end, held) {
        Box::pin(ask_what_answers_leave_out(ground, context, dealings, end, held)).await?;
    }
    if facts.server.defaults != DefaultsChange::No {
        Box::pin(learn_changed_defaults(ground, context, dealings, end, held)).await?;
    }
    Ok(())
}

/// Asks the server for what its answer did not tell and the session must know.
async fn ask_what_answers_leave_out(
    ground: &Ground,
    context: &mut Context,
    dealings: &mut Dealings,
    end: &AnswerEnd,
    held: &mut Held,
) -> Result<(), Trouble> {
    learn_dropped_schema(ground, context, dealings, end, held).await?;
    keep_insert_id(ground, context, dealings, held).await
}

/// Whether the session must know something that the answer did not tell.
fn leaves_out(results: &Results, end: &AnswerEnd, held: &Held) -> bool {
    held.is_in_unnamed_schema()
        || end.status_seen.contains(StatusFlags::SERVER_STATUS_DB_DROPPED)
        || results.insert_id_is_at(held.connection.thread_id)
}
