//! COM_STMT_PREPARE.

use std::sync::Arc;

use nuthatch_sql::{Kind, kill};
use nuthatch_wire::{AnswerEnd, AnswerKind, ErrorCode};

use crate::backend::StatementKey;
use crate::roster::SessionEnd;
use crate::session::after::diagnostics::{keep_what_is_left, learn_diagnostics, retake_what_is_left};
use crate::session::after::fate::{Done, fate_of_last};
use crate::session::after::forget::{MustForget, begin_after_the_last, forget_what_is_held};
use crate::session::before::last_results::mark_what_is_in_doubt;
use crate::session::before::numbers::with_own_number;
use crate::session::decide::alone::refusal_to_stop;
use crate::session::decide::plan::plan;
use crate::session::decide::query_cache::plan_for_cache;
use crate::session::lease::causal::{await_server, demand};
use crate::session::lease::check_out::lease;
use crate::session::lease::put_away::{put_away, settle};
use crate::session::lease::question::way_and_client;
use crate::session::lease::show::show_statement;
use crate::session::life::answer::{LostTransaction, after_lost_lease, replay};
use crate::session::life::replies::{refuse, reply_trouble};
use crate::session::parts::{Given, Held, Prepared, STATEMENTS_MAX, Statement};
use crate::session::prepare::prepared::remember;
use crate::session::prepare::statement_room::send_preparation;
use crate::session::statement::Plan;
use crate::session::way::{Trouble, UNSUPPORTED_PS, reply};
use crate::session::whole::Session;
use crate::stats::pins::Pins;

/// COM_STMT_PREPARE.
pub(crate) async fn stmt_prepare(session: &mut Session, now_ms: u64) -> Result<(), SessionEnd> {
    session.ground.worker.counters.stmt_prepare.bump();
    let text: Arc<[u8]> = session.client.payload().get(1..).unwrap_or_default().into();
    let mut plan =
        plan(&session.ground, &session.account, &session.context, &session.cache, &session.dealings, &text);
    let Session { ground, account, context, dealings, .. } = session;
    plan_for_cache(ground, account, context, dealings, &mut plan, &text);
    plan.count_rules();
    let diagnostics = &session.dealings.diagnostics;
    let fate = fate_of_last(&session.context, diagnostics, &text, &plan.facts, Done::Prepares);
    let Session { ground, account, context, dealings, .. } = session;
    if begin_after_the_last(ground, dealings, fate, &plan.facts) == MustForget::WhatIsHeld {
        Box::pin(forget_what_is_held(ground, account, context, dealings)).await?;
    }
    show_statement(&session.ground, &session.client, now_ms, "Prepare", &plan);
    if plan.speaks_to_cache()
        || plan.facts.kind == Kind::Kill && kill(&text, session.context.lexing).is_none()
    {
        // The cache is the proxy's.
        return refuse(session, ErrorCode::UNSUPPORTED_PS, UNSUPPORTED_PS).await;
    }
    if let Some(message) = refusal_to_stop(&session.ground, &plan) {
        return refuse(session, ErrorCode::SPECIFIC_ACCESS_DENIED, message).await;
    }
    if let Some(message) = &plan.verdict.error_msg {
        return refuse(session, ErrorCode::RULE_ERROR, message).await;
    }
    if session.statements.prepared().is_some_and(Prepared::is_full) {
        let message = format!("Can't create more than {STATEMENTS_MAX} prepared statements in a session");
        return session
            .client
            .send(&session.ground, &reply::err(1, ErrorCode::TOO_MANY_STATEMENTS, &message))
            .await;
    }
    let text = with_own_number(&session.ground, &session.context, &plan.facts, &text).unwrap_or(text);
    match prepare_for_client(session, &mut plan, text).await {
        Ok(()) => Ok(()),
        Err(trouble) => reply_trouble(session, trouble).await,
    }
}

