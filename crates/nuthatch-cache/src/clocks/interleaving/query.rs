//! What readers ask of the one table, and what the answers depend on.

use crate::clocks::{BLOCK_KEYS, Clock, Clocks};

use super::rule::Rule;
use super::write::Write;

pub(super) const TABLE: u32 = 0;
/// The hash of the name that both rows hold.
pub(super) const NAME: u64 = 7;

/// Queries on rows 1 and 2, of which the second is not there at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Query {
    /// `WHERE pk = 1`
    Row1,
    /// `WHERE pk = 2`
    Row2,
    /// `WHERE pk BETWEEN 1 AND 2`
    Range,
    /// `SELECT count(*)`
    Count,
    /// `WHERE pk IN (1, 2)`
    Both,
    /// `WHERE name = 'x'`, which both rows have
    Named,
}

impl Query {
    pub(super) const ALL: [Self; 6] =
        [Self::Row1, Self::Row2, Self::Range, Self::Count, Self::Both, Self::Named];

    pub(super) fn statement(self) -> &'static [u8] {
        match self {
            Self::Row1 => b"pk = 1",
            Self::Row2 => b"pk = 2",
            Self::Range => b"pk BETWEEN 1 AND 2",
            Self::Count => b"count(*)",
            Self::Both => b"pk IN (1, 2)",
            Self::Named => b"name = 'x'",
        }
    }

    /// Whether its answer differs before and after the write.
    pub(super) fn shows(self, write: Write) -> bool {
        match write {
            Write::Update1 | Write::Lost | Write::PastUpdate1 | Write::PastUnlearnt1 | Write::Named1 => {
                self != Self::Row2
            }
            Write::InsertKnown
            | Write::InsertServerKey
            | Write::InsertUnlearned
            | Write::InsertAgain
            | Write::PastInsert2
            | Write::Delete2 => self != Self::Row1,
            Write::Broad | Write::PastBroad | Write::Transaction => true,
            Write::RolledBack => false,
        }
    }

    /// The clocks of an answer in which row 2 was found or not. `is_learnt`: all events show what rows hold, but for those that were settled
    /// before it was asked for.
    pub(super) fn dependencies(
        self,
        clocks: &Clocks,
        finds_row2: bool,
        is_learnt: bool,
        left_out: Option<Rule>,
    ) -> Vec<Clock> {
        let broad = clocks.broad(TABLE).expect("one table has clocks");
        let mut dependencies = match self {
            Self::Row1 => vec![broad, clocks.row(TABLE, 1)],
            Self::Row2 => vec![broad, clocks.row(TABLE, 2)],
            Self::Both => vec![broad, clocks.row(TABLE, 1), clocks.row(TABLE, 2)],
            Self::Range => vec![broad, clocks.block(TABLE, 1 / BLOCK_KEYS)],
            Self::Named if is_learnt => {
                let valued = clocks.valued(TABLE).filter(|_| left_out != Some(Rule::DependOnValued));
                [broad].into_iter().chain(valued).chain([clocks.value(TABLE, NAME)]).collect()
            }
            Self::Count | Self::Named => vec![clocks.any(TABLE).expect("one table has clocks")],
        };
        let may_grow = match self {
            Self::Row2 | Self::Both => !finds_row2,
            Self::Range => true,
            Self::Row1 | Self::Count | Self::Named => false,
        };
        if may_grow && left_out != Some(Rule::DependOnAbsent) {
            dependencies.push(clocks.absent(TABLE).expect("one table has clocks"));
        }
        dependencies.push(clocks.everything());
        dependencies
    }
}
