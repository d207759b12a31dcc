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
    /// What the socket has not taken at once, or why it took nothing. Most it takes.
    pub(crate) rest: Option<Box<Result<Box<[u8]>, Trouble>>>,
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
            written => {
                Some(Box::new(written.map(|written| packet.get(written..).unwrap_or_default().into())))
            }
        };
        Self { flight, kind, number, rest }
    }
}
