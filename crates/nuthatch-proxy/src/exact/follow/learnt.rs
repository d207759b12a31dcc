//! Which columns reads of a table compare with constants: what rows hold in these is read from the binlogs that are followed.
//!
//! They are learnt from what is asked. An answer may depend on what rows hold instead of the whole table where each event shows that: so
//! only if it was asked for when all events that were read before had settled, which each follower says of itself
//! ([`Followed::note_learnt`](crate::exact::Followed::note_learnt)).

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwap;
use nuthatch_sql::{ColumnPlaces, TableId};
use parking_lot::Mutex;

/// See the module's doc.
#[derive(Debug, Default)]
pub(crate) struct Learnt {
    known: ArcSwap<Known>,
    making: Mutex<()>,
    left_out: AtomicU64,
}

/// What is learnt at a time.
#[derive(Debug, Default, Clone)]
pub(crate) struct Known {
    /// How often something was learnt.
    pub(crate) generation: u64,
    tables: HashMap<TableId, Arc<[LearntColumns]>>,
}

/// Columns that are compared together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LearntColumns {
    pub(crate) columns: ColumnPlaces,
    /// From which generation on they are known.
    since: u64,
}

/// What is learnt, for operators.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LearntFigures {
    /// Sets of columns of all tables.
    pub columns: u64,
    /// How often a read compared others, of a table that has as many as it may.
    pub left_out: u64,
}

impl Learnt {
    /// What is known now.
    pub(crate) fn known(&self) -> Arc<Known> {
        self.known.load_full()
    }

    /// Since which generation these are known; none if they are not.
    pub(crate) fn since(&self, table: TableId, columns: &ColumnPlaces) -> Option<u64> {
        self.known.load().since(table, columns)
    }

    /// These columns of the table are compared together; it may have so many sets of them. Cost: a look, if they are known.
    pub(crate) fn learn(&self, table: TableId, columns: &ColumnPlaces, sets_max: usize) {
        if self.since(table, columns).is_some() {
            return;
        }
        let _one_at_a_time = self.making.lock();
        let mut known = Known::clone(&self.known.load());
        if known.since(table, columns).is_some() {
            return;
        }
        let of_table = known.of(table);
        if of_table.len() >= sets_max {
            self.left_out.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let new = LearntColumns { columns: columns.clone(), since: known.generation + 1 };
        let all = of_table.iter().cloned().chain([new]).collect();
        known.tables.insert(table, all);
        known.generation += 1;
        self.known.store(Arc::new(known));
    }

    pub(crate) fn figures(&self) -> LearntFigures {
        let columns = self.known.load().tables.values().map(|of_table| of_table.len() as u64).sum();
        LearntFigures { columns, left_out: self.left_out.load(Ordering::Relaxed) }
    }
}

impl Known {
    /// The sets of columns of a table that are compared.
    pub(crate) fn of(&self, table: TableId) -> &[LearntColumns] {
        self.tables.get(&table).map_or(&[], |of_table| of_table)
    }

    /// Since which generation these are; none if they are not.
    fn since(&self, table: TableId, columns: &ColumnPlaces) -> Option<u64> {
        self.of(table).iter().find(|known| known.columns == *columns).map(|known| known.since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_learnt_once_and_no_more_than_a_table_may_have() {
        let (learnt, table) = (Learnt::default(), TableId(7));
        let [one, two, three] = [&[1][..], &[1, 2], &[3]].map(ColumnPlaces::from_slice);
        for columns in [&one, &two, &one, &three] {
            learnt.learn(table, columns, 2);
        }
        let known = learnt.known();
        let since = [&one, &two, &three].map(|columns| known.since(table, columns));
        assert_eq!((since, known.generation), ([Some(1), Some(2), None], 2));
        assert_eq!(known.since(TableId(8), &one), None);
        assert_eq!(learnt.figures(), LearntFigures { columns: 2, left_out: 1 });
    }
}
