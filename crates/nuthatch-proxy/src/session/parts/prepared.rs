//! The statements that a client has prepared by number.

mod execution;
mod parameters;

use std::collections::HashMap;

pub(crate) use execution::{Binding, asks_for_cursor, is_bulk, named_id, packet_with_id};
use nuthatch_wire::{Attributes, WireError};
pub(crate) use parameters::parameters;
use rapidhash::fast::RandomState;

use crate::backend::StatementKey;
use crate::session::statement::Looked;
use crate::state::SessionState;

/// MariaDB: "the statement prepared last".
pub(crate) const LAST_PREPARED: u32 = u32::MAX;

/// How many statements a session may have prepared, as `max_prepared_stmt_count` bounds them for a server.
pub(crate) const STATEMENTS_MAX: usize = 16_382;

/// A session's prepared statements.
#[derive(Debug, Default)]
pub(crate) struct Prepared {
    statements: HashMap<u32, Statement, RandomState>,
    last_id: u32,
    /// The execution at hand, as the cache knows it.
    execution: Vec<u8>,
    /// The same as clients without attributes would send it.
    plain: Vec<u8>,
}

impl Prepared {
    /// The statement of that number.
    pub(crate) fn get(&self, id: u32) -> Option<&Statement> {
        self.statements.get(&id)
    }

    /// The same, to be changed.
    pub(super) fn get_mut(&mut self, id: u32) -> Option<&mut Statement> {
        self.statements.get_mut(&id)
    }

    /// Whether there may be no more.
    pub(crate) fn is_full(&self) -> bool {
        self.statements.len() >= STATEMENTS_MAX
    }

    /// The number that the next statement gets.
    pub(super) const fn next_id(&self) -> u32 {
        self.last_id % (LAST_PREPARED - 1) + 1
    }

    pub(super) fn add(&mut self, id: u32, statement: Statement) {
        self.last_id = id;
        self.statements.insert(id, statement);
    }

    pub(super) fn remove(&mut self, id: u32) -> Option<Statement> {
        self.statements.remove(&id)
    }

    /// The execution at hand as it was [written down](Self::write_down) last.
    #[inline]
    pub(super) fn execution(&self) -> &[u8] {
        &self.execution
    }

    /// Numbers go on behind the last, as on a server: an old one never names a new statement.
    pub(crate) fn forget_all(&mut self) {
        self.statements = HashMap::default();
    }

    /// The number of the statement that a command names.
    pub(crate) fn named_in(&self, payload: &[u8]) -> Option<u32> {
        let named = named_id(payload)?;
        Some(if named == LAST_PREPARED { self.last_id } else { named })
    }

    /// The statement that a command names.
    pub(crate) fn named(&self, payload: &[u8]) -> Option<&Statement> {
        self.statements.get(&self.named_in(payload)?)
    }

    /// The statement that the execution is of, for another session.
    pub(super) fn stand_in(&self, payload: &[u8]) -> Option<(u32, Statement)> {
        let id = self.named_in(payload)?;
        Some((id, self.statements.get(&id)?.stand_in()))
    }

    /// Writes down what the execution asks, as a cache knows it: what is bound, the text, and its length. `None` if the same from another
    /// session in that state might have another answer.
    pub(crate) fn write_down(&mut self, payload: &[u8], state: &SessionState) -> Option<()> {
        let statement = self.statements.get_mut(&self.named_in(payload)?)?;
        if !statement.is_cacheable || !statement.is_repeatable(state) || asks_for_cursor(payload) {
            return None;
        }
        let out = &mut self.execution;
        out.clear();
        statement.binding.write_down(payload, out);
        out.extend_from_slice(&statement.key.text);
        out.extend_from_slice(&(statement.key.text.len() as u64).to_le_bytes());
        Some(())
    }

    /// The same of an execution with attributes, which are taken off first.
    pub(crate) fn write_down_plain(&mut self, payload: &[u8], state: &SessionState) -> Option<()> {
        let mut plain = std::mem::take(&mut self.plain);
        plain.clear();
        let is_read =
            self.named(payload).is_some_and(|named| named.take_off_attributes(payload, &mut plain).is_ok());
        let written = if is_read { self.write_down(&plain, state) } else { None };
        self.plain = plain;
        written
    }

    /// Gives back what an execution of more than so many bytes took.
    pub(crate) fn forget_longer_than(&mut self, bytes: usize) {
        for kept in [&mut self.execution, &mut self.plain] {
            if kept.capacity() > bytes {
                *kept = Vec::new();
            }
        }
    }
}

