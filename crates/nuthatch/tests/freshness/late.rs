//! Reads that nothing explains, of a run in which less is promised at times: which of them are violations shows when it is over.
//!
//! While the proxy is asked to be exact and is not, it says so (`Promises`, from its log), and promises its bound. What no protocol closes
//! is told by who did it (`Hole`).

use std::time::Duration;

use crate::history::{Time, Wrong};

/// A read that nothing explains.
#[derive(Debug, Clone)]
pub(crate) struct Late {
    pub(crate) begin: Time,
    pub(crate) end: Time,
    /// It is explained if it may be older by the bound.
    pub(crate) is_within_bound: bool,
    pub(crate) wrong: Wrong,
    pub(crate) account: String,
}

/// A time in which what is documented as not closed was done.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hole {
    pub(crate) begin: Time,
    pub(crate) end: Time,
}

/// What was promised from when on: the word of the log.
#[derive(Debug, Clone, Default)]
pub(crate) struct Promises(Vec<(Time, String)>);

/// What reads turned out to be.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    pub(crate) violations: Vec<Late>,
    /// Within the bound, while that was all that was promised.
    pub(crate) within_bound: usize,
    pub(crate) in_holes: usize,
}

/// How long commits past the proxy took until they were acknowledged.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    count: u64,
    /// When they were sent, and acknowledged; of those that took long.
    long: Vec<(Time, Time)>,
}

/// Shorter ones are what commits take.
const LONG: Duration = Duration::from_millis(50);

/// The promise is logged when it holds already, by a thread that may not run at once.
const LOGGED_WITHIN: Duration = Duration::from_millis(200);

impl Promises {
    /// By the lines of a proxy's log, whose times are those of the day; `begun` is that of the run's beginning.
    pub(crate) fn of(log: &str, begun: Duration) -> Self {
        const DAY: Duration = Duration::from_secs(24 * 3600);
        let promise = |line: &str| {
            let mode = match line.split_once("mode=\"") {
                Some((_, rest)) if line.contains("following::aim") => rest.split('"').next()?,
                None if line.contains("its binlog is to be followed") => "off",
                _ => return None,
            };
            let at = time_of_day(line)?;
            // Lines of before the run count as of its beginning.
            let since = if at + DAY / 2 < begun { at + DAY - begun } else { at.saturating_sub(begun) };
            Some((since, mode.to_owned()))
        };
        Self(log.lines().filter_map(promise).collect())
    }

    /// Whether at some time of these only the bound was promised.
    fn was_bounded(&self, begin: Time, end: Time) -> bool {
        let ends = self.0.iter().skip(1).map(|(at, _)| *at).chain([Time::MAX]);
        self.0.iter().zip(ends).any(|((at, mode), until)| {
            mode == "bounded" && at.saturating_sub(LOGGED_WITHIN) <= end && begin <= until
        })
    }

    /// How long that was promised, until then.
    pub(crate) fn lasted(&self, mode: &str, end: Time) -> Duration {
        let ends = self.0.iter().skip(1).map(|(at, _)| *at).chain([end]);
        self.0
            .iter()
            .zip(ends)
            .filter(|((_, of), _)| of == mode)
            .map(|((at, _), until)| until.saturating_sub(*at))
            .sum()
    }
}

/// In `2026-11-27T04:21:14.123456Z INFO …`.
fn time_of_day(line: &str) -> Option<Duration> {
    let time = line.trim_start().split_once('T')?.1.split_once('Z')?.0;
    let mut parts = time.split(':');
    let [hours, minutes]: [u64; 2] = [parts.next()?.parse().ok()?, parts.next()?.parse().ok()?];
    let seconds: f64 = parts.next()?.parse().ok()?;
    Some(Duration::from_secs(hours * 3600 + minutes * 60) + Duration::from_secs_f64(seconds))
}

