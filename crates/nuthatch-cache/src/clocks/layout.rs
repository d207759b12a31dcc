//! Where each clock stands in the array.
//!
//! `everything`, and on the cache line behind it `definitions`, which seldom moves; then four columns of one clock for each table
//! (`broad`, `absent`, `valued`, `any`); then the stripes of rows and values and those of blocks, shared by all tables. So a wide clock has a smaller number than a narrow one.
//!
//! A table's `any` is written by every write to it and its `broad` read by every read of a row, so they are in different
//! columns. In a column the first eighth of the tables have a cache line each; later ones share those.

use bytemuck::{Pod, Zeroable};

use crate::mix::mix;

/// How many neighbouring keys have one block clock.
pub const BLOCK_KEYS: u64 = 64;

/// Words of a cache line.
const LINE_WORDS: u32 = 8;
/// Words before the tables' clocks: two lines, as they are fetched in pairs.
const EVERYTHING_WORDS: u32 = 16;
const COLUMNS: u32 = 4;
/// The most that options may ask for, so that every clock has a number of 32 bits.
const TABLES_MAX: u32 = 1 << 24;
const STRIPES_MAX: u32 = 1 << 28;
/// Any odd numbers with about as many ones as zeros.
const MIX_ROW: u64 = 0x9E37_79B9_7F4A_7C15;
const MIX_BLOCK: u64 = 0xBB67_AE85_84CA_A73B;
const MIX_VALUE: u64 = 0x8CB9_2BA7_2F3D_8DD7;
const MIX_TABLE: u64 = 0xD1B5_4A32_D192_ED03;

/// How many clocks there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClockOptions {
    /// Tables that can have clocks: numbers below this; at most 2^24. Four words each.
    pub tables_max: u32,
    /// Clocks of single rows and of values, of all tables together: rounded up to a power of two, at most 2^28. One word each.
    pub row_stripes: u32,
    /// Clocks of blocks of [`BLOCK_KEYS`] neighbouring keys, likewise.
    pub block_stripes: u32,
}

/// One clock of the cache's: its number in the one array. Wide clocks are less than narrow ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable)]
#[repr(transparent)]
pub struct Clock(u32);

/// The places that follow from the options.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    tables_max: u32,
    /// A multiple of [`LINE_WORDS`], at least `tables_max`.
    column_words: u32,
    row_stripes: u32,
    block_stripes: u32,
}

/// The columns of the tables' own clocks, in their order in the array.
#[derive(Debug, Clone, Copy)]
pub(super) enum Column {
    Broad,
    Absent,
    Valued,
    Any,
}

impl Default for ClockOptions {
    /// 4.5 MiB of address space; a table that is written takes four lines of it, each of the rows one.
    fn default() -> Self {
        Self { tables_max: 1 << 16, row_stripes: 1 << 18, block_stripes: 1 << 16 }
    }
}

impl Clock {
    /// The clock that stands for all tables.
    pub(super) const EVERYTHING: Self = Self(0);
    /// The clock that stands for all definitions.
    pub(super) const DEFINITIONS: Self = Self(LINE_WORDS);

    /// Its number, to be shown.
    pub fn number(self) -> u32 {
        self.0
    }

    #[inline]
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

impl Layout {
    pub(super) fn new(options: ClockOptions) -> Self {
        let stripes = |asked: u32| asked.clamp(1, STRIPES_MAX).next_power_of_two();
        let tables_max = options.tables_max.min(TABLES_MAX);
        Self {
            tables_max,
            column_words: tables_max.next_multiple_of(LINE_WORDS),
            row_stripes: stripes(options.row_stripes),
            block_stripes: stripes(options.block_stripes),
        }
    }

    /// How many words the array has.
    pub(super) fn words(&self) -> usize {
        (self.blocks_from() + self.block_stripes) as usize
    }

    /// The table's clock of that column; none for tables past the configured number.
    pub(super) fn wide(&self, column: Column, table: u32) -> Option<Clock> {
        if table >= self.tables_max {
            return None;
        }
        let lines = self.column_words / LINE_WORDS;
        let place = table % lines * LINE_WORDS + table / lines;
        Some(Clock(EVERYTHING_WORDS + column as u32 * self.column_words + place))
    }

    /// The table whose clock of some column it is.
    pub(super) fn table_of(&self, Clock(number): Clock) -> Option<u32> {
        let place = number.checked_sub(EVERYTHING_WORDS).filter(|_| number < self.rows_from())?;
        let (place, lines) = (place % self.column_words, self.column_words / LINE_WORDS);
        Some(place / LINE_WORDS + place % LINE_WORDS * lines)
    }

    /// Whether it is the clock of that column of some table.
    pub(super) fn is_of(&self, column: Column, Clock(number): Clock) -> bool {
        let from = EVERYTHING_WORDS + column as u32 * self.column_words;
        (from..from + self.column_words).contains(&number)
    }

    pub(super) fn row(&self, table: u32, key: u64) -> Clock {
        Clock(self.rows_from() + stripe(MIX_ROW, table, key, self.row_stripes))
    }

    pub(super) fn value(&self, table: u32, value: u64) -> Clock {
        Clock(self.rows_from() + stripe(MIX_VALUE, table, value, self.row_stripes))
    }

    pub(super) fn block(&self, table: u32, block: u64) -> Clock {
        Clock(self.blocks_from() + stripe(MIX_BLOCK, table, block, self.block_stripes))
    }

    fn rows_from(&self) -> u32 {
        EVERYTHING_WORDS + COLUMNS * self.column_words
    }

    fn blocks_from(&self) -> u32 {
        self.rows_from() + self.row_stripes
    }
}

/// Which of so many stripes, a power of two.
#[expect(clippy::cast_possible_truncation, reason = "the low half of a hash is asked for")]
fn stripe(seed: u64, table: u32, number: u64, stripes: u32) -> u32 {
    let table = mix(u64::from(table) ^ MIX_TABLE, seed);
    let number = mix(number ^ seed, MIX_TABLE);
    mix(number ^ table, seed) as u32 & (stripes - 1)
}

#[cfg(test)]
mod tests;
