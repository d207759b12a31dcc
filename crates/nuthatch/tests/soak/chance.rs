//! Which key is asked for, and how large its answer is.

use crate::random::Random;

/// The largest entry that the proxy is told to store.
pub(crate) const ENTRY_BYTES_MAX: usize = 1 << 20;

/// Keys, of which the first is asked for twice as often as the second, three times as often as the third, and so on.
#[derive(Debug)]
pub(crate) struct Zipf {
    /// Of each key, the weight of it and of all before it.
    sums: Vec<usize>,
}

impl Zipf {
    pub(crate) fn new(keys: usize) -> Self {
        let weights = (1..=keys).map(|rank| 1_000_000 / rank);
        let sums = weights.scan(0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        });
        Self { sums: sums.collect() }
    }

    pub(crate) fn draw(&self, random: &mut Random) -> usize {
        let total = *self.sums.last().expect("some keys");
        let place = random.below(total);
        self.sums.partition_point(|sum| *sum <= place)
    }
}

/// Bytes of the answer about a key, in one of few variants: mostly small, some middle, few large, of which half are larger than an entry may be.
pub(crate) fn answer_bytes(key: usize, variant: usize) -> usize {
    let mut of_key = Random::new((key << 8 | variant) as u64);
    match of_key.below(100) {
        0 => 1 + of_key.below(2 * ENTRY_BYTES_MAX),
        1..20 => 1 + of_key.below(64 << 10),
        _ => 1 + of_key.below(600),
    }
}
