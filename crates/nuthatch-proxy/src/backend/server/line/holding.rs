//! Why all who stand in a line wait, where it is not for a connection: somebody holds the hostgroup, or it has no server.

use std::sync::Arc;

use crate::backend::server::line::stay::Awaited;

/// See the module's doc. Times are in microseconds of the clock.
#[derive(Debug, Default)]
pub(super) struct Holding {
    holds: Vec<HeldFor>,
    lacks_server_since_us: Option<u64>,
    /// What is told of that by who knows.
    told: Option<Arc<str>>,
    awaited: Awaited,
    awaited_since_us: u64,
    next_id: u64,
}

#[derive(Debug)]
struct HeldFor {
    id: u64,
    reason: Arc<str>,
    since_us: u64,
}

/// Whether servers of a hostgroup take statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::backend) enum Servers {
    /// At least one does.
    Some,
    /// None does, and one may come.
    None,
}

/// What those in a line wait for besides a connection, to be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::backend) enum Wait {
    /// That it is held no more, for these reasons.
    Release { reasons: String, since_us: u64 },
    /// A server, for that reason where it is known.
    Server { told: Option<Arc<str>>, since_us: u64 },
}

impl Holding {
    pub(super) const fn awaited(&self) -> Awaited {
        self.awaited
    }

    /// Since when that is awaited.
    pub(super) const fn awaited_since_us(&self) -> u64 {
        self.awaited_since_us
    }

    pub(super) fn is_held(&self) -> bool {
        self.awaited == Awaited::Release
    }

    /// Somebody holds the hostgroup from now on. Returns the number of the hold.
    pub(super) fn hold(&mut self, reason: Arc<str>, now_us: u64) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.holds.push(HeldFor { id, reason, since_us: now_us });
        self.work_out(now_us);
        id
    }

    /// The hold of that number is for another reason now.
    pub(super) fn reword(&mut self, id: u64, reason: Arc<str>) {
        if let Some(hold) = self.holds.iter_mut().find(|hold| hold.id == id) {
            hold.reason = reason;
        }
    }

    /// The hold of that number is over. Returns whether something else is awaited now.
    pub(super) fn release(&mut self, id: u64, now_us: u64) -> bool {
        self.holds.retain(|hold| hold.id != id);
        self.work_out(now_us)
    }

    /// Takes note of whether a server is there. Returns whether something else is awaited now.
    pub(super) fn note_servers(&mut self, servers: Servers, now_us: u64) -> bool {
        match servers {
            Servers::None => _ = self.lacks_server_since_us.get_or_insert(now_us),
            Servers::Some => (self.lacks_server_since_us, self.told) = (None, None),
        }
        self.work_out(now_us)
    }

    /// Why there is no server, for as long as that is so.
    pub(super) fn tell_why(&mut self, why: Option<Arc<str>>) {
        self.told = why;
    }

    fn work_out(&mut self, now_us: u64) -> bool {
        let awaited = match (self.holds.is_empty(), self.lacks_server_since_us) {
            (false, _) => Awaited::Release,
            (true, Some(_)) => Awaited::Server,
            (true, None) => Awaited::Connection,
        };
        let is_other = awaited != self.awaited;
        if is_other {
            (self.awaited, self.awaited_since_us) = (awaited, now_us);
        }
        is_other
    }

    /// What is to be told of it; nothing where a connection is awaited.
    pub(super) fn shown(&self) -> Option<Wait> {
        match self.awaited {
            Awaited::Connection => None,
            Awaited::Server => {
                let since_us = self.lacks_server_since_us?;
                Some(Wait::Server { told: self.told.clone(), since_us })
            }
            Awaited::Release => {
                let reasons: Vec<_> = self.holds.iter().map(|hold| &*hold.reason).collect();
                let since_us = self.holds.iter().map(|hold| hold.since_us).min()?;
                Some(Wait::Release { reasons: reasons.join("; "), since_us })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hold_lasts_until_each_who_holds_has_let_go_and_goes_before_the_want_of_a_server() {
        let mut holding = Holding::default();
        let first = holding.hold("a switchover".into(), 10);
        let second = holding.hold("maintenance".into(), 20);
        let held = |reasons: &str, since_us| Some(Wait::Release { reasons: reasons.into(), since_us });
        assert_eq!(holding.shown(), held("a switchover; maintenance", 10));
        assert!(!holding.note_servers(Servers::None, 30), "it is held all the same");
        assert!(!holding.release(first, 40) && holding.is_held());
        assert_eq!(holding.shown(), held("maintenance", 20));
        holding.reword(second, "more of it".into());
        assert_eq!(holding.shown(), held("more of it", 20));
        assert!(holding.release(second, 50));
        assert_eq!((holding.awaited(), holding.awaited_since_us()), (Awaited::Server, 50));
        assert_eq!(holding.shown(), Some(Wait::Server { told: None, since_us: 30 }));
        assert!(!holding.release(second, 60), "it is released once");
    }

    #[test]
    fn why_there_is_no_server_is_told_until_there_is_one() {
        let mut holding = Holding::default();
        assert!(holding.note_servers(Servers::None, 10) && !holding.note_servers(Servers::None, 20));
        holding.tell_why(Some("it went away".into()));
        assert_eq!(holding.shown(), Some(Wait::Server { told: Some("it went away".into()), since_us: 10 }));
        assert!(holding.note_servers(Servers::Some, 30));
        assert_eq!((holding.shown(), holding.awaited_since_us()), (None, 30));
        holding.note_servers(Servers::None, 40);
        assert_eq!(holding.shown(), Some(Wait::Server { told: None, since_us: 40 }));
    }
}
