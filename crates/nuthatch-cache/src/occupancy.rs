//! How full the allocator's slabs are with small entries, by size.
//!
//! An allocator keeps small blocks of about one size in slabs of some pages each, and gives a slab back when it is empty. When many entries of a
//! size have left, the few that stayed hold their slabs: a kilobyte in use can keep twenty. Those few are copied then, all of a shard before the
//! first of them is freed: the copies fill what is free in the oldest slabs, and the others are given back. (One after the other would be of no
//! use: each copy would get the block that the one before has left.)

use crate::weight::{SMALL_BYTES_MAX, allocated_bytes};

/// How many sizes are small.
const CLASSES: usize = class_of(SMALL_BYTES_MAX) + 1;
/// Copied when less than one in so many is left.
const LEFT: u32 = 2;
/// Worth a pass over a shard is this fraction of its share.
const SPARED: u64 = 32;

/// See the module's doc. Of one shard.
pub(crate) struct Occupancy {
    classes: Box<[Class; CLASSES]>,
    spared_bytes_min: u64,
    sparse: Option<usize>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Class {
    live: u32,
    /// The most there were since they were copied last.
    peak: u32,
}

impl Occupancy {
    /// Of a shard without entries.
    pub(crate) fn new(share_bytes: u64) -> Self {
        Self {
            classes: Box::new([Class::default(); CLASSES]),
            spared_bytes_min: share_bytes / SPARED,
            sparse: None,
        }
    }

    /// An entry that takes so many bytes has come.
    #[inline]
    pub(crate) fn came(&mut self, bytes: u64) {
        if let Some(class) = self.classes.get_mut(class_of(bytes)) {
            class.live += 1;
            class.peak = class.peak.max(class.live);
        }
    }

    /// An entry that took so many bytes has gone.
    #[inline]
    pub(crate) fn went(&mut self, bytes: u64) {
        let number = class_of(bytes);
        let Some(class) = self.classes.get_mut(number) else { return };
        class.live = class.live.saturating_sub(1);
        let spared_bytes = u64::from(class.peak - class.live) * bytes;
        if class.live < class.peak / LEFT && spared_bytes >= self.spared_bytes_min {
            self.sparse = Some(number);
        }
    }

    /// The size whose entries are to be copied now, if there is one. They are taken to be so from then on.
    #[inline]
    pub(crate) fn take_sparse(&mut self) -> Option<usize> {
        let number = self.sparse.take()?;
        self.classes[number].peak = self.classes[number].live;
        Some(number)
    }
}

/// The number of the size that an entry of so many bytes has; past those that are small for all others.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "what is small fits")]
pub(crate) const fn class_of(bytes: u64) -> usize {
    /// Sizes up to this are multiples of a sixteenth of it; behind it there are four in each doubling.
    const EVEN_BYTES_MAX: u64 = 128;
    let bytes = allocated_bytes(bytes);
    if bytes > SMALL_BYTES_MAX {
        return usize::MAX;
    }
    if bytes <= EVEN_BYTES_MAX {
        return (bytes / 16) as usize;
    }
    let doubling = bytes.ilog2() - u64::is_power_of_two(bytes) as u32;
    let step = (bytes - (1 << doubling)) / ((1 << doubling) / 4);
    (8 + 4 * (doubling - EVEN_BYTES_MAX.ilog2()) as u64 + step) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_size_has_a_number_of_its_own_in_order() {
        let mut last = (0, 0);
        for bytes in 1..=SMALL_BYTES_MAX {
            let (size, class) = (allocated_bytes(bytes), class_of(bytes));
            assert_eq!(size == last.0, class == last.1, "{bytes}");
            assert!(class == last.1 || class == last.1 + 1, "{bytes}");
            last = (size, class);
        }
        assert_eq!(last.1 + 1, CLASSES);
        assert_eq!(class_of(SMALL_BYTES_MAX + 1), usize::MAX);
    }

    #[test]
    fn size_is_sparse_when_most_of_many_have_gone_and_once() {
        let mut occupancy = Occupancy::new(32 << 10);
        for _ in 0..100 {
            occupancy.came(100);
        }
        for gone in 1..=51 {
            occupancy.went(100);
            assert_eq!(occupancy.take_sparse(), (gone == 51).then_some(class_of(112)), "{gone}");
        }
        (0..9).for_each(|_| occupancy.went(100));
        assert_eq!(occupancy.take_sparse(), None, "half of what was left has to go");
        (0..90).for_each(|_| occupancy.went(100));
        assert!(occupancy.take_sparse().is_some());
        occupancy.went(1 << 20);
        assert_eq!(occupancy.take_sparse(), None);
    }

    #[test]
    fn few_bytes_are_not_worth_a_pass() {
        let mut occupancy = Occupancy::new(1 << 20);
        (0..100).for_each(|_| occupancy.came(100));
        (0..100).for_each(|_| occupancy.went(100));
        assert_eq!(occupancy.take_sparse(), None);
    }
}
