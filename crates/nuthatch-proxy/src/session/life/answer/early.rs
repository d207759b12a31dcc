//! COMMIT and ROLLBACK of a transaction that has only read are answered when they are sent, not when their server has answered
//! (`mysql-commit_reads_early`): there is nothing that could come of them but their answer, so a client need not wait a whole trip for it.
//!
//! The session waits in its client's place, and does nothing else before: so the next statement never runs in the transaction that was ended.
//! If the server ends none, refuses or is lost, its connection is closed, which ends the transaction too.
//!
//! A connection on which a COMMIT begins another transaction (`completion_type`) is known by its answers: nothing is said early over one that
//! has not ended a transaction for good before.

use nuthatch_sql::TransactionEnd;
use nuthatch_wire::{AnswerEnd, Ending, StatusFlags};

use crate::roster::SessionEnd;
use crate::session::parts::{Context, Dealings, Ground, Held};
use crate::session::statement::{Plan, Request};
use crate::session::way::reply;
use crate::session::whole::Session;

/// What clients have told to them of changes, in a form that only the server knows.
const TRACKERS: [&[u8]; 2] = [b"session_track_transaction_info", b"session_track_gtids"];

/// Whether the statement that was sent over that connection ends a transaction of which nothing can come but the answer.
fn may_tell(
    ground: &Ground,
    context: &Context,
    dealings: &Dealings,
    request: &Request,
    plan: &Plan,
    held: &Held,
) -> bool {
    let ends_it = matches!(plan.facts.transaction.end, TransactionEnd::Commit | TransactionEnd::Rollback)
        && plan.facts.transaction.ends
        && !plan.facts.server.disconnects;
    let is_quiet = !context.is_told_of_changes
        && !ground.snapshot.tells_gtids()
        && TRACKERS.iter().all(|tracker| context.state.settings.get(tracker).is_none());
    ends_it
        && matches!(request, Request::Text)
        && ground.snapshot.mysql.commit_reads_early
        && dealings.transaction.has_only_read()
        && held.is_surely_in_transaction()
        && held.pins().is_empty()
        && dealings.hands.held.is_empty()
        && context.state.autocommit
        && plan.verdict.multiplex.is_none()
        && is_quiet
        && held.connection.state.ends_transactions
}

/// Answers the client if the statement may be answered early. Returns whether it was.
pub(super) async fn tell_early(
    session: &mut Session,
    request: &Request,
    plan: &Plan,
    held: &Held,
) -> Result<bool, SessionEnd> {
    let Session { ground, client, context, dealings, .. } = session;
    if !may_tell(ground, context, dealings, request, plan, held) {
        return Ok(false);
    }
    let status = dealings.status(context).difference(StatusFlags::SERVER_STATUS_IN_TRANS);
    client.send(ground, &reply::ok(status)).await?;
    ground.worker.counters.commit_early.bump();
    Ok(true)
}

/// Whether the answer to a COMMIT or ROLLBACK says that the transaction is over and no other has begun.
pub(super) const fn has_ended_it(end: &AnswerEnd) -> bool {
    matches!(end.ending, Ending::Ok) && !end.status.contains(StatusFlags::SERVER_STATUS_IN_TRANS)
}
