//! A row as it was or as it is, with the columns that its event has chosen.

use super::super::BinlogError;
use super::super::column_type::ColumnType;
use super::super::cursor::{Bitmap, Cursor};
use super::super::table_map::Column;
use super::super::value::Value;

/// One of a row's two images.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Image<'e> {
    columns: &'e [Column],
    /// Which columns it has.
    present: Bitmap<'e>,
    /// Which of those are NULL.
    nulls: Bitmap<'e>,
    /// Which of the table's JSON columns are told by what changed.
    differences: Option<Bitmap<'e>>,
    /// All values, one behind the other. Invariant: each of them is whole.
    values: &'e [u8],
}

impl<'e> Image<'e> {
    /// Takes it off the rows.
    pub(super) fn parse(
        rows: &mut Cursor<'e>,
        columns: &'e [Column],
        present: Bitmap<'e>,
        differences: Option<Bitmap<'e>>,
    ) -> Result<Self, BinlogError> {
        let nulls = rows.bitmap(present.count(columns.len()))?;
        let whole = rows.rest();
        let mut walk = Self { columns, present, nulls, differences, values: whole }.walk();
        while let Some(value) = walk.step() {
            value?;
        }
        let values = rows.bytes(whole.len() - walk.rest.rest().len())?;
        Ok(Self { columns, present, nulls, differences, values })
    }

    /// The value of the table's column of this number, from 0 on. None if the image does not have it, or the table.
    ///
    /// Cost: of all values before it.
    #[must_use]
    pub fn value(&self, column: usize) -> Option<Value<'e>> {
        self.values().find_map(|(place, value)| (place == column).then_some(value))
    }

    /// All values that it has, with their columns' numbers.
    pub fn values(&self) -> impl Iterator<Item = (usize, Value<'e>)> + use<'e> {
        let mut walk = self.walk();
        std::iter::from_fn(move || walk.step()?.ok())
    }

    fn walk(&self) -> Walk<'e> {
        Walk { image: *self, rest: Cursor::new(self.values), column: 0, ordinal: 0, document: 0 }
    }
}

/// On the way through an image.
struct Walk<'e> {
    image: Image<'e>,
    rest: Cursor<'e>,
    /// The next column; which it is among those that the image has, and which among those of JSON.
    column: usize,
    ordinal: usize,
    document: usize,
}

impl<'e> Walk<'e> {
    /// The next column that the image has.
    fn step(&mut self) -> Option<Result<(usize, Value<'e>), BinlogError>> {
        loop {
            let place = self.column;
            let kind = self.image.columns.get(place)?.kind;
            self.column += 1;
            let is_difference = matches!(kind, ColumnType::Json { .. }) && self.is_next_a_difference();
            if self.image.present.has(place) {
                return Some(self.take(kind, is_difference).map(|value| (place, value)));
            }
        }
    }

    /// Asked once for each JSON column, whether the image has it or not.
    fn is_next_a_difference(&mut self) -> bool {
        let document = self.document;
        self.document += 1;
        self.image.differences.is_some_and(|differences| differences.has(document))
    }

    fn take(&mut self, kind: ColumnType, is_difference: bool) -> Result<Value<'e>, BinlogError> {
        let ordinal = self.ordinal;
        self.ordinal += 1;
        if self.image.nulls.has(ordinal) {
            return Ok(Value::Null);
        }
        Ok(match kind.take(&mut self.rest)? {
            Value::Json(bytes) if is_difference => Value::Partial(bytes),
            value => value,
        })
    }
}
