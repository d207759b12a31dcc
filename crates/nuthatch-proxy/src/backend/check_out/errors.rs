//! Why no connection could be had.

use nuthatch_config::{HostgroupId, MysqlVariables};
use nuthatch_wire::ErrPacket;
use thiserror::Error;

/// Why no connection could be had.
#[derive(Debug, Error)]
pub(crate) enum CheckOutError {
    /// No server could be reached in time.
    #[error("no server of hostgroup {hostgroup} could be reached within {waited_ms} ms: {why}")]
    Timeout { hostgroup: HostgroupId, waited_ms: u64, why: String },
    /// No configuration names a server of the hostgroup.
    #[error("no server stands in hostgroup {hostgroup}")]
    NoServer { hostgroup: HostgroupId },
    /// A server answered the login with an error.
    #[error("a server refused the login")]
    Refused(ErrPacket),
    /// A server wants what the proxy cannot do, or the proxy has no password for the user.
    #[error("{0}")]
    Login(String),
}

impl CheckOutError {
    /// That the time is over, and what it was waited for; without that, of a hostgroup that is gone.
    pub(in crate::backend) fn timeout(
        hostgroup: HostgroupId,
        variables: &MysqlVariables,
        why: Option<String>,
    ) -> Self {
        let why = why.unwrap_or_else(|| "no server stands in it".to_owned());
        Self::Timeout { hostgroup, waited_ms: variables.connect_timeout_server_max, why }
    }
}
