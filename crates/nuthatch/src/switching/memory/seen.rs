//! What the primaries of pairs had in their binlogs when they were seen last.

use std::collections::HashMap;

use nuthatch_config::{HostgroupId, ServerName};
use nuthatch_sql::KnownGtids;
use parking_lot::Mutex;

/// See the module's doc.
#[derive(Debug, Default)]
pub(in crate::switching) struct Seen(Mutex<HashMap<ServerName, KnownGtids>>);

impl Seen {
    /// What that primary had when it was seen last.
    pub(in crate::switching) fn of(&self, primary: &ServerName) -> Option<KnownGtids> {
        self.0.lock().get(primary).cloned()
    }

    pub(in crate::switching) fn note(&self, primary: &ServerName, seen: KnownGtids) {
        self.0.lock().insert(primary.clone(), seen);
    }

    /// Others are primaries no more. What they had is old when they are again.
    pub(in crate::switching) fn keep_to(&self, primaries: &[(HostgroupId, ServerName)]) {
        self.0.lock().retain(|known, _| primaries.iter().any(|(_, primary)| primary == known));
    }
}
