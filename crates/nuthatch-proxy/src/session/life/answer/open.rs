//! The snapshot of a transaction is opened by itself where the cache has what its first read asks for
//! (`mysql-query_cache_opens_snapshots`).
//!
//! In REPEATABLE READ the first read opens the snapshot, so a server has to be asked whatever the cache has, and all that is read in a
//! transaction of one read is. In its place `START TRANSACTION WITH CONSISTENT SNAPSHOT` goes to the server, in the same trip in which BEGIN and
//! the read would: the snapshot is open at the same moment, and the read is looked up then as each one behind it. Only where an answer stands
//! that a snapshot opened now would be given, and has a row for which the server would have opened it: what opens none (`WHERE 1=0`, a table
//! without transactions) must not, or what is read behind it would be older than a server tells. If the answer has been written over meanwhile
//! the read is asked, and has cost a trip more.
//!
//! Only at a primary, as it is not known of which moment a replica's snapshot is before something was read there.

use std::sync::Arc;

use nuthatch_cache::{Entry, Judgement, Standing};
use nuthatch_wire::{AnswerKind, Command};

use crate::exact::{AsOf, Followed};
use crate::session::before::begin::may_open_snapshot;
use crate::session::before::reading::would_open_snapshot;
use crate::session::decide::cache_use::judge_cache_use;
use crate::session::decide::key::standing_of;
use crate::session::inquiry::Inquiry;
use crate::session::lease::check_out::lease;
use crate::session::lease::put_away::let_go_after;
use crate::session::lease::question::{forget_what_a_question_changes, way};
use crate::session::life::answer::store::{entry_of_any_epoch, key_of};
use crate::session::life::sent_execution::{parameters_of, sent_by_execution};
use crate::session::life::sent_text::sent_by_text;
use crate::session::parts::{Beginning, Ground, Held, Transaction};
use crate::session::statement::{Asked, Caching, Plan, Request};
use crate::session::way::{Trouble, command_packet};
use crate::session::whole::Session;
use crate::shared::answers::HitPlan;

const OPENING: &[u8] = b"START TRANSACTION WITH CONSISTENT SNAPSHOT";

/// Whether the snapshot is to be opened for the statement, with which a transaction would begin at its server.
#[inline]
pub(super) fn opens_for(
    session: &Session,
    request: &Request,
    plan: &Plan,
    caching: Caching,
    now_ms: u64,
) -> bool {
    let Session { ground, account, context, dealings, .. } = session;
    let beginning = dealings.transaction.beginning();
    caching.is_exact()
        && (beginning.is_held_back() || !context.state.autocommit)
        && beginning.snapshot().is_none()
        && beginning.hostgroup().is_none_or(|hostgroup| hostgroup == plan.hostgroup)
        && may_open_snapshot(ground, account, context, dealings)
        && would_be_given(session, request, plan, now_ms)
}

fn would_be_given(session: &Session, request: &Request, plan: &Plan, now_ms: u64) -> bool {
    let Session { ground, dealings, .. } = session;
    let variables = &ground.snapshot.mysql;
    let is_plain = plan.facts.is_plain_read()
        && plan.facts.keeps_snapshots()
        && plan.named.is_none()
        && plan.sent.is_none()
        && plan.causal.is_none()
        && plan.wanted == plan.hostgroup;
    if !is_plain
        || !variables.query_cache_opens_snapshots
        || variables.transaction_replay
        || !dealings.hands.held.is_empty()
    {
        return false;
    }
    let Some(entry) = key_of(session, request).and_then(|key| ground.shared.answers.cache.get(&key)) else {
        return false;
    };
    // Asked before the clocks, as a look-up does.
    entry.is_exact()
        && entry.hostgroup() == plan.hostgroup.0
        && !entry.plan().counts_all_rows()
        && entry.plan().is_within_tenure(|| opened_at(now_ms), || entry.created_ms())
        && entry.judge(now_ms, ground.snapshot.epoch.0) == Judgement::Fresh
        && standing_of(ground, &dealings.transaction, &entry) == Standing::Holds
        && entry.rows() > 0
        && would_be_opened(session, request, plan)
}

