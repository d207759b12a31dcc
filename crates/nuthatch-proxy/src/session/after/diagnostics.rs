//! The warnings and errors of the last statement, and how many rows it found: what the next one may ask for.
//!
//! A server keeps them with the connection. Held until the next statement, which mostly does not ask, a connection would be of no use
//! to others while the client thinks. So before a session lets go of one on which something is left, it fetches that: the client has its
//! answer by then. `SHOW WARNINGS` and its kin are answered from it. Where not all can be had (more than the server lists) the
//! connection is held, as it is with `mysql-hold_for_diagnostics`, for GET DIAGNOSTICS.
//!
//! Which statements leave the list of the one before alone was measured (MariaDB 10.11, MySQL 9.7): on MySQL only those that ask for
//! it; on MariaDB also those without a table.

use std::sync::Arc;

use nuthatch_sql::{Kind, ServerFlavor, TextPrepared, classify, diagnostics_question, text_prepared};
use nuthatch_wire::{AnswerEnd, AnswerKind, Command, Ending, ErrPacket, ErrorCode};

use crate::backend::{Connection, Hostgroups};
use crate::roster::{HIDDEN, SessionEnd, may_hold_password};
use crate::session::Session;
use crate::session::after::found_rows::set_found_rows;
use crate::session::parts::{
    Account, Context, Diagnostics, Ground, Hands, Held, Left, List, Recipient, Rows,
};
use crate::session::statement::Facts;
use crate::session::way::{Trouble, command_packet, reply};
use crate::state::{Charset, ResultCollation};
use crate::stats::Occurrence;
use crate::stats::pins::Pins;

/// More than these bytes are not kept.
const BYTES_MAX: usize = 64 << 10;

/// MySQL's own `max_error_count`.
const ROWS_MAX: usize = 1024;

/// A server may leave out what is beyond this many (`max_error_count`).
const ROWS_UNTOLD_MAX: usize = 64;

impl Session {
    /// Fetches what the statement has left on the connection, if that is all that it would be held for. The client has its answer:
    /// a connection that fails now is closed, and the session goes on without.
    pub(crate) async fn keep_what_is_left(
        &mut self,
        end: &AnswerEnd,
        held: &mut Held,
    ) -> Result<(), Trouble> {
        match self.fetch_what_is_left(end, held).await {
            Err(Trouble::Lost(..) | Trouble::Cut(_)) if !held.pins.contains(Pins::FOUND_ROWS) => {
                held.connection.control.cut();
                held.pins = held.pins.without(Pins::PASSING);
                (self.diagnostics.on, self.diagnostics.left_on) = (None, None);
                self.diagnostics.list = Some(Box::new(lost_list(&self.context, &self.diagnostics)));
                Ok(())
            }
            outcome => outcome,
        }
    }

    async fn fetch_what_is_left(&mut self, end: &AnswerEnd, held: &mut Held) -> Result<(), Trouble> {
        if !must_fetch_what_is_left(&self.ground, &self.diagnostics, held) {
            return Ok(());
        }
        if held.pins.contains(Pins::DIAGNOSTICS) {
            Box::pin(self.fetch_diagnostics(end, held)).await?;
        }
        if held.pins.contains(Pins::FOUND_ROWS) && !held.pins.contains(Pins::DIAGNOSTICS) {
            Box::pin(self.fetch_found_rows(held)).await?;
        }
        Ok(())
    }

