//! What the project promises of the numbers, and whether a run kept it.

use std::fmt;

use serde::Serialize;

use super::contestant::{Candidate, Contestant, Transport};
use super::plan::Driver;
use super::slice::Slice;
use super::summary::{self, Row};

/// A hit over TCP costs at most this many times the floor over TCP.
const HIT_TCP_RATIO_MAX: f64 = 1.10;

/// User time of a hit over TCP.
const HIT_TCP_USER_US_MAX: f64 = 0.8;

/// A hit over the Unix socket costs at most this part of the floor over TCP.
const HIT_UNIX_RATIO_MAX: f64 = 0.65;

/// A pass-through costs the proxy at most this part of what direct costs the server.
const PASS_RATIO_MAX: f64 = 0.88;

/// Connections from which hits are judged; one connection measures the wake-up of an idle core.
const HIT_CONNECTIONS: [usize; 3] = [8, 64, 256];

/// Connections at which a pass-through is judged.
const PASS_CONNECTIONS: [usize; 2] = [8, 64];

/// Pairs below which a verdict is provisional.
const PAIRS_MIN: usize = 5;

/// One requirement under one load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Verdict {
    requirement: &'static str,
    driver: Driver,
    connections: usize,
    value: f64,
    limit: f64,
    /// Clean pairs or slices that it rests on.
    pairs: usize,
}

const HIT_TCP: Contestant = Contestant { candidate: Candidate::Hit, transport: Transport::Tcp };
const HIT_UNIX: Contestant = Contestant { candidate: Candidate::Hit, transport: Transport::Unix };
const PASS_TCP: Contestant = Contestant { candidate: Candidate::Pass, transport: Transport::Tcp };
const DIRECT_TCP: Contestant = Contestant { candidate: Candidate::Direct, transport: Transport::Tcp };

/// A requirement on a ratio: name, numerator, denominator, connections, limit.
type RatioRule = (&'static str, Contestant, Contestant, &'static [usize], f64);

const RATIO_RULES: [RatioRule; 3] = [
    ("hit TCP / floor TCP", HIT_TCP, Contestant::FLOOR, &HIT_CONNECTIONS, HIT_TCP_RATIO_MAX),
    ("hit Unix / floor TCP", HIT_UNIX, Contestant::FLOOR, &HIT_CONNECTIONS, HIT_UNIX_RATIO_MAX),
    ("pass TCP / direct TCP", PASS_TCP, DIRECT_TCP, &PASS_CONNECTIONS, PASS_RATIO_MAX),
];

/// A verdict on everything that the run measured and the project promises.
pub(super) fn judge(slices: &[Slice], rows: &[Row]) -> Vec<Verdict> {
    let mut loads: Vec<_> = rows.iter().map(|row| (row.driver, row.connections)).collect();
    loads.dedup();
    let mut verdicts = Vec::new();
    for &(driver, connections) in &loads {
        for (requirement, above, below, at, limit) in RATIO_RULES {
            let ratio = summary::ratio(slices, (driver, connections), above, below);
            if let Some(ratio) = ratio.filter(|_| at.contains(&connections)) {
                let (value, pairs) = (ratio.median, ratio.pairs);
                verdicts.push(Verdict { requirement, driver, connections, value, limit, pairs });
            }
        }
    }
    verdicts.extend(rows.iter().filter_map(user_time));
    verdicts
}

fn user_time(row: &Row) -> Option<Verdict> {
    let is_judged = row.contestant == HIT_TCP && HIT_CONNECTIONS.contains(&row.connections);
    is_judged.then_some(Verdict {
        requirement: "hit TCP user us",
        driver: row.driver,
        connections: row.connections,
        value: row.user_us,
        limit: HIT_TCP_USER_US_MAX,
        pairs: row.clean,
    })
}

impl Verdict {
    /// True if the value is within the limit.
    pub(super) fn is_met(&self) -> bool {
        self.value <= self.limit
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { requirement, driver, connections, value, limit, pairs } = self;
        let word = if self.is_met() { "met   " } else { "MISSED" };
        write!(f, "{word} {requirement} at {connections} connections ({driver}): {value:.3}, limit {limit}")?;
        if *pairs < PAIRS_MIN {
            write!(f, " (provisional: {pairs} clean pairs)")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::summary::tests::slice;
    use super::*;

    fn verdicts(hit_us: f64, pass_us: f64) -> Vec<String> {
        let slices: Vec<_> = (0..5)
            .flat_map(|repetition| {
                [
                    slice(Contestant::FLOOR, repetition, 4.0),
                    slice(HIT_TCP, repetition, hit_us),
                    slice(HIT_UNIX, repetition, hit_us / 2.0),
                    slice(PASS_TCP, repetition, pass_us),
                    slice(DIRECT_TCP, repetition, 20.0),
                ]
            })
            .collect();
        judge(&slices, &summary::rows(&slices)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn requirements_are_met_below_the_limit_and_missed_above() {
        assert_eq!(
            verdicts(4.36, 17.4),
            [
                "met    hit TCP / floor TCP at 64 connections (own): 1.090, limit 1.1",
                "met    hit Unix / floor TCP at 64 connections (own): 0.545, limit 0.65",
                "met    pass TCP / direct TCP at 64 connections (own): 0.870, limit 0.88",
                "met    hit TCP user us at 64 connections (own): 0.100, limit 0.8",
            ]
        );
        let missed = verdicts(5.4, 18.0).iter().filter(|line| line.starts_with("MISSED")).count();
        assert_eq!(missed, 3);
    }

    #[test]
    fn a_verdict_on_few_pairs_is_provisional() {
        let slices = [slice(Contestant::FLOOR, 0, 4.0), slice(HIT_TCP, 0, 4.0)];
        let verdicts = judge(&slices, &summary::rows(&slices));
        assert!(verdicts[0].to_string().ends_with("(provisional: 1 clean pairs)"), "{}", verdicts[0]);
    }
}
