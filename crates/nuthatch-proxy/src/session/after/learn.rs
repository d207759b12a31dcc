//! What a statement did to the session, learned from its text and from the server's answer.
//!
//! The server's status flags are the truth about the transaction and autocommit. An ERR packet carries none: then a
//! transaction that was open counts as open, and one may have begun where the session does not commit by itself or the
//! statement ran code that cannot be seen.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use nuthatch_sql::{Kind, ServerFlavor, TransactionEnd};
use nuthatch_wire::{AnswerEnd, Ending, StatusFlags};

use crate::session::after::diagnostics::{learn_diagnostics, translate_diagnostics};
use crate::session::after::insert_id::{learn_insert_id, learn_insert_id_of_failed};
use crate::session::after::pins::metadata_lock::learn_metadata_lock;
use crate::session::after::pins::own_values::learn_own_values;
use crate::session::after::schema::learn_schema;
use crate::session::after::set::{learn_charset, learn_query_cache_type, learn_steps};
use crate::session::after::tracker::pins_of;
use crate::session::lease::environment::renumber_environment;
use crate::session::parts::{Context, Dealings, Ground, Hands, Held, Results};
use crate::session::statement::{Change, Facts, NEVER_RAN, Step, is_profiled};
use crate::shared::greetings::lexing_after;
use crate::state::Charset;
use crate::stats::pins::Pins;

/// Takes note of what the statement did: the one at hand, or the prepared one that it executes.
pub(crate) fn learn(
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
    dealings.transaction.learn_beginning(held);
    let was_in_transaction = held.in_transaction();
    let was_profiled = is_profiled(&held.connection.state.settings);
    held.doubt_transaction();
    match end.ending {
        Ending::Err(code) => {
            learn_from_error(context, &mut dealings.hands, &mut dealings.results, code, facts, held);
        }
        Ending::Ok | Ending::ResultSet => {
            learn_from_success(ground, context, dealings, facts, end, held);
            learn_insert_id(ground, context, dealings, facts, text, end, held);
        }
    }
    if !matches!(facts.transaction.end, TransactionEnd::No | TransactionEnd::Maybe) {
        // A transaction that is open behind it is another.
        ground.handle.transaction_since_ms.store(0, Ordering::Relaxed);
    }
    if was_in_transaction && !held.in_transaction() {
        held.unpin(Pins::NEXT_TRANSACTION);
    }
    if was_profiled && is_profiled(&held.connection.state.settings) {
        // Neither the SET that turns it on nor the one that turns it off is profiled.
        held.pin(Pins::PROFILES);
    }
    match facts.multiplex {
        Some(0) => held.pin(Pins::RULE),
        Some(1) => held.unpin(Pins::RULE),
        _ => {}
    }
    learn_own_values(context, &dealings.transaction, facts, end, held);
    if facts.writes {
        dealings.transaction.set_has_written(true);
    }
    if !held.in_transaction() && !dealings.are_in_transaction() {
        dealings.transaction.set_has_written(false);
    }
    dealings.transaction.forget_ended_snapshot(facts, end, held.in_transaction());
}

fn learn_from_success(
    ground: &Ground,
    context: &mut Context,
    dealings: &mut Dealings,
    facts: &Facts,
    end: &AnswerEnd,
    held: &mut Held,
) {
    held.note_transaction(end.status.contains(StatusFlags::SERVER_STATUS_IN_TRANS));
    if facts.server.alters_schema {
        held.connection.server().close_idle();
    }
    learn_change(ground, context, dealings, &facts.change, held);
    learn_query_cache_type(ground, context, facts);
    if let Some(charset) = &facts.character_set {
        dealings.diagnostics.set_results_charset(Some(Charset::set_names(charset, None)));
        translate_diagnostics(context, &mut dealings.diagnostics);
    }
    context.lexing = lexing_after(context.lexing, end.status);
    if let ServerFlavor::MySql(_) = context.lexing.server {
        // Its status flags never tell of this.
        context.lexing.ansi_quotes = context.has_ansi_quotes();
    }
    let autocommit = end.status.contains(StatusFlags::SERVER_STATUS_AUTOCOMMIT);
    held.connection.state.autocommit = Some(autocommit);
    context.state.autocommit = autocommit;
    held.pin(pins_of(facts, end, held));
    held.unpin(facts.unpins);
    if autocommit || facts.transaction.ends {
        held.unpin(Pins::SAVEPOINT);
    } else if facts.kind == Kind::Savepoint && !held.in_transaction() {
        held.pin(Pins::SAVEPOINT);
    }
    learn_metadata_lock(context, facts, held);
    if end.has_warned {
        held.pin(Pins::DIAGNOSTICS);
    }
    dealings.results.set_row_count(row_count_of(end));
}

