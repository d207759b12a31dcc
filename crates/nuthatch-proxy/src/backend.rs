//! The servers behind the proxy: which there are, how they fare, their connections.
//!
//! [`Hostgroups`] is the table of what the configuration names, kept across `LOAD MYSQL SERVERS TO RUNTIME`; a
//! [`Server`] counts, shuns and holds the pool of its idle connections; a [`Connection`] is lent to one session at a
//! time by [`Hostgroups::check_out`].
//!
//! `max_connections` of a server is never exceeded: a connection exists only with a [`Slot`], taken before the connect.

mod abandoned;
mod alarm;
mod catch_up;
mod check_out;
mod connection;
mod holding;
mod hostgroup;
mod keep_lines;
mod lent;
mod lines;
mod mirror;
mod server;
mod thread;
mod upkeep;
mod why_none;

pub(crate) use abandoned::Abandoned;
pub use catch_up::CatchUp;
pub(crate) use check_out::errors::CheckOutError;
pub(crate) use check_out::logging_in::clear_passwords;
pub(crate) use check_out::wanted::{Met, Wanted};
pub(crate) use check_out::{AtOnce, InLine, Joining, Start};
pub(crate) use connection::ask_defaults::learn_defaults;
pub(crate) use connection::goodbye::{Asked, Goodbye};
pub(crate) use connection::prepared::StatementKey;
pub(crate) use connection::proven::prove;
pub(crate) use connection::reset::{READ_UTF8, Reset};
pub(crate) use connection::{Connection, Server};
pub use holding::Hold;
pub(crate) use holding::lent;
pub use hostgroup::PingOutcome;
pub(crate) use hostgroup::{Hostgroups, WhoShows};
pub(crate) use keep_lines::keep_lines;
pub use lent::LentConnection;
pub use lines::LineRow;
pub(crate) use lines::{line_levels, line_rows};
pub(crate) use mirror::MirroredRead;
pub use server::PoolRow;
pub(crate) use server::control::{Borrower, Control, Lateness};
pub(crate) use server::defaults::{Changing, Compared, Defaults, Era, Inheritance};
pub use server::health::LagOutcome;
pub(crate) use server::known::caught_up::{CaughtUp, Need};
pub use server::known::life::PoolOutcome;
pub(crate) use server::line::Turn;
pub(crate) use server::restarts::Restarts;
pub(crate) use thread::{Means, Thread};
pub(crate) use upkeep::Upkeep;
