//! What is secret in the tables, and how it gets to the disk sealed and back in clear.
//!
//! Secret are passwords of `mysql_users` that are no hashes, and the values of variables of the kind `Secret`. They are sealed
//! by SQL functions inside the statement that copies them, so that no clear text is ever written to the file. After each start
//! and each statement of an admin that writes to `disk`, every secret there is sealed, and opens with the key in use.
//!
//! In memory both forms may stand: an admin may copy rows from `disk` by SQL. The `runtime_` twins show the sealed form only.

use std::sync::Arc;

use rusqlite::{
    Connection,
    functions::{Context, FunctionFlags},
    types::{Value, ValueRef},
};

use super::{
    StoreError, Warnings,
    vault::{Vault, VaultError, bytes_of, is_sealed},
};
use crate::{
    password::Password,
    tables::Table,
    variables::{AdminVariables, Kind, MysqlVariables},
};

/// A password hash that no password has.
const LOCKED: &str = "*0000000000000000000000000000000000000000";

/// How a value stands there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    /// Not secret: nothing, a hash, another variable.
    Public,
    Clear,
    Sealed,
    /// Sealed, and not with our key.
    Lost,
}

impl Form {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Clear => "clear",
            Self::Sealed => "sealed",
            Self::Lost => "lost",
        }
    }
}

/// A column that holds secrets.
struct SecretColumn {
    table: &'static str,
    column: &'static str,
    /// The column that says whose secret it is.
    owner: &'static str,
}

impl SecretColumn {
    /// What the vault is told of the place.
    fn place(&self) -> String {
        format!("{}.{}", self.table, self.column)
    }

    /// A call of one of our SQL functions on the column.
    fn call(&self, function: &str) -> String {
        format!("{function}('{}', \"{}\", \"{}\")", self.table, self.owner, self.column)
    }

    fn of_owner(&self, owner: &str) -> String {
        match self.table {
            "mysql_users" => format!("the password of user \"{owner}\""),
            _ => format!("the variable \"{owner}\""),
        }
    }

    fn is_secret(&self, owner: &str, value: &[u8]) -> bool {
        match self.table {
            "mysql_users" => matches!(Password::parse(value), Password::Clear(_) | Password::Other),
            _ => !value.is_empty() && is_secret_variable(owner),
        }
    }

    fn form(&self, vault: &Vault, owner: &str, value: &[u8]) -> Form {
        if !self.is_secret(owner, value) {
            Form::Public
        } else if !is_sealed(value) {
            Form::Clear
        } else if vault.open(&self.place(), value).is_ok() {
            Form::Sealed
        } else {
            Form::Lost
        }
    }
}

/// Every one of them.
static SECRET_COLUMNS: [SecretColumn; 2] = [
    SecretColumn { table: "mysql_users", column: "password", owner: "username" },
    SecretColumn { table: "global_variables", column: "variable_value", owner: "variable_name" },
];

fn of_table(table: &str) -> Option<&'static SecretColumn> {
    SECRET_COLUMNS.iter().find(|secret| secret.table == table)
}

/// Whether the variable of that full name, in either case, holds a secret.
fn is_secret_variable(full_name: &str) -> bool {
    let Some((module, name)) = full_name.split_once('-') else { return false };
    let kind = if module.eq_ignore_ascii_case(MysqlVariables::MODULE) {
        MysqlVariables::variable(name).map(|variable| variable.kind)
    } else if module.eq_ignore_ascii_case(AdminVariables::MODULE) {
        AdminVariables::variable(name).map(|variable| variable.kind)
    } else {
        None
    };
    kind == Some(Kind::Secret)
}

/// The columns of a table for a SELECT whose rows go to the disk or a twin: secrets sealed.
pub(super) fn sealed_columns(table: &Table) -> String {
    columns_by(table, "nuthatch_seal")
}

/// The columns of a table for a SELECT whose rows come from the disk: secrets in clear.
pub(super) fn opened_columns(table: &Table) -> String {
    columns_by(table, "nuthatch_open")
}

