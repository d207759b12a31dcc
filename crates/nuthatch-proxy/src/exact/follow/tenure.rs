//! Until when, and to whom, one stored answer may be given, where the binlog of its server is followed.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::exact::follow::horizon::{AsOf, Horizon};

/// See the module's doc.
#[derive(Debug, Clone)]
pub(crate) struct Tenure {
    horizon: Arc<Horizon>,
    is_of_replica: bool,
}

/// Of one server, whose horizon is one.
impl PartialEq for Tenure {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.horizon, &other.horizon) && self.is_of_replica == other.is_of_replica
    }
}

impl Eq for Tenure {}

impl Hash for Tenure {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (Arc::as_ptr(&self.horizon).addr(), self.is_of_replica).hash(state);
    }
}

impl Tenure {
    /// Of an answer of the server that the horizon is of, or of one of its replicas.
    ///
    /// A replica may show what its primary does not show yet, and what has not been carried. So what it answered is served once all is carried
    /// that stood in the primary's binlog when the answer was complete, and so all that the answer can show: clocks tell the rest. That the
    /// replica had all that was shown before is another matter ([`replica`](crate::exact::Evidence)).
    pub(crate) const fn new(horizon: Arc<Horizon>, is_of_replica: bool) -> Self {
        Self { horizon, is_of_replica }
    }

    /// Whether the answer, which was complete by then, may be served now. To be asked when the command is there, and before the clocks: what is
    /// carried in between would be missed.
    ///
    /// Cost: a load and a look at the clock; another load of what a replica gave; two more for a snapshot.
    #[inline]
    pub(crate) fn holds(&self, of: AsOf, created_ms: u64) -> bool {
        self.horizon.holds(of, created_ms)
            && (!self.is_of_replica || self.horizon.has_reached_past(created_ms))
    }
}
