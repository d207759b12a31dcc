//! Sysbench as the load, because most published numbers were taken with it.
//!
//! Its own first second is the warm-up. Each later report line ends a second; queries are its rate times the time
//! between the lines, and CPU accounts are read when the first and the last of them come.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::plan::Turn;
use super::target::{SliceOptions, Target};
use crate::address::Address;
use crate::affinity::LOAD;
use crate::clock::monotonic;
use crate::cpu::Meter;
use crate::database::{PASSWORD, SCHEMA, USER};
use crate::load::LoadOutcome;

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
    command.args(["oltp_point_select", "--db-ps-mode=disable", "--db-driver=mysql", "--tables=1"]);
    command.args(["--rand-type=uniform", "--report-interval=1"]);
    command.arg(format!("--table-size={}", options.ids)).arg(format!("--threads={}", turn.connections));
    command.arg(format!("--time={seconds}")).arg(format!("--mysql-user={USER}"));
    command.arg(format!("--mysql-password={PASSWORD}")).arg(format!("--mysql-db={SCHEMA}"));
    match address {
        Address::Tcp(address) => {
            command.arg(format!("--mysql-host={}", address.ip()));
            command.arg(format!("--mysql-port={}", address.port()));
        }
        Address::Unix(path) => {
            command.arg(format!("--mysql-socket={}", path.display()));
        }
    }
    command.arg("run").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// Killed when it is no longer wanted: its final report is of no use.
struct Stopped(Child);

impl Drop for Stopped {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// One line of `--report-interval`.
#[derive(Debug, PartialEq)]
struct Report {
    queries_per_second: f64,
    errors_per_second: f64,
}

impl Report {
    /// `[ 1s ] thds: 8 tps: 9.00 qps: 9.00 (r/w/o: ...) lat (ms,95%): 0.09 err/s: 0.00 reconn/s: 0.00`
    fn parse(line: &str) -> Option<Self> {
        let number_after = |name: &str| {
            let (_, rest) = line.split_once(name)?;
            rest.split_ascii_whitespace().next()?.parse().ok()
        };
        line.starts_with('[').then_some(())?;
        Some(Self {
            queries_per_second: number_after(" qps: ")?,
            errors_per_second: number_after(" err/s: ")?,
        })
    }

    fn require_clean(&self) -> Result<()> {
        ensure!(self.errors_per_second == 0.0, "sysbench sees {} errors a second", self.errors_per_second);
        ensure!(self.queries_per_second > 0.0, "sysbench gets no answers");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_line_is_read_and_others_are_passed_over() {
        let line = "[ 2s ] thds: 8 tps: 99337.17 qps: 99338.50 (r/w/o: 99337.17/0.00/0.00) \
                    lat (ms,95%): 0.10 err/s: 0.25 reconn/s: 0.00";
        let report = Report::parse(line).unwrap();
        assert_eq!(report, Report { queries_per_second: 99338.5, errors_per_second: 0.25 });
        assert!(report.require_clean().is_err());
        assert_eq!(Report::parse("Threads started!"), None);
    }
}
