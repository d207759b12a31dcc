//! Which rule is best, by trial: a small part of the keys under each rule, in shards of as small a part of the limit, without answers.
//!
//! The same questions are put to all of them, so what one answers more often than another is not chance that some keys were asked and others were
//! not. The rule of the one ahead is in force once it leads by more hits than a fifth of what it holds; a lead counts no further than half.

use super::{Held, Newcomer, Rule, Ruling, Shard, Tag, Worth};

/// Trials are made with one key in 2^this at most, of a large cache.
const PART_MAX: u32 = 8;
/// Where they can, trials have at least so much of the limit, in bytes.
const BYTES_MIN: u64 = 256 << 10;
/// Trials are made with one key in 2^this at least.
const PART_MIN: u32 = 4;
/// Under a smaller limit none are made, in bytes: what they take is a part of what is never filled.
const LIMIT_MIN: u64 = 512 << 10;
/// An answer counts as no more than this part of a trial's limit, and as no less than so many bytes: what trials take has an end.
const LARGEST: u64 = 32;
const SMALLEST_BYTES: u32 = 200;

/// What stands for an answer: no more is known of it here.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    weight_bytes: u32,
    /// Of what it is: another answer to the same question could not have been served.
    answer: u32,
}

/// The trials of a cache.
pub(crate) struct Trials {
    shards: [(Ruling, Shard<Sample>); Rule::ALL.len()],
    /// By how many hits each is behind the one that leads.
    behind: [i64; Rule::ALL.len()],
    hits: [u64; Rule::ALL.len()],
    lookups: u64,
    share_bytes: u64,
}

impl Sample {
    #[expect(clippy::cast_possible_truncation, reason = "half of a hash tells as well")]
    pub(crate) fn of(weight_bytes: u64, answer_hash: u64) -> Self {
        Self { weight_bytes: u32::try_from(weight_bytes).unwrap_or(u32::MAX), answer: answer_hash as u32 }
    }
}

impl Held for Sample {
    fn weight_bytes(&self) -> u64 {
        self.weight_bytes.into()
    }

    /// None of an allocator's sizes.
    fn own_bytes(&self) -> u64 {
        u32::MAX.into()
    }

    fn is_like(&self, _: &Self) -> bool {
        true
    }
}

/// With which keys trials are made, and how much room they have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    /// With one in 2^this; with none in a cache that is too small for it.
    bits: Option<u32>,
}

impl Part {
    /// That of a cache with this limit.
    pub(crate) fn of(limit_bytes: u64) -> Self {
        let has_room = |bits: &u32| limit_bytes >> bits >= BYTES_MIN;
        let bits = (PART_MIN..=PART_MAX).rev().find(has_room).unwrap_or(PART_MIN);
        Self { bits: Some(bits).filter(|_| limit_bytes >= LIMIT_MIN) }
    }

    /// Which bits of a key's hash are none where trials are made with it.
    pub(crate) fn mask(self) -> u64 {
        /// Away from those that are a tag's as they are.
        const FROM: u32 = 40;
        self.bits.map_or(u64::MAX, |bits| ((1 << bits) - 1) << FROM)
    }

    fn bytes(self, limit_bytes: u64) -> u64 {
        self.bits.map_or(0, |bits| limit_bytes >> bits)
    }
}

impl Trials {
    /// Trials of a cache with this limit, none of whose answers is known.
    pub(crate) fn new(limit_bytes: u64) -> Self {
        let share_bytes = Part::of(limit_bytes).bytes(limit_bytes);
        Self {
            shards: Rule::ALL.map(|rule| (Ruling::new(rule), Shard::new(share_bytes))),
            behind: [0; Rule::ALL.len()],
            hits: [0; Rule::ALL.len()],
            lookups: 0,
            share_bytes,
        }
    }

    /// Begins anew under this limit, when nothing is known of any answer any more. What was counted stays.
    pub(crate) fn restart(&mut self, limit_bytes: u64) {
        let Self { shards, share_bytes, .. } = Self::new(limit_bytes);
        *self = Self { shards, share_bytes, behind: [0; Rule::ALL.len()], ..*self };
    }

    /// How often they were asked, and how often each had the answer, in the order of [`Rule::ALL`].
    pub(crate) fn figures(&self) -> (u64, [u64; Rule::ALL.len()]) {
        (self.lookups, self.hits)
    }

    /// What they take in memory, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.shards.iter().map(|(_, shard)| shard.index_bytes()).sum()
    }

    /// Puts a question to all of them whose answer is now this, and has the best rule be in force. To be called for each look-up that hits and for
    /// each fill whose key's hash has none of the bits of the mask.
    pub(crate) fn ask(&mut self, tag: Tag, sample: Sample, worth: Option<Worth>, in_force: &Ruling) {
        let largest = u32::try_from(self.share_bytes / LARGEST).unwrap_or(u32::MAX);
        let value = Sample { weight_bytes: sample.weight_bytes.max(SMALLEST_BYTES).min(largest), ..sample };
        self.lookups += 1;
        let mut has = [0; Rule::ALL.len()];
        for ((ruling, shard), has) in self.shards.iter_mut().zip(&mut has) {
            if shard.get(tag, |stored| stored.answer == value.answer).is_some() {
                *has = 1;
            } else {
                shard.insert(Newcomer { tag, value, worth }, ruling, |_| None);
            }
        }
        self.judge(has, in_force);
    }

    fn judge(&mut self, has: [u64; Rule::ALL.len()], in_force: &Ruling) {
        self.hits.iter_mut().zip(has).for_each(|(hits, has)| *hits += has);
        let lead = has.iter().max().copied().unwrap_or_default();
        if has.iter().all(|has| *has == lead) {
            return;
        }
        let held = self.shards.iter().map(|(_, shard)| shard.len()).max().unwrap_or_default();
        let held = i64::try_from(held).unwrap_or(i64::MAX).max(8);
        for (behind, has) in self.behind.iter_mut().zip(has) {
            *behind += i64::from(has == 0);
        }
        let first = self.behind.iter().min().copied().unwrap_or_default();
        self.behind.iter_mut().for_each(|behind| *behind = (*behind - first).min(held / 2));
        if self.behind[usize::from(in_force.rule().number())] > held / 5 {
            let best = Rule::ALL.into_iter().zip(self.behind).find(|(_, behind)| *behind == 0);
            best.into_iter().for_each(|(rule, _)| in_force.set(rule));
        }
    }

    /// The answer to that question is not valid any more.
    pub(crate) fn forget(&mut self, tag: Tag) {
        self.shards.iter_mut().for_each(|(_, shard)| {
            shard.remove_if(tag, |_| true);
        });
    }
}
