//! An answer on its way into the cache.
//!
//! A [`Fill`] borrows the key and the packets; `Cache::insert` copies what is the answer's own into the entry's one allocation, and finds the rest
//! where other answers keep it.

use crate::{Clock, Key, Sequence};

/// The most places at which a stored answer holds status flags: the EOF after the columns and the last packet.
pub const STATUS_OFFSETS_MAX: usize = 2;

/// A question with its answer and all that a later reader needs to judge it.
#[derive(Debug, Clone, Copy)]
pub struct Fill<'a, T> {
    /// What was asked.
    pub key: Key<'a>,
    /// What the answer begins with as other answers may: its packets before the first row, as they are sent to a client, sequence ids from 1. May
    /// be empty.
    pub head: &'a [u8],
    /// All that follows.
    pub rest: &'a [u8],
    /// Where in head and rest together the two bytes of status flags stand, ascending; the last of them at most 65,535 bytes before the end.
    pub status_offsets: [Option<u32>; STATUS_OFFSETS_MAX],
    /// How many rows the answer has.
    pub rows: u64,
    /// The hostgroup that answered.
    pub hostgroup: u32,
    /// When the answer was complete, in milliseconds of the caller's clock.
    pub created_ms: u64,
    /// From when on it is not served any more, in milliseconds of the same clock; `u64::MAX` for never.
    pub expires_ms: u64,
    /// The configuration under which it was cached.
    pub epoch: u64,
    /// How long the server took for it, in microseconds, if that is known: of two that are used alike the one stays that took longer.
    pub cost_us: Option<u32>,
    /// The clocks that the answer depends on, in any order; none for an entry of mode ttl, which writes do not concern.
    pub clocks: &'a [Clock],
    /// The moment noted before the answer was asked for; kept with clocks only.
    pub since: Sequence,
    /// What a hit needs of the caller's own, such as counters to bump; of what is behind it is weighed what it says.
    pub plan: T,
}

impl<'a, T> Fill<'a, T> {
    /// An answer of one row without clocks and status flags, that is served for ever. All else is told by who fills.
    pub fn new(key: Key<'a>, head: &'a [u8], rest: &'a [u8], plan: T) -> Self {
        Self {
            key,
            head,
            rest,
            status_offsets: [None; STATUS_OFFSETS_MAX],
            rows: 1,
            hostgroup: 0,
            created_ms: 0,
            expires_ms: u64::MAX,
            epoch: 0,
            cost_us: None,
            clocks: &[],
            since: Sequence::default(),
            plan,
        }
    }

    /// How many bytes the answer has.
    pub(crate) fn packet_bytes(&self) -> usize {
        self.head.len() + self.rest.len()
    }
}
