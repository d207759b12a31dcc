//! Replies of the session's own, most of them errors, for a session as a whole.

use nuthatch_wire::{ErrPacket, ErrorCode};

use crate::roster::SessionEnd;
use crate::session::after::errors;
use crate::session::statement::Plan;
use crate::session::way::Trouble;
use crate::session::whole::Session;

/// Gives a statement the answer that it has without a server.
pub(crate) async fn give_answer(session: &mut Session, plan: &Plan, answer: &[u8]) -> Result<(), SessionEnd> {
    plan.count_rules();
    session.ground.observe(plan, 0, 0);
    session.dealings.hands.forget_what_ran_last();
    session.client.send(&session.ground, answer).await
}

/// Answers the command with an error of the proxy's own.
pub(crate) async fn refuse(session: &mut Session, code: ErrorCode, message: &str) -> Result<(), SessionEnd> {
    let Session { ground, client, context, dealings, .. } = session;
    errors::refuse(ground, client, context, dealings, code, message).await
}

/// Refuses a command on a prepared statement: see [`errors::refuse_command`].
pub(crate) async fn refuse_command(
    session: &mut Session,
    code: ErrorCode,
    message: &str,
) -> Result<(), SessionEnd> {
    let Session { ground, client, account, context, dealings, .. } = session;
    errors::refuse_command(ground, client, account, context, dealings, code, message).await
}

/// Answers the command with a server's refusal of what it asks.
pub(crate) async fn refuse_like_server(session: &mut Session, refusal: &ErrPacket) -> Result<(), SessionEnd> {
    let Session { ground, client, context, dealings, .. } = session;
    errors::refuse_like_server(ground, client, context, dealings, refusal).await
}

/// Tells the client what kept its statement from an answer, and ends the session where it must end.
pub(crate) async fn reply_trouble(session: &mut Session, trouble: Trouble) -> Result<(), SessionEnd> {
    let Session { ground, client, account, context, dealings, .. } = session;
    errors::reply_trouble(ground, client, account, context, dealings, trouble).await
}
