//! Who uses the servers, and is told what the monitor has found of them.

use nuthatch_config::{AccessFinding, CheckType, Member, ServerName};
use tokio::time::Instant;

use crate::judge::PingFinding;
use crate::lag::Lag;
use crate::pool::{DumpFinding, PoolCare, PoolFinding};

/// See the module's doc. Called from the monitor's tasks: it must not wait.
pub trait Ward: Send + Sync + 'static {
    /// What a server's pings came to.
    fn pinged(&self, server: &ServerName, finding: &PingFinding);

    /// How far a server is behind its source.
    fn is_behind(&self, server: &ServerName, lag: Lag);

    /// Whether a server takes writes, by that check, which was begun then.
    fn access(&self, server: &ServerName, check: CheckType, finding: &AccessFinding, began: Instant);

    /// What a server is in its group or Galera cluster.
    fn member(&self, server: &ServerName, member: Member);

    /// What a look at a server's buffer pool came to, which was begun then; says what that means to who uses it.
    fn pool(&self, server: &ServerName, finding: &PoolFinding, began: Instant) -> PoolCare;

    /// What a server made of the wish for a dump of its buffer pool.
    fn dumped(&self, server: &ServerName, finding: &DumpFinding);

    /// Nobody looks any more at what the server's place is.
    fn leaves_place(&self, server: &ServerName);
}
