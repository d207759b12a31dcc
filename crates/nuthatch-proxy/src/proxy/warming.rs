//! The figures of servers that get warm.

use crate::shared::Shared;

/// See the module's doc. Levels, but for what is said to be counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WarmingFigures {
    /// Rows of servers that get a part of their share, for being cold.
    pub held: u64,
    /// How often that began: counted.
    pub gates_closed: u64,
    /// Dumps of buffer pools that servers have begun: counted.
    pub dumps: u64,
    /// Those that they refused: counted.
    pub dumps_refused: u64,
}

pub(super) fn figures(shared: &Shared) -> WarmingFigures {
    let servers = shared.hostgroups.servers();
    let held = servers.iter().filter(|server| server.gate().is_closed).count() as u64;
    let [gates_closed, dumps, dumps_refused] = shared.hostgroups.known.warmings();
    WarmingFigures { held, gates_closed, dumps, dumps_refused }
}
