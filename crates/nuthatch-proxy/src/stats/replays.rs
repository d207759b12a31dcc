//! Why transactions whose connection was lost are not done again.

use crate::stats::Counters;

/// See the module's doc.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoReplay {
    /// One of their statements cannot be repeated, or has left more than a transaction on the connection.
    Statement,
    /// They may have written to tables without transactions.
    Tables,
    /// They are too large, or it was tried too often or for too long.
    Limits,
    /// It is not known that the lost connection's thread is gone.
    Alive,
    /// What was told of one of their statements is not so again.
    Differs,
}

impl NoReplay {
    /// Counts it.
    pub(crate) fn count(self, counters: &Counters) {
        let counter = match self {
            Self::Statement => &counters.replays_refused_statement,
            Self::Tables => &counters.replays_refused_tables,
            Self::Limits => &counters.replays_refused_limits,
            Self::Alive => &counters.replays_refused_alive,
            Self::Differs => &counters.replays_refused_differs,
        };
        counter.bump();
    }
}
