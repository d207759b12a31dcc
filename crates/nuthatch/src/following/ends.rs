//! Whether what a MariaDB says of where its snapshots are proves anything.
//!
//! `binlog_snapshot_position` is where the last transaction ends that the engine has committed, but for two cases: a new file begins with
//! its own beginning, though transactions of the one before may still wait; and one that waited while it began writes its end of the *old* file
//! beside the name of the new one (server source, `MYSQL_BIN_LOG::open` and `trx_group_commit_leader`). So a place counts only
//! where a transaction was carried that ends just there, in that file, and it is not where one of the file before did.

use std::collections::VecDeque;

use nuthatch_source::follow::Place;

/// How many ends are remembered: those of what may not be shown yet, and of what the server has told of a moment ago.
const ENDS_MAX: usize = 1 << 16;

/// More transactions than may wait at a time.
const BEFORE_MAX: usize = 4096;

/// The ends of the transactions that were carried of the file at hand, ascending.
#[derive(Debug, Default)]
pub(super) struct Ends {
    file: u64,
    ends: VecDeque<u64>,
    /// The last ones of the file before, until something is known to be shown of this one.
    before: VecDeque<u64>,
}

impl Ends {
    /// A transaction that ends there was carried.
    pub(super) fn note(&mut self, end: Place) {
        if end.file != self.file {
            self.before = std::mem::take(&mut self.ends);
            self.before.drain(..self.before.len().saturating_sub(BEFORE_MAX));
            self.file = end.file;
        }
        if self.ends.len() == ENDS_MAX {
            self.ends.pop_front();
        }
        self.ends.push_back(end.offset);
    }

    /// Whether all is shown that ends there or before.
    pub(super) fn vouch_for(&mut self, shown: Place) -> bool {
        let vouches = shown.file == self.file
            && self.before.binary_search(&shown.offset).is_err()
            && self.ends.binary_search(&shown.offset).is_ok();
        if vouches {
            // Nothing of the file before waits any more.
            self.before.clear();
        }
        vouches
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(file: u64, offset: u64) -> Place {
        Place { file, offset }
    }

    #[test]
    fn only_the_end_of_a_transaction_of_the_file_at_hand_proves_anything() {
        let mut ends = Ends::default();
        [place(1, 400), place(1, 900)].into_iter().for_each(|end| ends.note(end));
        assert!(ends.vouch_for(place(1, 400)) && ends.vouch_for(place(1, 900)));
        assert!(!ends.vouch_for(place(1, 600)) && !ends.vouch_for(place(1, 1200)), "it is not carried yet");
        assert!(!ends.vouch_for(place(2, 350)), "a file begins while the last one of the file before waits");
        [place(2, 500), place(2, 900), place(2, 1300)].into_iter().for_each(|end| ends.note(end));
        assert!(!ends.vouch_for(place(2, 900)), "it may be that of the file before");
        assert!(ends.vouch_for(place(2, 500)) && ends.vouch_for(place(2, 1300)));
        assert!(ends.vouch_for(place(2, 900)), "nothing of the file before waits any more");
        assert!(!ends.vouch_for(place(1, 400)));
    }
}
