//! Connections: had for a statement, brought into the session's state, asked, and let go of.

pub(crate) mod bring_into;
pub(crate) mod causal;
pub(crate) mod check_out;
pub(crate) mod environment;
pub(crate) mod inheritance;
pub(crate) mod multiplexing;
pub(crate) mod put_away;
pub(crate) mod question;
pub(crate) mod show;
