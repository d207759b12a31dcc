//! What an open transaction has written so far, as clocks that move when it commits.

use std::collections::BTreeSet;

use nuthatch_cache::{Clock, ClockList, Clocks};

/// A transaction that has written more moves all clocks.
const TOUCHED_MAX: usize = 4096;

/// See the module's doc.
#[derive(Debug, Default)]
pub(crate) struct Touched {
    clocks: BTreeSet<Clock>,
    /// By which picture it has read first without being watched: so many changes of definitions had begun.
    read_by: Option<u64>,
}

impl Touched {
    pub(crate) fn is_empty(&self) -> bool {
        self.clocks.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        if !self.clocks.is_empty() {
            self.clocks.clear();
        }
        self.read_by = None;
    }

    /// Adds what another statement has written.
    pub(crate) fn add(&mut self, written: impl IntoIterator<Item = Clock>, clocks: &Clocks) {
        self.clocks.extend(written);
        if self.clocks.len() > TOUCHED_MAX {
            self.clocks = BTreeSet::from([clocks.everything()]);
        }
    }

    /// What it has written.
    pub(crate) fn list(&self) -> ClockList {
        if self.clocks.is_empty() { ClockList::new() } else { self.clocks.iter().copied().collect() }
    }

    /// Takes note of a read that nobody watched, in the open transaction by that picture, or in none.
    pub(crate) fn note_read(&mut self, by: Option<u64>) {
        self.read_by = by.map(|by| self.read_by.unwrap_or(by));
    }

    /// The picture by which it has read first without being watched.
    pub(crate) fn read_by(&self) -> Option<u64> {
        self.read_by
    }
}

#[cfg(test)]
mod tests {
    use nuthatch_cache::ClockOptions;

    use super::*;

    #[test]
    fn what_is_too_much_becomes_everything() {
        let clocks = Clocks::new(ClockOptions::default());
        let mut touched = Touched::default();
        touched.add((0..100_000).map(|key| clocks.row(1, key)), &clocks);
        assert_eq!(*touched.list(), [clocks.everything()]);
        touched.clear();
        assert!(touched.is_empty());
    }
}
