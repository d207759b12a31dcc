//! What the cache has for a statement that is to be asked, and what becomes of its answer.

use std::sync::Arc;

use nuthatch_cache::{Entry, Fill, Judgement, Kept, Key, Over, Protocol, Refusal, Standing};
use nuthatch_config::Follow;
use nuthatch_wire::AnswerEnd;

use crate::exact::{AsOf, Tenure};
use crate::session::before::reading::dependencies_of;
use crate::session::decide::key::{key_in, standing_of};
use crate::session::decide::plan::hit_plan;
use crate::session::life::arrival::hit::{count_invalidation, may_tell_count, stands};
use crate::session::parts::Ground;
use crate::session::statement::{Caching, Plan, Request};
use crate::session::way::{Capture, Depends, Reading};
use crate::session::whole::Session;
use crate::shared::answers::{CaptureShare, HitPlan};
use crate::state::Found;
use crate::stats::not_cached::NotCached;

/// The cache's key of the statement at hand.
pub(super) fn key_of<'a>(session: &'a Session, request: &Request) -> Option<Key<'a>> {
    key_at_hand(session, if request.execution().is_some() { Protocol::Binary } else { Protocol::Text })
}

/// The same of one that came over that protocol.
pub(in crate::session::life) fn key_at_hand(session: &Session, protocol: Protocol) -> Option<Key<'_>> {
    let statement = match protocol {
        Protocol::Text => session.client.statement_text(),
        Protocol::Binary => session.statements.execution(),
    };
    key_in(&session.account, &session.context, protocol, statement)
}

/// The entry that answers the statement, also one that an older configuration made, if the rules in force would have
/// made it too.
pub(super) fn entry_of_any_epoch(
    session: &Session,
    request: &Request,
    plan: &Plan,
    caching: Caching,
    now_ms: u64,
) -> Option<Entry<HitPlan>> {
    let key = key_of(session, request)?;
    let entry = session.ground.shared.answers.cache.get(&key)?;
    if entry.is_exact() != caching.is_exact() {
        return None;
    }
    if entry.plan().counts_all_rows() && !may_tell_count(&session.ground, &session.context, &session.dealings)
    {
        return None;
    }
    if entry.plan().is_stale(entry.created_ms(), now_ms) {
        return None;
    }
    let is_from_there = entry.hostgroup() == plan.hostgroup.0;
    if entry.is_exact()
        && !(session.cache.may_use_exact()
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
            let created_ms = entry.created_ms();
            let expires_ms = entry.expires_ms().min(plan.kept_until_ms(caching, created_ms));
            if !is_from_there || now_ms >= expires_ms.min(caching.expires_ms(created_ms)) {
                return None;
            }
            let is_followed =
                entry.is_exact() && session.ground.snapshot.follow(plan.hostgroup) != Follow::Off;
            let tenure = entry.plan().tenure().cloned().filter(|_| is_followed);
            if is_followed && tenure.is_none() {
                return None;
            }
            let found_rows = entry.plan().found_rows;
            let hit_plan = hit_plan_of(session, plan, caching, found_rows, tenure);
            let entry = entry.plain();
            let renewed = entry.renewed(session.ground.snapshot.epoch.0, expires_ms, hit_plan)?;
            insert(&session.ground, &renewed).ok()?;
            session.ground.shared.answers.cache.get(&key)
        }
    }
}

