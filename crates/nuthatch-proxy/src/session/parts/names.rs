//! The statements that a client has prepared by name.

use std::collections::HashMap;
use std::sync::Arc;

use crate::backend::StatementKey;

/// How many names a session may have, as `max_prepared_stmt_count` bounds them for a server.
pub(crate) const NAMES_MAX: usize = 16_382;

/// The statements that a session has prepared by text.
#[derive(Debug, Default)]
pub(crate) struct Names {
    statements: HashMap<Arc<[u8]>, NamedStatement>,
    are_given_up: bool,
}

impl Names {
    /// Only the connection that is pinned knows them from now on.
    pub(crate) const fn are_given_up(&self) -> bool {
        self.are_given_up
    }

    /// They are that from now on.
    pub(super) fn give_up(&mut self) {
        self.are_given_up = true;
        self.statements.clear();
    }

    pub(crate) fn get(&self, name: &[u8]) -> Option<&NamedStatement> {
        self.statements.get(name)
    }

    pub(crate) fn all(&self) -> Vec<Arc<[u8]>> {
        self.statements.keys().map(Arc::clone).collect()
    }

    /// Whether a statement may be prepared under that name.
    pub(crate) fn have_room_for(&self, name: &[u8]) -> bool {
        self.statements.len() < NAMES_MAX || self.statements.contains_key(name)
    }

    /// The name means that from now on.
    pub(super) fn insert(&mut self, name: Arc<[u8]>, statement: NamedStatement) {
        self.statements.insert(name, statement);
    }

    /// Returns whether it was there.
    pub(super) fn remove(&mut self, name: &[u8]) -> bool {
        self.statements.remove(name).is_some()
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_one_where_they_differ_in_the_case_of_ascii_alone() {
        for (one, other, is_same) in [
            (&b"stmt_1"[..], &b"STMT_1"[..], true),
            (b"aZ", b"Az", true),
            (b"a", b"a ", false),
            (b"a@", b"a`", false),
            // Other letters mean something else under another character set.
            ("\u{e9}".as_bytes(), "\u{c9}".as_bytes(), false),
            (b"\xE9", b"\xC9", false),
            (b"", b"", true),
        ] {
            assert_eq!(folded(one) == folded(other), is_same, "{one:?} {other:?}");
            assert_eq!(folded(&folded(one)), folded(one), "{one:?}");
        }
    }
}
