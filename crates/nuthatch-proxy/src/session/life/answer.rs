//! The answer to a statement that the session does not give by itself: from the cache, or by a server and then stored.
//!
//! One way for both protocols: what differs is how the statement is named in the cache, how it is sent, and what its text tells of
//! the session afterwards.

use std::sync::Arc;

use nuthatch_cache::{Entry, Fill, Judgement, Key, Packets, Protocol, Refusal};
use nuthatch_sql::Kind;
use nuthatch_wire::AnswerEnd;

use crate::roster::SessionEnd;
use crate::session::before::flight::{land, own_up};
use crate::session::before::reading::{dependencies_of, may_fill};
use crate::session::decide::key::key_in;
use crate::session::decide::plan::hit_plan;
use crate::session::lease::check_out::{Leased, lease_in_turn};
use crate::session::lease::question::{way, way_and_client};
use crate::session::life::arrival::hit::{serve_hit, stands};
use crate::session::life::ask_a_server::{
    Begun, ask_a_server, ask_after, ask_again, begin_lease, end_others, has_other_transactions, send_at_once,
    take_note,
};
use crate::session::life::replies::reply_trouble;
use crate::session::life::sent_execution::learn_cursor;
use crate::session::parts::Ground;
use crate::session::statement::{Asked, Caching, Plan, Request};
use crate::session::way::{Capture, Departure, Depends, Trouble};
use crate::session::whole::Session;
use crate::shared::answers::HitPlan;
use crate::stats::not_cached::NotCached;

/// Answers the statement at hand from the cache, or by a server; then it is stored if it may be.
pub(crate) async fn answer(session: &mut Session, asked: &Asked, now_ms: u64) -> Result<(), SessionEnd> {
    let Asked { request, plan, caching } = asked;
    let caching = *caching;
    if caching.is_any() {
        if let Some(entry) = entry_of_any_epoch(session, request, plan, caching, now_ms) {
            return Box::pin(serve_hit(session, entry, now_ms)).await;
        }
        session.ground.worker.counters.cache_get.bump();
        plan.count_miss();
    } else if plan.facts.kind == Kind::Select {
        session.ground.worker.counters.selects_not_cached.bump();
    }
    plan.count_rules();
    let mut capture = may_fill(&session.dealings.transaction, &session.dealings.hands, caching)
        .map(|()| capture(&session.ground, caching));
    match ask(session, request, plan, capture.as_mut().ok()).await {
        Ok(end) => {
            session.ground.observe_at(session.ground.latest_us, plan, end.ok.affected_rows, end.rows);
            plan.count_fill(
                capture.and_then(|capture| store(session, request, plan, caching, &end, capture)),
            );
            if plan.facts.hangs_up(&end) { Err(SessionEnd::Quit) } else { Ok(()) }
        }
        Err(trouble) => {
            session.ground.observe(plan, 0, 0);
            Box::pin(reply_trouble(session, trouble)).await
        }
    }
}

/// Has a server answer.
async fn ask(
    session: &mut Session,
    request: &Request,
    plan: &Plan,
    mut capture: Option<&mut Capture>,
) -> Result<AnswerEnd, Trouble> {
    own_up(&session.ground, &mut session.dealings.transaction);
    if plan.facts.transaction.ends && has_other_transactions(&session.dealings.hands, plan) {
        Box::pin(end_others(session, request, plan)).await?;
    }
    let mut leased = begin_lease(session, request, plan)?;
    if let Leased::Nothing(None) = leased {
        let Session { ground, account, context, dealings, .. } = session;
        leased = lease_in_turn(ground, account, context, dealings, plan.hostgroup).await?;
    }
    let (mut held, departure) = match send_at_once(session, request, plan, capture.as_deref_mut(), leased) {
        Begun::Sent(held, departure) => (held, departure),
        Begun::Leased(leased) => {
            return Box::pin(ask_a_server(session, request, plan, capture, leased, None)).await;
        }
    };
    let Departure { mut flight, kind, number, rest } = departure;
    let Session { ground, client, context, dealings, statements, .. } = session;
    let sent = match rest {
        Ok(Some(rest)) => Box::pin(way(ground, &mut held).write(&rest)).await,
        rest => rest.map(drop),
    };
    let answered = match sent {
        Ok(()) => {
            let (way, framed) = way_and_client(ground, client, context, dealings, &mut held);
            way.hearing(&mut flight).pass_answer(framed, kind, capture.as_deref_mut(), |_| ()).await
        }
        Err(trouble) => Err(trouble),
    };
    land(ground, &mut dealings.transaction, &dealings.hands, flight);
    let end = match answered {
        Ok(end) => end,
        Err(trouble) => return Box::pin(ask_again(session, request, plan, capture, held, trouble)).await,
    };
    if let Request::Execution { id, .. } = request {
        learn_cursor(statements, *id, (kind, number), &end, &held);
    }
    let reading = capture.and_then(|capture| capture.reading.as_ref());
    if let Some(held) = take_note(session, request, plan, reading, &end, held) {
        Box::pin(ask_after(session, request, plan, &end, held)).await?;
    }
    Ok(end)
}

