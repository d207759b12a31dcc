//! What goes before a statement is sent over a connection that the session has, be it a text or an execution.

use crate::exact::Flight;
use crate::session::before::flight::{note_reading, start_flight};
use crate::session::parts::Held;
use crate::session::statement::Plan;
use crate::session::way::{Capture, Sent};
use crate::session::whole::Session;

/// What it may write or commit is pending, if it is not known to be `unwatched`, and what an answer to be stored depends on is known.
pub(crate) fn watch(
    session: &Session,
    plan: &Plan,
    sent: &Sent<'_>,
    unwatched: Option<Flight>,
    capture: Option<&mut Capture>,
    held: &Held,
) -> Flight {
    let Session { ground, account, context, dealings, .. } = session;
    let transaction = &dealings.transaction;
    let flight =
        unwatched.unwrap_or_else(|| start_flight(ground, account, context, transaction, plan, sent, held));
    if let Some(capture) = capture {
        note_reading(ground, context, transaction, plan, sent, capture, held);
    }
    flight
}
