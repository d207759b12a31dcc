//! What a clock's atomic word holds: when the clock last moved, and how many marks are pending on it.
//!
//! The version has the upper 44 bits, the count the lower 20. Neither can run into the other: both stop at their
//! largest value, where the clock vouches for nothing any more. That is 2^20 writes in flight on one clock, or 2^44
//! writes since the start (55 years of ten thousand a second).

use bytemuck::{Pod, Zeroable};

const PENDING_BITS: u32 = 20;
/// The count at which a clock stays pending for ever: nobody can tell any more how many marks there are.
const PENDING_MAX: u64 = (1 << PENDING_BITS) - 1;
/// The version that stands for every write from here on.
const VERSION_MAX: u64 = u64::MAX >> PENDING_BITS;

/// A moment in the global order of writes. The default is the one before all writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable)]
#[repr(transparent)]
pub struct Sequence(u64);

/// A reading of a clock. Its changes give `None` where the word stays as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word(pub(super) u64);

/// The number that a write drew, at most [`VERSION_MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version(u64);

impl Sequence {
    /// The moment at which `drawn` writes had drawn their versions. Invariant: below [`VERSION_MAX`], so that what moves
    /// to that one has moved since any moment.
    pub(crate) fn after(drawn: u64) -> Self {
        Self(drawn.min(VERSION_MAX - 1))
    }
}

impl Version {
    /// The version of the write that finds so many drawn before it.
    pub(super) fn next_after(drawn: u64) -> Self {
        Self(drawn.saturating_add(1).min(VERSION_MAX))
    }
}

impl Word {
    #[inline]
    pub(super) fn is_pending(self) -> bool {
        self.pending() > 0
    }

    #[inline]
    pub(super) fn has_moved_since(self, since: Sequence) -> bool {
        self.version() > since.0
    }

    /// With one mark more; a full count stays full.
    pub(super) fn raised(self) -> Option<Self> {
        (self.pending() < PENDING_MAX).then(|| Self(self.0 + 1))
    }

    /// With one mark less; a full count stays full.
    ///
    /// # Panics
    /// If there is no mark: then somebody lowers what he did not raise.
    pub(super) fn lowered(self) -> Option<Self> {
        assert!(self.is_pending(), "a clock is lowered only by those who raised it");
        (self.pending() < PENDING_MAX).then(|| Self(self.0 - 1))
    }

    /// At `version`, unless a later write has moved it further already.
    pub(super) fn moved(self, version: Version) -> Option<Self> {
        (self.version() < version.0).then(|| Self(version.0 << PENDING_BITS | self.pending()))
    }

    /// What a plain store would not have looked at.
    #[cfg(test)]
    pub(super) fn without_version(self) -> Self {
        Self(self.pending())
    }

    #[inline]
    fn version(self) -> u64 {
        self.0 >> PENDING_BITS
    }

    #[inline]
    fn pending(self) -> u64 {
        self.0 & PENDING_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: Word = Word(PENDING_MAX);

    fn word(version: u64, pending: u64) -> Word {
        Word(version << PENDING_BITS | pending)
    }

    #[test]
    fn mark_and_version_do_not_touch_each_other() {
        for version in [0, 1, VERSION_MAX - 1, VERSION_MAX] {
            for pending in [0, 1, PENDING_MAX - 2] {
                let raised = word(version, pending).raised().unwrap();
                assert_eq!(raised, word(version, pending + 1));
                assert_eq!(raised.lowered(), Some(word(version, pending)));
                assert!(raised.is_pending());
                let moved = word(0, pending).moved(Version(version));
                assert_eq!(moved, (version > 0).then(|| word(version, pending)));
            }
        }
    }

    #[test]
    fn count_that_is_full_once_stays_full_and_leaves_the_version_alone() {
        let last = word(7, PENDING_MAX - 1).raised().unwrap();
        assert_eq!(last, word(7, PENDING_MAX));
        assert_eq!((last.raised(), last.lowered()), (None, None));
        assert_eq!(FULL.moved(Version(VERSION_MAX)), Some(Word(u64::MAX)));
    }

    #[test]
    fn version_only_grows() {
        let table = [(0, 1, true), (5, 4, false), (5, 5, false), (5, 6, true)];
        for (from, to, moves) in table {
            let moved = word(from, 3).moved(Version(to));
            assert_eq!(moved, moves.then(|| word(to, 3)), "{from} {to}");
        }
    }

    #[test]
    fn clock_has_moved_since_the_moments_before_its_version_only() {
        let table = [(0, 0, false), (5, 4, true), (5, 5, false), (5, 6, false)];
        for (version, drawn, moved) in table {
            assert_eq!(word(version, 1).has_moved_since(Sequence::after(drawn)), moved, "{version} {drawn}");
        }
    }

    #[test]
    fn last_version_has_moved_since_every_moment() {
        for drawn in [VERSION_MAX - 2, VERSION_MAX - 1, VERSION_MAX, u64::MAX] {
            let word = word(0, 0).moved(Version::next_after(drawn.max(VERSION_MAX - 1))).unwrap();
            assert!(word.has_moved_since(Sequence::after(drawn)), "{drawn}");
        }
        assert_eq!(Version::next_after(u64::MAX), Version(VERSION_MAX));
    }

    #[test]
    #[should_panic(expected = "lowered only by those who raised it")]
    fn what_was_not_raised_is_not_lowered() {
        word(3, 0).lowered();
    }
}
