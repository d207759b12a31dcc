//! What a statement was told, as far as two answers are compared.

use crate::client::{Answer, ServerError};

/// One answer, or the last of several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Told {
    /// Of all answers, without the order of rows, which no statement here is promised in full.
    seen: Vec<Seen>,
    /// Rows of the last.
    pub(crate) rows: u64,
    /// Of the last.
    pub(crate) affected_rows: u64,
    /// Of the last.
    pub(crate) insert_id: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Seen {
    Rows { columns: Vec<String>, types: Vec<u8>, rows: Vec<Vec<String>> },
    Refused(u16),
}

impl Told {
    /// From all that the server has said.
    pub(crate) fn all(answers: Vec<Result<Answer, ServerError>>) -> Self {
        let last = answers.last().and_then(|answer| answer.as_ref().ok()).cloned().unwrap_or_default();
        Self {
            rows: last.rows.len() as u64,
            affected_rows: last.affected_rows,
            insert_id: last.insert_id,
            seen: answers.into_iter().map(Seen::new).collect(),
        }
    }

    pub(crate) fn is_refused(&self) -> bool {
        matches!(self.seen.last(), Some(Seen::Refused(_)))
    }
}

impl Seen {
    fn new(answer: Result<Answer, ServerError>) -> Self {
        match answer {
            Ok(answer) => {
                let mut rows = answer.table();
                rows.sort_unstable();
                Self::Rows { rows, columns: answer.columns, types: answer.types }
            }
            Err(error) => Self::Refused(error.code),
        }
    }
}
