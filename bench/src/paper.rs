//! `paper`: the published benchmarks of query caches again, off, on, direct and MariaDB's own in turn, beside what was published.
//!
//! Only ratios inside a round are compared: with one another, and with the published ones. The load has one core, proxy and servers
//! the other. `docs/benchmarks.md` has a run with what it means.

mod case;
mod cases;
mod chart;
mod contestant;
mod goal;
mod ground;
mod interrupt;
mod peer;
mod plan;
mod progress;
mod published;
mod slice;
mod stage;
mod summary;
mod table;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Serialize;

use crate::affinity;
use crate::machine::machine;
use crate::priority::Priority;
use crate::proxy::Program;
use case::{Case, CaseName};
use contestant::Contestant;
use goal::Verdict;
use ground::{Ground, Placement};
use interrupt::Interrupt;
use plan::Repeats;
use progress::{Progress, Tint};
use slice::Slice;
use stage::Stage;
use summary::Row;

#[derive(Debug, clap::Args)]
pub(crate) struct PaperOptions {
    /// Program under test
    #[arg(long, default_value = "target/release/nuthatch")]
    nuthatch: PathBuf,
    /// What is measured; all unless said
    #[arg(long, value_delimiter = ',')]
    cases: Vec<CaseName>,
    #[arg(long, value_delimiter = ',', default_value = "1,16,256")]
    connections: Vec<u32>,
    /// Counted part of a slice
    #[arg(long, default_value_t = 2)]
    seconds: u32,
    /// Slices of each contestant; an even number has as many forward as backward
    #[arg(long, default_value_t = 2)]
    rounds: usize,
    /// Slices with the cache off and on where few hits are asked for, at 16 connections
    #[arg(long, default_value_t = 20)]
    pairs: usize,
    /// Program of another proxy with ProxySQL's command line and admin port, which takes part where nothing is written
    #[arg(long)]
    peer: Option<PathBuf>,
    /// Whether the load has a core for itself
    #[arg(long, default_value = "apart")]
    placement: Placement,
    /// Write everything measured to this file, as JSON
    #[arg(long)]
    json: Option<PathBuf>,
    /// Draw each case to CASE.svg in this directory
    #[arg(long, value_name = "DIR")]
    draw: Option<PathBuf>,
    /// Priority of everything that takes part, so that a busy machine disturbs less; below 0 needs root
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    nice: i32,
    /// Exit with an error if a goal is missed
    #[arg(long)]
    gate: bool,
}

/// All that a run found.
#[derive(Debug, Serialize)]
struct Report {
    machine: String,
    database: String,
    is_whole: bool,
    rows: Vec<Row>,
    verdicts: Vec<Verdict>,
    slices: Vec<Slice>,
}

/// Measures, prints the tables and the verdicts, draws.
pub(crate) fn run(options: &PaperOptions) -> Result<()> {
    affinity::require_both()?;
    crate::running::raise_open_files()?;
    let program = Program::at(&options.nuthatch)?;
    let interrupt = Interrupt::listen()?;
    let mut priority = Priority::of_this_process(options.nice)?;
    let (cases, who) = (options.cases(), options.contestants());
    let mut progress = Progress::of(options.slices(&cases, &who));
    let ground = Ground::start(program, options.peer.clone(), &cases, &who, &progress)?;
    for pid in ground.pids()? {
        priority.include(pid)?;
    }
    let mut slices = Vec::new();
    let mut is_whole = true;
    for case in &cases {
        let measured = options.measure(case, &who, &ground, &interrupt, &mut progress, &mut slices);
        // What Ctrl-C reaches besides this process fails; that is no error.
        if interrupt.is_asked() {
            is_whole = false;
            break;
        }
        measured.with_context(|| case.word())?;
    }
    progress.clear();
    let (rows, verdicts) = (summary::rows(&slices), goal::judge(&slices));
    let report =
        Report { machine: machine(), database: ground.database.version(), is_whole, rows, verdicts, slices };
    report.print(&cases);
    options.finish(&report, &cases)
}

