//! What is promised of a server's writes past the proxy, and what stands in the way of more.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::Duration;

use nuthatch_config::Follow;
use nuthatch_proxy::{Followed, Proxy};
use nuthatch_source::follow::Marker;
use tokio::time::Instant;

use crate::following::chances::Chances;

/// What those have in common who prove and lease. See the module's doc.
pub(super) struct Aim {
    pub(super) proxy: Arc<Proxy>,
    pub(super) followed: Arc<Followed>,
    pub(super) bound: Duration,
    /// For so long a write through the proxy waits for its event.
    pub(super) event_wait_ns: u64,
    /// Until when it is sure that the server waits for the proxy.
    pub(super) leased_until_ns: Cell<u64>,
    pub(super) why_not_exact: RefCell<String>,
    pub(super) chances: RefCell<Chances>,
}

/// Why it is not `exact` yet, where nothing is known to stand in the way.
pub(super) const TRYING: &str = "exact is being tried: the first marker is on its way";

/// Why it is not `exact` any more, where nobody has said why.
const LATE: &str = "the last marker was answered too late: this host, the network or the server is slow";

/// As a semi-synchronous replica.
#[derive(Debug, Clone)]
pub(super) struct Waited {
    pub(super) marker: Marker,
    pub(super) timeout_max_ms: u64,
    pub(super) lease_max_ns: u64,
    /// The statements that give the account what it needs.
    pub(super) grants: String,
}

impl Aim {
    /// From now on this is promised, and no more for that reason.
    pub(super) fn stand(&self, mode: Follow, why: &str) {
        if !self.followed.stand(mode, why, self.proxy.now_us() / 1000) {
            return;
        }
        let (server, mode) = (self.followed.name(), mode.word());
        match why {
            "" | TRYING => tracing::info!(%server, mode, "writes past the proxy are followed"),
            why => tracing::warn!(%server, mode, "writes past the proxy are followed no better: {why}"),
        }
    }

    /// Why no more than the bound is promised; nothing where no more is asked for.
    pub(super) fn why_bounded(&self) -> String {
        let why = self.why_not_exact.borrow();
        match self.followed.wanted() {
            Follow::Off | Follow::Bounded => String::new(),
            // It was held, and is not any more.
            Follow::Exact if why.is_empty() => LATE.to_owned(),
            Follow::Exact => why.clone(),
        }
    }

    /// Whether `exact` may be tried.
    pub(super) fn may_try(&self) -> bool {
        self.chances.borrow().may_try(Instant::now(), self.epoch())
    }

    fn epoch(&self) -> u64 {
        self.proxy.snapshot().epoch.0
    }

    /// `exact` holds no longer than until the lease ends, for that reason.
    pub(super) fn fall(&self, why: &str) {
        if self.end_lease(why) {
            self.chances.borrow_mut().note_fall(Instant::now(), self.epoch());
        }
    }

    /// The same where that does not speak against trying again. Says whether it did hold.
    pub(super) fn end_lease(&self, why: &str) -> bool {
        *self.why_not_exact.borrow_mut() = why.to_owned();
        if self.leased_until_ns.replace(0) == 0 {
            return false;
        }
        // What it gave is taken back at once: who proves gives the bound again.
        self.followed.horizon().close();
        self.stand(Follow::Off, why);
        true
    }
}
