//! The reads: their texts, and what an answer says of registers.

use crate::connection::{Reply, Statement};
use crate::random::Random;
use crate::register::{Content, GROUP_ROWS, GROUPS, Register, SIDE_ROWS, Sight, ids_of};

/// Of a hundred reads of groups, those of the group that is being written.
const AIMED_PERCENT: usize = 12;

/// A kind of read, with a digest of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A row by its primary key.
    Point,
    /// Rows by a list of keys.
    List,
    /// Rows between two keys, of up to two owners.
    Range,
    /// Two tables; one side may be absent.
    Join,
    Sum,
    Count,
    /// Rows and the text of the view that they are read through.
    View,
    /// A row by its primary key, which a write of another key may hit.
    Badge,
    /// A row by its other unique key.
    Unique,
    /// A row whose key the server has not given yet, or just now.
    Absent,
    /// The rows around the newest.
    Tail,
    /// A column that DDL makes anew.
    Altered,
    /// A table that is truncated.
    Side,
    /// Rows of a table without transactions.
    Legacy,
    /// What `information_schema` tells of a table.
    Told,
}

impl Kind {
    pub(crate) const ALL: [Self; 15] = [
        Self::Point,
        Self::List,
        Self::Range,
        Self::Join,
        Self::Sum,
        Self::Count,
        Self::View,
        Self::Badge,
        Self::Unique,
        Self::Absent,
        Self::Tail,
        Self::Altered,
        Self::Side,
        Self::Legacy,
        Self::Told,
    ];

    /// Those about the rows of a group.
    pub(crate) const OF_GROUPS: [Self; 9] = [
        Self::Point,
        Self::List,
        Self::Range,
        Self::Join,
        Self::Sum,
        Self::Count,
        Self::View,
        Self::Badge,
        Self::Unique,
    ];

    /// Whether no transaction holds anything of what it shows.
    pub(crate) const fn is_of_now(self) -> bool {
        matches!(self, Self::Legacy)
    }

    pub(crate) const fn sql(self) -> &'static str {
        match self {
            Self::Point => "SELECT id, version FROM item WHERE id = ?",
            Self::List => "SELECT id, version FROM item WHERE id IN (?, ?, ?, ?)",
            Self::Range => "SELECT id, version FROM item WHERE id BETWEEN ? AND ?",
            Self::Join => {
                "SELECT pair.id, pair.version, item.version FROM pair LEFT JOIN item ON item.id = pair.id \
                 WHERE pair.grp = ?"
            }
            Self::Sum => "SELECT SUM(version) FROM item WHERE grp = ?",
            Self::Count => "SELECT COUNT(*) FROM item WHERE grp = ?",
            Self::View => "SELECT id, version, edition FROM glance WHERE grp = ?",
            Self::Badge => "SELECT id, version FROM badge WHERE id = ?",
            Self::Unique => "SELECT code, version FROM badge WHERE code = ?",
            Self::Absent => "SELECT id, version FROM arrival WHERE id = ?",
            Self::Tail => "SELECT id, version FROM arrival WHERE id BETWEEN ? AND ?",
            Self::Altered => "SELECT edition FROM altered WHERE id = ?",
            Self::Side => "SELECT id, version FROM side WHERE id BETWEEN ? AND ?",
            Self::Legacy => "SELECT id, version FROM legacy WHERE id IN (?, ?)",
            Self::Told => {
                "SELECT CAST(table_comment AS SIGNED) FROM information_schema.tables \
                 WHERE table_schema = DATABASE() AND table_name = 'told' AND ? > 0"
            }
        }
    }

    /// Of a hundred reads.
    const fn weight(self) -> usize {
        match self {
            Self::Point => 36,
            Self::List | Self::Range => 7,
            Self::Join | Self::Sum | Self::Badge => 6,
            Self::View | Self::Absent => 5,
            Self::Count | Self::Unique | Self::Tail | Self::Legacy => 4,
            Self::Altered | Self::Side | Self::Told => 2,
        }
    }
}

