//! Prepared statements: forwarded, on a connection that is held while it has any.
//!
//! A statement's number is the session's. It is prepared on each connection where it is executed, again if need be: a
//! statement that was prepared before a transaction began runs inside it, and one that a rule sends to another hostgroup
//! runs there. So each connection has its own numbers ([`Copy`]), and numbers are rewritten both ways.
//!
//! What a client sends only once (parameter types, long data) is kept here to be repeated.

use std::collections::HashMap;
use std::sync::Arc;

use nuthatch_config::HostgroupId;
use nuthatch_wire::{AnswerEnd, AnswerKind, Command, Ending, ErrorCode, StatusFlags, append_packet};

use super::lease::Held;
use super::plan::Plan;
use super::relay::command_packet;
use super::trouble::Trouble;
use super::{Pins, Session, SessionEnd, reply};

/// Place of a statement's number in a command: behind the command byte.
const ID_PLACE: std::ops::Range<usize> = 1..5;

/// MariaDB: "the statement prepared last".
const LAST_PREPARED: u32 = u32::MAX;

/// How many statements a session may have prepared, as `max_prepared_stmt_count` bounds them for a server.
const STATEMENTS_MAX: usize = 16_382;

/// A session's prepared statements.
#[derive(Debug, Default)]
pub(super) struct Prepared {
    statements: HashMap<u32, Statement>,
    last_id: u32,
}

#[derive(Debug)]
struct Statement {
    text: Arc<[u8]>,
    parameters: u16,
    /// Types as the client bound them last: two bytes for each parameter.
    types: Vec<u8>,
    /// Commands with long data that wait for the next execution.
    long_data: Vec<Vec<u8>>,
    /// More long data came than `max_allowed_packet`.
    has_too_much: bool,
    copies: Vec<Copy>,
}

/// A statement on one connection.
#[derive(Debug, Clone, Copy)]
struct Copy {
    /// `thread_id` and hostgroup name a connection among those that a session holds.
    connection: (HostgroupId, u32),
    backend_id: u32,
}

fn name_of(held: &Held) -> (HostgroupId, u32) {
    (held.hostgroup, held.connection.thread_id)
}

