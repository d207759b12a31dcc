//! What an entry costs in memory.
//!
//! An allocation costs what the allocator takes for it, not what was asked. The rounding here is jemalloc's: steps of 16
//! bytes up to 128, then four steps for each doubling; from 16 KiB on only touched pages count. Other allocators round
//! less or alike. `tests/memory.rs` holds the sum against the process's own figure.
//!
//! The index is not weighed entry by entry: a shard charges what its index really holds (see `shard`).

const QUANTUM_BYTES: u64 = 16;
const STEPS_PER_DOUBLING: u64 = 4;
/// Up to this an allocation shares its pages with others.
pub(crate) const SMALL_BYTES_MAX: u64 = 14 << 10;
const PAGE_BYTES: u64 = 4 << 10;

/// What the allocator takes for an allocation of `requested` bytes.
pub(crate) const fn allocated_bytes(requested: u64) -> u64 {
    if requested > SMALL_BYTES_MAX {
        return (requested + PAGE_BYTES).next_multiple_of(PAGE_BYTES);
    }
    if requested <= STEPS_PER_DOUBLING * QUANTUM_BYTES {
        return if requested == 0 { QUANTUM_BYTES } else { requested.next_multiple_of(QUANTUM_BYTES) };
    }
    let doubling_bytes = requested.next_power_of_two() / 2;
    requested.next_multiple_of(doubling_bytes / STEPS_PER_DOUBLING)
}

/// The same for a header and the bytes of a slice behind it, shared by owners that are counted.
#[inline]
pub(crate) const fn thin_bytes(header: usize, slice: usize) -> u64 {
    /// The count of owners and the length of the slice.
    const SHARED_BYTES: usize = 2 * size_of::<usize>();
    allocated_bytes((slice as u64).saturating_add((SHARED_BYTES + header) as u64).next_multiple_of(8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocations_round_to_size_classes() {
        let table = [
            (0, 16),
            (1, 16),
            (17, 32),
            (64, 64),
            (65, 80),
            (128, 128),
            (129, 160),
            (320, 320),
            (321, 384),
            (512, 512),
            (8192, 8192),
            (8193, 10_240),
            (14 << 10, 14 << 10),
            ((14 << 10) + 1, 20 << 10),
            (1 << 20, (1 << 20) + 4096),
        ];
        for (requested, taken) in table {
            assert_eq!(allocated_bytes(requested), taken, "{requested}");
        }
    }

    #[test]
    fn no_allocation_costs_less_than_asked() {
        for requested in 0..100_000 {
            let (here, next) = (allocated_bytes(requested), allocated_bytes(requested + 1));
            assert!(here >= requested && next >= here, "{requested}");
        }
    }
}
