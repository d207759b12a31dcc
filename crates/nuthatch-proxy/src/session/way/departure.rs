//! A statement that has been sent without waiting.

use nuthatch_wire::AnswerKind;

use crate::exact::Flight;
use crate::session::way::Trouble;

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct Departure {
    pub(crate) flight: Flight,
    /// What its answer will look like.
    pub(crate) kind: AnswerKind,
    /// Of an execution, the statement's number on the connection.
    pub(crate) number: u32,
    /// What the socket has not taken at once. Most it takes.
    pub(crate) rest: Option<Box<Rest>>,
}

/// What a socket has not taken of a packet.
#[derive(Debug)]
pub(crate) enum Rest {
    /// Nothing of it was given to the socket.
    All(Box<[u8]>),
    /// Its beginning was.
    Part(Box<[u8]>),
    /// Nothing was, and the connection is of no use.
    Failed(Trouble),
}

impl Departure {
    /// Of a packet of which so much was `written` at once.
    #[inline]
    pub(crate) fn of(
        flight: Flight,
        (kind, number): (AnswerKind, u32),
        packet: &[u8],
        written: Result<usize, Trouble>,
    ) -> Self {
        let rest = match written {
            Ok(written) if written == packet.len() => None,
            Ok(0) => Some(Box::new(Rest::All(packet.into()))),
            Ok(written) => Some(Box::new(Rest::Part(packet.get(written..).unwrap_or_default().into()))),
            Err(trouble) => Some(Box::new(Rest::Failed(trouble))),
        };
        Self { flight, kind, number, rest }
    }
}
