//! In which order slices are taken.

use std::fmt;

use clap::ValueEnum;
use serde::Serialize;

use super::contestant::Contestant;

/// What generates the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(super) enum Driver {
    /// `nuthatch-bench load`, as cheap as the server.
    Own,
    /// `sysbench oltp_point_select --db-ps-mode=disable`, which saturates before the server does.
    Sysbench,
}

impl fmt::Display for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Own => "own",
            Self::Sysbench => "sysbench",
        })
    }
}

/// Everything that a run will measure.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) contestants: Vec<Contestant>,
    pub(super) drivers: Vec<Driver>,
    pub(super) connections: Vec<usize>,
    pub(super) repetitions: usize,
}

/// All slices under one load.
#[derive(Debug)]
pub(super) struct Cell<'a> {
    plan: &'a Plan,
    pub(super) driver: Driver,
    pub(super) connections: usize,
}

/// One slice to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) contestant: Contestant,
    pub(super) driver: Driver,
    pub(super) connections: usize,
    pub(super) repetition: usize,
}

impl Plan {
    /// Load by load.
    pub(super) fn cells(&self) -> impl Iterator<Item = Cell<'_>> {
        self.drivers.iter().flat_map(move |&driver| {
            self.connections.iter().map(move |&connections| Cell { plan: self, driver, connections })
        })
    }
}

impl Cell<'_> {
    /// Each contestant once in each repetition, every second one backward.
    pub(super) fn turns(&self) -> Vec<Turn> {
        let turn = |contestant, repetition| Turn {
            contestant,
            driver: self.driver,
            connections: self.connections,
            repetition,
        };
        let contestants = &self.plan.contestants;
        (0..self.plan.repetitions)
            .flat_map(|repetition| {
                let forward = contestants.iter().map(move |&contestant| turn(contestant, repetition));
                if repetition % 2 == 0 { forward.collect::<Vec<_>>() } else { forward.rev().collect() }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::contestant::{Candidate, Transport};
    use super::*;

    #[test]
    fn every_second_repetition_goes_backward() {
        let hit = Contestant { candidate: Candidate::Hit, transport: Transport::Unix };
        let plan = Plan {
            contestants: vec![Contestant::FLOOR, hit],
            drivers: vec![Driver::Own],
            connections: vec![8, 64],
            repetitions: 3,
        };
        let cells: Vec<_> = plan.cells().collect();
        assert_eq!(cells.iter().map(|cell| cell.connections).collect::<Vec<_>>(), [8, 64]);
        let order: Vec<_> = cells[1].turns().iter().map(|turn| (turn.repetition, turn.contestant)).collect();
        let floor = Contestant::FLOOR;
        assert_eq!(order, [(0, floor), (0, hit), (1, hit), (1, floor), (2, floor), (2, hit)]);
    }
}
