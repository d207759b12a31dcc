//! Prepared statements: the numbers are the session's, the preparations the connections'.
//!
//! A statement is executed on whichever connection the session gets. What is prepared there already, by whomever, under the same
//! schema and character set, is used; else it is prepared now ([`crate::backend::StatementKey`]). So a session with prepared
//! statements holds no connection for them, but while a cursor is open. A client's own COM_STMT_PREPARE always goes to a
//! server: what it is told of columns is of now.
//!
//! What a client sends only once (parameter types, long data) is kept here to be repeated.

use std::collections::HashMap;
use std::sync::Arc;

use nuthatch_sql::{Kind, ServerFlavor};
use nuthatch_wire::{AnswerEnd, AnswerKind, Command, Ending, ErrorCode, StatusFlags, append_packet};

use crate::backend::StatementKey;

use super::diagnostics::Rows;
use super::lease::{Behind, Errand, Held};
use super::plan::Plan;
use super::relay::command_packet;
use super::trouble::Trouble;
use super::{Pins, Session, SessionEnd, SessionState, reply};

/// Place of a statement's number in a command: behind the command byte.
const ID_PLACE: std::ops::Range<usize> = 1..5;

/// MariaDB: "the statement prepared last".
const LAST_PREPARED: u32 = u32::MAX;

/// How many statements a session may have prepared, as `max_prepared_stmt_count` bounds them for a server.
const STATEMENTS_MAX: usize = 16_382;

/// What a server says of statements that cannot be prepared.
pub(super) const UNSUPPORTED_PS: &str =
    "This command is not supported in the prepared statement protocol yet";

/// A session's prepared statements.
#[derive(Debug, Default)]
pub(super) struct Prepared {
    statements: HashMap<u32, Statement>,
    last_id: u32,
}

impl Prepared {
    /// Numbers go on behind the last, as on a server: an old one never names a new statement.
    pub(super) fn forget_all(&mut self) {
        self.statements = HashMap::new();
    }
}

#[derive(Debug)]
struct Statement {
    key: StatementKey,
    parameters: u16,
    /// Types as the client bound them last: two bytes for each parameter.
    types: Vec<u8>,
    /// Commands with long data that wait for the next execution.
    long_data: Vec<Vec<u8>>,
    /// More long data came than `max_allowed_packet`.
    has_too_much: bool,
    /// Where its cursor is open: the server's thread, and the statement's number there.
    cursor: Option<(u32, u32)>,
}

/// Ask for a cursor, in the flags of COM_STMT_EXECUTE.
const CURSOR_FLAGS: u8 = 0x07;

/// Place of those flags: behind command and number.
const FLAGS_PLACE: usize = 5;

impl Session {
    /// COM_STMT_PREPARE.
    pub(super) async fn stmt_prepare(&mut self, now_ms: u64) -> Result<(), SessionEnd> {
        self.worker.counters.stmt_prepare.bump();
        let text: Arc<[u8]> = self.client.payload().get(1..).unwrap_or_default().into();
        let plan = self.plan(&text);
        plan.count_rules();
        let leaves = self.does_leave_diagnostics(&text, &plan.facts);
        self.begin_after_the_last(leaves, &plan.facts).await?;
        self.show(now_ms, "Prepare", plan.hostgroup.0);
        if plan.facts.kind == Kind::Kill {
            // Its number would be the proxy's, and the server's thread of that number another's.
            return self.refuse(ErrorCode::UNSUPPORTED_PS, UNSUPPORTED_PS).await;
        }
        if let Some(message) = &plan.verdict.error_msg {
            return self.refuse(ErrorCode::RULE_ERROR, message).await;
        }
        if self.prepared.as_ref().is_some_and(|prepared| prepared.statements.len() >= STATEMENTS_MAX) {
            let message = format!("Can't create more than {STATEMENTS_MAX} prepared statements in a session");
            return self.send(&reply::err(1, ErrorCode::TOO_MANY_STATEMENTS, &message)).await;
        }
        match self.prepare_for_client(&plan, text).await {
            Ok(()) => Ok(()),
            Err(trouble) => self.reply_trouble(trouble).await,
        }
    }

