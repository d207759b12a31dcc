//! A stats table in one definition: columns, row type and where its rows come from.
//!
//! [`stats_table!`] makes the public row struct, the DDL and the binding of a row to an INSERT out of one list of fields,
//! so that they cannot differ.

use std::fmt::Write as _;
use std::sync::Arc;

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use crate::data_plane::{DataPlane, Reading};

/// The schema that most of them are in.
pub(crate) const SCHEMA: &str = "stats";

/// A table that shows the running process.
pub(crate) trait StatsTable: Sized {
    /// Where it is.
    const SCHEMA: &'static str = SCHEMA;
    /// Its name.
    const TABLE: &'static str;
    /// Each column with its type and constraints, in order.
    const COLUMNS: &'static [&'static str];
    /// Constraints of the table, each with a comma before it.
    const CONSTRAINTS: &'static str;

    /// The rows of this moment.
    fn rows(plane: &dyn DataPlane, reading: Reading) -> Vec<Self>;

    /// This row's values in the order of the columns.
    fn cells(&self) -> Vec<Value>;
}

/// Creates the table, empty, under the given name.
pub(super) fn create<T: StatsTable>(connection: &Connection, name: &str) -> rusqlite::Result<()> {
    let columns = T::COLUMNS.join(" , ");
    connection.execute(&format!("CREATE TABLE {}.{name} ({columns}{})", T::SCHEMA, T::CONSTRAINTS), [])?;
    Ok(())
}

/// Replaces the rows of the table by those of this moment.
pub(super) fn refill<T: StatsTable>(
    connection: &Connection,
    name: &str,
    plane: &dyn DataPlane,
    reading: Reading,
) -> rusqlite::Result<()> {
    let rows = T::rows(plane, reading);
    let mut insert = format!("INSERT OR REPLACE INTO {}.{name} VALUES (?1", T::SCHEMA);
    for place in 2..=T::COLUMNS.len() {
        write!(insert, ",?{place}").expect("a String takes all writes");
    }
    insert.push(')');
    connection.execute_batch("SAVEPOINT nuthatch_refill")?;
    let filled = fill(connection, &format!("{}.{name}", T::SCHEMA), &insert, &rows);
    let close = match filled {
        Ok(()) => "RELEASE nuthatch_refill",
        Err(_) => "ROLLBACK TO nuthatch_refill; RELEASE nuthatch_refill",
    };
    connection.execute_batch(close)?;
    filled
}

fn fill<T: StatsTable>(
    connection: &Connection,
    name: &str,
    insert: &str,
    rows: &[T],
) -> rusqlite::Result<()> {
    connection.execute(&format!("DELETE FROM {name}"), [])?;
    let mut insert = connection.prepare(insert)?;
    for row in rows {
        insert.execute(params_from_iter(row.cells()))?;
    }
    Ok(())
}

/// A field's value as SQLite takes it.
pub(crate) trait Cell {
    fn cell(&self) -> Value;
}

impl Cell for u64 {
    fn cell(&self) -> Value {
        Value::Integer(i64::try_from(*self).unwrap_or(i64::MAX))
    }
}

impl Cell for u32 {
    fn cell(&self) -> Value {
        Value::Integer(i64::from(*self))
    }
}

impl Cell for u16 {
    fn cell(&self) -> Value {
        Value::Integer(i64::from(*self))
    }
}

impl Cell for i32 {
    fn cell(&self) -> Value {
        Value::Integer(i64::from(*self))
    }
}

impl Cell for String {
    fn cell(&self) -> Value {
        Value::Text(self.clone())
    }
}

impl Cell for &'static str {
    fn cell(&self) -> Value {
        Value::Text((*self).to_owned())
    }
}

impl Cell for Arc<str> {
    fn cell(&self) -> Value {
        Value::Text(self.as_ref().to_owned())
    }
}

impl<T: Cell> Cell for Option<T> {
    fn cell(&self) -> Value {
        self.as_ref().map_or(Value::Null, Cell::cell)
    }
}

macro_rules! stats_table {
    (
        $(#[$doc:meta])*
        $row:ident in $table:literal, $(schema: $schema:literal,)? rows: $rows:expr, constraints: $constraints:literal;
        $($(#[$field_doc:meta])* $field:ident: $type:ty => $column:literal,)*
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $row {
            $($(#[$field_doc])* pub $field: $type,)*
        }

        impl $crate::stats::table::StatsTable for $row {
            $(const SCHEMA: &'static str = $schema;)?
            const TABLE: &'static str = $table;
            const COLUMNS: &'static [&'static str] = &[$($column),*];
            const CONSTRAINTS: &'static str = $constraints;

            fn rows(plane: &dyn $crate::data_plane::DataPlane, reading: $crate::data_plane::Reading) -> Vec<Self> {
                let rows: fn(&dyn $crate::data_plane::DataPlane, $crate::data_plane::Reading) -> Vec<Self> = $rows;
                rows(plane, reading)
            }

            fn cells(&self) -> Vec<rusqlite::types::Value> {
                vec![$($crate::stats::table::Cell::cell(&self.$field)),*]
            }
        }
    };
}

pub(crate) use stats_table;
