//! The temporary tables on a connection that a session holds for them, until the last is dropped.

use nuthatch_sql::{Kind, TableName, TemporaryTables, temporary_tables};
use nuthatch_wire::{AnswerEnd, Ending};

use crate::session::parts::{Client, Context, Held};
use crate::session::statement::Plan;
use crate::stats::pins::Pins;

/// Takes note of temporary tables that the statement at hand made or dropped; the pin ends with the last.
pub(crate) fn learn_temporary_tables(
    client: &Client,
    context: &Context,
    plan: &Plan,
    end: &AnswerEnd,
    held: &mut Held,
) {
    let makes = plan.facts.pins.contains(Pins::TEMPORARY_TABLE);
    let may_change = makes || held.pins().contains(Pins::TEMPORARY_TABLE);
    if !may_change || !matches!(plan.facts.kind, Kind::Ddl(_)) && !makes {
        return;
    }
    let succeeded = !matches!(end.ending, Ending::Err(_));
    // Several statements, one that text has prepared, an ALTER that renames: nobody knows what is there.
    let text = client.statement_text();
    let understood = (plan.named.is_none() && !plan.facts.transaction.is_opaque)
        .then(|| temporary_tables(text, context.lexing));
    match understood.flatten() {
        Some(TemporaryTables::Made(table)) if succeeded => {
            held.seldom_mut().temporary.add(resolved(context, table));
        }
        Some(TemporaryTables::Dropped(tables)) if succeeded => {
            for table in tables {
                held.seldom_mut().temporary.remove(&resolved(context, table));
            }
        }
        // What failed may have dropped some of them.
        Some(_) if makes => {}
        Some(_) | None => held.seldom_mut().temporary.doubt(Pins::TEMPORARY_TABLE),
    }
    if held.seldom_mut().temporary.is_empty() {
        held.unpin(Pins::TEMPORARY_TABLE);
    }
}

fn resolved(context: &Context, table: TableName) -> (Vec<u8>, Vec<u8>) {
    (table.schema.unwrap_or_else(|| context.state.schema.to_vec()), table.name)
}