    async fn prepare_for_client(&mut self, plan: &Plan, text: Arc<[u8]>) -> Result<(), Trouble> {
        let mut retries_left = self.snapshot.mysql.query_retries_on_failure;
        loop {
            let mut held = self.lease(plan.hostgroup).await?;
            let outcome = self.prepare_on_lease(&mut held, &text).await;
            let is_fresh = held.is_fresh;
            self.put_away(held, outcome.as_ref().err());
            match outcome {
                // To prepare changes nothing.
                Err(trouble) if is_fresh && trouble.left_no_trace() && retries_left > 0 => {
                    retries_left -= 1;
                    self.worker.counters.retries.bump();
                }
                outcome => return outcome,
            }
        }
    }

    async fn prepare_on_lease(&mut self, held: &mut Held, text: &Arc<[u8]>) -> Result<(), Trouble> {
        let prepared = self.prepared.get_or_insert_default();
        let id = prepared.last_id % (LAST_PREPARED - 1) + 1;
        self.send_preparation(AnswerKind::Prepare, held).await?;
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
        self.last_ran_on = Some(held.connection.thread_id);
        if end.statement_id.is_none() {
            self.last.row_count = -1;
        }
        if end.statement_id.is_none() {
            held.pins = held.pins.with(Pins::DIAGNOSTICS);
            self.learn_diagnostics(&end, held);
            return self.keep_what_is_left(&end, held).await;
        }
        // Under state that is not known it is no other statement's twin.
        let is_known = !held.pins.contains(Pins::SESSION_VARIABLE) && !held.pins.contains(Pins::UNKNOWN);
        let key = StatementKey {
            text: Arc::clone(text),
            schema: self.state.schema.as_slice().into(),
            charset: self.state.charset.clone(),
            settings: self.state.settings.clone(),
            owner: None,
            hidden: (!is_known).then_some((self.handle.id, id)),
            bound: Arc::default(),
        };
        let (types, long_data, has_too_much, cursor) = (Vec::new(), Vec::new(), false, None);
        let statement = Statement { key: key.clone(), parameters, types, long_data, has_too_much, cursor };
        let prepared = self.prepared.get_or_insert_default();
        prepared.last_id = id;
        prepared.statements.insert(id, statement);
        self.remember(key, number, held).await
    }

    /// Takes note of what is prepared on a connection, and closes what is too much there.
    async fn remember(&self, key: StatementKey, number: u32, held: &mut Held) -> Result<(), Trouble> {
        let count_max = usize::try_from(self.snapshot.mysql.max_stmts_per_connection).unwrap_or(usize::MAX);
        let prepared = &mut held.connection.prepared;
        let replaced = prepared.add(key, number);
        let closed: Vec<_> = replaced.into_iter().chain(prepared.shrink_to(count_max)).collect();
        for number in closed {
            self.close_on(number, held).await?;
        }
        Ok(())
    }

    /// COM_STMT_CLOSE has no answer.
    pub(super) async fn close_on(&self, number: u32, held: &mut Held) -> Result<(), Trouble> {
        let packet = command_packet(Command::StmtClose, &number.to_le_bytes());
        self.way(held).send(&packet).await
    }

    /// COM_STMT_EXECUTE.
    pub(super) async fn stmt_execute(&mut self, now_ms: u64) -> Result<(), SessionEnd> {
        self.worker.counters.stmt_execute.bump();
        let Some((id, text)) = self.statement_at_hand() else {
            return self.reply_unknown_statement().await;
        };
        if self.takes_too_much(id) {
            let message = "Parameter of prepared statement which is set through mysql_send_long_data() is longer \
                           than 'max_allowed_packet' bytes";
            return self.send(&reply::err(1, ErrorCode::UNKNOWN_ERROR, message)).await;
        }
        let mut plan = self.plan(&text);
        plan.facts.has_parameters = true;
        plan.count_rules();
        self.next_flag_in = plan.verdict.next_query_flag_in.unwrap_or(0);
        let leaves = self.does_leave_diagnostics(&text, &plan.facts);
        self.begin_after_the_last(leaves, &plan.facts).await?;
        self.show(now_ms, "Execute", plan.hostgroup.0);
        if let Some(answer) = self.answer_from_diagnostics(&plan.facts, &text, Rows::Binary) {
            self.observe(&plan, 0, 0);
            self.last_ran_on = None;
            return self.send(&answer).await;
        }
        if plan.facts.kind == Kind::Select
            && !plan.facts.cacheable
            && !self.asks_for_cursor()
            && let Some(answer) = self.answer_prepared_question(&text)
        {
            self.observe(&plan, 0, 1);
            self.last_ran_on = None;
            return self.send(&answer).await;
        }
        self.retake_what_is_left(&plan.facts);
        match self.execute(id, &text, &plan).await {
            Ok(end) => {
                self.observe(&plan, end.ok.affected_rows, end.rows);
                Ok(())
            }
            Err(trouble) => {
                self.observe(&plan, 0, 0);
                self.reply_trouble(trouble).await
            }
        }
    }

