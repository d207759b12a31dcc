//! The configuration in force, and who keeps it.

pub(crate) mod keeper;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwap;
use nuthatch_config::Snapshot;
use tokio::sync::watch;

use crate::configuration::keeper::ConfigurationKeeper;

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct Configuration {
    snapshot: ArcSwap<Snapshot>,
    epoch: AtomicU64,
    keeper: OnceLock<Arc<dyn ConfigurationKeeper>>,
    /// How many were put in force.
    count: watch::Sender<u64>,
}

impl Configuration {
    pub(crate) fn new(snapshot: Arc<Snapshot>) -> Self {
        let epoch = AtomicU64::new(snapshot.epoch.0);
        Self {
            snapshot: ArcSwap::new(snapshot),
            epoch,
            keeper: OnceLock::new(),
            count: watch::Sender::new(0),
        }
    }

    /// Puts another in force: every statement that begins is judged by it. Its epoch is a new one if anything differs that the data plane can
    /// tell. One is put in force at a time.
    pub(crate) fn put_in_force(&self, mut snapshot: Snapshot) -> Arc<Snapshot> {
        let before = self.snapshot.load();
        snapshot.epoch = match snapshot.serves_like(&before) {
            true => before.epoch,
            false => before.epoch.next(),
        };
        let snapshot = Arc::new(snapshot);
        self.snapshot.store(Arc::clone(&snapshot));
        self.epoch.store(snapshot.epoch.0, Ordering::Release);
        self.count.send_modify(|count| *count += 1);
        snapshot
    }

    /// Told of each that is put in force from now on.
    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.count.subscribe()
    }

    /// The one in force.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot.load_full()
    }

    /// Its epoch. Cost: a load.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Tells who keeps it; the first word stands.
    pub(crate) fn is_kept_by(&self, keeper: Arc<dyn ConfigurationKeeper>) {
        drop(self.keeper.set(keeper));
    }

    pub(crate) fn keeper(&self) -> Option<&Arc<dyn ConfigurationKeeper>> {
        self.keeper.get()
    }
}
