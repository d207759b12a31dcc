//! Holding hostgroups, by whoever changes who writes and by an operator.

use nuthatch_config::HostgroupId;

use crate::backend::{self, Hold, LentConnection, LineRow, line_rows};
use crate::proxy::Proxy;

impl Proxy {
    /// Holds a hostgroup while what this returns lives: statements that would be lent a connection of it wait, with or without servers,
    /// though those who have one go on with it. There can be several holds of one hostgroup.
    ///
    /// Answers of the query cache are served all the same: who wants none has them forgotten.
    pub fn hold(&self, hostgroup: HostgroupId, reason: &str) -> Hold {
        Hold::begin(&self.shared.hostgroups, self.shared.clock, hostgroup, reason)
    }

    /// Holds a hostgroup for so long, for an operator, who may release it before.
    pub fn hold_by_order(&self, hostgroup: HostgroupId, max_ms: u64) {
        let until_ms = self.shared.clock.now_ms().saturating_add(max_ms);
        self.shared.orders.keep(self.hold(hostgroup, "an operator holds it (NUTHATCH HOLD)"), until_ms);
    }

    /// Ends an operator's hold; `false` where there was none.
    #[must_use]
    pub fn release_by_order(&self, hostgroup: HostgroupId) -> bool {
        self.shared.orders.release(hostgroup)
    }

    /// Tells why no server of a hostgroup takes statements, for as long as that is so: who waits there in vain is told. To be said after it
    /// has come to that; `None` takes it back.
    pub fn tell_why_without_server(&self, hostgroup: HostgroupId, why: Option<&str>) {
        self.shared.hostgroups.tell_why_without_server(hostgroup, why, self.shared.clock.now_us());
    }

    /// Connections of a hostgroup that work or that sessions keep, held or not: whose they are, and why.
    #[must_use]
    pub fn lent(&self, hostgroup: HostgroupId) -> Vec<LentConnection> {
        backend::lent(&self.shared.hostgroups, hostgroup)
    }

    /// The rows of `stats_nuthatch_lines`.
    #[must_use]
    pub fn lines(&self) -> Vec<LineRow> {
        line_rows(&self.shared.hostgroups, self.shared.clock.now_us())
    }
}
