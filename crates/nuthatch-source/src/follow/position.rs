//! Places in a binlog, and what a server has written and shows.

use std::fmt;

use nuthatch_sql::{GtidPositions, GtidSet};

/// A place in a binlog: a file, by the number that its name ends in, and a byte. Files are numbered in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The file's number.
    pub file: u64,
    /// The byte.
    pub offset: u64,
}

/// From where a binlog is followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// MySQL: behind these, all of which are shown.
    Set(GtidSet),
    /// MariaDB: behind what is written up to there, as the server says it, which may not all be shown yet.
    Position(String, GtidPositions),
}

/// Where a binlog ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// MySQL.
    Place(Place),
    /// MariaDB: the last transaction of each domain.
    Position(GtidPositions),
}

/// What a server shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    /// MySQL: these transactions.
    Set(GtidSet),
    /// MariaDB: all up to there but what XA COMMIT commits.
    UpTo(Place),
}

impl End {
    /// Whether a binlog that ends there has all up to this one.
    #[must_use]
    pub fn is_within(&self, end: &Self) -> bool {
        match (self, end) {
            (Self::Place(here), Self::Place(end)) => here <= end,
            (Self::Position(here), Self::Position(end)) => end.is_up_to(here),
            _ => false,
        }
    }
}

impl Place {
    /// A place in the file of that name: `mysql-bin.000017`.
    #[must_use]
    pub fn of(file: &[u8], offset: u64) -> Option<Self> {
        let dot = file.iter().rposition(|byte| *byte == b'.')?;
        let digits = std::str::from_utf8(file.get(dot + 1..)?).ok()?;
        let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
        let file = is_number.then(|| digits.parse().ok()).flatten()?;
        Some(Self { file, offset })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:06}:{}", self.file, self.offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_ordered_by_the_numbers_of_their_files() {
        let place = |file: &str, offset| Place::of(file.as_bytes(), offset);
        assert_eq!(place("bin.000017", 4), Some(Place { file: 17, offset: 4 }));
        assert_eq!(place("a.b.1000000", 9), Some(Place { file: 1_000_000, offset: 9 }));
        assert!(place("bin.999999", 900) < place("bin.1000000", 4));
        for other in ["bin", "bin.", "bin.1x", "bin.-1", ""] {
            assert_eq!(place(other, 4), None, "{other}");
        }
    }
}
