//! An answer on its way into the cache.
//!
//! A [`Fill`] borrows the key and the packets; `Cache::insert` copies both into the entry's one allocation. So the
//! caller may keep the captured pieces as they came and reuse their buffers.

use crate::{Clock, Key, Sequence};

/// The most places at which a stored answer holds status flags: the EOF after the columns and the last packet.
pub const STATUS_OFFSETS_MAX: usize = 2;

/// The bytes of an answer, whole or as they were captured.
#[derive(Debug, Clone, Copy)]
pub enum Packets<'a> {
    /// All bytes in one slice.
    Whole(&'a [u8]),
    /// Slices that follow one another; a packet may span them.
    Pieces(&'a [&'a [u8]]),
}

impl Packets<'_> {
    /// How many bytes there are in all.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Whole(whole) => whole.len(),
            Self::Pieces(pieces) => pieces.iter().map(|piece| piece.len()).sum(),
        }
    }

    /// Copies all bytes to `to`, which is exactly as long.
    pub(crate) fn copy_to(&self, to: &mut [u8]) {
        match self {
            Self::Whole(whole) => to.copy_from_slice(whole),
            Self::Pieces(pieces) => {
                let mut rest = to;
                for piece in *pieces {
                    let (here, after) = rest.split_at_mut(piece.len());
                    here.copy_from_slice(piece);
                    rest = after;
                }
            }
        }
    }
}

impl<'a> From<&'a [u8]> for Packets<'a> {
    fn from(whole: &'a [u8]) -> Self {
        Self::Whole(whole)
    }
}

impl<'a> From<&'a [&'a [u8]]> for Packets<'a> {
    fn from(pieces: &'a [&'a [u8]]) -> Self {
        Self::Pieces(pieces)
    }
}

/// A question with its answer and all that a later reader needs to judge it.
#[derive(Debug, Clone, Copy)]
pub struct Fill<'a, T> {
    /// What was asked.
    pub key: Key<'a>,
    /// The answer as it is sent to a client, sequence ids from 1.
    pub packets: Packets<'a>,
    /// Where in the packets the two bytes of status flags stand, ascending, at most [`STATUS_OFFSETS_MAX`] places.
    pub status_offsets: &'a [u32],
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
    /// The clocks that the answer depends on, in any order; none for an entry of mode ttl, which writes do not concern.
    pub clocks: &'a [Clock],
    /// The moment noted before the answer was asked for; kept with clocks only.
    pub since: Sequence,
    /// What a hit needs of the caller's own, such as counters to bump; of what is behind it is weighed what it says.
    pub plan: T,
}