/// Stores the answer that ended so, or says why not.
pub(super) fn store(
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
    let captured = capture.finish(end)?;
    let (head, rest) = captured.parts();
    let found_rows = session.dealings.results.found_rows();
    if plan.facts.counts_all_rows() && found_rows == Found::Elsewhere {
        return Err(NotCached::FoundRowsUntold);
    }
    if end.rows == 0 && !stores_empty {
        return Err(NotCached::Empty);
    }
    let Depends { clocks, since, tenure } = match (caching, &reading) {
        (Caching::Exact { .. }, Some(reading)) => dependencies_of(&session.ground, reading, end)?,
        (Caching::Exact { .. }, None) => return Err(NotCached::TablesNotUnderstood),
        _ => Depends::default(),
    };
    let is_given_later =
        tenure.is_some() && reading.as_ref().is_some_and(|reading| is_given_later(session, reading));
    if is_given_later && is_there(session, request) {
        return Ok(());
    }
    let found_rows = Some(found_rows).filter(|found| *found != Found::Known(end.rows));
    // Behind all that it shows. The latest look at the clock may be from before the answer came: see `count_hit`.
    let created_ms = session.ground.shared.clock.now_ms();
    insert(
        &session.ground,
        &Fill {
            key: key_of(session, request).ok_or(NotCached::TooManyEnvironments)?,
            head,
            rest,
            status_offsets: end.status_offsets,
            rows: end.rows,
            hostgroup: plan.hostgroup.0,
            created_ms,
            expires_ms: plan.kept_until_ms(caching, created_ms),
            epoch: session.ground.snapshot.epoch.0,
            cost_us: Some(cost_us(&session.ground, plan)),
            clocks: &clocks,
            since,
            plan: hit_plan_of(session, plan, caching, found_rows, tenure),
        },
    )?;
    if let Some(reading) = reading {
        if let Some(teller) = reading.teller.filter(|_| reading.is_of_replica) {
            teller.await_answer(created_ms);
        }
        session.ground.shared.exact.table_counters.count_reads(&reading.footprint);
        if let Some(digest) = &plan.digest {
            digest.note_tables(&reading.footprint);
        }
    }
    Ok(())
}

/// What a hit on the statement's answer will do to the session that has it.
fn hit_plan_of(
    session: &Session,
    plan: &Plan,
    caching: Caching,
    found_rows: Option<Found>,
    tenure: Option<Tenure>,
) -> HitPlan {
    hit_plan(&session.ground, &session.account, &session.context, plan, caching, found_rows, tenure)
}

/// Whether an answer is given to others only when all is carried that was written before it was complete.
fn is_given_later(session: &Session, reading: &Reading) -> bool {
    reading.is_of_replica || session.dealings.transaction.as_of() != AsOf::Now
}

/// Whether an older entry gives the session the same: it is sooner known to, so it stays.
fn is_there(session: &Session, request: &Request) -> bool {
    let Session { ground, dealings, .. } = session;
    let transaction = &dealings.transaction;
    let stored = key_of(session, request).and_then(|key| ground.shared.answers.cache.peek(&key));
    stored.is_some_and(|entry| {
        entry.is_exact()
            && session.cache.answers_from().is_none_or(|bound| bound.0 == entry.hostgroup())
            && entry.judge(ground.latest_us / 1000, ground.snapshot.epoch.0) == Judgement::Fresh
            && standing_of(ground, transaction, &entry) == Standing::Holds
    })
}

/// Room for a copy of its answer.
pub(super) fn capture_for(ground: &Ground, caching: Caching) -> Capture {
    let configured = ground.snapshot.mysql.threshold_resultset_size;
    let bytes_max = configured.min(ground.shared.answers.cache.entry_bytes_max());
    let share = CaptureShare::new(Arc::clone(&ground.shared.answers.capture_room));
    Capture::new(usize::try_from(bytes_max).unwrap_or(usize::MAX), share, caching.is_exact())
}

/// How long the server took for what was asked.
fn cost_us(ground: &Ground, plan: &Plan) -> u32 {
    u32::try_from(ground.latest_us.saturating_sub(plan.started_us)).unwrap_or(u32::MAX)
}

fn insert(ground: &Ground, fill: &Fill<'_, HitPlan>) -> Result<(), Refusal> {
    let clocks = &ground.shared.exact.clocks;
    let over = |entry: &Entry<HitPlan>| match clocks.standing(entry.clocks(), entry.since()) {
        _ if entry.expires_ms() <= fill.created_ms => Some(Over::Expired),
        Standing::Moved => Some(Over::Invalidated),
        _ => None,
    };
    let made_room = |entry: &Entry<HitPlan>, over| match over {
        None => entry.plan().count_evicted(),
        Some(Over::Expired) => entry.plan().count_expired(),
        Some(Over::Invalidated) => {
            entry.plan().count_invalidated();
            count_invalidation(ground, entry);
        }
    };
    let kept = ground.shared.answers.cache.insert_and(fill, over, made_room)?;
    if kept == Kept::Again {
        fill.plan.count_repeated();
    }
    Ok(())
}
