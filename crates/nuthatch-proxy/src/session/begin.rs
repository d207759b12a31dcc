//! A BEGIN is held back until a statement needs a server, so that the transaction's snapshot can be opened at a known moment.
//!
//! In REPEATABLE READ a transaction sees what was committed when its snapshot was opened, and which statement opens it differs
//! between servers (`SELECT 1`, `WHERE 1=0` and a first UPDATE do not). So if the first statement that needs a server is a plain read,
//! `START TRANSACTION WITH CONSISTENT SNAPSHOT` goes ahead of it. From then on exact entries may be served that have not changed
//! since. A transaction that begins with anything else reads past the cache. The snapshot of a replica is as old as what it is known to
//! have applied; where that is not known, its transaction reads past the cache too.

use nuthatch_cache::Sequence;
use nuthatch_config::HostgroupId;
use nuthatch_sql::Kind;
use nuthatch_wire::{AnswerEnd, AnswerKind, Command, Ending};

use crate::exact::{Commits, Isolation};

use super::lease::{Behind, Held};
use super::plan::{Facts, Plan};
use super::relay::command_packet;
use super::trouble::Trouble;
use super::{Session, reply};

/// It has the server tell clients of transactions in a form that only the server knows.
const TRANSACTION_TRACKER: &[u8] = b"session_track_transaction_info";

/// How the session's transaction begins or has begun, besides what a server knows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Beginning {
    /// No server lacks a BEGIN, and of an open transaction it is not known when its snapshot was opened.
    #[default]
    Usual,
    /// The client has sent a BEGIN that is to go to this hostgroup.
    HeldBack(HostgroupId),
    /// The order that opens a snapshot goes ahead of the statement at hand.
    Sent {
        /// Where the client's BEGIN is to go if this comes to nothing; none if it has sent none.
        held_back: Option<HostgroupId>,
        /// Noted before it was sent.
        since: Sequence,
    },
    /// The open transaction sees what was committed then.
    Snapshot(Sequence),
}

impl Beginning {
    /// Whether the client is in a transaction of which no server knows.
    pub(super) const fn is_held_back(self) -> bool {
        self.hostgroup().is_some()
    }

    /// Where the held-back BEGIN is to go.
    pub(super) const fn hostgroup(self) -> Option<HostgroupId> {
        match self {
            Self::HeldBack(hostgroup) | Self::Sent { held_back: Some(hostgroup), .. } => Some(hostgroup),
            Self::Usual | Self::Sent { .. } | Self::Snapshot(_) => None,
        }
    }

    /// When the transaction's snapshot was opened, if that is known.
    pub(super) const fn snapshot(self) -> Option<Sequence> {
        match self {
            Self::Sent { since, .. } | Self::Snapshot(since) => Some(since),
            Self::Usual | Self::HeldBack(_) => None,
        }
    }
}

impl Session {
    /// Answers a BEGIN that can be held back, and what ends a transaction of which no server knows.
    pub(super) fn begin_or_end_alone(&mut self, plan: &Plan) -> Option<Vec<u8>> {
        let ends = plan.facts.ends_transaction && !plan.facts.disconnects;
        if ends && self.beginning.is_held_back() {
            self.beginning = Beginning::Usual;
        } else if plan.facts.begins_plainly && !self.is_open_somewhere() && self.may_hold_back() {
            self.beginning = Beginning::HeldBack(plan.hostgroup);
        } else {
            return None;
        }
        self.last.row_count = 0;
        Some(reply::ok(self.status()))
    }

    /// Whether a server has something of the session that a BEGIN would end.
    fn is_open_somewhere(&self) -> bool {
        self.held.iter().any(|held| held.in_transaction || held.pins.is_sticky())
    }

    fn may_hold_back(&self) -> bool {
        self.wants_exact()
            && self.touched.is_empty()
            && self.account.user.transaction_persistent
            && self.state.settings.get(TRANSACTION_TRACKER).is_none()
            && self.sees_a_snapshot()
    }

    /// Whether its transactions see one snapshot, or at least nothing older. By their default they may be READ COMMITTED: a pooled
    /// connection keeps the default of its login.
    fn sees_a_snapshot(&self) -> bool {
        match self.own_isolation() {
            Some(own) => own == Isolation::RepeatableRead,
            None => self.default_isolation().is_some_and(|default| default != Isolation::Other),
        }
    }

    /// Whether the next plain read opens a snapshot at a moment that will be known.
    pub(super) fn may_open_snapshot(&self) -> bool {
        let begins_by_itself = !self.state.autocommit && !self.is_open_somewhere();
        self.beginning.is_held_back() || begins_by_itself && self.may_hold_back()
    }

    /// Sends the BEGIN that was held back, or that autocommit=0 stands for: ahead of a plain read, with its snapshot; awaited before
    /// anything else.
    pub(super) async fn bring_transaction(&mut self, held: &mut Held, facts: &Facts) -> Result<(), Trouble> {
        if held.in_transaction || held.pins.is_sticky() {
            return Ok(());
        }
        let only_reads = facts.opens_snapshot() && self.wants_exact();
        if only_reads && self.proxy.catalogues.has_replicas() {
            self.identify_replica(held).await?;
        }
        let opens_snapshot = facts.opens_snapshot() && self.may_open_snapshot();
        if opens_snapshot && let Some(since) = self.snapshot_on(held) {
            let held_back = self.beginning.hostgroup();
            self.beginning = Beginning::Sent { held_back, since };
            let begin = b"START TRANSACTION WITH CONSISTENT SNAPSHOT";
            if self.errand.behind == Behind::All {
                held.connection.ahead.add(&command_packet(Command::Query, begin));
            } else {
                self.order(held, Command::Query, begin, AnswerKind::Single).await?;
            }
        } else if self.beginning.is_held_back() {
            self.order(held, Command::Query, b"BEGIN", AnswerKind::Single).await?;
            self.beginning = Beginning::Usual;
            (held.in_transaction, held.is_surely_in_transaction) = (true, true);
        }
        Ok(())
    }

    /// The statement has an answer, and what went ahead of it was accepted.
    pub(super) fn learn_beginning(&mut self, held: &mut Held) {
        if let Beginning::Sent { since, .. } = self.beginning {
            self.beginning = Beginning::Snapshot(since);
            held.in_transaction = true;
        }
    }

    /// Forgets the moment of a snapshot that may be none of the open transaction's any more.
    pub(super) fn forget_ended_snapshot(&mut self, facts: &Facts, end: &AnswerEnd, is_open: bool) {
        let is_certain = is_open && facts.commits() == Commits::No && !matches!(end.ending, Ending::Err(_));
        if !is_certain && matches!(self.beginning, Beginning::Snapshot(_)) {
            self.beginning = Beginning::Usual;
        }
    }
}

impl Facts {
    /// It reads tables and does nothing else.
    fn opens_snapshot(&self) -> bool {
        self.kind == Kind::Select && self.cacheable.is_ok() && !self.writes && !self.names_no_table
    }
}
