//! Orders of the proxy's own that go to the server ahead of a statement, in one write with it: nobody waits for their answers
//! before it.
//!
//! A statement behind an order that the server refuses runs all the same, in a state that it was not meant for. So only what the server
//! has [accepted](Accepted) before goes ahead of a statement that writes.

use std::collections::HashSet;

use parking_lot::RwLock;
use rapidhash::v3::rapidhash_v3;

/// Orders that are remembered of a server; then it begins anew.
const ACCEPTED_MAX: usize = 4096;

/// Orders on their way, of one connection.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    /// Whole packets that the next write begins with.
    unsent: Vec<u8>,
    /// Orders whose answers have not been read.
    unanswered: u32,
}

impl Ahead {
    /// Has the next write begin with this packet.
    pub(crate) fn add(&mut self, packet: &[u8]) {
        self.unsent.extend_from_slice(packet);
        self.unanswered += 1;
    }

    /// What must be written first.
    pub(crate) fn take_unsent(&mut self) -> Option<Vec<u8>> {
        (!self.unsent.is_empty()).then(|| std::mem::take(&mut self.unsent))
    }

    /// Whether an answer must be read before that of a statement; it counts as read then.
    pub(crate) fn take_answer(&mut self) -> bool {
        let is_owed = self.unanswered > 0;
        self.unanswered -= u32::from(is_owed);
        is_owed
    }

    /// Whether all is sent and answered.
    pub(crate) const fn is_empty(&self) -> bool {
        self.unanswered == 0
    }
}

/// Orders that a server has accepted, by whom: it may be expected to accept them again.
#[derive(Debug, Default)]
pub(crate) struct Accepted(RwLock<HashSet<u64>>);

impl Accepted {
    /// Whether `user` had it accepted.
    pub(crate) fn has(&self, user: &str, order: &[u8]) -> bool {
        self.0.read().contains(&key(user, order))
    }

    /// `user` had it accepted.
    pub(crate) fn learn(&self, user: &str, order: &[u8]) {
        let mut known = self.0.write();
        if known.len() >= ACCEPTED_MAX {
            known.clear();
        }
        known.insert(key(user, order));
    }

    /// It may be another server now.
    pub(in crate::backend) fn forget_all(&self) {
        self.0.write().clear();
    }
}

fn key(user: &str, order: &[u8]) -> u64 {
    rapidhash_v3(&[user.as_bytes(), b"\0", order].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_order_is_sent_once_and_answered_once() {
        let mut ahead = Ahead::default();
        assert!(ahead.is_empty() && ahead.take_unsent().is_none() && !ahead.take_answer());
        ahead.add(b"one");
        ahead.add(b"two");
        assert_eq!((ahead.take_unsent().as_deref(), ahead.take_unsent()), (Some(&b"onetwo"[..]), None));
        assert!(!ahead.is_empty() && ahead.take_answer() && ahead.take_answer());
        assert!(ahead.is_empty() && !ahead.take_answer());
    }

    #[test]
    fn orders_are_accepted_of_each_user_by_itself() {
        let accepted = Accepted::default();
        accepted.learn("a", b"SET x=1");
        assert!(accepted.has("a", b"SET x=1"));
        assert!(!accepted.has("b", b"SET x=1") && !accepted.has("a", b"SET x=2"));
        accepted.forget_all();
        assert!(!accepted.has("a", b"SET x=1"));
    }
}
