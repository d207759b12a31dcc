//! What a statement reads and writes: tables, and where it can be proven, rows.
//!
//! Soundness never rests on a grammar of SQL. Which *tables* a statement may touch is a superset: every name in its tokens that is
//! a known table's in that place (alone: of the default schema; behind a dot: of the schema before it). Only *narrowing* reads
//! structure: the tables that a write changes, the rows that a predicate on the primary key leaves. A form that is not
//! recognised down to its last token is not narrowed.

mod call;
mod change;
mod date_literal;
mod definition;
mod equality;
mod from;
mod index_hint;
mod information_schema;
mod insert;
mod join;
mod key;
mod keyword;
mod linked;
mod looked_at;
mod names;
mod predicate;
mod read;
mod rows;
mod shown;
mod template;
mod today;
mod told;
mod value;
mod write;
mod writes;

pub use call::calls_stored_function;
pub use insert::{makes_up, names_another};
pub use read::read_footprint;
pub use rows::rows_are_of_tables;
pub use template::WriteTemplate;
pub use today::may_rest_on_today;
pub use write::write_footprint;

use std::fmt;

use smallvec::SmallVec;

use crate::catalogue::{Catalogue, RowKey, TableId};
use crate::column_set::ColumnSet;
use crate::compared::ColumnPlaces;

/// What the answer to a SELECT depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadFootprint {
    /// One for each table or view, in no order; empty for a SELECT that reads no table.
    pub tables: Vec<TableRead>,
    /// One of them is a view.
    pub has_view: bool,
    /// It asks which tables, columns and the like there are.
    pub definitions: Option<ReadDefinitions>,
}

/// What of definitions is asked for, of which servers tell more than of others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadDefinitions {
    /// Columns: what views have of them is told only as long as all views are known to have the same each time.
    pub columns: bool,
    /// Which tables there are: MariaDB lists one that a CREATE TABLE … SELECT fills too, and if that fails says nothing.
    pub tables: bool,
}

impl ReadDefinitions {
    /// Whether what is told may be another although no definition changes.
    fn may_change_by_itself(self, catalogue: &Catalogue) -> bool {
        self.columns && catalogue.has_unsteady_views()
    }
}

/// What an answer depends on in one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableRead {
    /// Which table.
    pub table: TableId,
    /// Which rows of it.
    pub rows: ReadRows,
    /// Which columns of these, as far as it was asked ([`ReadFootprint::with_columns`]).
    pub looked_at: ColumnSet,
}

/// Which rows of a table an answer depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadRows {
    /// Any.
    Any,
    /// Those with these primary keys, each named once.
    Keys {
        /// The keys, ascending, without repetition.
        keys: Vec<RowKey>,
        /// The answer has as many rows as there are keys exactly if each was found.
        rows_tell_if_found: bool,
    },
    /// Those that hold one of some values.
    Equal(Equality),
    /// Those whose keys are in this range, ends included.
    Range {
        /// The least key.
        from: RowKey,
        /// The greatest key, not less than `from`.
        to: RowKey,
    },
}

/// Which values the rows that an answer shows hold in some columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Equality {
    /// The columns.
    pub columns: ColumnPlaces,
    /// What may be held in them, as hashes of all of them; rows that hold what has no normal form are among them.
    pub hashes: Vec<u64>,
}

/// Why the answer to a SELECT cannot be cached as exact, apart from what its class says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotExact {
    /// A name in the place of a table is none that is known; as written.
    UnknownTable(Box<[u8]>),
    /// A table, folded, of which results are not cached.
    Unsuitable(Box<[u8]>, crate::catalogue::Unsuitable),
    /// It names no table's schema, and the session has none.
    NoSchema,
    /// A name has bytes outside of ASCII, of which it is not known how the server compares them.
    NameNotAscii,
    /// A function of this name, as written, may be a stored one.
    StoredFunction(Box<[u8]>),
    /// It asks `information_schema` for more than what changes with definitions only.
    MoreThanDefinitions,
    /// It may make a date of a value of type TIME, for which the server takes today's.
    Today,
    /// It is not of a form whose tables are found with certainty.
    NotUnderstood,
}

/// A clause for an operator: "is not cached because …".
impl fmt::Display for NotExact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
        match self {
            Self::UnknownTable(name) => write!(f, "the table {} is not known (yet)", text(name)),
            Self::Unsuitable(name, why) => write!(f, "{} {why}", text(name)),
            Self::NoSchema => f.write_str("a table is named without a schema, and the session has none"),
            Self::NameNotAscii => f.write_str("a name has letters outside of ASCII"),
            Self::StoredFunction(name) => {
                write!(f, "{} may be a stored function: the server has one of that name", text(name))
            }
            Self::MoreThanDefinitions => {
                f.write_str("it asks information_schema for more than what changes with definitions only")
            }
            Self::Today => f.write_str("it may make a date of a TIME, for which today's is taken"),
            Self::NotUnderstood => f.write_str("which tables it reads is not understood"),
        }
    }
}

/// What a statement may write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteFootprint {
    /// Anything, anywhere.
    Everything,
    /// These tables; none for a statement that writes nothing.
    Tables(TableWrites),
    /// A change of definitions.
    Definition {
        /// Tables whose rows or meaning may change.
        tables: Vec<TableId>,
        /// Each table that has to be looked at anew, known or not; among other names that are no table's.
        named: Vec<FoldedName>,
    },
}

impl WriteFootprint {
    /// The same of a statement that is executed several times, of which the answer tells the key of one row at most.
    #[must_use]
    pub fn repeated(mut self) -> Self {
        if let Self::Tables(tables) = &mut self {
            let given = tables.iter_mut().filter(|write| write.rows == WrittenRows::Given);
            given.for_each(|write| write.rows = WrittenRows::New);
        }
        self
    }
}

/// Schema and name of a table, [folded](crate::fold).
pub type FoldedName = (Box<[u8]>, Box<[u8]>);

/// What a statement may write in each table.
pub type TableWrites = SmallVec<[TableWrite; 1]>;

/// Some keys.
pub type RowKeys = SmallVec<[RowKey; 2]>;

/// What a statement may write in one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableWrite {
    /// Which table.
    pub table: TableId,
    /// Which rows of it.
    pub rows: WrittenRows,
    /// A ROLLBACK undoes it.
    pub is_transactional: bool,
}

/// Which rows of a table a statement may write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WrittenRows {
    /// Any.
    Any,
    /// Those with these primary keys and no others, whether they exist or not; their keys stay as they are.
    Keys(RowKeys),
    /// One that the statement makes, whose key the server gives and tells in its OK packet.
    Given,
    /// Several that the statement makes, whose keys are not known.
    New,
}

/// A value bound to a `?` of a prepared statement, as far as it can be a key or be told apart from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// An integer that was sent as one (`TINY` to `LONGLONG`), not negative.
    Unsigned(u64),
    /// A negative integer that was sent as one.
    Negative(i64),
    /// A value that was sent as TIME.
    Time,
    /// One that was sent as DATE, DATETIME or TIMESTAMP.
    Date,
    /// A string, which holds the normal form of that hash, and an integer as a server would write it if it holds one.
    Text {
        /// See [`crate::ColumnValue`]; none if it has no normal form.
        hash: Option<u64>,
        /// That integer.
        integer: Option<i64>,
    },
    /// Anything else: NULL, a float.
    Other,
}
