//! The named locks (`GET_LOCK`) of a connection that a session holds for them, until the last is given back.
//!
//! Whether a lock was had, and how often, its function's result tells; but that may be anywhere in an answer. So the server
//! is asked, as long as the names of all locks are known.

use nuthatch_sql::locks;
use nuthatch_wire::{AnswerEnd, Ending};

use crate::session::lease::question::ask;
use crate::session::parts::{Client, Context, Dealings, Ground, Held};
use crate::session::statement::Plan;
use crate::session::way::Trouble;
use crate::stats::pins::Pins;

/// After a statement that took or gave back named locks: asks whether any is left, and ends the pin if none is.
pub(crate) async fn learn_named_locks(
    ground: &Ground,
    client: &Client,
    context: &Context,
    dealings: &mut Dealings,
    plan: &Plan,
    end: &AnswerEnd,
    held: &mut Held,
) -> Result<(), Trouble> {
    if !held.pins().contains(Pins::GET_LOCK) {
        held.forget_named_locks();
        return Ok(());
    }
    if plan.facts.transaction.is_opaque || plan.named.is_some() {
        held.seldom_mut().named_locks.doubt(plan.facts.pins);
        return Ok(());
    }
    let text = client.statement_text();
    let found = locks(text, context.lexing);
    if found.taken.is_empty() && !found.takes_others && !found.releases {
        held.seldom_mut().named_locks.doubt(plan.facts.pins);
        return Ok(());
    }
    let known = &mut held.seldom_mut().named_locks;
    found.taken.into_iter().for_each(|name| known.add(name.into()));
    if found.takes_others {
        known.doubt(Pins::GET_LOCK);
    }
    let may_be_asked = end.ok.warnings == 0 && !matches!(end.ending, Ending::Err(_));
    if let (Some(names), true) = (known.names(), may_be_asked) {
        let mut question = b"SELECT 0".to_vec();
        for name in names {
            question.extend([b" + COALESCE(IS_USED_LOCK(", &**name, b") = CONNECTION_ID(), 0)"].concat());
        }
        let question = String::from_utf8_lossy(&question).into_owned();
        if ask(ground, context, dealings, held, &question).await? == Some(0) {
            held.forget_named_locks();
            held.unpin(Pins::GET_LOCK);
        }
    }
    Ok(())
}
