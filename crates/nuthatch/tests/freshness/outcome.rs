//! What came of a run in which all failed: what befell, what was promised meanwhile, what was wrong, how long commits were held up.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::late::{Hole, Promises, Verdict};
use crate::report::Report;

/// Commits that took longest, of which it is told when that was.
const WAITS_TOLD: usize = 4;

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) kinds: BTreeMap<String, u32>,
    pub(crate) report: Report,
    pub(crate) promises: Promises,
    pub(crate) verdict: Verdict,
    /// When the server or its disk stood still.
    pub(crate) of_server: Vec<Hole>,
    /// How often less was promised than before.
    pub(crate) falls: usize,
    pub(crate) faults: Vec<String>,
}

impl Outcome {
    pub(crate) fn violations(&self) -> usize {
        self.report.violations.counts.values().map(|count| usize::try_from(*count).expect("a few")).sum()
    }

    pub(crate) const fn report(&self) -> &Report {
        &self.report
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kinds, report, promises, verdict, of_server, falls, faults } = self;
        writeln!(f, "{report}")?;
        if self.violations() > 0 {
            faults.iter().try_for_each(|fault| writeln!(f, "{fault}"))?;
        }
        writeln!(f, "\n| fault | times |\n|---|---:|")?;
        kinds.iter().try_for_each(|(kind, count)| writeln!(f, "| {kind} | {count} |"))?;
        let hits: u64 = report.answered.values().map(|answered| answered.by_cache).sum();
        let lasted = ["exact", "bounded", "off"].map(|mode| promises.lasted(mode, report.took).as_secs_f64());
        let longest = report.waits.longest(&[]).first().map_or(Duration::ZERO, |(_, took)| *took);
        let apart = report.waits.longest(of_server);
        let apart: Vec<_> =
            apart.iter().take(WAITS_TOLD).map(|(at, took)| format!("{took:.3?} at {at:.3?}")).collect();
        write!(
            f,
            "\n{} faults, {} reads checked, {hits} hits, {} violations; {} reads were within the bound while only that was promised, \
             {} in holes that are documented\npromised: exact for {:.0} s, bounded for {:.0} s, nothing for {:.0} s; {falls} times less\n\
             {} commits past the proxy; the longest took {longest:.3?}; where neither server nor disk stood still: {}",
            faults.len(),
            report.reads(),
            self.violations(),
            verdict.within_bound,
            verdict.in_holes,
            lasted[0],
            lasted[1],
            lasted[2],
            report.waits.count(),
            apart.join(", "),
        )
    }
}
