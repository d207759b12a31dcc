//! A stored answer: header, dependencies, statement and packets in one allocation, and its kind, which others may be of.
//!
//! An [`Entry`] is immutable, but for counts of its use, and shared: a clone is one atomic increment, and whoever holds one can go on sending it
//! after the cache has let it go. It knows what is needed to judge it, and does not judge by itself: no clock here.

mod compressed;
mod dependencies;

use std::fmt;
use std::iter::repeat_n;
use std::mem::size_of;
use std::sync::atomic::{AtomicU32, Ordering};

use triomphe::{Arc, ThinArc};

use crate::clocks::{Clock, Sequence};
use crate::fill::{Fill, STATUS_OFFSETS_MAX};
use crate::key::{Key, hash_of};
use crate::kind::{Kind, Membership};
use crate::mix::mix;
use crate::plan::Plan;
use crate::refusal::Refusal;
use crate::weight::thin_bytes;

pub use compressed::PIECE_BYTES_MAX;

use compressed::Compressed;

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
/// See [`Header::status_offset`].
const NOWHERE: u32 = u32::MAX;
/// See [`Header::head_bytes`].
const COMPRESSED: u32 = 1 << 31;

/// A stored answer.
pub struct Entry<T>(ThinArc<Header<T>, u8>);

/// Everything of an entry that is its own but its bytes, which are dependencies, statement, packets, without separators. Of the packets what its
/// kind has is not among them. They may be compressed: see `compressed`.
///
/// Invariant: the dependencies end before the packets begin, these at most where the slice ends, and each place of status flags leaves room for two bytes in the
/// packets, on one side of the head's end.
struct Header<T> {
    kind: Kind<T>,
    created_ms: u64,
    /// Milliseconds from `created_ms` on for which it is served; [`FOR_EVER`] for no end. At most 49 days.
    served_ms: u32,
    /// Where dependencies and statement end.
    packets_from: u32,
    rows: u32,
    hits: AtomicU32,
    /// Milliseconds from `created_ms` to the last hit.
    hit_after_ms: AtomicU32,
    /// The packets before the first row; the kind has all of them or none. With [`COMPRESSED`] the entry's own packets are.
    head_bytes: u32,
    /// Where status flags stand besides those in the end; [`NOWHERE`] for no such place.
    status_offset: u32,
    /// How many bytes before the end of the packets the last status flags stand; 0 if there are none.
    status_from_end: u16,
    clocks_len: u16,
}

impl<T> Entry<T> {
    /// The answer, ready to send, as two slices that follow one another: sequence ids from 1, status flags as the filling session had them. The
    /// first is empty unless other answers begin with it as well. Nothing of an entry that is compressed: see [`Self::piece`].
    #[inline]
    pub fn packets(&self) -> Option<[&[u8]; 2]> {
        (!self.is_compressed()).then(|| [self.header().kind.head(), self.own_bytes_stored()])
    }

    /// Whether its packets are held compressed.
    #[inline]
    pub fn is_compressed(&self) -> bool {
        self.header().head_bytes & COMPRESSED != 0
    }

