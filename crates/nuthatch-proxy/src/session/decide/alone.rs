//! Answers that need no server.

use nuthatch_sql::{Asked, Kind, Question, ServerFlavor, session_questions};
use nuthatch_wire::{CapabilityFlags, Column, ColumnFlags, ColumnType, ErrorCode};

use crate::session::Session;
use crate::session::after::found_rows::set_found_rows;
use crate::session::parts::{Beginning, Ground, InsertId, Rows};
use crate::session::statement::{Change, Plan};
use crate::session::way::reply;
use crate::stats::pins::Pins;

/// What is told who would stop a server.
const STOPS_NOTHING: &str = "Access denied; you need (at least one of) the SHUTDOWN privilege(s) for this operation: \
                             the proxy stops no server (mysql-allow_shutdown)";

/// What a session knows of itself.
enum Known {
    /// Unsigned ones by their bits.
    Number(i64),
    Text(String),
}

impl Session {
    /// The answer to a statement that the proxy gives by itself; `None` when a server must.
    pub(crate) fn answer_alone(&mut self, plan: &Plan) -> Option<Vec<u8>> {
        if let Some(message) = &plan.verdict.error_msg {
            return Some(self.own_error(ErrorCode::RULE_ERROR, message));
        }
        if may_not_stop(&self.ground, plan) {
            return Some(self.own_error(ErrorCode::SPECIFIC_ACCESS_DENIED, STOPS_NOTHING));
        }
        if let Some(message) = &plan.verdict.ok_msg {
            self.results.row_count = 0;
            return Some(reply::ok_with_message(self.status(), 0, message));
        }
        if plan.facts.reads_diagnostics {
            let text = self.executed_text(plan);
            if let Some(answer) = self.answer_from_diagnostics(&plan.facts, &text, Rows::Text) {
                return Some(answer);
            }
        }
        if let Some(answer) = self.begin_or_end_alone(plan) {
            return Some(answer);
        }
        let counters = &self.ground.worker.counters;
        match (plan.facts.kind, &plan.facts.change) {
            (_, Change::Schema(schema)) => {
                let message = self.refused_by_lock(schema)?;
                Some(self.own_error(ErrorCode::DB_ACCESS_DENIED, &message))
            }
            (Kind::Set, Change::Autocommit(on)) => {
                let answer = self.set_autocommit_alone(*on)?;
                self.learn_query_cache_type(&plan.facts);
                Some(answer)
            }
            (Kind::Show, _) => self.answer_cache_show(plan),
            (Kind::Commit, _) => {
                counters.commit.bump();
                self.hands.needs_no_end(plan).then(|| {
                    self.ground.worker.counters.commit_filtered.bump();
                    self.results.row_count = 0;
                    reply::ok(self.status())
                })
            }
            (Kind::Rollback, _) => {
                counters.rollback.bump();
                self.hands.needs_no_end(plan).then(|| {
                    self.ground.worker.counters.rollback_filtered.bump();
                    self.results.row_count = 0;
                    reply::ok(self.status())
                })
            }
            // What only the session knows is never cacheable.
            (Kind::Select, _) if plan.facts.cacheable.is_err() => self.answer_question(plan),
            _ => None,
        }
    }

    /// `SET autocommit` without anything held is a note to ourselves; connections follow when they are lent. Whether a client is to be
    /// told of the variable only a server knows (`session_track_system_variables`).
    fn set_autocommit_alone(&mut self, on: bool) -> Option<Vec<u8>> {
        if !self.hands.held.is_empty()
            || self.client.capabilities.contains(CapabilityFlags::CLIENT_SESSION_TRACK)
        {
            return None;
        }
        self.ground.worker.counters.autocommit.bump();
        self.ground.worker.counters.autocommit_filtered.bump();
        if on && !self.context.state.autocommit {
            // It commits what is open, which is nothing.
            self.transaction.beginning = Beginning::Usual;
        }
        self.context.state.autocommit = on;
        self.results.row_count = 0;
        Some(reply::ok(self.status()))
    }

