//! Answers that need no server.

use nuthatch_sql::{Asked, Kind, Question, ServerFlavor, session_questions};
use nuthatch_wire::{CapabilityFlags, Column, ColumnFlags, ColumnType, ErrorCode};

use super::diagnostics::Rows;
use super::plan::{Change, Plan};
use super::{InsertId, Pins, Session, reply};

impl Session {
    /// The answer to a statement that the proxy gives by itself; `None` when a server must.
    pub(super) fn answer_alone(&mut self, plan: &Plan) -> Option<Vec<u8>> {
        if let Some(message) = &plan.verdict.error_msg {
            return Some(self.own_error(ErrorCode::RULE_ERROR, message));
        }
        if let Some(message) = &plan.verdict.ok_msg {
            self.last.row_count = 0;
            return Some(reply::ok_with_message(self.status(), message));
        }
        if plan.facts.reads_diagnostics {
            let text = self.executed_text(plan);
            if let Some(answer) = self.answer_from_diagnostics(&plan.facts, &text, Rows::Text) {
                return Some(answer);
            }
        }
        let counters = &self.worker.counters;
        match (plan.facts.kind, &plan.facts.change) {
            (_, Change::Schema(schema)) => {
                let message = self.refused_by_lock(schema)?;
                Some(self.own_error(ErrorCode::DB_ACCESS_DENIED, &message))
            }
            (Kind::Set, Change::Autocommit(on)) => self.set_autocommit_alone(*on),
            (Kind::Commit, _) => {
                counters.commit.bump();
                self.needs_no_end(plan).then(|| {
                    self.worker.counters.commit_filtered.bump();
                    self.last.row_count = 0;
                    reply::ok(self.status())
                })
            }
            (Kind::Rollback, _) => {
                counters.rollback.bump();
                self.needs_no_end(plan).then(|| {
                    self.worker.counters.rollback_filtered.bump();
                    self.last.row_count = 0;
                    reply::ok(self.status())
                })
            }
            // What only the session knows is never cacheable.
            (Kind::Select, _) if !plan.facts.cacheable => self.answer_question(plan),
            _ => None,
        }
    }

    /// Neither a transaction nor anything else is open that COMMIT or ROLLBACK could end, and it does nothing else: AND CHAIN
    /// begins a transaction also where none was, RELEASE hangs up.
    fn needs_no_end(&self, plan: &Plan) -> bool {
        self.held.is_empty() && plan.facts.ends_transaction && !plan.facts.disconnects
    }

    /// `SET autocommit` without anything held is a note to ourselves; connections follow when they are lent. Whether a client is to be
    /// told of the variable only a server knows (`session_track_system_variables`).
    fn set_autocommit_alone(&mut self, on: bool) -> Option<Vec<u8>> {
        if !self.held.is_empty() || self.capabilities.contains(CapabilityFlags::CLIENT_SESSION_TRACK) {
            return None;
        }
        self.worker.counters.autocommit.bump();
        self.worker.counters.autocommit_filtered.bump();
        self.state.autocommit = on;
        self.last.row_count = 0;
        Some(reply::ok(self.status()))
    }

    /// A SELECT of nothing but what the session itself knows.
    fn answer_question(&mut self, plan: &Plan) -> Option<Vec<u8>> {
        let (columns, values) = match self.prepared_text(plan) {
            Some(text) => self.answer_to(&text),
            None => self.answer_to(self.statement_text()),
        }?;
        // The question is itself a statement with one row.
        (self.last.row_count, self.last.found_rows) = (-1, 1);
        let text = |(column, value): (&Column, &i64)| match column.flags.contains(ColumnFlags::UNSIGNED_FLAG)
        {
            true => value.cast_unsigned().to_string(),
            false => value.to_string(),
        };
        let texts: Vec<_> = columns.iter().zip(&values).map(text).collect();
        let row: Vec<_> = texts.iter().map(|text| Some(text.as_bytes())).collect();
        Some(reply::result_set(self.capabilities, self.status(), &columns, Some(&row)))
    }

    /// The same as a prepared statement of that text, whose rows are binary.
    pub(super) fn answer_prepared_question(&mut self, text: &[u8]) -> Option<Vec<u8>> {
        let (columns, values) = self.answer_to(text)?;
        (self.last.row_count, self.last.found_rows) = (-1, 1);
        Some(reply::binary_numbers(self.capabilities, self.status(), &columns, &values))
    }

    /// What the session itself knows of all that is asked; unsigned values by their bits.
    fn answer_to(&self, text: &[u8]) -> Option<(Vec<Column>, Vec<i64>)> {
        let questions = session_questions(text, self.lexing)?;
        questions.iter().map(|question| self.answer_one(question)).collect()
    }

    fn answer_one(&self, question: &Question<'_>) -> Option<(Column, i64)> {
        let value = match question.asked {
            Asked::LastInsertId => match self.insert_id {
                InsertId::Known(id) => id.cast_signed(),
                InsertId::At(_) => return None,
            },
            Asked::ConnectionId => i64::from(self.handle.id),
            Asked::RowCount => self.last.row_count,
            Asked::FoundRows if self.held.iter().any(|held| held.pins.contains(Pins::FOUND_ROWS)) => {
                return None;
            }
            Asked::FoundRows => self.last.found_rows.cast_signed(),
        };
        let name = String::from_utf8_lossy(&question.column.text()).into_owned();
        let column = match question.asked {
            Asked::LastInsertId if question.is_variable => {
                let flags = ColumnFlags::BINARY_FLAG | ColumnFlags::UNSIGNED_FLAG;
                Column { flags, ..Column::integer(name) }
            }
            Asked::LastInsertId => Column::unsigned(name),
            Asked::ConnectionId if matches!(self.lexing.server, ServerFlavor::MariaDb(_)) => {
                Column { column_type: ColumnType::MYSQL_TYPE_LONG, ..Column::unsigned(name) }
            }
            Asked::ConnectionId => Column::unsigned(name),
            Asked::RowCount | Asked::FoundRows => Column::never_null(name),
        };
        Some((column, value))
    }
}
