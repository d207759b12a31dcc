//! MySQL's functions about the session, so that `SELECT DATABASE(), USER()` works in SQL.

use std::sync::Arc;

use parking_lot::Mutex;
use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::Value;

use super::Call;
use crate::version;

/// The session that is being served.
#[derive(Debug, Clone, Default)]
struct Session {
    connection_id: u32,
    account: String,
    schema: String,
}

/// Shared between the clerk and SQLite's callbacks.
#[derive(Debug, Clone)]
pub(super) struct Functions(Arc<Mutex<Session>>);

/// What a function answers.
type Answer = fn(&Session) -> Value;

const FUNCTIONS: &[(&str, Answer)] = &[
    ("connection_id", |session| Value::Integer(i64::from(session.connection_id))),
    ("current_user", |session| Value::Text(session.account.clone())),
    ("database", |session| Value::Text(session.schema.clone())),
    ("schema", |session| Value::Text(session.schema.clone())),
    ("session_user", |session| Value::Text(session.account.clone())),
    ("system_user", |session| Value::Text(session.account.clone())),
    ("user", |session| Value::Text(session.account.clone())),
    ("version", |_| Value::Text(version::SERVER_VERSION.to_owned())),
];

impl Functions {
    /// Adds the functions to the connection.
    pub(super) fn install(connection: &Connection) -> rusqlite::Result<Self> {
        let shared = Arc::new(Mutex::new(Session::default()));
        for &(name, answer) in FUNCTIONS {
            let session = Arc::clone(&shared);
            let flags = FunctionFlags::SQLITE_UTF8;
            connection.create_scalar_function(name, 0, flags, move |_| Ok(answer(&session.lock())))?;
        }
        Ok(Self(shared))
    }

    /// From now on the functions answer for the session of this call.
    pub(super) fn serve(&self, call: &Call) {
        *self.0.lock() = Session {
            connection_id: call.caller.connection_id,
            account: format!("{}@{}", call.caller.user, call.caller.host),
            schema: call.schema.clone(),
        };
    }
}
