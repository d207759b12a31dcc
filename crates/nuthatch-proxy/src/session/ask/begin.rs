//! A BEGIN is held back until a statement needs a server, so that it is known since when the transaction's snapshot may be open.
//!
//! In REPEATABLE READ a transaction sees what was committed when its snapshot was opened, and which statement opens it differs
//! between servers and versions (`SELECT 1`, `WHERE 1=0` and a first UPDATE do not). So nothing is done to have it opened, and the
//! server alone decides: the moment before its BEGIN is noted, which no snapshot of it is older than. Exact entries are served that
//! have not changed since that moment, whenever it was opened. But not before it surely is, or it would open later than at a server
//! that was asked each time: a transaction reads past the cache until an answer has had a row that only a snapshot shows
//! ([`rows_are_of_tables`](nuthatch_sql::rows_are_of_tables)). The snapshot of a replica shows what it is known to have applied; where
//! that is not known, its transaction reads past the cache too.

use nuthatch_wire::{AnswerKind, Command};

use crate::exact::Isolation;
use crate::session::Session;
use crate::session::ask::exact::snapshot_on;
use crate::session::parts::{Beginning, Held};
use crate::session::statement::{Facts, Plan};
use crate::session::way::{Trouble, command_packet, reply};
use crate::state::Behind;

/// The word alone begins a block in MariaDB's Oracle mode.
pub(crate) const BEGIN: &[u8] = b"START TRANSACTION";

/// It has the server tell clients of transactions in a form that only the server knows.
const TRANSACTION_TRACKER: &[u8] = b"session_track_transaction_info";

impl Session {
    /// Answers a BEGIN that can be held back, and what ends a transaction of which no server knows.
    pub(crate) fn begin_or_end_alone(&mut self, plan: &Plan) -> Option<Vec<u8>> {
        let ends = plan.facts.ends_transaction && !plan.facts.disconnects;
        if ends && self.transaction.beginning.is_held_back() {
            self.transaction.beginning = Beginning::Usual;
        } else if plan.facts.begins_plainly && !self.hands.is_open_somewhere() && self.may_hold_back() {
            self.transaction.beginning = Beginning::HeldBack(plan.hostgroup);
        } else {
            return None;
        }
        self.results.row_count = 0;
        Some(reply::ok(self.status()))
    }

    fn may_hold_back(&self) -> bool {
        self.wants_exact()
            && self.transaction.touched.is_empty()
            && self.account.user.transaction_persistent
            && self.context.state.settings.get(TRANSACTION_TRACKER).is_none()
            && self.sees_a_snapshot()
    }

    /// Whether its transactions see one snapshot, or at least nothing older. By their default they may be READ COMMITTED: a pooled
    /// connection keeps the default of its login.
    fn sees_a_snapshot(&self) -> bool {
        match self.context.own_isolation() {
            Some(own) => own == Isolation::RepeatableRead,
            None if self.context.begun.has_odd_isolation => false,
            None => self.default_isolation().is_some_and(|default| default != Isolation::Other),
        }
    }

    /// Whether a transaction begins with the next statement, of which the moment will be known.
    fn may_begin(&self) -> bool {
        let begins_by_itself = !self.context.state.autocommit && !self.hands.is_open_somewhere();
        self.transaction.beginning.is_held_back() || begins_by_itself && self.may_hold_back()
    }

    /// Whether the next statement may be the one at which a server opens the transaction's snapshot.
    pub(crate) fn may_open_snapshot(&self) -> bool {
        self.may_begin() || self.transaction.beginning.awaits_snapshot()
    }

    /// Whether anything of a transaction is to go before the statement.
    pub(crate) fn must_bring_transaction(&self, held: &Held, facts: &Facts) -> bool {
        !(held.in_transaction || held.pins.is_sticky())
            && (self.may_begin() || self.must_identify_replica(facts))
    }

    /// Whether it must be known which server the connection leads to, of those that may answer.
    fn must_identify_replica(&self, facts: &Facts) -> bool {
        facts.is_plain_read() && self.wants_exact() && self.ground.shared.exact.catalogues.has_replicas()
    }

    /// Sends the BEGIN that was held back, ahead of a plain read, awaited before anything else; and notes since when the transaction
    /// may have a snapshot, also one that autocommit=0 stands for.
    pub(crate) async fn bring_transaction(&mut self, held: &mut Held, facts: &Facts) -> Result<(), Trouble> {
        if held.in_transaction || held.pins.is_sticky() {
            return Ok(());
        }
        let is_plain_read = facts.is_plain_read();
        if self.must_identify_replica(facts) {
            self.identify_replica(held).await?;
        }
        if !self.may_begin() {
            return Ok(());
        }
        let held_back = self.transaction.beginning.hostgroup();
        let since = if facts.keeps_snapshots() { snapshot_on(&self.ground, held) } else { None };
        let is_ahead = is_plain_read && self.hands.errand.behind == Behind::All;
        self.transaction.beginning = match since {
            Some(since) if held_back.is_none() => Beginning::Sent { held_back, since },
            Some(since) if is_ahead => {
                held.connection.add_ahead(&command_packet(Command::Query, BEGIN));
                Beginning::Sent { held_back, since }
            }
            _ if held_back.is_none() => Beginning::Usual,
            _ => {
                self.order(held, Command::Query, BEGIN, AnswerKind::Single).await?;
                (held.in_transaction, held.is_surely_in_transaction) = (true, true);
                since.map_or(Beginning::Usual, Beginning::Begun)
            }
        };
        Ok(())
    }
}
