//! The monitor: looks at servers by host and port, keeps a log of what they answered, and tells who uses them what became of it.
//!
//! Each check of each server is a task of its own, with a connection of its own where it keeps one: a server that does not answer makes
//! nobody else wait. What a result means is decided by pure values (`judge.rs`); what is to be done about it is the caller's ([`Ward`]).
//! It knows nothing of hostgroups, pools or sessions.

mod access;
mod check;
mod judge;
mod lag;
mod log;
mod lookout;
mod member;
mod monitor;
mod patrol;
mod pool;
mod progress;
mod refusals;
mod settings;
mod target;
mod unanswered;
mod ward;

pub use judge::PingFinding;
pub use lag::Lag;
pub use log::{CheckKind, Log, Record};
pub use lookout::Lookout;
pub use member::MemberPatience;
pub use monitor::Monitor;
pub use pool::{DumpFinding, PoolCare, PoolFinding};
pub use progress::{Progress, Unknown, Written};
pub use settings::{CheckTimes, Settings};
pub use target::{MemberCheck, PoolCheck, Roles, Target};
pub use ward::Ward;
