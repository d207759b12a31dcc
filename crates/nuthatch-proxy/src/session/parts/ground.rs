//! Where a session lives, and what it goes by.

use std::sync::Arc;

use nuthatch_config::Snapshot;

use crate::roster::SessionHandle;
use crate::session::statement::{Memo, Plan};
use crate::shared::Shared;
use crate::stats::Observation;
use crate::worker::Worker;

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct Ground {
    pub(crate) shared: Arc<Shared>,
    pub(crate) worker: Arc<Worker>,
    /// What its worker remembers of statements.
    pub(crate) memo: Arc<Memo>,
    pub(crate) handle: Arc<SessionHandle>,
    /// The configuration that it goes by.
    pub(crate) snapshot: Arc<Snapshot>,
    /// When the clock was looked at last.
    pub(crate) latest_us: u64,
}

impl Ground {
    /// Microseconds since the start of the proxy; what follows in this command goes by it.
    pub(crate) fn look_at_clock(&mut self) -> u64 {
        self.latest_us = self.shared.clock.now_us();
        self.latest_us
    }

    /// Counts the statement, which has its answer now.
    pub(crate) fn observe(&mut self, plan: &Plan, rows_affected: u64, rows_sent: u64) {
        let now_us = self.look_at_clock();
        self.observe_at(now_us, plan, rows_affected, rows_sent);
    }

    /// Counts the statement, which had its answer at `now_us`.
    pub(crate) fn observe_at(&self, now_us: u64, plan: &Plan, rows_affected: u64, rows_sent: u64) {
        let time_us = now_us.saturating_sub(plan.started_us);
        if let Some(digest) = &plan.digest {
            digest.observe(&Observation { now_ms: now_us / 1000, time_us, rows_affected, rows_sent });
        }
        if self.snapshot.mysql.commands_stats {
            self.worker.commands.count(plan.facts.command, time_us);
        }
        if time_us / 1000 >= self.snapshot.mysql.long_query_time.max(1) {
            self.worker.counters.slow_queries.bump();
        }
    }
}
