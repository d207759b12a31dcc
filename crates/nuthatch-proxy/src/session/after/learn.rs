//! What a statement did to the session, learned from its text and from the server's answer.
//!
//! The server's status flags are the truth about the transaction and autocommit. An ERR packet carries none: then a
//! transaction that was open counts as open, and one may have begun where the session does not commit by itself or the
//! statement ran code that cannot be seen.

use std::sync::Arc;

use nuthatch_sql::{Kind, ServerFlavor};
use nuthatch_wire::{AnswerEnd, Ending, StatusFlags};

use crate::session::after::delay::learn_delay;
use crate::session::after::diagnostics::{learn_diagnostics, translate_diagnostics};
use crate::session::after::insert_id::learn_insert_id_of_failed;
use crate::session::after::own_values::learn_own_values;
use crate::session::after::tracker::pins_of;
use crate::session::parts::{Context, Hands, Held, Results};
use crate::session::statement::{Change, Facts, NEVER_RAN, Step, is_profiled};
use crate::session::way::Trouble;
use crate::session::{Session, is_in_transaction};
use crate::shared::greetings::lexing_after;
use crate::state::Charset;
use crate::stats::pins::Pins;

impl Session {
    /// Takes note of what the statement did: the one at hand, or the prepared one that it executes.
    pub(crate) fn learn(&mut self, facts: &Facts, prepared: Option<&[u8]>, end: &AnswerEnd, held: &mut Held) {
        self.hands.last_ran_on = Some(held.connection.thread_id);
        learn_diagnostics(&mut self.diagnostics, end, held);
        self.transaction.learn_beginning(held);
        let was_in_transaction = held.in_transaction;
        let was_profiled = is_profiled(&held.connection.state.settings);
        held.is_surely_in_transaction = false;
        match end.ending {
            Ending::Err(code) => {
                learn_from_error(&self.context, &mut self.hands, &mut self.results, code, facts, held);
            }
            Ending::Ok | Ending::ResultSet => {
                self.learn_from_success(facts, end, held);
                self.learn_insert_id(facts, prepared, end, held);
            }
        }
        if was_in_transaction && !held.in_transaction {
            held.pins = held.pins.without(Pins::NEXT_TRANSACTION);
        }
        if was_profiled && is_profiled(&held.connection.state.settings) {
            // Neither the SET that turns it on nor the one that turns it off is profiled.
            held.pins = held.pins.with(Pins::PROFILES);
        }
        match facts.multiplex {
            Some(0) => held.pins = held.pins.with(Pins::RULE),
            Some(1) => held.pins = held.pins.without(Pins::RULE),
            _ => {}
        }
        learn_delay(&self.ground, &self.account, end, held);
        learn_own_values(&self.context, &self.transaction, facts, end, held);
        if facts.writes {
            self.transaction.has_written = true;
        }
        if !held.in_transaction && !is_in_transaction(&self.transaction, &self.hands) {
            self.transaction.has_written = false;
        }
        self.transaction.forget_ended_snapshot(facts, end, held.in_transaction);
    }

    fn learn_from_success(&mut self, facts: &Facts, end: &AnswerEnd, held: &mut Held) {
        held.in_transaction = end.status.contains(StatusFlags::SERVER_STATUS_IN_TRANS);
        held.is_surely_in_transaction = held.in_transaction;
        if facts.alters_schema {
            held.connection.server().close_idle();
        }
        self.learn_change(&facts.change, held);
        self.learn_query_cache_type(facts);
        if let Some(charset) = &facts.character_set {
            self.diagnostics.results_charset = Some(Charset::set_names(charset, None));
            translate_diagnostics(&self.context, &mut self.diagnostics);
        }
        self.context.lexing = lexing_after(self.context.lexing, end.status);
        if let ServerFlavor::MySql(_) = self.context.lexing.server {
            // Its status flags never tell of this.
            self.context.lexing.ansi_quotes = self.context.has_ansi_quotes();
        }
        let autocommit = end.status.contains(StatusFlags::SERVER_STATUS_AUTOCOMMIT);
        held.connection.state.autocommit = Some(autocommit);
        self.context.state.autocommit = autocommit;
        held.pins = held.pins.with(pins_of(facts, end, held)).without(facts.unpins);
        if autocommit || facts.ends_transaction {
            held.pins = held.pins.without(Pins::SAVEPOINT);
        } else if facts.kind == Kind::Savepoint && !held.in_transaction {
            held.pins = held.pins.with(Pins::SAVEPOINT);
        }
        if end.has_warned {
            held.pins = held.pins.with(Pins::DIAGNOSTICS);
        }
        match end.ending {
            Ending::ResultSet => self.results.row_count = -1,
            _ => self.results.row_count = i64::try_from(end.ok.affected_rows).unwrap_or(i64::MAX),
        }
    }

