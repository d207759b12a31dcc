//! How the statement at hand came.

use std::sync::Arc;

use crate::session::statement::{Caching, Plan};

/// How a statement came.
#[derive(Debug)]
pub(crate) enum Request {
    /// As the text of a COM_QUERY.
    Text,
    /// As an execution, which is written down, of the prepared statement of that number and text.
    Execution { id: u32, text: Arc<[u8]> },
}

impl Request {
    /// The statement's text, which is `at_hand` of one that came as text.
    pub(crate) fn text<'a>(&'a self, at_hand: &'a [u8]) -> &'a [u8] {
        match self {
            Self::Text => at_hand,
            Self::Execution { text, .. } => text,
        }
    }

    /// Of an execution, the statement's number.
    pub(crate) const fn execution(&self) -> Option<u32> {
        match self {
            Self::Text => None,
            Self::Execution { id, .. } => Some(*id),
        }
    }
}

/// A statement that the session does not answer by itself.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) request: Request,
    pub(crate) plan: Plan,
    /// What the cache may do for it.
    pub(crate) caching: Caching,
}
