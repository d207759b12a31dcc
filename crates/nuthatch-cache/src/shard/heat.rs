//! How much a place is used: when last, how often, and what it is worth, in one word.
//!
//! Time is counted in [`Moment`]s of the shard: 64 of them pass while as many answers come as the shard holds. The number of uses decays by half in
//! twelve such turns, and is kept as its logarithm, so that an answer in steady use reaches an end where a further use changes nothing: a hit on
//! it then writes at most once a moment.

/// How many moments pass while a shard's content would be replaced once.
pub(crate) const TURN: i32 = 64;

/// Steps of a doubling of uses.
const STEPS: u8 = 32;
/// The number of uses at which counting ends: 64, as steps.
const USES_MAX: u8 = 6 * STEPS;
/// The number of uses of which it is worth to spare what each costs: 32, as steps.
const STEADY: Uses = Uses(5 * STEPS);
/// In so many moments a number of uses becomes one step less: by half in twelve turns.
const MOMENTS_PER_STEP: i32 = 12 * TURN / STEPS as i32;
/// Older counts as so old: moments come again after twice as many.
const AGE_MAX: u16 = 1 << 15;

/// What is added to the larger of two numbers of uses to be their sum, by how many steps they are apart: `32 log2(1 + 2^(-steps/32))`.
static SUM: [u8; USES_MAX as usize + 1] = sums();

/// The number of uses with one more.
static NEXT: [u8; USES_MAX as usize + 1] = nexts();

/// A shard's time: it passes with the answers that come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment(pub(crate) u16);

/// The logarithm of a number of uses, of which older ones count less; 0 for a single one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Uses(pub(crate) u8);

/// What keeping an answer spares for its bytes, as a logarithm: four steps are a doubling. Only differences mean anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Worth(u8);

/// All of it in a word: 16 bits of when it was used last, 8 of how often, 7 of what it is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Heat(pub(crate) u32);

impl Moment {
    pub(crate) const FIRST: Self = Self(0);

    /// How many moments have passed since that one.
    #[inline]
    pub(crate) const fn since(self, earlier: Self) -> i32 {
        self.0.wrapping_sub(earlier.0) as i32
    }

    /// So many moments before.
    #[inline]
    const fn before(self, moments: u16) -> Self {
        Self(self.0.wrapping_sub(moments))
    }
}

impl Uses {
    pub(crate) const ONE: Self = Self(0);

    /// Whether it is in steady use: by what it costs to decompress it more is lost than the bytes that it takes otherwise are worth.
    pub(crate) fn is_steady(self) -> bool {
        self >= STEADY
    }

    /// Whether it was used again, not long ago.
    pub(crate) fn is_again(self) -> bool {
        /// Between one use and two.
        const AGAIN: Uses = Uses(STEPS / 2);
        self >= AGAIN
    }

    /// With one use more, so many moments after the last.
    #[inline]
    pub(crate) fn and_one(self, age: i32) -> Self {
        if age < MOMENTS_PER_STEP {
            return Self(NEXT[usize::from(self.0.min(USES_MAX))]);
        }
        let left = i32::from(self.0) - age / MOMENTS_PER_STEP;
        let apart = SUM.get(left.unsigned_abs() as usize).copied().unwrap_or_default();
        let sum = left.max(0) + i32::from(apart);
        Self(u8::try_from(sum).unwrap_or(USES_MAX).min(USES_MAX))
    }
}

impl Worth {
    /// Of an answer of so many bytes, which has taken the server so long: a quarter of the bytes make it worth twice as much, and four times as long
    /// does. Not in full measure: how long one answer took tells only roughly what the next one takes, and what is large and used all the time is
    /// to find a place among small ones that were used once.
    pub(crate) fn of(cost_us: u32, bytes: u64) -> Self {
        /// Makes the sum positive for all that there is.
        const BASE: i64 = 64;
        /// What each statement costs beside the server's work.
        const OVERHEAD_US: u64 = 64;
        let cost = quarters(u64::from(cost_us) + OVERHEAD_US);
        let steps = BASE + cost / 2 - quarters(bytes.max(1)) / 2;
        Self(u8::try_from(steps.clamp(0, 127)).unwrap_or_default())
    }

    /// What the same answer is worth where it takes another number of bytes.
    pub(crate) fn resized(self, from_bytes: u64, to_bytes: u64) -> Self {
        let steps = i64::from(self.0) + (quarters(from_bytes.max(1)) - quarters(to_bytes.max(1))) / 2;
        Self(u8::try_from(steps.clamp(0, 127)).unwrap_or_default())
    }

    #[inline]
    pub(crate) fn steps(self) -> i32 {
        i32::from(self.0)
    }
}

impl Heat {
    #[inline]
    pub(crate) fn new(last: Moment, uses: Uses, worth: Worth) -> Self {
        Self(u32::from(last.0) | u32::from(uses.0) << 16 | u32::from(worth.0) << 24)
    }

    #[inline]
    pub(crate) fn last(self) -> Moment {
        Moment((self.0 & 0xFFFF) as u16)
    }

    #[inline]
    pub(crate) fn uses(self) -> Uses {
        Uses((self.0 >> 16 & 0xFF) as u8)
    }

    #[inline]
    pub(crate) fn worth(self) -> Worth {
        Worth((self.0 >> 24) as u8)
    }

