//! From footprints to clocks: DESIGN's two tables, "reads depend on" and "writes move".

use nuthatch_cache::{BLOCK_KEYS, Clock, ClockList, Clocks, Entry, Sequence, Standing};
use nuthatch_sql::{ReadFootprint, ReadRows, RowKey, TableId, TableRead, TableWrite, WrittenRows};

/// A range that covers more blocks depends on the whole table.
const BLOCKS_MAX: u64 = 16;

/// The clocks that an answer of that many rows depends on, wide ones first. `None` if a table has no clocks. `held`: by which hashes of what
/// rows hold each write shows that it may change it; none if not each does.
pub(crate) fn dependencies(
    clocks: &Clocks,
    footprint: &ReadFootprint,
    rows: u64,
    held: impl Fn(&TableRead) -> Option<Vec<u64>>,
) -> Option<Vec<Clock>> {
    let mut found = vec![clocks.everything()];
    found.extend(footprint.definitions.map(|_| clocks.definitions()));
    for read in &footprint.tables {
        let TableId(table) = read.table;
        match &read.rows {
            ReadRows::Keys { keys, rows_tell_if_found } => {
                found.push(clocks.broad(table)?);
                if !rows_tell_if_found || rows != keys.len() as u64 {
                    found.push(clocks.absent(table)?);
                }
                found.extend(keys.iter().map(|RowKey(key)| clocks.row(table, *key)));
            }
            ReadRows::Range { from, to } if is_short(*from, *to) => {
                found.extend([clocks.broad(table)?, clocks.absent(table)?]);
                found.extend(blocks(*from, *to).map(|block| clocks.block(table, block)));
            }
            ReadRows::Range { .. } | ReadRows::Equal(_) | ReadRows::Any => match held(read) {
                Some(hashes) => {
                    found.extend([clocks.broad(table)?, clocks.valued(table)?]);
                    found.extend(hashes.into_iter().map(|hash| clocks.value(table, hash)));
                }
                None => found.push(clocks.any(table)?),
            },
        }
    }
    found.sort_unstable();
    found.dedup();
    Some(found)
}

/// What became of what an answer depends on since it was asked for, and since a snapshot.
///
/// A row that was found does not depend on `absent`: from then on it is there. At a snapshot it may not have been, be that older than the
/// answer or opened while the answer was on its way; so before a snapshot the `absent` of its tables counts as well. And what rows hold may
/// not have been shown by events yet when a snapshot was opened that is older than the answer: then any change of their table counts. Cost: a
/// load for each clock.
pub(crate) fn standing<P>(clocks: &Clocks, entry: &Entry<P>, snapshot: Option<Sequence>) -> Standing {
    let Some(snapshot) = snapshot else {
        return clocks.standing(entry.clocks(), entry.since());
    };
    let tables = entry.clocks().filter_map(|clock| clocks.table_of(clock));
    let absent = tables.filter_map(|table| clocks.absent(table));
    let is_older = snapshot < entry.since();
    let valued = |clock: Clock| clocks.table_of(clock).filter(|table| clocks.valued(*table) == Some(clock));
    let told_by_value = entry.clocks().filter(|_| is_older).filter_map(valued);
    let any = told_by_value.filter_map(|table| clocks.any(table));
    clocks.standing(absent.chain(any).chain(entry.clocks()), snapshot.min(entry.since()))
}

/// Whether what these rows hold counts, not their keys.
pub(crate) fn are_told_by_what_they_hold(rows: &ReadRows) -> bool {
    match rows {
        ReadRows::Keys { .. } => false,
        ReadRows::Range { from, to } => !is_short(*from, *to),
        ReadRows::Equal(_) | ReadRows::Any => true,
    }
}

fn is_short(from: RowKey, to: RowKey) -> bool {
    blocks(from, to).count() as u64 <= BLOCKS_MAX
}

/// The blocks of a range, but no more than one too many.
fn blocks(RowKey(from): RowKey, RowKey(to): RowKey) -> impl Iterator<Item = u64> {
    let (first, last) = (from / BLOCK_KEYS, to / BLOCK_KEYS);
    first..=last.min(first.saturating_add(BLOCKS_MAX))
}

/// The clocks that a write holds while it is in flight, of which it is not known what the rows hold, and moves but for
/// [`WrittenRows::Given`], of which more is known then.
pub(super) fn of_write(clocks: &Clocks, write: &TableWrite) -> ClockList {
    let TableId(table) = write.table;
    let wide = match &write.rows {
        WrittenRows::Any => clocks.broad(table),
        WrittenRows::Given | WrittenRows::New => clocks.absent(table),
        WrittenRows::Keys(keys) => return of_rows(clocks, write.table, keys, None),
    };
    [wide, clocks.valued(table), clocks.any(table)].into_iter().flatten().collect()
}

/// Those of rows with these keys that hold that, before or after, as an event tells; none where what they hold is not told.
pub(super) fn of_rows(clocks: &Clocks, table: TableId, keys: &[RowKey], held: Option<&[u64]>) -> ClockList {
    let TableId(number) = table;
    let valued = if held.is_none() { clocks.valued(number) } else { None };
    let mut found = ClockList::new();
    // One by one, which costs less than iterators do here.
    if let Some(valued) = valued {
        found.push(valued);
    }
    if let Some(any) = clocks.any(number) {
        found.push(any);
    }
    for key in keys {
        let [row, block] = of_row(clocks, table, *key);
        found.push(row);
        found.push(block);
    }
    found.extend(held.into_iter().flatten().map(|hash| clocks.value(number, *hash)));
    found
}