    pub(crate) async fn fetch_diagnostics(
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
            self.diagnostics.left_on = Some((server, held.hostgroup, held.connection.thread_id));
            self.diagnostics.list = Some(Box::new(list));
            self.hands.last_ran_on = None;
            held.pins = held.pins.without(Pins::DIAGNOSTICS);
        }
        Ok(())
    }

    /// Holds the connection again that has what is asked for in a way that is not understood, if nobody has had it since.
    pub(crate) fn retake_what_is_left(&mut self, facts: &Facts) {
        if facts.reads_diagnostics
            && self.diagnostics.list.is_some()
            && let Some(left) = self.diagnostics.left_on.take()
            && let Some(mut held) = self.retake(left)
        {
            held.pins = held.pins.with(Pins::DIAGNOSTICS);
            (self.diagnostics.list, self.diagnostics.on) = (None, Some(held.connection.thread_id));
            self.hands.held.push(held);
        } else if facts.reads_counts()
            && self.hands.held.is_empty()
            && let Some(left) = self.hands.left.take()
            && (!facts.reads_row_count || self.hands.last_ran_on == Some(left.2))
            && (!facts.reads_found_rows || self.results.found_rows_on == Some(left.2))
        {
            // ROW_COUNT() and FOUND_ROWS() in larger statements.
            let held = self.retake(left);
            self.hands.held.extend(held);
        }
    }

    fn retake(&self, (server, hostgroup, thread_id): Left) -> Option<Held> {
        let taken = Hostgroups::take_left(&server, thread_id, self.ground.handle.id, &self.ground.worker);
        taken.map(|connection| Held::lent(&self.ground, hostgroup, connection))
    }

    /// Asks the connection for a number.
    pub(crate) async fn ask(&mut self, held: &mut Held, question: &str) -> Result<Option<u64>, Trouble> {
        self.forget_what_a_question_changes();
        self.way(held).ask_number(question).await
    }

    /// The proxy asks something on the connection: counts are of the question then, and MySQL keeps no list over it.
    pub(crate) fn forget_what_a_question_changes(&mut self) {
        (self.hands.last_ran_on, self.results.found_rows_on) = (None, None);
        if let ServerFlavor::MySql(_) = self.context.lexing.server {
            self.diagnostics.left_on = None;
        }
    }

    async fn fetch_list(&mut self, held: &mut Held) -> Result<Option<List>, Trouble> {
        self.ground.worker.counters.diagnostics_fetched.bump();
        let form = held.connection.form();
        let collation = collation_on(&self.context, &self.diagnostics, &held.connection);
        let mut way = self.way(held);
        way.send(&command_packet(Command::Query, b"SHOW WARNINGS")).await?;
        let answer = way.read_up_to(AnswerKind::ResultSets, BYTES_MAX).await?;
        let list = answer.and_then(|answer| List::parse(&answer, form, collation));
        Ok(list.map(|mut list| {
            let own = collation_of_results(&self.context, &self.diagnostics);
            if list.collation != own {
                list.come_in(self.context.lexing.server, own);
            }
            list
        }))
    }

    /// Refuses a command on a prepared statement that is not there, or has no cursor. MySQL adds such an error to what the last
    /// statement left.
    pub(crate) async fn refuse_command(&mut self, code: ErrorCode, message: &str) -> Result<(), SessionEnd> {
        let is_added = matches!(self.context.lexing.server, ServerFlavor::MySql(_));
        let before = if is_added { self.take_list().await? } else { None };
        let error = self.own_error(code, message);
        put_before(&mut self.diagnostics, before);
        self.client.send(&self.ground, &error).await
    }

    /// The same with a server's refusal of what the command asks of it.
    pub(crate) async fn refuse_like_server(&mut self, refusal: &ErrPacket) -> Result<(), SessionEnd> {
        let is_added = matches!(self.context.lexing.server, ServerFlavor::MySql(_));
        // On a connection that is held the server has added it itself.
        if !is_added || self.diagnostics.on.is_none() {
            let before = if is_added { self.diagnostics.list.take() } else { None };
            self.note_error(refusal.code, &refusal.message);
            put_before(&mut self.diagnostics, before);
        }
        self.results.row_count = -1;
        self.client.send(&self.ground, &reply::err_of_server(refusal)).await
    }

    /// What the last statement left, wherever it is.
    async fn take_list(&mut self) -> Result<Option<Box<List>>, SessionEnd> {
        let Some(thread_id) = self.diagnostics.on else { return Ok(self.diagnostics.list.take()) };
        let has_them = |held: &Held| held.connection.thread_id == thread_id;
        let Some(place) = self.hands.held.iter().position(has_them) else { return Ok(None) };
        let mut held = self.hands.held.swap_remove(place);
        let outcome = Box::pin(self.fetch_list(&mut held)).await;
        self.put_away(held, outcome.as_ref().err());
        match outcome {
            Ok(list) => Ok(list.map(Box::new)),
            Err(Trouble::End(end)) => Err(end),
            Err(_) => Ok(None),
        }
    }

    /// Before a statement: forgets what it does not leave alone, and lets go of what was held for that.
    pub(crate) async fn begin_after_the_last(
        &mut self,
        leaves: bool,
        facts: &Facts,
    ) -> Result<(), SessionEnd> {
        self.settle_doubts();
        self.diagnostics.leaves = leaves;
        if leaves {
            return Ok(());
        }
        if !facts.asks_of_the_last() {
            self.forget_diagnostics().await?;
        } else if !facts.reads_diagnostics {
            (self.diagnostics.list, self.diagnostics.on) = (None, None);
        }
        Ok(())
    }

    /// The answer to a question for warnings and errors that the session has.
    pub(crate) fn answer_from_diagnostics(
        &mut self,
        facts: &Facts,
        text: &[u8],
        rows_are: Rows,
    ) -> Option<Vec<u8>> {
        if !facts.reads_diagnostics {
            return None;
        }
        let list = self.diagnostics.list.as_ref().filter(|list| !list.is_lost)?;
        let question = diagnostics_question(text, self.context.lexing)?;
        let to = Recipient { capabilities: self.client.capabilities, status: self.status(), rows_are };
        let answer = list.answer(&question, to);
        self.results.row_count = -1;
        if facts.kind == Kind::Select {
            set_found_rows(&mut self.results, 1);
        }
        if !does_leave_diagnostics(&self.context, &self.diagnostics, text, facts) {
            self.diagnostics.list = None;
        }
        Some(answer)
    }

    /// An error of the proxy's own as the answer to a command.
    pub(crate) fn own_error(&mut self, code: ErrorCode, message: &str) -> Vec<u8> {
        self.ground.worker.counters.generated_errors.bump();
        self.note_error(code.code, message.as_bytes());
        reply::err(1, code, message)
    }

    /// The client is told an error that no statement of its own was given by a server: from now on SHOW WARNINGS shows it.
    pub(crate) fn note_error(&mut self, code: u16, message: &[u8]) {
        self.results.row_count = -1;
        note(&self.context, &mut self.hands, &mut self.diagnostics, "Error", code, message);
    }
}

