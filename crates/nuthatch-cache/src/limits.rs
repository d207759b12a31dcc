//! How much may be kept, and how it is split into shards.
//!
//! Each shard has its own share of the limit, so a shard must be much larger than the largest entry: the eviction
//! policy silently drops what does not fit a shard. The split is computed here, in one place, and the largest entry
//! that is accepted follows from it.

/// The most shards there are: enough that workers seldom meet, few enough that a sweep over all is cheap.
pub(crate) const SHARDS_MAX: usize = 64;

/// How many of the largest entries a shard holds at least, where the limit allows it: so that one large result does not
/// push out all that stands beside it.
const LARGEST_PER_SHARD: u64 = 4;

/// This fraction of the limit is never filled: the allocator loses it between entries of different sizes.
const RESERVE: u64 = 32;

/// This fraction of the limit is for what entries have in common.
const KINDS: u64 = 64;

/// What the cache may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Limits {
    /// All that the cache may take, with keys, headers, rounding and index, in bytes. 0 switches it off.
    pub bytes: u64,
    /// What one entry may take, with key, header and rounding, in bytes. Less than half the limit is accepted in any case.
    pub entry_bytes_max: u64,
}

/// The split of the limit that is in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Partition {
    pub(crate) limits: Limits,
    /// A power of two, at most [`SHARDS_MAX`].
    pub(crate) shards: usize,
    /// What all kinds of entries that are shared may take.
    pub(crate) kinds_bytes: u64,
    /// What each shard may take. Invariant: `shards * share_bytes + kinds_bytes <= limits.bytes`.
    pub(crate) share_bytes: u64,
    /// What one entry may weigh. Invariant: at most half of `share_bytes`.
    pub(crate) entry_bytes_max: u64,
}

impl Partition {
    /// As many shards as still hold a few of the largest entries each.
    pub(crate) fn of(limits: Limits) -> Self {
        let kinds_bytes = limits.bytes / KINDS;
        let usable_bytes = limits.bytes - limits.bytes / RESERVE - kinds_bytes;
        let roomy_bytes = limits.entry_bytes_max.max(1).saturating_mul(LARGEST_PER_SHARD);
        let mut shards = SHARDS_MAX;
        while shards > 1 && usable_bytes / (shards as u64) < roomy_bytes {
            shards /= 2;
        }
        let share_bytes = usable_bytes / shards as u64;
        let entry_bytes_max = limits.entry_bytes_max.min(share_bytes / 2);
        Self { limits, shards, kinds_bytes, share_bytes, entry_bytes_max }
    }

    /// What the shard of that number may take: nothing, past the last one in use.
    pub(crate) fn share_of(&self, number: usize) -> u64 {
        if number < self.shards { self.share_bytes } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_split_fits_the_limit_and_its_largest_entry() {
        for bytes in [0, 1, 1000, 64 << 10, 1 << 20, 64 << 20, (64 << 20) + 63, 256 << 20, 1 << 40, u64::MAX]
        {
            for entry_bytes_max in [0, 1, 500, 16 << 10, 1 << 20, 16 << 20, u64::MAX] {
                let split = Partition::of(Limits { bytes, entry_bytes_max });
                assert!(split.shards.is_power_of_two() && split.shards <= SHARDS_MAX);
                assert!(split.share_bytes * split.shards as u64 + split.kinds_bytes <= bytes);
                assert!(split.entry_bytes_max <= split.share_bytes / 2);
                let promised = entry_bytes_max.min((bytes - bytes / RESERVE - bytes / KINDS) / 2);
                assert_eq!(split.entry_bytes_max, promised, "{bytes} {entry_bytes_max}");
            }
        }
    }

    #[test]
    fn large_entries_mean_few_shards() {
        let shards = |bytes, entry_bytes_max| Partition::of(Limits { bytes, entry_bytes_max }).shards;
        assert_eq!(shards(64 << 20, 1 << 20), 8);
        assert_eq!(shards(64 << 20, 900 << 10), 16);
        assert_eq!(shards(64 << 20, 32 << 20), 1);
        assert_eq!(shards(1 << 30, 1 << 20), 64);
        assert_eq!(shards(0, 1 << 20), 1);
    }
}
