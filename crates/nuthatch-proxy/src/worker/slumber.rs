//! Whether a worker's thread sleeps, so that only one that does is rung for.
//!
//! Who has something for the thread first puts it where the thread looks, then calls [`Slumber::disturb`]. The thread calls
//! [`Slumber::may_begin`] and sleeps if that says so: one of the two sees the other. When it is up, it looks at all such places if there
//! is [news](Slumber::takes_news).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering, fence};

use nuthatch_net::Bell;

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct Slumber {
    /// The thread sleeps, or is about to.
    is_asleep: AtomicBool,
    /// Something was put where the thread looks since it did.
    has_news: AtomicBool,
    bell: Arc<Bell>,
}

impl Slumber {
    /// Of a thread that is awake; `bell` ends its sleep.
    pub(crate) const fn new(bell: Arc<Bell>) -> Self {
        Self { is_asleep: AtomicBool::new(false), has_news: AtomicBool::new(false), bell }
    }

    /// Before the thread sleeps; `false` when it must not, as there is news. From now on who has something for it rings.
    pub(crate) fn may_begin(&self) -> bool {
        self.is_asleep.store(true, Ordering::Relaxed);
        // Either who comes sees that the thread sleeps, or the thread what it was brought: both look after they have told.
        fence(Ordering::SeqCst);
        !self.has_news.load(Ordering::Relaxed)
    }

    /// After it slept, before it looks at what has come.
    pub(crate) fn end(&self) {
        self.is_asleep.store(false, Ordering::Relaxed);
    }

    /// Whether the thread is to look; what comes from now on is news again.
    pub(crate) fn takes_news(&self) -> bool {
        self.has_news.load(Ordering::Relaxed) && self.has_news.swap(false, Ordering::AcqRel)
    }

    /// Something has been put where the thread looks.
    pub(crate) fn disturb(&self) {
        self.has_news.store(true, Ordering::Release);
        fence(Ordering::SeqCst);
        if self.is_asleep.load(Ordering::Relaxed) {
            self.bell.ring();
        }
    }
}
