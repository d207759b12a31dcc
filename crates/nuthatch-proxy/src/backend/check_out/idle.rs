//! Idle connections of one server, and the right to open another.

use std::sync::Arc;

use crate::backend::check_out::wanted::Wanted;
use crate::backend::connection::{Connection, Server, Slot};
use crate::backend::server::pool::Fit;

/// An idle one that suits, unless somebody is in greater need.
pub(in crate::backend) fn take_idle(
    server: &Arc<Server>,
    wanted: &Wanted<'_>,
    fit: Fit,
) -> Option<Box<Connection>> {
    if server.is_urged() {
        return None;
    }
    loop {
        let mut connection = server.pool.take(wanted.worker.id, wanted, fit)?;
        if connection.move_to(wanted.worker).is_ok() {
            return Some(connection);
        }
    }
}

/// The right to connect; an idle connection of another kind gives way for it.
pub(in crate::backend) fn reserve(server: &Arc<Server>, worker: usize) -> Option<Slot> {
    server.reserve().or_else(|| {
        drop(server.pool.evict_one(worker)?);
        server.reserve()
    })
}
