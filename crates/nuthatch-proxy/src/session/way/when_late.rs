//! What becomes of an answer when the time of its statement is over.

use nuthatch_sql::Kind;

use crate::session::statement::Facts;

/// See the module's doc.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum WhenLate {
    /// It goes on until the server ends it: what the statement has done, the client must know.
    #[default]
    GoesOn,
    /// It is cut off: the statement only reads.
    IsCutOff,
}

impl WhenLate {
    /// Of a statement's answer. Of several statements, and of what begins and ends transactions, the client must know all.
    pub(crate) fn of(facts: &Facts) -> Self {
        match facts.kind == Kind::Select && !facts.writes {
            true => Self::IsCutOff,
            false => Self::GoesOn,
        }
    }
}
