//! A command of which not everything is done, as far as it has come: what a session keeps of it while it waits.
//!
//! A session that waits for a server mostly does so on its seat, like one that waits for its client. When anything comes that takes
//! more than the one step that is expected, it rises, and its task goes on from here.

use std::time::Duration;

use nuthatch_cache::Entry;
use nuthatch_wire::AnswerEnd;

use crate::backend::InLine;
use crate::session::lease::check_out::Leased;
use crate::session::parts::Held;
use crate::session::statement::{Asked, Plan};
use crate::session::way::{Capture, Departure, Trouble};
use crate::shared::answers::{HitPlan, Lead, Waiting};
use crate::stats::Comer;
use crate::stats::not_cached::NotCached;

/// See the module's doc.
#[derive(Debug)]
pub(crate) enum Unfinished {
    /// It was taken from what the client has sent, and counted; it is no hit.
    Taken,
    /// So it was, with attributes that no client sends.
    Malformed,
    /// So it was, and it is a statement that was planned: more than to ask a server is to be done for it.
    Planned(Box<Plan>),
    /// So it was, and the cache answers it after all.
    Found(Entry<HitPlan>),
    /// A server is to answer it.
    Asked(Box<Inquiry>),
}

/// A statement that a server is to answer.
#[derive(Debug)]
pub(crate) struct Inquiry {
    pub(crate) asked: Asked,
    /// What is kept of the answer for the cache, or why nothing is.
    pub(crate) filling: Result<Box<Filling>, NotCached>,
    /// What is past its time may be given in the place of an answer.
    pub(crate) may_be_stale: bool,
    /// The client has its answer already.
    pub(crate) is_told: bool,
    pub(crate) stage: Stage,
}

/// An answer that is copied as it passes.
#[derive(Debug)]
pub(crate) struct Filling {
    pub(crate) capture: Capture,
    /// As whom it comes to the cache.
    pub(crate) comer: Comer,
    /// Others wait for it, or may.
    pub(crate) leading: Option<Leading>,
}

/// Its session asks for others too.
#[derive(Debug)]
pub(crate) struct Leading {
    pub(crate) lead: Lead,
    pub(crate) since_us: u64,
}

/// A wait for the answer of another.
#[derive(Debug)]
pub(crate) struct Wait {
    pub(crate) waiting: Waiting,
    pub(crate) at_most: Duration,
}

impl Filling {
    /// Nothing is stored, for that reason.
    pub(crate) fn of_nothing(why: NotCached) -> Self {
        Self { capture: Capture::of_nothing(why), comer: Comer::Known, leading: None }
    }
}

impl Inquiry {
    /// Who is to be told of its answer by the caller from now on.
    pub(crate) fn take_leading(&mut self) -> Option<Leading> {
        self.filling.as_mut().ok()?.leading.take()
    }
}

/// What is kept of an answer.
pub(crate) fn capture_of(filling: &mut Result<Box<Filling>, NotCached>) -> Option<&mut Capture> {
    filling.as_mut().ok().map(|filling| &mut filling.capture)
}

/// How far it has come. It is moved for every statement: what few have stands in boxes.
#[derive(Debug, Default)]
pub(crate) enum Stage {
    /// Nothing was done for it yet.
    #[default]
    New,
    /// The cache has its answer, which is given when the transaction's snapshot is open.
    Opens,
    /// Somebody else asks for the same, and its session waits for that.
    Waits(Box<Wait>),
    /// Its session stands in line for a connection.
    InLine(InLine),
    /// A connection has been had so far, and it takes waiting to go on.
    Leased(Leased),
    /// It has been sent.
    Sent(Held, Departure),
    /// It has been answered; the client has not taken all of it.
    Answered(Box<Answered>),
    /// The connection on which it was sent came to nothing before there was an answer.
    Lost(Held, Trouble),
    /// The client has the answer; the server must be asked for what it did not tell.
    Noted(Held, Box<AnswerEnd>),
    /// All is done.
    Done(AnswerEnd),
    /// No server answers it.
    Failed(Trouble),
}

/// A statement with an answer that the client has not taken in full.
#[derive(Debug)]
pub(crate) struct Answered {
    /// Over which it was sent.
    pub(crate) held: Held,
    pub(crate) departure: Departure,
    pub(crate) end: AnswerEnd,
    /// What the client has not taken.
    pub(crate) rest: Box<[u8]>,
}
