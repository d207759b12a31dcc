//! What is known of a session's open transaction, besides the connection that it is open on.

use nuthatch_cache::{Clock, Clocks, Sequence};
use nuthatch_config::HostgroupId;
use nuthatch_wire::{AnswerEnd, Ending};

use crate::exact::{AsOf, Commits, Followed, Touched};
use crate::session::parts::Held;
use crate::session::statement::Facts;
use crate::session::way::Reading;

/// How the session's transaction begins or has begun, besides what a server knows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Beginning {
    /// No server lacks a BEGIN, and of an open transaction it is not known when its snapshot was opened.
    #[default]
    Usual,
    /// The client has sent a BEGIN that is to go to this hostgroup.
    HeldBack(HostgroupId),
    /// The transaction begins with the statement at hand.
    Sent {
        /// Where the client's BEGIN is to go if this comes to nothing; none if it has sent none.
        held_back: Option<HostgroupId>,
        /// Noted before it was sent.
        since: Sequence,
    },
    /// The open transaction has a snapshot that is no older than this, or will have one.
    Begun(Sequence),
    /// It has one.
    Snapshot(Sequence),
}

/// By when a snapshot was open, in milliseconds since the start, and whether a replica has opened it: in six bytes, as idle sessions are many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Opened([u8; 6]);

impl Opened {
    const fn by(ms: u64, by_replica: bool) -> Self {
        let [a, b, c, d, e, f, _, _] = (ms << 1 | by_replica as u64).to_le_bytes();
        Self([a, b, c, d, e, f])
    }

    const fn as_of(self) -> AsOf {
        let [a, b, c, d, e, f] = self.0;
        let told = u64::from_le_bytes([a, b, c, d, e, f, 0, 0]);
        AsOf::Snapshot { opened_ms: told >> 1, by_replica: told & 1 == 1 }
    }
}

impl Beginning {
    /// Whether the client is in a transaction of which no server knows.
    pub(crate) const fn is_held_back(self) -> bool {
        self.hostgroup().is_some()
    }

    /// Where the held-back BEGIN is to go.
    pub(crate) const fn hostgroup(self) -> Option<HostgroupId> {
        match self {
            Self::HeldBack(hostgroup) | Self::Sent { held_back: Some(hostgroup), .. } => Some(hostgroup),
            Self::Usual | Self::Sent { .. } | Self::Begun(_) | Self::Snapshot(_) => None,
        }
    }

    /// What the transaction's snapshot is no older than, if that is known.
    pub(crate) const fn snapshot(self) -> Option<Sequence> {
        match self {
            Self::Sent { since, .. } | Self::Begun(since) | Self::Snapshot(since) => Some(since),
            Self::Usual | Self::HeldBack(_) => None,
        }
    }

    /// Whether it is a transaction of which a server may still have to open the snapshot.
    pub(crate) const fn awaits_snapshot(self) -> bool {
        matches!(self, Self::Sent { .. } | Self::Begun(_))
    }
}

/// What its statements have done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Done {
    #[default]
    Anything,
    /// It began with a BEGIN of its client's, and a server was asked for rows of tables since, and for nothing else.
    OnlyRead,
    /// One of them may have written.
    Written,
}

/// See the module's doc.
#[derive(Debug, Default)]
pub(crate) struct Transaction {
    beginning: Beginning,
    /// Of its snapshot, if it has one.
    opened: Opened,
    touched: Touched,
    done: Done,
    /// One of its statements may have written what does not end with it.
    outlasts: bool,
}

impl Transaction {
    /// A statement may have written what does not end with the transaction: it is not to be done again.
    pub(crate) const fn outlast(&mut self) {
        self.outlasts = true;
    }

    /// Whether one did since that was asked last.
    pub(crate) const fn takes_outlasting(&mut self) -> bool {
        std::mem::replace(&mut self.outlasts, false)
    }

    /// How it begins or has begun.
    pub(crate) const fn beginning(&self) -> Beginning {
        self.beginning
    }

    pub(crate) const fn set_beginning(&mut self, beginning: Beginning) {
        self.beginning = beginning;
    }

    /// Of which moment its answers are.
    pub(crate) const fn as_of(&self) -> AsOf {
        match self.beginning {
            Beginning::Usual | Beginning::HeldBack(_) => AsOf::Now,
            Beginning::Sent { .. } | Beginning::Begun(_) => {
                AsOf::Snapshot { opened_ms: u64::MAX, by_replica: false }
            }
            Beginning::Snapshot(_) => self.opened.as_of(),
        }
    }

    /// What it has written.
    pub(crate) const fn touched(&self) -> &Touched {
        &self.touched
    }

    /// It has written what these clocks stand for.
    pub(crate) fn touch(&mut self, written: impl IntoIterator<Item = Clock>, clocks: &Clocks) {
        self.touched.add(written, clocks);
    }

