//! The atomics of the clocks: the machine's, and in this crate's unit tests those of a scheduler that tries
//! interleavings. Counters that order nothing use the machine's in either case.

#[cfg(not(test))]
pub(crate) use std::sync::atomic::AtomicU64;

#[cfg(test)]
pub(crate) use shuttle::sync::atomic::AtomicU64;

/// So many zeros. They take memory as they are written: the kernel gives zeroed pages on first touch.
#[cfg(not(test))]
pub(crate) fn zeros(count: usize) -> Box<[AtomicU64]> {
    bytemuck::zeroed_slice_box(count)
}

/// So many zeros, written one by one: the scheduler's atomics are more than a word.
#[cfg(test)]
pub(crate) fn zeros(count: usize) -> Box<[AtomicU64]> {
    (0..count).map(|_| AtomicU64::new(0)).collect()
}
