//! Statements, as those who change primaries see them: translation, no knowledge of its own.

use std::sync::Arc;

use nuthatch_config::{AccessFinding, CheckType, HostgroupId, ServerName};
use nuthatch_failover::{Begun, Holding, Promoted, Replaced, Traffic, Work};
use nuthatch_proxy::{Hold, LentConnection, Proxy};
use nuthatch_sql::KnownGtids;

use super::memory::Memory;

/// See the module's doc.
#[derive(Debug)]
pub(super) struct Statements {
    proxy: Arc<Proxy>,
    check: CheckType,
    memory: Arc<Memory>,
}

impl Statements {
    pub(super) fn new(proxy: &Arc<Proxy>, check: CheckType, memory: &Arc<Memory>) -> Self {
        Self { proxy: Arc::clone(proxy), check, memory: Arc::clone(memory) }
    }
}

impl Traffic for Statements {
    fn hold(&self, hostgroup: HostgroupId, reason: &str) -> Box<dyn Holding> {
        Box::new(Held(self.proxy.hold(hostgroup, reason)))
    }

    fn unfinished(&self, hostgroup: HostgroupId) -> Vec<Work> {
        unfinished(self.proxy.lent(hostgroup))
    }

    fn end(&self, session: u32, why: &str) {
        tracing::warn!(session, why, "ended a session for a switchover");
        self.proxy.end_for_switchover(session);
    }

    fn has_become(&self, server: &ServerName, finding: &AccessFinding) {
        self.proxy.has_become(server, self.check, finding);
    }

    fn fence(&self, hostgroup: HostgroupId, server: &ServerName, why: &str) {
        self.proxy.fence(hostgroup, server, why);
    }

    fn begins(&self, switchover: &Begun) {
        self.memory.ledger.begin(switchover, self.proxy.unix_seconds_now());
    }

    fn promotes(&self, hostgroup: HostgroupId, promoted: &Promoted) {
        self.memory.losses.expect(hostgroup, promoted);
    }

    fn replaced(&self, hostgroup: HostgroupId, replaced: &Replaced<'_>) {
        self.memory.fenced.note(hostgroup, replaced);
        if let Some(new) = replaced.new {
            let time = self.proxy.unix_seconds_now();
            self.memory.losses.tell(hostgroup, [replaced.old, new], time);
            self.memory.ledger.end(hostgroup);
            self.proxy.forget_acknowledged(replaced.old);
            self.proxy.readmit(hostgroup, new);
        }
    }

    fn acknowledged(&self, primary: &ServerName) -> Option<KnownGtids> {
        self.proxy.acknowledged(primary)
    }

    fn seen(&self, primary: &ServerName) -> Option<KnownGtids> {
        self.memory.seen.of(primary)
    }

    fn readmit(&self, hostgroup: HostgroupId, server: &ServerName) {
        self.proxy.readmit(hostgroup, server);
    }
}

struct Held(Hold);

impl Holding for Held {
    fn unfinished(&self) -> Vec<Work> {
        unfinished(self.0.lent())
    }

    fn is_busy(&self) -> bool {
        self.0.unfinished() > 0
    }
}

fn unfinished(lent: Vec<LentConnection>) -> Vec<Work> {
    let unfinished = lent.into_iter().filter(|one| one.is_unfinished);
    unfinished.map(|one| Work { session: one.session, user: one.user.to_string(), pins: one.pins }).collect()
}
