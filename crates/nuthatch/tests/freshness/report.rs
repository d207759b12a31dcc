//! What was done and found, as a table.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use nuthatch_sql::{DigestOptions, digest_text};

use crate::client::Client;
use crate::connection::Failure;
use crate::history::Wrong;
use crate::late::{Late, Waits};
use crate::question::Kind;

/// Violations that are kept in full.
const SHOWN_MAX: usize = 10;

/// What one session counted, or all together.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Answers that were checked.
    pub(crate) reads: BTreeMap<Kind, u64>,
    /// Reads of a writer's own, in its transaction and just behind it; they are in `reads` too.
    pub(crate) own_reads: u64,
    /// Statements that wrote, by kind, and ends of transactions.
    pub(crate) writes: BTreeMap<&'static str, u64>,
    /// Statements that were refused and whose transaction was rolled back, by code.
    pub(crate) refusals: BTreeMap<u16, u64>,
    /// Statements that broke a connection, by what was told.
    pub(crate) broken: BTreeMap<String, u64>,
}

impl Tally {
    pub(crate) fn read(&mut self, kind: Kind) {
        *self.reads.entry(kind).or_default() += 1;
    }

    pub(crate) fn wrote(&mut self, what: &'static str) {
        *self.writes.entry(what).or_default() += 1;
    }

    pub(crate) fn was_refused(&mut self, code: u16) {
        *self.refusals.entry(code).or_default() += 1;
    }

    pub(crate) fn was_broken(&mut self, failure: &Failure) {
        let what = match failure {
            Failure::Refused(refusal) => format!("error {}", refusal.code),
            Failure::Gone(_) => "a closed connection".to_owned(),
        };
        *self.broken.entry(what).or_default() += 1;
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.own_reads += other.own_reads;
        other.reads.iter().for_each(|(kind, count)| *self.reads.entry(*kind).or_default() += count);
        other.writes.iter().for_each(|(what, count)| *self.writes.entry(what).or_default() += count);
        other.broken.iter().for_each(|(what, count)| *self.broken.entry(what.clone()).or_default() += count);
        other.refusals.iter().for_each(|(code, count)| *self.refusals.entry(*code).or_default() += count);
    }
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Violations {
    pub(crate) counts: BTreeMap<Wrong, u64>,
    /// The first of them in full.
    shown: Vec<String>,
}

impl Violations {
    pub(crate) fn add(&mut self, wrong: Wrong, account: impl FnOnce() -> String) {
        *self.counts.entry(wrong).or_default() += 1;
        if self.shown.len() < SHOWN_MAX {
            self.shown.push(account());
        }
    }
}

/// How often the statements of a kind were answered, by whom.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Answered {
    pub(crate) by_cache: u64,
    pub(crate) by_server: u64,
    /// How often the cache was asked.
    pub(crate) look_ups: u64,
}

impl Answered {
    pub(crate) const fn add(&mut self, other: Self) {
        self.by_cache += other.by_cache;
        self.by_server += other.by_server;
        self.look_ups += other.look_ups;
    }

    /// Of 1.
    pub(crate) fn hit_ratio(self) -> f64 {
        self.by_cache as f64 / (self.by_cache + self.by_server).max(1) as f64
    }

    /// The same of those that the cache was asked for: neither of a session that has written, nor behind most BEGINs.
    fn hit_ratio_of_look_ups(self) -> f64 {
        self.by_cache as f64 / self.look_ups.max(1) as f64
    }
}

/// From the proxy's statistics of digests, in which hits stand under hostgroup -1.
pub(crate) fn answered(operator: &mut Client) -> BTreeMap<Kind, Answered> {
    let rows = operator.table("SELECT digest_text, hostgroup, count_star FROM stats_mysql_query_digest");
    let of_cache = operator.table("SELECT digest_text, look_ups FROM stats_query_cache");
    let count = |text: &String| -> u64 { text.parse().expect("a count") };
    let of_kind = |kind: Kind| {
        let mut digest = Vec::new();
        digest_text(kind.sql().as_bytes(), &DigestOptions::default(), &mut digest);
        let is_it = |row: &&Vec<String>| row[0].as_bytes() == digest;
        let mut answered = Answered::default();
        for row in rows.iter().filter(is_it) {
            let by = if row[1] == "-1" { &mut answered.by_cache } else { &mut answered.by_server };
            *by += count(&row[2]);
        }
        answered.look_ups = of_cache.iter().filter(is_it).map(|row| count(&row[1])).sum();
        (kind, answered)
    };
    Kind::ALL.into_iter().map(of_kind).collect()
}

/// A run's outcome.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) tally: Tally,
    pub(crate) took: Duration,
    /// Nothing of a run past the proxy.
    pub(crate) answered: BTreeMap<Kind, Answered>,
    pub(crate) violations: Violations,
    /// Reads that were not explained, and are to be judged.
    pub(crate) lates: Vec<Late>,
    /// How long commits past the proxy took.
    pub(crate) waits: Waits,
}

impl Report {
    pub(crate) fn reads(&self) -> u64 {
        self.tally.reads.values().sum()
    }

    /// Of a hundred reads of that kind, those that the cache answered.
    pub(crate) fn hits_percent(&self, kind: Kind) -> f64 {
        self.answered.get(&kind).copied().unwrap_or_default().hit_ratio() * 100.0
    }

    /// Kinds of which nothing was checked.
    pub(crate) fn unchecked(&self) -> Vec<Kind> {
        Kind::ALL.into_iter().filter(|kind| !self.tally.reads.contains_key(kind)).collect()
    }

    fn write_reads(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| read | checked | answered from the cache | of its look-ups |\n|---|---:|---:|---:|")?;
        for (kind, checked) in &self.tally.reads {
            let name = format!("{kind:?}").to_lowercase();
            let ratios = self.answered.get(kind).map(|answered| {
                let ratios = [answered.hit_ratio(), answered.hit_ratio_of_look_ups()];
                ratios.map(|ratio| format!("{:.1} %", ratio * 100.0))
            });
            writeln!(f, "| {name} | {checked} | {} |", ratios.unwrap_or_default().join(" | "))?;
        }
        Ok(())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_reads(f)?;
        writeln!(f, "\n| write | done |\n|---|---:|")?;
        for (what, count) in &self.tally.writes {
            writeln!(f, "| {what} | {count} |")?;
        }
        for (code, count) in &self.tally.refusals {
            writeln!(f, "| refused with {code} | {count} |")?;
        }
        for (what, count) in &self.tally.broken {
            writeln!(f, "| broken by {what} | {count} |")?;
        }
        let (reads, seconds) = (self.reads(), self.took.as_secs_f64());
        let own = self.tally.own_reads;
        writeln!(
            f,
            "\n{reads} reads checked in {seconds:.1} s, {:.0}/s; {own} of them were writers' own",
            reads as f64 / seconds
        )?;
        for shown in &self.violations.shown {
            writeln!(f, "VIOLATION {shown}")?;
        }
        write!(f, "{} violations", self.violations.counts.values().sum::<u64>())?;
        self.violations.counts.iter().try_for_each(|(wrong, count)| write!(f, "; {wrong:?}: {count}"))
    }
}
