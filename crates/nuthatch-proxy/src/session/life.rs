//! The life of a session as a whole: what each command comes to, from its packet to its answer.
//!
//! The only folder whose functions are handed a whole [`Session`](crate::session::whole::Session); all below are handed the parts that
//! they need.

pub(crate) mod answer;
pub(crate) mod arrival;
pub(crate) mod attend;
pub(crate) mod command;
pub(crate) mod cursor;
pub(crate) mod execution;
pub(crate) mod flight;
pub(crate) mod kill;
pub(crate) mod preparation;
pub(crate) mod replies;
pub(crate) mod run;
pub(crate) mod seat;
pub(crate) mod sent_execution;
pub(crate) mod sent_text;
pub(crate) mod statement;
