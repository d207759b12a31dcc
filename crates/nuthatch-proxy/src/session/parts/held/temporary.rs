//! The temporary tables on a connection.

use std::collections::HashSet;

use crate::stats::pins::Pins;

/// Those that are known to be there.
#[derive(Debug, Default)]
pub(crate) struct Temporary {
    pub(crate) tables: HashSet<(Vec<u8>, Vec<u8>)>,
    /// There may be others.
    pub(crate) is_uncertain: bool,
}

impl Temporary {
    /// Whether there is surely none.
    pub(crate) fn is_empty(&self) -> bool {
        self.tables.is_empty() && !self.is_uncertain
    }

    /// A statement that pins so has run, and nobody looked at what it made.
    pub(crate) fn doubt(&mut self, pins: Pins) {
        self.is_uncertain |= pins.contains(Pins::TEMPORARY_TABLE);
    }
}
