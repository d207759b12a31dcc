//! What a session has with servers: the connections in its hands, its open transaction, what its last statements left.

use nuthatch_sql::{Lexing, ServerFlavor};
use nuthatch_wire::StatusFlags;

use crate::session::parts::{Context, Diagnostics, Hands, Held, Results, Transaction};

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

    /// A connection that the session has had anew may have been another's in between: what it knew of the session's counts is gone.
    pub(crate) fn forget_counts_unless_held(&mut self, held: &Held) {
        let gone = (!held.was_held()).then_some(held.connection.thread_id);
        if gone.is_some() && self.hands.last_ran_on() == gone {
            self.hands.forget_what_ran_last();
        }
        if gone.is_some_and(|thread_id| self.results.found_rows_are_on(thread_id)) {
            self.results.forget_where_found();
        }
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

#[cfg(test)]
mod tests {
    use nuthatch_config::HostgroupId;

    use super::*;
    use crate::session::parts::Beginning;

    const MARIADB: ServerFlavor = ServerFlavor::MariaDb(101_119);
    const MYSQL: ServerFlavor = ServerFlavor::MySql(90_704);

    const AUTOCOMMIT: StatusFlags = StatusFlags::SERVER_STATUS_AUTOCOMMIT;
    const IN_TRANS: StatusFlags = StatusFlags::SERVER_STATUS_IN_TRANS;
    const NO_ESCAPES: StatusFlags = StatusFlags::SERVER_STATUS_NO_BACKSLASH_ESCAPES;

    #[test]
    fn both_servers_would_tell_the_client_the_same_but_for_quotes() {
        let quotes = StatusFlags::SERVER_STATUS_ANSI_QUOTES;
        let none = StatusFlags::empty();
        for (server, ansi_quotes, no_backslash_escapes, autocommit, expected) in [
            (MARIADB, false, false, true, AUTOCOMMIT),
            (MYSQL, false, false, true, AUTOCOMMIT),
            (MARIADB, false, false, false, none),
            (MYSQL, false, false, false, none),
            (MARIADB, true, false, false, quotes),
            (MYSQL, true, false, false, none),
            (MARIADB, false, true, false, NO_ESCAPES),
            (MYSQL, false, true, false, NO_ESCAPES),
            (MARIADB, true, true, true, AUTOCOMMIT | quotes | NO_ESCAPES),
            (MYSQL, true, true, true, AUTOCOMMIT | NO_ESCAPES),
        ] {
            let mut context = Context::on(server);
            context.state.autocommit = autocommit;
            context.lexing = Lexing { ansi_quotes, no_backslash_escapes, ..context.lexing };
            let found = Dealings::default().status(&context);
            assert_eq!(found, expected, "{:?} autocommit={autocommit}", context.lexing);
        }
    }

    #[test]
    fn client_is_told_of_a_transaction_whose_begin_is_held_back() {
        let mut transaction = Transaction::default();
        transaction.set_beginning(Beginning::HeldBack(HostgroupId(7)));
        let dealings = Dealings { transaction, ..Dealings::default() };
        assert!(dealings.are_in_transaction());
        for server in [MARIADB, MYSQL] {
            assert_eq!(dealings.status(&Context::on(server)), AUTOCOMMIT | IN_TRANS, "{server:?}");
        }
    }
}
