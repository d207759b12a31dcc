//! How full the allocator's slabs are with small entries, by size. Slabs are those of all shards.
//!
//! An allocator keeps small blocks of about one size in slabs of some pages each, and gives a slab back when it is empty. When many entries of a
//! size have left, those that stayed hold their slabs: a kilobyte in use can keep twenty. They are [copied](crate::Cache::defragment) then, from the
//! last in memory on, and many before the first of them is freed: the copies fill what is free in the oldest slabs, and the others are given back.
//! (One after the other would be of no use: each copy would get the block that the one before has left.)

use crate::weight::{SMALL_BYTES_MAX, allocated_bytes};

/// How many sizes are small.
const CLASSES: usize = class_of(SMALL_BYTES_MAX) + 1;
/// Of a size nothing is copied that has left less than this part of what all have.
const PARTS: u64 = 16;

/// How many entries of each small size there are: in a shard, or in several.
#[derive(Debug, Clone)]
pub(crate) struct Occupancy(Box<[Class; CLASSES]>);

#[derive(Debug, Clone, Copy, Default)]
struct Class {
    live: u64,
    /// The most there were since they were copied last.
    peak: u64,
    /// What each of them takes.
    bytes: u64,
}

/// Where the copying of entries stands.
#[derive(Debug, Default)]
pub(crate) struct Copying {
    /// Of which sizes; none when all is done.
    pub(crate) sizes: u64,
    /// The shard that comes next.
    pub(crate) shard: usize,
}

impl Class {
    /// What those took that have gone.
    fn spared_bytes(&self) -> u64 {
        self.peak.saturating_sub(self.live) * self.bytes
    }
}

impl Occupancy {
    /// Of a shard without entries.
    pub(crate) fn new() -> Self {
        Self(Box::new([Class::default(); CLASSES]))
    }

    /// An entry that takes so many bytes has come.
    #[inline]
    pub(crate) fn came(&mut self, bytes: u64) {
        if let Some(class) = self.0.get_mut(class_of(bytes)) {
            class.live += 1;
            class.peak = class.peak.max(class.live);
            class.bytes = bytes;
        }
    }

    /// An entry that took so many bytes has gone.
    #[inline]
    pub(crate) fn went(&mut self, bytes: u64) {
        if let Some(class) = self.0.get_mut(class_of(bytes)) {
            class.live = class.live.saturating_sub(1);
        }
    }

    /// All have gone. How many there were stays noted.
    pub(crate) fn all_went(mut self) -> Self {
        self.0.iter_mut().for_each(|class| class.live = 0);
        self
    }

    /// Those of another shard as well.
    pub(crate) fn add(&mut self, other: &Self) {
        for (class, other) in self.0.iter_mut().zip(other.0.iter()) {
            class.live += other.live;
            class.peak += other.peak;
            class.bytes = class.bytes.max(other.bytes);
        }
    }

    /// Of which sizes so many have gone that what they took is worth a pass over all, a bit for each.
    pub(crate) fn sparse(&self, worth_bytes: u64) -> u64 {
        let spared_bytes: u64 = self.0.iter().map(Class::spared_bytes).sum();
        if spared_bytes < worth_bytes {
            return 0;
        }
        let numbered = self.0.iter().enumerate();
        let sparse = numbered.filter(|(_, class)| class.spared_bytes() * PARTS >= spared_bytes);
        sparse.fold(0, |sizes, (number, _)| sizes | 1 << number)
    }

    /// Those of these sizes are copied from now on.
    pub(crate) fn copied(&mut self, sizes: u64) {
        for (number, class) in self.0.iter_mut().enumerate() {
            if sizes >> number & 1 == 1 {
                class.peak = class.live;
            }
        }
    }
}

/// Whether an entry of so many bytes has one of these sizes.
pub(crate) const fn is_among(bytes: u64, sizes: u64) -> bool {
    let number = class_of(bytes);
    number < CLASSES && sizes >> number & 1 == 1
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
        assert!(last.1 + 1 == CLASSES && CLASSES <= 64);
        assert_eq!(class_of(SMALL_BYTES_MAX + 1), usize::MAX);
    }

    #[test]
    fn size_is_sparse_when_enough_have_gone_from_all_shards_together_and_once() {
        let [mut one, mut other] = [Occupancy::new(), Occupancy::new()];
        let sparse = |one: &Occupancy, other: &Occupancy| {
            let mut all = Occupancy::new();
            [one, other].iter().for_each(|shard| all.add(shard));
            all.sparse(6_000)
        };
        for _ in 0..100 {
            one.came(100);
            other.came(100);
        }
        (0..59).for_each(|_| one.went(100));
        assert_eq!(sparse(&one, &other), 0, "the slabs are those of both shards");
        other.went(100);
        let sizes = sparse(&one, &other);
        assert_eq!(sizes, 1 << class_of(100));
        assert!(is_among(110, sizes) && !is_among(113, sizes) && !is_among(1 << 20, sizes));
        [&mut one, &mut other].into_iter().for_each(|shard| shard.copied(sizes));
        (0..59).for_each(|_| other.went(100));
        assert_eq!(sparse(&one, &other), 0, "as many have to go again");
        assert_eq!(sparse(&one.all_went(), &other.all_went()), sizes);
    }

    #[test]
    fn size_of_which_little_has_gone_is_spared_where_much_has_gone_of_another() {
        let mut occupancy = Occupancy::new();
        for bytes in [100, 1000] {
            (0..100).for_each(|_| occupancy.came(bytes));
        }
        (0..50).for_each(|_| occupancy.went(1000));
        (0..30).for_each(|_| occupancy.went(100));
        assert_eq!((occupancy.sparse(53_001), occupancy.sparse(53_000)), (0, 1 << class_of(1000)));
        (0..40).for_each(|_| occupancy.went(100));
        assert_eq!(occupancy.sparse(50_000), 1 << class_of(1000) | 1 << class_of(100));
    }
}
