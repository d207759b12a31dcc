//! An execution on its way to a server, and what its answer tells.

use nuthatch_sql::{Kind, Parameter};
use nuthatch_wire::{AnswerEnd, AnswerKind, Ending, StatusFlags};

use crate::exact::Flight;
use crate::session::after::diagnostics::{keep_what_is_left, must_fetch_what_is_left};
use crate::session::after::found_rows::{found_by, learn_found_rows};
use crate::session::after::more::{ask_for_more, must_ask_for_more};
use crate::session::before::flight::{land, land_lost, note_binlog, unwatched};
use crate::session::before::more::{bring_more, must_bring_more};
use crate::session::before::reading::reads_otherwise;
use crate::session::lease::question::{way, way_and_client};
use crate::session::life::flight::watch;
use crate::session::parts::{Client, Context, Held, Statements, asks_for_cursor, is_bulk, packet_with_id};
use crate::session::prepare::prepared::{key_on, known_number, prepare_anew};
use crate::session::prepare::text_prepared::bring_names;
use crate::session::statement::Plan;
use crate::session::way::{Capture, Departure, Sent, Trouble, WhenLate};
use crate::session::whole::Session;
use crate::state::Found;
use crate::stats::pins::Pins;

/// Has the connection's server execute the statement.
pub(crate) async fn execute_on(
    session: &mut Session,
    id: u32,
    text: &[u8],
    plan: &Plan,
    mut capture: Option<&mut Capture>,
    held: &mut Held,
    was_sent: &mut bool,
) -> Result<AnswerEnd, Trouble> {
    let (opens_cursor, is_bulk) =
        (asks_for_cursor(session.client.payload()), is_bulk(session.client.payload()));
    if is_bulk && !held.connection.takes_bulk() {
        return Err(Trouble::NoBulk);
    }
    let number = bring(session, id, text, plan, opens_cursor, held).await?;
    let packet = execute_packet(&session.client, &mut session.statements, id, number, held);
    for long_data in session.statements.long_data(id) {
        way(&session.ground, held).send(&packet_with_id(&long_data, number)).await?;
    }
    held.connection.count_statement();
    *was_sent = true;
    let mut flight = take_off_prepared(session, id, text, plan, capture.as_deref_mut(), held);
    let (mut way, client) =
        way_and_client(&session.ground, &mut session.client, &session.context, &session.dealings, held);
    way.send(&packet).await?;
    let kind = if opens_cursor { AnswerKind::Cursor } else { AnswerKind::ResultSets };
    let way = way.when_late(WhenLate::of(&plan.facts));
    let answered = way.hearing(&mut flight).pass_answer(client, kind, capture, |_| ()).await;
    let Session { ground, dealings, .. } = &mut *session;
    match &answered {
        Ok(_) => land(ground, &mut dealings.transaction, &dealings.hands, flight),
        Err(_) => land_lost(ground, &mut dealings.transaction, &dealings.hands, flight),
    }
    let end = answered?;
    learn_cursor(&mut session.statements, id, (kind, number), &end, held);
    Ok(end)
}

/// Brings what the execution needs to its connection. Returns the statement's number there.
async fn bring(
    session: &mut Session,
    id: u32,
    text: &[u8],
    plan: &Plan,
    opens_cursor: bool,
    held: &mut Held,
) -> Result<u32, Trouble> {
    let Session { ground, client, account, context, dealings, statements, .. } = session;
    if plan.brings_names() {
        Box::pin(bring_names(ground, account, context, dealings, statements, plan, held)).await?;
    }
    let statement = statements.prepared_statement(id).ok_or(Trouble::UnknownStatement(id))?;
    let key = key_on(ground, client, context, statement, (id, opens_cursor));
    let number = match known_number(context, &key, held) {
        Some(number) => number,
        None => Box::pin(prepare_anew(ground, account, context, dealings, key, held)).await?,
    };
    if must_bring_more(ground, account, context, dealings, &plan.facts, text, held) {
        Box::pin(bring_more(ground, account, context, dealings, &plan.facts, text, held)).await?;
    }
    Ok(number)
}

/// What an answered execution tells of the session. Returns whether the server must be asked for more: see [`ask_after_execution`].
#[must_use]
pub(crate) fn learn_of_execution(
    session: &mut Session,
    id: u32,
    text: &[u8],
    plan: &Plan,
    end: &AnswerEnd,
    held: &mut Held,
) -> bool {
    let Session { ground, client, context, dealings, statements, .. } = session;
    let statement = statements.prepared_statement(id);
    let parameters = || {
        let values =
            |statement: &crate::session::parts::Statement| statement.binding().values_of(client.payload());
        statement.filter(|statement| statement.long_data().is_empty()).map(values).unwrap_or_default()
    };
    let has_cursor = statement.is_some_and(|statement| statement.cursor().is_some());
    let found = match has_cursor {
        true => Some(Found::Elsewhere),
        false => found_by(context, &plan.facts, text, parameters, end),
    };
    learn_found_rows(&mut dealings.results, &plan.facts, found, end, held);
    held.doubt(plan.facts.pins);
    must_fetch_what_is_left(ground, &dealings.diagnostics, held)
        || must_ask_for_more(&dealings.results, &plan.facts, end, held)
}

