//! By which rule the one to go is chosen among some that are looked at.
//!
//! None is best for every load: [`Trials`](super::trials::Trials) tell which is now.

use std::sync::atomic::{AtomicI32, AtomicU8, Ordering};

use super::heat::{Heat, Moment, TURN, Uses, Worth};

/// From so many uses on an answer has proven itself: about two and a half.
const PROVEN: Uses = Uses(42);
/// By so many moments one that has not proven itself counts as older.
const UNPROVEN: i32 = 13 * TURN / 10;
/// Twice as many uses outweigh twelve turns of age, in moments.
const DOUBLING: i32 = 12 * TURN;
/// A newcomer must have been asked for so much more than whom it pushes out: seven tenths of a doubling.
const MARGIN: i32 = DOUBLING * 7 / 10;

/// By what the one to go is chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Rule {
    /// The one that was used last goes last.
    Recency,
    /// The same, and who was used twice at most goes before.
    Proven,
    /// Who is used least goes; a newcomer stays only if it was asked for more often than that one.
    #[default]
    Frequency,
}

/// Which rule is in force, in all shards of a cache, and whether those that come are used again.
pub(crate) struct Ruling {
    rule: AtomicU8,
    /// Of those that came lately and were met, which part was, in [`ALL`]ths.
    used_again: AtomicI32,
}

/// What a newcomer has to show before another goes for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    Open,
    /// That it comes again.
    Again,
    /// That it is asked for more often than the other.
    More,
}

/// The whole, where parts are counted.
const ALL: i32 = 1 << 12;

impl Rule {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Recency, Self::Proven, Self::Frequency];

    /// Its place in [`Rule::ALL`].
    pub const fn number(self) -> u8 {
        match self {
            Self::Recency => 0,
            Self::Proven => 1,
            Self::Frequency => 2,
        }
    }

    pub(crate) fn of_number(number: u8) -> Self {
        Self::ALL.get(usize::from(number)).copied().unwrap_or_default()
    }

    /// How much is said for keeping it.
    #[inline]
    pub(crate) fn score(self, heat: Heat, now: Moment) -> i32 {
        /// What a step of worth is, where age decides: a doubling a quarter of a turn.
        const AGE_PER_STEP: i32 = TURN / 16;
        let (age, uses) = (heat.age(now), heat.uses());
        match self {
            Self::Recency => heat.worth().steps() * AGE_PER_STEP - age,
            Self::Proven => {
                let proven = if uses >= PROVEN { UNPROVEN } else { 0 };
                heat.worth().steps() * AGE_PER_STEP + proven - age
            }
            Self::Frequency => Self::frequency(uses, heat.worth()) - age,
        }
    }

    fn frequency(uses: Uses, worth: Worth) -> i32 {
        i32::from(uses.0) * (DOUBLING / 32) + worth.steps() * (DOUBLING / 4)
    }
}

impl Ruling {
    pub(crate) const fn new(rule: Rule) -> Self {
        Self { rule: AtomicU8::new(rule.number()), used_again: AtomicI32::new(ALL) }
    }

    pub(crate) fn rule(&self) -> Rule {
        Rule::of_number(self.rule.load(Ordering::Relaxed))
    }

    pub(crate) fn set(&self, rule: Rule) {
        self.rule.store(rule.number(), Ordering::Relaxed);
    }

    /// One comes with so many uses. While next to none is let in, that alone tells whether they come again.
    pub(crate) fn note_newcomer(&self, uses: Uses) {
        if self.is_scanned() {
            self.note(uses);
        }
    }

    /// One that came lately has so many uses by now.
    pub(crate) fn note(&self, uses: Uses) {
        /// So many count.
        const LATEST: i32 = 16;
        let part = if uses.is_again() { ALL } else { 0 };
        let before = self.used_again.load(Ordering::Relaxed);
        self.used_again.store(before + (part - before) / LATEST, Ordering::Relaxed);
    }

    /// What newcomers are asked for now.
    pub(crate) fn door(&self) -> Door {
        match self.rule() {
            _ if self.is_scanned() => Door::Again,
            Rule::Frequency => Door::More,
            Rule::Recency | Rule::Proven => Door::Open,
        }
    }

    /// Whether of those that come next to none is asked for again. Who is here stays then, however long ago it was used, for all who do not come again.
    pub(crate) fn is_scanned(&self) -> bool {
        self.rule() != Rule::Frequency && self.used_again.load(Ordering::Relaxed) < ALL / 10
    }
}

impl Door {
    /// Whether a newcomer may push out one with that score.
    pub(crate) fn admits(self, newcomer: Heat, score: i32) -> bool {
        let (uses, worth) = (newcomer.uses(), newcomer.worth());
        match self {
            Self::Open => true,
            Self::Again => uses.is_again(),
            Self::More => Rule::frequency(uses, worth) > score + MARGIN,
        }
    }
}
