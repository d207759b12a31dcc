//! A connection in the hands of a session.

mod delay;
mod doubts;
mod handlers;
mod ids_before;
mod journal;
mod named_locks;
mod outcome;
mod own_values;
mod temporary;

pub(crate) use delay::Delay;
pub(crate) use doubts::{CODE, Doubt, Doubts};
pub(crate) use handlers::Handlers;
pub(crate) use ids_before::IdsBefore;
pub(crate) use journal::{Entry, Journal, Told, What};
pub(crate) use named_locks::NamedLocks;
use nuthatch_config::HostgroupId;
use nuthatch_net::Stream;
pub(crate) use outcome::{Around, Given, Outcome};
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
    pins: Pins,
    /// The reasons for which it was kept when that was counted last.
    counted: Pins,
    open: Open,
    is_fresh: bool,
    was_held: bool,
    is_to_be_asked: bool,
    apart: Apart,
    is_in_unnamed_schema: bool,
    knows_insert_id: bool,
    ids_before: Option<IdsBefore>,
    has_gtid: bool,
    seldom: Option<Box<Seldom>>,
    delay: Delay,
}

/// Whether it has answered a read that was split from the session's other statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Apart {
    No,
    Yes,
    /// And something of the session may be on it, that nothing else of the session is to meet.
    Tainted,
}

/// Whether a transaction is open on a connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Open {
    #[default]
    No,
    Maybe,
    /// The server has said so behind the last statement, which was no error.
    Surely,
}

impl Open {
    const fn may_be(self) -> bool {
        !matches!(self, Self::No)
    }

    const fn or_maybe(self) -> Self {
        if self.may_be() { self } else { Self::Maybe }
    }

    const fn doubted(self) -> Self {
        if self.may_be() { Self::Maybe } else { Self::No }
    }
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
    /// What the transaction on it has done, where that may be done again.
    journal: Option<Journal>,
}

impl Held {
    /// For what it is kept, a transaction aside.
    #[inline]
    pub(crate) const fn pins(&self) -> Pins {
        self.pins
    }

    /// It is kept for that too.
    #[inline]
    pub(crate) const fn pin(&mut self, pins: Pins) {
        self.pins = self.pins.with(pins);
    }

    /// It is not kept for that any more.
    #[inline]
    pub(crate) const fn unpin(&mut self, pins: Pins) {
        self.pins = self.pins.without(pins);
    }

    /// The reasons to keep it that were not there when this was asked last.
    pub(crate) const fn count_reasons(&mut self) -> Pins {
        let (reasons, before) = (self.reasons(), self.counted);
        self.counted = reasons;
        reasons.without(before)
    }

    /// A transaction is open on it, or may be.
    #[inline]
    pub(crate) const fn in_transaction(&self) -> bool {
        self.open.may_be()
    }

    /// One is: the server has said so behind the last statement, which was no error.
    pub(crate) const fn is_surely_in_transaction(&self) -> bool {
        matches!(self.open, Open::Surely)
    }

    /// A server has said whether one is open.
    pub(crate) const fn note_transaction(&mut self, is_open: bool) {
        self.open = if is_open { Open::Surely } else { Open::No };
    }

    /// One may be open, or none is, as far as that can be told without the server's word behind a statement of the session's.
    pub(crate) const fn assume_transaction(&mut self, may_be_open: bool) {
        self.open = if may_be_open { Open::Maybe } else { Open::No };
    }

    /// One may be open now.
    pub(crate) const fn suspect_transaction(&mut self) {
        self.open = self.open.or_maybe();
    }

    /// What was said of it was not said behind the last statement.
    pub(crate) const fn doubt_transaction(&mut self) {
        self.open = self.open.doubted();
    }

    /// It carries nothing of the session that a statement needs, so another connection does as well.
    pub(crate) const fn is_fresh(&self) -> bool {
        self.is_fresh
    }

    /// The session had it before this statement, so its last statement is the session's own.
    pub(crate) const fn was_held(&self) -> bool {
        self.was_held
    }

