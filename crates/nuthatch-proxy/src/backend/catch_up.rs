//! Servers of a cluster on their way to show what sessions have seen: who wishes it, and who proves it.
//!
//! A session that nobody can answer yet wishes that somebody has caught up with a moment ([`CatchUp::wish`]), and waits. Somebody outside of
//! the data plane does what it takes to prove it ([`CatchUp::wished`]), for all wishes that there are at once, and says so: see [`CaughtUp`](crate::backend::CaughtUp)
//! for what is proven. Where nobody can, none waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use arc_swap::ArcSwap;
use nuthatch_config::HostgroupId;
use tokio::sync::Notify;

/// Of the servers of one cluster, by its writer hostgroup.
#[derive(Debug, Default)]
pub struct CatchUp {
    /// With what somebody is to have caught up, in microseconds of the clock.
    wished_us: AtomicU64,
    wishes: Notify,
    proofs: Notify,
    /// Whether somebody proves at all.
    is_proven: AtomicBool,
}

impl CatchUp {
    /// Completes when a wish is there that was not there at `since_us`; returns when it is for.
    pub async fn wished(&self, since_us: u64) -> u64 {
        loop {
            let told = self.wishes.notified();
            match self.wished_us.load(Ordering::Acquire) {
                wished_us if wished_us > since_us => return wished_us,
                _ => told.await,
            }
        }
    }

    /// Somebody proves from now on what is wished, or nobody any more: then who waits does not wait longer.
    pub fn note_prover(&self, is_proven: bool) {
        self.is_proven.store(is_proven, Ordering::Release);
        self.proofs.notify_waiters();
    }

    /// Whether a wish may come true.
    #[must_use]
    pub fn can_be_proven(&self) -> bool {
        self.is_proven.load(Ordering::Acquire)
    }

    /// Somebody is to have caught up with that moment.
    pub(crate) fn wish(&self, until_us: u64) {
        if self.wished_us.fetch_max(until_us, Ordering::AcqRel) < until_us {
            self.wishes.notify_one();
        }
    }

    /// Who waits looks again.
    pub fn tell(&self) {
        self.proofs.notify_waiters();
    }

    /// Who is told of the next proof.
    pub(crate) const fn proofs(&self) -> &Notify {
        &self.proofs
    }
}

/// All clusters'.
#[derive(Debug, Default)]
pub(crate) struct CatchUps(ArcSwap<Vec<(HostgroupId, Arc<CatchUp>)>>);

impl CatchUps {
    /// That of a cluster, by its writer hostgroup.
    pub(crate) fn of(&self, writer: HostgroupId) -> Arc<CatchUp> {
        let find = |clusters: &[(HostgroupId, Arc<CatchUp>)]| {
            clusters.iter().find(|(hostgroup, _)| *hostgroup == writer).map(|(_, known)| Arc::clone(known))
        };
        if let Some(known) = find(&self.0.load()) {
            return known;
        }
        let new = Arc::default();
        self.0.rcu(|clusters| match find(clusters) {
            Some(_) => Vec::clone(clusters),
            None => clusters.iter().cloned().chain([(writer, Arc::clone(&new))]).collect(),
        });
        find(&self.0.load()).unwrap_or(new)
    }
}