    async fn execute(&mut self, id: u32, text: &[u8], plan: &Plan) -> Result<AnswerEnd, Trouble> {
        if plan.facts.ends_transaction {
            self.end_other_transactions(plan.hostgroup, text).await?;
        }
        self.errand = Errand::of(&plan.facts);
        let mut retries_left = self.snapshot.mysql.query_retries_on_failure;
        loop {
            let mut held = self.lease(plan.hostgroup).await?;
            let mut was_sent = false;
            let outcome = self.execute_on(id, plan, &mut held, &mut was_sent).await;
            let may_retry = held.is_fresh && (!was_sent || !plan.facts.writes);
            let may_wait = self.may_wait_instead(&held, &plan.facts);
            self.put_away(held, outcome.as_ref().err());
            match outcome {
                Err(Trouble::RefusedAhead(_)) if may_wait => self.errand.behind = Behind::Nothing,
                Err(trouble) if may_retry && trouble.left_no_trace() && retries_left > 0 => {
                    retries_left -= 1;
                    self.worker.counters.retries.bump();
                }
                outcome => {
                    drop(self.take_long_data(id));
                    return outcome;
                }
            }
        }
    }

    async fn execute_on(
        &mut self,
        id: u32,
        plan: &Plan,
        held: &mut Held,
        was_sent: &mut bool,
    ) -> Result<AnswerEnd, Trouble> {
        let opens_cursor = self.asks_for_cursor();
        self.bring_names(plan, held).await?;
        let number = self.prepare_on(id, opens_cursor, held).await?;
        self.bring_last_results(held, &plan.facts).await?;
        self.bring_tracker(held, &plan.facts).await?;
        let packet = self.execute_packet(id, number);
        for long_data in self.long_data(id) {
            self.way(held).send(&with_backend_id(&long_data, number)).await?;
        }
        held.connection.count_statement();
        *was_sent = true;
        let (mut way, client) = self.way_and_client(held);
        way.send(&packet).await?;
        let kind = if opens_cursor { AnswerKind::Cursor } else { AnswerKind::ResultSets };
        let end = way.pass_answer(client, kind, None, |_| ()).await?;
        self.look_at_clock();
        self.learn(&plan.facts, &end, held);
        held.temporary.doubt(plan.facts.pins);
        held.named_locks.doubt(plan.facts.pins);
        held.handlers.doubt(plan.facts.pins);
        self.keep_what_is_left(&end, held).await?;
        self.ask_what_answers_leave_out(&end, held).await?;
        let has_cursor = opens_cursor
            && end.status.contains(StatusFlags::SERVER_STATUS_CURSOR_EXISTS)
            && end.ending == Ending::ResultSet;
        if let Some(statement) = self.prepared_statement(id) {
            statement.cursor = has_cursor.then_some((held.connection.thread_id, number));
        }
        if has_cursor {
            held.pins = held.pins.with(Pins::CURSOR);
        }
        Ok(end)
    }

    /// The state that a statement was prepared under; what it does not depend on is as it is.
    pub(super) fn state_of(&self, key: &StatementKey) -> SessionState {
        SessionState {
            schema: key.schema.to_vec(),
            charset: key.charset.clone(),
            settings: key.settings.clone(),
            ..self.state.clone()
        }
    }

    /// Whether the execution at hand asks for a cursor.
    fn asks_for_cursor(&self) -> bool {
        self.client.payload().get(FLAGS_PLACE).is_some_and(|flags| flags & CURSOR_FLAGS != 0)
    }

