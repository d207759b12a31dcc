//! The figures of servers that get warm.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::backend::Server;
use crate::shared::Shared;

/// See the module's doc. Levels, but for what is said to be counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WarmingFigures {
    /// Rows of servers that get little of their share, or none, for being cold.
    pub held: u64,
    /// How often that began: counted.
    pub gates_closed: u64,
    /// Dumps of buffer pools that servers have begun: counted.
    pub dumps: u64,
    /// Those that they refused: counted.
    pub dumps_refused: u64,
    /// Reads of others that cold servers have answered too: counted.
    pub reads_sent: u64,
    /// Those that were left out, as too many waited: counted.
    pub reads_left_out: u64,
    /// Those that came to nothing: counted.
    pub reads_failed: u64,
}

pub(super) fn figures(shared: &Shared) -> WarmingFigures {
    let servers = shared.hostgroups.servers();
    let now_ms = shared.clock.now_ms();
    let is_held = |server: &&Arc<Server>| server.gate().is_closed && server.is_in_service(now_ms);
    let held = servers.iter().filter(is_held).count() as u64;
    let [gates_closed, dumps, dumps_refused] = shared.hostgroups.known.warmings();
    let reads = shared.hostgroups.mirrors.counts();
    let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    WarmingFigures {
        held,
        gates_closed,
        dumps,
        dumps_refused,
        reads_sent: load(&reads.sent),
        reads_left_out: load(&reads.left_out),
        reads_failed: load(&reads.failed),
    }
}
