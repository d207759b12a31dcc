//! Up to which moment a server is known to show everything.
//!
//! What a replica shows is as old as what it has applied. Somebody proves from time to time that a server shows all that any server of its
//! cluster had acknowledged or shown before a moment; from then on it does so for as long as its process lives. A session remembers when it
//! was answered last, and by whom, and asks only who shows as much.
//!
//! The proof ([`CatchUp`](crate::backend::CatchUp)): the moment is noted; the cluster's writer is asked what it has written, which so has all
//! that was acknowledged or shown anywhere before, for replicas show nothing that is not in its binlog; the server is found to show it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Of one server, in however many hostgroups it stands.
#[derive(Debug, Default)]
pub(crate) struct CaughtUp {
    /// Microseconds of the clock; 0: nothing is known.
    until_us: AtomicU64,
    /// How often it was begun anew.
    life: AtomicU64,
}

impl CaughtUp {
    /// How often it was begun anew: to be asked before a proof is begun.
    pub(crate) fn life(&self) -> u64 {
        self.life.load(Ordering::Acquire)
    }

    /// In that life it shows all that had been acknowledged or shown before then. Returns whether it is the one at hand: what was found in
    /// another one counts for nothing.
    pub(crate) fn prove(&self, life: u64, until_us: u64) -> bool {
        if self.life() != life {
            return false;
        }
        self.until_us.fetch_max(until_us, Ordering::AcqRel);
        // It may have begun anew in between.
        let is_at_hand = self.life() == life;
        if !is_at_hand {
            self.until_us.store(0, Ordering::Release);
        }
        is_at_hand
    }

    /// It may be another process, which shows less.
    pub(crate) fn begin_anew(&self) {
        self.life.fetch_add(1, Ordering::AcqRel);
        self.until_us.store(0, Ordering::Release);
    }

    /// Whether it shows all that had been acknowledged or shown before then.
    pub(crate) fn shows(&self, until_us: u64) -> bool {
        self.until_us.load(Ordering::Acquire) >= until_us
    }
}

/// What a server must show to answer a statement; by default nothing.
#[derive(Debug, Clone, Default)]
pub(crate) struct Need {
    /// All that had been acknowledged or shown before then, in microseconds of the clock.
    until_us: u64,
    /// It shows as much without a proof: it has shown all of it itself.
    shown_by: Option<ShownBy>,
    /// All that had been acknowledged before then, to whomever; nobody shows that without a proof.
    of_all_us: u64,
}

/// A server, as long as it has not begun anew.
#[derive(Debug, Clone)]
struct ShownBy {
    server: Arc<CaughtUp>,
    life: u64,
}

impl ShownBy {
    /// Whether it is proven to show all that was there before then.
    fn has_shown(&self, until_us: u64) -> bool {
        self.is(&self.server) && self.server.shows(until_us)
    }

    fn is(&self, server: &CaughtUp) -> bool {
        std::ptr::eq(&raw const *self.server, server) && self.life == server.life.load(Ordering::Acquire)
    }
}

impl Need {
    /// Whether that server meets it.
    pub(crate) fn is_met_by(&self, server: &CaughtUp) -> bool {
        let has_shown = || self.shown_by.as_ref().is_some_and(|known| known.is(server));
        server.shows(self.of_all_us) && (server.shows(self.until_us) || has_shown())
    }

    /// Up to when who is proven to show everything surely meets it.
    pub(crate) fn until_us(&self) -> u64 {
        self.until_us.max(self.of_all_us)
    }

    /// The same of who shows also all that had been acknowledged before then, to whomever.
    pub(crate) fn with_all_until(mut self, of_all_us: u64) -> Self {
        self.of_all_us = self.of_all_us.max(of_all_us);
        self
    }

    /// What an answer showed that nobody knows the server of, or that the cache gave, was there at `until_us`. Who has shown all else need
    /// not have that, however long ago it was: only a proof tells.
    pub(crate) fn saw_somewhere(&mut self, until_us: u64) {
        self.shown_by = self.shown_by.take().filter(|known| known.has_shown(until_us));
        self.until_us = self.until_us.max(until_us);
    }

    /// The server has answered just now, at `now_us`: what it showed must be shown from now on.
    pub(crate) fn saw(&mut self, server: &Arc<CaughtUp>, now_us: u64) {
        // If it met what was needed before, it shows all of it: what it has shown now was there, and before.
        let shows_all = self.is_met_by(server);
        let life = server.life.load(Ordering::Acquire);
        self.until_us = self.until_us.max(now_us);
        self.shown_by = shows_all.then(|| ShownBy { server: Arc::clone(server), life });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_shown_it_all_shows_it_and_others_when_that_is_proven() {
        let (first, second) = (Arc::new(CaughtUp::default()), Arc::new(CaughtUp::default()));
        let mut need = Need::default();
        assert!(need.is_met_by(&first) && need.is_met_by(&second), "nothing was seen yet");
        need.saw(&first, 100);
        assert!(need.is_met_by(&first) && !need.is_met_by(&second));
        assert!(second.prove(second.life(), 99));
        assert!(!need.is_met_by(&second));
        assert!(second.prove(second.life(), 100));
        assert!(need.is_met_by(&second));
        need.saw(&second, 200);
        assert!(need.is_met_by(&second) && !need.is_met_by(&first), "it has shown what the first may lack");
    }

    #[test]
    fn who_answered_without_having_it_all_is_not_who_shows_it() {
        let (writer, replica) = (Arc::new(CaughtUp::default()), Arc::new(CaughtUp::default()));
        let mut need = Need::default();
        need.saw(&writer, 100);
        need.saw(&replica, 200);
        assert!(!need.is_met_by(&replica), "by a rule, past what was written");
        assert!(!need.is_met_by(&writer));
        assert!(writer.prove(writer.life(), 200));
        assert!(need.is_met_by(&writer));
    }

    #[test]
    fn who_begins_anew_shows_nothing_and_what_others_wrote_is_nobodys() {
        let server = Arc::new(CaughtUp::default());
        let mut need = Need::default();
        need.saw(&server, 100);
        assert!(server.prove(server.life(), 300));
        let before = server.life();
        server.begin_anew();
        assert!(!server.prove(before, 300), "that was found in its life before");
        assert!(!need.is_met_by(&server));
        need.saw(&server, 400);
        assert!(!need.is_met_by(&server), "of what was seen before it was not known");
        assert!(server.prove(server.life(), 400));
        need.saw(&server, 500);
        assert!(need.is_met_by(&server));
        let of_all = need.clone().with_all_until(450);
        assert!(!of_all.is_met_by(&server), "it has shown what was its own, and not what others wrote");
        need.saw_somewhere(400);
        assert!(need.is_met_by(&server), "it is proven to show that");
        need.saw_somewhere(450);
        assert!(!need.is_met_by(&server), "another one may have shown that before it did");
        need.saw_somewhere(501);
        assert!(!need.is_met_by(&server));
        assert!(server.prove(server.life(), 501));
        assert!(need.is_met_by(&server) && of_all.is_met_by(&server));
    }
}
