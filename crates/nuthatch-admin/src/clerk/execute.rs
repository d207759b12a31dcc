//! One SQL statement of a client, from SQLite's rows to its answer, under a limit of time and one of memory.

use nuthatch_wire::Column;
use rusqlite::types::Value;
use rusqlite::{Connection, Statement};

use super::watch::{STATEMENT_MAX, Watch};
use crate::answer::{Answer, Done, Rows, column_type};
use crate::error::AdminError;

/// The most bytes of values that a result may have.
const RESULT_BYTES_MAX: usize = 64 << 20;

/// Bytes that a value counts besides its text.
const VALUE_BYTES: usize = size_of::<Value>();

/// Runs the statement with these values for its parameters. Where it inserts into a table with automatic ids, the answer
/// says which id was given.
pub(super) fn run(
    connection: &Connection,
    watch: &Watch,
    sql: &str,
    parameters: &[Value],
    inserts_into: Option<&str>,
) -> Result<Answer, AdminError> {
    let mut statement = connection.prepare(sql)?;
    if statement.parameter_count() != parameters.len() {
        return Err(AdminError::Malformed("parameters and user variables are not known here".to_owned()));
    }
    for (place, value) in parameters.iter().enumerate() {
        statement.raw_bind_parameter(place + 1, value)?;
    }
    let answer = watch.limit(|| match statement.column_count() {
        0 => change(connection, statement, inserts_into),
        _ => collect(statement),
    });
    answer.map_err(in_time)
}

fn change(
    connection: &Connection,
    mut statement: Statement<'_>,
    inserts_into: Option<&str>,
) -> Result<Answer, AdminError> {
    statement.raw_execute()?;
    if statement.readonly() {
        return Ok(Answer::done());
    }
    let has_automatic_ids = inserts_into == Some("mysql_query_rules");
    let insert_id = if has_automatic_ids { connection.last_insert_rowid() } else { 0 };
    Ok(Answer::Done(Done {
        affected_rows: connection.changes(),
        insert_id: u64::try_from(insert_id).unwrap_or_default(),
        warnings: Vec::new(),
    }))
}

fn collect(mut statement: Statement<'_>) -> Result<Answer, AdminError> {
    let declared: Vec<(String, Option<String>)> = statement
        .columns()
        .map(|column| (column.name().to_owned(), column.decl_type().map(str::to_owned)))
        .collect();
    let mut rows = Vec::new();
    let mut left = RESULT_BYTES_MAX;
    let mut cursor = statement.raw_query();
    while let Some(row) = cursor.next()? {
        let values = (0..declared.len()).map(|place| row.get(place)).collect::<Result<Vec<Value>, _>>()?;
        let bytes: usize = values.iter().map(value_bytes).sum();
        left = left.checked_sub(bytes).ok_or(AdminError::ResultTooLarge { limit_bytes: RESULT_BYTES_MAX })?;
        rows.push(values);
    }
    let columns = declared
        .into_iter()
        .enumerate()
        .map(|(place, (name, declared))| {
            let of_values = column_type(rows.iter().map(|row| &row[place]), declared.as_deref());
            match of_values {
                nuthatch_wire::ColumnType::MYSQL_TYPE_LONGLONG => Column::integer(name),
                column_type => Column { column_type, ..Column::text(name) },
            }
        })
        .collect();
    Ok(Answer::Rows(Rows { columns, rows }))
}

fn value_bytes(value: &Value) -> usize {
    let text = match value {
        Value::Text(text) => text.len(),
        Value::Blob(bytes) => bytes.len(),
        Value::Null | Value::Integer(_) | Value::Real(_) => 0,
    };
    VALUE_BYTES + text
}

/// SQLite says "interrupted" when the watch stops a statement.
fn in_time(error: AdminError) -> AdminError {
    match error {
        AdminError::Sqlite { message, .. } if message == "interrupted" => AdminError::TooLong(STATEMENT_MAX),
        other => other,
    }
}
