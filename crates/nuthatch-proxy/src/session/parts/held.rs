//! A connection in the hands of a session.

mod delay;
mod doubts;
mod handlers;
mod ids_before;
mod named_locks;
mod own_values;
mod temporary;

pub(crate) use delay::Delay;
pub(crate) use doubts::{CODE, Doubt, Doubts};
pub(crate) use handlers::Handlers;
pub(crate) use ids_before::IdsBefore;
pub(crate) use named_locks::{NAMES_MAX, NamedLocks};
use nuthatch_config::HostgroupId;
pub(crate) use own_values::Advanced;
pub(crate) use temporary::Temporary;

use crate::backend::{Changing, Connection};
use crate::session::parts::Ground;
use crate::session::statement::TRACKER;
use crate::stats::pins::Pins;

/// Reasons to keep a connection of which it is counted what is there.
const COUNTED: Pins = Pins::TEMPORARY_TABLE.with(Pins::GET_LOCK).with(Pins::HANDLER);

/// A connection in the hands of a session.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a connection")]
pub(crate) struct Held {
    pub(crate) connection: Box<Connection>,
    pub(crate) hostgroup: HostgroupId,
    pub(crate) pins: Pins,
    /// The reasons for which it was kept when that was counted last.
    pub(crate) counted: Pins,
    /// A transaction is open on it, or may be.
    pub(crate) in_transaction: bool,
    /// One is: the server has said so behind the last statement, which was no error.
    pub(crate) is_surely_in_transaction: bool,
    /// It carries nothing of the session that a statement needs, so another connection does as well.
    pub(crate) is_fresh: bool,
    /// The session had it before this statement, so its last statement is the session's own.
    pub(crate) was_held: bool,
    /// The server has worked out a setting that the session does not know yet.
    pub(crate) is_to_be_asked: bool,
    /// It is in another schema, of which the session does not know yet what its name is in UTF-8.
    pub(crate) is_in_unnamed_schema: bool,
    /// Its `LAST_INSERT_ID()` is the session's.
    pub(crate) knows_insert_id: bool,
    /// What the ids were before a statement that left it open.
    pub(crate) ids_before: Option<IdsBefore>,
    /// The session has committed a change on it, so `@@last_gtid` is its own.
    pub(crate) has_gtid: bool,
    /// What few connections have.
    pub(crate) seldom: Option<Box<Seldom>>,
    /// For how long it is kept without another reason.
    pub(crate) delay: Delay,
}

/// What few connections in the hands of sessions have.
#[derive(Debug, Default)]
pub(crate) struct Seldom {
    /// The named locks on it.
    pub(crate) named_locks: NamedLocks,
    /// The temporary tables on it.
    pub(crate) temporary: Temporary,
    /// The handlers on it.
    pub(crate) handlers: Handlers,
    /// Statements that may have run stored code on it of which nothing was known.
    pub(crate) doubts: Doubts,
    /// The sequences that were advanced on it.
    pub(crate) sequences: Advanced,
    /// A change of what sessions begin with is under way on it.
    pub(crate) changing: Option<Changing>,
}

impl Held {
    /// What few have, to be changed.
    pub(crate) fn seldom(&mut self) -> &mut Seldom {
        self.seldom.get_or_insert_default()
    }

    /// A statement that pins so has run, and nobody looked at what it made, opened or took.
    pub(crate) fn doubt(&mut self, pins: Pins) {
        if pins.without(COUNTED) != pins {
            let Seldom { named_locks, temporary, handlers, .. } = self.seldom();
            temporary.doubt(pins);
            named_locks.doubt(pins);
            handlers.doubt(pins);
        }
    }

    /// Nothing is known of named locks on it any more.
    pub(crate) fn forget_named_locks(&mut self) {
        if let Some(seldom) = &mut self.seldom {
            seldom.named_locks = NamedLocks::default();
        }
    }

    /// The statements on it that are in doubt.
    pub(crate) fn doubts(&self) -> &[Doubt] {
        self.seldom.as_ref().map_or(&[], |seldom| &seldom.doubts.0)
    }

    /// Whether its server tells of changes.
    pub(crate) fn is_tracked(&self) -> bool {
        let Connection { is_told_of_changes, state, .. } = &*self.connection;
        *is_told_of_changes && state.settings.get(TRACKER).is_none()
    }

    /// Why the session keeps it.
    pub(crate) const fn reasons(&self) -> Pins {
        if self.in_transaction { self.pins.with(Pins::TRANSACTION) } else { self.pins }
    }
}

impl Held {
    pub(crate) fn settle_doubts(&mut self, pins: Pins) {
        if let Some(seldom) = &mut self.seldom {
            seldom.doubts = Doubts::default();
        }
        self.pins = self.pins.without(Pins::UNSEEN_CODE).with(pins);
    }
}

impl Held {
    /// Of a connection that a pool lends to a session.
    pub(crate) fn lent(ground: &Ground, hostgroup: HostgroupId, mut connection: Box<Connection>) -> Self {
        let counters = &ground.worker.counters;
        counters.pool_success.bump();
        let is_fresh = connection.statements > 0;
        if is_fresh {
            counters.pool_immediate.bump();
        }
        connection.lend(&ground.handle, ground.handle.id);
        let (pins, in_transaction, was_held) = (Pins::NONE, false, false);
        let delay = Delay::default();
        Self {
            connection,
            hostgroup,
            pins,
            counted: Pins::NONE,
            in_transaction,
            is_surely_in_transaction: false,
            is_fresh,
            was_held,
            knows_insert_id: false,
            ids_before: None,
            is_to_be_asked: false,
            is_in_unnamed_schema: false,
            has_gtid: false,
            seldom: None,
            delay,
        }
    }
}
