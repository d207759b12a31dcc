//! What the events of a binlog say.

use super::query::QueryEvent;
use super::rows::{Rows, RowsKind};
use super::table_map::TableMap;
use super::transaction_start::TransactionStart;
use super::xid::Xid;

/// One event.
#[derive(Debug, Clone)]
pub enum Event<'e> {
    /// What the events of the file look like: a file begins, or the stream does.
    Format,
    /// The stream goes on in another file. Also what the server makes up at the beginning of each.
    Rotate {
        /// The next file.
        file: &'e [u8],
        /// Where in it.
        position: u64,
    },
    /// There is nothing more to send up to here.
    Heartbeat {
        /// The file that is being sent.
        file: &'e [u8],
        /// Up to where it was sent: of the first kind of heartbeats in 32 bits.
        position: u64,
    },
    /// A transaction begins.
    Gtid(TransactionStart<'e>),
    /// A statement, by its text: DDL, or what a transaction is made of (BEGIN, COMMIT, SAVEPOINT …), or in the formats STATEMENT and
    /// MIXED anything that writes.
    Query(QueryEvent<'e>),
    /// A table whose rows may follow: in MariaDB also one that a foreign key's action changes, whose rows do not.
    TableMap(&'e TableMap),
    /// Changed rows.
    Rows {
        /// Whose they are.
        table: &'e TableMap,
        /// What was done.
        kind: RowsKind,
        /// None if the table is not readable: anything may have changed in it.
        rows: Option<Rows<'e>>,
        /// Whether the statement ends here.
        is_statement_end: bool,
    },
    /// A statement ends here that has changed no row.
    StatementEnd,
    /// The transaction commits. The number is the storage engine's.
    Xid(u64),
    /// An XA transaction is prepared, or, in one phase, committed.
    XaPrepare {
        /// Its name.
        xid: Xid<'e>,
        /// Whether it is committed.
        is_one_phase: bool,
    },
    /// A part of a file that LOAD DATA reads, in the format STATEMENT. The statement follows.
    LoadData,
    /// LOAD DATA, in the format STATEMENT.
    LoadQuery(QueryEvent<'e>),
    /// A value that the next statement uses: an AUTO_INCREMENT, the seeds of RAND(), a user variable.
    Operand,
    /// Something was not written as it should be: what was written is not all.
    Incident,
    /// The server stopped.
    Stop,
    /// What changes nothing that is cached: comments, and what servers tell one another.
    Ignorable,
    /// Nothing is known of it.
    Unknown {
        /// Its number.
        kind: u8,
    },
}
