//! A server's binlog as its replica gets it, and what the server says of itself beside it.
//!
//! - [`Feed`]: the connection over which the events come, and over which a semi-synchronous replica answers.
//! - [`Prover`]: what the server shows by now, and where its binlog ends.
//! - [`Unfit`]: why its binlog does not tell of all that is written.
//! - [`Waiting`]: whether the server waits for its semi-synchronous replicas, and how long.
//!
//! What an event means is `EventReader`'s; what comes of it, the program's. No time limits are set here: dropping a future of these
//! leaves its connection in the middle of an answer.

mod account;
mod error;
mod feed;
mod fitness;
mod position;
mod prover;
mod waiting;

pub use account::missing_grants;
pub use error::FollowError;
pub use feed::{Arrived, Feed, FeedOptions};
pub use fitness::Unfit;
pub use position::{End, Place, Shown, Start};
pub use prover::Prover;
pub use waiting::{Lease, Marker, NotWaited, Waiting};