/// ROW_COUNT() behind an answer that ended well.
pub(crate) fn row_count_of(end: &AnswerEnd) -> i64 {
    match end.ending {
        Ending::ResultSet => -1,
        _ => i64::try_from(end.ok.affected_rows).unwrap_or(i64::MAX),
    }
}

fn learn_change(
    ground: &Ground,
    context: &mut Context,
    dealings: &mut Dealings,
    change: &Change,
    held: &mut Held,
) {
    match change {
        Change::None => {}
        Change::Autocommit(_) => ground.worker.counters.autocommit.bump(),
        Change::Charset(charset) => {
            learn_charset(ground, context, &mut dealings.diagnostics, charset, held);
            renumber_environment(ground, context);
        }
        Change::Steps(steps) => {
            let isolation = context.own_isolation();
            learn_steps(ground, context, &mut dealings.diagnostics, steps, held);
            if held.in_transaction() && context.own_isolation() != isolation {
                // The open transaction keeps what it began with.
                dealings
                    .transaction
                    .touch([ground.shared.exact.clocks.everything()], &ground.shared.exact.clocks);
            }
        }
        Change::Role(statement) => {
            held.connection.state.role = Some(Arc::clone(statement));
            context.state.role = Some(Arc::clone(statement));
            renumber_environment(ground, context);
        }
        Change::Schema(schema) => {
            ground.worker.counters.frontend_use_db.bump();
            learn_schema(context, schema, held);
        }
    }
}

/// Whether a SET that failed may have changed something all the same: the commit that turning autocommit on stands for comes after what stands
/// before it.
fn may_be_half_done(facts: &Facts) -> bool {
    let Change::Steps(steps) = &facts.change else { return false };
    !steps.iter().all(Step::commits_nothing)
}

fn learn_from_error(
    context: &Context,
    hands: &mut Hands,
    results: &mut Results,
    code: u16,
    facts: &Facts,
    held: &mut Held,
) {
    results.set_row_count(-1);
    if NEVER_RAN.contains(&code) && !facts.runs_texts() {
        held.pin(Pins::DIAGNOSTICS.with(facts.pins_when_prepared()));
        return;
    }
    if held.in_transaction() && may_be_half_done(facts) {
        held.pin(Pins::SESSION_VARIABLE);
    }
    if !context.state.autocommit || facts.transaction.is_opaque {
        held.suspect_transaction();
    }
    learn_insert_id_of_failed(hands, results, facts, held);
    // The error is what SHOW WARNINGS will show. What the statement did before it failed is unknown.
    held.pin(Pins::DIAGNOSTICS);
    held.pin(facts.pins);
}

#[cfg(test)]
mod tests {
    use nuthatch_sql::{Lexing, classify};

    use super::*;
    use crate::session::statement::TextFacts;

    #[test]
    fn failed_set_may_be_half_done_only_where_it_turns_autocommit_on_among_other_things() {
        let lexing = Lexing::of(ServerFlavor::MariaDb(101_119));
        for (text, expected) in [
            ("SET sql_mode = ''", false),
            ("SET sql_mode = '', autocommit = 0", false),
            ("SET sql_mode = '', autocommit = OFF", false),
            ("SET sql_mode = '', autocommit = 1", true),
            ("SET autocommit = 1, sql_mode = ''", true),
            ("SET sql_mode = '', autocommit = @a", true),
            ("SET autocommit = 1", false),
            ("SET NAMES utf8mb4", false),
            ("COMMIT", false),
            ("UPDATE t SET autocommit = 1", false),
        ] {
            let facts = TextFacts::of(&classify(text.as_bytes(), lexing));
            let facts = Facts::of_text(Arc::new(facts.with_settings(text.as_bytes(), lexing)), None);
            assert_eq!(may_be_half_done(&facts), expected, "{text}: {:?}", facts.change);
        }
    }
}
