//! What MariaDB keeps by connection of the statements that ran there, and nobody can set elsewhere: the last value of each sequence, and
//! `@@last_gtid`.
//!
//! They are told over a connection that the session has held since the statement that made them (in a transaction, or pinned). Elsewhere it
//! would be another session's value, so the question is refused.

use nuthatch_sql::{Kind, SequenceName};
use nuthatch_wire::{AnswerEnd, Ending};

use crate::session::parts::{Context, Held, Transaction};
use crate::session::statement::Facts;
use crate::session::way::{Elsewhere, Trouble};
use crate::state::SessionState;

/// More sequences are not remembered.
const SEQUENCES_MAX: usize = 64;

/// A name with the schema that it is in.
fn full(name: &SequenceName, state: &SessionState) -> Option<(Vec<u8>, Vec<u8>)> {
    let schema = name.schema.clone().unwrap_or_else(|| state.schema.to_ascii_lowercase());
    Some((schema, name.name.clone()?))
}

/// Refuses what only another connection could tell.
pub(crate) fn check_own_values(context: &Context, facts: &Facts, held: &Held) -> Result<(), Trouble> {
    let has_made = |name: &SequenceName| {
        held.was_held() && full(name, &context.state).is_some_and(|name| is_advanced(held, &name))
    };
    if facts.asks.sequences.as_ref().is_some_and(|found| !found.asked.iter().all(has_made)) {
        return Err(Trouble::Elsewhere(Elsewhere::Sequence));
    }
    match facts.asks.gtid && !(held.was_held() && held.has_gtid()) {
        true => Err(Trouble::Elsewhere(Elsewhere::Gtid)),
        false => Ok(()),
    }
}

/// Takes note of what a statement has made on the connection.
pub(crate) fn learn_own_values(
    context: &Context,
    transaction: &Transaction,
    facts: &Facts,
    end: &AnswerEnd,
    held: &mut Held,
) {
    if matches!(end.ending, Ending::Err(_)) {
        return;
    }
    let advanced = facts.asks.sequences.iter().flat_map(|found| &found.advanced);
    for name in advanced.filter_map(|name| full(name, &context.state)) {
        if held.seldom_mut().sequences.len() < SEQUENCES_MAX {
            held.seldom_mut().sequences.insert(name);
        }
    }
    let changes = match facts.kind {
        Kind::Insert | Kind::Replace | Kind::Update | Kind::Delete | Kind::LoadData => {
            end.ok.affected_rows > 0
        }
        Kind::Ddl(_) => true,
        Kind::Commit => transaction.has_written(),
        _ => false,
    };
    if changes && !held.in_transaction() {
        held.note_gtid();
    }
}

fn is_advanced(held: &Held, name: &(Vec<u8>, Vec<u8>)) -> bool {
    held.seldom().is_some_and(|seldom| seldom.sequences.contains(name))
}