/// Whether a server would open the snapshot for a row of the statement's answer.
fn would_be_opened(session: &Session, request: &Request, plan: &Plan) -> bool {
    let parameters = request.execution().map(|id| parameters_of(session, id)).unwrap_or_default();
    let sent = match request {
        Request::Text => sent_by_text(session, plan),
        Request::Execution { id, text } => sent_by_execution(session, *id, text, &parameters),
    };
    would_open_snapshot(&session.ground, &session.context, plan, &sent)
}

const fn opened_at(now_ms: u64) -> AsOf {
    AsOf::Snapshot { opened_ms: now_ms, by_replica: false }
}

/// Opens the snapshot for the statement, and looks up what it asks for. Without an entry it is to be counted and asked.
///
/// # Errors
/// The session ends, or no connection is to be had.
pub(super) async fn open(
    session: &mut Session,
    inquiry: &mut Inquiry,
) -> Result<Option<Entry<HitPlan>>, Trouble> {
    let Session { ground, account, context, cache, dealings, .. } = &mut *session;
    let Asked { request, plan, caching } = &inquiry.asked;
    let mut held = match lease(ground, account, context, dealings, plan.hostgroup).await {
        Ok(held) => held,
        Err(trouble) => return or_asked(trouble),
    };
    let opened = match teller_of(ground, &held) {
        Some(teller) => {
            forget_what_a_question_changes(context, dealings);
            open_over(ground, &mut dealings.transaction, teller.as_deref(), &mut held).await
        }
        None => Ok(()),
    };
    let_go_after(ground, account, context, dealings, held, opened.as_ref().err());
    let now_ms = ground.look_at_clock() / 1000;
    judge_cache_use(ground, account, context, cache, dealings);
    match opened {
        Ok(()) => Ok(entry_of_any_epoch(session, request, plan, *caching, now_ms)),
        Err(trouble) => or_asked(trouble),
    }
}

/// Where a connection was lost, or its server refused, nothing was asked yet: the read is, with a BEGIN before it, as if this had not been tried.
fn or_asked(trouble: Trouble) -> Result<Option<Entry<HitPlan>>, Trouble> {
    match trouble {
        Trouble::End(_) | Trouble::CheckOut(_) => Err(trouble),
        _ => Ok(None),
    }
}

/// Whose binlog tells what a snapshot opened over the connection shows, if one is followed. Nothing where it must not be opened there: where a
/// transaction is open, at a replica, or where nothing would be given to it.
fn teller_of(ground: &Ground, held: &Held) -> Option<Option<Arc<Followed>>> {
    let catalogues = ground.shared.exact.catalogues.current();
    let domain = catalogues.domain(held.hostgroup).ok()?;
    let is_free = !held.in_transaction() && !held.pins().is_sticky();
    let may_open = is_free && domain.is_of(held.connection.server());
    let teller = || ground.shared.exact.follows.teller(ground.snapshot.follow(held.hostgroup), domain).ok();
    may_open.then(teller).flatten()
}

/// Opens it over the connection of a primary.
async fn open_over(
    ground: &Ground,
    transaction: &mut Transaction,
    teller: Option<&Followed>,
    held: &mut Held,
) -> Result<(), Trouble> {
    // No snapshot that is opened from now on is older.
    let since = ground.shared.exact.clocks.now();
    let mut way = way(ground, held);
    way.send(&command_packet(Command::Query, OPENING)).await?;
    let end = way.read_answer(AnswerKind::Single).await?.map_err(Trouble::Refused)?;
    held.note_transaction(true);
    if transaction.beginning().is_held_back() && !ground.shared.exact.catalogues.reads_may_write() {
        transaction.begin_to_read();
    }
    ground.worker.counters.cache_snapshots_opened.bump();
    match end.ok.warnings {
        0 => transaction.has_opened(since, ground.shared.clock.now_ms(), teller, false),
        // The connection's isolation has none.
        _ => transaction.set_beginning(Beginning::Begun(since)),
    }
    Ok(())
}
