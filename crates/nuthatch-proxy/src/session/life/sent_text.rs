//! A text on its way to a server, and what its answer tells.

use std::sync::Arc;

use nuthatch_sql::Kind;
use nuthatch_wire::{AnswerEnd, AnswerKind, query_packet};

use crate::backend::MirroredRead;
use crate::exact::Flight;
use crate::session::after::diagnostics::{keep_what_is_left, must_fetch_what_is_left};
use crate::session::after::found_rows::{found_by, learn_found_rows};
use crate::session::after::more::{ask_for_more, must_ask_for_more};
use crate::session::after::pins::handlers::learn_handlers;
use crate::session::after::pins::named_locks::learn_named_locks;
use crate::session::after::pins::temporary::learn_temporary_tables;
use crate::session::before::flight::{land, land_lost, note_binlog, unwatched};
use crate::session::before::more::{bring_more, must_bring_more};
use crate::session::before::numbers::{list_processes, with_numbers};
use crate::session::before::reading::reads_otherwise;
use crate::session::lease::question::{way, way_and_client};
use crate::session::life::flight::watch;
use crate::session::parts::Held;
use crate::session::prepare::statement_room::send_preparation;
use crate::session::prepare::text_prepared::{bring_names, learn_name};
use crate::session::statement::{Named, Plan};
use crate::session::way::{Capture, Departure, Sent, Trouble, WhenLate};
use crate::session::whole::Session;
use crate::stats::pins::Pins;

/// What goes before a statement is sent over `held`: what it may write or commit is pending, and what an answer to be stored
/// depends on is known.
fn take_off(session: &Session, plan: &Plan, capture: Option<&mut Capture>, held: &Held) -> Flight {
    let unwatched = unwatched(&session.ground, &session.dealings.transaction, &plan.facts);
    if plan.facts.kind == Kind::Set {
        let text = session.statements.executed_text(&session.client, plan);
        note_binlog(&session.ground, plan.facts.kind, text);
    }
    if capture.is_none()
        && let Some(flight) = unwatched
    {
        return flight;
    }
    watch(session, plan, &sent_by_text(session, plan), unwatched, capture, held)
}

/// A cold server is sent the text at hand too, if it is a pure read and one takes it.
#[inline]
fn mirror(session: &Session, plan: &Plan, held: &Held) {
    if session.ground.shared.hostgroups.mirrors.are_any() {
        offer(session, plan, held);
    }
}

#[cold]
fn offer(session: &Session, plan: &Plan, held: &Held) {
    let Session { ground, client, account, context, .. } = session;
    let is_pure = plan.facts.is_plain_read() && plan.facts.is_for_any_server();
    let is_alone = session.holds_nothing() && !held.in_transaction() && held.pins().is_empty();
    let is_alone = is_alone && plan.named.is_none() && plan.sent.is_none();
    if !is_pure || !is_alone || !context.state.has_schema_and_charset_only() {
        return;
    }
    let read = || {
        Some(MirroredRead {
            user: Arc::clone(account.name()),
            password: Arc::clone(account.password()?),
            schema: (*context.state.schema).into(),
            charset: context.state.charset.clone(),
            text: client.statement_text().into(),
        })
    };
    let mirrors = &ground.shared.hostgroups.mirrors;
    mirrors.offer(plan.hostgroup, held.connection.server(), ground.latest_us, read);
}

/// What a server is to execute by the text at hand.
pub(crate) fn sent_by_text<'a>(session: &'a Session, plan: &'a Plan) -> Sent<'a> {
    let key = session.statements.prepared_key(plan);
    Sent {
        text: session.statements.executed_text(&session.client, plan),
        schema: key.map_or(&session.context.state.schema, |key| &key.schema),
        parameters: &[],
        is_read_otherwise: key.is_some_and(|key| reads_otherwise(&session.context, key)),
        is_repeated: false,
    }
}

/// Sends the text over a connection to which nothing need be brought. None if that takes waiting, and nothing was done then.
pub(crate) fn send_text_at_once(
    session: &Session,
    plan: &Plan,
    capture: Option<&mut Capture>,
    held: &mut Held,
) -> Option<Departure> {
    let Session { ground, client, account, context, dealings, .. } = session;
    let frame = client.framed().frame()?;
    let asks = &plan.facts.asks;
    let is_plain = plan.named.is_none() && plan.sent.is_none() && !plan.brings_names();
    let needs_help = asks.numbers || asks.connections;
    if !is_plain
        || needs_help
        || must_bring_more(ground, account, context, dealings, &plan.facts, client.statement_text(), held)
    {
        return None;
    }
    held.connection.count_statement();
    mirror(session, plan, held);
    let flight = take_off(session, plan, capture, held);
    let kind = (AnswerKind::ResultSets, 0);
    if held.connection.takes_attributes() {
        let packet = query_packet(client.statement_text(), client.attributes());
        let written = way(ground, held).write_at_once(&packet);
        return Some(Departure::of(flight, kind, &packet, written));
    }
    let written = way(ground, held).write_at_once(frame);
    Some(Departure::of(flight, kind, frame, written))
}

