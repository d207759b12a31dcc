//! Proves what the server shows of what is carried, and finds up to which moment all that was written is carried.

use nuthatch_config::Follow;
use nuthatch_proxy::boottime_ns;
use nuthatch_source::follow::{End, FollowError, Prover};
use tokio::time::{Duration, Instant, sleep, sleep_until};

use crate::following::aim::Aim;
use crate::following::carry::Carry;
use crate::following::pace::Pace;
use crate::following::patience::{PATIENCE, in_time};

/// Between two questions what the server shows, while it does not show all: what comes meanwhile is proven with it.
const PAUSE: Duration = Duration::from_micros(300);

/// On an average, where more is written than is proven by then.
const PAUSE_OF_MANY: Duration = Duration::from_millis(2);

/// So many questions may come without it: those behind a few transactions.
const AT_ONCE: u32 = 10;

/// The same where nothing new was shown for long.
const PAUSE_MAX: Duration = Duration::from_millis(20);

/// Between two questions for the end of the binlog for the sake of what waits for its event, and two looks at that.
const HELD_PAUSE: Duration = Duration::from_millis(1);

/// The same for the sake of snapshots that have been opened.
const SNAPSHOT_PAUSE: Duration = Duration::from_millis(2);

/// How often within the bound the server is asked for the end of its binlog.
const TIMES_WITHIN_BOUND: u32 = 4;

/// The end of a binlog, as it was asked for at that moment.
struct Sought {
    asked_ns: u64,
    /// The same moment, since the start.
    asked_ms: u64,
    end: End,
    /// The picture that was in force then.
    look: u64,
}

/// What is asked next, and when.
struct Proving<'a> {
    prover: &'a mut Prover,
    carry: &'a Carry,
    aim: &'a Aim,
    sought: Option<Sought>,
    /// When the end is to be asked for at the latest.
    due: Instant,
    pause: Duration,
    pace: Pace,
}

/// Goes on until something is wrong.
pub(super) async fn prove(prover: &mut Prover, carry: &Carry, aim: &Aim) -> FollowError {
    let pace = Pace::new(PAUSE_OF_MANY, AT_ONCE);
    let mut proving = Proving { prover, carry, aim, sought: None, due: Instant::now(), pause: PAUSE, pace };
    loop {
        if let Err(error) = proving.turn().await {
            return error;
        }
    }
}

impl Proving<'_> {
    async fn turn(&mut self) -> Result<(), FollowError> {
        let (carry, aim) = (self.carry, self.aim);
        if !aim.followed.is_open() {
            return Err(FollowError::Anew(
                "its server was started anew, or its name leads to another".to_owned(),
            ));
        }
        let shown_again = self.ask_what_is_shown().await?;
        note_learnt(carry, aim);
        self.seek_end().await?;
        if let Some(Sought { asked_ns, asked_ms, look, .. }) =
            self.sought.take_if(|sought| carry.has_reached(&sought.end))
        {
            carry.note_look(look);
            aim.followed.horizon().reach(asked_ms);
            note_reached(asked_ns, aim);
            aim.followed.release_held(asked_ns);
        }
        let next = match (carry.unproven() > 0, self.sought.is_some()) {
            (true, _) => shown_again,
            (false, true) => Instant::now() + PATIENCE,
            (false, false) => self.due,
        };
        let next = next.min(Instant::now() + self.pause_of_waiting().unwrap_or(PATIENCE));
        tokio::select! {
            () = carry.news.notified() => {}
            () = sleep_until(next) => {}
        }
        Ok(())
    }

    /// Settles what the server shows; it is asked if that is needed and its turn. Gives when to ask again, if nothing new is carried.
    async fn ask_what_is_shown(&mut self) -> Result<Instant, FollowError> {
        let carry = self.carry;
        carry.settle_again();
        let unproven = carry.unproven();
        if unproven == 0 {
            self.pause = PAUSE;
        }
        if unproven == 0 || Instant::now() < self.pace.next() {
            return Ok(self.pace.next());
        }
        self.pace.note(Instant::now());
        let asked_ns = boottime_ns();
        let prepared = match carry.awaits_finished() {
            true => Some(in_time(self.prover.prepared()).await?),
            false => None,
        };
        let shown = in_time(self.prover.shown()).await?;
        carry.settle(shown, prepared.as_deref().map(|prepared| (asked_ns, prepared)));
        self.pause = if carry.unproven() < unproven { PAUSE } else { (self.pause * 2).min(PAUSE_MAX) };
        Ok(self.pace.next().max(Instant::now() + self.pause))
    }

    /// How long behind the last time the end is to be asked for, for the sake of what waits, if anything does.
    fn pause_of_waiting(&self) -> Option<Duration> {
        match (self.aim.followed.holds_nothing(), self.aim.followed.horizon().is_awaited()) {
            (false, _) => Some(HELD_PAUSE),
            (true, true) => Some(SNAPSHOT_PAUSE),
            (true, false) => None,
        }
    }

    /// Asks for the end of the binlog, if it is due.
    async fn seek_end(&mut self) -> Result<(), FollowError> {
        let (carry, aim) = (self.carry, self.aim);
        let within_bound = aim.bound / TIMES_WITHIN_BOUND;
        let last = self.due.checked_sub(within_bound).unwrap_or(self.due);
        let is_due = Instant::now() >= self.pause_of_waiting().map_or(self.due, |pause| last + pause);
        if self.sought.is_some() || !is_due {
            return Ok(());
        }
        self.due = Instant::now() + within_bound;
        let (asked_ns, asked_ms) = (boottime_ns(), aim.proxy.now_us() / 1000);
        let (look, here) = (aim.proxy.exact().looks(), carry.here());
        let end = in_time(self.prover.end()).await?;
        if here.is_some_and(|here| !here.is_within(&end)) {
            return Err(FollowError::Lost(
                "its binlog ends before what was read of it: it has begun anew".to_owned(),
            ));
        }
        self.sought = Some(Sought { asked_ns, asked_ms, end, look });
        Ok(())
    }
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
    aim.stand(Follow::Bounded, &aim.why_bounded());
}
