//! What statements of clients do while roles change, as this crate sees it.

use nuthatch_config::{AccessFinding, HostgroupId, ServerName};
use nuthatch_sql::KnownGtids;
use serde::{Deserialize, Serialize};

use crate::loss::Lacking;
use crate::order::Begun;

/// A session that has a connection to the old primary and cannot let go of it by itself at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    /// `CONNECTION_ID()` of the session, where one has the connection.
    pub session: Option<u32>,
    /// As whom it is logged in.
    pub user: String,
    /// For what it keeps the connection, by the names of pins; empty where a statement is on it and that is all.
    pub pins: String,
}

impl Work {
    /// Whether it ends when the transaction does.
    #[must_use]
    pub fn is_transaction(&self) -> bool {
        self.pins.is_empty() || self.pins.split(',').all(|pin| pin.trim() == "transaction")
    }
}

/// New statements of a hostgroup wait while this lives.
pub trait Holding: Send + Sync {
    /// Sessions that must be waited for.
    fn unfinished(&self) -> Vec<Work>;

    /// Whether connections are in use that no session has: they are being opened, or a session lets go of one just now.
    fn is_busy(&self) -> bool;
}

/// A primary in whose place another server is put.
#[derive(Clone, Copy, Debug)]
pub struct Replaced<'a> {
    /// Who was it.
    pub old: &'a ServerName,
    /// Who is it; none where nobody knows whether the heir takes writes.
    pub new: Option<&'a ServerName>,
    /// Whether that one followed over TLS: so will the old one.
    pub over_tls: bool,
}

/// A server that takes the place of a primary which is gone, and what that costs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Promoted {
    /// Who was it before.
    pub old: ServerName,
    /// Who is it now, or is about to be.
    pub new: ServerName,
    /// What it lacks of what the old one had acknowledged to clients of this proxy; none if that is not known.
    pub lost: Option<Lacking>,
    /// What it lacks of what the old one had in its binlog when it was seen last; none if it was not seen.
    pub lost_of_seen: Option<Lacking>,
    /// Whether it followed over TLS: so will the old one.
    pub over_tls: bool,
}

/// Who sends statements to servers.
pub trait Traffic: Send + Sync + 'static {
    /// New statements of the hostgroup wait until what this returns is dropped; the reason is told to those that wait in vain.
    fn hold(&self, hostgroup: HostgroupId, reason: &str) -> Box<dyn Holding>;

    /// Sessions that a switchover of that hostgroup would have to wait for now.
    fn unfinished(&self, hostgroup: HostgroupId) -> Vec<Work>;

    /// Ends a session; its client is told why.
    fn end(&self, session: u32, why: &str);

    /// A switchover is about to touch servers: what is known of it then must not be forgotten before it has come to its end.
    fn begins(&self, switchover: &Begun);

    /// A server has been made what this says: statements go to it, or not, when this returns.
    fn has_become(&self, server: &ServerName, finding: &AccessFinding);

    /// Nothing is sent to the server any more in the pair of that hostgroup, whatever it is found to be: its connections have been cut
    /// when this returns, and nothing that was under way there is stored.
    fn fence(&self, hostgroup: HostgroupId, server: &ServerName, why: &str);

    /// A server is about to be told to take the writes: what that loses must not be forgotten when this returns, also should this proxy
    /// end. It may be taken back: what the old one has then, nobody has lost.
    fn promotes(&self, hostgroup: HostgroupId, promoted: &Promoted);

    /// The old primary is to be looked for from now on, so that it takes no writes and follows when it is back; the new one, if there is one, is
    /// kept out no longer: it takes the writes, and what is lost by that is.
    fn replaced(&self, hostgroup: HostgroupId, replaced: &Replaced<'_>);

    /// The server stands again where it belongs by what it is found to be.
    fn readmit(&self, hostgroup: HostgroupId, server: &ServerName);

    /// What that primary had in its binlog when it was seen last; none if it was not.
    fn seen(&self, _primary: &ServerName) -> Option<KnownGtids> {
        None
    }

    /// What that primary has acknowledged to clients of this proxy; none if that is not known.
    fn acknowledged(&self, _primary: &ServerName) -> Option<KnownGtids> {
        None
    }
}
