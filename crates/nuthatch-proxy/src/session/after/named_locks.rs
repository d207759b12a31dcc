//! The named locks (`GET_LOCK`) of a connection that a session holds for them, until the last is given back.
//!
//! Whether a lock was had, and how often, its function's result tells; but that may be anywhere in an answer. So the server
//! is asked, as long as the names of all locks are known.

use nuthatch_sql::locks;
use nuthatch_wire::{AnswerEnd, Ending};

use crate::session::Session;
use crate::session::parts::Held;
use crate::session::parts::held::{NAMES_MAX, NamedLocks};
use crate::session::statement::Plan;
use crate::session::way::Trouble;
use crate::stats::pins::Pins;

impl Session {
    /// After a statement that took or gave back named locks: asks whether any is left, and ends the pin if none is.
    pub(crate) async fn learn_named_locks(
        &mut self,
        plan: &Plan,
        end: &AnswerEnd,
        held: &mut Held,
    ) -> Result<(), Trouble> {
        if !held.pins.contains(Pins::GET_LOCK) {
            held.named_locks = NamedLocks::default();
            return Ok(());
        }
        if plan.facts.is_opaque || plan.named.is_some() {
            held.named_locks.doubt(plan.facts.pins);
            return Ok(());
        }
        let text = self.client.statement_text();
        let found = locks(text, self.context.lexing);
        if found.taken.is_empty() && !found.takes_others && !found.releases {
            held.named_locks.doubt(plan.facts.pins);
            return Ok(());
        }
        let known = &mut held.named_locks;
        for name in found.taken {
            if !known.names.iter().any(|other| **other == *name) {
                known.names.push(name.into());
            }
        }
        // A string means what it means under this character set.
        known.is_uncertain |= found.takes_others
            || known.names.len() > NAMES_MAX
            || known.names.iter().any(|name| !name.is_ascii());
        let may_be_asked = end.ok.warnings == 0 && !matches!(end.ending, Ending::Err(_));
        if !known.is_uncertain && may_be_asked {
            let mut question = b"SELECT 0".to_vec();
            for name in &known.names {
                question.extend([b" + COALESCE(IS_USED_LOCK(", &**name, b") = CONNECTION_ID(), 0)"].concat());
            }
            let question = String::from_utf8_lossy(&question).into_owned();
            if self.ask(held, &question).await? == Some(0) {
                held.named_locks = NamedLocks::default();
                held.pins = held.pins.without(Pins::GET_LOCK);
            }
        }
        Ok(())
    }
}
