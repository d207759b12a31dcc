//! What a session has with servers: the connections in its hands, its open transaction, what its last statements left.

use nuthatch_sql::{Lexing, ServerFlavor};
use nuthatch_wire::StatusFlags;

use crate::session::parts::{Context, Diagnostics, Hands, Results, Transaction};

/// See the module's doc.
#[derive(Debug, Default)]
pub(crate) struct Dealings {
    pub(crate) transaction: Transaction,
    pub(crate) hands: Hands,
    pub(crate) results: Results,
    pub(crate) diagnostics: Diagnostics,
}

impl Dealings {
    /// Whether the client is in a transaction, be it that no server knows of it yet.
    pub(crate) fn are_in_transaction(&self) -> bool {
        self.hands.are_in_transaction(&self.transaction)
    }

    /// The status flags that this client's answers carry.
    pub(crate) fn status(&self, context: &Context) -> StatusFlags {
        let mut status = StatusFlags::empty();
        status.set(StatusFlags::SERVER_STATUS_AUTOCOMMIT, context.state.autocommit);
        status.set(StatusFlags::SERVER_STATUS_IN_TRANS, self.are_in_transaction());
        let Lexing { ansi_quotes, no_backslash_escapes, .. } = context.lexing;
        // MySQL never tells of it.
        let is_mariadb = matches!(context.lexing.server, ServerFlavor::MariaDb(_));
        status.set(StatusFlags::SERVER_STATUS_ANSI_QUOTES, ansi_quotes && is_mariadb);
        status.set(StatusFlags::SERVER_STATUS_NO_BACKSLASH_ESCAPES, no_backslash_escapes);
        status
    }
}
