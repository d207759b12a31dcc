//! Whether what was read again after a write is another answer than before: how well the clocks tell what a write changes.
//!
//! Of the answers that were written over last a hash is kept, in a table of fixed size where later ones take the place of earlier ones. So the
//! figure is a sample: it counts too few, and none that is not so but by a chance of one in 2^32.

use std::sync::atomic::{AtomicU64, Ordering};

/// How many answers are remembered, in eight bytes each.
const CELLS: usize = 4_096;

/// Half of a cell is of the key's hash, half of the answer's; 0 for none.
pub(crate) struct Repeats(Box<[AtomicU64]>);

impl Repeats {
    pub(crate) fn new() -> Self {
        Self((0..CELLS).map(|_| AtomicU64::new(0)).collect())
    }

    /// The answer to the key with that hash, which has this hash itself, has been written over.
    pub(crate) fn note(&self, key: u64, answer: u64) {
        self.cell(key).store(of_both(key, answer), Ordering::Relaxed);
    }

    /// Whether the answer that comes for that key, with the hash that is to be computed, is the one that was written over. It is
    /// forgotten then. Cost: a load, where none was.
    pub(crate) fn take(&self, key: u64, answer: impl FnOnce() -> u64) -> bool {
        let cell = self.cell(key);
        let noted = cell.load(Ordering::Relaxed);
        if noted == 0 || upper(noted) != upper(of_both(key, 0)) {
            return false;
        }
        let is_taken = cell.compare_exchange(noted, 0, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        is_taken && noted == of_both(key, answer())
    }

    #[expect(clippy::cast_possible_truncation, reason = "the low bits of a hash are asked for")]
    fn cell(&self, hash: u64) -> &AtomicU64 {
        &self.0[hash as usize % CELLS]
    }
}

/// The upper half of the key's hash, whose lower half has said which cell, and half of the answer's.
fn of_both(hash: u64, answer: u64) -> u64 {
    upper(hash) | answer >> 32
}

fn upper(hash: u64) -> u64 {
    hash & 0xFFFF_FFFF_0000_0000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answer_repeats_once_in_its_own_place_only() {
        let repeats = Repeats::new();
        let [one, other] = [1 << 40 | 7, 2 << 40 | 7];
        let answer = 0xABCD_EF01_2345_6789;
        assert!(!repeats.take(one, || unreachable!("none was noted")));
        repeats.note(one, answer);
        assert!(!repeats.take(other, || unreachable!("another's cell")));
        assert!(repeats.take(one, || answer) && !repeats.take(one, || answer));
        repeats.note(one, answer);
        assert!(!repeats.take(one, || !answer) && !repeats.take(one, || answer));
    }
}