fn columns_by(table: &Table, function: &str) -> String {
    let Some(secret) = of_table(table.name) else { return table.column_list() };
    let columns = table.columns.iter().map(|column| match column.name == secret.column {
        true => secret.call(function),
        false => format!("\"{}\"", column.name),
    });
    columns.collect::<Vec<_>>().join(", ")
}

/// A password as it was typed, from the form in which it stands.
pub(super) fn open_password(vault: &Vault, value: Vec<u8>) -> Result<Vec<u8>, VaultError> {
    match is_sealed(&value) {
        true => vault.open("mysql_users.password", &value).map(|opened| bytes_of((&opened).into())),
        false => Ok(value),
    }
}

/// A variable's value as it was typed, from the form in which it stands.
pub(super) fn open_variable(vault: &Vault, name: &str, value: String) -> Result<String, VaultError> {
    if !is_sealed(value.as_bytes()) || !is_secret_variable(name) {
        return Ok(value);
    }
    let opened = vault.open("global_variables.variable_value", value.as_bytes())?;
    String::from_utf8(bytes_of((&opened).into())).map_err(|_not_utf8| VaultError::Lost)
}

/// Adds the SQL functions. An admin's own SQL may not call them.
pub(super) fn install(connection: &Connection, vault: &Arc<Vault>) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DIRECTONLY;
    let with = |work: fn(&Vault, &SecretColumn, &str, ValueRef<'_>) -> Result<Value, VaultError>| {
        let vault = Arc::clone(vault);
        move |context: &Context<'_>| {
            let (table, owner): (String, String) = (context.get(0)?, text_of(context.get_raw(1)));
            let secret = of_table(&table).expect("the functions are called for secret columns");
            work(&vault, secret, &owner, context.get_raw(2))
                .map_err(|error| rusqlite::Error::UserFunctionError(error.into()))
        }
    };
    connection.create_scalar_function("nuthatch_seal", 3, flags, with(seal))?;
    connection.create_scalar_function("nuthatch_open", 3, flags, with(open))?;
    connection.create_scalar_function("nuthatch_form", 3, flags, with(form))
}

fn text_of(value: ValueRef<'_>) -> String {
    String::from_utf8_lossy(&bytes_of(value)).into_owned()
}

/// What is sealed already stays so, whatever the key.
fn seal(vault: &Vault, secret: &SecretColumn, owner: &str, value: ValueRef<'_>) -> Result<Value, VaultError> {
    let bytes = bytes_of(value);
    match secret.is_secret(owner, &bytes) && !is_sealed(&bytes) {
        true => vault.seal(&secret.place(), value).map(Value::Text),
        false => Ok(as_it_is(value)),
    }
}

fn open(vault: &Vault, secret: &SecretColumn, owner: &str, value: ValueRef<'_>) -> Result<Value, VaultError> {
    let bytes = bytes_of(value);
    match secret.is_secret(owner, &bytes) && is_sealed(&bytes) {
        true => vault.open(&secret.place(), &bytes),
        false => Ok(as_it_is(value)),
    }
}

fn form(vault: &Vault, secret: &SecretColumn, owner: &str, value: ValueRef<'_>) -> Result<Value, VaultError> {
    Ok(Value::Text(secret.form(vault, owner, &bytes_of(value)).as_str().to_owned()))
}

/// A text that is not UTF-8 becomes a blob of the same bytes.
fn as_it_is(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Text(bytes) => match String::from_utf8(bytes.to_vec()) {
            Ok(text) => Value::Text(text),
            Err(error) => Value::Blob(error.into_bytes()),
        },
        other => Value::try_from(other).unwrap_or(Value::Null),
    }
}

/// Whose secrets in a table our key does not open, as `the password of user "app"`.
fn lost_in(connection: &Connection, schema: &str, secret: &SecretColumn) -> rusqlite::Result<Vec<String>> {
    let sql = format!(
        "SELECT \"{}\" FROM {schema}.{} WHERE {} = 'lost' ORDER BY rowid",
        secret.owner,
        secret.table,
        secret.call("nuthatch_form")
    );
    let mut select = connection.prepare(&sql)?;
    let owners = select.query_map([], |row| Ok(text_of(row.get_ref(0)?)))?;
    owners.map(|owner| Ok(secret.of_owner(&owner?))).collect()
}

