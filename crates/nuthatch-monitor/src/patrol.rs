//! One check of one server, again and again.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nuthatch_net::Asker;
use parking_lot::Mutex;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::check::{self, Outcome};
use crate::judge::PingJudge;
use crate::lag::Lag;
use crate::log::{CheckKind, Log, Record};
use crate::refusals::{Refusal, Refusals};
use crate::settings::{CheckTimes, Settings};
use crate::target::Target;
use crate::ward::Ward;

/// A silent server is pinged at least this often: so it is used again as soon as it is there.
const SILENT_INTERVAL_MAX: Duration = Duration::from_secs(1);

/// Who looks: what all of a server's checks have in common.
pub(crate) struct Patrol {
    pub(crate) target: Target,
    pub(crate) settings: Settings,
    pub(crate) log: Arc<Log>,
    pub(crate) refusals: Arc<Refusals>,
    pub(crate) ward: Arc<dyn Ward>,
    /// What its pings came to, also before the settings were changed.
    pub(crate) pings: Arc<Mutex<PingJudge>>,
    /// Nothing is told any more.
    pub(crate) end: CancellationToken,
}

impl Patrol {
    /// Logs in again and again.
    pub(crate) async fn connect(&self) {
        let CheckTimes { interval, timeout } = self.settings.connect;
        loop {
            let (began, began_us) = (Instant::now(), now_us());
            let outcome = check::connect(&self.target, timeout).await;
            self.note(CheckKind::Connect, began_us, &outcome);
            sleep_until(began + interval).await;
        }
    }

    /// Pings again and again, and tells what that means.
    pub(crate) async fn ping(&self) {
        let mut kept: Option<Asker> = None;
        let failures_max = self.settings.ping_failures_max;
        let CheckTimes { interval, timeout } = self.settings.ping;
        loop {
            let (began, began_us) = (Instant::now(), now_us());
            let outcome = check::ping(&self.target, timeout, &mut kept).await;
            self.note(CheckKind::Ping, began_us, &outcome);
            let (finding, is_silent) = {
                let mut judge = self.pings.lock();
                (judge.judge(&outcome, failures_max), judge.is_silent(failures_max))
            };
            if let Some(finding) = finding.filter(|_| !self.end.is_cancelled()) {
                self.ward.pinged(&self.target.name, &finding);
            }
            let pause = if is_silent { interval.min(SILENT_INTERVAL_MAX) } else { interval };
            sleep_until(began + pause).await;
        }
    }

    /// Asks again and again how far it is behind.
    pub(crate) async fn lag(&self) {
        let mut kept: Option<Asker> = None;
        let (CheckTimes { interval, timeout }, heartbeat) = (self.settings.lag, &self.settings.heartbeat);
        loop {
            let (began, began_us) = (Instant::now(), now_us());
            let (outcome, lag) = check::lag(&self.target, timeout, heartbeat, &mut kept).await;
            let found = match lag {
                Some(Lag::Behind(seconds)) => Some(seconds),
                Some(Lag::Unknown) => Some(self.settings.lag_when_null_s),
                _ => None,
            };
            self.note_found(CheckKind::Lag, began_us, &outcome, found);
            if let Some(lag) = lag.filter(|_| !self.end.is_cancelled()) {
                self.ward.is_behind(&self.target.name, lag);
            }
            sleep_until(began + interval).await;
        }
    }

    fn note(&self, kind: CheckKind, began_us: u64, outcome: &Outcome) {
        self.note_found(kind, began_us, outcome, None);
    }

    fn note_found(&self, kind: CheckKind, began_us: u64, outcome: &Outcome, found: Option<u64>) {
        let server = &self.target.name;
        let record = Record { found, ..Record::of(server, began_us, outcome) };
        self.log.add(kind, record, self.settings.history);
        match outcome {
            Outcome::Done { .. } => {
                self.refusals.forget(server, Refusal::Login);
                if kind == CheckKind::Lag {
                    self.refusals.forget(server, Refusal::Lag);
                }
            }
            Outcome::NotLetIn { why, is_account } => self.tell(Refusal::Login, why, *is_account),
            Outcome::Refused { why } if kind == CheckKind::Lag => self.tell(Refusal::Lag, why, true),
            Outcome::Refused { .. } | Outcome::Failed { .. } | Outcome::NotAsked { .. } => {}
        }
    }

    fn tell(&self, refusal: Refusal, why: &str, has_advice: bool) {
        let Target { name: server, login, .. } = &self.target;
        if !self.refusals.note(server, refusal) {
            return;
        }
        let user = login.as_ref().map_or("", |login| &login.user);
        let advice = match has_advice {
            true => format!(": {}", refusal.advice(user, &self.settings.heartbeat)),
            false => String::new(),
        };
        tracing::warn!(%server, why, "the monitor {}{advice}", refusal.words());
    }
}

#[expect(clippy::disallowed_methods, reason = "the log tells when, in the time of the world")]
fn now_us() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}
