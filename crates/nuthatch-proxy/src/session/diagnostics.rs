//! The warnings and errors of the last statement, and how many rows it found: what the next one may ask for.
//!
//! A server keeps them with the connection. Held until the next statement, which mostly does not ask, a connection would be of no use
//! to others while the client thinks. So before a session lets go of one on which something is left, it fetches that: the client has its
//! answer by then. `SHOW WARNINGS` and its kin are answered from it. Where not all can be had (more than the server lists) the
//! connection is held, as it is with `mysql-hold_for_diagnostics`, for GET DIAGNOSTICS.
//!
//! Which statements leave the list of the one before alone was measured (MariaDB 10.11, MySQL 9.7): on MySQL only those that ask for
//! it; on MariaDB also those without a table.

use std::borrow::Cow;
use std::sync::Arc;

use nuthatch_sql::{
    DiagnosticsCount, DiagnosticsQuestion, Kind, ServerFlavor, TextPrepared, classify, diagnostics_question,
    text_prepared,
};
use nuthatch_wire::{
    AnswerEnd, AnswerKind, CapabilityFlags, Column, ColumnFlags, Command, Ending, ErrPacket, ErrorCode, Form,
    SmallResult, StatusFlags, append_lenenc_bytes, text_values,
};

use crate::backend::{Connection, Hostgroups};
use crate::pins::Pins;
use crate::roster::{HIDDEN, SessionEnd, may_hold_password};
use crate::state::{Charset, ResultCollation};
use crate::stats::Occurrence;

use super::lease::Held;
use super::plan::Facts;
use super::relay::command_packet;
use super::transcode::transcode;
use super::trouble::Trouble;
use super::{Left, Session, reply};

/// More than these bytes are not kept.
const BYTES_MAX: usize = 64 << 10;

/// MySQL's own `max_error_count`.
const ROWS_MAX: usize = 1024;

/// A server may leave out what is beyond this many (`max_error_count`).
const ROWS_UNTOLD_MAX: usize = 64;

/// A list of warnings and errors, all that there are.
#[derive(Debug)]
pub(super) struct Diagnostics {
    /// Payloads of the definitions of Level, Code and Message.
    definitions: Vec<Box<[u8]>>,
    /// Payloads of rows.
    rows: Vec<Box<[u8]>>,
    /// What its texts are in.
    collation: ResultCollation,
    /// Nobody knows it any more: it was on a connection that failed.
    is_lost: bool,
}

impl Diagnostics {
    /// Reads the answer to SHOW WARNINGS; `None` if it is no such list.
    fn parse(answer: &[u8], form: Form, collation: ResultCollation) -> Option<Self> {
        let SmallResult { definitions, rows } = SmallResult::parse(answer, form)?;
        let boxed = |payload: &[u8]| Box::from(payload);
        let is_list = definitions.len() == 3 && rows.iter().all(|row| cells(row).is_some());
        is_list.then(|| Self {
            definitions: definitions.iter().map(|payload| boxed(payload)).collect(),
            rows: rows.iter().map(|payload| boxed(payload)).collect(),
            collation,
            is_lost: false,
        })
    }

    /// Of one error or warning that the proxy itself has told.
    fn of_one(
        level: &str,
        server: ServerFlavor,
        collation: ResultCollation,
        code: u16,
        message: &[u8],
    ) -> Self {
        let row = reply::text_row(&[level.as_bytes(), code.to_string().as_bytes(), message]);
        let mut list = Self { definitions: Vec::new(), rows: vec![row.into()], collation, is_lost: false };
        list.come_in(server, collation);
        list
    }

    /// From now on its texts come in another collation.
    fn come_in(&mut self, server: ServerFlavor, collation: ResultCollation) {
        let (from, to) = (self.collation.charset(), collation.charset());
        for row in &mut self.rows {
            if let Some([level, code, message]) = cells(row) {
                *row = reply::text_row(&[level, code, &transcode(message, &from, &to)]).into();
            }
        }
        self.collation = collation;
        self.definitions = reply::diagnostics_definitions(server, collation).map(Box::from).into();
    }

    fn count(&self, counted: DiagnosticsCount) -> usize {
        match counted {
            DiagnosticsCount::Warnings => self.rows.len(),
            DiagnosticsCount::Errors => self.rows.iter().filter(|row| is_error(row)).count(),
        }
    }

