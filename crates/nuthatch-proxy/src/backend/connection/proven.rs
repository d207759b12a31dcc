//! Whether a connection's state is proven: only then may an answer that came over it be stored for others.
//!
//! A session's record says in which state its connection is, and the cache's key is made of that record. So what the record does not
//! tell must be known not to be: the connection was opened after the last change of privileges and of what sessions begin with, and nothing ran on it since its last
//! reset that may have run stored code without its being told of. This is the one place that says so, for exact answers and for those
//! with a time. What holds a connection for a reason of the session (`stats/pins.rs`) has the session off the cache by itself.

use crate::backend::{Connection, Era};
use crate::stats::not_cached::Unproven;

impl Connection {
    /// Whether what is known of its state is all there is, for a session of that era.
    ///
    /// # Errors
    /// The first reason why not.
    pub(crate) fn prove(&self, era: &Era) -> Result<(), Unproven> {
        match () {
            () if self.server().has_older_privileges(self.opened) => Err(Unproven::OlderPrivileges),
            () if self.server().defaults.is_later_than(&self.era) => Err(Unproven::OlderDefaults),
            () if !self.server().defaults.can_tell(era, &self.era) => Err(Unproven::UnknownDefaults),
            () => Ok(()),
        }
    }
}