    /// A SELECT of nothing but what the session itself knows.
    fn answer_question(&mut self, plan: &Plan) -> Option<Vec<u8>> {
        let (columns, values) = match self.statements.prepared_text(plan) {
            Some(text) => self.answer_to(&text),
            None => self.answer_to(self.client.statement_text()),
        }?;
        // The question is itself a statement with one row.
        self.results.row_count = -1;
        set_found_rows(&mut self.results, 1);
        let text = |(column, value): (&Column, &Known)| match value {
            Known::Number(value) if column.flags.contains(ColumnFlags::UNSIGNED_FLAG) => {
                value.cast_unsigned().to_string()
            }
            Known::Number(value) => value.to_string(),
            Known::Text(text) => text.clone(),
        };
        let texts: Vec<_> = columns.iter().zip(&values).map(text).collect();
        let row: Vec<_> = texts.iter().map(|text| Some(text.as_bytes())).collect();
        Some(reply::result_set(self.client.capabilities, self.status(), &columns, Some(&row)))
    }

    /// The same as a prepared statement of that text, whose rows are binary.
    pub(crate) fn answer_prepared_question(&mut self, text: &[u8]) -> Option<Vec<u8>> {
        let (columns, values) = self.answer_to(text)?;
        let number = |value: &Known| match value {
            Known::Number(number) => Some(*number),
            Known::Text(_) => None,
        };
        let values: Vec<_> = values.iter().map(number).collect::<Option<_>>()?;
        self.results.row_count = -1;
        set_found_rows(&mut self.results, 1);
        Some(reply::binary_numbers(self.client.capabilities, self.status(), &columns, &values))
    }

    /// What the session itself knows of all that is asked.
    fn answer_to(&self, text: &[u8]) -> Option<(Vec<Column>, Vec<Known>)> {
        let questions = session_questions(text, self.context.lexing)?;
        questions.iter().map(|question| self.answer_one(question)).collect()
    }

    fn answer_one(&self, question: &Question<'_>) -> Option<(Column, Known)> {
        let name = String::from_utf8_lossy(&question.column.text()).into_owned();
        Some(match question.asked {
            Asked::LastInsertId => {
                let InsertId::Known(id) = self.results.insert_id else { return None };
                let column =
                    if question.is_variable { unsigned_or_null(name) } else { Column::unsigned(name) };
                (column, Known::Number(id.cast_signed()))
            }
            Asked::ConnectionId => {
                let column_type = match self.context.lexing.server {
                    ServerFlavor::MariaDb(_) => ColumnType::MYSQL_TYPE_LONG,
                    ServerFlavor::MySql(_) => ColumnType::MYSQL_TYPE_LONGLONG,
                };
                (
                    Column { column_type, ..Column::unsigned(name) },
                    Known::Number(self.ground.handle.id.into()),
                )
            }
            Asked::RowCount => (Column::never_null(name), Known::Number(self.results.row_count)),
            // Without that mode it is an error of the grammar.
            Asked::OracleRowCount if !self.context.has_set_oracle_mode() => return None,
            Asked::OracleRowCount if self.results.row_count >= 0 => {
                (Column::never_null(name), Known::Number(self.results.row_count))
            }
            Asked::FoundRows | Asked::OracleRowCount
                if self.hands.held.iter().any(|held| held.pins.contains(Pins::FOUND_ROWS)) =>
            {
                return None;
            }
            Asked::FoundRows | Asked::OracleRowCount => {
                let found = self.results.found_rows.known()?;
                (Column::never_null(name), Known::Number(found.cast_signed()))
            }
            Asked::QueryCache(variable, reads) => {
                let value = self.cache_variable(variable, reads);
                match value.parse() {
                    Ok(number) => (unsigned_or_null(name), Known::Number(number)),
                    Err(_no_number) => (Column::text(name), Known::Text(value)),
                }
            }
        })
    }
}

/// A variable's column of numbers.
fn unsigned_or_null(name: String) -> Column {
    let flags = ColumnFlags::BINARY_FLAG | ColumnFlags::UNSIGNED_FLAG;
    Column { flags, ..Column::integer(name) }
}

fn may_not_stop(ground: &Ground, plan: &Plan) -> bool {
    plan.facts.stops_server && !ground.snapshot.mysql.allow_shutdown
}

/// Refuses to prepare what would stop a server.
pub(crate) fn refusal_to_stop(ground: &Ground, plan: &Plan) -> Option<&'static str> {
    may_not_stop(ground, plan).then_some(STOPS_NOTHING)
}
