//! What ids were before a statement that left them open.

/// What `LAST_INSERT_ID()` was before a statement of which only asking tells what it did to it: on the connection, which another
/// session had used, and in the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IdsBefore {
    pub(crate) connection: u64,
    pub(crate) session: u64,
    /// What its answer told; none, 0. It is the connection's only where the statement could not name that as a key: then the server
    /// has made it up again.
    pub(crate) told: u64,
}
