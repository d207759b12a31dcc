//! Why an answer is not cached, in words for an operator.
//!
//! One reason is given, the first that is met: of the statement, then of the session, then of the tables, then of the answer. It is small and
//! holds nothing of a client's: a table's name, for one, is told by EXPLAIN CACHE only. No cost where nobody asks for the words.

use std::fmt;

use nuthatch_cache::Refusal;
use nuthatch_sql::{NotCacheable, NotExact, Unsuitable};

use crate::stats::pins::Pins;

/// See the module's doc.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotCached {
    /// Whatever is configured.
    Statement(NotCacheable),
    /// What this in it tells may change although no table does, and nothing gives it a time.
    Volatile(&'static str),
    NotDemanded,
    RuleOff,
    RuleWithoutTime,
    FastForward,
    OwnTypeOff,
    TypeOff,
    TooManyEnvironments,
    UnderFlag,
    OddIsolation,
    WroteInTransaction,
    UnknownMoment,
    Pinned(Pins),
    NotRepeatable,
    InTransaction,
    NoCatalogue,
    OtherServer,
    UnknownReplica,
    DefinedOtherwise,
    ReplicaBehind,
    ReplicaWithoutTransactions,
    Delayed,
    NotFollowed,
    OtherHostgroup,
    UnknownIsolation,
    Unproven(Unproven),
    DefinedJustNow,
    TablesBeingMade,
    ReadOtherwise,
    UnknownTable,
    UnsuitableTable(Unsuitable),
    NoSchema,
    NameNotAscii,
    StoredFunction,
    MoreThanDefinitions,
    Today,
    TablesNotUnderstood,
    TooManyTables,
    OnProbation,
    Failed,
    NotOneResultSet,
    Warnings,
    SessionChanged,
    FoundRowsUntold,
    Empty,
    TooLarge,
    WrittenMeanwhile,
    Full(Full),
}

impl NotCached {
    /// Whether a copy of the whole answer was made before it was found out.
    pub(crate) const fn is_of_copy(self) -> bool {
        matches!(
            self,
            Self::Empty
                | Self::TooLarge
                | Self::WrittenMeanwhile
                | Self::ReplicaBehind
                | Self::Full(Full::Copies | Full::OfOthers | Full::Cache)
        )
    }

    /// In words, of what was found out when the answer was there, or before a copy of it was begun.
    const fn of_answer(self) -> &'static str {
        match self {
            Self::OnProbation => "copies of such answers did not pay (stats_query_cache: admission)",
            Self::NotOneResultSet => "its answer was not one result set",
            Self::Warnings => "its answer came with warnings",
            Self::SessionChanged => "it has changed the session",
            Self::FoundRowsUntold => {
                "it has SQL_CALC_FOUND_ROWS, and its server is asked for that only where its connection is let go of"
            }
            Self::Empty => "its answer had no rows, and those are not stored",
            Self::TooLarge => "its answer was larger than an entry may be",
            Self::WrittenMeanwhile => "what it reads was written meanwhile",
            _ => "it failed",
        }
    }
}