    /// How many moments it was not used for.
    #[inline]
    pub(crate) fn age(self, now: Moment) -> i32 {
        now.before(self.last().0).0.into()
    }

    /// After a use. One in steady use is the same again within a moment.
    #[inline]
    pub(crate) fn used(self, now: Moment) -> Self {
        if self.last() == now && self.uses().0 == USES_MAX {
            return self;
        }
        let uses = self.uses().and_one(self.age(now));
        Self(self.0 & !0xFF_FFFF | u32::from(uses.0) << 16 | u32::from(now.0))
    }

    /// The same at another time, if it is so old that moments would come again.
    pub(crate) fn kept_old(self, now: Moment) -> Self {
        if self.age(now) <= i32::from(AGE_MAX) {
            return self;
        }
        Self::new(now.before(AGE_MAX), Uses::ONE, self.worth())
    }

    /// The same in another shard, whose time is `there`.
    pub(crate) fn moved(self, here: Moment, there: Moment) -> Self {
        let age = here.before(self.last().0).0.min(AGE_MAX);
        Self::new(there.before(age), self.uses(), self.worth())
    }
}

/// Four times the logarithm to the base of two, about.
fn quarters(number: u64) -> i64 {
    let doublings = number.ilog2();
    let quarter = if doublings >= 2 { number >> (doublings - 2) & 3 } else { 0 };
    i64::from(doublings) * 4 + i64::try_from(quarter).unwrap_or_default()
}

#[expect(clippy::cast_possible_truncation, reason = "each is at most 32")]
const fn sums() -> [u8; USES_MAX as usize + 1] {
    /// One, with 32 bits behind the point.
    const ONE: u128 = 1 << 32;
    let mut sums = [0; USES_MAX as usize + 1];
    let mut apart = 0;
    while apart < sums.len() {
        let sum = ONE + ONE * ONE / doubled(2 * apart, ONE);
        // The nearest step: half a step above the one before.
        let mut steps = 0;
        while doubled(2 * steps + 1, ONE) < sum {
            steps += 1;
        }
        sums[apart] = steps as u8;
        apart += 1;
    }
    sums
}

const fn nexts() -> [u8; USES_MAX as usize + 1] {
    let mut nexts = sums();
    let mut uses = 0;
    while uses < USES_MAX {
        let next = uses + nexts[uses as usize];
        nexts[uses as usize] = if next < USES_MAX { next } else { USES_MAX };
        uses += 1;
    }
    nexts[USES_MAX as usize] = USES_MAX;
    nexts
}

/// `one` doubled so many half steps of 1/32.
const fn doubled(half_steps: usize, one: u128) -> u128 {
    /// 2^(1/64), with 32 bits behind the point.
    const HALF_STEP: u128 = 4_341_736_423;
    let (mut number, mut left) = (one, half_steps);
    while left > 0 {
        number = (number * HALF_STEP) >> 32;
        left -= 1;
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sum_of_uses_is_that_of_their_numbers() {
        for (apart, sum) in SUM.iter().enumerate() {
            let expected = 32.0 * (1.0 + 2f64.powf(-(apart as f64) / 32.0)).log2();
            assert!((f64::from(*sum) - expected).abs() <= 0.51, "{apart}: {sum} {expected}");
        }
    }

    #[test]
    fn uses_are_counted_up_to_64_and_halve_in_twelve_turns() {
        let mut uses = Uses::ONE;
        for count in 2..=64u32 {
            uses = uses.and_one(0);
            let counted = 2f64.powf(f64::from(uses.0) / 32.0);
            assert!((counted / f64::from(count) - 1.0).abs() < 0.2, "{count}: {counted}");
        }
        (0..200).for_each(|_| uses = uses.and_one(0));
        assert_eq!(uses.and_one(0), uses, "a further use changes nothing");
        assert_eq!(Uses(64).and_one(12 * TURN), Uses(64 - 32).and_one(0));
        assert_eq!(Uses(64).and_one(100 * 12 * TURN), Uses::ONE, "long ago is never");
    }

    #[test]
    fn word_keeps_its_parts_and_ages_across_the_end_of_time() {
        let heat = Heat::new(Moment(0xFFF0), Uses(77), Worth::of(1000, 400));
        assert_eq!(
            (heat.last(), heat.uses(), heat.worth()),
            (Moment(0xFFF0), Uses(77), Worth::of(1000, 400))
        );
        assert_eq!(heat.age(Moment(0x10)), 0x20);
        let old = heat.kept_old(Moment(0x9000));
        assert_eq!((old.age(Moment(0x9000)), old.uses()), (1 << 15, Uses::ONE));
        assert_eq!(heat.moved(Moment(0x10), Moment(5)).age(Moment(5)), 0x20);
    }

    #[test]
    fn worth_grows_with_the_cost_and_falls_with_the_size() {
        assert!(Worth::of(10_000, 400) > Worth::of(1000, 400));
        assert!(Worth::of(1000, 400) > Worth::of(1000, 4000));
        assert_eq!(Worth::of(936, 400).steps() - Worth::of(936, 1600).steps(), 4);
        assert_eq!(Worth::of(4096 - 64, 400).steps() - Worth::of(1024 - 64, 400).steps(), 4);
        let extremes = [Worth::of(u32::MAX, 1), Worth::of(0, 1 << 32), Worth::of(0, 0)];
        assert!(extremes.iter().all(|worth| worth.steps() < 128));
    }
}
