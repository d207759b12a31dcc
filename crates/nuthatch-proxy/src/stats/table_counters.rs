//! How often each table was read into the cache and written, by its number.
//!
//! Cost: one atomic addition for each table of a fill or a write. Memory is taken in pages of 256 tables, as tables of theirs are first counted.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use nuthatch_sql::{ReadFootprint, TableId, WriteFootprint};

const PAGE_TABLES: usize = 256;

type Page = [Counters; PAGE_TABLES];

#[derive(Debug, Default)]
struct Counters {
    reads: AtomicU64,
    writes: AtomicU64,
    invalidations: AtomicU64,
}

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct TableCounters(Box<[OnceLock<Box<Page>>]>);

/// A reading of one table's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TableFigures {
    /// Answers that were stored and depend on it.
    pub(crate) reads: u64,
    /// Statements that could write it.
    pub(crate) writes: u64,
    /// Entries that a look-up found to have been written over, and that by a write to this table.
    pub(crate) invalidations: u64,
}

impl TableCounters {
    pub(crate) fn new(tables_max: u32) -> Self {
        let pages = (tables_max as usize).div_ceil(PAGE_TABLES);
        Self((0..pages).map(|_| OnceLock::new()).collect())
    }

    pub(crate) fn count_reads(&self, footprint: &ReadFootprint) {
        footprint.tables.iter().for_each(|read| self.bump(read.table, |counters| &counters.reads));
    }

    /// A write of anything counts for no table.
    pub(crate) fn count_writes(&self, footprint: &WriteFootprint) {
        let bump = |table| self.bump(table, |counters| &counters.writes);
        match footprint {
            WriteFootprint::Everything => {}
            WriteFootprint::Tables(writes) => writes.iter().for_each(|write| bump(write.table)),
            WriteFootprint::Definition { tables, .. } => tables.iter().for_each(|table| bump(*table)),
        }
    }

    pub(crate) fn count_invalidation(&self, table: TableId) {
        self.bump(table, |counters| &counters.invalidations);
    }

    pub(crate) fn read(&self, TableId(table): TableId) -> TableFigures {
        let table = table as usize;
        let Some(page) = self.0.get(table / PAGE_TABLES).and_then(OnceLock::get) else {
            return TableFigures::default();
        };
        let counters = &page[table % PAGE_TABLES];
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        TableFigures {
            reads: of(&counters.reads),
            writes: of(&counters.writes),
            invalidations: of(&counters.invalidations),
        }
    }

    /// Tables past the limit are not counted.
    fn bump(&self, TableId(table): TableId, counter: impl Fn(&Counters) -> &AtomicU64) {
        let table = table as usize;
        let Some(page) = self.0.get(table / PAGE_TABLES) else { return };
        let page = page.get_or_init(|| Box::new(std::array::from_fn(|_| Counters::default())));
        counter(&page[table % PAGE_TABLES]).fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_counted_apart_and_those_past_the_limit_not_at_all() {
        let counters = TableCounters::new(300);
        for table in [0, 256, 256, 299, 512, u32::MAX] {
            counters.count_writes(&WriteFootprint::Definition {
                tables: vec![TableId(table)],
                named: Vec::new(),
            });
        }
        let writes = |table| counters.read(TableId(table)).writes;
        assert_eq!([0, 1, 256, 299, 512].map(writes), [1, 0, 2, 1, 0]);
    }
}