/// How many sealed values are on disk, whatever the key.
pub(super) fn count_on_disk(connection: &Connection) -> rusqlite::Result<usize> {
    let mut count = 0;
    for secret in &SECRET_COLUMNS {
        let mut select =
            connection.prepare(&format!("SELECT \"{}\" FROM disk.{}", secret.column, secret.table))?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            count += usize::from(is_sealed(&bytes_of(row.get_ref(0)?)));
        }
    }
    Ok(count)
}

/// Whose secrets on disk the key does not open.
pub(super) fn lost_on_disk(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut lost = Vec::new();
    for secret in &SECRET_COLUMNS {
        lost.extend(lost_in(connection, "disk", secret)?);
    }
    Ok(lost)
}

/// Takes secrets off the disk that the key does not open: their users are locked, their variables gone. Gives back how many.
pub(super) fn forget_lost(connection: &Connection, warnings: &mut Warnings) -> rusqlite::Result<usize> {
    let all_lost = lost_on_disk(connection)?;
    for lost in &all_lost {
        warnings.push(format!("{lost} cannot be opened and is forgotten: set it anew"));
    }
    for secret in &SECRET_COLUMNS {
        let (table, is_lost) = (secret.table, format!("{} = 'lost'", secret.call("nuthatch_form")));
        connection.execute_batch(&match table {
            "mysql_users" => {
                format!("UPDATE disk.{table} SET password = '{LOCKED}', active = 0 WHERE {is_lost}")
            }
            _ => format!("DELETE FROM disk.{table} WHERE {is_lost}"),
        })?;
    }
    Ok(all_lost.len())
}

/// Seals what stands on disk in clear; returns how much it was.
///
/// # Errors
/// A value there was sealed with another key.
pub(super) fn seal_disk(connection: &Connection) -> Result<usize, StoreError> {
    let mut sealed = 0;
    for secret in &SECRET_COLUMNS {
        refuse_lost(connection, "disk", secret.table)?;
        sealed += connection.execute(
            &format!(
                "UPDATE disk.{} SET \"{}\" = {} WHERE {} = 'clear'",
                secret.table,
                secret.column,
                secret.call("nuthatch_seal"),
                secret.call("nuthatch_form")
            ),
            [],
        )?;
    }
    Ok(sealed)
}

/// Nothing that our key does not open may go to the disk.
///
/// # Errors
/// There is such a value in that table of `schema`.
pub(super) fn refuse_lost(connection: &Connection, schema: &str, table: &str) -> Result<(), StoreError> {
    let Some(secret) = of_table(table) else { return Ok(()) };
    match lost_in(connection, schema, secret)?.into_iter().next() {
        None => Ok(()),
        Some(what) => Err(StoreError::Sealed { what }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_columns_are_columns_of_their_tables() {
        for secret in &SECRET_COLUMNS {
            let table = crate::tables::table(secret.table).unwrap();
            assert!(table.column(secret.column).is_some() && table.column(secret.owner).is_some());
        }
    }

    #[test]
    fn secret_is_what_is_no_hash_and_variables_that_say_so() {
        let [password, variable] = &SECRET_COLUMNS;
        for (secret, owner, value, expected) in [
            (password, "app", "", false),
            (password, "app", "hunter2", true),
            (password, "app", LOCKED, false),
            (password, "app", "*00", true),
            (variable, "mysql-monitor_password", "x", true),
            (variable, "ADMIN-Admin_Credentials", "a:b", true),
            (variable, "admin-admin_credentials", "", false),
            (variable, "mysql-monitor_username", "x", false),
            (variable, "nonsense", "x", false),
        ] {
            assert_eq!(secret.is_secret(owner, value.as_bytes()), expected, "{owner} {value}");
        }
    }
}