/// Asks the server for what an answered execution did not tell.
pub(crate) async fn ask_after_execution(
    session: &mut Session,
    plan: &Plan,
    end: &AnswerEnd,
    held: &mut Held,
) -> Result<(), Trouble> {
    let Session { ground, context, dealings, .. } = session;
    if must_fetch_what_is_left(ground, &dealings.diagnostics, held) {
        keep_what_is_left(ground, context, dealings, end, held).await?;
    }
    ask_for_more(ground, context, dealings, &plan.facts, end, held).await
}

/// The connection is kept while the statement's cursor is open on it.
pub(crate) fn keep_cursor(statements: &Statements, id: u32, held: &mut Held) {
    if statements.prepared_statement(id).is_some_and(|statement| statement.cursor().is_some()) {
        held.pin(Pins::CURSOR);
    }
}

/// Takes note of whether the execution, which ended so, has left a cursor of its own open.
pub(crate) fn learn_cursor(
    statements: &mut Statements,
    id: u32,
    (kind, number): (AnswerKind, u32),
    end: &AnswerEnd,
    held: &Held,
) {
    let has_cursor = kind == AnswerKind::Cursor
        && end.status.contains(StatusFlags::SERVER_STATUS_CURSOR_EXISTS)
        && end.ending == Ending::ResultSet;
    if let Some(statement) = statements.prepared_statement_mut(id) {
        statement.set_cursor(has_cursor.then_some((held.connection.thread_id, number)));
    }
}

/// Sends the execution over a connection to which nothing need be brought. None if that takes waiting, and nothing was done then.
pub(crate) fn send_execution_at_once(
    session: &mut Session,
    id: u32,
    text: &[u8],
    plan: &Plan,
    capture: Option<&mut Capture>,
    held: &mut Held,
) -> Option<Departure> {
    let Session { ground, client, account, context, dealings, statements, .. } = session;
    let payload = client.payload();
    let statement = statements.prepared_statement(id)?;
    let is_plain = !plan.brings_names() && !is_bulk(payload) && statement.long_data().is_empty();
    let opens_cursor = asks_for_cursor(payload);
    if !is_plain || must_bring_more(ground, account, context, dealings, &plan.facts, text, held) {
        return None;
    }
    let key = key_on(ground, client, context, statement, (id, opens_cursor));
    let number = known_number(context, &key, held)?;
    let packet = execute_packet(client, statements, id, number, held);
    held.connection.count_statement();
    let flight = take_off_prepared(session, id, text, plan, capture, held);
    let written = way(&session.ground, held).write_at_once(&packet);
    let kind = if opens_cursor { AnswerKind::Cursor } else { AnswerKind::ResultSets };
    Some(Departure::of(flight, (kind, number), &packet, written))
}

/// What goes before the execution is sent: see [`take_off`](crate::session::life::sent_text).
fn take_off_prepared(
    session: &Session,
    id: u32,
    text: &[u8],
    plan: &Plan,
    capture: Option<&mut Capture>,
    held: &Held,
) -> Flight {
    let unwatched = unwatched(&session.ground, &session.dealings.transaction, &plan.facts);
    if plan.facts.kind == Kind::Set {
        note_binlog(&session.ground, plan.facts.kind, text);
    }
    if capture.is_none()
        && let Some(flight) = unwatched
    {
        return flight;
    }
    let parameters = parameters_of(session, id);
    watch(session, plan, &sent_by_execution(session, id, text, &parameters), unwatched, capture, held)
}

/// What a server is to execute by the execution at hand, which is of that statement.
pub(crate) fn sent_by_execution<'a>(
    session: &'a Session,
    id: u32,
    text: &'a [u8],
    parameters: &'a [Parameter],
) -> Sent<'a> {
    let statement = session.statements.prepared_statement(id);
    Sent {
        text,
        schema: statement.map_or(b"", |statement| &statement.key().schema),
        parameters,
        is_read_otherwise: statement
            .is_none_or(|statement| reads_otherwise(&session.context, statement.key())),
        is_repeated: is_bulk(session.client.payload()),
    }
}

/// The values that the execution at hand has, as far as they came with it.
pub(crate) fn parameters_of(session: &Session, id: u32) -> Vec<Parameter> {
    match session.statements.prepared_statement(id) {
        Some(statement) if statement.long_data().is_empty() => {
            statement.binding().values_of(session.client.payload())
        }
        _ => Vec::new(),
    }
}

/// Writes the execution at hand down for the cache; `false` if the same by another session might have another answer.
pub(crate) fn write_down_execution(client: &Client, context: &Context, statements: &mut Statements) -> bool {
    let (payload, prepared) = (client.payload(), statements.prepared_mut());
    prepared.is_some_and(|prepared| prepared.write_down(payload, &context.state).is_some())
}

/// The command at hand for the connection's own number, with parameter types even if the client leaves them out.
fn execute_packet(
    client: &Client,
    statements: &mut Statements,
    id: u32,
    number: u32,
    held: &Held,
) -> Vec<u8> {
    let takes_attributes = held.connection.takes_attributes();
    match statements.prepared_statement_mut(id) {
        Some(statement) if takes_attributes => {
            statement.binding_mut().packet_with_attributes(client.payload(), number, client.attributes())
        }
        Some(statement) => statement.binding_mut().packet_of(client.payload(), number),
        None => packet_with_id(client.payload(), number),
    }
}
