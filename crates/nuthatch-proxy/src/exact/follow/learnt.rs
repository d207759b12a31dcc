//! Which columns reads of a table compare with constants: what rows hold in these is read from the binlogs that are followed. And which they
//! look at at all: a row of which others were changed is as it was for them.
//!
//! They are learnt from what is asked. An answer may depend on what rows hold instead of the whole table where each event shows that: so
//! only if it was asked for when all events that were read before had settled, which each follower says of itself
//! ([`Followed::note_learnt`](crate::exact::Followed::note_learnt)).

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwap;
use nuthatch_sql::{ColumnPlaces, ColumnSet, ReadRows, TableId, TableRead, hash_of_changes, hash_of_row};
use parking_lot::Mutex;

/// Of those that compare the same columns, so many are told apart by what they look at.
const WIDTHS_MAX: usize = 4;

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

/// Columns that are compared together, and those that are looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LearntColumns {
    /// None of them: of any row it counts.
    pub(crate) columns: ColumnPlaces,
    /// Those that are compared are among them. All: each change counts.
    pub(crate) looked_at: ColumnSet,
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

    /// What this read compares and looks at is to be shown; its table may have so many sets of columns. Half of them are left to reads that look at
    /// all. Cost: a look, if it is known.
    pub(crate) fn learn(&self, read: &TableRead, sets_max: usize) {
        if self.known.load().has(read, sets_max) {
            return;
        }
        let _one_at_a_time = self.making.lock();
        let mut known = Known::clone(&self.known.load());
        if known.has(read, sets_max) {
            return;
        }
        let of_table = known.of(read.table);
        if of_table.len() >= sets_max {
            self.left_out.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let new = LearntColumns {
            columns: ColumnPlaces::from_slice(compared(read)),
            looked_at: known.width_of(read, sets_max),
            since: known.generation + 1,
        };
        let all = of_table.iter().cloned().chain([new]).collect();
        known.tables.insert(read.table, all);
        known.generation += 1;
        self.known.store(Arc::new(known));
    }

    pub(crate) fn figures(&self) -> LearntFigures {
        let columns = self.known.load().tables.values().map(|of_table| of_table.len() as u64).sum();
        LearntFigures { columns, left_out: self.left_out.load(Ordering::Relaxed) }
    }
}

impl Known {
    /// The sets of columns of a table that are known.
    pub(crate) fn of(&self, table: TableId) -> &[LearntColumns] {
        self.tables.get(&table).map_or(&[], |of_table| of_table)
    }

    /// What tells most of what may change the answer of a read, of what is shown that was learnt at a generation.
    pub(crate) fn narrowest(&self, read: &TableRead, shows: impl Fn(u64) -> bool) -> Option<&LearntColumns> {
        let columns = compared(read);
        let tells = |known: &&LearntColumns| {
            (*known.columns == *columns || known.columns.is_empty())
                && known.looked_at.has_all_of(looked_at(read))
                && shows(known.since)
        };
        let told = self.of(read.table).iter().filter(tells);
        told.min_by_key(|known| (*known.columns != *columns, known.looked_at.count()))
    }

    /// Whether nothing is to be learnt of a read.
    fn has(&self, read: &TableRead, sets_max: usize) -> bool {
        let (columns, width) = (compared(read), self.width_of(read, sets_max));
        let is_it = |known: &LearntColumns| *known.columns == *columns && known.looked_at == width;
        columns.is_empty() && width == ColumnSet::ALL || self.of(read.table).iter().any(is_it)
    }

    /// Which columns are to count for a read: those that it looks at, or all where there are too many sets of them.
    fn width_of(&self, read: &TableRead, sets_max: usize) -> ColumnSet {
        let wanted = looked_at(read);
        let narrow = || self.of(read.table).iter().filter(|known| known.looked_at != ColumnSet::ALL);
        let columns = compared(read);
        let of_columns = || narrow().filter(|known| *known.columns == *columns);
        let is_known = of_columns().any(|known| known.looked_at == wanted);
        let has_room = of_columns().count() < WIDTHS_MAX && narrow().count() < sets_max / 2;
        if is_known || has_room { wanted } else { ColumnSet::ALL }
    }
}

impl LearntColumns {
    /// By which hashes it is shown that something may change the answer of a read.
    pub(crate) fn hashes_of(&self, read: &TableRead) -> Vec<u64> {
        let of_any_row = || hash_of_row(&[], []).into_iter().collect();
        let hashes: Vec<u64> = match &read.rows {
            ReadRows::Equal(equality) if equality.columns == self.columns => equality.hashes.clone(),
            _ => of_any_row(),
        };
        hashes.into_iter().map(|hash| hash_of_changes(hash, self.looked_at)).collect()
    }
}

