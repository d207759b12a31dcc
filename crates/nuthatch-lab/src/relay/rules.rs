//! What a relay holds back, and where it cuts: pure decisions about bytes from one end to another.
//!
//! Bytes that are held back are not lost. A network that drops packets does not lose them either: the sender's
//! kernel sends them again, and what was under way when it is whole again still arrives, late.

use serde::{Deserialize, Serialize};

use crate::role::Role;

/// A way that bytes take, as one server sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// To the server.
    In,
    /// From the server.
    Out,
    /// Either.
    Both,
}

/// Whom a server is parted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Peers {
    /// Everybody.
    All,
    /// One other server of the lab.
    One(Role),
    /// Who is no server of the lab: clients, proxies.
    Outside,
}

/// One end of a connection; `None` is outside of the lab.
pub(crate) type End = Option<Role>;

/// Bytes between a server and others that do not arrive for now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hold {
    pub(crate) node: Role,
    pub(crate) peers: Peers,
    pub(crate) direction: Direction,
}

/// A connection of this server's that is to be reset once so many more bytes have passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cut {
    pub(crate) node: Role,
    pub(crate) direction: Direction,
    pub(crate) bytes: u64,
}

/// All that is in force in one lab.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    holds: Vec<Hold>,
    /// With its number, so that a connection knows from when on it counts.
    cut: Option<(u64, Cut)>,
    cuts_made: u64,
}

/// What one connection has passed on, and what it had when its count for a cut began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) to_server: u64,
    pub(crate) from_server: u64,
    /// One end has closed: what the other still says is no part of a conversation, and spends no cut.
    pub(crate) is_ending: bool,
    counted_for: u64,
    base: u64,
}

/// How much of a read may be passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passage {
    Whole,
    /// So many bytes, and then the connection is reset.
    Cut(usize),
}

impl Direction {
    fn covers(self, way: Self) -> bool {
        self == Self::Both || self == way
    }
}

impl Peers {
    fn covers(self, end: End) -> bool {
        match self {
            Self::All => true,
            Self::One(role) => end == Some(role),
            Self::Outside => end.is_none(),
        }
    }
}

impl Hold {
    fn covers(&self, from: End, to: End) -> bool {
        let comes_in = to == Some(self.node) && self.peers.covers(from);
        let goes_out = from == Some(self.node) && self.peers.covers(to);
        (comes_in && self.direction.covers(Direction::In))
            || (goes_out && self.direction.covers(Direction::Out))
    }
}

impl Rules {
    pub(crate) fn hold(&mut self, hold: Hold) {
        self.holds.push(hold);
    }

    pub(crate) fn heal(&mut self) {
        self.holds.clear();
    }

    /// Takes the place of the cut before, if that has not been made.
    pub(crate) fn arm(&mut self, cut: Cut) {
        self.cuts_made += 1;
        self.cut = Some((self.cuts_made, cut));
    }

    pub(crate) fn is_armed(&self) -> bool {
        self.cut.is_some()
    }

    pub(crate) fn hold_nothing_back(&self) -> bool {
        self.holds.is_empty()
    }

    pub(crate) fn holds_back(&self, from: End, to: End) -> bool {
        self.holds.iter().any(|hold| hold.covers(from, to))
    }

    /// How many of `bytes` pass on a connection of `node`, which are counted in `tally`; a cut that is reached
    /// is spent.
    pub(crate) fn pass(&mut self, node: Role, way: Direction, bytes: usize, tally: &mut Tally) -> Passage {
        let passage = self.passage(node, way, bytes, tally);
        let passed = match passage {
            Passage::Whole => bytes,
            Passage::Cut(bytes) => bytes,
        };
        tally.add(way, passed);
        passage
    }

    fn passage(&mut self, node: Role, way: Direction, bytes: usize, tally: &mut Tally) -> Passage {
        let due = self.cut.filter(|(_, cut)| cut.node == node && !tally.is_ending);
        let Some((number, cut)) = due else { return Passage::Whole };
        if tally.counted_for != number {
            (tally.counted_for, tally.base) = (number, tally.of(cut.direction));
        }
        let left = cut.bytes.saturating_sub(tally.of(cut.direction) - tally.base);
        let left = usize::try_from(left).unwrap_or(usize::MAX);
        if !cut.direction.covers(way) || bytes < left {
            return Passage::Whole;
        }
        self.cut = None;
        Passage::Cut(left)
    }
}

