//! The `sysbench` command as a load: what it prints while it runs, and that it does not outlive who started it.

use std::process::{Child, Command};

use anyhow::{Result, ensure};

use crate::address::Address;
use crate::database::{PASSWORD, SCHEMA, USER};

/// A running sysbench, killed when it is no longer wanted: its final report is of no use.
pub(crate) struct Stopped(pub(crate) Child);

impl Drop for Stopped {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Where it connects, and as whom.
pub(crate) fn point_at(command: &mut Command, address: &Address) {
    command.arg("--db-driver=mysql").arg(format!("--mysql-user={USER}"));
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
}

/// One line of `--report-interval`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Report {
    pub(crate) queries_per_second: f64,
    /// Of whole transactions, or of single statements where there are none.
    pub(crate) p95_ms: f64,
    errors_per_second: f64,
}

impl Report {
    /// `[ 1s ] thds: 8 tps: 9.00 qps: 9.00 (r/w/o: ...) lat (ms,95%): 0.09 err/s: 0.00 reconn/s: 0.00`
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let number_after = |name: &str| {
            let (_, rest) = line.split_once(name)?;
            rest.split_ascii_whitespace().next()?.parse().ok()
        };
        line.starts_with('[').then_some(())?;
        Some(Self {
            queries_per_second: number_after(" qps: ")?,
            p95_ms: number_after(" lat (ms,95%): ")?,
            errors_per_second: number_after(" err/s: ")?,
        })
    }

    /// An error if it has seen errors, but for those that it is to ignore.
    pub(crate) fn require_no_errors(&self) -> Result<()> {
        ensure!(self.errors_per_second == 0.0, "sysbench sees {} errors a second", self.errors_per_second);
        Ok(())
    }

    /// An error also if it got no answers.
    pub(crate) fn require_clean(&self) -> Result<()> {
        self.require_no_errors()?;
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
        assert_eq!(report, Report { queries_per_second: 99338.5, p95_ms: 0.1, errors_per_second: 0.25 });
        assert!(report.require_clean().is_err());
        assert_eq!(Report::parse("Threads started!"), None);
    }
}