    /// Another statement begins on it.
    pub(crate) const fn take_up(&mut self, is_fresh: bool) {
        (self.is_fresh, self.was_held) = (is_fresh, true);
    }

    /// The server has worked out a setting that the session does not know yet.
    pub(crate) const fn is_to_be_asked(&self) -> bool {
        self.is_to_be_asked
    }

    pub(crate) const fn note_to_be_asked(&mut self) {
        self.is_to_be_asked = true;
    }

    /// The same question, after which it is not any more.
    pub(crate) const fn takes_to_be_asked(&mut self) -> bool {
        std::mem::replace(&mut self.is_to_be_asked, false)
    }

    /// It is in another schema, of which the session does not know yet what its name is in UTF-8.
    pub(crate) const fn is_in_unnamed_schema(&self) -> bool {
        self.is_in_unnamed_schema
    }

    pub(crate) const fn note_unnamed_schema(&mut self, is_in: bool) {
        self.is_in_unnamed_schema = is_in;
    }

    /// Its `LAST_INSERT_ID()` is the session's.
    pub(crate) const fn knows_insert_id(&self) -> bool {
        self.knows_insert_id
    }

    pub(crate) const fn note_insert_id(&mut self, knows: bool) {
        self.knows_insert_id = knows;
    }

    /// What the ids were before a statement that leaves it open what they are; none if that is known.
    pub(crate) const fn leave_ids_open(&mut self, before: Option<IdsBefore>) {
        self.ids_before = before;
    }

    pub(crate) const fn take_ids_before(&mut self) -> Option<IdsBefore> {
        self.ids_before.take()
    }

    /// The session has committed a change on it, so `@@last_gtid` is its own.
    pub(crate) const fn has_gtid(&self) -> bool {
        self.has_gtid
    }

    pub(crate) const fn note_gtid(&mut self) {
        self.has_gtid = true;
    }

    /// For how long it is kept without another reason.
    pub(crate) const fn delay(&self) -> Delay {
        self.delay
    }

    pub(crate) const fn delay_mut(&mut self) -> &mut Delay {
        &mut self.delay
    }

    /// What few have, if it has any of it.
    pub(crate) fn seldom(&self) -> Option<&Seldom> {
        self.seldom.as_deref()
    }

    /// The change of what sessions begin with that is under way on it; asked once.
    pub(crate) fn take_changing(&mut self) -> Option<Changing> {
        self.seldom.as_mut()?.changing.take()
    }

    /// Whether what the transaction on it does is written down, to be done again.
    pub(crate) fn is_recorded(&self) -> bool {
        self.seldom.as_ref().is_some_and(|seldom| seldom.journal.is_some())
    }

    /// Whether that may be done, as far as is known.
    pub(crate) fn may_be_replayed(&self) -> bool {
        let journal = self.seldom.as_ref().and_then(|seldom| seldom.journal.as_ref());
        journal.is_some_and(|journal| journal.refused().is_none())
    }

    /// Whether its server has closed it, and nobody has said so.
    pub(crate) fn is_lost(&self) -> bool {
        let stream = self.connection.framed.stream_ref();
        stream.is_disturbed() && !matches!(stream, Stream::Closed)
    }

    /// Closes it if so, where its transaction may be done again: nothing of the next statement is given to it then.
    pub(crate) fn close_if_lost(&mut self) {
        if self.may_be_replayed() && self.is_lost() {
            *self.connection.framed.stream() = Stream::Closed;
        }
    }

    /// What was written down.
    pub(crate) fn journal_mut(&mut self) -> Option<&mut Journal> {
        self.seldom.as_mut()?.journal.as_mut()
    }

    /// The same, taken away.
    pub(crate) fn take_journal(&mut self) -> Option<Journal> {
        self.seldom.as_mut()?.journal.take()
    }

    /// What is done on it from now on is written down there; or nowhere.
    pub(crate) fn set_journal(&mut self, journal: Option<Journal>) {
        if journal.is_some() || self.is_recorded() {
            self.seldom_mut().journal = journal;
        }
    }

