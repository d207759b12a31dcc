//! One slice: one contestant under one load for a second or two.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde::Serialize;

use super::contestant::Contestant;
use super::plan::{Driver, Turn};
use super::quiet::Patience;
use super::sysbench;
use super::target::{SliceOptions, Target};
use crate::affinity::LOAD;
use crate::load::LoadOutcome;

/// What a slice found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Slice {
    pub(super) contestant: Contestant,
    pub(super) driver: Driver,
    pub(super) connections: usize,
    pub(super) repetition: usize,
    /// Counted answers.
    pub(super) queries: u64,
    /// The counted part's length.
    pub(super) seconds: f64,
    /// CPU time of the contestant.
    pub(super) total_us: f64,
    /// The part of it in user space.
    pub(super) user_us: f64,
    /// CPU time of the load generator.
    pub(super) load_us: f64,
    /// CPU time of others, as a share of one core.
    pub(super) foreign_share: f64,
    /// The share is above the limit, after all retries.
    pub(super) is_disturbed: bool,
    /// Answers of all attempts, counted or not (an estimate below the truth: warm-ups are left out).
    pub(super) all_queries: u64,
}

/// Takes a slice, again while it is disturbed; the least disturbed attempt is kept.
pub(super) fn measure_undisturbed(
    turn: &Turn,
    target: &Target,
    options: &SliceOptions,
    patience: &mut Patience,
) -> Result<Slice> {
    let mut measure_in_quiet = || {
        patience.wait_for_quiet(options.foreign_share_max, &target.participants)?;
        measure(turn, target, options)
    };
    let mut best = measure_in_quiet()?;
    let mut all_queries = best.queries;
    for _ in 0..options.retries {
        if !best.is_disturbed {
            break;
        }
        let again = measure_in_quiet()?;
        all_queries += again.queries;
        if again.foreign_share < best.foreign_share {
            best = again;
        }
    }
    Ok(Slice { all_queries, ..best })
}

fn measure(turn: &Turn, target: &Target, options: &SliceOptions) -> Result<Slice> {
    let outcome = match turn.driver {
        Driver::Own => run_own_load(turn, target, options)?,
        Driver::Sysbench => sysbench::run(turn, target, options)?,
    };
    let usage = outcome.usage.context("the load generator did not measure")?;
    let foreign_share = usage.foreign_us / (outcome.seconds * 1e6);
    Ok(Slice {
        contestant: turn.contestant,
        driver: turn.driver,
        connections: turn.connections,
        repetition: turn.repetition,
        queries: outcome.queries,
        seconds: outcome.seconds,
        total_us: usage.total_us,
        user_us: usage.user_us,
        load_us: outcome.load_us,
        foreign_share,
        is_disturbed: foreign_share > options.foreign_share_max,
        all_queries: outcome.queries,
    })
}

/// In a process of its own, so that it has a core for itself.
fn run_own_load(turn: &Turn, target: &Target, options: &SliceOptions) -> Result<LoadOutcome> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("load").arg("--target").arg(target.address.to_string());
    for (name, value) in [
        ("--connections", turn.connections.to_string()),
        ("--seconds", options.seconds.to_string()),
        ("--warmup-seconds", options.warmup_seconds.to_string()),
        ("--ids", options.ids.to_string()),
        ("--statement", options.statement.word()),
        ("--measure", target.pid.to_string()),
        ("--participant", std::process::id().to_string()),
    ] {
        command.args([name, &value]);
    }
    for pid in &target.participants {
        command.args(["--participant", &pid.to_string()]);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = LOAD.spawn(&mut command)?.wait_with_output()?;
    ensure!(output.status.success(), "the load fails: {}", String::from_utf8_lossy(&output.stderr).trim());
    serde_json::from_slice(&output.stdout).context("the load prints no outcome")
}
