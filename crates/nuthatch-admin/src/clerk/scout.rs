//! The scout: a second SQLite connection with the same tables and no rows, on which each client's statement is prepared
//! first, and never run.
//!
//! SQLite's authorizer tells there which tables a statement reads and writes, so that statistics are filled in time and a
//! foreign transaction is respected; and it refuses what escapes the account's rights. (The layers' own connection has an
//! authorizer too, which keeps all clients from runtime twins, the schema and other files; there can be one only, and it
//! knows no accounts.) The tables never change, so both connections always agree on what a statement means.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use rusqlite::Connection;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

use super::functions::Functions;
use crate::credentials::Rights;
use crate::error::AdminError;
use crate::information_schema;
use crate::stats;

/// What a statement would do.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    /// Tables of the process's own state that it mentions, each once.
    pub(super) stats_tables: Vec<String>,
    /// Runtime twins that it mentions, each once.
    pub(super) runtime_tables: Vec<String>,
    /// The table that it inserts into.
    pub(super) inserts_into: Option<String>,
    /// Whether it writes rows of the disk layer, where secrets are sealed.
    pub(super) writes_to_disk: bool,
    /// Whether it reads or writes the configuration, or begins or ends a transaction.
    pub(super) touches_configuration: bool,
    refusal: Option<String>,
}

#[derive(Debug)]
struct Watching {
    rights: Rights,
    seen: Seen,
    /// The schema that a bare table name means, by the name in lower case.
    schemas: HashMap<String, String>,
}

/// The second connection.
#[derive(Debug)]
pub(super) struct Scout {
    connection: Connection,
    watching: Arc<Mutex<Watching>>,
}

