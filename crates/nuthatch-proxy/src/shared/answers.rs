//! What is cached, for whom, and how often it was asked for.

mod capture_room;
mod coalescing;
mod environment;
mod hit_plan;
mod refreshing;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use nuthatch_cache::{Cache, Limits};
use nuthatch_config::MysqlVariables;

pub use crate::shared::answers::capture_room::CaptureUsage;
pub(crate) use crate::shared::answers::capture_room::{CaptureRoom, CaptureShare, UNCOUNTED_BYTES};
pub(crate) use crate::shared::answers::coalescing::{Brought, Coalescing, Joined, Lead, Waited, Waiting};
pub(crate) use crate::shared::answers::environment::{ENVIRONMENTS_MAX, Environment, Environments};
pub(crate) use crate::shared::answers::hit_plan::{Ageing, HitPlan, Terms};
pub(crate) use crate::shared::answers::refreshing::Refreshing;
use crate::stats::Digests;

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct Answers {
    pub(crate) cache: Cache<HitPlan>,
    /// For copies of answers on their way there.
    pub(crate) capture_room: Arc<CaptureRoom>,
    /// What is asked of servers for it at the moment.
    pub(crate) coalescing: Arc<Coalescing>,
    /// How many entries are being read anew.
    pub(crate) refreshes: Arc<AtomicUsize>,
    pub(crate) environments: Environments,
    pub(crate) digests: Digests,
    /// A statement has asked to be cached, whatever rules say.
    are_asked_for: AtomicBool,
}

impl Answers {
    pub(crate) fn new(variables: &MysqlVariables) -> Self {
        let new = Self {
            cache: Cache::new(limits(variables)),
            capture_room: Arc::default(),
            coalescing: Arc::default(),
            refreshes: Arc::default(),
            environments: Environments::default(),
            digests: Digests::new(),
            are_asked_for: AtomicBool::new(false),
        };
        new.cache.compress_from(variables.query_cache_compress_min_bytes);
        new.bound_captures(variables);
        new
    }

    /// Keeps to the limits of these variables from now on.
    pub(crate) fn keep_to(&self, variables: &MysqlVariables) {
        self.cache.set_limits(limits(variables));
        self.cache.compress_from(variables.query_cache_compress_min_bytes);
        self.bound_captures(variables);
    }

    fn bound_captures(&self, variables: &MysqlVariables) {
        self.capture_room.keep_to(limits(variables).bytes, self.cache.entry_bytes_max());
    }

    /// From now on sessions look their statements up, though no rule caches anything.
    pub(crate) fn ask_for(&self) {
        if !self.are_asked_for() {
            self.are_asked_for.store(true, Ordering::Relaxed);
        }
    }

    /// Whether a statement has asked to be cached.
    pub(crate) fn are_asked_for(&self) -> bool {
        self.are_asked_for.load(Ordering::Relaxed)
    }
}

fn limits(variables: &MysqlVariables) -> Limits {
    let bytes = variables.query_cache_size.bytes();
    Limits { bytes, entry_bytes_max: variables.threshold_resultset_size }
}