/// A statement that the client has prepared.
#[derive(Debug)]
pub(crate) struct Statement {
    key: StatementKey,
    binding: Binding,
    /// Its text does not keep it from the cache.
    is_cacheable: bool,
    long_data: Vec<Vec<u8>>,
    /// More long data came than `max_allowed_packet`.
    has_too_much: bool,
    cursor: Option<(u32, u32)>,
    looked: Option<Looked>,
}

impl Statement {
    /// One with so many parameters, of which nothing is bound yet.
    pub(crate) const fn new(key: StatementKey, parameters: u16, is_cacheable: bool) -> Self {
        Self {
            key,
            binding: Binding::new(parameters),
            is_cacheable,
            long_data: Vec::new(),
            has_too_much: false,
            cursor: None,
            looked: None,
        }
    }

    /// The same for another session, without what was sent for its next execution.
    fn stand_in(&self) -> Self {
        let Self { key, binding, is_cacheable, .. } = self;
        let (key, binding) = (key.clone(), binding.clone());
        Self { binding, ..Self::new(key, 0, *is_cacheable) }
    }

    /// Under what it was prepared.
    pub(crate) const fn key(&self) -> &StatementKey {
        &self.key
    }

    /// What its parameters are bound to.
    pub(crate) const fn binding(&self) -> &Binding {
        &self.binding
    }

    /// The same, to be changed.
    pub(crate) const fn binding_mut(&mut self) -> &mut Binding {
        &mut self.binding
    }

    /// Where its cursor is open: the server's thread, and the statement's number there.
    pub(crate) const fn cursor(&self) -> Option<(u32, u32)> {
        self.cursor
    }

    pub(crate) const fn set_cursor(&mut self, cursor: Option<(u32, u32)>) {
        self.cursor = cursor;
    }

    /// What its text was found to be when it was executed last.
    pub(crate) const fn looked(&self) -> Option<&Looked> {
        self.looked.as_ref()
    }

    pub(crate) fn remember(&mut self, looked: Looked) {
        self.looked = Some(looked);
    }

    /// Commands with long data that wait for the next execution.
    pub(crate) fn long_data(&self) -> &[Vec<u8>] {
        &self.long_data
    }

    /// Keeps one more, unless they are more than so many bytes: then the execution will say so, and until then nothing is kept.
    pub(crate) fn add_long_data(&mut self, command: Vec<u8>, bytes_max: usize) {
        let bytes: usize = self.long_data.iter().map(Vec::len).sum();
        if bytes + command.len() <= bytes_max {
            self.long_data.push(command);
        } else {
            self.has_too_much = true;
            self.long_data.clear();
        }
    }

    pub(super) fn drop_long_data(&mut self) {
        self.long_data = Vec::new();
    }

    /// Whether more long data came than is kept; asked once.
    pub(super) fn takes_too_much(&mut self) -> bool {
        std::mem::take(&mut self.has_too_much)
    }

    /// Whether anything was sent for its next execution.
    pub(crate) const fn has_long_data(&self) -> bool {
        !self.long_data.is_empty() || self.has_too_much
    }

    /// Takes the attributes off an execution of it: see [`Attributes::take_off_execution`].
    pub(crate) fn take_off_attributes(
        &self,
        payload: &[u8],
        plain: &mut Vec<u8>,
    ) -> Result<Option<Attributes>, WireError> {
        // Long data are commands: byte, number of the statement, number of the parameter.
        let is_long = |number: usize| {
            let names = |data: &Vec<u8>| {
                data.get(5..7).map(|place| usize::from(u16::from_le_bytes([place[0], place[1]])))
            };
            self.long_data.iter().any(|data| names(data) == Some(number))
        };
        self.binding.take_off_attributes(payload, is_long, plain)
    }

    /// Whether all that decides the answer to an execution is in its bytes, its text and that state.
    fn is_repeatable(&self, state: &SessionState) -> bool {
        let StatementKey { schema, charset, settings, hidden, .. } = &self.key;
        let is_of_state =
            **schema == *state.schema && *charset == state.charset && settings.is_same(&state.settings);
        let has_nothing_beside = !self.has_long_data() && self.cursor.is_none();
        is_of_state && hidden.is_none() && has_nothing_beside
    }
}

#[cfg(test)]
mod tests;
