//! What MariaDB keeps by connection of the statements that ran there, and nobody can set elsewhere: the last value of each sequence, and
//! `@@last_gtid`.
//!
//! They are told over a connection that the session has held since the statement that made them (in a transaction, or pinned). Elsewhere it
//! would be another session's value, so the question is refused.

use std::sync::Arc;

use nuthatch_sql::{Kind, Lexing, SequenceName, Sequences, ServerFlavor, sequences};
use nuthatch_wire::{AnswerEnd, Ending};

use crate::state::SessionState;

use super::Session;
use super::lease::Held;
use super::plan::{Facts, names};
use super::trouble::{Elsewhere, Trouble};

/// More sequences are not remembered.
const SEQUENCES_MAX: usize = 64;

const LAST_GTID: &[u8] = b"last_gtid";

/// What a session has made on the connection that it holds.
#[derive(Debug, Default)]
pub(super) struct OwnValues {
    /// Schemas and names of the sequences that it advanced.
    advanced: Vec<(Vec<u8>, Vec<u8>)>,
    /// It has committed a change.
    has_gtid: bool,
}

/// The sequences in a text, if the server has any.
pub(super) fn sequences_in(text: &[u8], lexing: Lexing) -> Option<Arc<Sequences>> {
    let words = [&b"nextval"[..], b"lastval", b"currval", b"value for", b"previous"];
    let is_mariadb = matches!(lexing.server, ServerFlavor::MariaDb(_));
    (is_mariadb && words.iter().any(|word| names(text, word)))
        .then(|| sequences(text, lexing).map(Into::into))
        .flatten()
}

/// Whether it asks for the number of the connection's last change.
pub(super) fn asks_for_gtid(text: &[u8], kind: Kind) -> bool {
    names(text, LAST_GTID)
        && matches!(kind, Kind::Select | Kind::Do | Kind::Set | Kind::Insert | Kind::Update)
}

/// A name with the schema that it is in.
fn full(name: &SequenceName, state: &SessionState) -> Option<(Vec<u8>, Vec<u8>)> {
    let schema = name.schema.clone().unwrap_or_else(|| state.schema.to_ascii_lowercase());
    Some((schema, name.name.clone()?))
}

impl Session {
    /// Refuses what only another connection could tell.
    pub(super) fn check_own_values(&self, facts: &Facts, held: &Held) -> Result<(), Trouble> {
        let has_made = |name: &SequenceName| {
            held.was_held && full(name, &self.state).is_some_and(|name| held.own.advanced.contains(&name))
        };
        if facts.sequences.as_ref().is_some_and(|found| !found.asked.iter().all(has_made)) {
            return Err(Trouble::Elsewhere(Elsewhere::Sequence));
        }
        match facts.asks_for_gtid && !(held.was_held && held.own.has_gtid) {
            true => Err(Trouble::Elsewhere(Elsewhere::Gtid)),
            false => Ok(()),
        }
    }

    /// Takes note of what a statement has made on the connection.
    pub(super) fn learn_own_values(&self, facts: &Facts, end: &AnswerEnd, held: &mut Held) {
        if matches!(end.ending, Ending::Err(_)) {
            return;
        }
        let advanced = facts.sequences.iter().flat_map(|found| &found.advanced);
        for name in advanced.filter_map(|name| full(name, &self.state)) {
            if held.own.advanced.len() < SEQUENCES_MAX && !held.own.advanced.contains(&name) {
                held.own.advanced.push(name);
            }
        }
        let changes = match facts.kind {
            Kind::Insert | Kind::Replace | Kind::Update | Kind::Delete | Kind::LoadData => {
                end.ok.affected_rows > 0
            }
            Kind::Ddl(_) => true,
            Kind::Commit => self.wrote_in_transaction,
            _ => false,
        };
        held.own.has_gtid |= changes && !held.in_transaction;
    }
}
