//! COM_STMT_EXECUTE: a prepared statement on whichever connection the session gets, and what is bound to it.

use nuthatch_sql::{Kind, Parameter};
use nuthatch_wire::{AnswerEnd, AnswerKind, Ending, ErrorCode, StatusFlags};

use crate::exact::Flight;
use crate::roster::SessionEnd;
use crate::session::Session;
use crate::session::after::diagnostics::{does_leave_diagnostics, must_fetch_what_is_left};
use crate::session::after::found_rows::{found_by, learn_found_rows};
use crate::session::ask::exact::{land, reads_otherwise, unwatched};
use crate::session::parts::{
    Client, Context, Held, Rows, Statements, asks_for_cursor, is_bulk, packet_with_id,
};
use crate::session::prepare::prepared::statement_at_hand;
use crate::session::statement::{Caching, Plan, Request, may_be_bulk};
use crate::session::way::{Capture, Sent, Trouble, reply};
use crate::state::Found;
use crate::stats::not_cached::NotCached;
use crate::stats::pins::Pins;

impl Session {
    /// COM_STMT_EXECUTE and, where a client may send it, COM_STMT_BULK_EXECUTE.
    pub(crate) async fn stmt_execute(&mut self, now_ms: u64) -> Result<(), SessionEnd> {
        let Some((id, text)) = statement_at_hand(&self.client, &self.statements) else {
            return self.reply_unknown_statement().await;
        };
        if self.statements.takes_too_much(id) {
            let message = "Parameter of prepared statement which is set through mysql_send_long_data() is longer \
                           than 'max_allowed_packet' bytes";
            return self.client.send(&self.ground, &reply::err(1, ErrorCode::UNKNOWN_ERROR, message)).await;
        }
        let mut plan = self.plan(&text);
        plan.facts.has_parameters = true;
        if is_bulk(self.client.framed.payload()) && !may_be_bulk(plan.facts.kind) {
            return self.refuse_in_bulk().await;
        }
        let is_under_flag = self.cache.next_flag_in != 0;
        self.cache.next_flag_in = plan.verdict.next_query_flag_in.unwrap_or(0);
        let leaves = does_leave_diagnostics(&self.context, &self.diagnostics, &text, &plan.facts);
        self.begin_after_the_last(leaves, &plan.facts).await?;
        self.show(now_ms, "Execute", plan.hostgroup.0);
        if let Some(answer) = self.answer_execution_alone(&plan, &text) {
            plan.count_rules();
            self.observe(&plan, 0, 0);
            self.hands.last_ran_on = None;
            return self.client.send(&self.ground, &answer).await;
        }
        if plan.facts.kind == Kind::Kill {
            plan.count_rules();
            let bound = self
                .statements
                .prepared_statement(id)
                .and_then(|statement| statement.binding.only_number(self.client.framed.payload()));
            return self.kill_of(&text, bound, plan.hostgroup).await;
        }
        self.retake_what_is_left(&plan.facts);
        self.judge_cache_use();
        let caching = match self.caching(&plan) {
            _ if is_under_flag => Caching::No(NotCached::UnderFlag),
            caching
                if caching.is_any()
                    && !write_down_execution(&self.client, &self.context, &mut self.statements) =>
            {
                Caching::No(NotCached::NotRepeatable)
            }
            caching => caching,
        };
        let answered = self.answer(Request::Execution { id, text: &text }, &plan, caching, now_ms).await;
        self.statements.drop_long_data(id);
        answered
    }

    /// The answer to an execution that the proxy gives by itself; `None` when a server must.
    fn answer_execution_alone(&mut self, plan: &Plan, text: &[u8]) -> Option<Vec<u8>> {
        if let Some(answer) = self.answer_from_diagnostics(&plan.facts, text, Rows::Binary) {
            return Some(answer);
        }
        if let Some(answer) = self.begin_or_end_alone(plan) {
            return Some(answer);
        }
        let is_question = plan.facts.kind == Kind::Select && plan.facts.cacheable.is_err();
        match is_question && !asks_for_cursor(self.client.framed.payload()) {
            true => self.answer_prepared_question(text),
            false => None,
        }
    }

    /// Has the connection's server execute the statement.
    pub(crate) async fn execute_on(
        &mut self,
        id: u32,
        text: &[u8],
        plan: &Plan,
        mut capture: Option<&mut Capture>,
        held: &mut Held,
        was_sent: &mut bool,
    ) -> Result<AnswerEnd, Trouble> {
        let (opens_cursor, is_bulk) =
            (asks_for_cursor(self.client.framed.payload()), is_bulk(self.client.framed.payload()));
        if is_bulk && !held.connection.takes_bulk() {
            return Err(Trouble::NoBulk);
        }
        if plan.brings_names() {
            Box::pin(self.bring_names(plan, held)).await?;
        }
        let number = self.prepare_on(id, opens_cursor, held).await?;
        if self.must_bring_more(&plan.facts, Some(text), held) {
            Box::pin(self.bring_more(&plan.facts, Some(text), held)).await?;
        }
        let packet = execute_packet(&self.client, &mut self.statements, id, number, held);
        for long_data in self.statements.long_data(id) {
            self.way(held).send(&packet_with_id(&long_data, number)).await?;
        }
        held.connection.count_statement();
        *was_sent = true;
        let mut flight = self.take_off_prepared(id, text, plan, capture.as_deref_mut(), held);
        let (mut way, client) = self.way_and_client(held);
        way.send(&packet).await?;
        let kind = if opens_cursor { AnswerKind::Cursor } else { AnswerKind::ResultSets };
        let answered = way.hearing(&mut flight).pass_answer(client, kind, capture, |_| ()).await;
        land(&self.ground, &mut self.transaction, &self.hands, flight);
        let end = answered?;
        let has_cursor = opens_cursor
            && end.status.contains(StatusFlags::SERVER_STATUS_CURSOR_EXISTS)
            && end.ending == Ending::ResultSet;
        if let Some(statement) = self.statements.prepared_statement_mut(id) {
            statement.cursor = has_cursor.then_some((held.connection.thread_id, number));
        }
        Ok(end)
    }

