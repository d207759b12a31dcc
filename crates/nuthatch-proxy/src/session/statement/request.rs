//! How the statement at hand came.

/// How a statement came.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Request<'a> {
    /// As the text of a COM_QUERY.
    Text,
    /// As an execution, which is written down, of the prepared statement of that number and text.
    Execution { id: u32, text: &'a [u8] },
}
