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

/// A longer execution's room is given back.
const PLAIN_BYTES_KEPT: usize = 1024;

/// A session's prepared statements.
#[derive(Debug, Default)]
pub(crate) struct Prepared {
    pub(crate) statements: HashMap<u32, Statement, RandomState>,
    pub(crate) last_id: u32,
    /// The execution at hand, as the cache knows it.
    pub(crate) execution: Vec<u8>,
    /// The same as clients without attributes would send it.
    pub(super) plain: Vec<u8>,
}

impl Prepared {
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
        plain.shrink_to(PLAIN_BYTES_KEPT);
        let is_read =
            self.named(payload).is_some_and(|named| named.take_off_attributes(payload, &mut plain).is_ok());
        let written = if is_read { self.write_down(&plain, state) } else { None };
        self.plain = plain;
        written
    }

    /// Gives back what an execution of more than so many bytes took.
    pub(crate) fn forget_longer_than(&mut self, bytes: usize) {
        if self.execution.capacity() > bytes {
            self.execution = Vec::new();
        }
    }
}

/// A statement that the client has prepared.
#[derive(Debug)]
pub(crate) struct Statement {
    pub(crate) key: StatementKey,
    pub(crate) binding: Binding,
    /// Its text does not keep it from the cache.
    pub(crate) is_cacheable: bool,
    /// Commands with long data that wait for the next execution.
    pub(crate) long_data: Vec<Vec<u8>>,
    /// More long data came than `max_allowed_packet`.
    pub(crate) has_too_much: bool,
    /// Where its cursor is open: the server's thread, and the statement's number there.
    pub(crate) cursor: Option<(u32, u32)>,
    /// What its text was found to be when it was executed last.
    pub(crate) looked: Option<Looked>,
}

impl Statement {
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