/// A clause: "is not cached because …".
impl fmt::Display for NotCached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Statement(why) => return why.fmt(f),
            Self::Volatile(what) => {
                return write!(f, "{what} in it may tell something else although no table changes");
            }
            Self::NotDemanded => "query_cache_type is DEMAND, and it does not ask to be cached",
            Self::RuleOff => "a rule says so: its attributes have \"cache\": \"off\"",
            Self::RuleWithoutTime => {
                "a rule's attributes have \"cache\": \"ttl\", and no rule gives it a time"
            }
            Self::FastForward => "the user has fast_forward",
            Self::OwnTypeOff => "the session has set its query_cache_type to OFF",
            Self::TypeOff => "query_cache_type is OFF, and no rule or comment gives it a time",
            Self::TooManyEnvironments => "there are more session environments than can be told apart",
            Self::UnderFlag => "a rule has set next_query_flagIN for it",
            Self::OddIsolation => "the session's isolation is READ UNCOMMITTED or SERIALIZABLE",
            Self::WroteInTransaction => "its transaction has written",
            Self::UnknownMoment => "the moment that its transaction shows the tables of is not known",
            Self::Pinned(pins) => return write!(f, "the session holds a connection for: {pins}"),
            Self::NotRepeatable => {
                "it was prepared under other settings, or is executed with a cursor or long data"
            }
            Self::InTransaction => {
                "a transaction was open, and a time is given only to what was read outside of one"
            }
            Self::NoCatalogue => "the tables of its hostgroup's server are not known",
            Self::OtherServer => "another server than the one whose writes are seen has answered",
            Self::UnknownReplica => "it is not known (yet) what the replica that answered has applied",
            Self::DefinedOtherwise => "a table in it is defined otherwise on the replica that answered, or it asks that for definitions",
            Self::ReplicaBehind => {
                "the replica that answered is not known to have applied what was written before"
            }
            Self::ReplicaWithoutTransactions => {
                "a replica has answered, and a table in it is without transactions"
            }
            Self::Delayed => {
                "a table in it is without transactions, and INSERT DELAYED or LOCK TABLES … WRITE CONCURRENT, or code that may contain it, was sent since the start"
            }
            Self::NotFollowed => {
                "mysql-query_cache_follow asks for its server's binlog, which is not followed (yet)"
            }
            Self::OtherHostgroup => {
                "a transaction or a pin had it answered by another hostgroup than the rules say"
            }
            Self::UnknownIsolation => "it is not known that its connection hides what is not committed",
            Self::Unproven(why) => return why.fmt(f),
            Self::DefinedJustNow => "a definition has just been changed",
            Self::TablesBeingMade => "it lists tables, and MariaDB those that are being made too",
            Self::ReadOtherwise => "it was prepared under another SQL mode or character set",
            Self::UnknownTable => "a table in it is not known (yet)",
            Self::UnsuitableTable(why) => return write!(f, "a table in it {why}"),
            Self::NoSchema => "a table in it is named without a schema, and the session has none",
            Self::NameNotAscii => "a name in it has letters outside of ASCII",
            Self::StoredFunction => "a stored function has the name of one that it calls",
            Self::MoreThanDefinitions => "it asks information_schema for more than what changes with definitions only",
            Self::Today => "it may make a date of a TIME, for which today's is taken",
            Self::TablesNotUnderstood => "which tables it reads is not understood",
            Self::TooManyTables => "a table in it is past mysql-query_cache_tables_max",
            Self::Full(why) => return why.fmt(f),
            Self::OnProbation | Self::Failed | Self::NotOneResultSet | Self::Warnings | Self::SessionChanged | Self::FoundRowsUntold | Self::Empty | Self::TooLarge | Self::WrittenMeanwhile => self.of_answer(),
        })
    }
}

/// What there was no room in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Full {
    /// In what copies of answers may take on their way into the cache.
    Copies,
    /// In a cache full of what is asked for more often.
    OfOthers,
    /// The same, and no copy was made of what comes for the first time.
    AtTheDoor,
    Cache,
}

/// A clause: "is not cached because …".
impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Copies => {
                "other answers on their way into the cache took all the room that there is for such"
            }
            Self::OfOthers => "the cache was full of answers that are asked for more often",
            Self::AtTheDoor => {
                "the cache was full, answers like it were not let in when they came for the first time, and it did"
            }
            Self::Cache => "the cache had no room for its answer",
        })
    }
}

/// Why others might be answered otherwise than over this connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unproven {
    /// It keeps the privileges of its login, and they were changed since.
    OlderPrivileges,
    /// It has the global values of its login, and they were changed since.
    OlderDefaults,
    /// They were changed since the session's login, and what that was is not known.
    UnknownDefaults,
}

/// A clause: "is not cached because …".
impl fmt::Display for Unproven {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OlderPrivileges => "its connection was opened before privileges were changed",
            Self::OlderDefaults => "its connection was opened before what sessions begin with was changed",
            Self::UnknownDefaults => {
                "what sessions begin with was changed since the session's login, and what that was is not known"
            }
        })
    }
}

impl From<Unproven> for NotCached {
    fn from(why: Unproven) -> Self {
        Self::Unproven(why)
    }
}

impl From<NotExact> for NotCached {
    fn from(why: NotExact) -> Self {
        match why {
            NotExact::UnknownTable(_) => Self::UnknownTable,
            NotExact::Unsuitable(_, why) => Self::UnsuitableTable(why),
            NotExact::NoSchema => Self::NoSchema,
            NotExact::NameNotAscii => Self::NameNotAscii,
            NotExact::StoredFunction(_) => Self::StoredFunction,
            NotExact::MoreThanDefinitions => Self::MoreThanDefinitions,
            NotExact::Today => Self::Today,
            NotExact::NotUnderstood => Self::TablesNotUnderstood,
        }
    }
}

impl From<Refusal> for NotCached {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::TooLarge { .. } | Refusal::Malformed => Self::TooLarge,
            Refusal::NotAdmitted => Self::Full(Full::OfOthers),
            Refusal::Off | Refusal::NoRoom => Self::Full(Full::Cache),
        }
    }
}
