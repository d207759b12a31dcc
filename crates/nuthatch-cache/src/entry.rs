//! A stored answer: header, key bytes and packets in one allocation.
//!
//! An [`Entry`] is immutable and shared: a clone is one atomic increment, and whoever holds one can go on sending it
//! after the cache has let it go. It knows what is needed to judge it, and does not judge by itself: no clock here.

use std::fmt;
use std::iter::repeat_n;
use std::mem::size_of;

use triomphe::{Arc, ThinArc};

use crate::fill::{Fill, Packets, STATUS_OFFSETS_MAX};
use crate::key::{Key, Protocol};
use crate::refusal::Refusal;
use crate::weight::allocated_bytes;

/// Whether an entry may be served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Judgement {
    /// It may be served as it is.
    Fresh,
    /// Its time is over: remove it.
    Expired,
    /// It was cached under an older configuration: judge it anew by its plan (see [`Entry::renewed`]).
    OlderEpoch,
}

/// A stored answer.
pub struct Entry<T>(ThinArc<Header<T>, u8>);

/// Everything of an entry but its bytes. The bytes are user, schema, statement, packets, without separators.
///
/// Invariant: `user_bytes + schema_bytes + statement_bytes` is at most the slice's length, and each status offset leaves
/// room for two bytes in the packets.
struct Header<T> {
    expires_ms: u64,
    epoch: u64,
    plan: T,
    environment: u32,
    statement_bytes: u32,
    user_bytes: u16,
    schema_bytes: u16,
    protocol: Protocol,
    status_offsets_len: u8,
    hostgroup: u32,
    status_offsets: [u32; STATUS_OFFSETS_MAX],
    rows: u32,
    created_ms: u64,
}

impl<T> Entry<T> {
    /// The answer, ready to send: sequence ids from 1, status flags as the filling session had them.
    #[inline]
    pub fn packets(&self) -> &[u8] {
        &self.0.slice[self.header().key_bytes()..]
    }

    /// Where in [`Entry::packets`] the two bytes of status flags stand, ascending.
    #[inline]
    pub fn status_offsets(&self) -> &[u32] {
        let header = self.header();
        &header.status_offsets[..usize::from(header.status_offsets_len)]
    }

    /// The status flags that stand at the last of those places; 0 if there is none.
    #[inline]
    pub fn status(&self) -> u16 {
        let Some(&offset) = self.status_offsets().last() else { return 0 };
        let at = self.header().key_bytes() + offset as usize;
        u16::from_le_bytes([self.0.slice[at], self.0.slice[at + 1]])
    }

    /// What the filling caller left for those who hit.
    #[inline]
    pub fn plan(&self) -> &T {
        &self.header().plan
    }

    /// How many rows the answer has.
    #[inline]
    pub fn rows(&self) -> u64 {
        u64::from(self.header().rows)
    }

    /// When the answer was complete, in milliseconds of the caller's clock.
    #[inline]
    pub fn created_ms(&self) -> u64 {
        self.header().created_ms
    }

    /// From when on it is not served, in milliseconds of the caller's clock.
    #[inline]
    pub fn expires_ms(&self) -> u64 {
        self.header().expires_ms
    }

    /// The configuration under which it was cached.
    #[inline]
    pub fn epoch(&self) -> u64 {
        self.header().epoch
    }

    /// The hostgroup that answered.
    #[inline]
    pub fn hostgroup(&self) -> u32 {
        self.header().hostgroup
    }

