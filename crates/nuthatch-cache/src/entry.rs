//! A stored answer: header, dependencies, key bytes and packets in one allocation.
//!
//! An [`Entry`] is immutable, but for counts of its use, and shared: a clone is one atomic increment, and whoever holds one can go on sending it
//! after the cache has let it go. It knows what is needed to judge it, and does not judge by itself: no clock here.

mod dependencies;

use std::fmt;
use std::iter::repeat_n;
use std::mem::size_of;
use std::sync::atomic::{AtomicU32, Ordering};

use triomphe::{Arc, ThinArc};

use crate::clocks::{Clock, Sequence};
use crate::fill::{Fill, Packets, STATUS_OFFSETS_MAX};
use crate::key::{Key, Protocol, hash_of};
use crate::mix::mix;
use crate::plan::Plan;
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

/// Any odd number with about as many ones as zeros.
const MIX_ANSWER: u64 = 0xA24B_AED4_963E_E407;

/// See [`Header::served_ms`].
const FOR_EVER: u32 = u32::MAX;

/// A stored answer.
pub struct Entry<T>(ThinArc<Header<T>, u8>);

/// Everything of an entry but its bytes. The bytes are dependencies, user, schema, statement, packets, without separators.
///
/// Invariant: dependencies, user, schema and statement together are at most the slice's length, and each status offset leaves
/// room for two bytes in the packets.
struct Header<T> {
    plan: T,
    environment: u32,
    statement_bytes: u32,
    user_bytes: u16,
    schema_bytes: u16,
    protocol: Protocol,
    status_offsets_len: u8,
    clocks_len: u16,
    hostgroup: u32,
    status_offsets: [u32; STATUS_OFFSETS_MAX],
    rows: u32,
    /// From `2^32` on it is always older than the configuration in force, and judged anew.
    epoch: u32,
    created_ms: u64,
    /// Milliseconds from `created_ms` on for which it is served; [`FOR_EVER`] for no end. At most 49 days.
    served_ms: u32,
    hits: AtomicU32,
    /// Milliseconds from `created_ms` to the last hit.
    hit_after_ms: AtomicU32,
}

impl<T> Entry<T> {
    /// The answer, ready to send: sequence ids from 1, status flags as the filling session had them.
    #[inline]
    pub fn packets(&self) -> &[u8] {
        &self.0.slice[self.header().packets_from()..]
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
        let at = self.header().packets_from() + offset as usize;
        u16::from_le_bytes([self.0.slice[at], self.0.slice[at + 1]])
    }

