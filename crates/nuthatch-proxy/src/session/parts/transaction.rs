//! What is known of a session's open transaction, besides the connection that it is open on.

use nuthatch_cache::Sequence;
use nuthatch_config::HostgroupId;

use crate::exact::Touched;

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

/// See the module's doc.
#[derive(Debug, Default)]
pub(crate) struct Transaction {
    pub(crate) beginning: Beginning,
    /// What it has written.
    pub(crate) touched: Touched,
    pub(crate) has_written: bool,
}

#[cfg(test)]
mod tests {
    use nuthatch_cache::{ClockOptions, Clocks};

    use super::*;

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
