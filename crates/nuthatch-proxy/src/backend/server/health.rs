//! Whether a server takes new work, and why not: what the configuration says of it, what connects came to, and what the monitor's
//! pings did.
//!
//! A server that failed connects is shunned for a time; one that is silent to the monitor is until a ping or a login works; one that is too
//! far behind its source is until it is not. One whose pings take too long is passed over, and keeps its status.

pub(crate) mod gate;
pub(crate) mod rise;

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

use nuthatch_config::{HealthLimits, ServerStatus};
use parking_lot::Mutex;

/// For so long after a failed connect no connection is opened that can be done without.
const FAILED_LATELY_MS: u64 = 10_000;

/// For how long what is asked again is asked of others first behind a lost connection: a server that goes has closed all by then, or is known to be gone.
const DOUBT_MS: u64 = 200;

/// Shunned until something works.
const UNTIL_IT_ANSWERS: u64 = u64::MAX;

/// See the module's doc.
#[derive(Debug, Default)]
pub(crate) struct Health {
    asked_for: AtomicU8,
    shunned_until_ms: AtomicU64,
    /// Of the monitor's last ping; 0 where there was none.
    latency_us: AtomicU64,
    is_slow: AtomicBool,
    is_behind: AtomicBool,
    limits: Mutex<HealthLimits>,
    lag: Mutex<Lagging>,
    failures: Mutex<Failures>,
    /// Why it was found ill last.
    why: Mutex<String>,
    /// When a connect failed last, and [`FAILED_LATELY_MS`] more.
    well_from_ms: AtomicU64,
    /// Until then what is asked again is asked of others first: a connection to it was lost.
    doubted_until_ms: AtomicU64,
}

/// What looks at the lag have found.
#[derive(Debug, Clone, Copy, Default)]
struct Lagging {
    last: LagOutcome,
    /// In a row, that found it too far behind.
    looks_behind: u64,
}

/// How far the monitor has found a server behind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LagOutcome {
    /// So many seconds.
    Behind(u64),
    /// It replicates, and does not know how far: a thread of it has stopped.
    Unknown,
    /// It replicates from nobody, or nobody looks any more.
    #[default]
    None,
}

/// What a look at the lag changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LagChange {
    TooFar { lag_s: u64, max_s: u64 },
    Near,
}

/// Connect failures within one second.
#[derive(Debug, Default)]
struct Failures {
    second: u64,
    count: u64,
}

impl Health {
    /// The configuration wants it so; returns whether it takes new work by that.
    pub(super) fn ask_for(&self, status: ServerStatus) -> bool {
        self.asked_for.store(encode(status), Ordering::Release);
        status == ServerStatus::Online
    }

    /// By what it is passed over though it is online.
    pub(super) fn limit(&self, limits: HealthLimits) {
        *self.limits.lock() = limits;
        self.compare_latency(limits);
        if limits.lag_s_max == 0 {
            *self.lag.lock() = Lagging::default();
            self.is_behind.store(false, Ordering::Release);
        }
    }

    /// Of a server that stands in one more hostgroup now: what the monitor has found counts there at once. Its limits are known.
    pub(super) fn inherit(&self, other: &Self) {
        self.latency_us.store(other.latency_us.load(Ordering::Acquire), Ordering::Release);
        self.compare_latency(*self.limits.lock());
        if other.shunned_until_ms.load(Ordering::Acquire) == UNTIL_IT_ANSWERS {
            let why = other.why.lock().clone();
            self.is_silent(&why);
        }
        let last = other.lag.lock().last;
        self.lag.lock().looks_behind = u64::from(u32::MAX);
        self.note_lag(last);
    }

    /// The status asked for, or `Shunned` while it is shunned.
    pub(super) fn status(&self, now_ms: u64) -> ServerStatus {
        match decode(self.asked_for.load(Ordering::Acquire)) {
            ServerStatus::Online if self.is_shunned(now_ms) => ServerStatus::Shunned,
            status => status,
        }
    }

    fn is_shunned(&self, now_ms: u64) -> bool {
        now_ms < self.shunned_until_ms.load(Ordering::Acquire) || self.is_behind.load(Ordering::Acquire)
    }

