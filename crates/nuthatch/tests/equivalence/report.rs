//! What was compared and found, by theme.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::author::Theme;
use crate::round::Outcome;

#[derive(Debug, Default, Clone, Copy)]
struct Count {
    rounds: u64,
    answers: u64,
    errors: u64,
    hits: u64,
    differences: u64,
    /// When the first was found.
    first: Option<Duration>,
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rounds, answers, errors, hits, differences, first } = self;
        let percent = *hits as f64 / (*answers).max(1) as f64 * 100.0;
        write!(f, "{rounds} | {answers} | {hits} | {percent:.1} % | {errors} | {differences} | ")?;
        match first {
            Some(first) => write!(f, "{:.0} s", first.as_secs_f64()),
            None => write!(f, "-"),
        }
    }
}

/// A run's outcome.
#[derive(Debug, Default)]
pub(crate) struct Report {
    total: Count,
    of_themes: BTreeMap<Theme, Count>,
    pub(crate) took: Duration,
}

impl Report {
    pub(crate) fn add(&mut self, theme: Theme, outcome: &Outcome, at: Duration) {
        self.took = at;
        for count in [&mut self.total, self.of_themes.entry(theme).or_default()] {
            count.rounds += 1;
            count.answers += outcome.answers;
            count.errors += outcome.errors;
            count.hits += outcome.hits;
            if outcome.difference.is_some() {
                count.differences += 1;
                count.first.get_or_insert(at);
            }
        }
    }

    pub(crate) fn answers(&self) -> u64 {
        self.total.answers
    }

    pub(crate) fn hits(&self) -> u64 {
        self.total.hits
    }

    pub(crate) fn differences(&self) -> u64 {
        self.total.differences
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| theme | rounds | answers compared | hits among them | | errors compared | differences | first after |"
        )?;
        writeln!(f, "|---|---:|---:|---:|---:|---:|---:|---:|")?;
        for (theme, count) in &self.of_themes {
            writeln!(f, "| {} | {count} |", theme.name())?;
        }
        writeln!(f, "| all | {} |", self.total)?;
        write!(f, "in {:.0} s", self.took.as_secs_f64())
    }
}
