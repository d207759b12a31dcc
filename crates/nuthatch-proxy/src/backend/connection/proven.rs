//! Whether a connection's state is proven: only then may an answer that came over it be stored for others.
//!
//! A session's record says in which state its connection is, and the cache's key is made of that record. So what the record does not
//! tell must be known not to be: the connection was opened after the last change of privileges and of what sessions begin with, and nothing ran on it since its last
//! reset that may have run stored code without its being told of. This is the one place that says so, for exact answers and for those
//! with a time. What holds a connection for a reason of the session (`stats/pins.rs`) has the session off the cache by itself.

use crate::backend::{Connection, Era};
use crate::stats::not_cached::Unproven;

/// Whether what is known of the connection's state is all there is, for a session of that era.
///
/// # Errors
/// The first reason why not.
pub(crate) fn prove(connection: &Connection, era: &Era) -> Result<(), Unproven> {
    let server = connection.server();
    match () {
        () if server.has_older_privileges(connection.opened) => Err(Unproven::OlderPrivileges),
        () if server.defaults.is_later_than(&connection.era) => Err(Unproven::OlderDefaults),
        () if !server.defaults.can_tell(era, &connection.era) => Err(Unproven::UnknownDefaults),
        () => Ok(()),
    }
}
