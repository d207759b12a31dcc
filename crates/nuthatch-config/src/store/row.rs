//! Reads one row of a table into typed fields; what does not fit is named by its column.
//!
//! SQLite lets a text stand in an INT column, so the checks of the tables are not enough.

use rusqlite::{Row, types::ValueRef};

/// One row.
pub(super) struct RowReader<'r>(pub(super) &'r Row<'r>);

/// A column holds what the program cannot use. Reads after `rule 7: `.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("column \"{column}\" {reason}")]
pub(super) struct ColumnFault {
    pub(super) column: &'static str,
    pub(super) reason: String,
}

impl RowReader<'_> {
    pub(super) fn text(&self, column: &'static str) -> Result<String, ColumnFault> {
        self.text_or_null(column)?.ok_or_else(|| fault(column, "is NULL"))
    }

    pub(super) fn text_or_null(&self, column: &'static str) -> Result<Option<String>, ColumnFault> {
        let bytes = self.bytes_or_null(column)?;
        bytes
            .map(|bytes| {
                String::from_utf8(bytes).map_err(|error| fault(column, &error.utf8_error().to_string()))
            })
            .transpose()
    }

    /// Text or blob as it is.
    pub(super) fn bytes_or_null(&self, column: &'static str) -> Result<Option<Vec<u8>>, ColumnFault> {
        match self.value(column)? {
            ValueRef::Null => Ok(None),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Ok(Some(bytes.to_vec())),
            ValueRef::Integer(number) => Ok(Some(number.to_string().into_bytes())),
            ValueRef::Real(_) => Err(fault(column, "is not a text")),
        }
    }

    /// A number, as `T` can hold it; NULL where it is none.
    pub(super) fn number_or_null<T: TryFrom<i64>>(
        &self,
        column: &'static str,
    ) -> Result<Option<T>, ColumnFault> {
        match self.value(column)? {
            ValueRef::Null => Ok(None),
            ValueRef::Integer(number) => {
                T::try_from(number).ok().map(Some).ok_or_else(|| fault(column, "is out of range"))
            }
            _ => Err(fault(column, "is not a whole number")),
        }
    }

    pub(super) fn number<T: TryFrom<i64>>(&self, column: &'static str) -> Result<T, ColumnFault> {
        self.number_or_null(column)?.ok_or_else(|| fault(column, "is NULL"))
    }

    pub(super) fn flag(&self, column: &'static str) -> Result<bool, ColumnFault> {
        self.number::<i64>(column).map(|number| number != 0)
    }

    fn value(&self, column: &'static str) -> Result<ValueRef<'_>, ColumnFault> {
        self.0.get_ref(column).map_err(|error| fault(column, &error.to_string()))
    }
}

pub(super) fn fault(column: &'static str, reason: &str) -> ColumnFault {
    ColumnFault { column, reason: reason.to_owned() }
}