    fn answer(&self, question: &DiagnosticsQuestion<'_>, to: Recipient) -> Vec<u8> {
        let Recipient { capabilities, status, rows_are } = to;
        match question {
            DiagnosticsQuestion::List { errors_only, skip, count } => {
                let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
                let listed = self.rows.iter().filter(|row| !errors_only || is_error(row));
                let chosen = listed.skip(size(*skip)).take(size(*count));
                let rows: Vec<Box<[u8]>> = match rows_are {
                    Rows::Text => chosen.cloned().collect(),
                    Rows::Binary => chosen.filter_map(|row| binary_row(row)).collect(),
                };
                reply::result_set_of(capabilities, status, &self.definitions, &rows)
            }
            DiagnosticsQuestion::Counts(counts) => {
                let definition = |(_, name): &(_, Cow<'_, [u8]>)| {
                    let flags = ColumnFlags::BINARY_FLAG | ColumnFlags::UNSIGNED_FLAG;
                    let name = String::from_utf8_lossy(name).into_owned();
                    Column { flags, ..Column::integer(name) }.encoded().into()
                };
                let definitions: Vec<Box<[u8]>> = counts.iter().map(definition).collect();
                let values = counts.iter().map(|(counted, _)| self.count(*counted) as u64);
                let row = match rows_are {
                    Rows::Text => {
                        let values: Vec<_> = values.map(|value| value.to_string()).collect();
                        reply::text_row(&values.iter().map(String::as_bytes).collect::<Vec<_>>())
                    }
                    Rows::Binary => {
                        // Header, and a bitmap of NULLs behind two bits of no use.
                        let mut row = vec![0; 1 + (counts.len() + 2).div_ceil(8)];
                        values.for_each(|value| row.extend(value.to_le_bytes()));
                        row
                    }
                };
                reply::result_set_of(capabilities, status, &definitions, &[row.into()])
            }
        }
    }
}

/// Who gets an answer, and how.
#[derive(Debug, Clone, Copy)]
struct Recipient {
    capabilities: CapabilityFlags,
    status: StatusFlags,
    rows_are: Rows,
}

/// Of which protocol rows are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rows {
    Text,
    Binary,
}

fn cells(row: &[u8]) -> Option<[&[u8]; 3]> {
    text_values(row)
}

/// A row of Level, Code and Message as the binary protocol has it: header, bitmap of NULLs, values.
fn binary_row(row: &[u8]) -> Option<Box<[u8]>> {
    let [level, code, message] = cells(row)?;
    let code: u32 = std::str::from_utf8(code).ok()?.parse().ok()?;
    let mut binary = vec![0, 0];
    append_lenenc_bytes(&mut binary, level);
    binary.extend(code.to_le_bytes());
    append_lenenc_bytes(&mut binary, message);
    Some(binary.into())
}

fn is_error(row: &[u8]) -> bool {
    cells(row).is_some_and(|[level, ..]| level == b"Error")
}

impl Session {
    /// Fetches what the statement has left on the connection, if that is all that it would be held for. The client has its answer:
    /// a connection that fails now is closed, and the session goes on without.
    pub(super) async fn keep_what_is_left(
        &mut self,
        end: &AnswerEnd,
        held: &mut Held,
    ) -> Result<(), Trouble> {
        match self.fetch_what_is_left(end, held).await {
            Err(Trouble::Lost(..) | Trouble::Cut(_)) if !held.pins.contains(Pins::FOUND_ROWS) => {
                held.connection.control.cut();
                held.pins = held.pins.without(Pins::PASSING);
                (self.diagnostics_on, self.left_on) = (None, None);
                self.diagnostics = Some(Box::new(self.lost_list()));
                Ok(())
            }
            outcome => outcome,
        }
    }

    async fn fetch_what_is_left(&mut self, end: &AnswerEnd, held: &mut Held) -> Result<(), Trouble> {
        let is_let_go = !held.in_transaction && held.pins.without(Pins::PASSING).is_empty();
        if !is_let_go && !held.is_to_be_asked || self.snapshot.mysql.hold_for_diagnostics {
            return Ok(());
        }
        if self.diagnostics_on != Some(held.connection.thread_id) {
            // The session has been told of others since.
            held.pins = held.pins.without(Pins::DIAGNOSTICS);
        }
        if held.pins.contains(Pins::DIAGNOSTICS) {
            Box::pin(self.fetch_diagnostics(end, held)).await?;
        }
        if held.pins.contains(Pins::FOUND_ROWS) && !held.pins.contains(Pins::DIAGNOSTICS) {
            Box::pin(self.fetch_found_rows(held)).await?;
        }
        Ok(())
    }

