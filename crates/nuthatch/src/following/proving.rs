//! Proves what the server shows of what is carried, and finds up to which moment all that was written is carried.

use nuthatch_config::Follow;
use nuthatch_proxy::boottime_ns;
use nuthatch_source::follow::{End, FollowError, Prover};
use tokio::time::{Duration, Instant, sleep, sleep_until};

use crate::following::aim::Aim;
use crate::following::carry::Carry;
use crate::following::patience::{PATIENCE, in_time};

/// Between two questions what the server shows, while it does not show all: what comes meanwhile is proven with it.
const PAUSE: Duration = Duration::from_micros(300);

/// The same where nothing new was shown for long.
const PAUSE_MAX: Duration = Duration::from_millis(20);

/// Between two questions for the end of the binlog for the sake of what waits for its event, and two looks at that.
const HELD_PAUSE: Duration = Duration::from_millis(1);

/// How often within the bound the server is asked for the end of its binlog.
const TIMES_WITHIN_BOUND: u32 = 4;

/// The end of a binlog, as it was asked for at that moment.
struct Sought {
    asked_ns: u64,
    end: End,
    /// The picture that was in force then.
    look: u64,
}

/// Goes on until something is wrong.
pub(super) async fn prove(prover: &mut Prover, carry: &Carry, aim: &Aim) -> FollowError {
    let mut sought = None;
    let mut due = Instant::now();
    let mut pause = PAUSE;
    loop {
        if let Err(error) = prove_once(prover, carry, aim, &mut sought, &mut due, &mut pause).await {
            return error;
        }
    }
}

async fn prove_once(
    prover: &mut Prover,
    carry: &Carry,
    aim: &Aim,
    sought: &mut Option<Sought>,
    due: &mut Instant,
    pause: &mut Duration,
) -> Result<(), FollowError> {
    if !aim.followed.is_open() {
        return Err(FollowError::Anew(
            "its server was started anew, or its name leads to another".to_owned(),
        ));
    }
    let unproven = carry.unproven();
    carry.settle_again();
    if carry.unproven() > 0 {
        let asked_ns = boottime_ns();
        let prepared = match carry.awaits_finished() {
            true => Some(in_time(prover.prepared()).await?),
            false => None,
        };
        let shown = in_time(prover.shown()).await?;
        carry.settle(shown, prepared.as_deref().map(|prepared| (asked_ns, prepared)));
    }
    note_learnt(carry, aim);
    let within_bound = aim.bound / TIMES_WITHIN_BOUND;
    let is_due_for_held = Instant::now() + within_bound >= *due + HELD_PAUSE;
    let is_due = Instant::now() >= *due || is_due_for_held && !aim.followed.holds_nothing();
    if sought.is_none() && is_due {
        *due = Instant::now() + within_bound;
        let (asked_ns, look, here) = (boottime_ns(), aim.proxy.exact().looks(), carry.here());
        let end = in_time(prover.end()).await?;
        if here.is_some_and(|here| !here.is_within(&end)) {
            return Err(FollowError::Lost(
                "its binlog ends before what was read of it: it has begun anew".to_owned(),
            ));
        }
        *sought = Some(Sought { asked_ns, end, look });
    }
    if let Some(Sought { asked_ns, look, .. }) = sought.take_if(|sought| carry.has_reached(&sought.end)) {
        carry.note_look(look);
        note_reached(asked_ns, aim);
        aim.followed.release_held(asked_ns);
    }
    *pause = if carry.unproven() < unproven || unproven == 0 { PAUSE } else { (*pause * 2).min(PAUSE_MAX) };
    let pause = Instant::now() + *pause;
    let next = match (carry.unproven() > 0, sought.is_some()) {
        (true, _) => pause,
        (false, true) => Instant::now() + PATIENCE,
        (false, false) => *due,
    };
    let next = if aim.followed.holds_nothing() { next } else { next.min(Instant::now() + HELD_PAUSE) };
    tokio::select! {
        () = carry.news.notified() => {}
        () = sleep_until(next) => {}
    }
    Ok(())
}

/// Has who proves look when writes begin to wait for their events, and those that wait for too long move. Never ends, whatever the server does.
pub(super) async fn keep_held(carry: &Carry, aim: &Aim) -> FollowError {
    loop {
        aim.followed.held_news().await;
        carry.news.notify_one();
        loop {
            sleep(HELD_PAUSE).await;
            aim.followed.settle_late(boottime_ns().saturating_sub(aim.event_wait_ns));
            if aim.followed.holds_nothing() {
                break;
            }
        }
    }
}

/// What was learnt counts when all that does not show it has settled.
fn note_learnt(carry: &Carry, aim: &Aim) {
    let learnt = carry.learnt();
    if learnt > aim.followed.learnt() {
        aim.proxy.exact().note_learnt(&aim.followed, learnt);
    }
}

/// All that was written before that moment is carried.
fn note_reached(asked_ns: u64, aim: &Aim) {
    let now_ns = boottime_ns();
    aim.followed.note_delay(now_ns.saturating_sub(asked_ns) / 1000);
    if aim.leased_until_ns.get() > now_ns {
        return;
    }
    let bound_ns = u64::try_from(aim.bound.as_nanos()).unwrap_or(u64::MAX);
    aim.followed.horizon().extend(asked_ns.saturating_add(bound_ns), false);
    let why = match aim.followed.wanted() {
        Follow::Exact => aim.why_not_exact.borrow().clone(),
        Follow::Off | Follow::Bounded => String::new(),
    };
    aim.stand(Follow::Bounded, &why);
}
