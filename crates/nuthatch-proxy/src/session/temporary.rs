//! The temporary tables on a connection that a session holds for them, until the last is dropped.

use std::collections::HashSet;

use nuthatch_sql::{Kind, TableName, TemporaryTables, temporary_tables};
use nuthatch_wire::{AnswerEnd, Ending};

use crate::pins::Pins;

use super::Session;
use super::lease::Held;
use super::plan::Plan;

/// Those that are known to be there.
#[derive(Debug, Default)]
pub(super) struct Temporary {
    tables: HashSet<(Vec<u8>, Vec<u8>)>,
    /// There may be others.
    is_uncertain: bool,
}

impl Temporary {
    /// A statement that pins so has run, and nobody looked at what it made.
    pub(super) fn doubt(&mut self, pins: Pins) {
        self.is_uncertain |= pins.contains(Pins::TEMPORARY_TABLE);
    }
}

impl Session {
    /// Takes note of temporary tables that the statement at hand made or dropped; the pin ends with the last.
    pub(super) fn learn_temporary_tables(&self, plan: &Plan, end: &AnswerEnd, held: &mut Held) {
        let makes = plan.facts.pins.contains(Pins::TEMPORARY_TABLE);
        let may_change = makes || held.pins.contains(Pins::TEMPORARY_TABLE);
        if !may_change || !matches!(plan.facts.kind, Kind::Ddl(_)) && !makes {
            return;
        }
        let succeeded = !matches!(end.ending, Ending::Err(_));
        // Several statements, one that text has prepared, an ALTER that renames: nobody knows what is there.
        let text = self.statement_text();
        let understood =
            (plan.named.is_none() && !plan.facts.is_opaque).then(|| temporary_tables(text, self.lexing));
        match understood.flatten() {
            Some(TemporaryTables::Made(table)) if succeeded => {
                held.temporary.tables.insert(self.resolved(table));
            }
            Some(TemporaryTables::Dropped(tables)) if succeeded => {
                for table in tables {
                    held.temporary.tables.remove(&self.resolved(table));
                }
            }
            // What failed may have dropped some of them.
            Some(_) => held.temporary.is_uncertain |= !makes,
            None => held.temporary.is_uncertain = true,
        }
        if held.temporary.tables.is_empty() && !held.temporary.is_uncertain {
            held.pins = held.pins.without(Pins::TEMPORARY_TABLE);
        }
    }

    fn resolved(&self, table: TableName) -> (Vec<u8>, Vec<u8>) {
        (table.schema.unwrap_or_else(|| self.state.schema.clone()), table.name)
    }
}
