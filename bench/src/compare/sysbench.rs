//! Sysbench as the load, because most published numbers were taken with it.
//!
//! Its own first second is the warm-up. Each later report line ends a second; queries are its rate times the time
//! between the lines, and CPU accounts are read when the first and the last of them come.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use super::plan::Turn;
use super::target::{SliceOptions, Target};
use crate::address::Address;
use crate::affinity::LOAD;
use crate::clock::monotonic;
use crate::cpu::Meter;
use crate::load::LoadOutcome;
use crate::sysbench::{self, Report, Stopped};

/// Runs `oltp_point_select` with text queries.
pub(super) fn run(turn: &Turn, target: &Target, options: &SliceOptions) -> Result<LoadOutcome> {
    let seconds = options.seconds.ceil();
    let mut command = command(turn, &target.address, options, seconds + 2.0);
    let mut sysbench = Stopped(LOAD.spawn(&mut command).context("cannot start sysbench")?);
    let output = BufReader::new(sysbench.0.stdout.take().context("no pipe")?);
    let mut reports = output.lines().filter_map(|line| line.ok().and_then(|line| Report::parse(&line)));
    reports.next().context("sysbench reports nothing")?.require_clean()?;

    let participants = [&target.participants[..], &[sysbench.0.id()]].concat();
    let meter = Meter { measured: target.pid, participants: participants.clone() };
    let own = Meter { measured: sysbench.0.id(), participants };
    let (opened, own_opened, start) = (meter.open()?, own.open()?, monotonic());
    let (mut queries, mut last) = (0.0, start);
    while (last - start).as_secs_f64() < seconds - 0.5 {
        let report = reports.next().context("sysbench ended early")?;
        report.require_clean()?;
        let now = monotonic();
        queries += report.queries_per_second * (now - last).as_secs_f64();
        last = now;
    }
    let usage = meter.close(&opened)?;
    Ok(LoadOutcome {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of queries")]
        queries: queries.round() as u64,
        seconds: (last - start).as_secs_f64(),
        usage: Some(usage),
        load_us: own.close(&own_opened)?.total_us,
    })
}

fn command(turn: &Turn, address: &Address, options: &SliceOptions, seconds: f64) -> Command {
    let mut command = Command::new("sysbench");
    command.args(["oltp_point_select", "--db-ps-mode=disable", "--tables=1"]);
    command.args(["--rand-type=uniform", "--report-interval=1"]);
    command.arg(format!("--table-size={}", options.ids)).arg(format!("--threads={}", turn.connections));
    command.arg(format!("--time={seconds}"));
    sysbench::point_at(&mut command, address);
    command.arg("run").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}