impl Session {
    /// COM_STMT_PREPARE.
    pub(super) async fn stmt_prepare(&mut self, now_ms: u64) -> Result<(), SessionEnd> {
        self.worker.counters.stmt_prepare.bump();
        let text: Arc<[u8]> = self.client.payload().get(1..).unwrap_or_default().into();
        let plan = self.plan(&text);
        plan.count_rules();
        self.forget_diagnostics();
        self.show(now_ms, "Prepare", plan.hostgroup.0);
        if let Some(message) = &plan.verdict.error_msg {
            return self.send(&reply::err(1, ErrorCode::RULE_ERROR, message)).await;
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
        let mut held = self.lease(plan.hostgroup).await?;
        let outcome = self.prepare_on_lease(&mut held, text).await;
        self.put_away(held, outcome.as_ref().err());
        outcome
    }

    async fn prepare_on_lease(&mut self, held: &mut Held, text: Arc<[u8]>) -> Result<(), Trouble> {
        let prepared = self.prepared.get_or_insert_default();
        let id = prepared.last_id % (LAST_PREPARED - 1) + 1;
        let (mut way, client) = self.way_and_client(held);
        way.send_packet_of(client).await?;
        let (mut backend_id, mut parameters) = (0, 0);
        let end = way
            .pass_answer(client, AnswerKind::Prepare, None, |first| {
                // Header, OK byte, number, columns, parameters.
                if let Some([_, _, _, _, 0, id_bytes @ .., _, _, p0, p1]) = first.first_chunk_mut::<13>() {
                    backend_id = u32::from_le_bytes(*id_bytes);
                    parameters = u16::from_le_bytes([*p0, *p1]);
                    *id_bytes = id.to_le_bytes();
                }
            })
            .await?;
        if end.statement_id.is_some() {
            held.pins = held.pins.with(Pins::PREPARED);
            let copies = vec![Copy { connection: name_of(held), backend_id }];
            let (types, long_data) = (Vec::new(), Vec::new());
            let prepared = self.prepared.get_or_insert_default();
            prepared.last_id = id;
            prepared
                .statements
                .insert(id, Statement { text, parameters, types, long_data, has_too_much: false, copies });
        } else {
            held.pins = held.pins.with(Pins::DIAGNOSTICS);
        }
        self.last_ran_on = Some(held.connection.thread_id);
        Ok(())
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
        if !plan.facts.reads_diagnostics && !plan.facts.reads_counts {
            self.forget_diagnostics();
        }
        self.show(now_ms, "Execute", plan.hostgroup.0);
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
        let mut held = self.lease(plan.hostgroup).await?;
        let outcome = self.execute_on(id, plan, &mut held).await;
        self.put_away(held, outcome.as_ref().err());
        outcome
    }

    async fn execute_on(&mut self, id: u32, plan: &Plan, held: &mut Held) -> Result<AnswerEnd, Trouble> {
        self.bring_last_results(held, &plan.facts).await?;
        let backend_id = self.prepare_on(id, held).await?;
        let packet = self.execute_packet(id, backend_id);
        for long_data in self.take_long_data(id) {
            self.way(held).send(&with_backend_id(&long_data, backend_id)).await?;
        }
        held.connection.count_statement();
        let (mut way, client) = self.way_and_client(held);
        way.send(&packet).await?;
        let end = way.pass_answer(client, AnswerKind::ResultSets, None, |_| ()).await?;
        self.learn(&plan.facts, &end, held);
        self.ask_what_answers_leave_out(&end, held).await?;
        if end.status.contains(StatusFlags::SERVER_STATUS_CURSOR_EXISTS) && end.ending == Ending::ResultSet {
            held.pins = held.pins.with(Pins::CURSOR);
        }
        Ok(end)
    }

    /// The number of the statement on that connection, where it is prepared now if it was not.
    async fn prepare_on(&mut self, id: u32, held: &mut Held) -> Result<u32, Trouble> {
        let connection = name_of(held);
        let Some(statement) = self.prepared.as_ref().and_then(|prepared| prepared.statements.get(&id)) else {
            return Err(Trouble::UnknownStatement(id));
        };
        if let Some(copy) = statement.copies.iter().find(|copy| copy.connection == connection) {
            return Ok(copy.backend_id);
        }
        let packet = command_packet(Command::StmtPrepare, &statement.text);
        let mut way = self.way(held);
        way.send(&packet).await?;
        let end = way.read_answer(AnswerKind::Prepare).await?.map_err(Trouble::Refused)?;
        held.pins = held.pins.with(Pins::PREPARED);
        let backend_id = end.statement_id.unwrap_or_default();
        if let Some(statement) = self.prepared.as_mut().and_then(|all| all.statements.get_mut(&id)) {
            statement.copies.push(Copy { connection, backend_id });
        }
        Ok(backend_id)
    }

    /// The command at hand for the connection's own number, with parameter types even if the client leaves them out.
    fn execute_packet(&mut self, id: u32, backend_id: u32) -> Vec<u8> {
        let payload = self.client.payload();
        let mut out = with_number(payload, backend_id);
        if let Some(statement) = self.prepared.as_mut().and_then(|all| all.statements.get_mut(&id)) {
            statement.complete_types(&mut out);
        }
        let mut packet = Vec::with_capacity(out.len() + 4);
        append_packet(&mut packet, &mut 0, &out);
        packet
    }

    /// Whether more long data came than is kept; asked once.
    fn takes_too_much(&mut self, id: u32) -> bool {
        let statement = self.prepared.as_mut().and_then(|all| all.statements.get_mut(&id));
        statement.is_some_and(|statement| std::mem::take(&mut statement.has_too_much))
    }

    fn take_long_data(&mut self, id: u32) -> Vec<Vec<u8>> {
        let statement = self.prepared.as_mut().and_then(|all| all.statements.get_mut(&id));
        statement.map(|statement| std::mem::take(&mut statement.long_data)).unwrap_or_default()
    }

    /// COM_STMT_SEND_LONG_DATA: kept for the next execution; it has no answer.
    pub(super) fn stmt_send_long_data(&mut self) {
        let Some((id, _)) = self.statement_at_hand() else { return };
        let bytes_max = usize::try_from(self.snapshot.mysql.max_allowed_packet).unwrap_or(usize::MAX);
        let payload = self.client.payload().to_vec();
        if let Some(statement) = self.prepared.as_mut().and_then(|all| all.statements.get_mut(&id)) {
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

    /// COM_STMT_CLOSE; it has no answer.
    pub(super) async fn stmt_close(&mut self) -> Result<(), SessionEnd> {
        self.worker.counters.stmt_close.bump();
        let Some((id, _)) = self.statement_at_hand() else { return Ok(()) };
        let Some(prepared) = self.prepared.as_mut() else { return Ok(()) };
        let Some(statement) = prepared.statements.remove(&id) else { return Ok(()) };
        for copy in &statement.copies {
            self.close_copy(copy).await?;
        }
        Ok(())
    }

    async fn close_copy(&mut self, copy: &Copy) -> Result<(), SessionEnd> {
        let Some(place) = self.held.iter().position(|held| name_of(held) == copy.connection) else {
            return Ok(());
        };
        let mut held = self.held.swap_remove(place);
        let packet = command_packet(Command::StmtClose, &copy.backend_id.to_le_bytes());
        match self.way(&mut held).send(&packet).await {
            Ok(()) => {}
            Err(Trouble::End(end)) => return Err(end),
            // The connection is gone, and the statement with it.
            Err(_) => return Ok(()),
        }
        let connection = name_of(&held);
        let is_used = |prepared: &Prepared| {
            prepared
                .statements
                .values()
                .any(|other| other.copies.iter().any(|copy| copy.connection == connection))
        };
        if !self.prepared.as_deref().is_some_and(is_used) {
            held.pins = held.pins.without(Pins::PREPARED.with(Pins::CURSOR));
        }
        let outcome = self.keep_insert_id(&mut held).await;
        self.put_away(held, outcome.as_ref().err());
        match outcome {
            Err(Trouble::End(end)) => Err(end),
            _ => Ok(()),
        }
    }

    /// COM_STMT_RESET and COM_STMT_FETCH: for the connection where the statement was executed last.
    pub(super) async fn stmt_pass(&mut self, kind: AnswerKind) -> Result<(), SessionEnd> {
        let Some((id, _)) = self.statement_at_hand() else {
            return self.reply_unknown_statement().await;
        };
        if kind == AnswerKind::Single {
            drop(self.take_long_data(id));
        }
        match self.pass_to_copy(id, kind).await {
            Ok(()) => Ok(()),
            Err(trouble) => self.reply_trouble(trouble).await,
        }
    }

    async fn pass_to_copy(&mut self, id: u32, kind: AnswerKind) -> Result<(), Trouble> {
        let copies =
            self.prepared.as_ref().and_then(|all| all.statements.get(&id)).map(|one| one.copies.clone());
        let held = copies.unwrap_or_default().into_iter().rev().find_map(|copy| {
            let place = self.held.iter().position(|held| name_of(held) == copy.connection)?;
            Some((place, copy.backend_id))
        });
        let Some((place, backend_id)) = held else { return Err(Trouble::UnknownStatement(id)) };
        let mut held = self.held.swap_remove(place);
        let outcome = self.pass_on(backend_id, kind, &mut held).await;
        self.put_away(held, outcome.as_ref().err());
        outcome
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
        Some((id, Arc::clone(&prepared.statements.get(&id)?.text)))
    }

    async fn reply_unknown_statement(&mut self) -> Result<(), SessionEnd> {
        let named = self.client.payload().get(ID_PLACE).and_then(|bytes| bytes.try_into().ok());
        let trouble = Trouble::UnknownStatement(named.map_or(0, u32::from_le_bytes));
        self.reply_trouble(trouble).await
    }
}

impl Statement {
    /// Learns the types that an execution binds, or puts those bound before into one that leaves them out.
    fn complete_types(&mut self, payload: &mut Vec<u8>) {
        let parameters = usize::from(self.parameters);
        if parameters == 0 {
            return;
        }
        // Command, number, flags, iterations, NULL bitmap; then one byte "types follow".
        let flag_place = 1 + 4 + 1 + 4 + parameters.div_ceil(8);
        let types = flag_place + 1..flag_place + 1 + 2 * parameters;
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
            text: Arc::from(b"SELECT ?".as_slice()),
            parameters,
            types: Vec::new(),
            long_data: Vec::new(),
            has_too_much: false,
            copies: Vec::new(),
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
