//! One slice: sysbench against one contestant for a few seconds.
//!
//! Its first seconds are not counted. Queries are its own rate, line by line; CPU time is the kernel's account of each process between
//! the same lines. Reads from the cache are counted over all of the slice.

use std::io::{BufRead, BufReader, Lines};
use std::process::{ChildStdout, Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde::Serialize;

use super::case::{Case, CaseName, Cell, Ids, Mode, Script};
use super::contestant::Contestant;
use super::plan::Turn;
use super::stage::{Stage, Target};
use crate::address::Address;
use crate::clock::monotonic;
use crate::cpu::{Meter, used_us};
use crate::median::median;
use crate::sysbench::{self, Report, Stopped};

/// Clients while a cache is filled.
const WARM_CONNECTIONS: u32 = 16;

/// Seconds of a slice that are not counted.
const LEAD_IN: u32 = 1;

/// The same where caches begin empty.
const LEAD_IN_OF_WRITERS: u32 = 3;

/// Seconds in which a busy machine has to come to its first answers on all connections.
const START_WAIT: u32 = 15;

/// How often a cache is filled at most.
const WARM_ROUNDS_MAX: usize = 8;

/// It is full when its hit ratio no longer rises by this.
const WARM_GAIN_MIN: f64 = 0.01;

/// What a slice found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Slice {
    pub(super) case: CaseName,
    pub(super) x: u32,
    pub(super) contestant: Contestant,
    pub(super) round: usize,
    pub(super) queries_per_second: f64,
    pub(super) p95_ms: f64,
    /// CPU time a query.
    pub(super) cost: Cost,
    /// Of the reads, the share that the cache answered.
    pub(super) hit_ratio: Option<f64>,
    /// CPU time of others, as a share of one core.
    pub(super) foreign_share: f64,
}

/// CPU microseconds a query.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(super) struct Cost {
    pub(super) load_us: f64,
    pub(super) proxy_us: f64,
    pub(super) server_us: f64,
}

impl Cost {
    /// Of all but the load.
    pub(super) fn served_us(self) -> f64 {
        self.proxy_us + self.server_us
    }
}

/// Fills what a contestant caches, until that answers no more than it did before.
pub(super) fn warm(case: &Case, stage: &Stage<'_>, contestant: Contestant) -> Result<()> {
    let target = stage.target(contestant)?;
    let mut last = 0.0;
    for _ in 0..WARM_ROUNDS_MAX {
        let before = stage.reads(contestant)?;
        let mut command = command(case, WARM_CONNECTIONS, &target.address, case.warm_seconds);
        let status = stage.placement().spawn_load(command.stdout(Stdio::null()))?.wait()?;
        ensure!(status.success(), "sysbench fails ({status})");
        let after = stage.reads(contestant)?;
        let hit_ratio = after.zip(before).and_then(|(after, before)| after.hit_ratio_since(before));
        let is_full = hit_ratio.is_none_or(|hit_ratio| hit_ratio - last < WARM_GAIN_MIN);
        if is_full {
            break;
        }
        last = hit_ratio.unwrap_or_default();
    }
    Ok(())
}

/// Takes a slice.
pub(super) fn measure(case: &Case, cell: Cell, turn: Turn, stage: &Stage<'_>, seconds: u32) -> Result<Slice> {
    let target = stage.target(turn.contestant)?;
    stage.forget(turn.contestant)?;
    let lead_in = if case.script == Script::ReadWrite { LEAD_IN_OF_WRITERS } else { LEAD_IN };
    let before = stage.reads(turn.contestant)?;
    let mut command = command(case, cell.connections, &target.address, lead_in + seconds + spare(case));
    let mut sysbench = Stopped(stage.placement().spawn_load(&mut command)?);
    let output = BufReader::new(sysbench.0.stdout.take().context("no pipe")?);
    let mut reports = Reports { lines: output.lines(), may_fail: case.script == Script::ReadWrite };
    reports.lead_in(lead_in)?;
    let readings = Readings::of(sysbench.0.id(), &target)?;
    let participants = [stage.pids()?, vec![sysbench.0.id()]].concat();
    let meter = Meter { measured: sysbench.0.id(), participants };
    let opened = meter.open()?;
    let start = monotonic();
    let (mut queries, mut last, mut p95s) = (0.0, start, Vec::new());
    for _ in 0..seconds {
        let report = reports.next()?;
        let now = monotonic();
        queries += report.queries_per_second * (now - last).as_secs_f64();
        p95s.push(report.p95_ms);
        last = now;
    }
    let cost = Readings::of(sysbench.0.id(), &target)?.since(&readings, queries);
    let foreign_us = meter.close(&opened)?.foreign_us;
    reports.finish(&mut sysbench)?;
    let after = stage.reads(turn.contestant)?;
    let took = (last - start).as_secs_f64();
    ensure!(queries > 0.0, "sysbench gets no answers");
    Ok(Slice {
        case: case.name,
        x: cell.x,
        contestant: turn.contestant,
        round: turn.round,
        queries_per_second: queries / took,
        p95_ms: median(p95s),
        cost,
        hit_ratio: after.zip(before).and_then(|(after, before)| after.hit_ratio_since(before)),
        foreign_share: foreign_us / (took * 1e6),
    })
}

