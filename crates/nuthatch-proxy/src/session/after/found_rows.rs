//! FOUND_ROWS() of a session: without SQL_CALC_FOUND_ROWS too it is more than the rows of the last answer.
//!
//! Where text and rows tell it, it costs nothing. Where they do not, that of a SELECT or SHOW is fetched before its connection is let go of, as with
//! SQL_CALC_FOUND_ROWS (the pin of that name); that of anything else is left on its connection, of which it can be asked if nobody has
//! had it since. Otherwise the question is refused.

use nuthatch_sql::{FoundRows, Kind, PageOffset, Parameter, page_offset};
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
        set_found_rows(&mut dealings.results, found);
        held.pins = held.pins.without(Pins::FOUND_ROWS);
    }
    Ok(())
}

/// It is this, and on no connection.
pub(crate) const fn set_found_rows(results: &mut Results, count: u64) {
    (results.found_rows, results.found_rows_on) = (Found::Known(count), None);
}

/// Whether the connection does not have the counts that are asked for.
pub(crate) fn lacks_counts(hands: &Hands, results: &Results, held: &Held, facts: &Facts) -> bool {
    let is_here = |place| held.was_held && place == Some(held.connection.thread_id);
    facts.asks.found_rows && !is_here(results.found_rows_on)
        || facts.asks.row_count && !is_here(hands.last_ran_on)
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
            if results.found_rows_on == Some(thread_id) && !held.was_held {
                results.found_rows_on = None;
            }
        }
        Some(found) => {
            let tells_rows = matches!(facts.found_rows, FoundRows::Rows | FoundRows::Page);
            let is_of_select = facts.kind == Kind::Select && facts.found_rows != FoundRows::Unknown;
            let has_rows = !matches!(end.ending, Ending::Err(_)) && (is_of_select || tells_rows);
            let is_set = has_rows || found != Found::Elsewhere || facts.found_rows == FoundRows::Set;
            let was_there = held.was_held && results.found_rows_on == Some(thread_id);
            results.found_rows = found;
            results.found_rows_on = (is_set || was_there).then_some(thread_id);
            if has_rows && found == Found::Elsewhere {
                held.pins = held.pins.with(Pins::FOUND_ROWS);
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
    if let Ending::Err(code) = end.ending {
        let has_run =
            facts.kind == Kind::Select && !BEFORE_ROWS.contains(&code) || facts.transaction.is_opaque;
        return has_run.then_some(Found::Elsewhere);
    }
    let is_limited_otherwise = || context.state.settings.get(b"sql_select_limit").is_some();
    Some(match facts.found_rows {
        FoundRows::LeftAlone if end.ending == Ending::Ok || facts.kind == Kind::Show => return None,
        _ if end.ending != Ending::ResultSet || end.results != 1 || is_limited_otherwise() => {
            Found::Elsewhere
        }
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

#[cfg(test)]
mod tests;
