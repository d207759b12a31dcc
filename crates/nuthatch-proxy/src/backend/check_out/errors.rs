//! Why no connection could be had.

use nuthatch_config::HostgroupId;
use nuthatch_wire::ErrPacket;
use thiserror::Error;

use crate::backend::server::line::limits::Full;

/// Why no connection could be had.
#[derive(Debug, Error)]
pub(crate) enum CheckOutError {
    /// No server could be reached in time.
    #[error("no server of hostgroup {hostgroup} could be reached within {waited_ms} ms: {why}")]
    Timeout { hostgroup: HostgroupId, waited_ms: u64, why: String },
    /// As many wait for one as may.
    #[error("hostgroup {hostgroup} takes no more statements: {full}; {why}")]
    LineFull { hostgroup: HostgroupId, full: Full, why: String },
    /// No configuration names a server of the hostgroup.
    #[error("no server stands in hostgroup {hostgroup}")]
    NoServer { hostgroup: HostgroupId },
    /// No server of the hostgroup shows what is needed, or none that does could be reached.
    #[error("no server shows what the session has seen")]
    Behind,
    /// A server answered the login with an error.
    #[error("a server refused the login")]
    Refused(ErrPacket),
    /// A server wants what the proxy cannot do, or the proxy has no password for the user.
    #[error("{0}")]
    Login(String),
}

impl CheckOutError {
    /// That the time is over, and what it was waited for.
    pub(in crate::backend) fn timeout(
        hostgroup: HostgroupId,
        since_us: u64,
        now_us: u64,
        why: String,
    ) -> Self {
        Self::Timeout { hostgroup, waited_ms: now_us.saturating_sub(since_us) / 1000, why }
    }
}
