//! One check of one server, again and again.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nuthatch_config::{CheckType, ClusterKind};
use nuthatch_net::Asker;
use nuthatch_sql::{PoolFigures, PoolLoad};
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::access::{self, AccessJudge};
use crate::check::{self, Outcome};
use crate::judge::PingJudge;
use crate::lag::{self, Lag};
use crate::log::{CheckKind, Log, Record};
use crate::member::{self, MemberJudge};
use crate::pool::{self, DumpClock, DumpFinding, PoolFinding};
use crate::refusals::{Refusal, Refusals};
use crate::settings::{CheckTimes, Settings};
use crate::target::{MemberCheck, PoolCheck, Target};
use crate::ward::Ward;

/// A silent server is pinged at least this often: so it is used again as soon as it is there.
const SILENT_INTERVAL_MAX: Duration = Duration::from_secs(1);

/// However often it is called, a check is not made more often than this.
const CALLED_INTERVAL_MIN: Duration = Duration::from_millis(100);

/// Who looks: what all of a server's checks have in common.
pub(crate) struct Patrol {
    pub(crate) target: Target,
    pub(crate) settings: Settings,
    pub(crate) log: Arc<Log>,
    pub(crate) refusals: Arc<Refusals>,
    pub(crate) ward: Arc<dyn Ward>,
    /// What its pings came to, also before the settings were changed.
    pub(crate) pings: Arc<Mutex<PingJudge>>,
    /// When it is to dump its buffer pool, also before the settings were changed.
    pub(crate) dumps: Arc<Mutex<DumpClock>>,
    /// Somebody wants its checks to be made now.
    pub(crate) calls: Arc<Notify>,
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
            self.pause(began, pause).await;
        }
    }

    /// Asks again and again how far it is behind.
    pub(crate) async fn lag(&self) {
        let mut kept: Option<Asker> = None;
        let (CheckTimes { interval, timeout }, heartbeat) = (self.settings.lag, &self.settings.heartbeat);
        let question = |version: &str| lag::question(version, heartbeat);
        loop {
            let (began, began_us) = (Instant::now(), now_us());
            let asked = check::ask(&self.target, timeout, &mut kept, &question, lag::lag).await;
            let (outcome, lag) = asked;
            let found = match lag {
                Some(Lag::Behind(seconds)) => Some(seconds),
                Some(Lag::Unknown) => Some(self.settings.lag_when_null_s),
                _ => None,
            };
            let found = found.map(|seconds| seconds.to_string());
            self.note_found(CheckKind::Lag, began_us, &outcome, vec![found]);
            if let Some(lag) = lag.filter(|_| !self.end.is_cancelled()) {
                self.ward.is_behind(&self.target.name, lag);
            }
            sleep_until(began + interval).await;
        }
    }

    /// Asks again and again whether it takes writes.
    pub(crate) async fn access(&self, check: CheckType) {
        let (mut kept, mut judge): (Option<Asker>, _) = (None, AccessJudge::default());
        let CheckTimes { interval, timeout } = self.settings.access;
        let question = |_: &str| access::question(check);
        loop {
            let (began, began_us) = (Instant::now(), now_us());
            let asked = check::ask(&self.target, timeout, &mut kept, &question, access::is_read_only).await;
            let (outcome, is_read_only) = asked;
            let found = is_read_only.map(|is_read_only| u8::from(is_read_only).to_string());
            self.note_found(CheckKind::Access, began_us, &outcome, vec![found]);
            let finding = judge.judge(&outcome, is_read_only, self.settings.access_timeouts_max);
            if let Some(finding) = finding.filter(|_| !self.end.is_cancelled()) {
                self.ward.access(&self.target.name, check, &finding, began);
            }
            self.pause(began, interval).await;
        }
    }

    /// Asks again and again what it is in its group or Galera cluster.
    pub(crate) async fn member(&self, check: MemberCheck) {
        let (mut kept, mut judge): (Option<Asker>, _) = (None, MemberJudge::default());
        let settings = &self.settings;
        let (CheckTimes { interval, timeout }, patience, kind) = match check.kind {
            ClusterKind::GroupReplication => {
                (settings.group, settings.group_patience, CheckKind::GroupReplication)
            }
            ClusterKind::Galera => (settings.galera, settings.galera_patience, CheckKind::Galera),
        };
        let question = |version: &str| member::question(check.kind, version);
        loop {
            let (began, began_us) = (Instant::now(), now_us());
            let read = |answer: &_| member::told(check.kind, answer);
            let (outcome, told) = check::ask(&self.target, timeout, &mut kept, &question, read).await;
            let shown = told.as_ref().map(|told| told.shown.clone()).unwrap_or_default();
            self.note_found(kind, began_us, &outcome, shown);
            let finding = judge.judge(&outcome, told, check, patience);
            if let Some(finding) = finding.filter(|_| !self.end.is_cancelled()) {
                self.ward.member(&self.target.name, finding);
            }
            self.pause(began, interval).await;
        }
    }

    /// Asks again and again how warm its buffer pool is, and for a dump of it when one is due.
    pub(crate) async fn pool(&self, check: PoolCheck) {
        let mut kept: Option<Asker> = None;
        let CheckTimes { interval, timeout } = self.settings.pool;
        loop {
            let began = Instant::now();
            let finding = self.look_at_pool(timeout, &mut kept).await;
            if self.end.is_cancelled() {
                return;
            }
            let care = self.ward.pool(&self.target.name, &finding, began);
            if let Some(dump_interval) = check.dump_interval
                && self.dumps.lock().is_due(&finding, care, dump_interval, began)
            {
                self.dump(timeout, &mut kept).await;
            }
            self.pause(began, care.pause(&finding, interval)).await;
        }
    }

    async fn look_at_pool(&self, timeout: Duration, kept: &mut Option<Asker>) -> PoolFinding {
        let question = |_: &str| PoolFigures::QUESTION.to_owned();
        let (outcome, figures) = check::ask(&self.target, timeout, kept, &question, pool::figures).await;
        self.tell_of(Some(Refusal::Pool), &outcome);
        let Some(figures) = figures else { return PoolFinding::without_figures(&outcome) };
        let is_continued = kept.as_ref().is_some_and(|asker| asker.questions() > 1);
        let loads_at_start = match figures.load {
            PoolLoad::NotBegun => {
                let question = |_: &str| pool::LOADS_AT_START.to_owned();
                check::ask(&self.target, timeout, kept, &question, pool::loads_at_start).await.1
            }
            _ => None,
        };
        PoolFinding::Told { figures, loads_at_start, is_continued }
    }

    async fn dump(&self, timeout: Duration, kept: &mut Option<Asker>) {
        let question = |_: &str| pool::DUMP.to_owned();
        let (outcome, _) = check::ask(&self.target, timeout, kept, &question, |_| Some(())).await;
        self.tell_of(Some(Refusal::Dump), &outcome);
        let finding = match outcome {
            Outcome::Done { .. } => DumpFinding::Begun,
            Outcome::Refused { why } => {
                let user = self.target.login.as_ref().map_or("", |login| &login.user);
                let advice = Refusal::Dump.advice(user, "");
                DumpFinding::Refused { why: format!("{why}: {advice}") }
            }
            Outcome::NotLetIn { .. } | Outcome::Failed { .. } | Outcome::NotAsked { .. } => return,
        };
        self.ward.dumped(&self.target.name, &finding);
    }

    /// Until the next look is due, or somebody calls for one.
    async fn pause(&self, began: Instant, interval: Duration) {
        tokio::select! {
            () = sleep_until(began + interval) => {}
            () = self.calls.notified() => sleep_until(began + CALLED_INTERVAL_MIN.min(interval)).await,
        }
    }

    fn note(&self, kind: CheckKind, began_us: u64, outcome: &Outcome) {
        self.note_found(kind, began_us, outcome, Vec::new());
    }

    fn note_found(&self, kind: CheckKind, began_us: u64, outcome: &Outcome, found: Vec<Option<String>>) {
        let server = &self.target.name;
        let record = Record { found, ..Record::of(server, began_us, outcome) };
        self.log.add(kind, record, self.settings.history);
        self.tell_of(refusal(kind), outcome);
    }

    /// Tells the log what a server refuses, the first time; by that refusal it shows that it refuses the question.
    fn tell_of(&self, refusal: Option<Refusal>, outcome: &Outcome) {
        let server = &self.target.name;
        match outcome {
            Outcome::Done { .. } => {
                self.refusals.forget(server, Refusal::Login);
                if let Some(refusal) = refusal {
                    self.refusals.forget(server, refusal);
                }
            }
            Outcome::NotLetIn { why, is_account } => self.tell(Refusal::Login, why, *is_account),
            Outcome::Refused { why } => {
                if let Some(refusal) = refusal {
                    self.tell(refusal, why, true);
                }
            }
            Outcome::Failed { .. } | Outcome::NotAsked { .. } => {}
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

/// What a server refuses that refuses the question of such a check.
const fn refusal(kind: CheckKind) -> Option<Refusal> {
    match kind {
        CheckKind::Connect | CheckKind::Ping => None,
        CheckKind::Lag => Some(Refusal::Lag),
        CheckKind::Access => Some(Refusal::Access),
        CheckKind::GroupReplication => Some(Refusal::Member(ClusterKind::GroupReplication)),
        CheckKind::Galera => Some(Refusal::Member(ClusterKind::Galera)),
    }
}

#[expect(clippy::disallowed_methods, reason = "the log tells when, in the time of the world")]
fn now_us() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}
