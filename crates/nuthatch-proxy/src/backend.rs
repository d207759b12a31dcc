//! The servers behind the proxy: which there are, how they fare, their connections.
//!
//! [`Hostgroups`] is the table of what the configuration names, kept across `LOAD MYSQL SERVERS TO RUNTIME`; a
//! [`Server`] counts, shuns and holds the pool of its idle connections; a [`Connection`] is lent to one session at a
//! time by [`Hostgroups::check_out`].
//!
//! `max_connections` of a server is never exceeded: a connection exists only with a [`Slot`], taken before the connect.

mod abandoned;
mod check_out;
mod connection;
mod hostgroup;
mod keep_lines;
mod server;
mod thread;
mod upkeep;

pub(crate) use abandoned::Abandoned;
pub(crate) use check_out::errors::CheckOutError;
pub(crate) use check_out::logging_in::clear_passwords;
pub(crate) use check_out::wanted::Wanted;
pub(crate) use connection::Connection;
pub(crate) use connection::Server;
pub(crate) use connection::prepared::StatementKey;
pub(crate) use connection::reset::READ_UTF8;
pub(crate) use connection::reset::Reset;
pub(crate) use hostgroup::Hostgroups;
pub(crate) use keep_lines::keep_lines;
pub use server::PoolRow;
pub(crate) use server::control::Borrower;
pub(crate) use server::control::Control;
pub(crate) use server::defaults::Changing;
pub(crate) use server::defaults::Compared;
pub(crate) use server::defaults::Defaults;
pub(crate) use server::defaults::Era;
pub(crate) use server::defaults::Inheritance;
pub(crate) use server::restarts::Restarts;
pub(crate) use thread::Means;
pub(crate) use thread::Thread;
pub(crate) use upkeep::Upkeep;
