//! FOUND_ROWS() of a session: without SQL_CALC_FOUND_ROWS too it is more than the rows of the last answer.
//!
//! Where text and rows tell it, it costs nothing. Where they do not, that of a SELECT or SHOW is fetched before its connection is let go of, as with
//! SQL_CALC_FOUND_ROWS (the pin of that name); that of anything else is left on its connection, of which it can be asked if nobody has
//! had it since. Otherwise the question is refused.

use nuthatch_sql::{FoundRows, Kind, PageOffset, Parameter, found_rows_of_first, page_offset};
use nuthatch_wire::{AnswerEnd, Ending};

use crate::session::lease::question::ask;
use crate::session::parts::{Context, Dealings, Ground, Hands, Held, Results};
use crate::session::statement::Facts;
use crate::session::way::Trouble;
use crate::state::Found;
use crate::stats::pins::Pins;

/// Errors that are met before a statement runs: there is no such column, table, schema, index; it is not among the locked ones; a privilege is
/// missing; it is no SQL. Measured on MariaDB 10.11 and MySQL 9.7.
const BEFORE_ROWS: [u16; 19] = [
    1044, 1046, 1049, 1052, 1054, 1064, 1065, 1066, 1099, 1100, 1109, 1111, 1142, 1143, 1146, 1176, 1222,
    1248, 1582,
];

/// Asks this connection, which knows.
pub(crate) async fn fetch_found_rows(
    ground: &Ground,
    context: &Context,
    dealings: &mut Dealings,
    held: &mut Held,
) -> Result<(), Trouble> {
    if let Some(found) = ask(ground, context, dealings, held, "SELECT FOUND_ROWS()").await? {
        dealings.results.set_found_rows(Found::Known(found), None);
        held.unpin(Pins::FOUND_ROWS);
    }
    Ok(())
}

/// Whether the connection does not have the counts that are asked for.
pub(crate) fn lacks_counts(hands: &Hands, results: &Results, held: &Held, facts: &Facts) -> bool {
    let thread_id = held.connection.thread_id;
    let has_found = held.was_held() && results.found_rows_are_on(thread_id);
    let ran_last = held.was_held() && hands.last_ran_on() == Some(thread_id);
    asks_for_found_rows(results, facts) && !has_found || facts.asks.row_count && !ran_last
}

/// `SQL%ROWCOUNT` asks for it where ROW_COUNT() is -1.
pub(crate) fn asks_for_found_rows(results: &Results, facts: &Facts) -> bool {
    facts.asks.found_rows || facts.asks.oracle_row_count && results.row_count() == -1
}

/// Takes note of what a server's statement of that text did to it.
pub(crate) fn learn_found_rows(
    results: &mut Results,
    facts: &Facts,
    found: Option<Found>,
    end: &AnswerEnd,
    held: &mut Held,
) {
    let thread_id = held.connection.thread_id;
    match found {
        None => {
            // Somebody may have had the connection in between.
            if results.found_rows_are_on(thread_id) && !held.was_held() {
                results.forget_where_found();
            }
        }
        Some(found) => {
            let has_failed = matches!(end.ending, Ending::Err(_));
            let tells_rows = matches!(facts.found_rows, FoundRows::Rows | FoundRows::Page);
            let selects = facts.kind == Kind::Select || facts.is_several() && end.ending == Ending::ResultSet;
            let is_of_select = selects && facts.found_rows != FoundRows::Unknown;
            let has_rows = !has_failed && (is_of_select || tells_rows);
            // Before it failed, what it selects may not have come to be found.
            let is_set =
                has_rows || found != Found::Elsewhere || !has_failed && facts.found_rows == FoundRows::Set;
            let was_there = held.was_held() && results.found_rows_are_on(thread_id);
            results.set_found_rows(found, (is_set || was_there).then_some(thread_id));
            if has_rows && found == Found::Elsewhere {
                held.pin(Pins::FOUND_ROWS);
            }
        }
    }
}

/// What became of it by a statement that ended so, with `parameters` if it was an execution; none if it is as it was.
pub(crate) fn found_by(
    context: &Context,
    facts: &Facts,
    text: &[u8],
    parameters: impl FnOnce() -> Vec<Parameter>,
    end: &AnswerEnd,
) -> Option<Found> {
    if facts.is_several() {
        return found_by_several(context, facts, text, end);
    }
    if let Ending::Err(code) = end.ending {
        let has_run =
            facts.kind == Kind::Select && !BEFORE_ROWS.contains(&code) || facts.transaction.is_opaque;
        return has_run.then_some(Found::Elsewhere);
    }
    Some(match facts.found_rows {
        FoundRows::LeftAlone if end.ending == Ending::Ok || facts.kind == Kind::Show => return None,
        _ if end.ending != Ending::ResultSet || end.results != 1 => Found::Elsewhere,
        _ if facts.counts_all_rows() || is_limited_otherwise(context) => Found::Elsewhere,
        FoundRows::Rows => Found::Known(end.rows),
        FoundRows::Page if end.rows > 0 => match page_offset(text, context.lexing) {
            Some(PageOffset::Rows(offset)) => Found::Known(end.rows + offset),
            Some(PageOffset::Parameter(place)) => match parameters().get(place) {
                Some(Parameter::Unsigned(offset)) => Found::Known(end.rows + offset),
                _ => Found::Elsewhere,
            },
            None => Found::Elsewhere,
        },
        FoundRows::Page | FoundRows::LeftAlone | FoundRows::Set | FoundRows::Unknown => Found::Elsewhere,
    })
}

/// The same of several statements in one text, of which the last may have failed.
fn found_by_several(context: &Context, facts: &Facts, text: &[u8], end: &AnswerEnd) -> Option<Found> {
    let (found, has_run) = match end.ending {
        Ending::Err(code) => {
            let done = usize::try_from(end.results).unwrap_or(usize::MAX);
            let has_run = !BEFORE_ROWS.contains(&code) || facts.class.runs_unseen_code();
            (found_rows_of_first(text, context.lexing, done), has_run)
        }
        Ending::Ok | Ending::ResultSet => (facts.found_rows, false),
    };
    match found {
        _ if has_run => Some(Found::Elsewhere),
        FoundRows::LeftAlone => None,
        FoundRows::Rows if !is_limited_otherwise(context) => Some(Found::Known(end.rows - end.rows_before)),
        _ => Some(Found::Elsewhere),
    }
}

fn is_limited_otherwise(context: &Context) -> bool {
    context.state.settings.get(b"sql_select_limit").is_some()
}

#[cfg(test)]
mod tests;