/// Where something is being written: that is where mistakes would show.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Aim {
    /// The group whose owner began to write last.
    pub(crate) group: i64,
    /// About the key that the server gives next.
    pub(crate) next_arrival: i64,
}

/// A read that can be asked.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    pub(crate) kind: Kind,
    pub(crate) statement: Statement,
}

impl Question {
    /// Any.
    pub(crate) fn draw(random: &mut Random, aim: Aim) -> Self {
        let mut left = random.below(Kind::ALL.iter().map(|kind| kind.weight()).sum());
        let kind = Kind::ALL.into_iter().find(|kind| {
            let is_it = left < kind.weight();
            left = left.saturating_sub(kind.weight());
            is_it
        });
        match kind.expect("the weights' sum is the limit") {
            kind @ (Kind::Absent | Kind::Tail) => Self::about_arrivals(kind, aim.next_arrival, random),
            kind @ (Kind::Altered | Kind::Side | Kind::Legacy | Kind::Told) => {
                Self::about_definitions(kind, random)
            }
            kind if random.below(100) < AIMED_PERCENT => Self::of_group(kind, aim.group, random),
            kind => Self::of_group(kind, popular_group(random), random),
        }
    }

    /// About the rows of a group; a range may reach into the next group.
    pub(crate) fn of_group(kind: Kind, group: i64, random: &mut Random) -> Self {
        let first = *ids_of(group).start();
        match kind {
            Kind::Point | Kind::Badge | Kind::Unique => Self::new(kind, [first + number(random, GROUP_ROWS)]),
            Kind::List => {
                let (start, step) = (number(random, 2), 1 + number(random, 2));
                Self::new(kind, [0, 1, 2, 3].map(|place| first + (start + step * place) % GROUP_ROWS))
            }
            Kind::Range => {
                let start = first + 4 * number(random, 2);
                let end = start + 3 + 4 * number(random, 2);
                Self::new(kind, [start, end.min(GROUPS * GROUP_ROWS)])
            }
            _ => Self::new(kind, [group]),
        }
    }

    /// About rows near the server's next key.
    pub(crate) fn about_arrivals(kind: Kind, next_arrival: i64, random: &mut Random) -> Self {
        match kind {
            Kind::Absent => Self::new(kind, [next_arrival + number(random, 5) - 2]),
            _ => Self::new(kind, [next_arrival - 8, next_arrival + 8]),
        }
    }

    /// About what DDL writes, or a table without transactions.
    pub(crate) fn about_definitions(kind: Kind, random: &mut Random) -> Self {
        match kind {
            Kind::Altered => Self::new(kind, [1 + number(random, SIDE_ROWS)]),
            Kind::Side => Self::new(kind, [1, SIDE_ROWS]),
            Kind::Legacy => {
                let id = 1 + number(random, SIDE_ROWS);
                Self::new(kind, [id, 1 + id % SIDE_ROWS])
            }
            Kind::Told => Self::new(kind, [1]),
            _ => Self::of_group(kind, number(random, GROUPS), random),
        }
    }

    fn new<const N: usize>(kind: Kind, arguments: [i64; N]) -> Self {
        Self { kind, statement: Statement::new(kind.sql(), arguments) }
    }

