//! What a server has said of its own limit of connections: "I let in no more", nobody or not that account.
//!
//! Nobody connects for a while then, and twice as long each time that it says so again, until it lets one in: a server that is short of
//! connections must not be busied by refusing them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

/// For so long nobody connects after the first time.
const PAUSE_MS_MIN: u64 = 20;

/// At most for so long: what others give back to the server meanwhile is found as late.
const PAUSE_MS_MAX: u64 = 320;

/// Whom it lets in no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::backend) enum Whom<'a> {
    Anybody,
    Account(&'a Arc<str>),
}

/// See the module's doc. Times are in milliseconds of the proxy's clock.
#[derive(Debug, Default)]
pub(in crate::backend) struct Room {
    /// Of `lacks`, what holds for anybody.
    full_until_ms: AtomicU64,
    lacks: Mutex<Vec<Lack>>,
}

#[derive(Debug)]
struct Lack {
    /// `None`: for anybody.
    user: Option<Arc<str>>,
    until_ms: u64,
    pause_ms: u64,
}

impl Room {
    /// It has said so.
    pub(in crate::backend) fn is_denied(&self, now_ms: u64, whom: Whom<'_>) {
        let user = match whom {
            Whom::Anybody => None,
            Whom::Account(user) => Some(user),
        };
        let mut lacks = self.lacks.lock();
        let known = lacks.iter().position(|lack| lack.user.as_ref() == user);
        let pause_ms = match known.map(|place| lacks.swap_remove(place)) {
            // One that was under way with it.
            Some(earlier) if now_ms < earlier.until_ms => earlier.pause_ms,
            Some(earlier) => (earlier.pause_ms * 2).min(PAUSE_MS_MAX),
            None => PAUSE_MS_MIN,
        };
        let until_ms = now_ms + pause_ms;
        if user.is_none() {
            self.full_until_ms.store(until_ms, Ordering::Relaxed);
        }
        lacks.push(Lack { user: user.cloned(), until_ms, pause_ms });
    }

    /// It has let `user` in.
    pub(in crate::backend) fn is_given(&self, user: &Arc<str>) {
        let mut lacks = self.lacks.lock();
        if !lacks.is_empty() {
            lacks.retain(|lack| lack.user.as_ref().is_some_and(|known| known != user));
            self.full_until_ms.store(0, Ordering::Relaxed);
        }
    }

    /// Whether it may be asked to let anybody in.
    pub(in crate::backend) fn is_there(&self, now_ms: u64) -> bool {
        now_ms >= self.full_until_ms.load(Ordering::Relaxed)
    }

    /// Whether it may be asked to let `user` in.
    pub(in crate::backend) fn is_there_for(&self, user: &Arc<str>, now_ms: u64) -> bool {
        let lacks = self.lacks.lock();
        lacks
            .iter()
            .filter(|lack| lack.user.as_ref().is_none_or(|known| known == user))
            .all(|lack| now_ms >= lack.until_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_until_somebody_is_let_in() {
        let (room, app): (_, Arc<str>) = (Room::default(), "app".into());
        let mut now_ms = 1000;
        for pause_ms in [20, 40, 80, 160, 320, 320] {
            room.is_denied(now_ms, Whom::Anybody);
            room.is_denied(now_ms + 1, Whom::Anybody);
            assert!(!room.is_there(now_ms + pause_ms) && !room.is_there_for(&app, now_ms + pause_ms));
            now_ms += pause_ms + 1;
            assert!(room.is_there(now_ms) && room.is_there_for(&app, now_ms));
        }
        room.is_denied(now_ms, Whom::Anybody);
        room.is_given(&app);
        assert!(room.is_there(now_ms));
        room.is_denied(now_ms, Whom::Anybody);
        assert!(room.is_there(now_ms + 20), "as the first time");
    }

    #[test]
    fn account_that_may_have_no_more_keeps_out_no_other() {
        let (room, app, other): (_, Arc<str>, Arc<str>) = (Room::default(), "app".into(), "other".into());
        room.is_denied(5, Whom::Account(&app));
        assert!(room.is_there(6) && room.is_there_for(&other, 6) && !room.is_there_for(&app, 6));
        room.is_given(&other);
        assert!(!room.is_there_for(&app, 6));
        room.is_given(&app);
        assert!(room.is_there_for(&app, 6));
    }
}
