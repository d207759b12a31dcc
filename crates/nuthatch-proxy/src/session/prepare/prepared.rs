//! Prepared statements: the numbers are the session's, the preparations the connections'.
//!
//! A statement is executed on whichever connection the session gets. What is prepared there already, by whomever, under the same
//! schema and character set, is used; else it is prepared now ([`crate::backend::StatementKey`]). So a session with prepared
//! statements holds no connection for them, but while a cursor is open. A client's own COM_STMT_PREPARE always goes to a
//! server: what it is told of columns is of now.
//!
//! What a client sends only once (parameter types, long data) is kept here to be repeated.

use std::sync::Arc;

use nuthatch_sql::{Kind, ServerFlavor, kill};
use nuthatch_wire::{AnswerKind, Command, ErrorCode};

use crate::backend::StatementKey;
use crate::roster::SessionEnd;
use crate::session::Session;
use crate::session::after::diagnostics::{does_leave_diagnostics, learn_diagnostics};
use crate::session::decide::alone::refusal_to_stop;
use crate::session::decide::connection_numbers::with_own_number;
use crate::session::parts::{
    Binding, Client, Context, Held, LAST_PREPARED, STATEMENTS_MAX, Statement, Statements, named_id,
};
use crate::session::statement::Plan;
use crate::session::way::{Trouble, UNSUPPORTED_PS, command_packet, reply};
use crate::state::SessionState;
use crate::stats::pins::Pins;

impl Session {
    /// COM_STMT_PREPARE.
    pub(crate) async fn stmt_prepare(&mut self, now_ms: u64) -> Result<(), SessionEnd> {
        self.ground.worker.counters.stmt_prepare.bump();
        let text: Arc<[u8]> = self.client.framed.payload().get(1..).unwrap_or_default().into();
        let plan = self.plan(&text);
        plan.count_rules();
        let leaves = does_leave_diagnostics(&self.context, &self.diagnostics, &text, &plan.facts);
        self.begin_after_the_last(leaves, &plan.facts).await?;
        self.show(now_ms, "Prepare", plan.hostgroup.0);
        if plan.speaks_to_cache()
            || plan.facts.kind == Kind::Kill && kill(&text, self.context.lexing).is_none()
        {
            // The cache is the proxy's.
            return self.refuse(ErrorCode::UNSUPPORTED_PS, UNSUPPORTED_PS).await;
        }
        if let Some(message) = refusal_to_stop(&self.ground, &plan) {
            return self.refuse(ErrorCode::SPECIFIC_ACCESS_DENIED, message).await;
        }
        if let Some(message) = &plan.verdict.error_msg {
            return self.refuse(ErrorCode::RULE_ERROR, message).await;
        }
        if self
            .statements
            .prepared
            .as_ref()
            .is_some_and(|prepared| prepared.statements.len() >= STATEMENTS_MAX)
        {
            let message = format!("Can't create more than {STATEMENTS_MAX} prepared statements in a session");
            return self
                .client
                .send(&self.ground, &reply::err(1, ErrorCode::TOO_MANY_STATEMENTS, &message))
                .await;
        }
        let text = with_own_number(&self.ground, &self.context, &plan.facts, &text).unwrap_or(text);
        match self.prepare_for_client(&plan, text).await {
            Ok(()) => Ok(()),
            Err(trouble) => self.reply_trouble(trouble).await,
        }
    }

    async fn prepare_for_client(&mut self, plan: &Plan, text: Arc<[u8]>) -> Result<(), Trouble> {
        let mut retries_left = self.ground.snapshot.mysql.query_retries_on_failure;
        loop {
            let mut held = self.lease(plan.hostgroup).await?;
            let outcome = self.prepare_on_lease(plan, &text, &mut held).await;
            let is_fresh = held.is_fresh;
            self.put_away(held, outcome.as_ref().err());
            match outcome {
                // To prepare changes nothing.
                Err(trouble) if is_fresh && trouble.left_no_trace() && retries_left > 0 => {
                    retries_left -= 1;
                    self.ground.worker.counters.retries.bump();
                }
                outcome => return outcome,
            }
        }
    }

