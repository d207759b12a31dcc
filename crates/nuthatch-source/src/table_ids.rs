//! Numbers for tables.

use std::collections::HashMap;

use nuthatch_sql::{TableId, fold};
use parking_lot::Mutex;

/// The numbers of all tables that were ever seen: one schema and name, folded, has one number for the life of the proxy, on
/// whichever server. Numbers are given from 0 on, and never given back.
#[derive(Debug)]
pub struct TableIds {
    tables_max: u32,
    numbers: Mutex<Numbers>,
}

/// Those of one schema.
type OfNames = HashMap<Box<[u8]>, TableId>;

#[derive(Debug, Default)]
struct Numbers {
    schemas: HashMap<Box<[u8]>, OfNames>,
    given: u32,
}

impl TableIds {
    /// None given yet, and never more than `tables_max`.
    #[must_use]
    pub fn new(tables_max: u32) -> Self {
        Self { tables_max, numbers: Mutex::default() }
    }

    /// The table's number; a new one if it has none and one is left.
    #[must_use]
    pub fn id(&self, schema: &[u8], name: &[u8]) -> Option<TableId> {
        let (schema, name) = (fold(schema), fold(name));
        let mut numbers = self.numbers.lock();
        if let Some(id) = numbers.schemas.get(&schema).and_then(|tables| tables.get(&name)) {
            return Some(*id);
        }
        if numbers.given == self.tables_max {
            return None;
        }
        let id = TableId(numbers.given);
        numbers.given += 1;
        numbers.schemas.entry(schema).or_default().insert(name, id);
        Some(id)
    }

    /// How many were given.
    #[must_use]
    pub fn len(&self) -> usize {
        self.numbers.lock().given as usize
    }

    /// Whether none was given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_has_one_number_in_any_case_and_numbers_run_out() {
        let ids = TableIds::new(2);
        assert!(ids.is_empty());
        assert_eq!(ids.id(b"Shop", b"orders"), Some(TableId(0)));
        assert_eq!(ids.id(b"shop", b"ORDERS"), Some(TableId(0)));
        assert_eq!(ids.id(b"shop2", b"orders"), Some(TableId(1)));
        assert_eq!(ids.id(b"shop", b"other"), None);
        assert_eq!(ids.id(b"SHOP2", b"orders"), Some(TableId(1)));
        assert_eq!(ids.len(), 2);
    }
}