/// Has the connection's server execute the text.
pub(crate) async fn query_on(
    session: &mut Session,
    plan: &Plan,
    mut capture: Option<&mut Capture>,
    held: &mut Held,
    was_sent: &mut bool,
) -> Result<AnswerEnd, Trouble> {
    let numbered = bring(session, plan, held).await?;
    held.connection.count_statement();
    mirror(session, plan, held);
    *was_sent = true;
    if plan.facts.asks.connections && plan.named.is_none() {
        let Session { ground, client, context, dealings, .. } = session;
        return Box::pin(list_processes(ground, client, context, dealings, held)).await;
    }
    let mut flight = take_off(session, plan, capture.as_deref_mut(), held);
    let Session { ground, client, context, dealings, .. } = session;
    if let Some(Named::Prepare { sent, .. }) = plan.named.as_deref() {
        let (kind, sent) = (AnswerKind::ResultSets, sent.as_deref());
        Box::pin(send_preparation(ground, client, context, dealings, kind, sent, held)).await?;
    } else {
        let (mut way, framed) = way_and_client(ground, client, context, dealings, held);
        way.send_packet_of_or(numbered.as_deref().or(plan.sent.as_deref()), framed).await?;
    }
    let (way, framed) = way_and_client(ground, client, context, dealings, held);
    let way = way.when_late(WhenLate::of(&plan.facts));
    let answered =
        way.hearing(&mut flight).pass_answer(framed, AnswerKind::ResultSets, capture, |_| ()).await;
    match &answered {
        Ok(_) => land(ground, &mut dealings.transaction, &dealings.hands, flight),
        Err(_) => land_lost(ground, &mut dealings.transaction, &dealings.hands, flight),
    }
    answered
}

/// Brings what the text needs to its connection. Returns what is to be sent in its place, if numbers of connections stand in it.
///
/// The futures of the steps are large, and copied where they are awaited: so none is made that is not needed.
async fn bring(session: &mut Session, plan: &Plan, held: &mut Held) -> Result<Option<Vec<u8>>, Trouble> {
    let Session { ground, client, account, context, dealings, statements, .. } = session;
    if plan.brings_names() {
        Box::pin(bring_names(ground, account, context, dealings, statements, plan, held)).await?;
    }
    let numbered = match plan.facts.asks.numbers && plan.named.is_none() {
        true => Box::pin(with_numbers(ground, client, context, dealings, plan, held)).await?,
        false => None,
    };
    let text = client.statement_text();
    if must_bring_more(ground, account, context, dealings, &plan.facts, text, held) {
        Box::pin(bring_more(ground, account, context, dealings, &plan.facts, text, held)).await?;
    }
    Ok(numbered)
}

/// What an answered text tells of the session. Returns whether the server must be asked for more: see [`ask_after_text`].
#[must_use]
pub(crate) fn learn_of_text(session: &mut Session, plan: &Plan, end: &AnswerEnd, held: &mut Held) -> bool {
    let Session { ground, client, context, dealings, statements, .. } = session;
    let text = statements.executed_text(client, plan);
    let found = found_by(context, &plan.facts, text, Vec::new, end);
    learn_found_rows(&mut dealings.results, &plan.facts, found, end, held);
    if held.pins().is_empty() && plan.facts.is_plain && !dealings.diagnostics.is_in_doubt() {
        // Nothing is left on the connection, nor was.
        return must_ask_for_more(&dealings.results, &plan.facts, end, held);
    }
    learn_temporary_tables(client, context, plan, end, held);
    learn_handlers(client, context, plan, end, held);
    let has_locks = held.pins().contains(Pins::GET_LOCK);
    if !has_locks {
        held.forget_named_locks();
    }
    has_locks
        || plan.named.is_some()
        || must_fetch_what_is_left(ground, &dealings.diagnostics, held)
        || must_ask_for_more(&dealings.results, &plan.facts, end, held)
}

/// Asks the server for what an answered text did not tell.
pub(crate) async fn ask_after_text(
    session: &mut Session,
    plan: &Plan,
    end: &AnswerEnd,
    held: &mut Held,
) -> Result<(), Trouble> {
    let Session { ground, client, context, dealings, statements, .. } = session;
    if must_fetch_what_is_left(ground, &dealings.diagnostics, held) {
        keep_what_is_left(ground, context, dealings, end, held).await?;
    }
    if let Some(Named::Prepare { .. }) = plan.named.as_deref() {
        learn_name(ground, client, context, statements, plan, end, held).await?;
    }
    match held.pins().contains(Pins::GET_LOCK) {
        true => learn_named_locks(ground, client, context, dealings, plan, end, held).await?,
        false => held.forget_named_locks(),
    }
    ask_for_more(ground, context, dealings, &plan.facts, end, held).await
}