impl PaperOptions {
    fn cases(&self) -> Vec<&'static Case> {
        let is_wanted = |case: &&Case| self.cases.is_empty() || self.cases.contains(&case.name);
        cases::ALL.iter().filter(is_wanted).collect()
    }

    fn contestants(&self) -> Vec<Contestant> {
        let mut who = vec![
            Contestant::Direct,
            Contestant::Native,
            Contestant::Off,
            Contestant::On,
            Contestant::FastForward,
            Contestant::Floor,
        ];
        who.extend(self.peer.as_ref().map(|_| Contestant::Peer));
        who
    }

    fn repeats(&self) -> Repeats {
        Repeats { rounds: self.rounds.max(1), pairs: self.pairs }
    }

    fn slices(&self, cases: &[&Case], who: &[Contestant]) -> usize {
        let mut slices = 0;
        for case in cases {
            for cell in case.settings(&self.connections).into_iter().flat_map(|setting| setting.cells) {
                slices += plan::turns(case, cell, who, self.repeats()).len();
            }
        }
        slices
    }

    /// Adds a case's slices, until somebody interrupts.
    fn measure(
        &self,
        case: &Case,
        who: &[Contestant],
        ground: &Ground,
        interrupt: &Interrupt,
        progress: &mut Progress,
        slices: &mut Vec<Slice>,
    ) -> Result<()> {
        for setting in case.settings(&self.connections).iter().filter(|setting| !setting.cells.is_empty()) {
            let stage = Stage::set(ground, case, setting, who, self.placement)?;
            for &contestant in case.contestants.iter().filter(|one| who.contains(one) && one.has_a_cache()) {
                progress.tell(&format!("{}: the cache of {contestant} is filled", case.word()));
                slice::warm(case, &stage, contestant)?;
            }
            for &cell in &setting.cells {
                progress.enter(case, cell);
                for turn in plan::turns(case, cell, who, self.repeats()) {
                    if interrupt.is_asked() {
                        return Ok(());
                    }
                    progress.take(case, cell, turn.contestant);
                    let slice = slice::measure(case, cell, turn, &stage, self.seconds.max(1));
                    slices.push(slice.with_context(|| {
                        format!("{} at {} {}", turn.contestant, cell.x, case.axis.label())
                    })?);
                }
            }
        }
        Ok(())
    }

    fn finish(&self, report: &Report, cases: &[&Case]) -> Result<()> {
        if let Some(path) = &self.json {
            write(path, &serde_json::to_string_pretty(report)?)?;
        }
        if let Some(directory) = &self.draw {
            std::fs::create_dir_all(directory)?;
            for case in cases.iter().filter(|case| report.has(case)) {
                write(&directory.join(format!("{}.svg", case.word())), &chart::svg(case, &report.rows)?)?;
            }
        }
        if !report.is_whole {
            bail!("interrupted: what was measured until then is above");
        }
        let missed = report.verdicts.iter().filter(|verdict| !verdict.is_kept()).count();
        if self.gate && missed > 0 {
            bail!("{missed} of {} goals are missed", report.verdicts.len());
        }
        Ok(())
    }
}

impl Report {
    fn has(&self, case: &Case) -> bool {
        self.rows.iter().any(|row| row.case == case.name)
    }

    fn print(&self, cases: &[&Case]) {
        let tint = Tint::of_stdout();
        println!("{}, {}\n", self.machine, self.database);
        for case in cases.iter().filter(|case| self.has(case)) {
            println!("{}", table::markdown(case, &self.rows, &self.slices));
            if let Some(text) = table::ceilings(case, &self.rows) {
                println!("{text}");
            }
            for verdict in self.verdicts.iter().filter(|verdict| verdict.case == case.name) {
                let word = if verdict.is_kept() { tint.good("kept") } else { tint.bad("MISSED") };
                println!("- {word}: {verdict}");
            }
            println!();
        }
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
