//! The temporary tables on a connection.

use std::collections::HashSet;

use crate::stats::pins::Pins;

/// Those that are known to be there.
#[derive(Debug, Default)]
pub(crate) struct Temporary {
    tables: HashSet<(Vec<u8>, Vec<u8>)>,
    /// There may be others.
    is_uncertain: bool,
}

impl Temporary {
    /// Whether there is surely none.
    pub(crate) fn is_empty(&self) -> bool {
        self.tables.is_empty() && !self.is_uncertain
    }

    /// The table of that schema and name is there.
    pub(crate) fn add(&mut self, table: (Vec<u8>, Vec<u8>)) {
        self.tables.insert(table);
    }

    /// It is gone.
    pub(crate) fn remove(&mut self, table: &(Vec<u8>, Vec<u8>)) {
        self.tables.remove(table);
    }

    /// A statement that pins so has run, and nobody looked at what it made.
    pub(crate) fn doubt(&mut self, pins: Pins) {
        self.is_uncertain |= pins.contains(Pins::TEMPORARY_TABLE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_surely_none_only_where_none_is_known_and_nothing_in_doubt() {
        for (tables, reasons, is_empty) in [
            (&[][..], &[][..], true),
            (&[], &[Pins::NONE, Pins::LOCK_TABLES.with(Pins::GET_LOCK)], true),
            (&[], &[Pins::TEMPORARY_TABLE], false),
            (&[], &[Pins::TEMPORARY_TABLE.with(Pins::USER_VARIABLE)], false),
            (&[], &[Pins::TEMPORARY_TABLE, Pins::NONE], false),
            (&["t"], &[], false),
            (&["t"], &[Pins::TEMPORARY_TABLE], false),
        ] {
            let mut temporary = Temporary::default();
            temporary
                .tables
                .extend(tables.iter().map(|table: &&str| (b"shop".to_vec(), table.as_bytes().to_vec())));
            reasons.iter().for_each(|pins| temporary.doubt(*pins));
            assert_eq!(temporary.is_empty(), is_empty, "{tables:?} {reasons:?}");
        }
    }
}
