//! The life of an instance's server: who starts it, who brings it back, how it ends.
//!
//! Each server has a *supervisor*, a process of this program (`nuthatch instance supervise NAME`) and of the server's user: in the background
//! after `start`, in the foreground under systemd. It starts the server, brings it back when it crashes unless that happens too often,
//! rotates its logs, and ends it when it is told to. What it knows stands in `run/state.json`. A server whose supervisor is gone goes on; the
//! next `start` gives it a new one.

pub(crate) mod check;
pub(crate) mod crashes;
pub(crate) mod dump;
pub(crate) mod ended;
pub(crate) mod pending;
pub(crate) mod rotate;
pub(crate) mod start;
pub(crate) mod state;
pub(crate) mod stop;
pub(crate) mod supervise;
pub(crate) mod systemd;
