//! How hashes are joined.

/// Both halves of the 128-bit product, folded: each bit of the result depends on all bits of both factors.
#[inline]
pub(crate) fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    #[expect(clippy::cast_possible_truncation, reason = "the two halves are taken apart on purpose")]
    let (low, high) = (product as u64, (product >> 64) as u64);
    low ^ high
}
