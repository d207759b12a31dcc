//! What a plain statement leaves in its session: counts.
//!
//! Nearly all statements read or write rows and do nothing else ([`TextFacts::are_plain`](crate::session::statement::TextFacts::are_plain)). Behind
//! one that ended well, over a connection of which nothing is to be remembered, each step of [`learn`] finds nothing, and what is left
//! to be done stands here. In debug builds [`learn`] is done behind it all the same, and must change nothing.

use nuthatch_sql::Kind;
use nuthatch_wire::{AnswerEnd, Ending, StatusFlags};

use crate::session::after::diagnostics::learn_diagnostics;
use crate::session::after::insert_id::inserts;
use crate::session::after::learn::{learn, row_count_of};
use crate::session::parts::{Beginning, Context, Dealings, Ground, Held};
use crate::session::statement::{Facts, is_profiled};

/// What a session takes from the status of an answer.
const TAKEN: StatusFlags = StatusFlags::SERVER_STATUS_IN_TRANS
    .union(StatusFlags::SERVER_STATUS_AUTOCOMMIT)
    .union(StatusFlags::SERVER_STATUS_ANSI_QUOTES)
    .union(StatusFlags::SERVER_STATUS_NO_BACKSLASH_ESCAPES);

/// Whether the statement, which ended so, has left counts only.
pub(crate) fn has_left_counts_only(
    context: &Context,
    dealings: &Dealings,
    facts: &Facts,
    end: &AnswerEnd,
    held: &Held,
) -> bool {
    let tells_all = match end.ending {
        Ending::Err(_) => false,
        Ending::Ok => true,
        // Rows tell no id.
        Ending::ResultSet => !inserts(facts.kind),
    };
    let ended_well = tells_all && !end.has_warned && end.ok.insert_id == 0;
    let has_own_connection = held.pins().is_empty()
        && !held.in_transaction()
        && held.seldom().is_none()
        && held.connection.state.autocommit == Some(true)
        && !is_profiled(&held.connection.state.settings);
    facts.is_plain
        && facts.multiplex.is_none()
        && !facts.code.asks_for_insert_id
        && ended_well
        && has_own_connection
        && context.state.autocommit
        && matches!(dealings.transaction.beginning(), Beginning::Usual)
        && !dealings.are_in_transaction()
        && !dealings.diagnostics.is_in_doubt()
        && end.status.intersection(TAKEN) == dealings.status(context)
}

/// Takes note of them.
pub(crate) fn learn_counts(
    ground: &Ground,
    context: &mut Context,
    dealings: &mut Dealings,
    facts: &Facts,
    text: &[u8],
    end: &AnswerEnd,
    held: &mut Held,
) {
    dealings.hands.note_ran_on(held.connection.thread_id);
    learn_diagnostics(&mut dealings.diagnostics, end, held);
    dealings.results.set_row_count(row_count_of(end));
    dealings.transaction.set_has_written(false);
    held.doubt_transaction();
    if facts.kind != Kind::Select && end.ok.affected_rows > 0 {
        held.note_gtid();
    }
    if cfg!(debug_assertions) {
        let before = all_that_is_learned(context, dealings, held);
        learn(ground, context, dealings, facts, text, end, held);
        let after = all_that_is_learned(context, dealings, held);
        assert!(before == after, "behind {}: {before} but {after}", String::from_utf8_lossy(text));
    }
}

/// In words, what of the session and of its connection is learned behind statements.
fn all_that_is_learned(context: &Context, dealings: &Dealings, held: &Held) -> String {
    let Dealings { transaction, results, hands, diagnostics } = dealings;
    let diagnostics = diagnostics.shown();
    let (held, connection) = (held.shown(), &held.connection);
    format!(
        "{context:?} {transaction:?} {results:?} {:?} {:?} {diagnostics} {:?} {:?} {held}",
        hands.last_ran_on(),
        hands.errand(),
        connection.state,
        connection.insert_id,
    )
}
