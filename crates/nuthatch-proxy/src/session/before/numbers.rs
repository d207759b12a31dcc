//! Numbers of connections as a session sees them: its own is the proxy's, in whatever statement it asks for it, and so is that of a session that
//! has a lock or stands in SHOW PROCESSLIST.
//!
//! `CONNECTION_ID()` alone is answered without a server (`decide/alone.rs`). Inside a larger statement, and beside `IS_USED_LOCK('x')`, numbers are put into the
//! text before it is sent. What servers list in tables (`information_schema.processlist`, `performance_schema`, `sys`) has their numbers; a
//! statement that names one of these, or whose numbers cannot be told beforehand, is sent as it is, so that all in it are the server's. KILL
//! takes both (`kill.rs`): those of sessions begin where those of servers do not come to.

use std::sync::Arc;

use nuthatch_sql::{ConnectionNumber, NumberEdit, connection_numbers, session_questions};
use nuthatch_wire::{AnswerEnd, AnswerKind, Reader, SmallResult, append_lenenc_bytes};

use crate::backend::Server;
use crate::session::lease::question::{forget_what_a_question_changes, way, way_and_client};
use crate::session::parts::{Client, Context, Dealings, Ground, Held};
use crate::session::statement::{Plan, TextFacts};
use crate::session::way::{Trouble, reply};

/// A longer list of processes is refused.
const LIST_BYTES_MAX: usize = 16 << 20;

/// What stands for the number of nobody.
const NOBODY: &str = "NULL";

/// The statement at hand with numbers in the place of what asks for them, if it asks for any.
pub(crate) async fn with_numbers(
    ground: &Ground,
    client: &Client,
    context: &Context,
    dealings: &mut Dealings,
    plan: &Plan,
    held: &mut Held,
) -> Result<Option<Vec<u8>>, Trouble> {
    if !plan.facts.asks.numbers || plan.named.is_some() {
        return Ok(None);
    }
    let text = plan.sent.as_deref().unwrap_or_else(|| client.statement_text()).to_vec();
    let edits = connection_numbers(&text, context.lexing, &context.state.schema);
    let mut holders = Vec::new();
    for edit in &edits {
        if let NumberEdit::Replace(_, ConnectionNumber::LockHolder(lock)) = edit {
            let lock = text.get(lock.clone()).unwrap_or_default();
            holders.push(holder_of(ground, context, dealings, lock, held).await?);
        }
    }
    Ok(written(ground, &text, edits, holders))
}

/// The session that has the lock of that name, as a literal; or the server's number, if it is none of ours.
async fn holder_of(
    ground: &Ground,
    context: &Context,
    dealings: &mut Dealings,
    lock: &[u8],
    held: &mut Held,
) -> Result<Option<u32>, Trouble> {
    forget_what_a_question_changes(context, dealings);
    let question = [b"SELECT IS_USED_LOCK(", lock, b")"].concat();
    let told = way(ground, held).ask_bytes(&question).await?;
    let number = told.and_then(|told| std::str::from_utf8(&told).ok()?.parse().ok());
    Ok(number.map(|number| number_of(ground, held.connection.server(), number)))
}

/// Answers SHOW PROCESSLIST: the server's rows, where connections that work for sessions, or are held by them, have the sessions' numbers.
pub(crate) async fn list_processes(
    ground: &Ground,
    client: &mut Client,
    context: &Context,
    dealings: &Dealings,
    held: &mut Held,
) -> Result<AnswerEnd, Trouble> {
    let (mut way, framed) = way_and_client(ground, client, context, dealings, held);
    way.send_packet_of(framed).await?;
    let (answer, end) = way.read_whole(AnswerKind::ResultSets, LIST_BYTES_MAX).await?;
    let form = held.connection.form();
    let Some(result) = answer.as_deref().and_then(|answer| SmallResult::parse(answer, form)) else {
        let refusal = answer.as_deref().and_then(|answer| answer.get(nuthatch_wire::HEADER_LEN..));
        return Err(Trouble::Refused(
            match refusal.and_then(|bytes| nuthatch_wire::ErrPacket::parse(bytes).ok()) {
                Some(refusal) => refusal,
                None => too_long(),
            },
        ));
    };
    let rows: Vec<Box<[u8]>> = result
        .rows
        .iter()
        .map(|row| row_with_number(ground, held.connection.server(), row).unwrap_or_else(|| (*row).into()))
        .collect();
    let definitions: Vec<Box<[u8]>> = result.definitions.iter().map(|bytes| bytes.as_ref().into()).collect();
    let status = end.status;
    let bytes = reply::result_set_of(client.capabilities(), status, &definitions, &rows);
    client.send(ground, &bytes).await?;
    Ok(end)
}

