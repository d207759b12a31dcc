//! The rows of a twin that can be used.

use rusqlite::Connection;

use crate::store::{
    StoreError, Warnings,
    row::{ColumnFault, RowReader},
};
use crate::tables::{self, Table};

pub(super) fn table(name: &str) -> &'static Table {
    tables::table(name).expect("the loaders name tables that are defined")
}

/// Reads every row of a twin that can be used, in the order of `order`. The others are taken out of the twin, with a
/// warning that begins with what `name` says of the row.
pub(super) fn read_rows<T>(
    connection: &Connection,
    table: &Table,
    order: &str,
    name: impl Fn(&RowReader<'_>) -> String,
    read: impl Fn(&RowReader<'_>) -> Result<T, ColumnFault>,
    warnings: &mut Warnings,
) -> Result<Vec<T>, StoreError> {
    let stored: Vec<_> = table.columns.iter().filter(|column| !column.acts).collect();
    let is_set = stored.iter().map(|column| format!(", {}", column.is_set())).collect::<String>();
    let first_stored = table.columns.len() + 1;
    let twin = table.twin();
    let sql = format!(
        "SELECT rowid AS nuthatch_row, {}{is_set} FROM main.{twin} ORDER BY {order}",
        table.column_list()
    );
    let (mut used, mut refused) = (Vec::new(), Vec::new());
    let mut select = connection.prepare(&sql)?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let reader = RowReader(row);
        match read(&reader) {
            Ok(value) => used.push(value),
            Err(fault) => {
                refused.push(row.get::<_, i64>(0)?);
                warnings.push(format!("{}: {fault}; the row is left out", name(&reader)));
                continue;
            }
        }
        for (index, column) in stored.iter().enumerate() {
            if row.get(first_stored + index)? {
                warnings.push(format!(
                    "{}: column \"{}\" is stored but does not act yet",
                    name(&reader),
                    column.name
                ));
            }
        }
    }
    for row in refused {
        connection.execute(&format!("DELETE FROM main.{twin} WHERE rowid = ?1"), [row])?;
    }
    Ok(used)
}
