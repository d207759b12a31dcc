//! Rounds of pairs on tables that are made anew, until enough is done. A round repeats by its seed.

use std::time::Duration;

use crate::author::{Author, Pair};
use crate::deadline::Stopwatch;
use crate::random::Random;
use crate::report::{Outcome, Report};

const PAIRS_PER_ROUND: u32 = 100;

/// Differences after which a run ends.
const DIFFERENCES_MAX: usize = 12;

/// What sessions of a round have for their SQL mode.
const MODES: [&str; 12] = [
    "",
    "",
    "STRICT_TRANS_TABLES",
    "STRICT_TRANS_TABLES",
    "NO_AUTO_VALUE_ON_ZERO",
    "PIPES_AS_CONCAT",
    "HIGH_NOT_PRECEDENCE",
    "NO_BACKSLASH_ESCAPES",
    "ANSI_QUOTES",
    "IGNORE_SPACE",
    "ANSI",
    "NO_UNSIGNED_SUBTRACTION",
];

/// Where pairs are tried.
pub(crate) trait Trial {
    /// Who writes pairs for it.
    fn author(&self, random: Random) -> Author;

    /// All tables are made anew, and sessions have this SQL mode.
    fn begin(&mut self, sql_mode: &str);

    fn attempt(&mut self, pair: &Pair) -> Outcome;
}

/// When a run is over.
#[derive(Debug, Clone, Copy)]
pub(crate) enum End {
    After(Duration),
    Pairs(u64),
    /// At the first difference, or after that time.
    Difference(Duration),
}

/// Rounds of seeds from `first` on.
#[expect(clippy::print_stdout, reason = "a long run shows how far it is")]
pub(crate) fn run(trial: &mut impl Trial, first: u64, end: End) -> Report {
    let watch = Stopwatch::start();
    let mut report = Report::default();
    let is_over = |report: &Report| {
        report.differences.len() >= DIFFERENCES_MAX
            || match end {
                End::After(time) => watch.elapsed() >= time,
                End::Pairs(wanted) => report.pairs() >= wanted,
                End::Difference(time) => !report.differences.is_empty() || watch.elapsed() >= time,
            }
    };
    for seed in first.. {
        let mut random = Random::new(seed);
        let mode = *random.pick(&MODES);
        trial.begin(mode);
        let mut author = trial.author(random);
        for _ in 0..PAIRS_PER_ROUND {
            let pair = author.pair();
            let outcome = trial.attempt(&pair);
            author.saw_given(outcome.given);
            if let Some(difference) = report.add(seed, &pair, outcome) {
                println!("{difference}");
            }
        }
        if seed % 50 == 0 {
            println!("seed {seed}: {} pairs, {} differences", report.pairs(), report.differences.len());
        }
        if is_over(&report) {
            break;
        }
    }
    report.took = watch.elapsed();
    report
}
