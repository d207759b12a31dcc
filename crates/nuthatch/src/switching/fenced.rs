//! Old primaries that were replaced, and that nothing is sent to.

use nuthatch_config::{HostgroupId, ServerName};
use nuthatch_failover::{Lacking, Promoted};
use parking_lot::Mutex;

/// The old primaries that nothing is sent to.
#[derive(Debug, Default)]
pub(super) struct Fenced(Mutex<Vec<Old>>);

/// An old primary, and what is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Old {
    pub(super) hostgroup: HostgroupId,
    pub(super) name: ServerName,
    pub(super) over_tls: bool,
    /// What was told of it last.
    pub(super) surplus: Option<Lacking>,
    /// How often it was looked for.
    pub(super) rounds: u32,
}

impl Fenced {
    pub(super) fn add(&self, hostgroup: HostgroupId, promoted: &Promoted) {
        let mut all = self.0.lock();
        all.retain(|old| old.hostgroup != hostgroup || old.name != promoted.old);
        all.push(Old {
            hostgroup,
            name: promoted.old.clone(),
            over_tls: promoted.over_tls,
            surplus: None,
            rounds: 0,
        });
    }

    /// Whether nothing is sent to it.
    pub(super) fn has(&self, hostgroup: HostgroupId, server: &ServerName) -> bool {
        self.0.lock().iter().any(|old| old.hostgroup == hostgroup && old.name == *server)
    }

    pub(super) fn all(&self) -> Vec<Old> {
        self.0.lock().clone()
    }

    /// What is known of it now; none if it is not fenced any more.
    pub(super) fn put(&self, known: &Old, now: Option<Old>) {
        let mut all = self.0.lock();
        if let Some(place) = all.iter().position(|old| old == known) {
            all.remove(place);
            all.extend(now);
        }
    }
}
