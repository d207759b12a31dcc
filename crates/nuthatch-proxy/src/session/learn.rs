//! What a statement did to the session, learned from its text and from the server's answer.
//!
//! The server's status flags are the truth about the transaction and autocommit. An ERR packet carries none: then a
//! transaction that was open counts as open, and one may have begun where the session does not commit by itself or the
//! statement ran code that cannot be seen.

use std::sync::Arc;

use nuthatch_sql::{Kind, ServerFlavor};
use nuthatch_wire::{AnswerEnd, Ending, StatusFlags};

use crate::proxy::lexing_after;

use super::lease::Held;
use super::plan::{Change, Facts};
use super::trouble::Trouble;
use super::{Charset, Pins, Session};

/// Errors of the parser: the statement did nothing, unless it runs texts of its own and one of those was meant.
const NEVER_RAN: [u16; 2] = [1064, 1065];

impl Session {
    /// Takes note of what the statement did.
    pub(super) fn learn(&mut self, facts: &Facts, end: &AnswerEnd, held: &mut Held) {
        self.last_ran_on = Some(held.connection.thread_id);
        self.learn_diagnostics(end, held);
        self.learn_beginning(held);
        let was_in_transaction = held.in_transaction;
        held.is_surely_in_transaction = false;
        match end.ending {
            Ending::Err(code) => self.learn_from_error(code, facts, held),
            Ending::Ok | Ending::ResultSet => self.learn_from_success(facts, end, held),
        }
        if was_in_transaction && !held.in_transaction {
            held.pins = held.pins.without(Pins::NEXT_TRANSACTION);
        }
        match facts.multiplex {
            Some(0) => held.pins = held.pins.with(Pins::RULE),
            Some(1) => held.pins = held.pins.without(Pins::RULE),
            _ => {}
        }
        self.learn_delay(end, held);
        if facts.writes {
            self.wrote_in_transaction = true;
        }
        if !held.in_transaction && !self.is_in_transaction() {
            self.wrote_in_transaction = false;
        }
        self.forget_ended_snapshot(facts, end, held.in_transaction);
    }

    fn learn_from_error(&mut self, code: u16, facts: &Facts, held: &mut Held) {
        self.last.row_count = -1;
        if NEVER_RAN.contains(&code) && !runs_texts(facts) {
            held.pins = held.pins.with(Pins::DIAGNOSTICS);
            return;
        }
        held.in_transaction |= !self.state.autocommit || facts.is_opaque;
        self.learn_insert_id_of_failed(facts, held);
        // The error is what SHOW WARNINGS will show. What the statement did before it failed is unknown.
        held.pins = held.pins.with(Pins::DIAGNOSTICS);
        held.pins = held.pins.with(Self::pins_of_failed(facts, code));
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
            self.results_charset = Some(Charset::Names(format!("SET NAMES {charset}").into()));
            self.translate_diagnostics();
        }
        self.lexing = lexing_after(self.lexing, end.status);
        if let ServerFlavor::MySql(_) = self.lexing.server {
            // Its status flags never tell of this.
            self.lexing.ansi_quotes = self.has_ansi_quotes();
        }
        let autocommit = end.status.contains(StatusFlags::SERVER_STATUS_AUTOCOMMIT);
        held.connection.state.autocommit = Some(autocommit);
        self.state.autocommit = autocommit;
        held.pins = held.pins.with(self.pins_of(facts, end, held)).without(facts.unpins);
        if autocommit || facts.ends_transaction {
            held.pins = held.pins.without(Pins::SAVEPOINT);
        } else if facts.kind == Kind::Savepoint && !held.in_transaction {
            held.pins = held.pins.with(Pins::SAVEPOINT);
        }
        if end.has_warned {
            held.pins = held.pins.with(Pins::DIAGNOSTICS);
        }
        self.learn_insert_id(facts, end, held);
        match end.ending {
            Ending::ResultSet => {
                self.last.row_count = -1;
                // SHOW WARNINGS and SHOW ERRORS leave what FOUND_ROWS() says as it was.
                if facts.kind != Kind::Show || !facts.reads_diagnostics {
                    self.last.found_rows = end.rows;
                }
            }
            _ => self.last.row_count = i64::try_from(end.ok.affected_rows).unwrap_or(i64::MAX),
        }
    }

    /// Asks, after some schema was dropped, whether it was the session's own: the status flag does not tell which.
    pub(super) async fn learn_dropped_schema(
        &mut self,
        end: &AnswerEnd,
        held: &mut Held,
    ) -> Result<(), Trouble> {
        if end.status_seen.contains(StatusFlags::SERVER_STATUS_DB_DROPPED)
            && self.way(held).ask_number("SELECT DATABASE() IS NULL").await? == Some(1)
        {
            held.connection.state.schema.clear();
            self.state.schema.clear();
        }
        Ok(())
    }

    fn learn_change(&mut self, change: &Change, held: &mut Held) {
        match change {
            Change::None => {}
            Change::Autocommit(_) => self.worker.counters.autocommit.bump(),
            Change::Charset(charset) => {
                self.worker.counters.frontend_set_names.bump();
                self.keep_strings_of_variables(held);
                self.state.settings.forget_names();
                held.connection.state.settings.forget_names();
                held.connection.state.charset = charset.clone();
                self.state.charset = charset.clone();
                self.results_charset = None;
                self.translate_diagnostics();
                self.renumber_environment();
            }
            Change::Settings(settings) => {
                let isolation = self.own_isolation();
                self.learn_settings(settings, held);
                if held.in_transaction && self.own_isolation() != isolation {
                    // The open transaction keeps what it began with.
                    self.touched.add([self.proxy.clocks.everything()], &self.proxy.clocks);
                }
            }
            Change::Role(statement) => {
                held.connection.state.role = Some(Arc::clone(statement));
                self.state.role = Some(Arc::clone(statement));
                self.renumber_environment();
            }
            Change::Schema(schema) => {
                self.worker.counters.frontend_use_db.bump();
                held.connection.state.schema.clone_from(schema);
                self.state.schema.clone_from(schema);
            }
        }
    }
}

/// Whether more texts than its own are parsed while it runs: of several statements, of a procedure, of a block.
const fn runs_texts(facts: &Facts) -> bool {
    match facts.kind {
        Kind::Multi | Kind::Call | Kind::Execute => true,
        Kind::Other => facts.is_opaque && facts.pins.contains(Pins::SESSION_VARIABLE),
        _ => false,
    }
}
