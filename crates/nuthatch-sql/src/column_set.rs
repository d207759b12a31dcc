//! Some columns of a table, by their places.

/// Columns by their places, from 0. Those from the 64th on are told apart from others only, not from one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnSet(u64);

/// The place that stands for all from there on.
const LAST: u16 = 63;

impl ColumnSet {
    /// All of a table.
    pub const ALL: Self = Self(u64::MAX);

    /// None.
    pub const NONE: Self = Self(0);

    /// These and that at `place`.
    #[must_use]
    pub fn with(self, place: usize) -> Self {
        let place = u16::try_from(place).unwrap_or(LAST).min(LAST);
        Self(self.0 | 1 << place)
    }

    /// Whether a column may be in both.
    #[must_use]
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether all of `other` are among these.
    #[must_use]
    pub const fn has_all_of(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// How many there are; of those from the 64th on, one.
    #[must_use]
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// A number that no other set has.
    #[must_use]
    pub(crate) const fn bits(self) -> u64 {
        self.0
    }
}

impl Default for ColumnSet {
    /// All: what is not looked into.
    fn default() -> Self {
        Self::ALL
    }
}

impl FromIterator<usize> for ColumnSet {
    fn from_iter<I: IntoIterator<Item = usize>>(places: I) -> Self {
        places.into_iter().fold(Self::NONE, Self::with)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(places: &[usize]) -> ColumnSet {
        places.iter().copied().collect()
    }

    #[test]
    fn columns_behind_the_last_place_are_one() {
        assert!(set(&[63]).meets(set(&[200])) && !set(&[62]).meets(set(&[63, 70_000])));
        assert!(ColumnSet::ALL.has_all_of(set(&[1, 99])) && ColumnSet::ALL.meets(set(&[99])));
        assert!(!ColumnSet::ALL.meets(ColumnSet::NONE) && set(&[3]).has_all_of(ColumnSet::NONE));
        assert!(set(&[1, 2]).has_all_of(set(&[2])) && !set(&[2]).has_all_of(set(&[1, 2])));
        assert_eq!((set(&[1, 2, 64, 65]).count(), ColumnSet::default()), (3, ColumnSet::ALL));
    }
}
