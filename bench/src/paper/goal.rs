//! What is asked of the numbers, and whether a run kept it.

use std::fmt;

use serde::Serialize;

use super::case::CaseName;
use super::contestant::Contestant;
use super::slice::Slice;
use super::summary::{self, Ratio};

/// Pairs below which a verdict is provisional.
const PAIRS_MIN: usize = 5;

/// One ratio in one case.
#[derive(Debug)]
struct Goal {
    case: CaseName,
    figure: Figure,
    above: Contestant,
    below: Contestant,
    limit: Limit,
    /// Up to so many connections.
    x_max: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Figure {
    /// Queries a second.
    Throughput,
    /// CPU time a query of proxy and server together.
    Cpu,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Limit {
    AtLeast(f64),
    AtMost(f64),
}

/// A goal under one load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Verdict {
    pub(super) case: CaseName,
    x: u32,
    figure: Figure,
    above: Contestant,
    below: Contestant,
    limit: Limit,
    ratio: Ratio,
}

const fn goal(case: CaseName, figure: Figure, below: Contestant, limit: Limit, x_max: u32) -> Goal {
    Goal { case, figure, above: Contestant::On, below, limit, x_max }
}

const GOALS: [Goal; 10] = [
    goal(CaseName::Hits100, Figure::Throughput, Contestant::Floor, Limit::AtLeast(0.95), u32::MAX),
    goal(CaseName::Hits100, Figure::Cpu, Contestant::Direct, Limit::AtMost(0.45), u32::MAX),
    goal(CaseName::Hits80, Figure::Throughput, Contestant::Direct, Limit::AtLeast(1.5), u32::MAX),
    goal(CaseName::Hits80, Figure::Throughput, Contestant::Off, Limit::AtLeast(2.0), u32::MAX),
    goal(CaseName::Hits10, Figure::Cpu, Contestant::Off, Limit::AtMost(1.005), u32::MAX),
    goal(CaseName::Hits10, Figure::Throughput, Contestant::Off, Limit::AtLeast(0.995), u32::MAX),
    goal(CaseName::Hits10Even, Figure::Cpu, Contestant::Off, Limit::AtMost(1.005), u32::MAX),
    goal(CaseName::Hits10Even, Figure::Throughput, Contestant::Off, Limit::AtLeast(0.995), u32::MAX),
    goal(CaseName::ReadWrite, Figure::Throughput, Contestant::Off, Limit::AtLeast(1.0), 256),
    goal(CaseName::ReadWritePrepared, Figure::Throughput, Contestant::Off, Limit::AtLeast(1.0), 256),
];

/// A verdict for each goal on each load that was measured.
pub(super) fn judge(slices: &[Slice]) -> Vec<Verdict> {
    GOALS.iter().flat_map(|goal| goal.verdicts(slices)).collect()
}

impl Goal {
    fn verdicts(&self, slices: &[Slice]) -> Vec<Verdict> {
        let mut xs: Vec<_> =
            slices.iter().filter(|slice| slice.case == self.case).map(|slice| slice.x).collect();
        xs.sort_unstable();
        xs.dedup();
        xs.retain(|&x| x <= self.x_max);
        xs.into_iter().filter_map(|x| self.verdict(slices, x)).collect()
    }

    fn verdict(&self, slices: &[Slice], x: u32) -> Option<Verdict> {
        let Self { case, figure, above, below, limit, .. } = *self;
        let value = match figure {
            Figure::Throughput => |slice: &Slice| slice.queries_per_second,
            Figure::Cpu => |slice: &Slice| slice.cost.served_us(),
        };
        let ratio = summary::ratio(slices, (case, x), (above, below), value)?;
        Some(Verdict { case, x, figure, above, below, limit, ratio })
    }
}

impl Verdict {
    /// True if the median is within the limit.
    pub(super) fn is_kept(&self) -> bool {
        match self.limit {
            Limit::AtLeast(limit) => self.ratio.median >= limit,
            Limit::AtMost(limit) => self.ratio.median <= limit,
        }
    }

    /// The ratio's interval has both sides of the limit in it.
    fn is_open(&self) -> bool {
        let (Limit::AtLeast(limit) | Limit::AtMost(limit)) = self.limit;
        self.ratio.lowest < limit && limit < self.ratio.highest
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { x, figure, above, below, limit, ratio, .. } = self;
        let figure = match figure {
            Figure::Throughput => "throughput",
            Figure::Cpu => "CPU a query",
        };
        let limit = match limit {
            Limit::AtLeast(limit) => format!("at least {limit}"),
            Limit::AtMost(limit) => format!("at most {limit}"),
        };
        let Ratio { median, lowest, highest, pairs } = ratio;
        write!(
            f,
            "{figure} {above} / {below} at {x} connections: {median:.3} ({lowest:.3} to {highest:.3}, {pairs} pairs), {limit}"
        )?;
        match (*pairs < PAIRS_MIN, self.is_open()) {
            (true, _) => f.write_str(" (provisional)"),
            (false, true) => f.write_str(" (not told apart from the limit)"),
            (false, false) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::summary::tests::slice;
    use super::*;

    fn verdicts(on: f64, rounds: usize) -> Vec<Verdict> {
        let slices: Vec<_> = (0..rounds)
            .flat_map(|round| {
                [
                    slice(Contestant::Direct, round, 100.0),
                    slice(Contestant::Off, round, 80.0),
                    slice(Contestant::On, round, on + round as f64),
                ]
            })
            .collect();
        judge(&slices)
    }

    #[test]
    fn goals_are_kept_within_the_limit_and_missed_beyond() {
        let kept = |on| verdicts(on, 5).iter().map(Verdict::is_kept).collect::<Vec<_>>();
        assert_eq!(kept(160.0), [true, true]);
        assert_eq!(kept(150.0), [true, false]);
        assert_eq!(kept(100.0), [false, false]);
        // 148 to 152 of 100, the median is 150.
        assert_eq!(
            verdicts(148.0, 5)[0].to_string(),
            "throughput on / direct at 16 connections: 1.500 (1.480 to 1.520, 5 pairs), at least 1.5 \
             (not told apart from the limit)"
        );
        assert!(verdicts(160.0, 2)[0].to_string().ends_with("(provisional)"));
    }

    #[test]
    fn what_costs_more_than_it_may_is_missed() {
        let costly = |case, contestant, proxy_us| {
            let one = slice(contestant, 0, 100.0);
            let cost = super::super::slice::Cost { proxy_us, ..one.cost };
            Slice { case, cost, ..one }
        };
        let slices =
            [costly(CaseName::Hits10, Contestant::Off, 5.0), costly(CaseName::Hits10, Contestant::On, 5.2)];
        let verdicts = judge(&slices);
        assert_eq!(verdicts.iter().map(Verdict::is_kept).collect::<Vec<_>>(), [false, true]);
    }
}
