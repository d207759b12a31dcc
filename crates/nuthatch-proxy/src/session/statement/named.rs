//! What a statement does with one that text has prepared.

use std::sync::Arc;

use nuthatch_sql::Kind;

/// What a statement does with one name.
#[derive(Debug)]
pub(crate) enum Named {
    Prepare {
        name: Arc<[u8]>,
        text: Arc<[u8]>,
        /// The statement to be sent, where it is not the client's.
        sent: Option<Arc<[u8]>>,
    },
    Execute {
        name: Arc<[u8]>,
    },
    /// Neither the session nor, then, the connection knows it.
    Unknown {
        name: Arc<[u8]>,
    },
}

/// Whether statements may be prepared or executed in it that cannot be seen.
pub(crate) const fn may_use_names(kind: Kind) -> bool {
    matches!(kind, Kind::Call | Kind::Multi | Kind::Other | Kind::Prepare | Kind::Execute | Kind::Deallocate)
}
