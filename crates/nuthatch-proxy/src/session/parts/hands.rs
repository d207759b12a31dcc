//! The connections that a session has in its hands, and those that it let go of.

use std::sync::Arc;

use nuthatch_config::HostgroupId;

use crate::backend::Server;
use crate::session::parts::Held;
use crate::state::Errand;

/// A connection that the session let go of: its server, its hostgroup, the server's thread.
pub(crate) type Left = (Arc<Server>, HostgroupId, u32);

/// See the module's doc.
#[derive(Debug, Default)]
pub(crate) struct Hands {
    pub(crate) held: Vec<Held>,
    /// What the statement at hand asks of a connection.
    pub(crate) errand: Errand,
    /// A connection with state of the session was lost: the client must not go on as if it were still there.
    pub(crate) has_lost_state: bool,
    /// The connection that was let go of last.
    pub(crate) left: Option<Left>,
    /// The server's thread that ran the last statement; `None` when no server did.
    pub(crate) last_ran_on: Option<u32>,
}
