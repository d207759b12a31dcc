//! The statements that a client has prepared by name.

use std::collections::HashMap;
use std::sync::Arc;

use crate::backend::StatementKey;

/// How many names a session may have, as `max_prepared_stmt_count` bounds them for a server.
pub(crate) const NAMES_MAX: usize = 16_382;

/// The statements that a session has prepared by text.
#[derive(Debug, Default)]
pub(crate) struct Names {
    pub(crate) statements: HashMap<Arc<[u8]>, NamedStatement>,
    /// Only the connection that is pinned knows them from now on.
    pub(crate) are_given_up: bool,
}

#[derive(Debug)]
pub(crate) struct NamedStatement {
    /// The `PREPARE` as the client sent it, and under what.
    pub(crate) key: StatementKey,
    /// What it prepares.
    pub(crate) text: Arc<[u8]>,
}

/// A name as servers compare it.
pub(crate) fn folded(name: &[u8]) -> Arc<[u8]> {
    name.to_ascii_lowercase().into()
}