impl Verdict {
    pub(crate) fn of(lates: Vec<Late>, promises: &Promises, holes: &[Hole]) -> Self {
        let mut verdict = Self::default();
        for late in lates {
            if holes.iter().any(|hole| hole.begin <= late.end && late.begin <= hole.end) {
                verdict.in_holes += 1;
            } else if late.is_within_bound && promises.was_bounded(late.begin, late.end) {
                verdict.within_bound += 1;
            } else {
                verdict.violations.push(late);
            }
        }
        verdict
    }
}

impl Waits {
    pub(crate) fn note(&mut self, sent: Time, acknowledged: Time) {
        self.count += 1;
        if acknowledged.saturating_sub(sent) > LONG {
            self.long.push((sent, acknowledged));
        }
    }

    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    /// The longest first, but for those that met one of these times: when each was sent, and how long it took.
    pub(crate) fn longest(&self, but: &[Hole]) -> Vec<(Time, Duration)> {
        let counts = |(sent, acknowledged): &&(Time, Time)| {
            !but.iter().any(|hole| hole.begin <= *acknowledged && *sent <= hole.end)
        };
        let mut all: Vec<_> = self
            .long
            .iter()
            .filter(counts)
            .map(|(sent, acknowledged)| (*sent, *acknowledged - *sent))
            .collect();
        all.sort_by_key(|(_, took)| std::cmp::Reverse(*took));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
2026-11-27T10:00:01.500000Z  INFO nuthatch::following: its binlog is to be followed: nothing is served server=a follow=\"exact\"
2026-11-27T10:00:02.000000Z  WARN nuthatch::following::aim: writes past the proxy are followed no better: why server=a mode=\"bounded\"
2026-11-27T10:00:03.000000Z  INFO nuthatch::other: mode=\"bounded\"
2026-11-27T10:00:04.000000Z  INFO nuthatch::following::aim: writes past the proxy are followed server=a mode=\"exact\"
";

    fn late(begin_ms: u64, is_within_bound: bool) -> Late {
        let begin = Time::from_millis(begin_ms);
        let (end, account) = (begin + Duration::from_millis(1), String::new());
        Late { begin, end, is_within_bound, wrong: Wrong::Stale, account }
    }

    #[test]
    fn what_is_older_than_was_promised_then_is_a_violation() {
        let begun = Duration::from_secs(10 * 3600 + 1);
        let promises = Promises::of(LOG, begun);
        assert_eq!(promises.lasted("bounded", Time::from_secs(9)), Duration::from_secs(2));
        assert_eq!(promises.lasted("exact", Time::from_secs(9)), Duration::from_secs(6));
        let hole = Hole { begin: Time::from_millis(5000), end: Time::from_millis(5100) };
        let verdict = |late: Late| {
            let of = Verdict::of(vec![late], &promises, &[hole]);
            (of.violations.len(), of.within_bound, of.in_holes)
        };
        assert_eq!(verdict(late(1500, true)), (0, 1, 0), "bounded from 1 s to 3 s");
        assert_eq!(verdict(late(1500, false)), (1, 0, 0), "older than the bound");
        assert_eq!(verdict(late(500, true)), (1, 0, 0), "nothing was promised yet");
        assert_eq!(verdict(late(3500, true)), (1, 0, 0), "exact was promised");
        assert_eq!(verdict(late(5050, false)), (0, 0, 1));
    }

    #[test]
    fn the_longest_wait_is_told_apart_from_what_a_server_did_itself() {
        let mut waits = Waits::default();
        let at = Time::from_millis;
        waits.note(at(0), at(10));
        waits.note(at(100), at(1100));
        waits.note(at(2000), at(2600));
        assert_eq!(waits.count(), 3);
        assert_eq!(waits.longest(&[]), [(at(100), at(1000)), (at(2000), at(600))]);
        let still = Hole { begin: at(900), end: at(1900) };
        assert_eq!(waits.longest(&[still]), [(at(2000), at(600))]);
    }
}
