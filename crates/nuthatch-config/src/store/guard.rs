//! What an admin's SQL may do. SQLite asks while it prepares a statement.
//!
//! Reading is free. Written may be the tables of the configuration in `main` and `disk`, and temporary tables. Not:
//! `runtime_` tables, statistics, the schema, other files (ATTACH, VACUUM INTO), settings of SQLite.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering::Relaxed},
};

use rusqlite::{
    Connection,
    hooks::{AuthAction, AuthContext, Authorization},
};

use crate::tables;

/// PRAGMAs that only tell.
const PRAGMAS: [&str; 7] =
    ["table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo", "database_list"];

/// What the names of the program's own SQL functions begin with: they open secrets.
const OWN_FUNCTIONS: &str = "nuthatch_";

/// The limits of one connection, and the way to lift them.
#[derive(Clone)]
pub(super) struct Guard {
    /// How many calls of `lifted` are going on.
    lifted: Arc<AtomicU32>,
}

impl Guard {
    pub(super) fn install(connection: &mut Connection) -> rusqlite::Result<Self> {
        let lifted = Arc::new(AtomicU32::new(0));
        let seen = Arc::clone(&lifted);
        connection.authorizer(Some(move |context: AuthContext<'_>| {
            if seen.load(Relaxed) > 0 || is_allowed(&context) {
                Authorization::Allow
            } else {
                Authorization::Deny
            }
        }))?;
        Ok(Self { lifted })
    }

    /// Runs `work` without limits.
    pub(super) fn lifted<T>(&self, work: impl FnOnce() -> T) -> T {
        struct Lower<'a>(&'a AtomicU32);
        impl Drop for Lower<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Relaxed);
            }
        }
        self.lifted.fetch_add(1, Relaxed);
        let _lower = Lower(&self.lifted);
        work()
    }
}

fn is_allowed(context: &AuthContext<'_>) -> bool {
    let schema = context.database_name.unwrap_or("main");
    match context.action {
        AuthAction::Read { .. }
        | AuthAction::Select
        | AuthAction::Recursive
        | AuthAction::Transaction { .. }
        | AuthAction::Savepoint { .. }
        | AuthAction::CreateTempTable { .. }
        | AuthAction::CreateTempIndex { .. }
        | AuthAction::CreateTempView { .. }
        | AuthAction::DropTempTable { .. }
        | AuthAction::DropTempIndex { .. }
        | AuthAction::DropTempView { .. } => true,
        AuthAction::Function { function_name } => {
            let name = function_name.to_ascii_lowercase();
            name != "load_extension" && !name.starts_with(OWN_FUNCTIONS)
        }
        AuthAction::Insert { table_name }
        | AuthAction::Delete { table_name }
        | AuthAction::Update { table_name, .. } => is_writable(schema, table_name),
        AuthAction::Pragma { pragma_name, .. } => {
            PRAGMAS.iter().any(|known| known.eq_ignore_ascii_case(pragma_name))
        }
        _ => false,
    }
}

fn is_writable(schema: &str, table: &str) -> bool {
    match schema {
        "temp" => true,
        "main" | "disk" => tables::table(table).is_some(),
        _ => false,
    }
}
