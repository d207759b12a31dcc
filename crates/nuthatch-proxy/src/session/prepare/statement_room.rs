//! Room for prepared statements on a server whose `max_prepared_stmt_count` is reached.
//!
//! What the proxy keeps prepared on connections is kept to save time. So when a server refuses to prepare for want of room,
//! what nobody uses at the moment is closed, on the connection at hand and on those that are idle, and the statement is tried again.

use std::time::Duration;

use nuthatch_sql::cache_hint;
use nuthatch_wire::{AnswerEnd, AnswerKind, Command, ErrorCode};

use crate::session::lease::question::{order, way, way_and_client};
use crate::session::parts::{Client, Context, Dealings, Ground, Held};
use crate::session::way::{Trouble, command_packet};

/// The text as the server must get it, if that differs: without a SQL_CACHE that it does not know.
fn without_sql_cache(context: &Context, text: &[u8]) -> Option<Vec<u8>> {
    cache_hint(text, context.lexing).without_sql_cache(text, context.lexing.server)
}

/// COM_STMT_CLOSE has no answer.
pub(crate) async fn close_on(ground: &Ground, number: u32, held: &mut Held) -> Result<(), Trouble> {
    let packet = command_packet(Command::StmtClose, &number.to_le_bytes());
    way(ground, held).send(&packet).await
}

/// How often a statement is tried again: connections that were closed take a moment to end on the server.
const TRIES: usize = 4;

/// The pause before a further try.
const PAUSE: Duration = Duration::from_millis(25);

/// Has the server prepare `text` by a command of the proxy's own, if need be after making room.
pub(crate) async fn order_preparation(
    ground: &Ground,
    context: &Context,
    command: Command,
    text: &[u8],
    kind: AnswerKind,
    held: &mut Held,
) -> Result<AnswerEnd, Trouble> {
    let sent = without_sql_cache(context, text);
    let packet = command_packet(command, sent.as_deref().unwrap_or(text));
    let mut tries = TRIES;
    loop {
        let mut way = way(ground, held);
        way.send(&packet).await?;
        match way.read_answer(kind).await? {
            Err(refusal) if refusal.code == ErrorCode::TOO_MANY_STATEMENTS.code && tries > 0 => {
                make_room(ground, TRIES - tries, held).await?;
                tries -= 1;
            }
            answer => return answer.map_err(Trouble::Refused),
        }
    }
}

/// Sends the client's own command to prepare, or the same of the text that is to be sent `instead`, if need be after making room. Its answer has not been read.
pub(crate) async fn send_preparation(
    ground: &Ground,
    client: &mut Client,
    context: &Context,
    dealings: &Dealings,
    kind: AnswerKind,
    instead: Option<&[u8]>,
    held: &mut Held,
) -> Result<(), Trouble> {
    let text = instead.unwrap_or_else(|| client.statement_text());
    let sent = without_sql_cache(context, text).or_else(|| instead.map(<[u8]>::to_vec));
    for earlier in 0..=TRIES {
        let (mut way, client) = way_and_client(ground, client, context, dealings, held);
        way.send_packet_of_or(sent.as_deref(), client).await?;
        if earlier == TRIES || !way.is_refused_with(ErrorCode::TOO_MANY_STATEMENTS).await? {
            break;
        }
        way.read_answer(kind).await?.map_or_else(drop, drop);
        make_room(ground, earlier, held).await?;
    }
    Ok(())
}

async fn make_room(ground: &Ground, earlier: usize, held: &mut Held) -> Result<(), Trouble> {
    for number in held.connection.prepared.shrink_to(0) {
        close_on(ground, number, held).await?;
    }
    take_names_back(ground, held).await?;
    held.connection.server().close_idle();
    if earlier > 0 {
        ground.worker.with_tokio(tokio::time::sleep(PAUSE)).await;
    }
    Ok(())
}

pub(crate) async fn deallocate(ground: &Ground, name: &[u8], held: &mut Held) -> Result<(), Trouble> {
    let mut statement = b"DEALLOCATE PREPARE ".to_vec();
    append_quoted(&mut statement, name, b'`', b"`");
    match order(ground, held, Command::Query, &statement, AnswerKind::ResultSets).await {
        // A procedure has taken it back already.
        Err(Trouble::Refused(_)) => Ok(()),
        outcome => outcome,
    }
}

/// Takes all names back from the connection, so that what they take of the server's limit is free.
pub(crate) async fn take_names_back(ground: &Ground, held: &mut Held) -> Result<(), Trouble> {
    for name in held.connection.named.shrink_to(0) {
        deallocate(ground, &name, held).await?;
    }
    Ok(())
}

/// Writes it between quotes, with those characters twice that must be.
pub(crate) fn append_quoted(out: &mut Vec<u8>, text: &[u8], quote: u8, doubled: &[u8]) {
    out.push(quote);
    for byte in text {
        out.extend(std::iter::repeat_n(*byte, if doubled.contains(byte) { 2 } else { 1 }));
    }
    out.push(quote);
}