    pub(super) async fn fetch_diagnostics(
        &mut self,
        end: &AnswerEnd,
        held: &mut Held,
    ) -> Result<(), Trouble> {
        let Some(list) = self.fetch_list(held).await? else { return Ok(()) };
        let (count, told) = (list.rows.len(), usize::from(end.ok.warnings));
        // An error tells no count, nor does a statement that left alone what one before it had left.
        let is_told = !matches!(end.ending, Ending::Err(_)) && told > 0;
        let is_whole = if is_told { count == told } else { count < ROWS_UNTOLD_MAX };
        if is_whole {
            let server = Arc::clone(held.connection.server());
            self.left_on = Some((server, held.hostgroup, held.connection.thread_id));
            self.diagnostics = Some(Box::new(list));
            self.last_ran_on = None;
            held.pins = held.pins.without(Pins::DIAGNOSTICS);
        }
        Ok(())
    }

    /// Holds the connection again that has what is asked for in a way that is not understood, if nobody has had it since.
    pub(super) fn retake_what_is_left(&mut self, facts: &Facts) {
        if facts.reads_diagnostics
            && self.diagnostics.is_some()
            && let Some(left) = self.left_on.take()
            && let Some(mut held) = self.retake(left)
        {
            held.pins = held.pins.with(Pins::DIAGNOSTICS);
            (self.diagnostics, self.diagnostics_on) = (None, Some(held.connection.thread_id));
            self.held.push(held);
        } else if facts.reads_counts()
            && self.held.is_empty()
            && let Some(left) = self.left.take()
            && (!facts.reads_row_count || self.last_ran_on == Some(left.2))
            && (!facts.reads_found_rows || self.found_rows_on == Some(left.2))
        {
            // ROW_COUNT() and FOUND_ROWS() in larger statements.
            let held = self.retake(left);
            self.held.extend(held);
        }
    }

    fn retake(&self, (server, hostgroup, thread_id): Left) -> Option<Held> {
        let taken = Hostgroups::take_left(&server, thread_id, self.handle.id, &self.worker);
        taken.map(|connection| self.lend(hostgroup, connection))
    }

    /// Asks the connection for a number.
    pub(super) async fn ask(&mut self, held: &mut Held, question: &str) -> Result<Option<u64>, Trouble> {
        self.forget_what_a_question_changes();
        self.way(held).ask_number(question).await
    }

    /// The proxy asks something on the connection: counts are of the question then, and MySQL keeps no list over it.
    pub(super) fn forget_what_a_question_changes(&mut self) {
        (self.last_ran_on, self.found_rows_on) = (None, None);
        if let ServerFlavor::MySql(_) = self.lexing.server {
            self.left_on = None;
        }
    }

    async fn fetch_list(&mut self, held: &mut Held) -> Result<Option<Diagnostics>, Trouble> {
        self.worker.counters.diagnostics_fetched.bump();
        let form = held.connection.form();
        let collation = self.collation_on(&held.connection);
        let mut way = self.way(held);
        way.send(&command_packet(Command::Query, b"SHOW WARNINGS")).await?;
        let answer = way.read_up_to(AnswerKind::ResultSets, BYTES_MAX).await?;
        let list = answer.and_then(|answer| Diagnostics::parse(&answer, form, collation));
        Ok(list.map(|mut list| {
            let own = self.collation_of_results();
            if list.collation != own {
                list.come_in(self.lexing.server, own);
            }
            list
        }))
    }

    /// In which collation results come over a connection: behind a SET NAMES that failed it may be another than the session's.
    fn collation_on(&self, connection: &Connection) -> ResultCollation {
        let there = &connection.state;
        if there.charset == self.state.charset && self.state.settings.agrees_in_names(&there.settings) {
            return self.collation_of_results();
        }
        let of_results = there.settings.get(b"character_set_results").map(Charset::of_variable);
        of_results.as_ref().unwrap_or(&there.charset).of_results(self.lexing.server)
    }

    /// Refuses a command on a prepared statement that is not there, or has no cursor. MySQL adds such an error to what the last
    /// statement left.
    pub(super) async fn refuse_command(&mut self, code: ErrorCode, message: &str) -> Result<(), SessionEnd> {
        let is_added = matches!(self.lexing.server, ServerFlavor::MySql(_));
        let before = if is_added { self.take_list().await? } else { None };
        let error = self.own_error(code, message);
        self.put_before(before);
        self.send(&error).await
    }