/// The cache's key of the statement at hand.
fn key_of<'a>(session: &'a Session, request: &Request) -> Option<Key<'a>> {
    match request {
        Request::Text => {
            key_in(&session.account, &session.context, Protocol::Text, session.client.statement_text())
        }
        Request::Execution { .. } => {
            key_in(&session.account, &session.context, Protocol::Binary, &session.statements.execution)
        }
    }
}

/// The entry that answers the statement, also one that an older configuration made, if the rules in force would have
/// made it too.
fn entry_of_any_epoch(
    session: &Session,
    request: &Request,
    plan: &Plan,
    caching: Caching,
    now_ms: u64,
) -> Option<Entry<Arc<HitPlan>>> {
    let key = key_of(session, request)?;
    let entry = session.ground.shared.answers.cache.get(&key)?;
    if entry.is_exact() != caching.is_exact() {
        return None;
    }
    let is_from_there = entry.hostgroup() == plan.hostgroup.0;
    if entry.is_exact()
        && !(session.cache.may_use_exact
            && is_from_there
            && stands(&session.ground, &session.dealings.transaction, &key, &entry))
    {
        return None;
    }
    match entry.judge(now_ms, session.ground.snapshot.epoch.0) {
        Judgement::Expired => {
            if session.ground.shared.answers.cache.remove_expired(&key, now_ms) {
                entry.plan().count_expired();
            }
            None
        }
        Judgement::Fresh => Some(entry),
        Judgement::OlderEpoch => {
            let expires_ms = entry.expires_ms().min(caching.expires_ms(entry.created_ms()));
            if !is_from_there || now_ms >= expires_ms {
                return None;
            }
            let hit_plan =
                hit_plan(&session.ground, &session.account, &session.context, plan, entry.plan().found_rows);
            let renewed = entry.renewed(session.ground.snapshot.epoch.0, expires_ms, hit_plan);
            insert(&session.ground, renewed).ok()?;
            session.ground.shared.answers.cache.get(&key)
        }
    }
}

/// Stores the answer that ended so, or says why not.
fn store(
    session: &Session,
    request: &Request,
    plan: &Plan,
    caching: Caching,
    end: &AnswerEnd,
    mut capture: Capture,
) -> Result<(), NotCached> {
    let stores_empty = plan
        .verdict
        .cache_empty_result
        .unwrap_or(session.ground.snapshot.mysql.query_cache_stores_empty_result);
    let reading = capture.reading.take();
    let (packets, status_offsets) = capture.finish(end)?;
    if end.rows == 0 && !stores_empty {
        return Err(NotCached::Empty);
    }
    let Depends { clocks, since } = match (caching, &reading) {
        (Caching::Exact { .. }, Some(reading)) => dependencies_of(&session.ground, reading, end)?,
        (Caching::Exact { .. }, None) => return Err(NotCached::TablesNotUnderstood),
        _ => Depends::default(),
    };
    let created_ms = session.ground.latest_us / 1000;
    insert(
        &session.ground,
        Fill {
            key: key_of(session, request).ok_or(NotCached::TooManyEnvironments)?,
            packets: Packets::Whole(&packets),
            status_offsets: &status_offsets,
            rows: end.rows,
            hostgroup: plan.hostgroup.0,
            created_ms,
            expires_ms: caching.expires_ms(created_ms),
            epoch: session.ground.snapshot.epoch.0,
            clocks: &clocks,
            since,
            plan: hit_plan(
                &session.ground,
                &session.account,
                &session.context,
                plan,
                session.dealings.results.found_rows,
            ),
        },
    )?;
    if let Some(reading) = reading {
        session.ground.shared.exact.table_counters.count_reads(&reading.footprint);
    }
    Ok(())
}

fn capture(ground: &Ground, caching: Caching) -> Capture {
    let configured = ground.snapshot.mysql.threshold_resultset_size;
    let bytes_max = configured.min(ground.shared.answers.cache.entry_bytes_max());
    Capture::new(usize::try_from(bytes_max).unwrap_or(usize::MAX), caching.is_exact())
}

fn insert(ground: &Ground, fill: Fill<'_, Arc<HitPlan>>) -> Result<(), Refusal> {
    ground.shared.answers.cache.insert_and(fill, |evicted| evicted.plan().count_evicted())
}
