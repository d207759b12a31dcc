//! Who uses the servers, and is told what became of them.

use crate::judge::PingFinding;
use crate::lag::Lag;
use crate::target::ServerName;

/// See the module's doc. Called from the monitor's tasks: it must not wait.
pub trait Ward: Send + Sync + 'static {
    /// What a server's pings came to.
    fn pinged(&self, server: &ServerName, finding: &PingFinding);

    /// How far a server is behind its source.
    fn is_behind(&self, server: &ServerName, lag: Lag);
}