/// Whether the statement has left something on the connection that is to be fetched.
pub(crate) fn must_fetch_what_is_left(ground: &Ground, diagnostics: &Diagnostics, held: &mut Held) -> bool {
    let is_let_go = !held.in_transaction && held.pins.without(Pins::PASSING).is_empty();
    if !is_let_go && !held.is_to_be_asked || ground.snapshot.mysql.hold_for_diagnostics {
        return false;
    }
    if diagnostics.on != Some(held.connection.thread_id) {
        // The session has been told of others since.
        held.pins = held.pins.without(Pins::DIAGNOSTICS);
    }
    held.pins.contains(Pins::DIAGNOSTICS) || held.pins.contains(Pins::FOUND_ROWS)
}

/// In which collation results come over a connection: behind a SET NAMES that failed it may be another than the session's.
fn collation_on(context: &Context, diagnostics: &Diagnostics, connection: &Connection) -> ResultCollation {
    let there = &connection.state;
    if there.charset == context.state.charset && context.state.settings.agrees_in_names(&there.settings) {
        return collation_of_results(context, diagnostics);
    }
    let of_results = there.settings.get(b"character_set_results").map(Charset::of_variable);
    of_results.as_ref().unwrap_or(&there.charset).of_results(context.lexing.server)
}

/// Puts a list before the one at hand, as long as a server's may be.
fn put_before(diagnostics: &mut Diagnostics, before: Option<Box<List>>) {
    if let (Some(mut before), Some(list)) = (before, &mut diagnostics.list) {
        before.rows.append(&mut list.rows);
        before.rows.truncate(ROWS_MAX);
        list.rows = before.rows;
    }
}

