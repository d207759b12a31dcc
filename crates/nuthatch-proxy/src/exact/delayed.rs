//! Whether rows may come to tables after their statement was acknowledged: INSERT DELAYED, LOCK TABLES … WRITE CONCURRENT.
//!
//! It acts on tables without transactions only. Once one may have been sent, nobody knows when its rows come; so from then on nothing
//! is stored that reads such a table, until the next start. What was stored before falls by the statement's own clocks: it is noted here
//! before those are raised, and a read notes its moment before it asks here.

use std::sync::atomic::{AtomicBool, Ordering};

use nuthatch_sql::{Catalogue, Kind, ReadFootprint};

/// See the module's doc.
#[derive(Debug, Default)]
pub(crate) struct Delayed {
    is_possible: AtomicBool,
}

impl Delayed {
    /// A statement is about to be sent by which rows [may come later](nuthatch_sql::may_insert_delayed); `catalogue` is what is known of the
    /// server, if anything.
    pub(crate) fn note(&self, text: &[u8], kind: Kind, schema: &[u8], catalogue: Option<&Catalogue>) {
        let runs_harmless_code =
            kind == Kind::Call && catalogue.is_some_and(|known| !known.routines_may_define(text, schema));
        if !runs_harmless_code {
            self.note_unseen();
        }
    }

    /// Something is about to be sent that nobody looks at.
    pub(crate) fn note_unseen(&self) {
        let was_possible = self.is_possible.swap(true, Ordering::SeqCst);
        if !was_possible {
            tracing::info!(
                "INSERT DELAYED or LOCK TABLES ... WRITE CONCURRENT was sent, or code that may contain it: MyISAM tables are not cached until the next start"
            );
        }
    }

    /// Whether a row may come to what is read although no clock moves then.
    pub(crate) fn may_add_to(&self, read: &ReadFootprint, catalogue: &Catalogue) -> bool {
        self.is_possible.load(Ordering::SeqCst) && !is_transactional(read, catalogue)
    }
}

/// Whether all that is read belongs to transactions.
pub(crate) fn is_transactional(read: &ReadFootprint, catalogue: &Catalogue) -> bool {
    read.tables.iter().all(|read| catalogue.is_transactional(read.table))
}