    /// What it was filled for, hashed anew (so a hash of the caller's own is not kept).
    pub fn key(&self) -> Key<'_> {
        let header = self.header();
        let (user, schema, statement) = self.key_parts();
        Key::new(user, schema, header.environment, header.protocol, statement)
    }

    /// Whether it may be served at `now_ms` to a session whose configuration is `epoch`. An expired entry of an older
    /// epoch is expired. An entry of a *newer* epoch than the session's is fresh: the newer rules allowed it.
    ///
    /// Cost: two comparisons.
    #[inline]
    pub fn judge(&self, now_ms: u64, epoch: u64) -> Judgement {
        let header = self.header();
        if now_ms >= header.expires_ms {
            Judgement::Expired
        } else if header.epoch < epoch {
            Judgement::OlderEpoch
        } else {
            Judgement::Fresh
        }
    }

    /// The same answer under a new plan, to be inserted in this entry's place once a newer configuration has been asked.
    pub fn renewed(&self, epoch: u64, expires_ms: u64, plan: T) -> Fill<'_, T> {
        let header = self.header();
        Fill {
            key: self.key(),
            packets: Packets::Whole(self.packets()),
            status_offsets: self.status_offsets(),
            rows: u64::from(header.rows),
            hostgroup: header.hostgroup,
            created_ms: header.created_ms,
            expires_ms,
            epoch,
            plan,
        }
    }

    /// What the entry takes from the allocator, in bytes; the index comes on top of it.
    #[inline]
    pub fn weight_bytes(&self) -> u64 {
        weight_of::<T>(self.0.slice.len())
    }

    /// Makes the entry of `fill`, or refuses one that weighs more than `bytes_max`. Cost: one allocation, one copy.
    pub(crate) fn new(fill: Fill<'_, T>, bytes_max: u64) -> Result<Self, Refusal> {
        let Fill { key, packets, .. } = fill;
        let bytes = weight_of::<T>(key.bytes().saturating_add(packets.bytes()));
        if bytes > bytes_max {
            return Err(Refusal::TooLarge { bytes, bytes_max });
        }
        let header = Header::new(fill).ok_or(Refusal::Malformed)?;
        let zeros = repeat_n(0u8, key.bytes() + packets.bytes());
        let mut thin = ThinArc::from_header_and_iter(header, zeros);
        thin.with_arc_mut(|arc| {
            let inner = Arc::get_mut(arc).expect("an allocation just made has one owner");
            write_bytes(inner.slice_mut(), &key, &packets);
        });
        Ok(Self(thin))
    }

    /// Whether this is the answer to exactly that question.
    #[inline]
    pub(crate) fn answers(&self, key: &Key<'_>) -> bool {
        let header = self.header();
        if header.environment != key.environment || header.protocol != key.protocol {
            return false;
        }
        self.key_parts() == (key.user, key.schema, key.statement)
    }

    /// Whether both are one allocation.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.0.as_ptr() == other.0.as_ptr()
    }

    #[inline]
    fn header(&self) -> &Header<T> {
        &self.0.header.header
    }

    #[inline]
    fn key_parts(&self) -> (&[u8], &[u8], &[u8]) {
        let header = self.header();
        let (user, rest) = self.0.slice.split_at(usize::from(header.user_bytes));
        let (schema, rest) = rest.split_at(usize::from(header.schema_bytes));
        (user, schema, &rest[..header.statement_bytes as usize])
    }
}

impl<T> Clone for Entry<T> {
    #[inline]
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// Says how much is stored, not what.
impl<T> fmt::Debug for Entry<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("packet_bytes", &self.packets().len())
            .field("rows", &self.rows())
            .field("expires_ms", &self.expires_ms())
            .field("epoch", &self.epoch())
            .finish_non_exhaustive()
    }
}

impl<T> Header<T> {
    /// Nothing where the fill contradicts itself or a key part is longer than any server's.
    fn new(fill: Fill<'_, T>) -> Option<Self> {
        let key = fill.key;
        let mut status_offsets = [0; STATUS_OFFSETS_MAX];
        status_offsets.get_mut(..fill.status_offsets.len())?.copy_from_slice(fill.status_offsets);
        let packet_bytes = fill.packets.bytes();
        if fill.status_offsets.iter().any(|offset| *offset as usize + 2 > packet_bytes) {
            return None;
        }
        Some(Self {
            expires_ms: fill.expires_ms,
            epoch: fill.epoch,
            plan: fill.plan,
            environment: key.environment,
            statement_bytes: u32::try_from(key.statement.len()).ok()?,
            user_bytes: u16::try_from(key.user.len()).ok()?,
            schema_bytes: u16::try_from(key.schema.len()).ok()?,
            protocol: key.protocol,
            status_offsets_len: u8::try_from(fill.status_offsets.len()).ok()?,
            hostgroup: fill.hostgroup,
            status_offsets,
            rows: u32::try_from(fill.rows).ok()?,
            created_ms: fill.created_ms,
        })
    }

    #[inline]
    fn key_bytes(&self) -> usize {
        usize::from(self.user_bytes) + usize::from(self.schema_bytes) + self.statement_bytes as usize
    }
}

/// What an entry with that many bytes of key and packets takes from the allocator.
#[inline]
const fn weight_of<T>(bytes: usize) -> u64 {
    /// The count of owners and the length of the slice.
    const SHARED_BYTES: usize = 2 * size_of::<usize>();
    let fixed = (SHARED_BYTES + size_of::<Header<T>>()) as u64;
    allocated_bytes((bytes as u64).saturating_add(fixed).next_multiple_of(8))
}

fn write_bytes(to: &mut [u8], key: &Key<'_>, packets: &Packets<'_>) {
    let (user, rest) = to.split_at_mut(key.user.len());
    user.copy_from_slice(key.user);
    let (schema, rest) = rest.split_at_mut(key.schema.len());
    schema.copy_from_slice(key.schema);
    let (statement, rest) = rest.split_at_mut(key.statement.len());
    statement.copy_from_slice(key.statement);
    packets.copy_to(rest);
}

#[cfg(test)]
mod tests;
