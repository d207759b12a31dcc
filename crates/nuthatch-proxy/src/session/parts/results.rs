//! Numbers that the last statements left for the next one to ask for.

use crate::session::parts::Held;
use crate::state::Found;

/// What is known of the session's last insert id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InsertId {
    /// Its value.
    Known(u64),
    /// Only the connection of this server thread knows, and the session holds it.
    At(u32),
}

impl Default for InsertId {
    fn default() -> Self {
        Self::Known(0)
    }
}

/// See the module's doc.
#[derive(Debug, Default)]
pub(crate) struct Results {
    row_count: i64,
    found_rows: Found,
    /// The server's thread whose `FOUND_ROWS()` is the session's, as far as the session used it last.
    found_rows_on: Option<u32>,
    insert_id: InsertId,
}

impl Results {
    /// `ROW_COUNT()`.
    pub(crate) const fn row_count(&self) -> i64 {
        self.row_count
    }

    /// It is that from now on.
    pub(crate) const fn set_row_count(&mut self, count: i64) {
        self.row_count = count;
    }

    /// `FOUND_ROWS()`.
    pub(crate) const fn found_rows(&self) -> Found {
        self.found_rows
    }

    /// Whether the server's thread would tell the session's own.
    pub(crate) fn found_rows_are_on(&self, thread_id: u32) -> bool {
        self.found_rows_on == Some(thread_id)
    }

    /// It is that, which the server's thread `on` would tell too.
    pub(crate) const fn set_found_rows(&mut self, found: Found, on: Option<u32>) {
        (self.found_rows, self.found_rows_on) = (found, on);
    }

    /// No thread would tell it any more: something else ran there.
    pub(crate) const fn forget_where_found(&mut self) {
        self.found_rows_on = None;
    }

    /// `LAST_INSERT_ID()`.
    pub(crate) const fn insert_id(&self) -> InsertId {
        self.insert_id
    }

    /// The same, if it is known without asking.
    pub(crate) const fn known_insert_id(&self) -> Option<u64> {
        match self.insert_id {
            InsertId::Known(id) => Some(id),
            InsertId::At(_) => None,
        }
    }

    /// Whether only that thread of a server knows it.
    pub(crate) fn insert_id_is_at(&self, thread_id: u32) -> bool {
        self.insert_id == InsertId::At(thread_id)
    }

    pub(crate) const fn set_insert_id(&mut self, id: InsertId) {
        self.insert_id = id;
    }

    /// Whether another connection does as well for the next statement.
    pub(crate) fn can_do_without(&self, held: &Held) -> bool {
        held.is_fresh() && !self.is_state_of(held)
    }

    /// Whether the connection has something of the session that is nowhere else, and not only for the next statement.
    pub(crate) fn is_state_of(&self, held: &Held) -> bool {
        held.in_transaction()
            || held.pins().leaves_state_behind()
            || self.insert_id_is_at(held.connection.thread_id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn found_rows_are_where_they_were_found_until_something_else_runs_there() {
        let mut results = Results::default();
        assert_eq!(results.found_rows(), Found::Known(0));
        results.set_found_rows(Found::Elsewhere, Some(3));
        assert!(results.found_rows_are_on(3) && !results.found_rows_are_on(4));
        results.forget_where_found();
        assert!(!results.found_rows_are_on(3));
        assert_eq!(results.found_rows(), Found::Elsewhere, "only where is forgotten");
    }

    #[test]
    fn insert_id_is_known_or_at_one_thread() {
        let mut results = Results::default();
        assert_eq!(results.insert_id(), InsertId::Known(0));
        results.set_insert_id(InsertId::At(3));
        assert!(results.insert_id_is_at(3) && !results.insert_id_is_at(4));
        results.set_insert_id(InsertId::Known(3));
        assert!(!results.insert_id_is_at(3));
    }
}
