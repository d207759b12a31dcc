//! The grammar of the admin interface, for `fuzz/` only.

use crate::command;

/// The statements of a text.
#[must_use]
pub fn statements(text: &str) -> Vec<&str> {
    command::statements(text)
}

/// Parses one statement; returns it as it goes to SQLite, and how many variables were taken out of it.
#[must_use]
pub fn parse(statement: &str) -> (String, usize) {
    let _command = command::parse(statement);
    let (sql, variables) = command::rewrite(statement);
    (sql, variables.len())
}
