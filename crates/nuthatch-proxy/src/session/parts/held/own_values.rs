//! What a connection alone can tell of the session's statements on it.

/// What a session has made on the connection that it holds.
#[derive(Debug, Default)]
pub(crate) struct OwnValues {
    /// Schemas and names of the sequences that it advanced.
    pub(crate) advanced: Vec<(Vec<u8>, Vec<u8>)>,
    /// It has committed a change.
    pub(crate) has_gtid: bool,
}
