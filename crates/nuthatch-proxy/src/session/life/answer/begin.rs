//! How a statement begins to be asked, as far as that takes no waiting.

use std::sync::Arc;

use nuthatch_cache::Entry;
use nuthatch_sql::CacheWish;
use nuthatch_wire::Form;

use crate::backend::{InLine, Turn};
use crate::session::before::flight::own_up;
use crate::session::before::reading::may_fill;
use crate::session::decide::errand::errand_of_text;
use crate::session::inquiry::{Filling, Inquiry, Leading, Stage, capture_of};
use crate::session::lease::causal::{demand, may_be_asked_of};
use crate::session::lease::check_out::{Begun, Leased, State, lease_in_turn, lease_or_join};
use crate::session::life::answer::open::opens_for;
use crate::session::life::answer::record::may_be_recorded;
use crate::session::life::answer::stale::{instead_of_asking, may_be_stale};
use crate::session::life::answer::store::{capture_for, entry_of_any_epoch, key_of};
use crate::session::life::answer::together::{Company, join};
use crate::session::life::sent_execution::send_execution_at_once;
use crate::session::life::sent_text::send_text_at_once;
use crate::session::parts::{Context, Dealings, Ground};
use crate::session::statement::{Asked, Caching, Plan, Request};
use crate::session::way::{Print, Trouble};
use crate::session::whole::Session;
use crate::shared::answers::{HitPlan, Lead};
use crate::state::Errand;
use crate::stats::not_cached::{Full, NotCached};
use crate::stats::{Comer, DigestCounters};

/// Counts the statement, which is to be asked, and makes room for a copy of its answer if that may be stored.
///
/// # Errors
/// The entry of the cache that answers it.
pub(crate) fn begin(
    session: &mut Session,
    asked: Asked,
    now_ms: u64,
) -> Result<Box<Inquiry>, Entry<HitPlan>> {
    let Asked { request, plan, caching } = &asked;
    let caching = *caching;
    if caching.is_any() {
        if let Some(entry) = entry_of_any_epoch(session, request, plan, caching, now_ms) {
            return Err(entry);
        }
        if let Some(entry) = instead_of_asking(session, request, plan, caching) {
            return Err(entry);
        }
    } else if plan.facts.asks_for_rows() {
        session.ground.worker.counters.selects_not_cached.bump();
    }
    let may_fill = may_fill(&session.dealings.transaction, &session.dealings.hands, caching);
    let hash = may_fill.is_ok().then(|| key_of(session, request)).flatten().map(|key| key.hash());
    let comer = may_fill
        .and_then(|()| admit(session, plan, caching, hash, now_ms))
        .and_then(|()| let_in(session, plan, hash, now_ms));
    let opens = opens_for(session, request, plan, caching, now_ms);
    let company = if comer.is_ok() { join(session, plan, hash, now_ms) } else { Company::Alone };
    let (leading, wait) = company.split();
    let mut filling = comer
        .map(|comer| Box::new(Filling { capture: capture_for(&session.ground, caching), comer, leading }));
    if wait.is_none() && !opens {
        count_asked(&session.ground, &mut session.dealings, plan, caching);
    }
    if may_be_recorded(&session.ground, &session.context, &session.dealings, plan) {
        filling = Ok(with_print(&session.context, filling));
        session.dealings.transaction.takes_outlasting();
    }
    let may_be_stale = may_be_stale(session, &asked.plan, caching);
    let stage = Stage::New;
    let mut inquiry = Box::new(Inquiry { asked, filling, may_be_stale, is_told: false, stage });
    if let Some(wait) = wait {
        inquiry.stage = Stage::Waits(wait);
    } else if opens {
        inquiry.stage = Stage::Opens;
    }
    Ok(inquiry)
}

/// The same of a statement that nobody waits for, and that is asked though the cache has an answer.
pub(crate) fn begin_refreshing(session: &mut Session, asked: Asked, lead: Lead) -> Box<Inquiry> {
    let filling = may_fill(&session.dealings.transaction, &session.dealings.hands, asked.caching).map(|()| {
        let leading = Some(Leading { lead, since_us: session.ground.latest_us });
        Box::new(Filling {
            capture: capture_for(&session.ground, asked.caching),
            comer: Comer::Known,
            leading,
        })
    });
    Box::new(Inquiry { asked, filling, may_be_stale: false, is_told: false, stage: Stage::New })
}

/// Counts the statement, which a server is to be asked.
pub(super) fn count_asked(ground: &Ground, dealings: &mut Dealings, plan: &Plan, caching: Caching) {
    if caching.is_any() {
        ground.worker.counters.cache_get.bump();
        plan.count_miss();
    }
    plan.count_rules();
    own_up(ground, &mut dealings.transaction);
}

