//! One client's session: from its login to its last command.
//!
//! A session waits in its worker's lobby and is attended to there; what is not a hit makes it a task, which
//! reads a command, answers it, reads the next, and sits down again when its client has nothing more for it. Its state is a value
//! ([`SessionState`]); a backend connection is lent to it for one statement and brought into that state first, unless the
//! session *holds* connections ([`Held`]) for a named reason ([`Pins`]).
//!
//! The life of a statement, each step with its file:
//! 1. `look_up` (arrive/hit.rs): key, cache, judgement; on a hit the stored packets go out and that is all.
//! 2. `plan` (decide/plan.rs): digest, class, rules, hostgroup.
//! 3. `answer_alone` (decide/alone.rs): what needs no server.
//! 4. `lease` (ask/lease.rs): a held connection or one from the pool, brought into the session's state.
//! 5. `pass_answer` (way/relay.rs): the answer to the client with bounded memory, teed into a capture.
//! 6. `learn` (after/learn.rs): what the statement did to the session; the connection is kept or put back.
//!
//! A session is made of [parts](parts); what is found out of a statement by its text alone is in `statement/`; the steps stand in the
//! folders of the life above, `arrive`, `decide`, `prepare` (prepared statements), `ask`, `after`.
//!
//! Everything off the hit path is boxed, so that the task stays small.

mod after;
mod before;
mod decide;
mod fall;
mod lease;
mod life;
mod parts;
mod prepare;
mod statement;
mod way;
mod whole;

pub use decide::explain::Finding;
pub(crate) use decide::explain::explain_for_operator;
pub(crate) use fall::PanicCounter;
pub(crate) use life::arrival::attend::{Attended, attend, fall, may_sit_at};
pub(crate) use life::arrival::login::{log_in, refuse_for_room};
pub(crate) use life::run::{Ran, run};
pub(crate) use statement::Memo;
pub(crate) use whole::Session;