    /// The same with a server's refusal of what the command asks of it.
    pub(super) async fn refuse_like_server(&mut self, refusal: &ErrPacket) -> Result<(), SessionEnd> {
        let is_added = matches!(self.lexing.server, ServerFlavor::MySql(_));
        // On a connection that is held the server has added it itself.
        if !is_added || self.diagnostics_on.is_none() {
            let before = if is_added { self.diagnostics.take() } else { None };
            self.note_error(refusal.code, &refusal.message);
            self.put_before(before);
        }
        self.last.row_count = -1;
        self.send(&reply::err_of_server(refusal)).await
    }

    /// Puts a list before the one at hand, as long as a server's may be.
    fn put_before(&mut self, before: Option<Box<Diagnostics>>) {
        if let (Some(mut before), Some(list)) = (before, &mut self.diagnostics) {
            before.rows.append(&mut list.rows);
            before.rows.truncate(ROWS_MAX);
            list.rows = before.rows;
        }
    }

    /// What the last statement left, wherever it is.
    async fn take_list(&mut self) -> Result<Option<Box<Diagnostics>>, SessionEnd> {
        let Some(thread_id) = self.diagnostics_on else { return Ok(self.diagnostics.take()) };
        let has_them = |held: &Held| held.connection.thread_id == thread_id;
        let Some(place) = self.held.iter().position(has_them) else { return Ok(None) };
        let mut held = self.held.swap_remove(place);
        let outcome = Box::pin(self.fetch_list(&mut held)).await;
        self.put_away(held, outcome.as_ref().err());
        match outcome {
            Ok(list) => Ok(list.map(Box::new)),
            Err(Trouble::End(end)) => Err(end),
            Err(_) => Ok(None),
        }
    }

    /// Before a statement: forgets what it does not leave alone, and lets go of what was held for that.
    pub(super) async fn begin_after_the_last(
        &mut self,
        leaves: bool,
        facts: &Facts,
    ) -> Result<(), SessionEnd> {
        self.settle_doubts();
        self.leaves_diagnostics = leaves;
        if leaves {
            return Ok(());
        }
        if !facts.asks_of_the_last() {
            self.forget_diagnostics().await?;
        } else if !facts.reads_diagnostics {
            (self.diagnostics, self.diagnostics_on) = (None, None);
        }
        Ok(())
    }

    /// After a statement that a server ran: what it has left is on its connection.
    pub(super) fn learn_diagnostics(&mut self, end: &AnswerEnd, held: &Held) {
        let has_some = end.has_warned || matches!(end.ending, Ending::Err(_));
        if has_some || !self.leaves_diagnostics {
            self.diagnostics = None;
            self.diagnostics_on = Some(held.connection.thread_id);
        }
    }

    /// Counts an error that a server has answered the statement of that text with, in `stats_mysql_errors`. Its message may quote the text,
    /// or what the statement ran.
    pub(super) fn count_error(&self, number: u16, text: &[u8], facts: &Facts, held: &mut Held) {
        let refusal = held.connection.refusal.take();
        let runs_another = || facts.is_opaque || matches!(facts.kind, Kind::Prepare | Kind::Execute);
        let message = match &refusal {
            Some(_) if may_hold_password(text) || runs_another() => HIDDEN,
            Some(refusal) => &refusal.message,
            None => b"",
        };
        let server = held.connection.server();
        let error = Occurrence {
            hostgroup: held.hostgroup.0,
            host: &server.host,
            port: server.port,
            user: &self.account.name,
            client: &self.handle.address().host,
            schema: &self.state.schema,
            number,
        };
        self.shared.hostgroups.errors.note(&error, message, self.latest_us / 1000);
    }

    fn lost_list(&self) -> Diagnostics {
        let (definitions, rows, collation) = (Vec::new(), Vec::new(), self.collation_of_results());
        Diagnostics { definitions, rows, collation, is_lost: true }
    }

    fn collation_of_results(&self) -> ResultCollation {
        let server = self.lexing.server;
        match self.state.settings.get(b"character_set_results") {
            Some(charset) => Charset::of_variable(charset).of_results(server),
            None => self.results_charset.as_ref().unwrap_or(&self.state.charset).of_results(server),
        }
    }

    /// After a change of character set.
    pub(super) fn translate_diagnostics(&mut self) {
        let collation = self.collation_of_results();
        if let Some(list) = &mut self.diagnostics {
            list.come_in(self.lexing.server, collation);
        }
    }

