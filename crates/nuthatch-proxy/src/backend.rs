//! The servers behind the proxy: which there are, how they fare, their connections.
//!
//! [`Hostgroups`] is the table of what the configuration names, kept across `LOAD MYSQL SERVERS TO RUNTIME`; a
//! [`Server`] counts, shuns and holds the pool of its idle connections; a [`Connection`] is lent to one session at a
//! time by [`Hostgroups::check_out`].
//!
//! `max_connections` of a server is never exceeded: a connection exists only with a [`Slot`], taken before the connect.

mod abandoned;
mod ahead;
mod ask_defaults;
mod check_out;
mod connect;
mod connection;
mod control;
mod defaults;
mod errors;
mod growth;
mod hostgroup;
mod idle;
mod keep_lines;
mod kind;
mod line;
mod logging_in;
mod order;
mod pool;
mod prepared;
mod proven;
mod refusal;
mod reset;
mod restarts;
mod room;
mod search;
mod server;
mod shortage;
mod thread;
mod throttle;
mod tls;
mod upkeep;
mod wanted;
mod weights;

pub(crate) use abandoned::Abandoned;
pub(crate) use connection::{Connection, Server};
pub(crate) use control::{Borrower, Control};
pub(crate) use defaults::{Changing, Compared, Defaults, Era, Inheritance};
pub(crate) use errors::CheckOutError;
pub(crate) use hostgroup::Hostgroups;
pub(crate) use keep_lines::keep_lines;
pub(crate) use logging_in::clear_passwords;
pub(crate) use prepared::StatementKey;
pub(crate) use reset::{READ_UTF8, Reset};
pub(crate) use restarts::Restarts;
pub use server::PoolRow;
pub(crate) use thread::{Means, Thread};
pub(crate) use upkeep::Upkeep;
pub(crate) use wanted::Wanted;