impl Scout {
    /// A scout that knows the tables of all these schemas of the other connection.
    pub(super) fn of(other: &Connection, schemas: &[String]) -> rusqlite::Result<Self> {
        let mut connection = Connection::open_in_memory()?;
        let mut homes = HashMap::new();
        for schema in schemas {
            copy_tables(other, &connection, schema)?;
            for table in tables(&connection, schema)? {
                homes.entry(table.to_ascii_lowercase()).or_insert_with(|| schema.clone());
            }
        }
        Functions::install(&connection)?;
        let watching = Watching { rights: Rights::ReadStats, seen: Seen::default(), schemas: homes };
        let watching = Arc::new(Mutex::new(watching));
        let callback = Arc::clone(&watching);
        connection.authorizer(Some(move |context: AuthContext<'_>| callback.lock().judge(&context)))?;
        Ok(Self { connection, watching })
    }

    /// What the statement would do; an error if SQLite does not understand it or the account may not do it.
    pub(super) fn look(&self, sql: &str, rights: Rights) -> Result<Seen, AdminError> {
        let mut watching = self.watching.lock();
        (watching.rights, watching.seen) = (rights, Seen::default());
        drop(watching);
        let prepared = self.connection.prepare(sql).map(drop);
        let seen = std::mem::take(&mut self.watching.lock().seen);
        match (prepared, seen.refusal) {
            (Ok(()), _) => Ok(Seen { refusal: None, ..seen }),
            (Err(_), Some(refusal)) => Err(AdminError::Forbidden(refusal)),
            (Err(error), None) => Err(error.into()),
        }
    }
}

impl Watching {
    fn judge(&mut self, context: &AuthContext<'_>) -> Authorization {
        // Where no column is read, as by COUNT(*), SQLite gives names as they were typed, and the schema only if it was.
        let typed = context.database_name.map(str::to_ascii_lowercase);
        let schema = match (typed, context.action) {
            (None, AuthAction::Read { table_name, .. }) => {
                self.schemas.get(&table_name.to_ascii_lowercase()).cloned()
            }
            (typed, _) => typed,
        };
        let schema = schema.unwrap_or_default();
        match judge(self.rights, context.action, &schema, &mut self.seen) {
            Ok(()) => Authorization::Allow,
            Err(refusal) => {
                self.seen.refusal.get_or_insert(refusal);
                Authorization::Deny
            }
        }
    }
}

fn tables(connection: &Connection, schema: &str) -> rusqlite::Result<Vec<String>> {
    let mut names =
        connection.prepare(&format!("SELECT name FROM {schema}.sqlite_master WHERE type = 'table'"))?;
    names.query_map([], |row| row.get(0))?.collect()
}

fn copy_tables(from: &Connection, to: &Connection, schema: &str) -> rusqlite::Result<()> {
    if schema != "main" {
        to.execute(&format!("ATTACH DATABASE ':memory:' AS {schema}"), [])?;
    }
    let list = format!("SELECT sql FROM {schema}.sqlite_master WHERE {}", information_schema::VISIBLE);
    let mut tables = from.prepare(&list)?;
    let mut tables = tables.query([])?;
    while let Some(row) = tables.next()? {
        // SQLite keeps the text from the table's name on, behind these two words.
        let text: String = row.get(0)?;
        to.execute(&text.replacen("CREATE TABLE ", &format!("CREATE TABLE {schema}."), 1), [])?;
    }
    Ok(())
}

/// The schemas that only show, and hold no configuration. No schema at all: a name that the statement itself defined.
const SHOWING: &[&str] = &[stats::SCHEMA, "monitor", "stats_history", "information_schema", ""];

/// What the names of runtime twins begin with.
const TWIN: &str = "runtime_";

const STATS_ONLY: &str = "this account may only read the statistics";

/// Pragmas that only tell.
const PRAGMAS: &[&str] =
    &["table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo", "database_list"];

fn judge(rights: Rights, action: AuthAction<'_>, schema: &str, seen: &mut Seen) -> Result<(), String> {
    match action {
        AuthAction::Select | AuthAction::Recursive => Ok(()),
        AuthAction::Function { function_name } => function(function_name),
        AuthAction::Read { table_name, .. } => read(rights, schema, table_name, seen),
        _ if rights == Rights::ReadStats => Err(STATS_ONLY.to_owned()),
        AuthAction::Insert { table_name } => {
            seen.inserts_into = Some(table_name.to_owned());
            write(schema, table_name, seen)
        }
        AuthAction::Update { table_name, .. } | AuthAction::Delete { table_name } => {
            write(schema, table_name, seen)
        }
        AuthAction::Transaction { .. } | AuthAction::Savepoint { .. } => {
            seen.touches_configuration = true;
            Ok(())
        }
        AuthAction::Pragma { pragma_name, .. } => pragma(pragma_name, seen),
        _ => Err("only data can be changed here, not tables, indexes, views, triggers or attached files"
            .to_owned()),
    }
}

fn function(name: &str) -> Result<(), String> {
    if name.eq_ignore_ascii_case("load_extension") {
        return Err("load_extension() is not allowed".to_owned());
    }
    Ok(())
}

fn read(rights: Rights, schema: &str, table: &str, seen: &mut Seen) -> Result<(), String> {
    let table = table.to_ascii_lowercase();
    if SHOWING.contains(&schema) {
        if stats::SCHEMAS.contains(&schema) {
            note(&mut seen.stats_tables, table);
        }
        return Ok(());
    }
    if rights == Rights::ReadStats {
        return Err(STATS_ONLY.to_owned());
    }
    seen.touches_configuration = true;
    if table.starts_with(TWIN) {
        note(&mut seen.runtime_tables, table);
    }
    Ok(())
}

fn write(schema: &str, table: &str, seen: &mut Seen) -> Result<(), String> {
    if SHOWING.contains(&schema) {
        return Err(format!("{schema}.{table} only shows and cannot be changed"));
    }
    if table.to_ascii_lowercase().starts_with(TWIN) {
        return Err(format!("{table} shows what is in force and cannot be changed: use LOAD … TO RUNTIME"));
    }
    seen.writes_to_disk |= schema == "disk";
    seen.touches_configuration = true;
    Ok(())
}

fn pragma(name: &str, seen: &mut Seen) -> Result<(), String> {
    seen.touches_configuration = true;
    if PRAGMAS.iter().any(|allowed| name.eq_ignore_ascii_case(allowed)) {
        return Ok(());
    }
    Err(format!("PRAGMA {name} is not allowed"))
}

fn note(tables: &mut Vec<String>, table: String) {
    if !tables.contains(&table) {
        tables.push(table);
    }
}

#[cfg(test)]
mod tests;
