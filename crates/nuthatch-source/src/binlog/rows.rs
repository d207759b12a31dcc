//! The event that holds a table's changed rows.
//!
//! It says itself which columns its images have: that is a session's setting, so it may differ from event to event. The rows are
//! read one by one as they are asked for, and nothing is copied.

mod image;

use super::BinlogError;
use super::column_type::ColumnType;
use super::cursor::{Bitmap, Cursor};
use super::kind;
use super::table_map::{Column, TableMap};
pub use image::Image;

/// The table of an event that has no rows and ends a statement.
pub(super) const DUMMY_TABLE: u64 = 0x00FF_FFFF;
/// `STMT_END_F`.
const STATEMENT_END: u16 = 0x01;
/// `PARTIAL_JSON_UPDATES`.
const PARTIAL_JSON: u64 = 1;

/// What was done to rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum RowsKind {
    Insert,
    Update,
    Delete,
}

/// One row that was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowChange<'e> {
    /// As it was: of an update and of a delete.
    pub before: Option<Image<'e>>,
    /// As it is: of an insert and of an update.
    pub after: Option<Image<'e>>,
}

/// The rows of one event, in their order. After an error there are no more.
#[derive(Debug, Clone)]
pub struct Rows<'e> {
    columns: &'e [Column],
    kind: RowsKind,
    before: Bitmap<'e>,
    after: Bitmap<'e>,
    form: Form,
    rest: Cursor<'e>,
    progress: Progress,
}

/// How an event's number says that it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Plain,
    /// MariaDB's: the rows are compressed.
    Compressed,
    /// MySQL's: what is after an update may be told by what changed.
    Partial,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// There is one row at least, even if it takes no bytes: no column was given, and none is in the image.
    First,
    Further,
    Done,
}

/// An event up to its rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowsHead<'e> {
    pub(super) table_id: u64,
    pub(super) kind: RowsKind,
    pub(super) form: Form,
    pub(super) is_statement_end: bool,
    width: usize,
    before: Bitmap<'e>,
    after: Bitmap<'e>,
    /// As they stand in the event.
    pub(super) rows: &'e [u8],
}

/// What the numbers of rows' events say; none of other events.
pub(super) const fn meaning(number: u8) -> Option<(RowsKind, Form, Version)> {
    use {Form as F, RowsKind as R, Version as V};
    Some(match number {
        kind::WRITE_ROWS_V1 => (R::Insert, F::Plain, V::First),
        kind::UPDATE_ROWS_V1 => (R::Update, F::Plain, V::First),
        kind::DELETE_ROWS_V1 => (R::Delete, F::Plain, V::First),
        kind::WRITE_ROWS => (R::Insert, F::Plain, V::Second),
        kind::UPDATE_ROWS => (R::Update, F::Plain, V::Second),
        kind::DELETE_ROWS => (R::Delete, F::Plain, V::Second),
        kind::PARTIAL_UPDATE_ROWS => (R::Update, F::Partial, V::Second),
        kind::WRITE_ROWS_COMPRESSED_V1 => (R::Insert, F::Compressed, V::First),
        kind::UPDATE_ROWS_COMPRESSED_V1 => (R::Update, F::Compressed, V::First),
        kind::DELETE_ROWS_COMPRESSED_V1 => (R::Delete, F::Compressed, V::First),
        kind::WRITE_ROWS_COMPRESSED => (R::Insert, F::Compressed, V::Second),
        kind::UPDATE_ROWS_COMPRESSED => (R::Update, F::Compressed, V::Second),
        kind::DELETE_ROWS_COMPRESSED => (R::Delete, F::Compressed, V::Second),
        _ => return None,
    })
}

/// Of the event: the second has room for more before the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    First,
    Second,
}

impl<'e> RowsHead<'e> {
    pub(super) fn parse(
        body: &'e [u8],
        (kind, form, version): (RowsKind, Form, Version),
    ) -> Result<Self, BinlogError> {
        let mut fields = Cursor::new(body);
        let table_id = fields.number(6)?;
        let flags = fields.u16()?;
        if version == Version::Second {
            let more = usize::from(fields.u16()?).checked_sub(2);
            fields.bytes(more.ok_or(BinlogError::Malformed("the head of rows"))?)?;
        }
        let is_statement_end = flags & STATEMENT_END != 0;
        if table_id == DUMMY_TABLE {
            let none = Bitmap(&[]);
            let (width, before, after, rows) = (0, none, none, &[][..]);
            return Ok(Self { table_id, kind, form, is_statement_end, width, before, after, rows });
        }
        let width = fields.packed_len()?;
        let first = fields.bitmap(width)?;
        let (before, after) = match kind {
            RowsKind::Insert => (Bitmap(&[]), first),
            RowsKind::Delete => (first, Bitmap(&[])),
            RowsKind::Update => (first, fields.bitmap(width)?),
        };
        Ok(Self { table_id, kind, form, is_statement_end, width, before, after, rows: fields.rest() })
    }

    /// The rows, which are `rows` if they stood compressed in the event. None if the table is not readable.
    pub(super) fn rows_of(
        &self,
        table: &'e TableMap,
        rows: &'e [u8],
    ) -> Result<Option<Rows<'e>>, BinlogError> {
        if !table.is_readable() {
            return Ok(None);
        }
        if self.width != table.columns().len() {
            return Err(BinlogError::Malformed("rows of another width than their table's"));
        }
        Ok(Some(Rows {
            columns: table.columns(),
            kind: self.kind,
            before: self.before,
            after: self.after,
            form: self.form,
            rest: Cursor::new(rows),
            progress: Progress::First,
        }))
    }
}

impl<'e> Rows<'e> {
    fn row(&mut self) -> Result<RowChange<'e>, BinlogError> {
        let before = match self.kind {
            RowsKind::Insert => None,
            RowsKind::Update | RowsKind::Delete => Some(self.image(self.before, None)?),
        };
        let after = match self.kind {
            RowsKind::Delete => None,
            RowsKind::Insert | RowsKind::Update => {
                let differences = self.differences()?;
                Some(self.image(self.after, differences)?)
            }
        };
        Ok(RowChange { before, after })
    }

    fn image(
        &mut self,
        present: Bitmap<'e>,
        differences: Option<Bitmap<'e>>,
    ) -> Result<Image<'e>, BinlogError> {
        Image::parse(&mut self.rest, self.columns, present, differences)
    }

    /// Which JSON columns are told by what changed: a bit for each one that the table has.
    fn differences(&mut self) -> Result<Option<Bitmap<'e>>, BinlogError> {
        if self.form != Form::Partial || self.rest.packed()? & PARTIAL_JSON == 0 {
            return Ok(None);
        }
        let documents = self.columns.iter().filter(|column| matches!(column.kind, ColumnType::Json { .. }));
        self.rest.bitmap(documents.count()).map(Some)
    }
}

impl<'e> Iterator for Rows<'e> {
    type Item = Result<RowChange<'e>, BinlogError>;

    fn next(&mut self) -> Option<Self::Item> {
        let before = self.rest.rest().len();
        if self.progress == Progress::Done || self.progress == Progress::Further && before == 0 {
            return None;
        }
        self.progress = Progress::Further;
        let row = match self.row() {
            Ok(_) if before > 0 && self.rest.rest().len() == before => {
                Err(BinlogError::Malformed("rows without columns"))
            }
            row => row,
        };
        if row.is_err() {
            self.progress = Progress::Done;
        }
        Some(row)
    }
}
