//! The part of a connection that others can reach while a session uses it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use parking_lot::Mutex;

use crate::stats::pins::Pins;

/// Who has a connection: a session, as its connection sees it.
pub(crate) trait Borrower: fmt::Debug + Send + Sync + 'static {
    /// Whoever waits on the connection is to look at it: it was cut.
    fn connection_is_cut(&self);
    /// `CONNECTION_ID()` of the session.
    fn number(&self) -> u32;
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
}

impl Control {
    /// That of a connection which is logged in as that user.
    pub(in crate::backend) fn of(user: &Arc<str>) -> Self {
        Self {
            user: Arc::clone(user),
            cut: AtomicBool::new(false),
            user_of_it: Mutex::default(),
            has_kill: AtomicBool::new(false),
            is_at_work: AtomicBool::new(false),
            kept_for: AtomicU32::new(0),
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
        if let Some(session) = &*self.user_of_it.lock() {
            session.connection_is_cut();
        }
    }

    pub(crate) fn is_cut(&self) -> bool {
        self.cut.load(Ordering::Acquire)
    }

    /// Somebody sends the server a KILL of its thread, which may come at any time from now on: nobody else may use it.
    pub(crate) fn expect_kill(&self) {
        self.has_kill.store(true, Ordering::Release);
    }

    /// Whether a KILL may still hit it.
    pub(crate) fn has_kill(&self) -> bool {
        self.has_kill.load(Ordering::Acquire)
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
