//! How often those were used that are not here: evicted, written over, or not let in.
//!
//! A word for each: 14 bits of its tag, 12 of when it was used last, 6 of how often. Four share a bucket; there the least used one makes room. Two
//! tags can be taken for one another, by a chance of four in 2^14: then a newcomer counts as known.

use std::ops::Range;

use super::heat::{Heat, Moment, TURN, Uses};

const WAYS: usize = 4;
const TAG_BITS: u32 = 14;
/// Moments of a step of time here.
const MOMENTS: u16 = 16;
/// Steps of uses of a step here.
const USES: u8 = 4;

/// Of a shard.
#[derive(Debug)]
pub(crate) struct Ghosts(Box<[u32]>);

impl Ghosts {
    /// Room for about `count` of them, and none yet.
    pub(crate) fn new(count: usize) -> Self {
        Self(vec![0; count.next_multiple_of(WAYS)].into())
    }

    /// What they take in memory, in bytes, for so many.
    pub(crate) const fn bytes_of(count: usize) -> u64 {
        (count.next_multiple_of(WAYS) * size_of::<u32>()) as u64
    }

    /// What they take in memory, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        Self::bytes_of(self.0.len())
    }

    /// Takes out what is known of that one: how often it was used, this time included.
    pub(crate) fn take(&mut self, tag: u32, now: Moment) -> Option<Uses> {
        let found = self.bucket(tag).iter_mut().find(|ghost| is_of(**ghost, tag))?;
        let ghost = std::mem::take(found);
        Some(uses_of(ghost).and_one(age_of(ghost, now)))
    }

    /// How often one was used that is remembered, this time included.
    pub(crate) fn uses(&self, tag: u32, now: Moment) -> Option<Uses> {
        let ghost = self.0.get(self.places(tag))?.iter().find(|ghost| is_of(**ghost, tag))?;
        Some(uses_of(*ghost).and_one(age_of(*ghost, now)))
    }

    /// Remembers one that leaves, or is not let in.
    pub(crate) fn note(&mut self, tag: u32, heat: Heat, now: Moment) {
        let bucket = self.bucket(tag);
        let known = bucket.iter().position(|ghost| is_of(*ghost, tag));
        let least = || (0..bucket.len()).min_by_key(|place| score(bucket[*place], now));
        if let Some(place) = known.or_else(least) {
            bucket[place] = short(tag)
                | u32::from(heat.last().0 / MOMENTS) << TAG_BITS
                | u32::from(heat.uses().0 / USES) << (TAG_BITS + 12);
        }
    }

    fn bucket(&mut self, tag: u32) -> &mut [u32] {
        let places = self.places(tag);
        &mut self.0[places]
    }

    fn places(&self, tag: u32) -> Range<usize> {
        let buckets = self.0.len() / WAYS;
        let place = usize::try_from((u64::from(tag) * buckets as u64) >> 32).unwrap_or_default() * WAYS;
        place..(place + WAYS).min(buckets * WAYS)
    }
}

/// Of a tag what neither its bucket tells nor its shard, which have their parts of it in common. Never 0, which is nobody's.
fn short(tag: u32) -> u32 {
    /// The fractional part of the golden ratio.
    const MIX: u32 = 0x9E37_79B1;
    (tag.wrapping_mul(MIX) >> (u32::BITS - TAG_BITS)).max(1)
}

fn is_of(ghost: u32, tag: u32) -> bool {
    ghost & ((1 << TAG_BITS) - 1) == short(tag)
}

fn uses_of(ghost: u32) -> Uses {
    Uses((ghost >> (TAG_BITS + 12)) as u8 * USES)
}

fn age_of(ghost: u32, now: Moment) -> i32 {
    let last = (ghost >> TAG_BITS & 0xFFF) as u16;
    i32::from((now.0 / MOMENTS).wrapping_sub(last) & 0xFFF) * i32::from(MOMENTS)
}

/// How much is said for keeping it: three turns of age outweigh a doubling of uses.
fn score(ghost: u32, now: Moment) -> i32 {
    if ghost == 0 {
        return i32::MIN;
    }
    i32::from(uses_of(ghost).0) * (3 * TURN) / 32 - age_of(ghost, now)
}

#[cfg(test)]
mod tests {
    use super::super::heat::Worth;
    use super::*;

    fn heat(last: u16, uses: u8) -> Heat {
        Heat::new(Moment(last), Uses(uses), Worth::of(0, 1))
    }

    #[test]
    fn one_that_was_noted_is_known_once_with_its_uses() {
        let mut ghosts = Ghosts::new(64);
        ghosts.note(7 << 20 | 7, heat(160, 64), Moment(160));
        assert_eq!(ghosts.uses(7 << 20 | 7, Moment(160)), Some(Uses(64).and_one(0)));
        assert_eq!(ghosts.take(9 << 20 | 9, Moment(160)), None);
        assert_eq!(ghosts.take(7 << 20 | 7, Moment(160)), Some(Uses(64).and_one(0)));
        assert_eq!(ghosts.take(7 << 20 | 7, Moment(160)), None, "it is here now");
    }

    #[test]
    fn least_used_of_a_bucket_makes_room() {
        let mut ghosts = Ghosts::new(4);
        for (tag, uses) in [(1, 32), (2, 64), (3, 0), (4, 32)] {
            ghosts.note(tag, heat(0, uses), Moment(0));
        }
        ghosts.note(5, heat(0, 0), Moment(0));
        let known: Vec<bool> = (1..=5).map(|tag| ghosts.take(tag, Moment(0)).is_some()).collect();
        assert_eq!(known, [true, true, false, true, true]);
    }

    #[test]
    fn no_room_for_any_remembers_nobody() {
        let mut ghosts = Ghosts::new(0);
        ghosts.note(1, heat(0, 0), Moment(0));
        assert_eq!((ghosts.uses(1, Moment(0)), ghosts.take(1, Moment(0))), (None, None));
    }
}