    /// What the packets are from the byte `from` of the answer on, as far as one block of a compressed entry goes; at most
    /// [`PIECE_BYTES_MAX`] bytes, laid down in `scratch`. Nothing behind the end, and nothing of an entry that is not compressed.
    ///
    /// Cost: that of decompressing a block; no allocation.
    pub fn piece<'s>(&self, from: usize, scratch: &'s mut [u8; PIECE_BYTES_MAX]) -> &'s mut [u8] {
        let head = self.header().kind.head();
        match self.stored_compressed() {
            Some(compressed) => compressed.piece(head, from, scratch),
            None => &mut [],
        }
    }

    /// All packets, in memory of their own.
    pub fn all_packets(&self) -> Vec<u8> {
        match self.plain().packets() {
            Some(packets) => packets.concat(),
            None => Vec::new(),
        }
    }

    /// How many bytes the answer has.
    #[inline]
    pub fn packet_bytes(&self) -> usize {
        let own = match self.stored_compressed() {
            Some(compressed) => compressed.plain_bytes(),
            None => self.own_bytes_stored().len(),
        };
        self.header().kind.head().len() + own
    }

    /// Where in [`Entry::packets`] the two bytes of status flags stand, ascending.
    pub fn status_offsets(&self) -> [Option<u32>; STATUS_OFFSETS_MAX] {
        let header = self.header();
        let first = Some(header.status_offset).filter(|offset| *offset != NOWHERE);
        let last = Some(usize::from(header.status_from_end)).filter(|from_end| *from_end != 0);
        let last = last.and_then(|from_end| u32::try_from(self.packet_bytes() - from_end).ok());
        if first.is_some() { [first, last] } else { [last, None] }
    }

    /// A hash of the answer but for its status flags. Cost: that of hashing all of it, unless it is compressed.
    pub(crate) fn answer_hash(&self) -> u64 {
        let Some((head, rest)) = self.parts() else {
            return self.stored_compressed().map_or(0, |compressed| compressed.answer_hash());
        };
        let offsets = self.status_offsets();
        let mut hash = 0;
        for (slice, from) in [(head, 0), (rest, head.len())] {
            let (mut left, mut at) = (slice, from);
            for offset in offsets.iter().flatten().map(|offset| *offset as usize) {
                if (at..from + slice.len()).contains(&offset) {
                    let (before, behind) = left.split_at(offset - at);
                    hash = mix(hash ^ hash_of(before), MIX_ANSWER);
                    (left, at) = (&behind[2..], offset + 2);
                }
            }
            hash = mix(hash ^ hash_of(left), MIX_ANSWER);
        }
        hash
    }

    /// What the filling caller left for those who hit.
    #[inline]
    pub fn plan(&self) -> &T {
        self.header().kind.plan()
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
        u64::from(self.header().kind.epoch())
    }

    /// The hostgroup that answered.
    #[inline]
    pub fn hostgroup(&self) -> u32 {
        self.header().kind.hostgroup()
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
        self.header().kind.names().0
    }

    /// In which default schema it was asked.
    pub fn schema(&self) -> &[u8] {
        self.header().kind.names().1
    }

    /// The statement, or what stands for an execution.
    #[inline]
    pub fn statement(&self) -> &[u8] {
        let header = self.header();
        &self.0.slice[header.dependency_bytes()..header.packets_from as usize]
    }

    /// What it was filled for, hashed anew (so a hash of the caller's own is not kept).
    pub fn key(&self) -> Key<'_> {
        let kind = &self.header().kind;
        let (user, schema) = kind.names();
        Key::new(user, schema, kind.environment(), kind.protocol(), self.statement())
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

    /// The same answer under a new plan, to be inserted in this entry's place once a newer configuration has been asked. Of one that is
    /// compressed nothing: ask [its like](Self::plain).
    pub fn renewed(&self, epoch: u64, expires_ms: u64, plan: T) -> Option<Fill<'_, T>> {
        let header = self.header();
        let (head, rest) = self.parts()?;
        Some(Fill {
            key: self.key(),
            head,
            rest,
            status_offsets: self.status_offsets(),
            rows: u64::from(header.rows),
            hostgroup: header.kind.hostgroup(),
            created_ms: header.created_ms,
            expires_ms,
            epoch,
            cost_us: None,
            clocks: dependencies::clocks(self.dependencies()),
            since: self.since(),
            plan,
        })
    }

    /// What the entry takes from the allocator, in bytes, with its kind where no others are of it; the index comes on top of it.
    #[inline]
    pub fn weight_bytes(&self) -> u64
    where
        T: Plan,
    {
        self.own_bytes() + charge_for(&self.header().kind)
    }

    /// The same without its kind.
    #[inline]
    pub(crate) fn own_bytes(&self) -> u64 {
        weight_of::<T>(self.0.slice.len())
    }

    /// The same entry in another allocation, with counts of its own.
    pub(crate) fn copied(&self) -> Self {
        self.with_slice(self.header().head_bytes, &self.0.slice)
    }

    /// The same, with its packets compressed, if it is not and that spares a quarter of what it takes at least.
    ///
    /// Cost: of what does not shrink, that of compressing a few KiB of it.
    pub(crate) fn compressed(&self) -> Option<Self> {
        let own = self.parts().map(|_| self.own_bytes_stored())?;
        let front = &self.0.slice[..self.header().packets_from as usize];
        let slice = compressed::compress(front, own, || self.answer_hash())?;
        let pays = weight_of::<T>(slice.len()) <= self.own_bytes() / 4 * 3;
        pays.then(|| self.with_slice(self.header().head_bytes | COMPRESSED, &slice))
    }

    /// The same, with its packets as they are sent: itself, if they are so.
    pub fn plain(&self) -> Self {
        let Some(compressed) = self.stored_compressed() else { return self.clone() };
        let front = &self.0.slice[..self.header().packets_from as usize];
        self.with_slice(self.header().head_bytes & !COMPRESSED, &compressed.decompress_behind(front))
    }

    /// By how much it weighs less than its like that is not compressed.
    pub fn spared_bytes(&self) -> u64 {
        let front = self.header().packets_from as usize;
        let spared = |compressed: Compressed<'_>| {
            weight_of::<T>(front + compressed.plain_bytes()).saturating_sub(self.own_bytes())
        };
        self.stored_compressed().map_or(0, spared)
    }

    /// Its like with other bytes, in another allocation, with counts of its own.
    fn with_slice(&self, head_bytes: u32, slice: &[u8]) -> Self {
        let header = self.header();
        let of = |count: &AtomicU32| AtomicU32::new(count.load(Ordering::Relaxed));
        let header = Header {
            kind: header.kind.clone(),
            hits: of(&header.hits),
            hit_after_ms: of(&header.hit_after_ms),
            head_bytes,
            ..*header
        };
        Self(ThinArc::from_header_and_slice(header, slice))
    }

    /// Makes the entry of `fill`, which is of that kind, or refuses one that weighs more than `bytes_max`. Cost: one allocation, one copy.
    pub(crate) fn new(fill: &Fill<'_, T>, kind: Kind<T>, bytes_max: u64) -> Result<Self, Refusal>
    where
        T: Plan,
    {
        let Fill { key, head, rest, clocks, since, .. } = fill;
        let own_head: &[u8] = if kind.head().is_empty() { head } else { b"" };
        let slice_bytes = (front_bytes_of(fill) + own_head.len()).saturating_add(rest.len());
        let bytes = weight_of::<T>(slice_bytes).saturating_add(charge_for(&kind));
        if bytes > bytes_max {
            return Err(Refusal::TooLarge { bytes, bytes_max });
        }
        let header = Header::new(fill, kind).ok_or(Refusal::Malformed)?;
        let mut thin = ThinArc::from_header_and_iter(header, repeat_n(0u8, slice_bytes));
        thin.with_arc_mut(|arc| {
            let inner = Arc::get_mut(arc).expect("an allocation just made has one owner");
            let (front, mut left) = inner.slice_mut().split_at_mut(dependencies::bytes_of(clocks.len()));
            dependencies::write(front, *since, clocks);
            for bytes in [key.statement, own_head, rest] {
                let (here, behind) = left.split_at_mut(bytes.len());
                here.copy_from_slice(bytes);
                left = behind;
            }
        });
        Ok(Self(thin))
    }

    /// Whether this is the answer to exactly that question.
    #[expect(clippy::inline_always, reason = "each hit asks it in one place: a call costs a fifth of it")]
    #[inline(always)]
    pub(crate) fn answers(&self, key: &Key<'_>) -> bool {
        let kind = &self.header().kind;
        self.statement() == key.statement
            && kind.environment() == key.environment
            && kind.protocol() == key.protocol
            && kind.names() == (key.user, key.schema)
    }

    /// Whether both answer the same question.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let (kind, others) = (&self.header().kind, &other.header().kind);
        self.statement() == other.statement()
            && kind.environment() == others.environment()
            && kind.protocol() == others.protocol()
            && kind.names() == others.names()
    }

    /// Whether both are one allocation.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.address() == other.address()
    }

    /// Where it stands in memory.
    pub(crate) fn address(&self) -> usize {
        self.0.as_ptr().addr()
    }

    /// Where a hit counts: its owners, how often it was served, and when last.
    #[cfg(test)]
    pub(crate) fn counted_at(&self) -> impl Iterator<Item = usize> {
        let header = self.header();
        let counts = [&header.hits, &header.hit_after_ms].map(|count| std::ptr::from_ref(count).addr());
        counts.into_iter().chain([self.address()])
    }

    /// What it has in common with others.
    pub(crate) fn kind(&self) -> &Kind<T> {
        &self.header().kind
    }

    #[inline]
    fn header(&self) -> &Header<T> {
        &self.0.header.header
    }

    #[inline]
    fn dependencies(&self) -> &[u8] {
        &self.0.slice[..self.header().dependency_bytes()]
    }

    /// The packets before the first row, and the others, whoever keeps them; nothing if they are compressed.
    fn parts(&self) -> Option<(&[u8], &[u8])> {
        Some(match self.packets()? {
            [b"", own] => own.split_at(self.header().head_bytes as usize),
            [head, rest] => (head, rest),
        })
    }

    /// What it keeps of the packets itself, as it keeps it.
    #[inline]
    fn own_bytes_stored(&self) -> &[u8] {
        &self.0.slice[self.header().packets_from as usize..]
    }

    fn stored_compressed(&self) -> Option<Compressed<'_>> {
        self.is_compressed().then(|| Compressed::of(self.own_bytes_stored()))
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
            .field("packet_bytes", &self.packet_bytes())
            .field("rows", &self.rows())
            .field("expires_ms", &self.expires_ms())
            .field("epoch", &self.epoch())
            .finish_non_exhaustive()
    }
}

