//! What goes before a statement is sent over a leased connection.

pub(crate) mod begin;
pub(crate) mod defaults;
pub(crate) mod flight;
pub(crate) mod insert_id;
pub(crate) mod last_results;
pub(crate) mod more;
pub(crate) mod numbers;
pub(crate) mod reading;
pub(crate) mod schema;
pub(crate) mod tracker;
