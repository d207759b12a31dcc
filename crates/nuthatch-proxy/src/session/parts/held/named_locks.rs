//! The named locks on a connection.

use crate::stats::pins::Pins;

/// More names than these are not remembered: the pin stays then.
const NAMES_MAX: usize = 64;

/// Locks that may be held on a connection.
#[derive(Debug, Default)]
pub(crate) struct NamedLocks {
    /// As strings in SQL.
    names: Vec<Box<[u8]>>,
    /// There may be others.
    is_uncertain: bool,
}

impl NamedLocks {
    /// One of that name may be held. The name is a string, which means what it means under this character set.
    pub(crate) fn add(&mut self, name: Box<[u8]>) {
        self.is_uncertain |= !name.is_ascii();
        if !self.names.contains(&name) {
            self.names.push(name);
        }
        self.is_uncertain |= self.names.len() > NAMES_MAX;
    }

    /// All that may be held; none if there may be others.
    pub(crate) fn names(&self) -> Option<&[Box<[u8]>]> {
        (!self.is_uncertain).then_some(&self.names)
    }

    /// A statement that pins so has run, and nobody looked at what it took.
    pub(crate) fn doubt(&mut self, pins: Pins) {
        self.is_uncertain |= pins.contains(Pins::GET_LOCK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubt_of_locks_stays_and_no_other_reason_raises_it() {
        for (reasons, is_uncertain) in [
            (&[][..], false),
            (&[Pins::NONE], false),
            (&[Pins::LOCK_TABLES, Pins::TEMPORARY_TABLE.with(Pins::HANDLER)], false),
            (&[Pins::GET_LOCK], true),
            (&[Pins::GET_LOCK.with(Pins::USER_VARIABLE)], true),
            (&[Pins::GET_LOCK, Pins::NONE], true),
        ] {
            let mut locks = NamedLocks::default();
            locks.names.push(b"'a'"[..].into());
            reasons.iter().for_each(|pins| locks.doubt(*pins));
            assert_eq!(locks.is_uncertain, is_uncertain, "{reasons:?}");
            assert_eq!(locks.names.len(), 1, "what is known stays: {reasons:?}");
        }
    }
}