    fn prepared_statement(&mut self, id: u32) -> Option<&mut Statement> {
        self.prepared.as_mut()?.statements.get_mut(&id)
    }

    /// The number of the statement on that connection, where it is prepared now if it was not.
    async fn prepare_on(&mut self, id: u32, opens_cursor: bool, held: &mut Held) -> Result<u32, Trouble> {
        let session = self.handle.id;
        let keeps_types = matches!(self.lexing.server, ServerFlavor::MySql(_));
        let Self { prepared, client, .. } = &*self;
        let Some(statement) = prepared.as_ref().and_then(|prepared| prepared.statements.get(&id)) else {
            return Err(Trouble::UnknownStatement(id));
        };
        let mut key = statement.key.clone();
        key.owner = (opens_cursor && key.hidden.is_none()).then_some((session, id));
        // MariaDB reads long data of a parameter that was bound as a number before from the wrong place.
        if keeps_types || !statement.long_data.is_empty() {
            key.bound = statement.types_of(client.payload()).into();
        }
        let known = &mut held.connection.prepared;
        if let Some(number) = if keeps_types { known.find_to_bind(&key) } else { known.find(&key) } {
            return Ok(number);
        }
        // A statement belongs to the schema and the character set that it was prepared under.
        let state = self.state_of(&key);
        let back = self.bring_into_preparation(&state, key.hidden.is_some(), held).await?;
        let prepared =
            self.order_preparation(Command::StmtPrepare, &key.text, AnswerKind::Prepare, held).await;
        let prepared = self.bring_back(&state, back, prepared, held).await?;
        let number = prepared.statement_id.unwrap_or_default();
        self.remember(key, number, held).await?;
        Ok(number)
    }

    /// The command at hand for the connection's own number, with parameter types even if the client leaves them out.
    fn execute_packet(&mut self, id: u32, backend_id: u32) -> Vec<u8> {
        let payload = self.client.payload();
        let mut out = with_number(payload, backend_id);
        if let Some(statement) = self.prepared_statement(id) {
            statement.complete_types(&mut out);
        }
        let mut packet = Vec::with_capacity(out.len() + 4);
        append_packet(&mut packet, &mut 0, &out);
        packet
    }

    /// Whether more long data came than is kept; asked once.
    fn takes_too_much(&mut self, id: u32) -> bool {
        self.prepared_statement(id).is_some_and(|statement| std::mem::take(&mut statement.has_too_much))
    }

    fn long_data(&mut self, id: u32) -> Vec<Vec<u8>> {
        self.prepared_statement(id).map(|statement| statement.long_data.clone()).unwrap_or_default()
    }

    fn take_long_data(&mut self, id: u32) -> Vec<Vec<u8>> {
        self.prepared_statement(id)
            .map(|statement| std::mem::take(&mut statement.long_data))
            .unwrap_or_default()
    }