    /// What the answer says of each register that was asked for. `None` if it answers another question.
    pub(crate) fn sights(&self, reply: &Reply) -> Option<Vec<Sight>> {
        let arguments = &self.statement.arguments;
        let listed = || arguments.iter().copied();
        let between = || arguments[0]..=arguments[1];
        match self.kind {
            Kind::Point | Kind::List => keyed(reply, listed(), 1, Register::Item),
            Kind::Range => keyed(reply, between(), 1, Register::Item),
            Kind::Badge => keyed(reply, listed(), 1, Register::Badge),
            Kind::Unique => keyed(reply, listed(), 1, Register::Code),
            Kind::Absent => keyed(reply, listed(), 1, Register::Arrival),
            Kind::Tail => keyed(reply, between(), 1, Register::Arrival),
            Kind::Side => keyed(reply, between(), 1, Register::Side),
            Kind::Legacy => keyed(reply, listed(), 1, Register::Legacy),
            // While MariaDB alters a table, it may tell of none.
            Kind::Told if reply.rows.is_empty() => Some(Vec::new()),
            Kind::Told => single(reply, Register::Told),
            Kind::Sum => single(reply, Register::ItemSum(arguments[0])),
            Kind::Count => single(reply, Register::ItemCount(arguments[0])),
            Kind::Altered => single(reply, Register::Altered),
            Kind::Join => {
                let mut sights = keyed(reply, ids_of(arguments[0]), 1, Register::Pair)?;
                sights.extend(keyed(reply, ids_of(arguments[0]), 2, Register::Item)?);
                Some(sights)
            }
            Kind::View => {
                let mut sights = keyed(reply, ids_of(arguments[0]), 1, Register::Item)?;
                let mut editions: Vec<Content> = reply.rows.iter().map(|row| row[2]).collect();
                editions.dedup();
                sights.extend(editions.iter().map(|&content| Sight { register: Register::Glance, content }));
                Some(sights)
            }
        }
    }
}

/// One sight for each key; rows begin with their key.
fn keyed(
    reply: &Reply,
    keys: impl Iterator<Item = i64>,
    column: usize,
    register: impl Fn(i64) -> Register,
) -> Option<Vec<Sight>> {
    let row = |key| reply.rows.iter().find(|row| row[0] == Some(key));
    let mut found = 0;
    let sights = keys
        .map(|key| {
            let row = row(key);
            found += usize::from(row.is_some());
            Sight { register: register(key), content: row.and_then(|row| row[column]) }
        })
        .collect();
    (found == reply.rows.len()).then_some(sights)
}

fn single(reply: &Reply, register: Register) -> Option<Vec<Sight>> {
    match reply.rows.as_slice() {
        [row] => Some(vec![Sight { register, content: row[0] }]),
        _ => None,
    }
}

/// Some are asked for much more often than others, as in life: the first by three reads in ten.
fn popular_group(random: &mut Random) -> i64 {
    let limit = 1 + number(random, GROUPS);
    let limit = 1 + number(random, limit);
    number(random, limit)
}

fn number(random: &mut Random, limit: i64) -> i64 {
    let limit = usize::try_from(limit).expect("a limit");
    i64::try_from(random.below(limit)).expect("below the limit")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows<const N: usize>(rows: [&[i64]; N]) -> Reply {
        let of_row = |row: &[i64]| row.iter().map(|&value| Some(value)).collect();
        Reply { insert_id: 0, rows: rows.map(of_row).to_vec() }
    }

    #[test]
    fn rows_that_do_not_come_are_seen_as_absent() {
        let question = Question::new(Kind::List, [1, 2, 3, 4]);
        let sights = question.sights(&rows([&[2, 20], &[4, 40]])).expect("it answers the question");
        let contents: Vec<_> = sights.iter().map(|sight| sight.content).collect();
        assert_eq!(contents, [None, Some(20), None, Some(40)]);
    }

    #[test]
    fn rows_that_nobody_asked_for_answer_another_question() {
        let question = Question::new(Kind::Range, [1, 4]);
        assert_eq!(question.sights(&rows([&[2, 20], &[5, 50]])), None);
        assert_eq!(question.sights(&rows([&[2, 20], &[2, 20]])), None, "nor does one row twice");
        assert_eq!(Question::new(Kind::Sum, [1]).sights(&rows([])), None);
    }

    #[test]
    fn every_kind_is_drawn() {
        let mut random = Random::new(1);
        let aim = Aim { group: 3, next_arrival: 10 };
        let mut drawn: Vec<Kind> = (0..2000).map(|_| Question::draw(&mut random, aim).kind).collect();
        drawn.sort_unstable();
        drawn.dedup();
        assert_eq!(drawn, Kind::ALL);
    }
}