impl Tally {
    fn of(&self, direction: Direction) -> u64 {
        match direction {
            Direction::In => self.to_server,
            Direction::Out => self.from_server,
            Direction::Both => self.to_server + self.from_server,
        }
    }

    fn add(&mut self, way: Direction, bytes: usize) {
        let bytes = bytes as u64;
        if way == Direction::In { self.to_server += bytes } else { self.from_server += bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODE: Role = Role::Primary;
    const OTHER: Role = Role::Replica(1);

    fn holding(peers: Peers, direction: Direction) -> Rules {
        let mut rules = Rules::default();
        rules.hold(Hold { node: NODE, peers, direction });
        rules
    }

    #[test]
    fn only_what_is_named_is_held_back() {
        // Who it is parted from, which way; then: from a client, to it, from the other server, to it.
        let cases = [
            (Peers::All, Direction::Both, [true, true, true, true]),
            (Peers::All, Direction::In, [true, false, true, false]),
            (Peers::All, Direction::Out, [false, true, false, true]),
            (Peers::One(OTHER), Direction::Both, [false, false, true, true]),
            (Peers::Outside, Direction::In, [true, false, false, false]),
        ];
        for (peers, direction, expected) in cases {
            let mut rules = holding(peers, direction);
            let ways = [
                (None, Some(NODE)),
                (Some(NODE), None),
                (Some(OTHER), Some(NODE)),
                (Some(NODE), Some(OTHER)),
            ];
            assert_eq!(
                ways.map(|(from, to)| rules.holds_back(from, to)),
                expected,
                "{peers:?} {direction:?}"
            );
            assert!(!rules.holds_back(Some(OTHER), None));
            rules.heal();
            assert!(!rules.holds_back(None, Some(NODE)));
        }
    }

    #[test]
    fn cut_is_made_once_at_its_byte() {
        let (mut rules, mut tally) = (Rules::default(), Tally::default());
        assert_eq!(rules.pass(NODE, Direction::In, 100, &mut tally), Passage::Whole);
        rules.arm(Cut { node: NODE, direction: Direction::In, bytes: 10 });
        assert_eq!(rules.pass(OTHER, Direction::In, 100, &mut Tally::default()), Passage::Whole);
        assert_eq!(rules.pass(NODE, Direction::Out, 100, &mut tally), Passage::Whole);
        assert_eq!(rules.pass(NODE, Direction::In, 9, &mut tally), Passage::Whole);
        assert_eq!(rules.pass(NODE, Direction::In, 9, &mut tally), Passage::Cut(1));
        assert!(!rules.is_armed());
        assert_eq!(rules.pass(NODE, Direction::In, 100, &mut tally), Passage::Whole);
        assert_eq!((tally.to_server, tally.from_server), (210, 100));
    }

    #[test]
    fn last_words_to_a_client_that_has_closed_spend_no_cut() {
        let (mut rules, mut tally) = (Rules::default(), Tally { is_ending: true, ..Tally::default() });
        rules.arm(Cut { node: NODE, direction: Direction::Out, bytes: 2 });
        assert_eq!(rules.pass(NODE, Direction::Out, 100, &mut tally), Passage::Whole);
        assert!(rules.is_armed());
    }

    #[test]
    fn cut_in_both_directions_counts_both() {
        let (mut rules, mut tally) = (Rules::default(), Tally::default());
        rules.arm(Cut { node: NODE, direction: Direction::Both, bytes: 10 });
        assert_eq!(rules.pass(NODE, Direction::In, 6, &mut tally), Passage::Whole);
        assert_eq!(rules.pass(NODE, Direction::Out, 6, &mut tally), Passage::Cut(4));
        rules.arm(Cut { node: NODE, direction: Direction::Both, bytes: 0 });
        assert_eq!(rules.pass(NODE, Direction::Out, 6, &mut tally), Passage::Cut(0));
    }
}