    /// COM_STMT_SEND_LONG_DATA: kept for the next execution; it has no answer.
    pub(super) fn stmt_send_long_data(&mut self) {
        let Some((id, _)) = self.statement_at_hand() else { return };
        let bytes_max = usize::try_from(self.snapshot.mysql.max_allowed_packet).unwrap_or(usize::MAX);
        let payload = self.client.payload().to_vec();
        if let Some(statement) = self.prepared_statement(id) {
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

    /// COM_STMT_CLOSE; it has no answer. On connections the statement stays, for others.
    pub(super) async fn stmt_close(&mut self) -> Result<(), SessionEnd> {
        self.worker.counters.stmt_close.bump();
        let Some((id, _)) = self.statement_at_hand() else { return Ok(()) };
        let Some(statement) = self.prepared.as_mut().and_then(|prepared| prepared.statements.remove(&id))
        else {
            return Ok(());
        };
        let taken = self.take_cursor(&statement).or_else(|| self.take_hidden(&statement));
        let Some((mut held, number)) = taken else { return Ok(()) };
        held.connection.prepared.remove_owned((self.handle.id, id));
        let outcome = self.close_on(number, &mut held).await;
        held.pins = held.pins.without(Pins::CURSOR);
        self.put_away(held, outcome.as_ref().err());
        match outcome {
            Err(Trouble::End(end)) => Err(end),
            // The connection is gone, and the statement with it.
            _ => Ok(()),
        }
    }

    /// The held connection on which the statement's cursor is open, and the statement's number there.
    fn take_cursor(&mut self, statement: &Statement) -> Option<(Held, u32)> {
        let (thread_id, number) = statement.cursor?;
        let place = self.held.iter().position(|held| held.connection.thread_id == thread_id)?;
        Some((self.held.swap_remove(place), number))
    }

    /// The held connection that alone has the statement, and its number there.
    fn take_hidden(&mut self, statement: &Statement) -> Option<(Held, u32)> {
        let owner = statement.key.hidden?;
        let numbers = self.held.iter().map(|held| held.connection.prepared.number_of(owner));
        let (place, number) = numbers.enumerate().find_map(|(place, number)| Some((place, number?)))?;
        Some((self.held.swap_remove(place), number))
    }

    /// COM_STMT_RESET and COM_STMT_FETCH: for the connection where the statement's cursor is open.
    pub(super) async fn stmt_pass(&mut self, kind: AnswerKind) -> Result<(), SessionEnd> {
        let Some((id, _)) = self.statement_at_hand() else {
            return self.reply_unknown_statement().await;
        };
        let is_reset = kind == AnswerKind::Single;
        if is_reset {
            drop(self.take_long_data(id));
        }
        let Some(mut statement) = self.prepared.as_mut().and_then(|all| all.statements.remove(&id)) else {
            return self.reply_unknown_statement().await;
        };
        let taken = self.take_cursor(&statement);
        let outcome = match taken {
            Some((mut held, number)) => {
                let outcome = self.pass_on(number, kind, &mut held).await;
                if !held.pins.contains(Pins::CURSOR) {
                    statement.cursor = None;
                }
                self.put_away(held, outcome.as_ref().err());
                outcome.map(|()| true)
            }
            None => Ok(false),
        };
        self.prepared.get_or_insert_default().statements.insert(id, statement);
        match outcome {
            Ok(true) => Ok(()),
            Ok(false) if is_reset => {
                self.last.row_count = 0;
                self.send(&reply::ok(self.status())).await
            }
            Ok(false) => {
                let end = if matches!(self.lexing.server, ServerFlavor::MySql(_)) { "." } else { "" };
                let message = format!("The statement ({id}) has no open cursor{end}");
                self.refuse_command(ErrorCode::NO_OPEN_CURSOR, &message).await
            }
            Err(trouble) => self.reply_trouble(trouble).await,
        }
    }

    async fn pass_on(&mut self, backend_id: u32, kind: AnswerKind, held: &mut Held) -> Result<(), Trouble> {
        let packet = with_backend_id(self.client.payload(), backend_id);
        let (mut way, client) = self.way_and_client(held);
        way.send(&packet).await?;
        let end = way.pass_answer(client, kind, None, |_| ()).await?;
        let is_over =
            end.status.contains(StatusFlags::SERVER_STATUS_LAST_ROW_SENT) || kind == AnswerKind::Single;
        if is_over {
            held.pins = held.pins.without(Pins::CURSOR);
        }
        Ok(())
    }

    /// Number and text of the statement that the command at hand names.
    fn statement_at_hand(&self) -> Option<(u32, Arc<[u8]>)> {
        let prepared = self.prepared.as_ref()?;
        let named = u32::from_le_bytes(self.client.payload().get(ID_PLACE)?.try_into().ok()?);
        let id = if named == LAST_PREPARED { prepared.last_id } else { named };
        Some((id, Arc::clone(&prepared.statements.get(&id)?.key.text)))
    }

    /// What a server names in its error for a statement that it does not know.
    pub(super) fn function_at_hand(&self) -> &'static str {
        match self.client.payload().first().copied().and_then(Command::parse) {
            _ if matches!(self.lexing.server, ServerFlavor::MySql(_)) => "mysql_stmt_precheck",
            Some(Command::StmtFetch) => "mysqld_stmt_fetch",
            Some(Command::StmtReset) => "mysqld_stmt_reset",
            _ => "mysqld_stmt_execute",
        }
    }

    async fn reply_unknown_statement(&mut self) -> Result<(), SessionEnd> {
        let named = self.client.payload().get(ID_PLACE).and_then(|bytes| bytes.try_into().ok());
        let (id, function) = (named.map_or(0, u32::from_le_bytes), self.function_at_hand());
        let message = format!("Unknown prepared statement handler ({id}) given to {function}");
        self.refuse_command(ErrorCode::UNKNOWN_STMT_HANDLER, &message).await
    }
}

impl Statement {
    /// The types that an execution binds, or those bound before.
    fn types_of<'a>(&'a self, payload: &'a [u8]) -> &'a [u8] {
        let (flag_place, types) = self.place_of_types();
        match payload.get(flag_place) {
            Some(1) if self.parameters > 0 => payload.get(types).unwrap_or_default(),
            _ => &self.types,
        }
    }