    /// A hash of the answer but for its status flags. Cost: that of hashing all of it.
    pub(crate) fn answer_hash(&self) -> u64 {
        let (mut rest, mut at, mut hash) = (self.packets(), 0, 0);
        for offset in self.status_offsets().iter().map(|offset| *offset as usize) {
            let (before, behind) = rest.split_at(offset - at);
            hash = mix(hash ^ hash_of(before), MIX_ANSWER);
            (rest, at) = (&behind[2..], offset + 2);
        }
        mix(hash ^ hash_of(rest), MIX_ANSWER)
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

    /// Notes that it was served. Cost: one addition and at most one store, in the line that its owners are counted in.
    #[inline]
    pub fn note_hit(&self, now_ms: u64) {
        let header = self.header();
        let after_ms = u32::try_from(now_ms.saturating_sub(header.created_ms)).unwrap_or(u32::MAX);
        header.hits.fetch_add(1, Ordering::Relaxed);
        if header.hit_after_ms.load(Ordering::Relaxed) != after_ms {
            header.hit_after_ms.store(after_ms, Ordering::Relaxed);
        }
    }

    /// How often it was served; from 2^32 on it begins anew.
    pub fn hits(&self) -> u32 {
        self.header().hits.load(Ordering::Relaxed)
    }

    /// When it was stored or served last, in milliseconds of the caller's clock. It stands still 49 days after it was stored.
    pub fn accessed_ms(&self) -> u64 {
        let header = self.header();
        header.created_ms + u64::from(header.hit_after_ms.load(Ordering::Relaxed))
    }

    /// How many have it in their hands: the cache, the caller, and those who are sending it.
    pub fn owners(&self) -> usize {
        ThinArc::strong_count(&self.0)
    }

    /// From when on it is not served, in milliseconds of the caller's clock; `u64::MAX` for never.
    #[inline]
    pub fn expires_ms(&self) -> u64 {
        let header = self.header();
        match header.served_ms {
            FOR_EVER => u64::MAX,
            served_ms => header.created_ms + u64::from(served_ms),
        }
    }

    /// The configuration under which it was cached.
    #[inline]
    pub fn epoch(&self) -> u64 {
        u64::from(self.header().epoch)
    }

    /// The hostgroup that answered.
    #[inline]
    pub fn hostgroup(&self) -> u32 {
        self.header().hostgroup
    }

    /// Whether it depends on clocks, so that it may be served only if they hold.
    #[inline]
    pub fn is_exact(&self) -> bool {
        self.header().clocks_len > 0
    }

    /// The clocks that the answer depends on, wide before narrow; none in an entry of mode ttl.
    #[inline]
    pub fn clocks(&self) -> impl Iterator<Item = Clock> {
        dependencies::clocks(self.dependencies()).iter().copied()
    }

    /// The moment noted before the answer was asked for; the first one in an entry of mode ttl.
    #[inline]
    pub fn since(&self) -> Sequence {
        dependencies::since(self.dependencies())
    }

    /// Whose question it answers.
    pub fn user(&self) -> &[u8] {
        self.key_parts().0
    }

    /// In which default schema it was asked.
    pub fn schema(&self) -> &[u8] {
        self.key_parts().1
    }

    /// The statement, or what stands for an execution.
    pub fn statement(&self) -> &[u8] {
        self.key_parts().2
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
        if now_ms >= self.expires_ms() {
            Judgement::Expired
        } else if self.epoch() < epoch {
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
            clocks: dependencies::clocks(self.dependencies()),
            since: self.since(),
            plan,
        }
    }

    /// What the entry takes from the allocator, in bytes, with what of its plan is its own; the index comes on top of it.
    #[inline]
    pub fn weight_bytes(&self) -> u64
    where
        T: Plan,
    {
        weight_of::<T>(self.0.slice.len()) + self.plan().weight_bytes()
    }

    /// Makes the entry of `fill`, or refuses one that weighs more than `bytes_max`. Cost: one allocation, one copy.
    pub(crate) fn new(fill: Fill<'_, T>, bytes_max: u64) -> Result<Self, Refusal>
    where
        T: Plan,
    {
        let Fill { key, packets, clocks, since, .. } = fill;
        let slice_bytes =
            (dependencies::bytes_of(clocks.len()) + key.bytes()).saturating_add(packets.bytes());
        let bytes = weight_of::<T>(slice_bytes).saturating_add(fill.plan.weight_bytes());
        if bytes > bytes_max {
            return Err(Refusal::TooLarge { bytes, bytes_max });
        }
        let header = Header::new(fill).ok_or(Refusal::Malformed)?;
        let zeros = repeat_n(0u8, slice_bytes);
        let mut thin = ThinArc::from_header_and_iter(header, zeros);
        thin.with_arc_mut(|arc| {
            let inner = Arc::get_mut(arc).expect("an allocation just made has one owner");
            let (front, rest) = inner.slice_mut().split_at_mut(dependencies::bytes_of(clocks.len()));
            dependencies::write(front, since, clocks);
            write_bytes(rest, &key, &packets);
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
    fn dependencies(&self) -> &[u8] {
        &self.0.slice[..self.header().dependency_bytes()]
    }

    #[inline]
    fn key_parts(&self) -> (&[u8], &[u8], &[u8]) {
        let header = self.header();
        let (_, rest) = self.0.slice.split_at(header.dependency_bytes());
        let (user, rest) = rest.split_at(usize::from(header.user_bytes));
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
            plan: fill.plan,
            environment: key.environment,
            statement_bytes: u32::try_from(key.statement.len()).ok()?,
            user_bytes: u16::try_from(key.user.len()).ok()?,
            schema_bytes: u16::try_from(key.schema.len()).ok()?,
            protocol: key.protocol,
            status_offsets_len: u8::try_from(fill.status_offsets.len()).ok()?,
            clocks_len: u16::try_from(fill.clocks.len()).ok()?,
            hostgroup: fill.hostgroup,
            status_offsets,
            rows: u32::try_from(fill.rows).ok()?,
            epoch: u32::try_from(fill.epoch).unwrap_or(u32::MAX),
            created_ms: fill.created_ms,
            served_ms: match fill.expires_ms {
                u64::MAX => FOR_EVER,
                expires_ms => {
                    let served_ms = expires_ms.saturating_sub(fill.created_ms);
                    u32::try_from(served_ms).unwrap_or(FOR_EVER).min(FOR_EVER - 1)
                }
            },
            hits: AtomicU32::new(0),
            hit_after_ms: AtomicU32::new(0),
        })
    }

    #[inline]
    fn dependency_bytes(&self) -> usize {
        dependencies::bytes_of(usize::from(self.clocks_len))
    }

    #[inline]
    fn packets_from(&self) -> usize {
        let key_bytes =
            usize::from(self.user_bytes) + usize::from(self.schema_bytes) + self.statement_bytes as usize;
        self.dependency_bytes() + key_bytes
    }
}

/// What an entry with that many bytes behind its header takes from the allocator.
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