/// Whether a copy of the answer may pay.
#[inline]
fn admit(
    session: &Session,
    plan: &Plan,
    caching: Caching,
    hash: Option<u64>,
    now_ms: u64,
) -> Result<(), NotCached> {
    let refuses = |digest: &Arc<DigestCounters>| digest.admission().refuses(|| hash, now_ms);
    let is_asked_for = plan.verdict.cache_mode.is_some() || plan.facts.cache.hint.wish == CacheWish::Cache;
    let is_judged =
        session.ground.snapshot.mysql.query_cache_admission && caching.is_exact() && !is_asked_for;
    if !is_judged || !plan.digest.as_ref().is_some_and(refuses) {
        return Ok(());
    }
    session.ground.worker.counters.answers_on_probation.bump();
    Err(NotCached::OnProbation)
}

/// Whether the cache may let the answer in, and as whom.
#[inline]
fn let_in(session: &Session, plan: &Plan, hash: Option<u64>, now_ms: u64) -> Result<Comer, NotCached> {
    let Some((digest, hash)) = plan.digest.as_ref().zip(hash) else { return Ok(Comer::Known) };
    let cache = &session.ground.shared.answers.cache;
    match digest.door().look(hash, now_ms, || cache.comes_again(hash)) {
        Comer::TurnedAway => {
            cache.turn_away(hash);
            Err(NotCached::Full(Full::AtTheDoor))
        }
        comer => Ok(comer),
    }
}

/// The same with a print of the answer, which is written down.
#[cold]
fn with_print(context: &Context, filling: Result<Box<Filling>, NotCached>) -> Box<Filling> {
    let print = Print::new(Form::of(context.shape).optional_metadata);
    let filling = filling.map_or_else(Filling::of_nothing, |filling| *filling);
    Box::new(Filling { capture: filling.capture.with_print(print), ..filling })
}

/// Has a connection for the statement, if that can be at once, and sends it, or stands in line.
pub(crate) fn lease(session: &mut Session, inquiry: &mut Inquiry) -> Result<(), Trouble> {
    if matches!(inquiry.stage, Stage::Waits(_) | Stage::Opens) {
        return Ok(());
    }
    let Asked { request, plan, .. } = &inquiry.asked;
    session.dealings.hands.set_errand(errand_of(session, request, plan));
    let Session { ground, account, context, dealings, .. } = session;
    if plan.causal.is_some() {
        demand(ground, dealings, plan);
    }
    match lease_or_join(ground, account, context, dealings, plan.hostgroup)? {
        Begun::InLine(in_line) => inquiry.stage = Stage::InLine(in_line),
        Begun::Leased(leased) => send(session, inquiry, leased),
    }
    Ok(())
}

/// The statement has its turn in the line in which it stood.
pub(crate) fn take_turn(
    session: &mut Session,
    inquiry: &mut Inquiry,
    in_line: InLine,
    turn: Turn,
) -> Result<(), Trouble> {
    let Session { ground, account, context, dealings, .. } = session;
    let hostgroup = inquiry.asked.plan.hostgroup;
    let leased = lease_in_turn(ground, account, context, dealings, hostgroup, (in_line, turn))?;
    send(session, inquiry, leased);
    Ok(())
}

/// What the statement asks of a connection.
fn errand_of(session: &Session, request: &Request, plan: &Plan) -> Errand {
    let Session { client, context, dealings, .. } = session;
    match request {
        Request::Text if plan.named.is_none() => {
            errand_of_text(context, &dealings.transaction, &plan.facts, client.statement_text())
        }
        Request::Text | Request::Execution { .. } => context.errand_of(&plan.facts),
    }
}

/// Sends the statement, if there is a connection, and nothing need be said on it before.
fn send(session: &mut Session, inquiry: &mut Inquiry, leased: Leased) {
    let Session { ground, account, dealings, .. } = &*session;
    let plan = &inquiry.asked.plan;
    let mut held = match leased {
        Leased::Had(held, State::Own)
            if held.connection.ahead.is_empty()
                && may_be_asked_of(ground, account, dealings, plan, &held) =>
        {
            held
        }
        leased => {
            inquiry.stage = Stage::Leased(leased);
            return;
        }
    };
    let Asked { request, plan, .. } = &inquiry.asked;
    let capture = capture_of(&mut inquiry.filling);
    let departure = match request {
        Request::Text => send_text_at_once(session, plan, capture, &mut held),
        Request::Execution { id, text } => {
            send_execution_at_once(session, *id, text, plan, capture, &mut held)
        }
    };
    inquiry.stage = match departure {
        Some(departure) => Stage::Sent(held, departure),
        None => Stage::Leased(Leased::Had(held, State::Own)),
    };
}