fn too_long() -> nuthatch_wire::ErrPacket {
    let nuthatch_wire::ErrorCode { code, sql_state } = nuthatch_wire::ErrorCode::UNKNOWN_ERROR;
    nuthatch_wire::ErrPacket {
        code,
        sql_state,
        message: b"The list of processes is longer than 16 MiB".to_vec(),
    }
}

/// The text to be prepared, if it asks for the session's own number and no other.
pub(crate) fn with_own_number(
    ground: &Ground,
    context: &Context,
    facts: &TextFacts,
    text: &[u8],
) -> Option<Arc<[u8]>> {
    if !facts.asks.numbers || session_questions(text, context.lexing).is_some() {
        return None;
    }
    let edits = connection_numbers(text, context.lexing, &context.state.schema);
    let is_of_others =
        |edit: &NumberEdit| matches!(edit, NumberEdit::Replace(_, ConnectionNumber::LockHolder(_)));
    if edits.iter().any(is_of_others) {
        return None;
    }
    written(ground, text, edits, Vec::new()).map(Into::into)
}

/// The number under which clients know a connection of the server.
fn number_of(ground: &Ground, server: &Server, thread_id: u32) -> u32 {
    ground.shared.roster.session_of(server, thread_id).map_or(thread_id, |session| session.id)
}

fn written(
    ground: &Ground,
    text: &[u8],
    mut edits: Vec<NumberEdit>,
    holders: Vec<Option<u32>>,
) -> Option<Vec<u8>> {
    if edits.is_empty() {
        return None;
    }
    let place = |edit: &NumberEdit| match edit {
        NumberEdit::Replace(range, _) => range.start,
        NumberEdit::Name(at, _) => *at,
    };
    // Of two in one place, the inner name was found first.
    edits.sort_by_key(place);
    let (mut out, mut done, mut holders) = (Vec::with_capacity(text.len() + 64), 0, holders.into_iter());
    for edit in edits {
        out.extend_from_slice(text.get(done..place(&edit))?);
        done = place(&edit);
        match edit {
            NumberEdit::Replace(range, number) => {
                let number = match number {
                    ConnectionNumber::Own => Some(ground.handle.id),
                    ConnectionNumber::LockHolder(_) => holders.next()?,
                };
                let number = number.map_or_else(|| NOBODY.to_owned(), |number| number.to_string());
                out.extend(format!("CAST({number} AS UNSIGNED)").bytes());
                done = range.end;
            }
            NumberEdit::Name(_, name) => {
                out.extend(b" AS `");
                for byte in text.get(name)? {
                    out.extend(std::iter::repeat_n(*byte, if *byte == b'`' { 2 } else { 1 }));
                }
                out.push(b'`');
            }
        }
    }
    out.extend_from_slice(text.get(done..)?);
    Some(out)
}

/// The row with another number in its first column, if it has one.
fn row_with_number(ground: &Ground, server: &Server, row: &[u8]) -> Option<Box<[u8]>> {
    let mut reader = Reader::new(row);
    let number = std::str::from_utf8(reader.lenenc_bytes().ok()?).ok()?.parse().ok()?;
    let mut changed = Vec::with_capacity(row.len() + 8);
    append_lenenc_bytes(&mut changed, number_of(ground, server, number).to_string().as_bytes());
    changed.extend_from_slice(reader.rest());
    Some(changed.into())
}
