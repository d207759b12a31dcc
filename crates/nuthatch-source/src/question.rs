//! One question to a server, and its answer as texts.

use crate::PictureError;

/// A statement with the words for what it asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    /// What is asked for, as it stands in errors: a plural without an article.
    pub(crate) what: &'static str,
    pub(crate) sql: &'static str,
}

/// The values of one row. NULL is empty: no question here tells them apart.
pub(crate) type Row = Vec<Vec<u8>>;

/// The values of one row with the names of their columns.
pub(crate) type NamedRow = Vec<(String, Vec<u8>)>;

/// Who answers questions: a connection, or a test.
pub(crate) trait Server {
    /// The rows of the answer; none for a statement without a result.
    async fn ask(&mut self, question: Question) -> Result<Vec<Row>, PictureError>;

    /// The same, of an answer whose columns are other ones with each version.
    async fn ask_named(&mut self, question: Question) -> Result<Vec<NamedRow>, PictureError>;
}

impl Question {
    /// The row's values.
    ///
    /// # Errors
    /// When they are not so many.
    pub(crate) fn fields<const N: usize>(self, row: Row) -> Result<[Vec<u8>; N], PictureError> {
        row.try_into().map_err(|_other: Row| PictureError::NotUnderstood(self.what))
    }
}