    async fn prepare_on_lease(
        &mut self,
        plan: &Plan,
        text: &Arc<[u8]>,
        held: &mut Held,
    ) -> Result<(), Trouble> {
        let prepared = self.statements.prepared.get_or_insert_default();
        let id = prepared.last_id % (LAST_PREPARED - 1) + 1;
        let instead = (**text != *self.client.statement_text()).then_some(&**text);
        self.send_preparation(AnswerKind::Prepare, instead, held).await?;
        let (mut way, client) = self.way_and_client(held);
        let (mut number, mut parameters) = (0, 0);
        let end = way
            .pass_answer(client, AnswerKind::Prepare, None, |first| {
                // Header, OK byte, number, columns, parameters.
                if let Some([_, _, _, _, 0, id_bytes @ .., _, _, p0, p1]) = first.first_chunk_mut::<13>() {
                    number = u32::from_le_bytes(*id_bytes);
                    parameters = u16::from_le_bytes([*p0, *p1]);
                    *id_bytes = id.to_le_bytes();
                }
            })
            .await?;
        self.hands.last_ran_on = Some(held.connection.thread_id);
        held.pins = held.pins.with(plan.facts.pins_when_prepared());
        if end.statement_id.is_none() {
            self.results.row_count = -1;
        }
        if end.statement_id.is_none() {
            held.pins = held.pins.with(Pins::DIAGNOSTICS);
            learn_diagnostics(&mut self.diagnostics, &end, held);
            return self.keep_what_is_left(&end, held).await;
        }
        // Under state that is not known it is no other statement's twin.
        let is_known = !held.pins.contains(Pins::SESSION_VARIABLE) && !held.pins.contains(Pins::UNKNOWN);
        let key = StatementKey {
            text: Arc::clone(text),
            schema: self.context.state.schema.as_slice().into(),
            charset: self.context.state.charset.clone(),
            settings: self.context.state.settings.clone(),
            owner: None,
            hidden: (!is_known).then_some((self.ground.handle.id, id)),
            bound: Arc::default(),
        };
        let statement = Statement {
            key: key.clone(),
            binding: Binding::new(parameters),
            is_cacheable: plan.facts.cacheable.is_ok(),
            long_data: Vec::new(),
            has_too_much: false,
            cursor: None,
        };
        let prepared = self.statements.prepared.get_or_insert_default();
        prepared.last_id = id;
        prepared.statements.insert(id, statement);
        self.remember(key, number, held).await
    }

    /// Takes note of what is prepared on a connection, and closes what is too much there.
    async fn remember(&self, key: StatementKey, number: u32, held: &mut Held) -> Result<(), Trouble> {
        let count_max =
            usize::try_from(self.ground.snapshot.mysql.max_stmts_per_connection).unwrap_or(usize::MAX);
        let prepared = &mut held.connection.prepared;
        let replaced = prepared.add(key, number);
        let closed: Vec<_> = replaced.into_iter().chain(prepared.shrink_to(count_max)).collect();
        for number in closed {
            self.close_on(number, held).await?;
        }
        Ok(())
    }

    /// COM_STMT_CLOSE has no answer.
    pub(crate) async fn close_on(&self, number: u32, held: &mut Held) -> Result<(), Trouble> {
        let packet = command_packet(Command::StmtClose, &number.to_le_bytes());
        self.way(held).send(&packet).await
    }

