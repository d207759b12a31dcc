//! The part of a connection that others can reach while a session uses it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};

use parking_lot::Mutex;

use crate::stats::pins::Pins;

/// Who has a connection: a session, as its connection sees it.
pub(crate) trait Borrower: fmt::Debug + Send + Sync + 'static {
    /// Whoever waits on the connection is to look at it: it was cut, or its statement has taken too long.
    fn look_at_connection(&self);
    /// `CONNECTION_ID()` of the session.
    fn number(&self) -> u32;
}

/// Whether the time of a connection's statement is over, and what became of the KILL QUERY that ends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Lateness {
    /// It is not.
    InTime = 0,
    /// The KILL is on its way.
    KillUnderWay = 1,
    /// The server has heard it: it hits what the thread is at, or what comes next.
    KillHeard = 2,
    /// The server could not be told.
    KillFailed = 3,
}

/// The part of a connection that others can reach while a session uses it.
#[derive(Debug)]
pub(crate) struct Control {
    /// As whom it is logged in.
    pub(in crate::backend) user: Arc<str>,
    cut: AtomicBool,
    user_of_it: Mutex<Option<Arc<dyn Borrower>>>,
    /// A KILL of its thread is under way, or was.
    has_kill: AtomicBool,
    /// It works for a statement.
    is_at_work: AtomicBool,
    /// For what a session keeps it between statements: [`Pins`] as a number.
    kept_for: AtomicU32,
    /// A [`Lateness`].
    lateness: AtomicU8,
}

impl Control {
    /// That of a connection which is logged in as that user.
    pub(crate) fn of(user: &Arc<str>) -> Self {
        Self {
            user: Arc::clone(user),
            cut: AtomicBool::new(false),
            user_of_it: Mutex::default(),
            has_kill: AtomicBool::new(false),
            is_at_work: AtomicBool::new(false),
            kept_for: AtomicU32::new(0),
            lateness: AtomicU8::new(0),
        }
    }

    /// A session keeps it between statements.
    pub(crate) fn keep_for(&self, reasons: Pins) {
        self.kept_for.store(reasons.bits(), Ordering::Relaxed);
    }

    /// For what a session keeps it, a transaction included.
    pub(in crate::backend) fn kept_for(&self) -> Pins {
        Pins::of_bits(self.kept_for.load(Ordering::Relaxed))
    }

    /// The session that had it last, if one did.
    pub(in crate::backend) fn session(&self) -> Option<u32> {
        self.user_of_it.lock().as_ref().map(|session| session.number())
    }

    /// Ends the connection: whoever waits on it is woken and finds [`Self::is_cut`].
    pub(crate) fn cut(&self) {
        self.cut.store(true, Ordering::Release);
        self.tell_user();
    }

    fn tell_user(&self) {
        if let Some(session) = &*self.user_of_it.lock() {
            session.look_at_connection();
        }
    }

    pub(crate) fn is_cut(&self) -> bool {
        self.cut.load(Ordering::Acquire)
    }

    /// Somebody sends the server a KILL of its thread, which may come at any time from now on: nobody else may use it.
    pub(crate) fn expect_kill(&self) {
        self.has_kill.store(true, Ordering::Release);
    }

    /// Whether somebody who is not at the connection sends such a KILL, or has.
    pub(crate) fn expects_kill(&self) -> bool {
        self.has_kill.load(Ordering::Acquire)
    }

    /// Whether a KILL may still hit it.
    pub(crate) fn has_kill(&self) -> bool {
        self.expects_kill() || self.is_late()
    }

    /// The time of its statement is over, and the KILL that ends it is on its way; `false` if it was known.
    pub(crate) fn be_late(&self) -> bool {
        let (in_time, late) = (Lateness::InTime as u8, Lateness::KillUnderWay as u8);
        self.lateness.compare_exchange(in_time, late, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// What became of that KILL.
    pub(crate) fn note_kill(&self, outcome: Lateness) {
        self.lateness.store(outcome as u8, Ordering::Release);
        self.tell_user();
    }

    /// That KILL has hit something, and hits nothing more.
    pub(crate) fn outlive_kill(&self) {
        self.lateness.store(Lateness::InTime as u8, Ordering::Release);
    }

    /// Whether the time of its statement is over.
    pub(crate) fn is_late(&self) -> bool {
        self.lateness.load(Ordering::Acquire) != Lateness::InTime as u8
    }

    /// The same, with what became of the KILL.
    pub(crate) fn lateness(&self) -> Lateness {
        match self.lateness.load(Ordering::Acquire) {
            0 => Lateness::InTime,
            1 => Lateness::KillUnderWay,
            2 => Lateness::KillHeard,
            _ => Lateness::KillFailed,
        }
    }

    /// It begins or ends to work for a statement.
    pub(crate) fn work(&self, is_at_work: bool) {
        self.is_at_work.store(is_at_work, Ordering::Relaxed);
    }

    /// Whether it works for a statement.
    pub(in crate::backend) fn is_at_work(&self) -> bool {
        self.is_at_work.load(Ordering::Relaxed)
    }

    /// Whom to wake when the connection is cut.
    pub(in crate::backend) fn used_by<B: Borrower>(&self, session: &Arc<B>) {
        let mut user = self.user_of_it.lock();
        if user.as_ref().is_none_or(|known| !std::ptr::addr_eq(Arc::as_ptr(known), Arc::as_ptr(session))) {
            *user = Some(Arc::<B>::clone(session));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connection_whose_statement_is_killed_is_nobody_elses_until_the_kill_is_outlived() {
        let control = Control::of(&"u".into());
        assert!(!control.has_kill() && control.be_late() && !control.be_late(), "one KILL");
        for outcome in [Lateness::KillHeard, Lateness::KillFailed] {
            assert!(control.has_kill());
            control.note_kill(outcome);
            assert_eq!(control.lateness(), outcome);
        }
        control.outlive_kill();
        assert_eq!((control.has_kill(), control.lateness()), (false, Lateness::InTime));
        control.expect_kill();
        control.be_late();
        control.outlive_kill();
        assert!(control.has_kill(), "somebody else's may still come");
    }
}
