//! Puts a seed's rows into memory: as new rows at a first start, over old rows at `LOAD … FROM CONFIG`, and column by
//! column for flags that were given explicitly.

use rusqlite::{Connection, ToSql};

use super::variable::judge_variable;
use super::{Seed, SeedRow, SeedValue, StoreError};
use crate::{
    tables::{self, Table},
    variables::{AdminVariables, Effect, MysqlVariables},
    verb::Module,
};

/// How a row of a seed meets one that is there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Meeting {
    /// It must not be there.
    Refuse,
    /// The seed's row takes its place.
    Replace,
    /// The seed's columns change it, the others stay.
    Change,
}

/// Puts the module's part of a seed into memory.
pub(super) fn merge(
    connection: &Connection,
    seed: &Seed,
    module: Module,
    meeting: Meeting,
) -> Result<(), StoreError> {
    let (table, rows) = match module {
        Module::MysqlUsers => ("mysql_users", &seed.users),
        Module::MysqlServers => ("mysql_servers", &seed.servers),
        Module::MysqlQueryRules => ("mysql_query_rules", &seed.rules),
        Module::MysqlVariables => return merge_variables(connection, seed, MysqlVariables::MODULE),
        Module::AdminVariables => return merge_variables(connection, seed, AdminVariables::MODULE),
        _ => return Ok(()),
    };
    let table = tables::table(table).expect("the modules name tables that are defined");
    for (index, row) in rows.iter().enumerate() {
        let refused =
            |reason: String| StoreError::Seed { place: format!("{} row {}", table.name, index + 1), reason };
        let row = complete(table, row).map_err(refused)?;
        put(connection, table, &row, meeting).map_err(|error| refused(error.to_string()))?;
    }
    Ok(())
}

/// A seed that names a variable of no module at all would otherwise never be looked at.
pub(super) fn check_variable_names(seed: &Seed) -> Result<(), StoreError> {
    let unknown = seed.variables.iter().find(|(name, value)| judge_variable(name, &value.text()).is_none());
    match unknown {
        None => Ok(()),
        Some((name, _)) => Err(variable_refused(name, "is unknown")),
    }
}

fn merge_variables(connection: &Connection, seed: &Seed, module: &str) -> Result<(), StoreError> {
    let sql = "INSERT OR REPLACE INTO main.global_variables VALUES (?1, ?2)";
    for (name, value) in &seed.variables {
        let Some((full_name, effect, fault)) = judge_variable(name, &value.text()) else { continue };
        if effect == Effect::ReadOnly {
            return Err(variable_refused(&full_name, "is read-only"));
        }
        if let Some(fault) = fault {
            return Err(variable_refused(&full_name, &fault.to_string()));
        }
        if full_name.split_once('-').is_some_and(|(prefix, _)| prefix == module) {
            connection.execute(sql, (full_name, value.text()))?;
        }
    }
    Ok(())
}

fn variable_refused(name: &str, reason: &str) -> StoreError {
    StoreError::Seed { place: format!("variable \"{name}\""), reason: format!("it {reason}") }
}

/// The row under the table's own column names.
fn complete<'a>(table: &Table, row: &'a SeedRow) -> Result<Vec<(&'static str, &'a SeedValue)>, String> {
    const ACTIVE: &SeedValue = &SeedValue::Flag(true);
    let mut columns = Vec::new();
    if row.columns().next().is_none() {
        return Err("the row is empty".to_owned());
    }
    for (name, value) in row.columns() {
        let column = table.column(name).ok_or_else(|| format!("there is no column \"{name}\""))?;
        columns.push((column.name, value));
    }
    if table.name == "mysql_query_rules" && !columns.iter().any(|(name, _)| *name == "active") {
        columns.push(("active", ACTIVE));
    }
    Ok(columns)
}

fn put(
    connection: &Connection,
    table: &Table,
    row: &[(&'static str, &SeedValue)],
    meeting: Meeting,
) -> rusqlite::Result<()> {
    if meeting == Meeting::Change && change(connection, table, row)? > 0 {
        return Ok(());
    }
    let verb = if meeting == Meeting::Replace { "INSERT OR REPLACE" } else { "INSERT" };
    let names: Vec<String> = row.iter().map(|(name, _)| format!("\"{name}\"")).collect();
    let marks = vec!["?"; row.len()].join(", ");
    let sql = format!("{verb} INTO main.{} ({}) VALUES ({marks})", table.name, names.join(", "));
    let values: Vec<&dyn ToSql> = row.iter().map(|(_, value)| *value as &dyn ToSql).collect();
    connection.execute(&sql, &*values).map(drop)
}

/// Changes the rows that this one means; returns how many there are.
fn change(
    connection: &Connection,
    table: &Table,
    row: &[(&'static str, &SeedValue)],
) -> rusqlite::Result<usize> {
    let value_of = |name: &str| row.iter().find(|(column, _)| *column == name).map(|(_, value)| *value);
    let mut values: Vec<&dyn ToSql> = Vec::new();
    let mut set = Vec::new();
    for (name, value) in row {
        values.push(*value);
        set.push(format!("\"{name}\" = ?{}", values.len()));
    }
    let mut identity = Vec::new();
    for name in identity_of(table) {
        match (value_of(name), table.column(name).map(|column| column.default)) {
            (Some(value), _) => {
                values.push(value);
                identity.push(format!("\"{name}\" = ?{}", values.len()));
            }
            (None, Some(tables::ColumnDefault::Integer(default))) => {
                identity.push(format!("\"{name}\" = {default}"));
            }
            (None, _) => return Ok(0),
        }
    }
    let sql = format!("UPDATE main.{} SET {} WHERE {}", table.name, set.join(", "), identity.join(" AND "));
    connection.execute(&sql, &*values)
}

/// By what an operator means a row. A user's name means both of its rows.
fn identity_of(table: &Table) -> &'static [&'static str] {
    match table.name {
        "mysql_users" => &["username"],
        "mysql_servers" => &["hostgroup_id", "hostname", "port"],
        _ => &["rule_id"],
    }
}
