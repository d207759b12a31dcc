//! The handlers (`HANDLER … OPEN`) on a connection that a session holds for them, until the last is closed.
//!
//! A server closes some by itself, as when their table is dropped. Those count as open until somebody closes one of their name.

use nuthatch_sql::{Kind, handler};
use nuthatch_wire::{AnswerEnd, Ending};

use crate::session::parts::{Client, Context, Held};
use crate::session::statement::Plan;
use crate::stats::pins::Pins;

/// Takes note of a handler that the statement at hand opened or closed; the pin ends with the last.
pub(crate) fn learn_handlers(
    client: &Client,
    context: &Context,
    plan: &Plan,
    end: &AnswerEnd,
    held: &mut Held,
) {
    let may_open = plan.facts.pins.contains(Pins::HANDLER);
    if !may_open && plan.facts.kind != Kind::Handler {
        return;
    }
    // Several statements, one that text has prepared: nobody knows what is open.
    let is_seen = plan.named.is_none() && !plan.facts.transaction.is_opaque;
    match is_seen.then(|| handler(client.statement_text(), context.lexing)).flatten() {
        Some(handler) if !matches!(end.ending, Ending::Err(_)) => held.seldom_mut().handlers.learn(handler),
        Some(_) => {}
        None => held.seldom_mut().handlers.doubt(plan.facts.pins),
    }
    if held.seldom_mut().handlers.are_closed() {
        held.unpin(Pins::HANDLER);
    }
}
