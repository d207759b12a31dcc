//! What becomes of an answer when the time of its statement is over.

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
    /// Of a statement's answer.
    pub(crate) fn of(facts: &Facts) -> Self {
        if facts.writes { Self::GoesOn } else { Self::IsCutOff }
    }
}