async fn prepare_for_client(session: &mut Session, plan: &mut Plan, text: Arc<[u8]>) -> Result<(), Trouble> {
    if plan.facts.reads_counts() && !plan.facts.asks.diagnostics {
        // So that the connection that knows still knows when the statement is executed.
        retake_what_is_left(&session.ground, &mut session.dealings, &plan.facts);
    }
    let mut retries_left = plan.retries(&session.ground.snapshot.mysql);
    loop {
        let Session { ground, account, context, dealings, .. } = session;
        // What it names may have been made just now.
        await_server(ground, account, dealings, plan).await?;
        demand(ground, dealings, plan);
        let mut held = match lease(ground, account, context, dealings, plan.hostgroup).await {
            Err(trouble) if plan.may_be_behind() && trouble.is_of_who_is_behind() => {
                plan.go_to_writer();
                continue;
            }
            Err(trouble) => {
                retries_left = after_lost_lease(session, plan, trouble, Some(retries_left))?;
                continue;
            }
            Ok(held) => held,
        };
        dealings.forget_counts_unless_held(&held);
        let outcome = prepare_on_lease(session, plan, &text, &mut held).await;
        let carries_nothing = session.dealings.results.can_do_without(&held);
        let lost = match &outcome {
            Err(trouble) => LostTransaction::of(session, plan, &mut held, trouble, Given::Nothing),
            Ok(()) => None,
        };
        let Session { ground, account, context, dealings, .. } = session;
        match &outcome {
            // It is known which one it was, for who asks it for the counts of before.
            Ok(()) if held.connection.ahead.is_empty() => settle(ground, context, dealings, held),
            outcome => put_away(ground, account, context, dealings, held, outcome.as_ref().err()),
        }
        match outcome {
            // To prepare changes nothing.
            Err(trouble) if carries_nothing && trouble.left_no_trace() && retries_left > 0 => {
                retries_left -= 1;
                session.ground.worker.counters.retries.bump();
            }
            outcome => {
                let Some(lost) = lost else { return outcome };
                let Some(held) = Box::pin(replay(session, plan, lost)).await else { return outcome };
                let Session { ground, context, dealings, .. } = session;
                settle(ground, context, dealings, held);
            }
        }
    }
}

async fn prepare_on_lease(
    session: &mut Session,
    plan: &Plan,
    text: &Arc<[u8]>,
    held: &mut Held,
) -> Result<(), Trouble> {
    let id = session.statements.next_id();
    let instead = (**text != *session.client.statement_text()).then_some(&**text);
    let Session { ground, client, context, dealings, .. } = session;
    if dealings.diagnostics.is_in_doubt() {
        Box::pin(mark_what_is_in_doubt(ground, dealings, &plan.facts, held)).await?;
    }
    send_preparation(ground, client, context, dealings, AnswerKind::Prepare, instead, held).await?;
    let (mut way, client) =
        way_and_client(&session.ground, &mut session.client, &session.context, &session.dealings, held);
    let (mut number, mut parameters) = (0, 0);
    let end = way
        .pass_answer(client, AnswerKind::Prepare, None, |first| {
            // Header, OK byte, number, columns, parameters.
            if let Some([_, _, _, _, 0, id_bytes @ .., _, _, p0, p1]) = first.first_chunk_mut::<13>() {
                number = u32::from_le_bytes(*id_bytes);
                parameters = u16::from_le_bytes([*p0, *p1]);
                *id_bytes = id.to_le_bytes();
            }
        })
        .await?;
    // Whatever comes now, the client has its answer: it is not to have another.
    let noted = note_preparation(session, plan, text, (id, end, number, parameters), held).await;
    noted.map_err(|_trouble| Trouble::End(SessionEnd::Gone))
}

/// Keeps what a preparation that was answered has left.
async fn note_preparation(
    session: &mut Session,
    plan: &Plan,
    text: &Arc<[u8]>,
    (id, end, number, parameters): (u32, AnswerEnd, u32, u16),
    held: &mut Held,
) -> Result<(), Trouble> {
    held.pin(plan.facts.pins_when_prepared());
    // One that succeeds leaves all counts alone, whose they are.
    if end.statement_id.is_none() {
        session.dealings.hands.note_ran_on(held.connection.thread_id);
        session.dealings.results.set_row_count(-1);
        held.pin(Pins::DIAGNOSTICS);
        learn_diagnostics(&mut session.dealings.diagnostics, &end, held);
        let Session { ground, context, dealings, .. } = session;
        return keep_what_is_left(ground, context, dealings, &end, held).await;
    }
    if session.dealings.diagnostics.is_in_doubt() {
        let Session { ground, context, dealings, .. } = session;
        keep_what_is_left(ground, context, dealings, &end, held).await?;
    }
    // Under state that is not known it is no other statement's twin.
    let is_known = !held.pins().contains(Pins::SESSION_VARIABLE) && !held.pins().contains(Pins::UNKNOWN);
    let key = StatementKey {
        text: Arc::clone(text),
        schema: session.context.state.schema[..].into(),
        charset: session.context.state.charset.clone(),
        settings: session.context.state.settings.clone(),
        owner: None,
        hidden: (!is_known).then_some((session.ground.handle.id, id)),
        bound: Arc::default(),
    };
    let statement = Statement::new(key.clone(), parameters, plan.facts.cache.allowed.is_ok());
    session.statements.add(id, statement);
    if remember(&session.ground, key, number, held).await.is_err() {
        // It is lost; nothing of the statement is. Who had a transaction there hears of it with the next one.
        held.connection.control.cut();
    }
    Ok(())
}
