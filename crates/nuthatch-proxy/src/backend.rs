//! The servers behind the proxy: which there are, how they fare, their connections.
//!
//! [`Hostgroups`] is the table of what the configuration names, kept across `LOAD MYSQL SERVERS TO RUNTIME`; a
//! [`Server`] counts, shuns and holds the pool of its idle connections; a [`Connection`] is lent to one session at a
//! time by [`Hostgroups::check_out`].
//!
//! `max_connections` of a server is never exceeded: a connection exists only with a [`Slot`], taken before the connect.

mod abandoned;
mod ahead;
mod check_out;
mod connect;
mod connection;
mod defaults;
mod growth;
mod hostgroup;
mod line;
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
mod weights;

pub(crate) use abandoned::Abandoned;
pub(crate) use check_out::{CheckOutError, Wanted, clear_passwords};
pub(crate) use connection::{Connection, Control};
pub(crate) use defaults::{Changing, Compared, Defaults, Era, Inheritance};
pub(crate) use hostgroup::Hostgroups;
pub(crate) use line::keep as keep_lines;
pub(crate) use prepared::StatementKey;
pub(crate) use proven::Unproven;
pub(crate) use reset::{READ_UTF8, Reset};
pub(crate) use restarts::Restarts;
pub use server::PoolRow;
pub(crate) use server::Server;
pub(crate) use thread::{Means, Thread};
