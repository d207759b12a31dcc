//! What an entry costs in memory.
//!
//! An allocation costs what the allocator takes for it, not what was asked. The rounding here is glibc's (`malloc.c`):
//! 8 bytes of header, multiples of 16, at least 32; from 128 KiB on, whole pages. Other allocators round to classes
//! that are at most 25 % apart; the release test in `tests/memory.rs` holds the sum against the process's own figure.
//!
//! The index is not weighed entry by entry: a shard charges what its index really holds (see `shard`).

use quick_cache::Weighter;

use crate::entry::Entry;
use crate::shard::Slot;

const CHUNK_HEADER_BYTES: u64 = 8;
const CHUNK_ALIGN_BYTES: u64 = 16;
const CHUNK_BYTES_MIN: u64 = 32;
const MAPPED_FROM_BYTES: u64 = 128 << 10;
const PAGE_BYTES: u64 = 4 << 10;

/// What the allocator takes for an allocation of `requested` bytes.
pub(crate) const fn allocated_bytes(requested: u64) -> u64 {
    if requested >= MAPPED_FROM_BYTES {
        return (requested + 2 * CHUNK_HEADER_BYTES).next_multiple_of(PAGE_BYTES);
    }
    let chunk = (requested + CHUNK_HEADER_BYTES).next_multiple_of(CHUNK_ALIGN_BYTES);
    if chunk < CHUNK_BYTES_MIN { CHUNK_BYTES_MIN } else { chunk }
}

/// Weighs entries for the index; the weight of an entry never changes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct EntryWeight;

impl<T> Weighter<Slot, Entry<T>> for EntryWeight {
    #[inline]
    fn weight(&self, _slot: &Slot, entry: &Entry<T>) -> u64 {
        entry.weight_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocations_round_as_glibc_rounds_them() {
        let table = [
            (0, 32),
            (24, 32),
            (25, 48),
            (40, 48),
            (332, 352),
            (1000, 1008),
            (128 << 10, 132 << 10),
            ((128 << 10) - 16, 128 << 10),
            (1 << 20, (1 << 20) + 4096),
        ];
        for (requested, taken) in table {
            assert_eq!(allocated_bytes(requested), taken, "{requested}");
        }
    }
}
