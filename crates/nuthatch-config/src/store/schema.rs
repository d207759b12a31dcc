//! The schemas of the one connection, their tables, and how an older file becomes a current one.

use std::{io, path::Path};

use rusqlite::{Connection, OptionalExtension};

use super::StoreError;
use crate::tables::{TABLES, Table};

/// Moves when a table of the disk changes. A file with a higher number is refused.
const SCHEMA_VERSION: i64 = 2;

/// The first in which secrets are sealed.
const FIRST_SEALED_VERSION: i64 = 2;

/// Tables of the disk that are the program's own.
const INTERNAL_PREFIX: &str = "nuthatch_";

/// Attaches every schema. `disk` is the file, or memory where there is none. Gives back the version that the file had,
/// which stays written there until [`stamp`].
pub(super) fn attach(connection: &Connection, file: Option<&Path>) -> Result<Option<i64>, StoreError> {
    let path = file.map_or(Ok(":memory:"), |file| file.to_str().ok_or_else(|| not_utf8(file)))?.to_owned();
    let found = connection
        .execute("ATTACH DATABASE ?1 AS disk", [&path])
        .and_then(|_| check_version_and_migrate(connection, &path))
        .map_err(|source| StoreError::Database { path: path.clone(), source })??;
    for schema in ["stats", "monitor", "stats_history"] {
        connection.execute_batch(&format!("ATTACH DATABASE ':memory:' AS {schema}"))?;
    }
    Ok(found)
}

/// Whether a file of that version may hold secrets in clear, be it in pages that are free.
pub(super) const fn held_secrets_in_clear(version: i64) -> bool {
    version < FIRST_SEALED_VERSION
}

/// Writes the version down. At each start, also when nothing changed: a disk that takes no writes must show now, not at a SAVE.
pub(super) fn stamp(connection: &Connection) -> Result<(), StoreError> {
    connection.execute_batch(&format!(
        "SAVEPOINT stamp; DELETE FROM disk.nuthatch_schema;
         INSERT INTO disk.nuthatch_schema VALUES ({SCHEMA_VERSION}); RELEASE stamp;"
    ))?;
    Ok(())
}

fn not_utf8(file: &Path) -> StoreError {
    let source = io::Error::new(io::ErrorKind::InvalidInput, "the path is not UTF-8");
    StoreError::Datadir { path: file.display().to_string(), source }
}

/// The outer error is SQLite's, the inner one a file of a later program.
fn check_version_and_migrate(
    connection: &Connection,
    path: &str,
) -> rusqlite::Result<Result<Option<i64>, StoreError>> {
    // With `secure_delete` nothing is left of a row that was there in clear; nothing unfinished is written.
    connection.execute_batch(
        "PRAGMA disk.secure_delete = ON; PRAGMA disk.cache_spill = OFF;
         CREATE TABLE IF NOT EXISTS disk.nuthatch_schema (version INT NOT NULL);
         CREATE TABLE IF NOT EXISTS disk.nuthatch_saved (module VARCHAR PRIMARY KEY NOT NULL);",
    )?;
    let found: Option<i64> =
        connection.query_row("SELECT max(version) FROM disk.nuthatch_schema", [], |row| row.get(0))?;
    if let Some(found) = found.filter(|found| *found > SCHEMA_VERSION) {
        return Ok(Err(StoreError::Newer { path: path.to_owned(), found, known: SCHEMA_VERSION }));
    }
    connection.execute_batch("SAVEPOINT migrate")?;
    for table in TABLES {
        migrate_table(connection, table)?;
    }
    connection.execute_batch("RELEASE migrate")?;
    Ok(Ok(found))
}

/// Makes the table of the disk what this program says it is. Columns that both know keep their values.
fn migrate_table(connection: &Connection, table: &Table) -> rusqlite::Result<()> {
    let name = table.name;
    let Some(old_text) = text_of(connection, "disk", name)? else {
        return connection.execute_batch(&table.create_text("disk", name));
    };
    if old_text == table.create_text("", name) {
        return Ok(());
    }
    let kept = kept_columns(connection, table)?;
    connection.execute_batch(&format!(
        "ALTER TABLE disk.{name} RENAME TO nuthatch_old; {create};
         INSERT INTO disk.{name} ({kept}) SELECT {kept} FROM disk.nuthatch_old;
         DROP TABLE disk.nuthatch_old;",
        create = table.create_text("disk", name),
    ))
}

fn kept_columns(connection: &Connection, table: &Table) -> rusqlite::Result<String> {
    let mut select = connection.prepare("SELECT name FROM pragma_table_info(?1, 'disk')")?;
    let old: Vec<String> = select.query_map([table.name], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let kept = old.iter().filter_map(|column| table.column(column));
    Ok(kept.map(|column| format!("\"{}\"", column.name)).collect::<Vec<_>>().join(", "))
}

/// Creates the tables of `main` and their twins.
pub(super) fn create(connection: &Connection) -> Result<(), StoreError> {
    for table in TABLES {
        connection.execute_batch(&table.create_text("main", table.name))?;
        if table.has_twin {
            connection.execute_batch(&table.create_text("main", &table.twin()))?;
        }
    }
    Ok(())
}

pub(super) fn tables(connection: &Connection, schema: &str) -> Result<Vec<String>, StoreError> {
    let sql = format!(
        "SELECT name FROM {}.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
         ORDER BY name",
        quoted(schema)
    );
    let mut select = connection.prepare(&sql)?;
    let names: Vec<String> = select.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(names.into_iter().filter(|name| !name.starts_with(INTERNAL_PREFIX)).collect())
}

pub(super) fn create_table_text(
    connection: &Connection,
    schema: &str,
    table: &str,
) -> Result<Option<String>, StoreError> {
    Ok(text_of(connection, schema, table)?)
}

fn text_of(connection: &Connection, schema: &str, table: &str) -> rusqlite::Result<Option<String>> {
    let sql = format!(
        "SELECT sql FROM {}.sqlite_master WHERE type = 'table' AND name = ?1 COLLATE NOCASE",
        quoted(schema)
    );
    connection.query_row(&sql, [table], |row| row.get(0)).optional()
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
