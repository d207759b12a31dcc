//! Holding a hostgroup: statements that would be lent one of its connections wait, for as long as anybody holds it.
//!
//! Sessions that have a connection of it, in a transaction or for another reason, go on with it; who holds can see which they are, and wait
//! until they are done. When [`Hold::begin`] returns, no statement is on its way any more that [`Hold::unfinished`] does not count.

use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use nuthatch_config::HostgroupId;

use crate::backend::hostgroup::Hostgroups;
use crate::backend::lent::{LentConnection, lent_connections, unfinished};
use crate::backend::server::line::Line;
use crate::clock::Clock;

/// A hostgroup is held while this lives. There can be several for one.
#[derive(Debug)]
#[must_use = "the hostgroup is released when it is dropped"]
pub struct Hold {
    hostgroups: Arc<Hostgroups>,
    hostgroup: HostgroupId,
    line: Arc<Line>,
    id: u64,
    clock: Clock,
}

impl Hold {
    /// Holds the hostgroup from now on. The reason is told to statements that wait in vain.
    pub(crate) fn begin(
        hostgroups: &Arc<Hostgroups>,
        clock: Clock,
        hostgroup: HostgroupId,
        reason: &str,
    ) -> Self {
        let line = Arc::clone(&hostgroups.group_or_make(hostgroup).line);
        let id = line.hold(reason, clock.now_us());
        hostgroups.await_takers();
        tracing::info!(hostgroup = hostgroup.0, reason, "a hostgroup is held: statements wait");
        Self { hostgroups: Arc::clone(hostgroups), hostgroup, line, id, clock }
    }

    /// The hostgroup that is held.
    #[must_use]
    pub const fn hostgroup(&self) -> HostgroupId {
        self.hostgroup
    }

    /// It is held for another reason now.
    pub fn reword(&self, reason: &str) {
        self.line.reword(self.id, reason);
    }

    /// Connections of the hostgroup's servers that must be waited for until nothing runs there any more: with a statement on its way,
    /// a transaction, or other state of a session on them, and those that are being opened. What is kept only because that is configured
    /// does not count: its session waits with its next statement.
    #[must_use]
    pub fn unfinished(&self) -> usize {
        fence(Ordering::SeqCst);
        self.hostgroups.group(self.hostgroup).map_or(0, |group| unfinished(&group))
    }

    /// Connections that work or that sessions keep: whose they are, and why.
    #[must_use]
    pub fn lent(&self) -> Vec<LentConnection> {
        lent(&self.hostgroups, self.hostgroup)
    }
}

/// Connections of a hostgroup that work or that sessions keep: whose they are, and why.
pub(crate) fn lent(hostgroups: &Hostgroups, hostgroup: HostgroupId) -> Vec<LentConnection> {
    hostgroups.group(hostgroup).map_or_else(Vec::new, |group| lent_connections(&group))
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.line.release(self.id, self.clock.now_us());
        tracing::info!(
            hostgroup = self.hostgroup.0,
            waiting = self.line.len(),
            "a hold of a hostgroup is over"
        );
    }
}
