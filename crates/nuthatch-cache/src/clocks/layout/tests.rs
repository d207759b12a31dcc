use std::collections::HashSet;

use super::*;

const SMALL: ClockOptions = ClockOptions { tables_max: 37, row_stripes: 60, block_stripes: 9 };

/// All clocks of a layout's tables and of so many keys.
fn clocks(layout: &Layout, tables: u32, keys: u64) -> (Vec<Clock>, Vec<Clock>) {
    let columns = [Column::Broad, Column::Absent, Column::Valued, Column::Any];
    let wide = columns.iter().flat_map(|column| (0..tables).filter_map(|table| layout.wide(*column, table)));
    let narrow = (0..tables).flat_map(|table| {
        (0..keys)
            .flat_map(move |key| [layout.row(table, key), layout.value(table, key), layout.block(table, key)])
    });
    (wide.collect(), narrow.collect())
}

#[test]
fn wide_clocks_are_distinct_and_come_before_all_narrow_ones() {
    let layout = Layout::new(SMALL);
    let (wide, narrow) = clocks(&layout, 50, 300);
    assert_eq!(wide.iter().collect::<HashSet<_>>().len(), 4 * 37);
    assert!(Clock::EVERYTHING < Clock::DEFINITIONS && wide.iter().all(|clock| *clock > Clock::DEFINITIONS));
    assert_eq!([Clock::EVERYTHING, Clock::DEFINITIONS].map(|clock| layout.table_of(clock)), [None; 2]);
    assert!(wide.iter().max() < narrow.iter().min());
    let last = narrow.iter().max().unwrap();
    assert_eq!(last.index() + 1, layout.words(), "the last stripe is the last word");
}

#[test]
fn tables_past_the_limit_have_no_clocks() {
    for tables_max in [0, 1, 7, 8, 9, 65_536] {
        let layout = Layout::new(ClockOptions { tables_max, ..SMALL });
        for column in [Column::Broad, Column::Absent, Column::Valued, Column::Any] {
            assert!(tables_max == 0 || layout.wide(column, tables_max - 1).is_some(), "{tables_max}");
            assert_eq!(layout.wide(column, tables_max), None, "{tables_max}");
            assert_eq!(layout.wide(column, u32::MAX), None, "{tables_max}");
        }
    }
}

#[test]
fn largest_options_still_number_every_clock() {
    let most = ClockOptions { tables_max: u32::MAX, row_stripes: u32::MAX, block_stripes: u32::MAX };
    assert!(u32::try_from(Layout::new(most).words()).is_ok());
    let least = Layout::new(ClockOptions { tables_max: 0, row_stripes: 0, block_stripes: 0 });
    assert_eq!(least.words(), EVERYTHING_WORDS as usize + 2);
    assert_eq!((least.row(1, 2), least.row(3, 4)), (least.row(0, 0), least.row(9, 9)));
}

#[test]
fn stripes_are_rounded_up_and_rows_and_blocks_have_their_own() {
    let layout = Layout::new(SMALL);
    let rows: HashSet<_> = (0..2_000).map(|key| layout.row(0, key)).collect();
    let blocks: HashSet<_> = (0..2_000).map(|block| layout.block(0, block)).collect();
    assert_eq!((rows.len(), blocks.len()), (64, 16));
    assert!(rows.is_disjoint(&blocks));
}

#[test]
fn first_eighth_of_the_tables_share_no_cache_line() {
    let layout = Layout::new(ClockOptions { tables_max: 4_096, ..SMALL });
    let (wide, _) = clocks(&layout, 512, 0);
    let lines: HashSet<_> = wide.iter().map(|clock| clock.number() / LINE_WORDS).collect();
    assert_eq!(lines.len(), 4 * 512);
    let all = clocks(&layout, 4_096, 0).0;
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), 4 * 4_096);
    assert!(all.iter().all(|clock| clock.number() >= EVERYTHING_WORDS), "everything has its lines alone");
}

#[test]
fn keys_of_every_stride_and_table_spread_over_the_stripes() {
    let layout = Layout::new(ClockOptions { tables_max: 1, row_stripes: 1_024, block_stripes: 1_024 });
    type Row = fn(u32) -> (u32, u64);
    let patterns: [(&str, Row); 6] = [
        ("one after the other", |i| (3, u64::from(i))),
        ("by 1,024", |i| (3, u64::from(i) << 10)),
        ("by 2^40", |i| (3, u64::from(i) << 40)),
        ("from the top", |i| (3, u64::MAX - u64::from(i))),
        ("one key of each table", |i| (i, 42)),
        ("the same number as the table", |i| (i, u64::from(i))),
    ];
    for (name, row) in patterns {
        for clock_of in [Layout::row, Layout::block] {
            let clocks: HashSet<_> =
                (0..1_024).map(row).map(|(table, key)| clock_of(&layout, table, key)).collect();
            // Chance gives 1,024 * (1 - 1/e) = 647 of them.
            assert!(clocks.len() > 600, "{name}: {} stripes", clocks.len());
        }
    }
}

#[test]
fn wide_clocks_tell_their_table_and_others_none() {
    let layout = Layout::new(SMALL);
    for column in [Column::Broad, Column::Absent, Column::Valued, Column::Any] {
        for table in 0..SMALL.tables_max {
            let clock = layout.wide(column, table).unwrap();
            assert_eq!(layout.table_of(clock), Some(table), "{column:?}");
        }
    }
    let (_, narrow) = clocks(&layout, 3, 9);
    assert!(narrow.iter().chain([&Clock::EVERYTHING]).all(|clock| layout.table_of(*clock).is_none()));
}
