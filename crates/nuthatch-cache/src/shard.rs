//! One shard: an index with its eviction policy, held under its share of the limit.
//!
//! The policy is quick_cache's (CLOCK-Pro with a memory of evicted keys, so a scan does not push out what is used
//! again). Three of its habits are met here. It silently drops an entry that does not fit: `insert` says so. Its index
//! never shrinks while it lives: what the index really holds is charged against the share, so entries make room for it,
//! and a resize builds it anew. It rounds its ghost memory down at each change of capacity: so capacity changes in
//! few steps.
//!
//! Not synchronised: `cache` puts a lock around each.

use std::hash::{BuildHasher, Hash, Hasher};

use quick_cache::unsync::Cache as Index;
use quick_cache::{Lifecycle, OptionsBuilder, Weighter};

use crate::entry::Entry;
use crate::key::Key;
use crate::occupancy::Occupancy;
use crate::plan::Plan;

/// Each this many bytes of share buy a place in the estimate of entries; half as many evicted keys are remembered.
const BYTES_PER_ESTIMATED_ENTRY: u64 = 1024;
/// The index reserves in steps of this fraction of the share.
const INDEX_STEPS: u64 = 64;
const INDEX_STEP_BYTES_MIN: u64 = 256;

/// The place of an entry: the hash of its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot(pub(crate) u64);

/// Entries that left the index, to be dropped after the lock: freeing memory takes long.
pub(crate) struct Outgoing<T>(Vec<(Slot, Entry<T>)>);

/// What became of an insert.
pub(crate) struct Inserted<T> {
    pub(crate) is_kept: bool,
    pub(crate) replaced: u64,
    pub(crate) evicted: u64,
    /// Drop it without the lock.
    pub(crate) outgoing: Outgoing<T>,
}

pub(crate) struct Shard<T: Plan> {
    index: Index<Slot, Entry<T>, EntryWeight, IdentityHash, Eviction>,
    share_bytes: u64,
    /// What the index may hold before the entries' part is cut again.
    /// Invariant: index's capacity for entries + `index_reserved_bytes` <= `share_bytes`, or that capacity is 0.
    index_reserved_bytes: u64,
    pub(crate) occupancy: Occupancy,
}

/// Weighs entries for the index; the weight of an entry never changes.
#[derive(Debug, Clone, Copy, Default)]
struct EntryWeight;

impl<T: Plan> Shard<T> {
    /// An empty shard that takes at most `share_bytes`.
    pub(crate) fn new(share_bytes: u64) -> Self {
        let index_reserved_bytes = index_step_bytes(share_bytes).min(share_bytes);
        let entries = usize::try_from(share_bytes / BYTES_PER_ESTIMATED_ENTRY).unwrap_or(usize::MAX);
        let options = OptionsBuilder::new()
            .estimated_items_capacity(entries)
            .weight_capacity(share_bytes - index_reserved_bytes)
            .build()
            .expect("both capacities are given");
        let index = Index::with_options(options, EntryWeight, IdentityHash, Eviction);
        Self { index, share_bytes, index_reserved_bytes, occupancy: Occupancy::new() }
    }

    /// The entry in that place, whoever's it is. Marks it as used.
    #[inline]
    pub(crate) fn get(&self, slot: Slot) -> Option<&Entry<T>> {
        self.index.get(&slot)
    }

    /// The same without marking it.
    pub(crate) fn peek(&self, slot: Slot) -> Option<&Entry<T>> {
        self.index.peek(&slot)
    }

    pub(crate) fn len(&self) -> usize {
        self.index.len()
    }

    /// Entries and index; never above the share.
    pub(crate) fn bytes(&self) -> u64 {
        self.index.weight() + self.index_bytes()
    }

    pub(crate) fn index_bytes(&self) -> u64 {
        self.index.memory_used().total() as u64
    }

    /// Puts the entry in its place and evicts until the share holds.
    pub(crate) fn insert(&mut self, slot: Slot, entry: Entry<T>) -> Inserted<T> {
        let mut outgoing = Outgoing::default();
        self.index.insert_with_lifecycle(slot, entry.clone(), &mut outgoing);
        let mut inserted = Inserted { is_kept: true, replaced: 0, evicted: 0, outgoing };
        self.occupancy.came(entry.own_bytes());
        for (gone, old) in &inserted.outgoing.0 {
            self.occupancy.went(old.own_bytes());
            if old.is_same(&entry) {
                inserted.is_kept = false;
            } else if *gone == slot {
                inserted.replaced += 1;
            } else {
                inserted.evicted += 1;
            }
        }
        inserted.evicted += self.make_room_for_index();
        inserted
    }

