//! The rows of `global_variables` into the structs of variables.
//!
//! As in ProxySQL, a value that a variable does not take is put back to the one in force, and a name that is no
//! variable is deleted; both with a warning. A variable whose row is missing keeps its value and gets its row back.

use rusqlite::Connection;

use super::{StoreError, Warnings};
use crate::store::{sealing, vault::Vault};
use crate::variables::{AdminVariables, Effect, Kind, MysqlVariables, VariableFault};

/// Memory and the twin, each with how a value of a variable is written there.
const TABLES: [(&str, &str); 2] =
    [("global_variables", "?2"), ("runtime_global_variables", "nuthatch_seal('global_variables', ?1, ?2)")];

pub(super) fn load_mysql(
    connection: &Connection,
    vault: &Vault,
    variables: &mut MysqlVariables,
    warnings: &mut Warnings,
) -> Result<(), StoreError> {
    load(connection, vault, MysqlVariables::MODULE, variables, warnings)
}

pub(super) fn load_admin(
    connection: &Connection,
    vault: &Vault,
    variables: &mut AdminVariables,
    warnings: &mut Warnings,
) -> Result<(), StoreError> {
    load(connection, vault, AdminVariables::MODULE, variables, warnings)
}

/// Gives one variable (by its short name) a value, in the struct and in both tables.
pub(super) fn set_one(
    connection: &Connection,
    variables: &mut MysqlVariables,
    name: &str,
    value: &str,
) -> Result<(), StoreError> {
    let name = MysqlVariables::variable(name).map_or(name, |variable| variable.name);
    let full_name = format!("{}-{name}", MysqlVariables::MODULE);
    let set = variables.set(name, value);
    set.map_err(|reason| StoreError::Variable { name: full_name.clone(), reason })?;
    let text = variables.text(name).expect("it has just been set");
    for (table, value) in TABLES {
        let sql = format!("INSERT OR REPLACE INTO main.{table} VALUES (?1, {value})");
        connection.execute(&sql, (&full_name, &text))?;
    }
    Ok(())
}

/// What both structs of variables offer.
trait Variables: Default {
    fn set(&mut self, name: &str, text: &str) -> Result<(), VariableFault>;
    fn text(&self, name: &str) -> Option<String>;
    fn kind_and_effect(name: &str) -> Option<(Kind, Effect)>;
    fn rows(&self) -> Vec<(String, String)>;
}

macro_rules! implement {
    ($Struct:ident) => {
        impl Variables for $Struct {
            fn set(&mut self, name: &str, text: &str) -> Result<(), VariableFault> {
                Self::set(self, name, text)
            }
            fn text(&self, name: &str) -> Option<String> {
                Self::text(self, name)
            }
            fn kind_and_effect(name: &str) -> Option<(Kind, Effect)> {
                Self::variable(name).map(|variable| (variable.kind, variable.effect))
            }
            fn rows(&self) -> Vec<(String, String)> {
                Self::rows(self).collect()
            }
        }
    };
}

implement!(MysqlVariables);
implement!(AdminVariables);

fn load<T: Variables>(
    connection: &Connection,
    vault: &Vault,
    module: &str,
    variables: &mut T,
    warnings: &mut Warnings,
) -> Result<(), StoreError> {
    for (name, value) in rows_in_memory(connection, module)? {
        let short = &name[module.len() + 1..];
        let value = match sealing::open_variable(vault, &name, value.unwrap_or_default()) {
            Ok(value) => value,
            Err(error) => {
                warnings
                    .push(format!("variable \"{name}\" cannot be opened: {error}; it keeps its old value"));
                continue;
            }
        };
        match set(variables, short, &value) {
            Ok(()) => {}
            Err(VariableFault::Unknown) => {
                connection.execute("DELETE FROM main.global_variables WHERE variable_name = ?1", [&name])?;
                warnings.push(format!("variable \"{name}\" is unknown; its row is deleted"));
            }
            Err(VariableFault::ReadOnly) => {}
            Err(fault) => warnings.push(format!("variable \"{name}\" {fault}; it keeps its old value")),
        }
        warn_of_effect(variables, &name, short, warnings);
    }
    write_back(connection, module, variables)
}

fn rows_in_memory(
    connection: &Connection,
    module: &str,
) -> Result<Vec<(String, Option<String>)>, StoreError> {
    let sql = "SELECT variable_name, CAST(variable_value AS TEXT) FROM main.global_variables \
               WHERE variable_name LIKE ?1 || '-%' ORDER BY variable_name";
    let mut select = connection.prepare(sql)?;
    let rows = select.query_map([module], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The text that is in force already is taken as it is, whatever it is.
fn set(variables: &mut impl Variables, name: &str, value: &str) -> Result<(), VariableFault> {
    match variables.text(name) {
        None => Err(VariableFault::Unknown),
        Some(in_force) if in_force == value => Ok(()),
        Some(_) => variables.set(name, value),
    }
}

fn warn_of_effect<T: Variables>(variables: &T, name: &str, short: &str, warnings: &mut Warnings) {
    let Some((_, effect)) = T::kind_and_effect(short) else { return };
    if effect == Effect::Stored && variables.text(short) != T::default().text(short) {
        warnings.push(format!("variable \"{name}\" is stored but does not act yet"));
    }
}

/// Memory and the twin show what is in force, under the names as we write them; the twin shows secrets sealed.
fn write_back(connection: &Connection, module: &str, variables: &impl Variables) -> Result<(), StoreError> {
    for (table, value) in TABLES {
        let delete = format!("DELETE FROM main.{table} WHERE variable_name LIKE ?1 || '-%'");
        connection.execute(&delete, [module])?;
        let mut insert = connection.prepare(&format!("INSERT INTO main.{table} VALUES (?1, {value})"))?;
        for row in variables.rows() {
            insert.execute(row)?;
        }
    }
    Ok(())
}
