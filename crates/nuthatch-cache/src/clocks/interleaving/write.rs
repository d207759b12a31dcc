//! What writers do to the one table, and which clocks they raise and move.

use crate::clocks::{BLOCK_KEYS, Clock, Clocks};

use super::query::{NAME, TABLE};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Write {
    /// `UPDATE … WHERE pk = 1`
    Update1,
    /// `INSERT` of row 2 with its key.
    InsertKnown,
    /// `INSERT` whose key the server gives; it will be 2, and the acknowledgement says so.
    InsertServerKey,
    /// The same, where nobody says so.
    InsertUnlearned,
    /// `DELETE … WHERE pk = 2`, once it is there.
    Delete2,
    /// `INSERT` whose key the server gives, 2 once more, after its deletion.
    InsertAgain,
    /// `UPDATE` of rows that are not known.
    Broad,
    /// A COMMIT of an update of row 1 and an insert of row 2.
    Transaction,
    /// The COMMIT of an update of row 1 that the server undid.
    RolledBack,
    /// An update of row 1 whose connection breaks before it is acknowledged.
    Lost,
    /// An update of row 1 past the proxy: nothing is known of it but what its event in the binlog shows.
    PastUpdate1,
    /// The same where the columns were not learnt yet when its event was read: it does not show what the row holds.
    PastUnlearnt1,
    /// The same of an insert of row 2.
    PastInsert2,
    /// The same of a statement whose event names no rows.
    PastBroad,
    /// `UPDATE … WHERE name = 'x'`, of row 1 as it turns out: its text does not tell, its event does.
    Named1,
}

impl Write {
    /// What is held while it is in flight.
    pub(super) fn raises(self, clocks: &Clocks) -> Vec<Clock> {
        let any = clocks.any(TABLE).expect("one table has clocks");
        let block = clocks.block(TABLE, 1 / BLOCK_KEYS);
        let row = |key| clocks.row(TABLE, key);
        let valued = clocks.valued(TABLE).expect("one table has clocks");
        let absent = || clocks.absent(TABLE).expect("one table has clocks");
        let broad = || clocks.broad(TABLE).expect("one table has clocks");
        match self {
            Self::Update1 | Self::RolledBack | Self::Lost => vec![any, row(1), block, valued],
            Self::InsertKnown | Self::Delete2 => vec![any, row(2), block, valued],
            Self::Transaction => vec![any, row(1), row(2), block, valued],
            Self::InsertServerKey | Self::InsertAgain | Self::InsertUnlearned => vec![any, absent(), valued],
            Self::Broad | Self::PastBroad | Self::Named1 => vec![any, broad(), valued],
            Self::PastUpdate1 | Self::PastUnlearnt1 | Self::PastInsert2 => self.shows(clocks),
        }
    }

    /// The clocks of what its event shows: rows, and what they hold.
    pub(super) fn shows(self, clocks: &Clocks) -> Vec<Clock> {
        let any = clocks.any(TABLE).expect("one table has clocks");
        let of_row = |key| [any, clocks.row(TABLE, key), clocks.block(TABLE, key / BLOCK_KEYS)];
        let holding = |key| of_row(key).into_iter().chain([clocks.value(TABLE, NAME)]).collect();
        match self {
            Self::Update1 | Self::PastUpdate1 | Self::Named1 => holding(1),
            Self::PastUnlearnt1 => of_row(1).into(),
            Self::PastInsert2 | Self::InsertServerKey => holding(2),
            _ => self.raises(clocks),
        }
    }

    /// What moves in place of what was raised, where the acknowledgement tells the key.
    pub(super) fn learns(self, clocks: &Clocks) -> Option<Vec<Clock>> {
        let moved = || {
            let any = clocks.any(TABLE).expect("one table has clocks");
            let valued = clocks.valued(TABLE).expect("one table has clocks");
            vec![any, clocks.row(TABLE, 2), clocks.block(TABLE, 2 / BLOCK_KEYS), valued]
        };
        matches!(self, Self::InsertServerKey | Self::InsertAgain).then(moved)
    }

    /// Whether it does not go through the proxy.
    pub(super) fn is_past(self) -> bool {
        matches!(self, Self::PastUpdate1 | Self::PastUnlearnt1 | Self::PastInsert2 | Self::PastBroad)
    }

    /// Whether it makes sense only once `other` is visible, or another of that kind.
    pub(super) fn follows(self, other: Self) -> bool {
        match self {
            Self::Delete2 => other.inserts_row2(),
            Self::InsertAgain => other == Self::Delete2,
            _ => false,
        }
    }

    /// Whether row 2 is there after it for the first time.
    pub(super) fn inserts_row2(self) -> bool {
        use Write::{InsertKnown, InsertServerKey, InsertUnlearned, PastInsert2, Transaction};
        matches!(self, InsertKnown | InsertServerKey | InsertUnlearned | PastInsert2 | Transaction)
    }
}