    /// The same in ProxySQL's words, which have one more.
    pub(super) fn status_word(&self, now_ms: u64) -> &'static str {
        let status = self.status(now_ms);
        let is_for_lag = now_ms >= self.shunned_until_ms.load(Ordering::Acquire)
            && self.is_behind.load(Ordering::Acquire)
            && decode(self.asked_for.load(Ordering::Acquire)) == ServerStatus::Online;
        if is_for_lag { "SHUNNED_REPLICATION_LAG" } else { status.as_str() }
    }

    /// Whether its pings take too long.
    pub(super) fn is_slow(&self) -> bool {
        self.is_slow.load(Ordering::Acquire)
    }

    fn compare_latency(&self, limits: HealthLimits) {
        let max_us = limits.latency_ms_max.saturating_mul(1000);
        let is_slow = max_us > 0 && self.latency_us.load(Ordering::Acquire) > max_us;
        self.is_slow.store(is_slow, Ordering::Release);
    }

    /// Takes note of how far it is behind. Returns what that changes.
    pub(super) fn note_lag(&self, lag: LagOutcome) -> Option<LagChange> {
        let limits = self.limits.lock();
        let mut looks = self.lag.lock();
        looks.last = lag;
        let lag_s = match lag {
            LagOutcome::Behind(lag_s) => Some(lag_s),
            LagOutcome::Unknown => Some(limits.lag_when_null_s),
            LagOutcome::None => None,
        };
        let too_far = lag_s.filter(|lag_s| limits.lag_s_max > 0 && *lag_s > limits.lag_s_max);
        let Some(lag_s) = too_far else {
            looks.looks_behind = 0;
            return self.is_behind.swap(false, Ordering::AcqRel).then_some(LagChange::Near);
        };
        looks.looks_behind += 1;
        if looks.looks_behind < limits.lag_count {
            return None;
        }
        self.why_behind(lag, lag_s, limits.lag_s_max);
        let was_behind = self.is_behind.swap(true, Ordering::AcqRel);
        (!was_behind).then_some(LagChange::TooFar { lag_s, max_s: limits.lag_s_max })
    }

    fn why_behind(&self, lag: LagOutcome, lag_s: u64, max_s: u64) {
        let unknown = match lag {
            LagOutcome::Unknown => " (it does not know: mysql-monitor_slave_lag_when_null)",
            _ => "",
        };
        let why = format!("its replication lag: {lag_s} s{unknown}, and max_replication_lag is {max_s}");
        *self.why.lock() = why;
    }

    /// Seconds that it is behind; none where that is not known.
    pub(super) fn lag_s(&self) -> Option<u64> {
        match self.lag.lock().last {
            LagOutcome::Behind(lag_s) => Some(lag_s),
            LagOutcome::Unknown | LagOutcome::None => None,
        }
    }

    /// Microseconds of the last ping.
    pub(super) fn latency_us(&self) -> Option<u64> {
        Some(self.latency_us.load(Ordering::Acquire)).filter(|latency_us| *latency_us > 0)
    }

    /// A login worked, here or, where that counts, to the same server in another hostgroup.
    pub(super) fn connected(&self) {
        self.shunned_until_ms.store(0, Ordering::Release);
    }

    /// Whether it has been shunned, and no login has worked since.
    pub(super) fn was_shunned(&self) -> bool {
        self.shunned_until_ms.load(Ordering::Acquire) > 0
    }

    /// A connect failed, which proves the server ill. If there were `failures_max` of them within a second, it is shunned for `recovery_ms`,
    /// and this returns how many there were.
    pub(super) fn failed(&self, now_ms: u64, failures_max: u64, recovery_ms: u64, why: &str) -> Option<u64> {
        why.clone_into(&mut self.why.lock());
        let mut failures = self.failures.lock();
        let second = now_ms / 1000;
        if failures.second != second {
            *failures = Failures { second, count: 0 };
        }
        failures.count += 1;
        let is_shunned = failures.count >= failures_max.max(1) && self.status(now_ms) == ServerStatus::Online;
        is_shunned.then(|| {
            self.shunned_until_ms.store(now_ms + recovery_ms, Ordering::Release);
            failures.count
        })
    }

    /// It could not be reached, whoever tries.
    pub(super) fn falter(&self, now_ms: u64) {
        self.well_from_ms.store(now_ms + FAILED_LATELY_MS, Ordering::Relaxed);
    }

    /// Whether it was reached of late, as far as anybody tried.
    pub(super) fn is_well(&self, now_ms: u64) -> bool {
        now_ms >= self.well_from_ms.load(Ordering::Relaxed)
    }

    /// A connection to it was lost under a statement: the others may be about to be.
    pub(super) fn doubt(&self, now_ms: u64) {
        self.doubted_until_ms.fetch_max(now_ms + DOUBT_MS, Ordering::Relaxed);
    }

    /// Whether others are to be asked first.
    pub(super) fn is_doubted(&self, now_ms: u64) -> bool {
        now_ms < self.doubted_until_ms.load(Ordering::Relaxed)
    }

    /// A ping came back. Returns whether it was silent before.
    pub(super) fn answers(&self, latency_us: u64) -> bool {
        self.latency_us.store(latency_us.max(1), Ordering::Release);
        self.compare_latency(*self.limits.lock());
        self.is_reached()
    }

    /// It is there, and nobody knows how fast. Returns whether it was silent before.
    pub(super) fn refuses_pings(&self) -> bool {
        self.forget_latency();
        self.is_reached()
    }

    fn forget_latency(&self) {
        self.latency_us.store(0, Ordering::Release);
        self.is_slow.store(false, Ordering::Release);
    }

    fn is_reached(&self) -> bool {
        let (silent, free) = (UNTIL_IT_ANSWERS, 0);
        self.shunned_until_ms.compare_exchange(silent, free, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Pings do not come back. Returns whether it was not silent before.
    pub(super) fn is_silent(&self, why: &str) -> bool {
        why.clone_into(&mut self.why.lock());
        self.shunned_until_ms.swap(UNTIL_IT_ANSWERS, Ordering::AcqRel) != UNTIL_IT_ANSWERS
    }

    /// Nobody pings it any more.
    pub(super) fn forget_pings(&self) {
        self.forget_latency();
        let _was_silent = self.is_reached();
    }

    /// Why nothing new is sent to it, in words behind its address; `None` if it takes new work.
    pub(super) fn why_not(&self, now_ms: u64) -> Option<String> {
        match self.status(now_ms) {
            ServerStatus::Online if self.is_slow() => {
                let took_ms = self.latency_us.load(Ordering::Relaxed) / 1000;
                let max_ms = self.limits.lock().latency_ms_max;
                Some(format!(
                    "is passed over: its last ping took {took_ms} ms, and {max_ms} are allowed (max_latency_ms, \
                     mysql-default_max_latency_ms)"
                ))
            }
            ServerStatus::Online => None,
            ServerStatus::Shunned => Some(format!("is shunned, because of {}", self.why.lock())),
            status => Some(format!("is {}", status.as_str())),
        }
    }
}

const fn encode(status: ServerStatus) -> u8 {
    match status {
        ServerStatus::Online => 0,
        ServerStatus::Shunned => 1,
        ServerStatus::OfflineSoft => 2,
        ServerStatus::OfflineHard => 3,
    }
}

const fn decode(byte: u8) -> ServerStatus {
    match byte {
        0 => ServerStatus::Online,
        1 => ServerStatus::Shunned,
        2 => ServerStatus::OfflineSoft,
        _ => ServerStatus::OfflineHard,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use ServerStatus::{OfflineHard, OfflineSoft, Online, Shunned};

    #[test]
    fn failed_connects_shun_for_a_time_if_there_are_enough_in_a_second() {
        let health = Health::default();
        for (now_ms, told) in
            [(5_000, None), (5_400, None), (6_000, None), (6_100, None), (6_200, Some(3)), (6_300, None)]
        {
            assert_eq!(health.failed(now_ms, 3, 10_000, "no route"), told, "{now_ms}");
        }
        assert_eq!(health.why_not(16_199), Some("is shunned, because of no route".to_owned()));
        assert_eq!((health.status(16_199), health.status(16_200)), (Shunned, Online));
        assert_eq!(health.failed(20_000, 0, 10_000, "no route"), Some(1), "0 counts as 1");
        assert!(health.was_shunned());
        health.connected();
        assert_eq!(health.status(20_001), Online);
        assert!(!health.was_shunned());
    }

    #[test]
    fn silent_one_is_shunned_until_it_answers_or_nobody_asks() {
        let health = Health::default();
        let ends: [fn(&Health); 3] =
            [|health| assert!(health.answers(70)), Health::connected, Health::forget_pings];
        for end in ends {
            assert!(health.is_silent("no pong") && !health.is_silent("no pong"), "it is told once");
            assert_eq!(health.status(u64::MAX - 1), Shunned);
            assert_eq!(health.why_not(0), Some("is shunned, because of no pong".to_owned()));
            end(&health);
            assert_eq!(health.status(0), Online);
        }
        assert!(!health.answers(70), "it was not silent");
    }

    #[test]
    fn ping_does_not_end_what_failed_connects_began() {
        let health = Health::default();
        assert_eq!(health.failed(1_000, 1, 10_000, "refused"), Some(1));
        assert!(!health.answers(70));
        health.forget_pings();
        assert_eq!(health.status(10_999), Shunned);
    }

    #[test]
    fn what_the_configuration_says_goes_before_what_was_found() {
        let health = Health::default();
        health.is_silent("no pong");
        for status in [OfflineSoft, OfflineHard] {
            assert!(!health.ask_for(status));
            assert_eq!(health.status(0), status);
            assert_eq!(health.why_not(0), Some(format!("is {}", status.as_str())));
        }
        assert!(health.ask_for(Online));
        assert_eq!(health.status(0), Shunned);
    }

    #[test]
    fn one_behind_is_shunned_after_so_many_looks_and_until_it_is_near() {
        let health = Health::default();
        let limits = HealthLimits { lag_s_max: 10, lag_count: 2, lag_when_null_s: 60, latency_ms_max: 0 };
        health.limit(limits);
        let too_far = |lag_s| Some(LagChange::TooFar { lag_s, max_s: 10 });
        for (lag, change, word) in [
            (LagOutcome::Behind(11), None, "ONLINE"),
            (LagOutcome::Behind(10), None, "ONLINE"),
            (LagOutcome::Behind(11), None, "ONLINE"),
            (LagOutcome::Behind(12), too_far(12), "SHUNNED_REPLICATION_LAG"),
            (LagOutcome::Behind(99), None, "SHUNNED_REPLICATION_LAG"),
            (LagOutcome::Behind(0), Some(LagChange::Near), "ONLINE"),
            (LagOutcome::Unknown, None, "ONLINE"),
            (LagOutcome::Unknown, too_far(60), "SHUNNED_REPLICATION_LAG"),
            (LagOutcome::None, Some(LagChange::Near), "ONLINE"),
        ] {
            assert_eq!(health.note_lag(lag), change, "{lag:?}");
            assert_eq!(health.status_word(0), word, "{lag:?}");
        }
        health.note_lag(LagOutcome::Unknown);
        health.note_lag(LagOutcome::Unknown);
        assert_eq!(health.status(0), Shunned);
        let words = "is shunned, because of its replication lag: 60 s (it does not know: \
                     mysql-monitor_slave_lag_when_null), and max_replication_lag is 10";
        assert_eq!(health.why_not(0).as_deref(), Some(words));
        health.is_silent("no pong");
        assert_eq!(health.status_word(0), "SHUNNED", "silence goes before lag");
        health.answers(1);
        health.ask_for(OfflineSoft);
        assert_eq!(health.status_word(0), "OFFLINE_SOFT");
        health.ask_for(Online);
        health.limit(HealthLimits { lag_s_max: 0, ..limits });
        assert_eq!(health.status_word(0), "ONLINE", "there is no limit any more");
    }

    #[test]
    fn slow_one_keeps_its_status_and_is_passed_over() {
        let health = Health::default();
        assert!(!health.is_slow());
        let at_most = |latency_ms_max| HealthLimits { latency_ms_max, ..HealthLimits::default() };
        health.limit(at_most(10));
        assert!(!health.is_slow(), "it was never pinged");
        for (latency_us, is_slow) in [(10_000, false), (10_001, true), (9, false)] {
            health.answers(latency_us);
            assert_eq!(health.is_slow(), is_slow, "{latency_us}");
            assert_eq!(health.why_not(0).is_some(), is_slow, "{latency_us}");
            assert_eq!((health.status(0), health.latency_us()), (Online, Some(latency_us)));
        }
        health.answers(20_000);
        health.limit(at_most(0));
        assert!(!health.is_slow(), "there is no limit");
        health.forget_pings();
        assert_eq!(health.latency_us(), None);
        health.limit(at_most(10));
        health.answers(20_000);
        assert!(health.is_slow());
        health.refuses_pings();
        assert!(!health.is_slow(), "nobody knows any more");
    }

    #[test]
    fn what_was_found_counts_in_a_further_hostgroup_at_once() {
        let limits = HealthLimits { lag_s_max: 10, lag_count: 3, lag_when_null_s: 60, latency_ms_max: 10 };
        let known = Health::default();
        let further = |limits| {
            let further = Health::default();
            further.limit(limits);
            further.inherit(&known);
            further
        };
        assert_eq!(further(limits).why_not(0), None);
        known.answers(20_000);
        assert!(further(limits).is_slow() && !further(HealthLimits::default()).is_slow());
        known.note_lag(LagOutcome::Behind(11));
        assert_eq!(further(limits).status_word(0), "SHUNNED_REPLICATION_LAG");
        assert_eq!(further(HealthLimits { lag_s_max: 11, ..limits }).status_word(0), "ONLINE");
        known.is_silent("no pong");
        let words = "is shunned, because of no pong";
        assert_eq!(further(HealthLimits::default()).why_not(0).as_deref(), Some(words));
    }
}