/// CPU time of each part since its start.
struct Readings {
    load_us: f64,
    proxy_us: f64,
    server_us: f64,
}

impl Readings {
    fn of(load: crate::cpu::Pid, target: &Target) -> Result<Self> {
        let proxy_us = target.proxy.map_or(Ok(0.0), used_us)?;
        let mut server_us = 0.0;
        for &server in &target.servers {
            server_us += used_us(server)?;
        }
        Ok(Self { load_us: used_us(load)?, proxy_us, server_us })
    }

    fn since(&self, before: &Self, queries: f64) -> Cost {
        Cost {
            load_us: (self.load_us - before.load_us) / queries,
            proxy_us: (self.proxy_us - before.proxy_us) / queries,
            server_us: (self.server_us - before.server_us) / queries,
        }
    }
}

/// Seconds that sysbench is given beyond, which nobody waits for where it is cut off.
fn spare(case: &Case) -> u32 {
    if case.script == Script::ReadWrite { 1 } else { START_WAIT }
}

/// What sysbench prints, report by report.
struct Reports {
    lines: Lines<BufReader<ChildStdout>>,
    /// Deadlocks are part of the load; sysbench begins such a transaction again.
    may_fail: bool,
}

impl Reports {
    /// Passes over so many seconds, and those in which there are no answers yet.
    fn lead_in(&mut self, seconds: u32) -> Result<()> {
        for second in 1.. {
            if self.next()?.queries_per_second > 0.0 && second >= seconds {
                break;
            }
        }
        Ok(())
    }

    fn next(&mut self) -> Result<Report> {
        let mut said = String::new();
        for line in &mut self.lines {
            let line = line?;
            if let Some(report) = Report::parse(&line) {
                if !self.may_fail {
                    report.require_no_errors()?;
                }
                return Ok(report);
            }
            if line.contains("FATAL") {
                said = line;
            }
        }
        anyhow::bail!("sysbench ended early: {said}")
    }

    /// Transactions that write are ended, or the next slice would find their locks; others are cut off.
    fn finish(self, sysbench: &mut Stopped) -> Result<()> {
        if self.may_fail {
            for line in self.lines {
                line?;
            }
            sysbench.0.wait()?;
        }
        Ok(())
    }
}

fn command(case: &Case, connections: u32, address: &Address, seconds: u32) -> Command {
    let mut command = Command::new("sysbench");
    command.args(match case.script {
        Script::PointSelect => &["oltp_point_select"][..],
        Script::ReadOnly => &["oltp_read_only"],
        Script::ReadWrite => &["oltp_read_write"],
        Script::Ranges => &[
            "oltp_read_only",
            "--skip-trx=on",
            "--point-selects=0",
            "--sum-ranges=0",
            "--order-ranges=0",
            "--distinct-ranges=0",
        ],
    });
    command.arg(match case.mode {
        Mode::Text => "--db-ps-mode=disable",
        Mode::Prepared => "--db-ps-mode=auto",
    });
    match case.ids {
        Ids::Uniform => command.arg("--rand-type=uniform"),
        Ids::Hot { percent } => command
            .args(["--rand-type=special", "--rand-spec-res=75"])
            .arg(format!("--rand-spec-pct={percent}")),
    };
    command.arg(format!("--tables={}", case.tables)).arg(format!("--table-size={}", case.rows));
    command.arg(format!("--threads={connections}")).arg(format!("--time={seconds}"));
    // A row that two clients delete and insert in turn can be a duplicate.
    command.args(["--report-interval=1", "--mysql-ignore-errors=1213,1020,1205,1062"]);
    sysbench::point_at(&mut command, address);
    command.arg("run").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}
