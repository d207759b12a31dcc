//! What a server keeps for a connection.

use std::sync::Arc;

use crate::state::{Charset, Schema, Settings};

/// What the server keeps for a connection, as far as sessions may differ in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConnectionState {
    pub(crate) schema: Schema,
    /// Character sets and collation.
    pub(crate) charset: Charset,
    /// `None` when it is not known.
    pub(crate) autocommit: Option<bool>,
    /// The last COMMIT was the end of a transaction and the beginning of none: `completion_type` may have it otherwise.
    pub(crate) ends_transactions: bool,
    /// Session variables with another value than the server's own.
    pub(crate) settings: Settings,
    /// User variables.
    pub(crate) user_variables: Settings,
    /// The last SET ROLE; a server has no statement, and no reset, that leads back to none.
    pub(crate) role: Option<Arc<str>>,
}

impl ConnectionState {
    /// As after a login.
    pub(crate) fn new(schema: impl Into<Schema>, charset: Charset, autocommit: bool) -> Self {
        let (settings, user_variables) = (Settings::default(), Settings::default());
        Self {
            schema: schema.into(),
            charset,
            autocommit: Some(autocommit),
            ends_transactions: false,
            settings,
            user_variables,
            role: None,
        }
    }
}
