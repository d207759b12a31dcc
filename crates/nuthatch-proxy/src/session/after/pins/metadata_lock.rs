//! Locks of definitions, which a session without autocommit keeps until its transaction's end: also where the server tells of no
//! transaction.
//!
//! Measured on MariaDB 10.11 and MySQL 9.7: so do tables without transactions (MySQL alone), EXPLAIN, CHECKSUM TABLE, SHOW COLUMNS and
//! SHOW INDEX (MySQL alone). Somebody else's DROP TABLE waits for all of them. A prepared statement leaves none before it is executed; one that
//! fails does once its tables are open, and counts as a transaction's beginning anyhow.

use nuthatch_sql::TransactionEnd;

use crate::session::parts::{Context, Held};
use crate::session::statement::Facts;
use crate::stats::pins::Pins;

/// Takes note of whether the connection may have such locks behind the statement, which ended well, and no transaction that tells of them.
pub(crate) fn learn_metadata_lock(context: &Context, facts: &Facts, held: &mut Held) {
    let may_go_on = matches!(facts.transaction.end, TransactionEnd::No | TransactionEnd::Maybe);
    if context.state.autocommit || !may_go_on {
        held.unpin(Pins::METADATA_LOCK);
    } else if !held.in_transaction() && facts.may_lock_tables(context.lexing.server) {
        held.pin(Pins::METADATA_LOCK);
    }
}
