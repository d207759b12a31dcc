//! Reasons to keep a connection that end by themselves: locks, temporary tables, handlers, delays.

pub(crate) mod delay;
pub(crate) mod handlers;
pub(crate) mod metadata_lock;
pub(crate) mod named_locks;
pub(crate) mod own_values;
pub(crate) mod temporary;
