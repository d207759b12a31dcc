//! Cursors: rows that a server keeps for a prepared statement until the client fetches them.

use nuthatch_sql::ServerFlavor;
use nuthatch_wire::{AnswerKind, ErrorCode, StatusFlags};

use crate::roster::SessionEnd;
use crate::session::after::errors::function_at_hand;
use crate::session::lease::put_away::put_away;
use crate::session::lease::question::way_and_client;
use crate::session::life::replies::{refuse_command, reply_trouble};
use crate::session::parts::{Held, Statement, named_id, packet_with_id};
use crate::session::prepare::prepared::statement_at_hand;
use crate::session::prepare::statement_room::close_on;
use crate::session::way::{Trouble, reply};
use crate::session::whole::Session;
use crate::stats::pins::Pins;

/// COM_STMT_RESET and COM_STMT_FETCH: for the connection where the statement's cursor is open.
pub(crate) async fn stmt_pass(session: &mut Session, kind: AnswerKind) -> Result<(), SessionEnd> {
    let Some((id, _)) = statement_at_hand(&session.client, &session.statements) else {
        return reply_unknown_statement(session).await;
    };
    let is_reset = kind == AnswerKind::Single;
    if is_reset {
        session.statements.drop_long_data(id);
    }
    let cursor = session.statements.prepared_statement(id).and_then(Statement::cursor);
    let taken = session.dealings.hands.take_cursor(cursor);
    let outcome = match taken {
        Some((mut held, number)) => {
            let outcome = pass_on(session, number, kind, &mut held).await;
            if let (false, Some(statement)) =
                (held.pins().contains(Pins::CURSOR), session.statements.prepared_statement_mut(id))
            {
                statement.set_cursor(None);
            }
            let Session { ground, account, context, dealings, .. } = session;
            put_away(ground, account, context, dealings, held, outcome.as_ref().err());
            outcome.map(|()| true)
        }
        None => Ok(false),
    };
    match outcome {
        Ok(true) => Ok(()),
        Ok(false) if is_reset => {
            session.dealings.results.set_row_count(0);
            session.dealings.hands.forget_what_ran_last();
            session.client.send(&session.ground, &reply::ok(session.dealings.status(&session.context))).await
        }
        Ok(false) => {
            let end = if matches!(session.context.lexing.server, ServerFlavor::MySql(_)) { "." } else { "" };
            let message = format!("The statement ({id}) has no open cursor{end}");
            refuse_command(session, ErrorCode::NO_OPEN_CURSOR, &message).await
        }
        Err(trouble) => reply_trouble(session, trouble).await,
    }
}

async fn pass_on(
    session: &mut Session,
    backend_id: u32,
    kind: AnswerKind,
    held: &mut Held,
) -> Result<(), Trouble> {
    let packet = packet_with_id(session.client.payload(), backend_id);
    let (mut way, client) =
        way_and_client(&session.ground, &mut session.client, &session.context, &session.dealings, held);
    way.send(&packet).await?;
    let end = way.pass_answer(client, kind, None, |_| ()).await?;
    session.dealings.results.set_row_count(if kind == AnswerKind::Single { 0 } else { -1 });
    session.dealings.hands.note_ran_on(held.connection.thread_id);
    let is_over = end.status.contains(StatusFlags::SERVER_STATUS_LAST_ROW_SENT) || kind == AnswerKind::Single;
    if is_over {
        held.unpin(Pins::CURSOR);
    }
    Ok(())
}

/// COM_STMT_CLOSE; it has no answer. On connections the statement stays, for others.
pub(crate) async fn stmt_close(session: &mut Session) -> Result<(), SessionEnd> {
    session.ground.worker.counters.stmt_close.bump();
    let Some((id, _)) = statement_at_hand(&session.client, &session.statements) else { return Ok(()) };
    let Some(statement) = session.statements.close(id) else { return Ok(()) };
    let taken = session
        .dealings
        .hands
        .take_cursor(statement.cursor())
        .or_else(|| session.dealings.hands.take_hidden(&statement));
    let Some((mut held, number)) = taken else { return Ok(()) };
    held.connection.prepared.remove_owned((session.ground.handle.id, id));
    let outcome = close_on(&session.ground, number, &mut held).await;
    held.unpin(Pins::CURSOR);
    let Session { ground, account, context, dealings, .. } = session;
    put_away(ground, account, context, dealings, held, outcome.as_ref().err());
    match outcome {
        Err(Trouble::End(end)) => Err(end),
        // The connection is gone, and the statement with it.
        _ => Ok(()),
    }
}

pub(crate) async fn reply_unknown_statement(session: &mut Session) -> Result<(), SessionEnd> {
    let (id, function) = (
        named_id(session.client.payload()).unwrap_or_default(),
        function_at_hand(&session.client, &session.context),
    );
    let message = format!("Unknown prepared statement handler ({id}) given to {function}");
    refuse_command(session, ErrorCode::UNKNOWN_STMT_HANDLER, &message).await
}
