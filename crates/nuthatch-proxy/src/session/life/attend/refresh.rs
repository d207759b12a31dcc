//! An answer whose time will be over soon (`mysql-query_cache_soft_ttl_pct`) is read anew when somebody asks for it, so that no client waits
//! for that.
//!
//! Who asks is given what is stored. A session of the proxy's own stands in for it: it has the same account, state and statement, and nobody as
//! its client. It asks a server, stores what comes, and ends. It leads those who ask the same meanwhile (`shared/answers/coalescing.rs`),
//! so what is under way is not begun again.
//!
//! A digest of which that came to nothing rests, as one that was waited for in vain.

use std::sync::Arc;

use nuthatch_cache::{Entry, Protocol};
use nuthatch_wire::{Command, FRAME_PAYLOAD_MAX, FrameHeader};

use crate::roster::SessionHandle;
use crate::session::decide::cache_use::judge_cache_use;
use crate::session::fall::PanicCounter;
use crate::session::life::answer::{begin_refreshing, key_at_hand, see_through};
use crate::session::life::arrival::attributes::take_attributes;
use crate::session::life::execution::stmt_execute;
use crate::session::life::statement::statement;
use crate::session::parts::{CacheUse, Dealings, Ground};
use crate::session::statement::Asked;
use crate::session::whole::Session;
use crate::shared::answers::{HitPlan, Lead, Refreshing};
use crate::stats::DigestCounters;

/// Has the entry read anew that answers the command with that payload, if it is time for that.
#[inline]
pub(crate) fn refresh_if_due(session: &Session, entry: &Entry<HitPlan>, payload: &[u8], now_ms: u64) {
    if entry.plan().is_due(entry.created_ms(), now_ms) {
        refresh(session, entry, payload, now_ms);
    }
}

#[cold]
fn refresh(session: &Session, entry: &Entry<HitPlan>, payload: &[u8], now_ms: u64) {
    let answers = &session.ground.shared.answers;
    let counters = entry.plan().counters();
    let rests = counters.is_some_and(|counters| counters.patience().rests(now_ms));
    if rests {
        return;
    }
    let Some(lead) = answers.coalescing.lead(entry.key().hash()) else { return };
    let Some(refreshing) = Refreshing::begin(&answers.refreshes) else {
        session.ground.worker.counters.cache_refreshes_refused.bump();
        return;
    };
    let Some(stand_in) = stand_in(session, payload, now_ms) else { return };
    let counters = counters.cloned();
    let worker = Arc::clone(&session.ground.worker);
    drop(worker.spawn(ask(stand_in, lead, counters, refreshing)));
}

/// A session that has the command at hand, and nobody to tell.
fn stand_in(session: &Session, payload: &[u8], now_ms: u64) -> Option<Box<Session>> {
    let Session { ground, client, account, context, statements, .. } = session;
    let shared = &ground.shared;
    let address = ground.handle.address().clone();
    let handle = Arc::new(SessionHandle::new(shared.doors.next_session_id(), address, now_ms));
    handle.show_login(account.name(), &context.state.schema);
    let mut client = client.nobody();
    if payload.len() >= FRAME_PAYLOAD_MAX {
        return None;
    }
    client.framed_mut().feed(&FrameHeader { payload_len: payload.len(), sequence: 0 }.encode());
    client.framed_mut().feed(payload);
    let mut stand_in = Box::new(Session {
        ground: Ground {
            shared: Arc::clone(shared),
            worker: Arc::clone(&ground.worker),
            memo: Arc::clone(&ground.memo),
            handle,
            snapshot: Arc::clone(&ground.snapshot),
            latest_us: ground.latest_us,
        },
        client,
        account: account.stand_in(),
        context: context.clone(),
        cache: CacheUse::default(),
        dealings: Dealings::default(),
        statements: statements.stand_in(payload),
        unfinished: None,
    });
    let Session { ground, account, context, cache, dealings, .. } = &mut *stand_in;
    dealings.hands.position.keep(ground.snapshot.keeps_positions());
    judge_cache_use(ground, account, context, cache, dealings);
    Some(stand_in)
}

/// The task of one who stands in.
async fn ask(
    mut session: Box<Session>,
    lead: Lead,
    counters: Option<Arc<DigestCounters>>,
    refreshing: Refreshing,
) {
    let (shared, handle) = (Arc::clone(&session.ground.shared), Arc::clone(&session.ground.handle));
    let worker = Arc::clone(&session.ground.worker);
    let _counted = PanicCounter::new(&shared, worker.id);
    let _listed = shared.roster.enter(worker.id, &handle);
    handle.runs().await;
    let is_stored = ask_as_told(&mut session, lead).await == Some(true);
    let now_ms = shared.clock.now_ms();
    if let Some(counters) = counters {
        counters.patience().note_wait(is_stored, now_ms);
    }
    let counter =
        if is_stored { &worker.counters.cache_refreshes } else { &worker.counters.cache_refreshes_failed };
    counter.bump();
    drop(refreshing);
}

/// Asks the command at hand. Returns whether its answer was stored.
async fn ask_as_told(session: &mut Session, lead: Lead) -> Option<bool> {
    let limit_bytes = usize::try_from(session.ground.snapshot.mysql.max_allowed_packet).unwrap_or(usize::MAX);
    if !session.client.framed_mut().take_packet_at_hand(limit_bytes) {
        return None;
    }
    let now_ms = session.ground.look_at_clock() / 1000;
    let command = session.client.payload().first().copied().and_then(Command::parse)?;
    if session.client.has_attributes() {
        take_attributes(&mut session.client, &session.statements, Some(command)).ok()?;
    }
    let mut asked: Option<Asked> = None;
    match command {
        Command::Query => statement(session, now_ms, None, &mut asked).await.ok()?,
        _ => stmt_execute(session, now_ms, None, &mut asked).await.ok()?,
    }
    let asked = asked.filter(|asked| asked.caching.ttl_ms().is_some())?;
    let protocol = if command == Command::Query { Protocol::Text } else { Protocol::Binary };
    let inquiry = begin_refreshing(session, asked, lead);
    see_through(session, inquiry).await.ok()?;
    let stored = session.ground.shared.answers.cache.peek(&key_at_hand(session, protocol)?)?;
    Some(stored.created_ms() >= now_ms)
}