    /// All but the connection, in words.
    pub(crate) fn shown(&self) -> String {
        let Self { pins, counted, open, seldom, ids_before, delay, .. } = self;
        let asked = (self.is_to_be_asked, self.is_in_unnamed_schema, self.knows_insert_id, self.has_gtid);
        format!("{pins:?} {counted:?} {open:?} {seldom:?} {asked:?} {ids_before:?} {delay:?}")
    }

    /// What few have, to be changed.
    pub(crate) fn seldom_mut(&mut self) -> &mut Seldom {
        self.seldom.get_or_insert_default()
    }

    /// A statement that pins so has run, and nobody looked at what it made, opened or took.
    pub(crate) fn doubt(&mut self, pins: Pins) {
        if pins.without(COUNTED) != pins {
            let Seldom { named_locks, temporary, handlers, .. } = self.seldom_mut();
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
        self.seldom.as_ref().map_or(&[], |seldom| seldom.doubts.all())
    }

    /// Whether its server tells of changes.
    pub(crate) fn is_tracked(&self) -> bool {
        let Connection { is_told_of_changes, state, .. } = &*self.connection;
        *is_told_of_changes && state.settings.get(TRACKER).is_none()
    }

    /// Whether what a statement does on it is committed with the statement. What `ahead` of it says of that may be refused.
    pub(crate) fn around(&self, is_autocommit: bool) -> Around {
        // A prepared one outlives its connection.
        let is_xa = self.pins.contains(Pins::XA);
        match self.open {
            _ if is_xa => Around::Nothing,
            Open::Surely => Around::Transaction,
            Open::Maybe | Open::No if !is_autocommit && self.connection.ahead.is_empty() => {
                Around::Transaction
            }
            Open::No if is_autocommit => Around::Nothing,
            Open::Maybe | Open::No => Around::Maybe,
        }
    }

    /// Whether a transaction may be open on it that ends with it.
    pub(crate) const fn ends_transaction(&self) -> bool {
        self.in_transaction() && !self.pins.contains(Pins::XA)
    }

    /// Why the session keeps it.
    pub(crate) const fn reasons(&self) -> Pins {
        if self.in_transaction() { self.pins.with(Pins::TRANSACTION) } else { self.pins }
    }
}

impl Held {
    /// It answers a read that is split from the session's other statements: none of those is to follow it here.
    pub(crate) const fn stand_apart(&mut self) {
        if matches!(self.apart, Apart::No) {
            self.apart = Apart::Yes;
        }
    }

    /// Where a read that was split has left, or may have, something for which all statements would have to go here, that is given up, and
    /// the connection is let go of as one that is not clean: on its server nobody writes.
    pub(crate) fn taint_if_apart(&mut self) {
        if self.apart == Apart::Yes && self.pins.is_sticky() {
            self.apart = Apart::Tainted;
            self.settle_doubts(Pins::NONE);
            self.pins = self.pins.without_sticky();
        }
    }

    /// Whether it must be reset before anybody else has it.
    pub(crate) const fn is_tainted(&self) -> bool {
        matches!(self.apart, Apart::Tainted)
    }

    /// What was in doubt is known now, and that it is kept for.
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
        if connection.statements > 0 {
            counters.pool_immediate.bump();
        }
        connection.lend(&ground.handle, ground.handle.id);
        Self {
            connection,
            hostgroup,
            pins: Pins::NONE,
            counted: Pins::NONE,
            open: Open::No,
            is_fresh: true,
            was_held: false,
            knows_insert_id: false,
            ids_before: None,
            is_to_be_asked: false,
            apart: Apart::No,
            is_in_unnamed_schema: false,
            has_gtid: false,
            seldom: None,
            delay: Delay::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Open::{self, Maybe, No, Surely};

    #[test]
    fn open_transaction_is_doubted_and_suspected_but_never_closed_by_that() {
        for (open, may_be, suspected, doubted) in
            [(No, false, Maybe, No), (Maybe, true, Maybe, Maybe), (Surely, true, Surely, Maybe)]
        {
            assert_eq!((open.may_be(), open.or_maybe(), open.doubted()), (may_be, suspected, doubted));
        }
        assert_eq!(Open::default(), No);
    }
}
