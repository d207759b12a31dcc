//! What an exact entry depends on, as it stands in front of the entry's key.
//!
//! Eight bytes of the moment, four of each clock; nothing at all in an entry of mode ttl. The entry's bytes begin at a
//! multiple of eight (a length stands before them), so clocks are read in place.

use bytemuck::{cast_slice, cast_slice_mut, pod_read_unaligned};

use crate::clocks::{Clock, Sequence};

const SINCE_BYTES: usize = size_of::<Sequence>();

/// How many bytes so many clocks take, with their moment.
#[inline]
pub(super) const fn bytes_of(clocks: usize) -> usize {
    if clocks == 0 { 0 } else { SINCE_BYTES + clocks * size_of::<Clock>() }
}

/// The moment in `bytes`, which are all of the dependencies; the first moment if there are none.
#[inline]
pub(super) fn since(bytes: &[u8]) -> Sequence {
    bytes.get(..SINCE_BYTES).map_or_else(Sequence::default, pod_read_unaligned)
}

/// The clocks in `bytes`, which are all of the dependencies.
#[inline]
pub(super) fn clocks(bytes: &[u8]) -> &[Clock] {
    bytes.get(SINCE_BYTES..).map_or(&[], cast_slice)
}

/// Writes the dependencies to `to`, which is exactly as long; the clocks wide before narrow.
pub(super) fn write(to: &mut [u8], since: Sequence, clocks: &[Clock]) {
    if clocks.is_empty() {
        return;
    }
    let (moment, rest) = to.split_at_mut(SINCE_BYTES);
    moment.copy_from_slice(bytemuck::bytes_of(&since));
    let stored: &mut [Clock] = cast_slice_mut(rest);
    stored.copy_from_slice(clocks);
    stored.sort_unstable();
}
