//! `run`: CPU microseconds a query of a cached hit, a pass-through and the database itself, against the floor.
//!
//! Each repetition gives every contestant one short slice, forward in one repetition and backward in the next, so
//! that what drifts on the host hits all alike; ratios are taken inside a repetition. The server under test has
//! core 1, everything else core 0. Slices in which others took CPU are tried again, and left out if they stay so.

mod contestant;
mod field;
mod plan;
mod quiet;
mod requirement;
mod slice;
mod summary;
mod sysbench;
mod table;
mod target;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use serde::Serialize;

use crate::affinity;
use crate::machine::machine;
use crate::priority::Priority;
use contestant::{Candidate, Contestant, Transport};
use field::Field;
use plan::{Driver, Plan};
use quiet::Patience;
use requirement::Verdict;
use slice::Slice;
use summary::Row;
use target::SliceOptions;

#[derive(Debug, clap::Args)]
pub(crate) struct CompareOptions {
    /// Program under test
    #[arg(long, default_value = "target/release/nuthatch")]
    nuthatch: PathBuf,
    /// What is compared
    #[arg(long, value_delimiter = ',', default_value = "floor,hit,pass,direct")]
    candidates: Vec<Candidate>,
    #[arg(long, value_delimiter = ',', default_value = "tcp,unix")]
    transports: Vec<Transport>,
    #[arg(long, value_delimiter = ',', default_value = "1,8,64,256")]
    connections: Vec<usize>,
    /// Load generators: own is the crate's own (saturates the server), sysbench needs the sysbench command
    #[arg(long, value_delimiter = ',', default_value = "own")]
    drivers: Vec<Driver>,
    /// Slices of each contestant; an even number has as many forward as backward
    #[arg(long, default_value_t = 6)]
    repetitions: usize,
    #[command(flatten)]
    slice: SliceOptions,
    /// Write everything measured to this file, as JSON
    #[arg(long)]
    json: Option<PathBuf>,
    /// Priority of everything that takes part, so that a busy machine disturbs less; below 0 needs root
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    nice: i32,
    /// How long the whole run may wait for others on this machine to be quiet
    #[arg(long, default_value_t = 0, value_name = "SECONDS")]
    patience: u64,
    /// Exit with an error if a requirement is missed
    #[arg(long)]
    gate: bool,
}

/// All that a run found.
#[derive(Debug, Serialize)]
struct Report {
    machine: String,
    database: String,
    rows: Vec<Row>,
    verdicts: Vec<Verdict>,
    slices: Vec<Slice>,
}

/// Measures, prints the table and the verdicts.
pub(crate) fn run(options: &CompareOptions) -> Result<()> {
    affinity::require_both()?;
    let mut priority = Priority::of_this_process(options.nice)?;
    let mut field = Field::start(&options.candidates, &options.nuthatch, options.slice.statement)?;
    priority.include(field.database_pid()?)?;
    let mut patience = Patience::of_seconds(options.patience);
    let mut slices = Vec::new();
    for cell in options.plan().cells() {
        eprintln!("... {} load, {} connections", cell.driver, cell.connections);
        for turn in cell.turns() {
            slices.push(field.measure(&turn, &options.slice, &mut patience)?);
        }
    }
    let rows = summary::rows(&slices);
    let verdicts = requirement::judge(&slices, &rows);
    println!("{}\n", table::markdown(&rows));
    for verdict in &verdicts {
        println!("{verdict}");
    }
    let report = Report { machine: machine(), database: field.database_version(), rows, verdicts, slices };
    options.finish(&report)
}

impl CompareOptions {
    fn plan(&self) -> Plan {
        let contestants = self.candidates.iter().flat_map(|&candidate| {
            self.transports.iter().map(move |&transport| Contestant { candidate, transport })
        });
        Plan {
            contestants: contestants.collect(),
            drivers: self.drivers.clone(),
            connections: self.connections.clone(),
            repetitions: self.repetitions,
        }
    }

    fn finish(&self, report: &Report) -> Result<()> {
        if let Some(path) = &self.json {
            let text = serde_json::to_string_pretty(report)?;
            std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
        }
        let missed = report.verdicts.iter().filter(|verdict| !verdict.is_met()).count();
        if self.gate && missed > 0 {
            bail!("{missed} of {} requirements are missed", report.verdicts.len());
        }
        Ok(())
    }
}
