//! What was tried and found, as tables: by kind of read, by kind of write.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::author::Pair;

/// What came of one pair.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    /// Whether the read's answer was, or would be, cached; or why not.
    pub(crate) cached: Result<(), String>,
    /// The answer differs after the write.
    pub(crate) has_changed: bool,
    /// The cached answer was, or would be, served still.
    pub(crate) is_kept: bool,
    /// A key that the server gave in the write.
    pub(crate) given: u64,
    /// What was served, or would be, although it is not so any more.
    pub(crate) difference: Option<String>,
}

/// Pairs of one kind.
#[derive(Debug, Default, Clone, Copy)]
struct Count {
    pairs: u64,
    not_cached: u64,
    changed: u64,
    /// Of those that were cached and had not changed: still served.
    kept: u64,
    /// The same: forgotten for nothing.
    lost: u64,
}

impl Count {
    fn add(&mut self, outcome: &Outcome) {
        self.pairs += 1;
        if outcome.cached.is_err() {
            self.not_cached += 1;
        } else if outcome.has_changed {
            self.changed += 1;
        } else if outcome.is_kept {
            self.kept += 1;
        } else {
            self.lost += 1;
        }
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pairs, not_cached, changed, kept, lost } = self;
        let precision = *kept as f64 / (kept + lost).max(1) as f64 * 100.0;
        write!(f, "{pairs} | {not_cached} | {changed} | {kept} | {lost} | {precision:.1} %")
    }
}

/// A run's outcome.
#[derive(Debug, Default)]
pub(crate) struct Report {
    total: Count,
    of_reads: BTreeMap<&'static str, Count>,
    of_writes: BTreeMap<&'static str, Count>,
    reasons: BTreeMap<String, u64>,
    pub(crate) differences: Vec<String>,
    pub(crate) took: Duration,
}

impl Report {
    /// Counts what came of a pair; gives the difference that it showed, if it did.
    pub(crate) fn add(&mut self, seed: u64, pair: &Pair, outcome: Outcome) -> Option<&str> {
        let of_read = self.of_reads.entry(pair.read.kind).or_default();
        let of_write = self.of_writes.entry(pair.write_kind()).or_default();
        for count in [&mut self.total, of_read, of_write] {
            count.add(&outcome);
        }
        if let Err(reason) = outcome.cached {
            *self.reasons.entry(reason).or_default() += 1;
        }
        let difference = outcome.difference?;
        let writes: Vec<String> = pair.writes.iter().map(ToString::to_string).collect();
        let (read, ending) = (&pair.read, pair.ending);
        self.differences.push(format!(
            "DIFFERENCE in round {seed}\n  read {read}\n  write {} ({ending:?})\n  {difference}",
            writes.join("; ")
        ));
        self.differences.last().map(String::as_str)
    }

    pub(crate) fn pairs(&self) -> u64 {
        self.total.pairs
    }

    /// Pairs whose answer was cached and has changed: those that could show a fault.
    pub(crate) fn telling(&self) -> u64 {
        self.total.changed
    }

    /// Answers that outlived a write to other rows.
    pub(crate) fn kept(&self) -> u64 {
        self.total.kept
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (what, counts) in [("read", &self.of_reads), ("write", &self.of_writes)] {
            writeln!(f, "| {what} | pairs | not cached | changed | kept | lost | precision |")?;
            writeln!(f, "|---|---:|---:|---:|---:|---:|---:|")?;
            for (kind, count) in counts {
                writeln!(f, "| {kind} | {count} |")?;
            }
            writeln!(f, "| all | {} |\n", self.total)?;
        }
        for (reason, count) in &self.reasons {
            writeln!(f, "not cached {count} times: {reason}")?;
        }
        let seconds = self.took.as_secs_f64();
        let (pairs, differences) = (self.pairs(), self.differences.len());
        write!(f, "{pairs} pairs in {seconds:.0} s, {differences} differences")
    }
}