    /// Whether the statement leaves alone what the one before has left.
    pub(super) fn does_leave_diagnostics(&self, text: &[u8], facts: &Facts) -> bool {
        match self.lexing.server {
            ServerFlavor::MySql(_) => facts.reads_diagnostics && facts.kind == Kind::Show,
            ServerFlavor::MariaDb(_) => {
                // Where it cannot be told the server knows, if it has them.
                let is_told = !facts.is_opaque && !matches!(facts.kind, Kind::Prepare | Kind::Execute);
                facts.names_no_table
                    || facts.kind == Kind::Prepare && self.prepares_without_table(text)
                    || !is_told && self.diagnostics_on.is_some()
            }
        }
    }

    fn prepares_without_table(&self, text: &[u8]) -> bool {
        match text_prepared(text, self.lexing) {
            Some(TextPrepared::Prepare { statement: Some(inner), .. }) => {
                let facts = Facts::of(&classify(&inner, self.lexing));
                facts.kind != Kind::Prepare && self.does_leave_diagnostics(&inner, &facts)
            }
            _ => false,
        }
    }

    /// The answer to a question for warnings and errors that the session has.
    pub(super) fn answer_from_diagnostics(
        &mut self,
        facts: &Facts,
        text: &[u8],
        rows_are: Rows,
    ) -> Option<Vec<u8>> {
        if !facts.reads_diagnostics {
            return None;
        }
        let list = self.diagnostics.as_ref().filter(|list| !list.is_lost)?;
        let question = diagnostics_question(text, self.lexing)?;
        let to = Recipient { capabilities: self.capabilities, status: self.status(), rows_are };
        let answer = list.answer(&question, to);
        self.last.row_count = -1;
        if facts.kind == Kind::Select {
            self.set_found_rows(1);
        }
        if !self.does_leave_diagnostics(text, facts) {
            self.diagnostics = None;
        }
        Some(answer)
    }

    /// An error of the proxy's own as the answer to a command.
    pub(super) fn own_error(&mut self, code: ErrorCode, message: &str) -> Vec<u8> {
        self.worker.counters.generated_errors.bump();
        self.note_error(code.code, message.as_bytes());
        reply::err(1, code, message)
    }

    /// The client is told an error that no statement of its own was given by a server: from now on SHOW WARNINGS shows it.
    pub(super) fn note_error(&mut self, code: u16, message: &[u8]) {
        self.last.row_count = -1;
        self.note("Error", code, message);
    }

    /// The same of a warning.
    pub(super) fn note_warning(&mut self, code: u16, message: &[u8]) {
        self.note("Warning", code, message);
    }

    fn note(&mut self, level: &str, code: u16, message: &[u8]) {
        (self.last_ran_on, self.diagnostics_on, self.left_on) = (None, None, None);
        let (server, collation) = (self.lexing.server, self.collation_of_results());
        self.diagnostics = Some(Box::new(Diagnostics::of_one(level, server, collation, code, message)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_error_is_listed_as_a_server_would() {
        let collation = ResultCollation { number: 45, character_bytes_max: 4 };
        let list = Diagnostics::of_one("Error", ServerFlavor::MariaDb(101_119), collation, 1243, b"Unknown");
        assert_eq!(list.count(DiagnosticsCount::Errors), 1);
        let all = DiagnosticsQuestion::List { errors_only: false, skip: 0, count: 9 };
        let status = StatusFlags::SERVER_STATUS_AUTOCOMMIT;
        for capabilities in [CapabilityFlags::empty(), CapabilityFlags::CLIENT_DEPRECATE_EOF] {
            let answer = list.answer(&all, Recipient { capabilities, status, rows_are: Rows::Text });
            let form = Form::of(capabilities);
            let again = Diagnostics::parse(&answer, form, collation).expect("a list");
            assert_eq!((again.definitions, again.rows), (list.definitions.clone(), list.rows.clone()));
        }
        // As MariaDB 10.11 defines the first column under utf8mb4.
        let level = b"\x03def\x00\x00\x00\x05Level\x00\x0c-\x00\x1c\x00\x00\x00\xfd\x01\x00'\x00\x00";
        assert_eq!(&*list.definitions[0], level);
        assert_eq!(&*list.rows[0], b"\x05Error\x041243\x07Unknown");
        assert_eq!(binary_row(&list.rows[0]).as_deref(), Some(&b"\0\0\x05Error\xDB\x04\0\0\x07Unknown"[..]));
    }
}