/// After a statement that a server ran: what it has left is on its connection.
pub(crate) fn learn_diagnostics(diagnostics: &mut Diagnostics, end: &AnswerEnd, held: &Held) {
    let has_some = end.has_warned || matches!(end.ending, Ending::Err(_));
    if has_some || !diagnostics.leaves {
        diagnostics.list = None;
        diagnostics.on = Some(held.connection.thread_id);
    }
}

/// Counts an error that a server has answered the statement of that text with, in `stats_mysql_errors`. Its message may quote the text,
/// or what the statement ran.
pub(crate) fn count_error(
    ground: &Ground,
    account: &Account,
    context: &Context,
    number: u16,
    text: &[u8],
    facts: &Facts,
    held: &mut Held,
) {
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
        user: &account.name,
        client: &ground.handle.address().host,
        schema: &context.state.schema,
        number,
    };
    ground.shared.hostgroups.errors.note(&error, message, ground.latest_us / 1000);
}

fn lost_list(context: &Context, diagnostics: &Diagnostics) -> List {
    let (definitions, rows, collation) = (Vec::new(), Vec::new(), collation_of_results(context, diagnostics));
    List { definitions, rows, collation, is_lost: true }
}

fn collation_of_results(context: &Context, diagnostics: &Diagnostics) -> ResultCollation {
    let server = context.lexing.server;
    match context.state.settings.get(b"character_set_results") {
        Some(charset) => Charset::of_variable(charset).of_results(server),
        None => diagnostics.results_charset.as_ref().unwrap_or(&context.state.charset).of_results(server),
    }
}

/// After a change of character set.
pub(crate) fn translate_diagnostics(context: &Context, diagnostics: &mut Diagnostics) {
    let collation = collation_of_results(context, diagnostics);
    if let Some(list) = &mut diagnostics.list {
        list.come_in(context.lexing.server, collation);
    }
}

/// Whether the statement leaves alone what the one before has left.
pub(crate) fn does_leave_diagnostics(
    context: &Context,
    diagnostics: &Diagnostics,
    text: &[u8],
    facts: &Facts,
) -> bool {
    match context.lexing.server {
        ServerFlavor::MySql(_) => facts.reads_diagnostics && facts.kind == Kind::Show,
        ServerFlavor::MariaDb(_) => {
            // Where it cannot be told the server knows, if it has them.
            let is_told = !facts.is_opaque && !matches!(facts.kind, Kind::Prepare | Kind::Execute);
            facts.names_no_table
                || facts.kind == Kind::Prepare && prepares_without_table(context, diagnostics, text)
                || !is_told && diagnostics.on.is_some()
        }
    }
}

fn prepares_without_table(context: &Context, diagnostics: &Diagnostics, text: &[u8]) -> bool {
    match text_prepared(text, context.lexing) {
        Some(TextPrepared::Prepare { statement: Some(inner), .. }) => {
            let facts = Facts::of(&classify(&inner, context.lexing));
            facts.kind != Kind::Prepare && does_leave_diagnostics(context, diagnostics, &inner, &facts)
        }
        _ => false,
    }
}

/// The same of a warning.
pub(crate) fn note_warning(
    context: &Context,
    hands: &mut Hands,
    diagnostics: &mut Diagnostics,
    code: u16,
    message: &[u8],
) {
    note(context, hands, diagnostics, "Warning", code, message);
}

fn note(
    context: &Context,
    hands: &mut Hands,
    diagnostics: &mut Diagnostics,
    level: &str,
    code: u16,
    message: &[u8],
) {
    (hands.last_ran_on, diagnostics.on, diagnostics.left_on) = (None, None, None);
    let (server, collation) = (context.lexing.server, collation_of_results(context, diagnostics));
    diagnostics.list = Some(Box::new(List::of_one(level, server, collation, code, message)));
}
