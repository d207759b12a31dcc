//! Hostgroups that an operator holds, each until it is released or its time is over.

use std::collections::BTreeMap;

use nuthatch_config::HostgroupId;
use parking_lot::Mutex;

use crate::backend::Hold;

/// See the module's doc.
#[derive(Debug, Default)]
pub(crate) struct Orders(Mutex<BTreeMap<HostgroupId, Order>>);

#[derive(Debug)]
struct Order {
    until_ms: u64,
    /// The hostgroup is held while it lives.
    _hold: Hold,
}

impl Orders {
    /// Keeps a hold until then, in the place of one that was ordered before.
    pub(crate) fn keep(&self, hold: Hold, until_ms: u64) {
        let before = self.0.lock().insert(hold.hostgroup(), Order { until_ms, _hold: hold });
        drop(before);
    }

    /// Ends the hold of a hostgroup; `false` where none was ordered.
    pub(crate) fn release(&self, hostgroup: HostgroupId) -> bool {
        let ended = self.0.lock().remove(&hostgroup);
        ended.is_some()
    }

    /// Ends those whose time is over.
    pub(crate) fn end_those_until(&self, now_ms: u64) {
        let over: Vec<_> = self.0.lock().extract_if(.., |_, order| order.until_ms <= now_ms).collect();
        for (hostgroup, _) in over {
            tracing::warn!(hostgroup = hostgroup.0, "the time of an operator's hold is over");
        }
    }
}