    /// Asks, after some schema was dropped, whether it was the session's own: the status flag does not tell which.
    pub(crate) async fn learn_dropped_schema(
        &mut self,
        end: &AnswerEnd,
        held: &mut Held,
    ) -> Result<(), Trouble> {
        if std::mem::take(&mut held.is_in_unnamed_schema) {
            return self.learn_name_of_schema(held).await;
        }
        if end.status_seen.contains(StatusFlags::SERVER_STATUS_DB_DROPPED)
            && self.ask(held, "SELECT DATABASE() IS NULL").await? == Some(1)
        {
            held.connection.state.schema.clear();
            self.context.state.schema.clear();
        }
        Ok(())
    }

    /// Asks in which schema the connection is: names in other character sets are read by servers only.
    pub(crate) async fn learn_name_of_schema(&mut self, held: &mut Held) -> Result<(), Trouble> {
        held.is_in_unnamed_schema = false;
        let name = self.way(held).ask_value("SELECT CAST(DATABASE() AS BINARY)").await?.unwrap_or_default();
        held.connection.state.schema.clone_from(&name);
        self.context.state.schema = name;
        Ok(())
    }

    fn learn_change(&mut self, change: &Change, held: &mut Held) {
        match change {
            Change::None => {}
            Change::Autocommit(_) => self.ground.worker.counters.autocommit.bump(),
            Change::Charset(charset) => {
                self.learn_charset(charset, held);
                self.renumber_environment();
            }
            Change::Steps(steps) => {
                let isolation = self.context.own_isolation();
                self.learn_steps(steps, held);
                if held.in_transaction && self.context.own_isolation() != isolation {
                    // The open transaction keeps what it began with.
                    self.transaction.touched.add(
                        [self.ground.shared.exact.clocks.everything()],
                        &self.ground.shared.exact.clocks,
                    );
                }
            }
            Change::Role(statement) => {
                held.connection.state.role = Some(Arc::clone(statement));
                self.context.state.role = Some(Arc::clone(statement));
                self.renumber_environment();
            }
            Change::Schema(schema) => {
                self.ground.worker.counters.frontend_use_db.bump();
                learn_schema(&mut self.context, schema, held);
            }
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
    results.row_count = -1;
    if NEVER_RAN.contains(&code) && !facts.runs_texts() {
        held.pins = held.pins.with(Pins::DIAGNOSTICS).with(facts.pins_when_prepared());
        return;
    }
    if held.in_transaction && may_be_half_done(facts) {
        held.pins = held.pins.with(Pins::SESSION_VARIABLE);
    }
    held.in_transaction |= !context.state.autocommit || facts.is_opaque;
    learn_insert_id_of_failed(hands, results, facts, held);
    // The error is what SHOW WARNINGS will show. What the statement did before it failed is unknown.
    held.pins = held.pins.with(Pins::DIAGNOSTICS);
    held.pins = held.pins.with(facts.pins);
}

/// The connection is in a schema that the client named so.
pub(crate) fn learn_schema(context: &mut Context, name: &[u8], held: &mut Held) {
    match context.state.charset.reads_as_utf8(name) {
        true => {
            held.connection.state.schema = name.to_vec();
            context.state.schema = name.to_vec();
        }
        false => held.is_in_unnamed_schema = true,
    }
}