/// Those of a table in which any row may be another.
pub(super) fn of_any_row(clocks: &Clocks, table: TableId) -> ClockList {
    of_write(clocks, &TableWrite { table, rows: WrittenRows::Any, is_transactional: true })
}

/// What stays pending past the answer of a write that has written these, where its event will tell: wide clocks, and of a table of which rows
/// are not known, that of any change.
pub(super) fn is_told_later(clocks: &Clocks, written: &[Clock], clock: Clock) -> bool {
    if clocks.is_open(clock) {
        return written.contains(&clock);
    }
    clocks.table_of(clock).is_some_and(|table| {
        [clocks.broad(table), clocks.absent(table)].into_iter().flatten().any(|wide| written.contains(&wide))
    })
}

/// Those of a table that is defined anew.
pub(crate) fn of_definition(clocks: &Clocks, TableId(table): TableId) -> impl Iterator<Item = Clock> {
    [clocks.any(table), clocks.broad(table)].into_iter().flatten()
}

/// Those of one row that is made, changed or removed.
pub(super) fn of_row(clocks: &Clocks, TableId(table): TableId, RowKey(key): RowKey) -> [Clock; 2] {
    [clocks.row(table, key), clocks.block(table, key / BLOCK_KEYS)]
}

#[cfg(test)]
mod tests {
    use nuthatch_cache::ClockOptions;
    use nuthatch_sql::ColumnSet;

    use super::*;

    const TABLE: TableId = TableId(3);

    fn read(rows: ReadRows) -> ReadFootprint {
        let read = TableRead { table: TABLE, rows, looked_at: ColumnSet::ALL };
        ReadFootprint { tables: vec![read], ..ReadFootprint::default() }
    }

    fn keys(keys: &[u64], rows_tell_if_found: bool) -> ReadRows {
        ReadRows::Keys { keys: keys.iter().copied().map(RowKey).collect(), rows_tell_if_found }
    }

    fn range(from: u64, to: u64) -> ReadRows {
        ReadRows::Range { from: RowKey(from), to: RowKey(to) }
    }

    #[test]
    fn reads_depend_on_what_the_design_says() {
        let clocks = Clocks::new(ClockOptions::default());
        let (any, broad, absent) = (clocks.any(3), clocks.broad(3), clocks.absent(3));
        let row = |key| Some(clocks.row(3, key));
        let block = |number| Some(clocks.block(3, number));
        for (rows, answered, expected) in [
            (ReadRows::Any, 1, vec![any]),
            (keys(&[7], true), 1, vec![broad, row(7)]),
            (keys(&[7], true), 0, vec![broad, absent, row(7)]),
            (keys(&[7], false), 1, vec![broad, absent, row(7)]),
            (keys(&[7, 8], true), 2, vec![broad, row(7), row(8)]),
            (range(60, 70), 3, vec![broad, absent, block(0), block(1)]),
            (range(0, 1 << 20), 3, vec![any]),
            (range(0, u64::MAX), 3, vec![any]),
        ] {
            let mut expected: Vec<_> = expected.into_iter().flatten().chain([clocks.everything()]).collect();
            expected.sort_unstable();
            assert_eq!(
                dependencies(&clocks, &read(rows.clone()), answered, |_| None),
                Some(expected),
                "{rows:?}"
            );
        }
    }

    #[test]
    fn each_write_moves_a_clock_of_each_read_that_it_may_change() {
        let clocks = Clocks::new(ClockOptions::default());
        let written = |rows| of_write(&clocks, &TableWrite { table: TABLE, rows, is_transactional: true });
        let writes = [WrittenRows::Any, WrittenRows::Keys([RowKey(7)].into_iter().collect())];
        for write in writes {
            for rows in [ReadRows::Any, keys(&[7], true), keys(&[7], false), range(1, 9)] {
                let depends =
                    dependencies(&clocks, &read(rows.clone()), 1, |_| None).expect("the table has clocks");
                let moved = written(write.clone());
                assert!(depends.iter().any(|clock| moved.contains(clock)), "{write:?} {rows:?}");
            }
        }
        for (write, rows, answered) in [
            (WrittenRows::New, keys(&[7], true), 0),
            (WrittenRows::New, range(1, 9), 1),
            (WrittenRows::New, ReadRows::Any, 1),
            (WrittenRows::Given, keys(&[7], true), 0),
        ] {
            let depends =
                dependencies(&clocks, &read(rows.clone()), answered, |_| None).expect("the table has clocks");
            let moved = written(write.clone());
            assert!(depends.iter().any(|clock| moved.contains(clock)), "{write:?} {rows:?}");
        }
        let other_row =
            dependencies(&clocks, &read(keys(&[8], true)), 1, |_| None).expect("the table has clocks");
        assert!(
            !other_row
                .iter()
                .any(|clock| written(WrittenRows::Keys([RowKey(7)].into_iter().collect())).contains(clock))
        );
    }
}
