//! Locks of definitions, which a session without autocommit keeps until its transaction's end: also where the server tells of no
//! transaction.
//!
//! Measured on MariaDB 10.11 and MySQL 9.7. Both: EXPLAIN, CHECKSUM TABLE, a query inside SHOW. MySQL alone: reading and writing tables
//! without transactions, DESCRIBE, SHOW COLUMNS, SHOW INDEX. MariaDB alone: LOAD INDEX, CACHE INDEX. Somebody else's DROP TABLE waits for
//! all of them. Here MariaDB's are kept for what only MySQL's need too, SHOW aside. A prepared statement leaves none before it is
//! executed. Statements that fail do once their tables are open; they count as the beginning of a transaction anyhow.

use nuthatch_sql::{Kind, TransactionEnd};

use crate::session::parts::{Context, Held};
use crate::session::statement::Facts;
use crate::stats::pins::Pins;

/// Takes note of whether the connection may have such locks behind the statement, which ended well, and no transaction that tells of them.
pub(crate) fn learn_metadata_lock(context: &Context, facts: &Facts, held: &mut Held) {
    let may_go_on = match facts.transaction.end {
        TransactionEnd::No => true,
        // Of routines, or XA.
        TransactionEnd::Maybe => !matches!(facts.kind, Kind::Ddl(_) | Kind::Unlock | Kind::Xa),
        _ => false,
    };
    if context.state.autocommit || !may_go_on {
        held.unpin(Pins::METADATA_LOCK);
    } else if !held.in_transaction() && facts.may_lock_tables(context.lexing.server) {
        held.pin(Pins::METADATA_LOCK);
    }
}
