//! The named locks on a connection.

use crate::stats::pins::Pins;

/// More names than these are not remembered: the pin stays then.
pub(crate) const NAMES_MAX: usize = 64;

/// Locks that may be held on a connection.
#[derive(Debug, Default)]
pub(crate) struct NamedLocks {
    /// As strings in SQL.
    pub(crate) names: Vec<Box<[u8]>>,
    /// There may be others.
    pub(crate) is_uncertain: bool,
}

impl NamedLocks {
    /// A statement that pins so has run, and nobody looked at what it took.
    pub(crate) fn doubt(&mut self, pins: Pins) {
        self.is_uncertain |= pins.contains(Pins::GET_LOCK);
    }
}
