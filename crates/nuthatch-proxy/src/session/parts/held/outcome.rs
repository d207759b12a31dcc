//! What is known of a statement whose connection was lost, and what the client is told of it.
//!
//! A server goes on with a statement whose connection is lost, and may commit it seconds later (measured on MariaDB 10.11 and MySQL 9.7); what
//! a transaction has done that is not committed is taken back with the connection.

use nuthatch_sql::Kind;

use crate::exact::Commits;
use crate::session::statement::Facts;

/// See the module's doc.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// There is nothing to know: it changes nothing, and nothing was open.
    #[default]
    Nothing,
    /// It was not run, and nothing was open.
    NotRun,
    /// It may have been run, or be at work still.
    Unknown,
    /// The same of one by which the open transaction may have been committed.
    CommitUnknown,
    /// The open transaction was not committed: its server takes it back.
    RolledBack,
}

/// Whether a transaction was open when a statement was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Around {
    /// None was, and what the statement does is committed with it.
    Nothing,
    /// One may have been.
    Maybe,
    /// One was, or the statement has begun one: what it does is not committed with it.
    Transaction,
}

/// How much of a statement a server has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Given {
    /// Too little to run it.
    Nothing,
    /// Maybe all.
    Something,
}

impl Outcome {
    /// Of a statement whose answer did not come.
    pub(crate) fn of(facts: &Facts, around: Around, given: Given) -> Self {
        let may_write = facts.may_write() || facts.writes;
        match (given, facts.commits(), around) {
            (Given::Nothing, _, Around::Nothing) if may_write => Self::NotRun,
            (Given::Nothing, _, Around::Nothing) => Self::Nothing,
            (Given::Nothing, ..) | (_, Commits::RollsBack, _) => Self::RolledBack,
            (_, Commits::Surely, _) if facts.kind == Kind::Commit => Self::CommitUnknown,
            (_, Commits::Surely | Commits::Maybe, Around::Maybe | Around::Transaction) => Self::CommitUnknown,
            (_, Commits::No, Around::Transaction) => Self::RolledBack,
            _ if may_write => Self::Unknown,
            _ => Self::Nothing,
        }
    }

    /// What is told of it behind the words for what has happened.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Nothing => "",
            Self::NotRun => "; the statement was not executed",
            Self::Unknown => "; it is not known whether the statement was executed",
            Self::CommitUnknown => "; it is not known whether the transaction was committed",
            Self::RolledBack => "; the transaction was rolled back",
        }
    }

    /// Whether the server may have done what the client must not do again without a look.
    pub(crate) const fn is_unknown(self) -> bool {
        matches!(self, Self::Unknown | Self::CommitUnknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::statement::Plan;

    #[test]
    fn outcome_is_known_where_nothing_was_given_or_nothing_can_have_been_committed() {
        use Around::{Maybe, Nothing as Alone, Transaction as Inside};
        use Outcome::{CommitUnknown, NotRun, Nothing, RolledBack, Unknown};
        for (text, around, given, expected) in [
            ("SELECT 1", Alone, Given::Something, Nothing),
            ("SELECT 1", Inside, Given::Something, RolledBack),
            ("SELECT 1", Maybe, Given::Something, Nothing),
            ("INSERT INTO t VALUES (1)", Alone, Given::Nothing, NotRun),
            ("INSERT INTO t VALUES (1)", Alone, Given::Something, Unknown),
            ("INSERT INTO t VALUES (1)", Maybe, Given::Something, Unknown),
            ("INSERT INTO t VALUES (1)", Inside, Given::Something, RolledBack),
            ("COMMIT", Inside, Given::Nothing, RolledBack),
            ("COMMIT", Inside, Given::Something, CommitUnknown),
            ("COMMIT", Alone, Given::Something, CommitUnknown),
            ("ROLLBACK", Inside, Given::Something, RolledBack),
            ("ROLLBACK TO SAVEPOINT a", Inside, Given::Something, RolledBack),
            ("CREATE TABLE u (id INT)", Alone, Given::Something, Unknown),
            ("CREATE TABLE u (id INT)", Inside, Given::Something, CommitUnknown),
            ("CALL p()", Inside, Given::Something, CommitUnknown),
            ("BEGIN", Alone, Given::Something, Nothing),
            ("BEGIN", Inside, Given::Something, CommitUnknown),
            ("SELECT 1; INSERT INTO t VALUES (1)", Alone, Given::Something, Unknown),
        ] {
            let facts = Plan::of_text(text).facts;
            assert_eq!(Outcome::of(&facts, around, given), expected, "{text} {around:?} {given:?}");
        }
    }
}