    /// The number of the statement on that connection, where it is prepared now if it was not.
    pub(crate) async fn prepare_on(
        &mut self,
        id: u32,
        opens_cursor: bool,
        held: &mut Held,
    ) -> Result<u32, Trouble> {
        let session = self.ground.handle.id;
        let keeps_types = matches!(self.context.lexing.server, ServerFlavor::MySql(_));
        let statement = self.statements.prepared_statement(id).ok_or(Trouble::UnknownStatement(id))?;
        let mut key = statement.key.clone();
        key.owner = (opens_cursor && key.hidden.is_none()).then_some((session, id));
        // MariaDB reads long data of a parameter that was bound as a number before from the wrong place.
        if keeps_types || !statement.long_data.is_empty() {
            key.bound = statement.binding.types_of(self.client.framed.payload()).into();
        }
        let known = &mut held.connection.prepared;
        if let Some(number) = if keeps_types { known.find_to_bind(&key) } else { known.find(&key) } {
            return Ok(number);
        }
        Box::pin(self.prepare_anew(key, held)).await
    }

    /// The same where the connection does not have it yet.
    async fn prepare_anew(&mut self, key: StatementKey, held: &mut Held) -> Result<u32, Trouble> {
        // A statement belongs to the schema and the character set that it was prepared under.
        let state = state_of(&self.context, &key);
        let back = self.bring_into_preparation(&state, key.hidden.is_some(), held).await?;
        let prepared =
            self.order_preparation(Command::StmtPrepare, &key.text, AnswerKind::Prepare, held).await;
        let prepared = self.bring_back(&state, back, prepared, held).await?;
        let number = prepared.statement_id.unwrap_or_default();
        self.remember(key, number, held).await?;
        Ok(number)
    }

    /// COM_STMT_CLOSE; it has no answer. On connections the statement stays, for others.
    pub(crate) async fn stmt_close(&mut self) -> Result<(), SessionEnd> {
        self.ground.worker.counters.stmt_close.bump();
        let Some((id, _)) = statement_at_hand(&self.client, &self.statements) else { return Ok(()) };
        let Some(statement) =
            self.statements.prepared.as_mut().and_then(|prepared| prepared.statements.remove(&id))
        else {
            return Ok(());
        };
        let taken = self.hands.take_cursor(statement.cursor).or_else(|| self.hands.take_hidden(&statement));
        let Some((mut held, number)) = taken else { return Ok(()) };
        held.connection.prepared.remove_owned((self.ground.handle.id, id));
        let outcome = self.close_on(number, &mut held).await;
        held.pins = held.pins.without(Pins::CURSOR);
        self.put_away(held, outcome.as_ref().err());
        match outcome {
            Err(Trouble::End(end)) => Err(end),
            // The connection is gone, and the statement with it.
            _ => Ok(()),
        }
    }

    /// What a server names in its error for a statement that it does not know.
    pub(crate) fn function_at_hand(&self) -> &'static str {
        match self.client.framed.payload().first().copied().and_then(Command::parse) {
            _ if matches!(self.context.lexing.server, ServerFlavor::MySql(_)) => "mysql_stmt_precheck",
            Some(Command::StmtFetch) => "mysqld_stmt_fetch",
            Some(Command::StmtReset) => "mysqld_stmt_reset",
            _ => "mysqld_stmt_execute",
        }
    }

    pub(crate) async fn reply_unknown_statement(&mut self) -> Result<(), SessionEnd> {
        let (id, function) =
            (named_id(self.client.framed.payload()).unwrap_or_default(), self.function_at_hand());
        let message = format!("Unknown prepared statement handler ({id}) given to {function}");
        self.refuse_command(ErrorCode::UNKNOWN_STMT_HANDLER, &message).await
    }
}

/// The state that a statement was prepared under; what it does not depend on is as it is.
pub(crate) fn state_of(context: &Context, key: &StatementKey) -> SessionState {
    SessionState {
        schema: key.schema.to_vec(),
        charset: key.charset.clone(),
        settings: key.settings.clone(),
        ..context.state.clone()
    }
}

/// Number and text of the statement that the command at hand names.
pub(crate) fn statement_at_hand(client: &Client, statements: &Statements) -> Option<(u32, Arc<[u8]>)> {
    let prepared = statements.prepared.as_ref()?;
    let id = prepared.named_in(client.framed.payload())?;
    Some((id, Arc::clone(&prepared.statements.get(&id)?.key.text)))
}