    /// Where an execution says whether types follow, and where those are: behind command, number, flags, iterations and NULL
    /// bitmap.
    fn place_of_types(&self) -> (usize, std::ops::Range<usize>) {
        let parameters = usize::from(self.parameters);
        let flag_place = 1 + 4 + 1 + 4 + parameters.div_ceil(8);
        (flag_place, flag_place + 1..flag_place + 1 + 2 * parameters)
    }

    /// Learns the types that an execution binds, or puts those bound before into one that leaves them out.
    fn complete_types(&mut self, payload: &mut Vec<u8>) {
        if self.parameters == 0 {
            return;
        }
        let (flag_place, types) = self.place_of_types();
        match payload.get(flag_place) {
            Some(1) => self.types = payload.get(types).unwrap_or_default().to_vec(),
            Some(0) if !self.types.is_empty() => {
                payload.splice(flag_place..=flag_place, std::iter::once(1).chain(self.types.iter().copied()));
            }
            _ => {}
        }
    }
}

/// A command's payload with the connection's own number of the statement.
fn with_number(payload: &[u8], backend_id: u32) -> Vec<u8> {
    let mut out = payload.to_vec();
    if let Some(place) = out.get_mut(ID_PLACE) {
        place.copy_from_slice(&backend_id.to_le_bytes());
    }
    out
}

/// The same as a whole packet.
fn with_backend_id(payload: &[u8], backend_id: u32) -> Vec<u8> {
    let mut packet = Vec::with_capacity(payload.len() + 4);
    append_packet(&mut packet, &mut 0, &with_number(payload, backend_id));
    packet
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(parameters: u16) -> Statement {
        Statement {
            key: StatementKey {
                text: Arc::from(b"SELECT ?".as_slice()),
                schema: Arc::from(b"".as_slice()),
                charset: crate::session::Charset::Collation(45),
                settings: crate::session::Settings::default(),
                owner: None,
                hidden: None,
                bound: Arc::default(),
            },
            parameters,
            types: Vec::new(),
            long_data: Vec::new(),
            has_too_much: false,
            cursor: None,
        }
    }

    #[test]
    fn types_that_a_client_sent_once_are_repeated() {
        let mut statement = statement(2);
        let head = [0x17, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0];
        let with_types = [head.as_slice(), &[1, 3, 0, 253, 0, 7, 0, 0, 0, 1, b'x']].concat();
        let mut sent = with_types.clone();
        statement.complete_types(&mut sent);
        assert_eq!(sent, with_types);
        let mut without = [head.as_slice(), &[0, 7, 0, 0, 0, 1, b'x']].concat();
        statement.complete_types(&mut without);
        assert_eq!(without, with_types);
    }

    #[test]
    fn a_cut_execution_is_left_as_it_is() {
        let mut statement = statement(9);
        let mut cut = vec![0x17, 1, 0, 0, 0, 0, 1, 0, 0, 0];
        statement.complete_types(&mut cut);
        assert_eq!(cut.len(), 10);
    }

    #[test]
    fn numbers_are_rewritten_in_place() {
        assert_eq!(with_number(&[0x17, 9, 9, 9, 9, 5], 0x0102), [0x17, 2, 1, 0, 0, 5]);
        assert_eq!(with_number(&[0x17, 9], 1), [0x17, 9]);
    }
}
