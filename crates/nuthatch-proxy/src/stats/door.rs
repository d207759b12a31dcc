//! Whether a full cache lets the answers of a digest in that are asked for the first time.
//!
//! Answers of one digest are of a size and take a server the same, so what became of the last ones tells of the next. Where nearly none was let
//! in, no copies are made of the others either, but of one in 64: to be refused costs as much as to be stored. The cache remembers that they
//! were asked for, and lets them in when they come again.
//!
//! Cost: a load where a copy may be made; where some were refused, a look at what the cache remembers.

use std::sync::atomic::{AtomicU32, Ordering};

/// The whole, where parts are counted.
const ALL: u32 = 1 << 12;

/// So many count.
const LATEST: u32 = 64;

/// From so many refused on none is tried, but for one in [`TRIED`].
const NEARLY_ALL: u32 = ALL - ALL / 8;

/// Of so many one is tried all the same.
const TRIED: u64 = 64;

/// That of one digest.
#[derive(Debug, Default)]
pub(crate) struct Door {
    /// Of those that came for the first time, which part was refused, in [`ALL`]ths.
    refused: AtomicU32,
}

/// Who comes to the door.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comer {
    /// It is asked for the first time, as far as is remembered.
    First,
    /// It comes again, or nobody has looked.
    Known,
    /// It is not let in.
    TurnedAway,
}

impl Door {
    /// Who comes with that hash at that time, where `comes_again` tells whether it was asked for before.
    pub(crate) fn look(&self, hash: u64, now_ms: u64, comes_again: impl FnOnce() -> bool) -> Comer {
        let refused = self.refused.load(Ordering::Relaxed);
        match () {
            () if refused == 0 || comes_again() => Comer::Known,
            () if refused < NEARLY_ALL || (hash ^ now_ms).is_multiple_of(TRIED) => Comer::First,
            () => Comer::TurnedAway,
        }
    }

    /// One that came so was let in or not.
    pub(crate) fn note(&self, comer: Comer, is_let_in: bool) {
        let before = self.refused.load(Ordering::Relaxed);
        let after = match (comer, is_let_in) {
            (_, false) => before + (ALL - before).div_ceil(LATEST),
            // Of the few that are tried each says as much of those that are not.
            (Comer::First, true) if before >= NEARLY_ALL => before - before / 8,
            (Comer::First, true) => before - before.div_ceil(LATEST),
            _ => before,
        };
        if after != before {
            self.refused.store(after, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn door_closes_when_nearly_all_were_refused_and_opens_when_some_are_let_in() {
        let door = Door::default();
        let of = |hash, comes_again| door.look(hash, 0, || comes_again);
        assert_eq!(of(1, false), Comer::Known, "nobody was refused yet");
        door.note(Comer::Known, false);
        assert_eq!((of(1, false), of(1, true)), (Comer::First, Comer::Known));
        (0..200).for_each(|_| door.note(Comer::First, false));
        assert_eq!(
            (of(1, false), of(1, true), of(64, false)),
            (Comer::TurnedAway, Comer::Known, Comer::First)
        );
        (0..100).for_each(|_| door.note(Comer::Known, true));
        assert_eq!(of(1, false), Comer::TurnedAway, "who comes again says nothing of those who do not");
        (0..2).for_each(|_| door.note(Comer::First, true));
        assert_eq!(of(1, false), Comer::First, "two of the few that are tried were let in");
        (0..4_096).for_each(|_| door.note(Comer::First, true));
        assert_eq!(of(1, false), Comer::Known);
        (0..100_000).for_each(|_| door.note(Comer::First, false));
        assert_eq!(door.refused.load(Ordering::Relaxed), ALL);
    }
}
