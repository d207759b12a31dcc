//! A statement that comes as text, off the hit path: planned, and answered where the session can alone.

use nuthatch_sql::{CacheSettings, Kind};
use nuthatch_wire::ErrorCode;

use crate::roster::SessionEnd;
use crate::session::after::diagnostics::retake_what_is_left;
use crate::session::after::errors::own_error;
use crate::session::after::fate::{Done, fate_of_last};
use crate::session::after::forget::{
    MustForget, begin_after_the_last, forget_what_is_held, forget_what_is_held_at_once,
};
use crate::session::after::insert_id::learn_insert_id_of_held;
use crate::session::decide::alone::answer_alone;
use crate::session::decide::cache_use::{caching_of, judge_cache_use_for, take_cache_use};
use crate::session::decide::explain::explain_cache;
use crate::session::decide::internal::internal_session;
use crate::session::decide::named::plan_named;
use crate::session::decide::plan::plan;
use crate::session::decide::query_cache::{
    answer_pairs, obey_cache_order, own_type_of, plan_for_cache, set_cache, set_it_alone, tell_refusal,
    with_values_worked_out,
};
use crate::session::fall::{Fall, trip};
use crate::session::lease::show::show_statement;
use crate::session::life::arrival::configuration::take_over_configuration;
use crate::session::life::kill::kill_as_told;
use crate::session::life::replies::give_answer;
use crate::session::parts::Off;
use crate::session::statement::{Asked, Named, Plan, Request, SaidToCache, asks_for_internal_session};
use crate::session::way::Trouble;
use crate::session::whole::Session;
use crate::stats::not_cached::NotCached;

/// Looks at the text at hand; none where it is for nobody but the session.
pub(crate) fn plan_text(session: &Session) -> Option<Plan> {
    let Session { ground, client, account, context, cache, dealings, .. } = session;
    let text = client.statement_text();
    (!asks_for_internal_session(text)).then(|| plan(ground, account, context, cache, dealings, text))
}

/// Answers the statement at hand, which was not a hit, if the session can by itself; else it is `asked`. It may have been `planned`.
pub(crate) async fn statement(
    session: &mut Session,
    now_ms: u64,
    planned: Option<Box<Plan>>,
    asked: &mut Option<Asked>,
) -> Result<(), SessionEnd> {
    trip(session.client.payload(), Fall::InTask);
    let mut plan = match planned {
        Some(plan) => *plan,
        None => {
            take_over_configuration(session)?;
            match plan_text(session) {
                Some(plan) => plan,
                None => return Box::pin(tell_of_session(session)).await,
            }
        }
    };
    let goes_to_a_server = plan.goes_to_a_server();
    let mut named_answer = None;
    if !goes_to_a_server {
        let Session { ground, client, account, context, dealings, statements, .. } = &mut *session;
        plan_for_cache(ground, account, context, dealings, &mut plan, client.statement_text());
        named_answer = plan_named(ground, client, account, context, dealings, statements, &mut plan);
    }
    let is_under_flag = take_flag(session, &plan);
    if begin_text(session, &plan) == MustForget::WhatIsHeld {
        let Session { ground, account, context, dealings, .. } = &mut *session;
        Box::pin(forget_what_is_held(ground, account, context, dealings)).await?;
    }
    show_text(session, &plan, is_under_flag, now_ms);
    if !goes_to_a_server && Box::pin(answer_without_a_server(session, &mut plan, named_answer)).await? {
        return Ok(());
    }
    *asked = Some(as_asked(session, plan));
    Ok(())
}

/// The same of one that [goes to a server](Plan::goes_to_a_server), where nothing must be asked before what is left is forgotten
/// ([`must_ask_before_forgetting`](crate::session::after::forget::must_ask_before_forgetting)).
pub(crate) fn plain_statement(session: &mut Session, now_ms: u64, plan: Plan) -> Asked {
    let is_under_flag = take_flag(session, &plan);
    if begin_text(session, &plan) == MustForget::WhatIsHeld {
        forget_what_is_held_at_once(&session.ground, &mut session.dealings);
    }
    show_text(session, &plan, is_under_flag, now_ms);
    as_asked(session, plan)
}

/// What follows a text is under the flag that the rules say. Returns whether this one is under any.
pub(crate) fn take_flag(session: &mut Session, plan: &Plan) -> bool {
    let next = plan.verdict.next_query_flag_in.unwrap_or(0);
    session.cache.replace_next_flag_in(next) != 0
}

