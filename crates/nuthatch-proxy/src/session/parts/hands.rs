//! The connections that a session has in its hands, and those that it let go of.

use std::sync::Arc;

use nuthatch_config::HostgroupId;

use crate::backend::Server;
use crate::session::parts::{Held, Statement, Transaction};
use crate::session::statement::Plan;
use crate::state::Errand;

/// A connection that the session let go of: its server, its hostgroup, the server's thread.
pub(crate) type Left = (Arc<Server>, HostgroupId, u32);

/// See the module's doc.
#[derive(Debug, Default)]
pub(crate) struct Hands {
    pub(crate) held: Vec<Held>,
    /// What the statement at hand asks of a connection.
    pub(crate) errand: Errand,
    /// A connection with state of the session was lost: the client must not go on as if it were still there.
    pub(crate) has_lost_state: bool,
    /// The connection that was let go of last.
    pub(crate) left: Option<Left>,
    /// The server's thread that ran the last statement; `None` when no server did.
    pub(crate) last_ran_on: Option<u32>,
}

impl Hands {
    /// The held connection on which that cursor is open, and the statement's number there.
    pub(crate) fn take_cursor(&mut self, cursor: Option<(u32, u32)>) -> Option<(Held, u32)> {
        let (thread_id, number) = cursor?;
        let place = self.held.iter().position(|held| held.connection.thread_id == thread_id)?;
        Some((self.held.swap_remove(place), number))
    }

    /// The held connection that alone has the statement, and its number there.
    pub(crate) fn take_hidden(&mut self, statement: &Statement) -> Option<(Held, u32)> {
        let owner = statement.key.hidden?;
        let numbers = self.held.iter().map(|held| held.connection.prepared.number_of(owner));
        let (place, number) = numbers.enumerate().find_map(|(place, number)| Some((place, number?)))?;
        Some((self.held.swap_remove(place), number))
    }

    /// Neither a transaction nor anything else is open that COMMIT or ROLLBACK could end, and it does nothing else: AND CHAIN
    /// begins a transaction also where none was, RELEASE hangs up.
    pub(crate) fn needs_no_end(&self, plan: &Plan) -> bool {
        self.held.is_empty() && plan.facts.transaction.ends && !plan.facts.server.disconnects
    }

    /// Whether a server has something of the session that a BEGIN would end.
    pub(crate) fn is_open_somewhere(&self) -> bool {
        self.held.iter().any(|held| held.in_transaction || held.pins.is_sticky())
    }
}

impl Hands {
    /// Whether a transaction is open on one of them, or has begun for the client.
    pub(crate) fn are_in_transaction(&self, transaction: &Transaction) -> bool {
        transaction.beginning.is_held_back() || self.held.iter().any(|held| held.in_transaction)
    }

    /// The hostgroup of the connection with an open transaction.
    pub(crate) fn open_transaction(&self, transaction: &Transaction) -> Option<HostgroupId> {
        let begun = self.held.iter().find(|held| held.in_transaction).map(|held| held.hostgroup);
        begun.or(transaction.beginning.hostgroup())
    }
}
