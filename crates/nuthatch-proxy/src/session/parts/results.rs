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
    /// `ROW_COUNT()`.
    pub(crate) row_count: i64,
    /// `FOUND_ROWS()`.
    pub(crate) found_rows: Found,
    /// The server's thread whose `FOUND_ROWS()` is the session's, as far as the session used it last.
    pub(crate) found_rows_on: Option<u32>,
    /// `LAST_INSERT_ID()`.
    pub(crate) insert_id: InsertId,
}

impl Results {
    /// Whether the connection has something of the session that is nowhere else, and not only for the next statement.
    pub(crate) fn is_state_of(&self, held: &Held) -> bool {
        held.in_transaction
            || held.pins.leaves_state_behind()
            || self.insert_id == InsertId::At(held.connection.thread_id)
    }
}