    /// It has read without being watched, by that picture.
    pub(crate) fn note_read(&mut self, by: Option<u64>) {
        self.touched.note_read(by);
    }

    /// What it had written is committed, or taken back.
    pub(crate) fn forget_touched(&mut self) {
        self.touched.clear();
    }

    /// It has begun at a server.
    pub(crate) fn begin_to_read(&mut self) {
        if self.done == Done::Anything {
            self.done = Done::OnlyRead;
        }
    }

    /// A server has answered a statement.
    pub(crate) fn note_statement(&mut self, facts: &Facts) {
        if self.done == Done::OnlyRead && (!facts.is_plain_read() || facts.may_write()) {
            self.done = Done::Anything;
        }
    }

    /// Whether nothing was asked of a server in it but rows of tables.
    pub(crate) const fn has_only_read(&self) -> bool {
        matches!(self.done, Done::OnlyRead)
    }

    /// Whether one of its statements may have written.
    pub(crate) const fn has_written(&self) -> bool {
        matches!(self.done, Done::Written)
    }

    pub(crate) const fn set_has_written(&mut self, has_written: bool) {
        self.done = if has_written { Done::Written } else { Done::Anything };
    }

    /// Forgets the moment of a snapshot that may be none of the open transaction's any more.
    pub(crate) fn forget_ended_snapshot(&mut self, facts: &Facts, end: &AnswerEnd, is_open: bool) {
        let is_certain = is_open && facts.commits() == Commits::No && !matches!(end.ending, Ending::Err(_));
        if !is_certain && matches!(self.beginning, Beginning::Begun(_) | Beginning::Snapshot(_)) {
            self.beginning = Beginning::Usual;
        }
    }

    /// The statement has an answer, and what went ahead of it was accepted.
    pub(crate) fn learn_beginning(&mut self, held: &mut Held) {
        if let Beginning::Sent { held_back, since } = self.beginning {
            self.beginning = Beginning::Begun(since);
            if held_back.is_some() {
                held.suspect_transaction();
            }
        }
    }

    /// A server has opened its snapshot by that millisecond, which is no older than `since`; `teller` tells what that shows, if a binlog is followed.
    pub(crate) fn has_opened(
        &mut self,
        since: Sequence,
        opened_ms: u64,
        teller: Option<&Followed>,
        by_replica: bool,
    ) {
        if let Some(teller) = teller {
            teller.await_snapshot(opened_ms, by_replica);
        }
        self.opened = Opened::by(opened_ms, by_replica);
        self.beginning = Beginning::Snapshot(since);
    }

    /// Takes note of whether the statement has had the snapshot opened; by now, if so.
    pub(crate) fn learn_opening(
        &mut self,
        reading: Option<&Reading>,
        end: &AnswerEnd,
        now_ms: impl FnOnce() -> u64,
    ) {
        let has_row = matches!(end.ending, Ending::ResultSet) && end.rows > 0;
        if let Beginning::Begun(since) = self.beginning
            && has_row
            && let Some(reading) = reading.filter(|reading| reading.row_opens_snapshot)
        {
            self.has_opened(since, now_ms(), reading.teller.as_deref(), reading.is_of_replica);
        }
    }
}

#[cfg(test)]
mod tests {
    use nuthatch_cache::{ClockOptions, Clocks};

    use super::*;

    #[test]
    fn moment_of_opening_is_kept() {
        for opened_ms in [0, 1, 1 << 32, (1 << 47) - 1] {
            for by_replica in [false, true] {
                assert_eq!(
                    Opened::by(opened_ms, by_replica).as_of(),
                    AsOf::Snapshot { opened_ms, by_replica }
                );
            }
        }
    }

    #[test]
    fn what_is_held_back_is_known_until_a_server_has_it() {
        let (hostgroup, since) = (HostgroupId(7), Clocks::new(ClockOptions::default()).now());
        let held_back = Beginning::Sent { held_back: Some(hostgroup), since };
        for (beginning, is_held_back, has_snapshot, awaits) in [
            (Beginning::Usual, false, false, false),
            (Beginning::HeldBack(hostgroup), true, false, false),
            (held_back, true, true, true),
            (Beginning::Sent { held_back: None, since }, false, true, true),
            (Beginning::Begun(since), false, true, true),
            (Beginning::Snapshot(since), false, true, false),
        ] {
            assert_eq!(beginning.is_held_back(), is_held_back, "{beginning:?}");
            assert_eq!(beginning.hostgroup(), is_held_back.then_some(hostgroup), "{beginning:?}");
            assert_eq!(beginning.snapshot().is_some(), has_snapshot, "{beginning:?}");
            assert_eq!(beginning.awaits_snapshot(), awaits, "{beginning:?}");
        }
    }
}
