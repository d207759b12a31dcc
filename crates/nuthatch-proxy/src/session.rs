//! One client's session: from its login to its last command.
//!
//! A session waits in its worker's lobby and is attended to there; what is not a hit makes it a task, which
//! reads a command, answers it, reads the next, and sits down again when its client has nothing more for it. Its state is a value
//! ([`SessionState`](crate::state::SessionState)); a backend connection is lent to it for one statement and brought into that state first,
//! unless the session *holds* connections ([`Held`](parts::Held)) for a named reason ([`Pins`](crate::stats::pins::Pins)).
//!
//! A session is made of [parts](parts). Its life is conducted by `life/`, which alone is handed the whole; the steps of a statement are
//! functions over the parts that they need, in folders that stand in the order of the steps:
//! 1. `life/arrival/hit.rs`: key, cache, judgement; on a hit the stored packets go out and that is all.
//! 2. `decide/`: digest, class, rules, hostgroup; what needs no server is answered.
//! 3. `lease/`: a held connection or one from the pool, brought into the session's state; and how it is let go of.
//! 4. `prepare/`, `before/`: what the statement needs of it besides; what it may write is pending, what its answer rests on is noted.
//! 5. `way/`: the statement to the server, the answer to the client with bounded memory, teed into a capture.
//! 6. `after/`: what the statement did to the session; the connection is kept or put back.
//!
//! What is found out of a statement by its text alone is in `statement/`. Steps that mostly do nothing are asked first whether they
//! have anything to do, and their futures, which are large, made in boxes only then: so the task stays small.

mod after;
mod before;
mod decide;
mod fall;
mod inquiry;
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
pub(crate) use life::arrival::login::{log_in, refuse_for_room};
pub(crate) use life::attend::inquire::{hear, take_turn_at};
pub(crate) use life::attend::{Attended, attend, fall};
pub(crate) use life::run::{Ran, run};
pub(crate) use life::seat::may_sit_at;
pub(crate) use statement::Memo;
pub(crate) use whole::Session;