    /// What an answered execution tells of the session, and what the server must be asked for it.
    pub(crate) async fn learn_of_execution(
        &mut self,
        id: u32,
        text: &[u8],
        plan: &Plan,
        end: &AnswerEnd,
        held: &mut Held,
    ) -> Result<(), Trouble> {
        let statement = self.statements.prepared_statement(id);
        let parameters = || {
            let values = |statement: &crate::session::parts::Statement| {
                statement.binding.values_of(self.client.framed.payload())
            };
            statement.filter(|statement| statement.long_data.is_empty()).map(values).unwrap_or_default()
        };
        let has_cursor = statement.is_some_and(|statement| statement.cursor.is_some());
        let found = match has_cursor {
            true => Some(Found::Elsewhere),
            false => found_by(&self.context, &plan.facts, text, parameters, end),
        };
        learn_found_rows(&mut self.results, &plan.facts, found, end, held);
        held.temporary.doubt(plan.facts.pins);
        held.named_locks.doubt(plan.facts.pins);
        held.handlers.doubt(plan.facts.pins);
        if must_fetch_what_is_left(&self.ground, &self.diagnostics, held) {
            Box::pin(self.keep_what_is_left(end, held)).await?;
        }
        self.ask_for_more(&plan.facts, end, held).await?;
        if self.statements.prepared_statement(id).is_some_and(|statement| statement.cursor.is_some()) {
            held.pins = held.pins.with(Pins::CURSOR);
        }
        Ok(())
    }

    /// What goes before the execution is sent: see [`Self::take_off`].
    fn take_off_prepared(
        &self,
        id: u32,
        text: &[u8],
        plan: &Plan,
        capture: Option<&mut Capture>,
        held: &Held,
    ) -> Flight {
        let unwatched = unwatched(&self.ground, &self.transaction, &plan.facts);
        if capture.is_none()
            && let Some(flight) = unwatched
        {
            return flight;
        }
        let statement = self.statements.prepared_statement(id);
        let parameters: Vec<Parameter> = match statement {
            Some(statement) if statement.long_data.is_empty() => {
                statement.binding.values_of(self.client.framed.payload())
            }
            _ => Vec::new(),
        };
        let sent = Sent {
            text,
            schema: statement.map_or(b"", |statement| &statement.key.schema),
            parameters: &parameters,
            is_prepared: true,
            is_read_otherwise: statement
                .is_none_or(|statement| reads_otherwise(&self.context, &statement.key)),
            is_repeated: is_bulk(self.client.framed.payload()),
        };
        self.begin_to_watch(plan, &sent, unwatched, capture, held)
    }

    /// COM_STMT_SEND_LONG_DATA: kept for the next execution; it has no answer.
    pub(crate) fn stmt_send_long_data(&mut self) {
        let Some((id, _)) = statement_at_hand(&self.client, &self.statements) else { return };
        let bytes_max = usize::try_from(self.ground.snapshot.mysql.max_allowed_packet).unwrap_or(usize::MAX);
        let payload = self.client.framed.payload().to_vec();
        if let Some(statement) = self.statements.prepared_statement_mut(id) {
            let bytes: usize = statement.long_data.iter().map(Vec::len).sum();
            if bytes + payload.len() <= bytes_max {
                statement.long_data.push(payload);
            } else {
                // The execution will say so; until then nothing more is kept.
                statement.has_too_much = true;
                statement.long_data.clear();
            }
        }
    }
}

/// Writes the execution at hand down for the cache; `false` if the same by another session might have another answer.
pub(crate) fn write_down_execution(client: &Client, context: &Context, statements: &mut Statements) -> bool {
    let Statements { prepared, execution, .. } = statements;
    let (payload, state) = (client.framed.payload(), &context.state);
    let prepared = prepared.as_mut();
    prepared.is_some_and(|prepared| prepared.write_down(payload, state, execution).is_some())
}

/// The command at hand for the connection's own number, with parameter types even if the client leaves them out.
fn execute_packet(
    client: &Client,
    statements: &mut Statements,
    id: u32,
    number: u32,
    held: &Held,
) -> Vec<u8> {
    let Client { framed: client, attributes, .. } = client;
    let prepared = &mut statements.prepared;
    let takes_attributes = held.connection.takes_attributes();
    let statement = prepared.as_mut().and_then(|prepared| prepared.statements.get_mut(&id));
    match statement {
        Some(statement) if takes_attributes => {
            statement.binding.packet_with_attributes(client.payload(), number, attributes.as_deref())
        }
        Some(statement) => statement.binding.packet_of(client.payload(), number),
        None => packet_with_id(client.payload(), number),
    }
}
