//! COM_STMT_EXECUTE: a prepared statement on whichever connection the session gets, and what is bound to it.
//!
//! MariaDB's COM_STMT_BULK_EXECUTE, one statement for many sets of parameters, goes the same way. What it writes is taken for the whole
//! table, for the rows are not looked at, and the answer tells the key of one of them at most. A server that lacks the command is
//! never sent one.
//!
//! Source: MariaDB's "COM_STMT_BULK_EXECUTE".

use std::sync::Arc;

use nuthatch_sql::{Kind, ServerFlavor};
use nuthatch_wire::{CapabilityFlags, ErrorCode};

use crate::roster::SessionEnd;
use crate::session::after::diagnostics::{answer_from_diagnostics, retake_what_is_left};
use crate::session::after::errors::refuse_malformed;
use crate::session::after::fate::{Done, fate_of_last};
use crate::session::after::forget::{
    MustForget, begin_after_the_last, forget_what_is_held, forget_what_is_held_at_once,
};
use crate::session::before::begin::begin_or_end_alone;
use crate::session::decide::alone::answer_prepared_question;
use crate::session::decide::cache_use::{caching_of, judge_cache_use_for};
use crate::session::decide::plan::plan_of_prepared;
use crate::session::decide::query_cache::plan_for_cache;
use crate::session::lease::show::show_statement;
use crate::session::life::arrival::configuration::take_over_configuration;
use crate::session::life::cursor::reply_unknown_statement;
use crate::session::life::kill::kill_of;
use crate::session::life::replies::{give_answer, refuse};
use crate::session::life::sent_execution::write_down_execution;
use crate::session::life::statement::take_flag;
use crate::session::parts::{Client, Ground, Rows, Statement, Statements, asks_for_cursor, is_bulk};
use crate::session::prepare::prepared::statement_at_hand;
use crate::session::statement::{Asked, Caching, Plan, Request, may_be_bulk};
use crate::session::way::{UNSUPPORTED_PS, reply};
use crate::session::whole::Session;
use crate::stats::not_cached::NotCached;

/// Command, number of the statement, flags.
const HEAD_BYTES: usize = 1 + 4 + 2;

/// COM_STMT_BULK_EXECUTE.
pub(crate) async fn stmt_bulk_execute(
    session: &mut Session,
    now_ms: u64,
    asked: &mut Option<Asked>,
) -> Result<(), SessionEnd> {
    take_over_configuration(session)?;
    if matches!(session.context.lexing.server, ServerFlavor::MySql(_)) {
        return refuse(session, ErrorCode::UNKNOWN_COM_ERROR, "Unknown command").await;
    }
    if session.client.payload().len() < HEAD_BYTES {
        let Session { ground, client, context, dealings, .. } = session;
        return refuse_malformed(ground, client, context, dealings).await;
    }
    if !session.client.capabilities().contains(CapabilityFlags::MARIADB_CLIENT_STMT_BULK_OPERATIONS) {
        return refuse_in_bulk(session).await;
    }
    stmt_execute(session, now_ms, None, asked).await
}

/// What MariaDB 10.11 says of all but INSERT, REPLACE, UPDATE and DELETE.
async fn refuse_in_bulk(session: &mut Session) -> Result<(), SessionEnd> {
    refuse(session, ErrorCode::UNSUPPORTED_PS, UNSUPPORTED_PS).await
}

/// Looks at the execution at hand, if nothing was sent for it before; else, and of an unknown statement, there is none.
pub(crate) fn plan_plain_execution(session: &mut Session) -> Option<Plan> {
    let (id, _) = statement_at_hand(&session.client, &session.statements)?;
    let has_long_data = session.statements.prepared_statement(id).is_none_or(Statement::has_long_data);
    if has_long_data { None } else { plan_execution(session, id) }
}

fn plan_execution(session: &mut Session, id: u32) -> Option<Plan> {
    let Session { ground, account, context, cache, dealings, statements, .. } = session;
    let statement = statements.prepared_statement_mut(id)?;
    let mut plan = plan_of_prepared(ground, account, context, cache, dealings, statement);
    plan.facts.has_parameters = true;
    Some(plan)
}

/// COM_STMT_EXECUTE and, where a client may send it, COM_STMT_BULK_EXECUTE: answered if the session can by itself; else it is
/// `asked`. It may have been `planned`.
pub(crate) async fn stmt_execute(
    session: &mut Session,
    now_ms: u64,
    planned: Option<Box<Plan>>,
    asked: &mut Option<Asked>,
) -> Result<(), SessionEnd> {
    if planned.is_none() {
        take_over_configuration(session)?;
    }
    let Some((id, text)) = statement_at_hand(&session.client, &session.statements) else {
        return Box::pin(reply_unknown_statement(session)).await;
    };
    if session.statements.takes_too_much(id) {
        return Box::pin(refuse_too_much(session)).await;
    }
    let Some(mut plan) = planned.map(|plan| *plan).or_else(|| plan_execution(session, id)) else {
        return Box::pin(reply_unknown_statement(session)).await;
    };
    let goes_to_a_server = plan.goes_to_a_server();
    if !goes_to_a_server {
        let Session { ground, account, context, dealings, .. } = &mut *session;
        plan_for_cache(ground, account, context, dealings, &mut plan, &text);
    }
    if is_bulk(session.client.payload()) && !may_be_bulk(plan.facts.kind) {
        return Box::pin(refuse_in_bulk(session)).await;
    }
    let is_under_flag = take_flag(session, &plan);
    if begin_execution(session, &plan, &text) == MustForget::WhatIsHeld {
        let Session { ground, account, context, dealings, .. } = &mut *session;
        Box::pin(forget_what_is_held(ground, account, context, dealings)).await?;
    }
    show_statement(&session.ground, &session.client, now_ms, "Execute", &plan);
    if !goes_to_a_server && Box::pin(answer_without_a_server(session, &plan, id, &text)).await? {
        return Ok(());
    }
    *asked = Some(as_asked(session, plan, id, text, is_under_flag));
    Ok(())
}

