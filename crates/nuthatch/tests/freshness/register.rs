//! The data that the checker knows by name: each is written by one owner only, so its versions have an order.

use std::collections::BTreeMap;
use std::fmt;

/// Groups of rows; each has one owner.
pub(crate) const GROUPS: i64 = 26;

/// Rows of a group in each table.
pub(crate) const GROUP_ROWS: i64 = 8;

/// Rows of the side table, of the altered one and of the one without transactions.
pub(crate) const SIDE_ROWS: i64 = 4;

/// Who writes a register: one session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Owner(i64);

impl Owner {
    pub(crate) const COUNT: i64 = GROUPS + 6;
    /// Of the rows whose keys the server gives.
    pub(crate) const ARRIVALS: Self = Self(GROUPS);
    /// Of the table whose column is made anew.
    pub(crate) const ALTERED: Self = Self(GROUPS + 1);
    /// Of the view's text.
    pub(crate) const GLANCE: Self = Self(GROUPS + 2);
    /// Of the table that is truncated.
    pub(crate) const SIDE: Self = Self(GROUPS + 3);
    /// Of the table without transactions.
    pub(crate) const LEGACY: Self = Self(GROUPS + 4);
    /// Of a table's comment.
    pub(crate) const TOLD: Self = Self(GROUPS + 5);

    /// The owner of a group, 0 to [`GROUPS`] - 1.
    pub(crate) fn of_group(group: i64) -> Self {
        assert!((0..GROUPS).contains(&group), "{group} is no group");
        Self(group)
    }

    /// Its group, if it owns one.
    pub(crate) fn group(self) -> Option<i64> {
        (self.0 < GROUPS).then_some(self.0)
    }

    /// Its place among all.
    pub(crate) fn index(self) -> usize {
        usize::try_from(self.0).expect("none is negative")
    }
}

/// What a register holds: a number, or nothing where no row is.
pub(crate) type Content = Option<i64>;

/// One datum with a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Register {
    /// `item.version` of this id.
    Item(i64),
    /// `SUM(item.version)` of this group.
    ItemSum(i64),
    /// `COUNT(*)` of `item` in this group.
    ItemCount(i64),
    /// `pair.version` of this id.
    Pair(i64),
    /// `badge.version` of this id.
    Badge(i64),
    /// `badge.version` of the row with this code.
    Code(i64),
    /// `arrival.version` of this id.
    Arrival(i64),
    /// `altered.edition`, of every row.
    Altered,
    /// `glance.edition`, of every row.
    Glance,
    /// `side.version` of this id.
    Side(i64),
    /// `legacy.version` of this id.
    Legacy(i64),
    /// What `information_schema` tells of the table `told`.
    Told,
    /// 1 while `item` has a further column. Nobody reads it but who does not know whether it was made.
    Spare,
}

impl Register {
    pub(crate) fn owner(self) -> Owner {
        match self {
            Self::Item(id) | Self::Pair(id) | Self::Badge(id) | Self::Code(id) => {
                Owner::of_group((id - 1) / GROUP_ROWS)
            }
            Self::ItemSum(group) | Self::ItemCount(group) => Owner::of_group(group),
            Self::Arrival(_) => Owner::ARRIVALS,
            Self::Altered | Self::Spare => Owner::ALTERED,
            Self::Glance => Owner::GLANCE,
            Self::Side(_) => Owner::SIDE,
            Self::Legacy(_) => Owner::LEGACY,
            Self::Told => Owner::TOLD,
        }
    }

    /// Whether no transaction has it, as it is part of a definition or of a table without them: it is of now in each, and no snapshot holds it
    /// still.
    pub(crate) const fn is_of_now(self) -> bool {
        matches!(self, Self::Altered | Self::Glance | Self::Legacy(_) | Self::Told | Self::Spare)
    }
}

/// The ids of a group's rows, in each table; codes are the same numbers.
pub(crate) fn ids_of(group: i64) -> std::ops::RangeInclusive<i64> {
    group * GROUP_ROWS + 1..=(group + 1) * GROUP_ROWS
}

/// What one read says of one register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sight {
    pub(crate) register: Register,
    pub(crate) content: Content,
}

impl fmt::Display for Sight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} = {:?}", self.register, self.content)
    }
}

/// Registers with what they hold; those that are not in it hold nothing.
pub(crate) type Contents = BTreeMap<Register, Content>;

/// What the register holds by them.
pub(crate) fn held(contents: &Contents, register: Register) -> Content {
    contents.get(&register).copied().flatten()
}

/// What differs from `before` in `after`.
pub(crate) fn changes(before: &Contents, after: &Contents) -> Vec<Sight> {
    let gone = before.keys().filter(|register| !after.contains_key(register));
    gone.chain(after.keys())
        .map(|&register| Sight { register, content: held(after, register) })
        .filter(|sight| held(before, sight.register) != sight.content)
        .collect()
}
