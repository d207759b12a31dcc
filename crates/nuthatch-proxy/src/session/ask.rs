//! How a server is asked: a connection is leased, brought into the session's state, and its answer relayed.

pub(crate) mod answer;
pub(crate) mod begin;
pub(crate) mod command;
pub(crate) mod exact;
pub(crate) mod inheritance;
pub(crate) mod kill;
pub(crate) mod lease;
pub(crate) mod multiplexing;
pub(crate) mod set;
pub(crate) mod statement;
pub(crate) mod trouble;