/// The same of one that [goes to a server](Plan::goes_to_a_server), where nothing must be asked before what is left is forgotten;
/// none if it is of an unknown statement.
pub(crate) fn plain_execution(session: &mut Session, now_ms: u64, plan: Plan) -> Option<Asked> {
    let (id, text) = statement_at_hand(&session.client, &session.statements)?;
    let is_under_flag = take_flag(session, &plan);
    if begin_execution(session, &plan, &text) == MustForget::WhatIsHeld {
        forget_what_is_held_at_once(&session.ground, &mut session.dealings);
    }
    show_statement(&session.ground, &session.client, now_ms, "Execute", &plan);
    Some(as_asked(session, plan, id, text, is_under_flag))
}

/// Forgets what the execution does not leave alone of what the last statement left.
fn begin_execution(session: &mut Session, plan: &Plan, text: &[u8]) -> MustForget {
    let Session { ground, context, dealings, .. } = session;
    let fate = fate_of_last(context, &dealings.diagnostics, text, &plan.facts, Done::Executes);
    begin_after_the_last(ground, dealings, fate, &plan.facts)
}

fn as_asked(session: &mut Session, plan: Plan, id: u32, text: Arc<[u8]>, is_under_flag: bool) -> Asked {
    let Session { ground, client, account, context, cache, dealings, statements, .. } = session;
    judge_cache_use_for(ground, account, context, cache, dealings, &plan.facts);
    let caching = match caching_of(ground, context, cache, &plan) {
        _ if is_under_flag => Caching::No(NotCached::UnderFlag),
        caching if caching.is_any() && !write_down_execution(client, context, statements) => {
            Caching::No(NotCached::NotRepeatable)
        }
        caching => caching,
    };
    Asked { request: Request::Execution { id, text }, plan, caching }
}

/// Refuses an execution that was sent too much beforehand.
async fn refuse_too_much(session: &mut Session) -> Result<(), SessionEnd> {
    let message = "Parameter of prepared statement which is set through mysql_send_long_data() is longer \
                       than 'max_allowed_packet' bytes";
    let error = reply::err(1, ErrorCode::UNKNOWN_ERROR, message);
    session.client.send(&session.ground, &error).await
}

/// Answers the execution if no server is needed for it. Returns whether it has its answer.
async fn answer_without_a_server(
    session: &mut Session,
    plan: &Plan,
    id: u32,
    text: &[u8],
) -> Result<bool, SessionEnd> {
    if let Some(answer) = answer_execution_alone(session, plan, text) {
        give_answer(session, plan, &answer).await?;
        return Ok(true);
    }
    if plan.facts.kind == Kind::Kill {
        plan.count_rules();
        let statement = session.statements.prepared_statement(id);
        let bound = statement.and_then(|statement| statement.binding().only_number(session.client.payload()));
        kill_of(session, text, bound, plan.hostgroup).await?;
        return Ok(true);
    }
    retake_what_is_left(&session.ground, &mut session.dealings, &plan.facts);
    Ok(false)
}

/// The answer to an execution that the proxy gives by itself; `None` when a server must.
fn answer_execution_alone(session: &mut Session, plan: &Plan, text: &[u8]) -> Option<Vec<u8>> {
    let Session { client, context, dealings, .. } = session;
    if let Some(answer) = answer_from_diagnostics(client, context, dealings, &plan.facts, text, Rows::Binary)
    {
        return Some(answer);
    }
    if let Some(answer) =
        begin_or_end_alone(&session.ground, &session.account, &session.context, &mut session.dealings, plan)
    {
        return Some(answer);
    }
    let is_question = plan.facts.kind == Kind::Select && plan.facts.cache.allowed.is_err();
    match is_question && !asks_for_cursor(session.client.payload()) {
        true => answer_prepared_question(
            &session.ground,
            &session.client,
            &session.context,
            &mut session.dealings,
            text,
        ),
        false => None,
    }
}

/// COM_STMT_SEND_LONG_DATA: kept for the next execution; it has no answer.
pub(crate) fn stmt_send_long_data(ground: &Ground, client: &Client, statements: &mut Statements) {
    let Some((id, _)) = statement_at_hand(client, statements) else { return };
    let bytes_max = usize::try_from(ground.snapshot.mysql.max_allowed_packet).unwrap_or(usize::MAX);
    let payload = client.payload().to_vec();
    if let Some(statement) = statements.prepared_statement_mut(id) {
        statement.add_long_data(payload, bytes_max);
    }
}
