//! In which order a cell's slices are taken.

use super::case::{Case, Cell};
use super::contestant::Contestant;

/// How often.
#[derive(Debug, Clone, Copy)]
pub(super) struct Repeats {
    /// Of every contestant.
    pub(super) rounds: usize,
    /// Of the cache off and on, where a case asks for pairs.
    pub(super) pairs: usize,
}

/// One slice to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) contestant: Contestant,
    pub(super) round: usize,
}

/// Each contestant once in each round, every second one backward; what is over of the pairs comes last.
pub(super) fn turns(case: &Case, cell: Cell, who: &[Contestant], repeats: Repeats) -> Vec<Turn> {
    let all = case.contestants.iter().copied().filter(|contestant| who.contains(contestant));
    let all: Vec<_> = all.collect();
    let pair: Vec<_> =
        all.iter().copied().filter(|one| matches!(one, Contestant::Off | Contestant::On)).collect();
    let rounds = match case.pairs_at {
        Some(connections) if connections == cell.connections => repeats.pairs.max(repeats.rounds),
        _ => repeats.rounds,
    };
    (0..rounds)
        .flat_map(|round| {
            let mut contestants = if round < repeats.rounds { all.clone() } else { pair.clone() };
            if round % 2 == 1 {
                contestants.reverse();
            }
            contestants.into_iter().map(move |contestant| Turn { contestant, round })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::case::CaseName;
    use super::super::cases;
    use super::*;

    #[test]
    fn contestants_alternate_and_pairs_come_where_they_are_asked_for() {
        let case = cases::ALL.iter().find(|case| case.name == CaseName::Hits10Even).unwrap();
        let who = [Contestant::Direct, Contestant::Off, Contestant::On];
        let order = |connections| {
            let cell = Cell { x: connections, connections };
            let turns = turns(case, cell, &who, Repeats { rounds: 2, pairs: 4 });
            turns.iter().map(|turn| turn.contestant).collect::<Vec<_>>()
        };
        let (direct, off, on) = (Contestant::Direct, Contestant::Off, Contestant::On);
        assert_eq!(order(1), [direct, off, on, on, off, direct]);
        assert_eq!(order(16), [direct, off, on, on, off, direct, off, on, on, off]);
    }
}
