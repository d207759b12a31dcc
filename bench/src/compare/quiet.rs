//! Waits for moments in which nobody else uses the machine.
//!
//! A shared machine is busy by turns. With patience, slices are taken in its quiet moments; the patience is for the
//! whole run, and when it is used up slices are taken as they come.

use std::time::Duration;

use anyhow::Result;

use crate::clock::monotonic;
use crate::cpu::{Meter, Pid};

/// How long the machine is watched before it counts as quiet.
const WATCH: Duration = Duration::from_millis(300);

/// What is left of a run's patience.
#[derive(Debug)]
pub(super) struct Patience {
    left: Duration,
}

impl Patience {
    /// For a whole run.
    pub(super) fn of_seconds(seconds: u64) -> Self {
        Self { left: Duration::from_secs(seconds) }
    }

    /// Returns when others take no more than this share of a core, or when patience is used up.
    pub(super) fn wait_for_quiet(&mut self, share_max: f64, participants: &[Pid]) -> Result<()> {
        let meter = Meter { measured: std::process::id(), participants: participants.to_vec() };
        while !self.left.is_zero() {
            let (opened, start) = (meter.open()?, monotonic());
            std::thread::sleep(WATCH);
            let foreign_us = meter.close(&opened)?.foreign_us;
            let watched = monotonic() - start;
            if foreign_us <= share_max * watched.as_secs_f64() * 1e6 {
                break;
            }
            self.left = self.left.saturating_sub(watched);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_comes_to_an_end_on_a_machine_that_is_never_quiet() {
        let mut patience = Patience { left: WATCH * 2 };
        // Not even an idle machine has less than nothing.
        patience.wait_for_quiet(-1.0, &[]).unwrap();
        assert!(patience.left.is_zero());
    }

    #[test]
    fn a_quiet_machine_costs_no_patience() {
        let mut patience = Patience::of_seconds(5);
        patience.wait_for_quiet(f64::INFINITY, &[]).unwrap();
        assert_eq!(patience.left, Duration::from_secs(5));
    }
}