    /// Puts a copy in the place of that very entry, if it is still there.
    pub(crate) fn exchange(&mut self, slot: Slot, entry: &Entry<T>, copy: Entry<T>) {
        if let Some(mut place) = self.index.peek_mut(&slot).filter(|place| place.is_same(entry)) {
            *place = copy;
        }
    }

    /// Removes the entry of that key, if `wanted` says so of it.
    pub(crate) fn remove_if(
        &mut self,
        slot: Slot,
        wanted: impl FnOnce(&Entry<T>) -> bool,
    ) -> Option<Entry<T>> {
        let (_slot, entry) = self.index.remove_if(&slot, wanted)?;
        self.occupancy.went(entry.own_bytes());
        Some(entry)
    }

    /// Calls `visit` on up to `count` entries from the `offset`th on in index order; returns how many there were.
    pub(crate) fn visit(&self, offset: usize, count: usize, mut visit: impl FnMut(Slot, &Entry<T>)) -> usize {
        let entries = self.index.iter().skip(offset).take(count);
        entries.map(|(slot, entry)| visit(*slot, entry)).count()
    }

    /// Evicts by policy until entries and index take at most `bytes`, as far as entries can do that.
    pub(crate) fn evict_to(&mut self, bytes: u64) -> u64 {
        let before = self.len();
        self.index.set_capacity(bytes.saturating_sub(self.index_bytes()));
        (before - self.len()) as u64
    }

    /// Takes all entries out and leaves an empty shard with `share_bytes`, its index as small as a new one's.
    pub(crate) fn take(&mut self, share_bytes: u64) -> Outgoing<T> {
        let mut old = std::mem::replace(self, Self::new(share_bytes));
        self.occupancy = old.occupancy.all_went();
        Outgoing(old.index.drain().collect())
    }

    /// Cuts the entries' part when the index has outgrown what was reserved for it.
    fn make_room_for_index(&mut self) -> u64 {
        let index_bytes = self.index_bytes();
        if index_bytes <= self.index_reserved_bytes {
            return 0;
        }
        let step_bytes = index_step_bytes(self.share_bytes);
        self.index_reserved_bytes = index_bytes.next_multiple_of(step_bytes);
        let before = self.len();
        self.index.set_capacity(self.share_bytes.saturating_sub(self.index_reserved_bytes));
        (before - self.len()) as u64
    }
}

impl<T> Outgoing<T> {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, (Slot, Entry<T>)> {
        self.0.iter()
    }
}

impl<T> Default for Outgoing<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> IntoIterator for Outgoing<T> {
    type Item = (Slot, Entry<T>);
    type IntoIter = std::vec::IntoIter<(Slot, Entry<T>)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl Slot {
    #[inline]
    pub(crate) fn of(key: &Key<'_>) -> Self {
        Self(key.hash())
    }

    /// Which of `2^n` shards, given `2^n - 1`: by the middle bits, as the index uses the low and the high ones.
    #[inline]
    pub(crate) fn shard(self, mask: usize) -> usize {
        let middle = (self.0 >> 32) as usize;
        middle & mask
    }
}

impl Hash for Slot {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0);
    }
}

fn index_step_bytes(share_bytes: u64) -> u64 {
    (share_bytes / INDEX_STEPS).max(INDEX_STEP_BYTES_MIN)
}

/// Collects what leaves, so that it is dropped by whoever holds no lock.
#[derive(Debug, Clone, Copy)]
struct Eviction;

impl<T: Plan> Weighter<Slot, Entry<T>> for EntryWeight {
    #[inline]
    fn weight(&self, _slot: &Slot, entry: &Entry<T>) -> u64 {
        entry.weight_bytes()
    }
}

impl<T> Lifecycle<Slot, Entry<T>> for Eviction {
    type RequestState = Outgoing<T>;

    fn on_evict(&self, outgoing: &mut Outgoing<T>, slot: Slot, entry: Entry<T>) {
        outgoing.0.push((slot, entry));
    }
}

/// A slot is a hash already.
#[derive(Debug, Clone, Copy)]
struct IdentityHash;

impl BuildHasher for IdentityHash {
    type Hasher = Identity;

    #[inline]
    fn build_hasher(&self) -> Identity {
        Identity(0)
    }
}

struct Identity(u64);

impl Hasher for Identity {
    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("a slot hashes itself with write_u64");
    }

    #[inline]
    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

#[cfg(test)]
mod tests;
