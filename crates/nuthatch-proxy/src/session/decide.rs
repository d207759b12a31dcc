//! What is to become of a statement, and what needs no server.

pub(crate) mod alone;
pub(crate) mod cache_use;
pub(crate) mod errand;
pub(crate) mod explain;
pub(crate) mod internal;
pub(crate) mod key;
pub(crate) mod named;
pub(crate) mod plan;
pub(crate) mod query_cache;
pub(crate) mod schema_lock;
pub(crate) mod split;
pub(crate) mod stored_code;