/// Forgets what the text does not leave alone of what the last statement left.
fn begin_text(session: &mut Session, plan: &Plan) -> MustForget {
    let Session { ground, client, context, dealings, .. } = session;
    let is_execute = matches!(plan.named.as_deref(), Some(Named::Execute { .. }));
    let done = if is_execute { Done::Executes } else { Done::Runs };
    let fate = fate_of_last(context, &dealings.diagnostics, client.statement_text(), &plan.facts, done);
    begin_after_the_last(ground, dealings, fate, &plan.facts)
}

/// Shows the text to others; what the session may do with the cache is for this statement.
fn show_text(session: &mut Session, plan: &Plan, is_under_flag: bool, now_ms: u64) {
    let Session { ground, client, account, context, cache, dealings, .. } = session;
    judge_cache_use_for(ground, account, context, cache, dealings, &plan.facts);
    if is_under_flag {
        // The key does not say under which flag the rules were walked.
        take_cache_use(ground, account, context, cache, dealings, Off::Wholly(NotCached::UnderFlag));
    }
    show_statement(ground, client, now_ms, "Query", plan);
}

fn as_asked(session: &Session, plan: Plan) -> Asked {
    let caching = caching_of(&session.ground, &session.context, &session.cache, &plan);
    Asked { request: Request::Text, plan, caching }
}

/// Tells the client of its session in the proxy.
async fn tell_of_session(session: &mut Session) -> Result<(), SessionEnd> {
    let Session { ground, client, account, context, dealings, .. } = session;
    let answer = internal_session(ground, client, account, context, dealings);
    client.send(ground, &answer).await
}

/// Answers the statement if no server is needed for it; `named_answer` is what the session says of a name. Returns whether it has its answer.
async fn answer_without_a_server(
    session: &mut Session,
    plan: &mut Plan,
    named_answer: Option<Vec<u8>>,
) -> Result<bool, SessionEnd> {
    let Session { ground, client, account, context, dealings, statements, .. } = session;
    if plan.facts.reads_counts() && plan.facts.reads_insert_id() {
        // An answer of the session's own must not need the connection, where to ask for one would change the other.
        learn_insert_id_of_held(ground, account, context, dealings).await?;
    }
    let own = answer_alone(ground, client, account, context, dealings, statements, plan);
    if let Some(answer) = own.or(named_answer) {
        give_answer(session, plan, &answer).await?;
    } else if plan.facts.kind == Kind::Kill {
        plan.count_rules();
        kill_as_told(session, plan).await?;
    } else if let Some(said) = plan.said_to_cache.take() {
        plan.count_rules();
        do_and_tell(session, plan, *said).await?;
    } else {
        retake_what_is_left(ground, dealings, &plan.facts);
        return Ok(false);
    }
    Ok(true)
}

/// Does what the statement says to the cache, and tells the client.
async fn do_and_tell(session: &mut Session, plan: &Plan, said: SaidToCache) -> Result<(), SessionEnd> {
    session.dealings.hands.forget_what_ran_last();
    let answer = do_as_said_to_cache(session, said).await?;
    session.ground.observe(plan, 0, 0);
    session.client.send(&session.ground, &answer).await
}

/// Does what the statement says to the cache, and returns the answer.
async fn do_as_said_to_cache(session: &mut Session, said: SaidToCache) -> Result<Vec<u8>, SessionEnd> {
    let Session { ground, client, account, context, cache, dealings, .. } = session;
    match said {
        SaidToCache::Order(order) => Ok(obey_cache_order(ground, account, context, dealings, order)),
        SaidToCache::Question(Some(statement)) => {
            let findings = explain_cache(ground, account, context, cache, dealings, &statement);
            Ok(answer_pairs(client, context, dealings, ["step", "finding"], &findings))
        }
        SaidToCache::Question(None) => {
            let message = "EXPLAIN CACHE is about this session; for others, an operator may ask";
            Ok(own_error(ground, context, dealings, ErrorCode::SPECIFIC_ACCESS_DENIED, message))
        }
        SaidToCache::Settings(CacheSettings::Alone(settings)) => {
            match with_values_worked_out(ground, account, context, dealings, settings).await {
                Ok(settings) => set_cache(ground, account, context, dealings, &settings).await,
                Err(Trouble::End(end)) => Err(end),
                Err(_) => {
                    let message =
                        "no server could be asked for the value of query_cache_type or query_cache_size";
                    Ok(own_error(ground, context, dealings, ErrorCode::UNKNOWN_ERROR, message))
                }
            }
        }
        SaidToCache::Settings(CacheSettings::Among { settings, .. }) => {
            let own_type = own_type_of(ground, account, context, &settings);
            let refusal = own_type.err().unwrap_or_else(set_it_alone);
            Ok(tell_refusal(ground, context, dealings, &refusal))
        }
        SaidToCache::Settings(CacheSettings::Entangled) => {
            Ok(tell_refusal(ground, context, dealings, &set_it_alone()))
        }
    }
}