impl<T> Header<T> {
    /// Nothing where the fill contradicts itself or a part is longer than any server's.
    fn new(fill: &Fill<'_, T>, kind: Kind<T>) -> Option<Self> {
        let (head_bytes, packet_bytes) = (fill.head.len(), fill.packet_bytes());
        let mut offsets = fill.status_offsets.iter().flatten().copied();
        let is_whole = |offset: &u32| {
            let end = *offset as usize + 2;
            end <= packet_bytes && (end <= head_bytes || *offset as usize >= head_bytes)
        };
        let (first, second) = (offsets.next(), offsets.next());
        let is_sound = [first, second].iter().flatten().all(is_whole) && (first < second || second.is_none());
        let (status_offset, last) = if second.is_some() { (first, second) } else { (None, first) };
        let is_in_rest = last.is_none_or(|last| last as usize >= head_bytes);
        if !is_sound || !is_in_rest {
            return None;
        }
        Some(Self {
            kind,
            created_ms: fill.created_ms,
            served_ms: match fill.expires_ms {
                u64::MAX => FOR_EVER,
                expires_ms => {
                    let served_ms = expires_ms.saturating_sub(fill.created_ms);
                    u32::try_from(served_ms).unwrap_or(FOR_EVER).min(FOR_EVER - 1)
                }
            },
            packets_from: u32::try_from(front_bytes_of(fill)).ok()?,
            rows: u32::try_from(fill.rows).ok()?,
            hits: AtomicU32::new(0),
            hit_after_ms: AtomicU32::new(0),
            head_bytes: u32::try_from(head_bytes).ok().filter(|bytes| bytes & COMPRESSED == 0)?,
            status_offset: status_offset.unwrap_or(NOWHERE),
            status_from_end: match last {
                Some(last) => u16::try_from(packet_bytes - last as usize).ok()?,
                None => 0,
            },
            clocks_len: u16::try_from(fill.clocks.len()).ok()?,
        })
    }

    #[inline]
    fn dependency_bytes(&self) -> usize {
        dependencies::bytes_of(usize::from(self.clocks_len))
    }
}

/// How many bytes of an entry stand before its packets.
fn front_bytes_of<T>(fill: &Fill<'_, T>) -> usize {
    dependencies::bytes_of(fill.clocks.len()) + fill.key.statement.len()
}

/// What is charged for the kind to an entry of it.
#[inline]
fn charge_for<T: Plan>(kind: &Kind<T>) -> u64 {
    if kind.membership() == Membership::Own { kind.weight_bytes() } else { 0 }
}

/// What an entry with that many bytes behind its header takes from the allocator.
#[inline]
const fn weight_of<T>(bytes: usize) -> u64 {
    thin_bytes(size_of::<Header<T>>(), bytes)
}

#[cfg(test)]
mod tests;