/// The columns that a read compares with constants.
fn compared(read: &TableRead) -> &[u16] {
    match &read.rows {
        ReadRows::Equal(equality) => &equality.columns,
        _ => &[],
    }
}

/// Those that it looks at, among them those that it compares.
fn looked_at(read: &TableRead) -> ColumnSet {
    compared(read).iter().fold(read.looked_at, |all, place| all.with(usize::from(*place)))
}

#[cfg(test)]
mod tests {
    use nuthatch_sql::Equality;

    use super::*;

    const TABLE: TableId = TableId(7);

    fn read(compared: &[u16], looked_at: &[usize]) -> TableRead {
        let rows = match compared {
            [] => ReadRows::Any,
            columns => {
                let hashes = hash_of_row(columns, []).into_iter().collect();
                ReadRows::Equal(Equality { columns: ColumnPlaces::from_slice(columns), hashes })
            }
        };
        let looked_at =
            if looked_at.is_empty() { ColumnSet::ALL } else { looked_at.iter().copied().collect() };
        TableRead { table: TABLE, rows, looked_at }
    }

    fn narrowest(known: &Known, read: &TableRead) -> Option<(Vec<u16>, ColumnSet)> {
        let found = known.narrowest(read, |_| true)?;
        Some((found.columns.to_vec(), found.looked_at))
    }

    #[test]
    fn columns_are_learnt_once_and_no_more_than_a_table_may_have() {
        let learnt = Learnt::default();
        let [one, two, three] = [&[1][..], &[1, 2], &[3]].map(|columns| read(columns, &[]));
        for read in [&one, &two, &one, &three] {
            learnt.learn(read, 2);
        }
        let known = learnt.known();
        let since = [&one, &two, &three].map(|read| known.narrowest(read, |_| true).map(|found| found.since));
        assert_eq!((since, known.generation), ([Some(1), Some(2), None], 2));
        assert_eq!(known.narrowest(&one, |since| since > 1), None);
        let elsewhere = TableRead { table: TableId(8), ..one };
        assert_eq!(known.narrowest(&elsewhere, |_| true), None);
        assert_eq!(learnt.figures(), LearntFigures { columns: 2, left_out: 1 });
    }

    #[test]
    fn each_read_goes_by_what_tells_it_most() {
        let learnt = Learnt::default();
        let (by_value, of_some, of_all) = (read(&[1], &[2]), read(&[], &[1, 2, 3]), read(&[], &[]));
        learnt.learn(&of_all, 16);
        assert_eq!(learnt.known().generation, 0, "each change of a table is known anyway");
        learnt.learn(&of_some, 16);
        let set = |places: &[usize]| places.iter().copied().collect::<ColumnSet>();
        let of_any_row = Some((vec![], set(&[1, 2, 3])));
        assert_eq!(narrowest(&learnt.known(), &by_value), of_any_row);
        assert_eq!(narrowest(&learnt.known(), &of_all), None);
        learnt.learn(&read(&[1], &[]), 16);
        assert_eq!(narrowest(&learnt.known(), &by_value), Some((vec![1], ColumnSet::ALL)));
        learnt.learn(&by_value, 16);
        assert_eq!(narrowest(&learnt.known(), &by_value), Some((vec![1], set(&[1, 2]))));
        assert_eq!(narrowest(&learnt.known(), &read(&[1], &[4])), Some((vec![1], ColumnSet::ALL)));
        assert_eq!(narrowest(&learnt.known(), &read(&[], &[3])), of_any_row);
    }

    #[test]
    fn room_is_left_for_reads_that_look_at_all() {
        let learnt = Learnt::default();
        for place in 10..30 {
            learnt.learn(&read(&[1], &[place]), 16);
        }
        let known = learnt.known();
        assert_eq!(known.of(TABLE).len(), WIDTHS_MAX + 1, "and one for all others");
        assert_eq!(narrowest(&known, &read(&[1], &[29])), Some((vec![1], ColumnSet::ALL)));
        for column in 2..20 {
            learnt.learn(&read(&[column], &[30]), 16);
        }
        let known = learnt.known();
        assert_eq!(known.of(TABLE).iter().filter(|known| known.looked_at != ColumnSet::ALL).count(), 8);
        assert_eq!(known.of(TABLE).len(), 16);
    }

    #[test]
    fn reads_of_one_width_depend_on_the_same_changes() {
        let learnt = Learnt::default();
        let (narrow, wide) = (read(&[1], &[2]), read(&[1], &[]));
        learnt.learn(&narrow, 16);
        learnt.learn(&wide, 16);
        let known = learnt.known();
        let hashes = |read: &TableRead| known.narrowest(read, |_| true).map(|found| found.hashes_of(read));
        assert_ne!(hashes(&narrow), hashes(&wide));
        assert_eq!(hashes(&wide), hash_of_row(&[1], []).map(|hash| vec![hash]));
    }
}
