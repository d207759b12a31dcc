//! The cache: shards under locks, the limits over them.
//!
//! Each operation takes one shard's lock once; look-ups share it. Entries that leave are freed after the lock. A change
//! of limits takes the limits' lock first, then shards' locks in ascending order; nothing else takes two locks.

use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use parking_lot::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::entry::Entry;
use crate::fill::Fill;
use crate::key::Key;
use crate::kinds::Kinds;
use crate::limits::{Limits, Partition, SHARDS_MAX};
use crate::line::Line;
use crate::occupancy::{Occupancy, is_among};
use crate::plan::Plan;
use crate::refusal::Refusal;
use crate::repeats::Repeats;
use crate::shard::{Shard, Slot};
use crate::sweep::{Cursor, Sweep};
use crate::usage::{Counters, Usage, add};

/// How many entries a sweep looks at under one hold of a shard's lock.
const SWEEP_CHUNK: usize = 512;

/// How much is copied before what it was copied from is freed.
const COPIED_BYTES: u64 = 1 << 20;

/// Worth to be copied for is this fraction of the limit.
const WORTH: u64 = 64;

/// Where the copying of entries stands.
#[derive(Debug, Default)]
struct Copying {
    /// Of which sizes; none when all is done.
    sizes: u64,
    shard: usize,
}

/// How an answer was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// As the first of its key, or another than what was written over, as far as is known.
    Anew,
    /// It is the answer that was there before it was taken to be [written over](Cache::remove_invalidated).
    Again,
}

/// A bounded store of answers. `T` is the caller's plan for an entry; share the cache by reference or `Arc`.
pub struct Cache<T: Plan> {
    /// Always [`SHARDS_MAX`]; those past the mask are empty and have no share.
    shards: Box<[Line<RwLock<Shard<T>>>]>,
    /// Number of shards in use, less one. Written only under all shards' locks.
    mask: AtomicUsize,
    /// Copy of the partition's, for inserts.
    entry_bytes_max: AtomicU64,
    partition: RwLock<Partition>,
    kinds: Kinds<T>,
    cursor: Mutex<Cursor>,
    copying: Mutex<Copying>,
    repeats: Repeats,
    counters: Counters,
}

impl<T: Plan> Cache<T> {
    /// An empty cache under `limits`.
    pub fn new(limits: Limits) -> Self {
        let partition = Partition::of(limits);
        Self {
            shards: (0..SHARDS_MAX)
                .map(|number| Line(RwLock::new(Shard::new(partition.share_of(number)))))
                .collect(),
            mask: AtomicUsize::new(partition.shards - 1),
            entry_bytes_max: AtomicU64::new(partition.entry_bytes_max),
            partition: RwLock::new(partition),
            kinds: Kinds::new(partition.kinds_bytes),
            cursor: Mutex::default(),
            copying: Mutex::default(),
            repeats: Repeats::new(),
            counters: Counters::default(),
        }
    }

    /// The entry that was last inserted for exactly that key, if it is still here. Its time may be over:
    /// [`Entry::judge`] says.
    ///
    /// Cost: one shard's shared lock, one comparison of the key, one atomic increment; no allocation.
    #[inline]
    pub fn get(&self, key: &Key<'_>) -> Option<Entry<T>> {
        let slot = Slot::of(key);
        let shard = self.read(slot);
        let entry = shard.get(slot)?;
        if !entry.answers(key) {
            add(&self.counters.collisions, 1);
            return None;
        }
        Some(entry.clone())
    }

    /// The same for those who only look: it does not count as used.
    pub fn peek(&self, key: &Key<'_>) -> Option<Entry<T>> {
        let slot = Slot::of(key);
        self.read(slot).peek(slot).filter(|entry| entry.answers(key)).cloned()
    }

    /// Keeps an answer in place of what stood there, evicting others until it fits.
    ///
    /// # Errors
    /// A [`Refusal`] says why the answer is not kept; an older one of that key may then still be there, except after
    /// [`Refusal::NoRoom`].
    ///
    /// Cost: one allocation and one copy without a lock, then one shard's lock.
    pub fn insert(&self, fill: &Fill<'_, T>) -> Result<Kept, Refusal> {
        self.insert_and(fill, |_| ())
    }

    /// The same; `evicted` is called, without a lock, for each entry that had to make room. Those that make room for the index are
    /// counted only.
    ///
    /// # Errors
    /// As those of [`Self::insert`].
    pub fn insert_and(&self, fill: &Fill<'_, T>, evicted: impl FnMut(&Entry<T>)) -> Result<Kept, Refusal> {
        let slot = Slot::of(&fill.key);
        let packet_bytes = fill.packet_bytes() as u64;
        let kept = self.try_insert(slot, fill, evicted);
        match kept {
            Ok(kept) => {
                add(&self.counters.repeated, u64::from(kept == Kept::Again));
                add(&self.counters.sets, 1);
                add(&self.counters.bytes_in, packet_bytes);
            }
            Err(_) => add(&self.counters.refused, 1),
        }
        kept
    }

    fn try_insert(
        &self,
        slot: Slot,
        fill: &Fill<'_, T>,
        mut evicted: impl FnMut(&Entry<T>),
    ) -> Result<Kept, Refusal> {
        let entry = match self.entry_bytes_max() {
            0 if self.partition.read().limits.bytes == 0 => return Err(Refusal::Off),
            bytes_max => Entry::new(fill, self.kinds.of(fill).ok_or(Refusal::Malformed)?, bytes_max)?,
        };
        let mut shard = self.write(slot);
        if !self.kinds.know(entry.kind()) {
            return Err(Refusal::NoRoom);
        }
        let inserted = shard.insert(slot, entry.clone());
        drop(shard);
        let of_others = inserted.outgoing.iter().filter(|(gone, old)| *gone != slot && !old.is_same(&entry));
        of_others.for_each(|(_, old)| evicted(old));
        add(&self.counters.replaced, inserted.replaced);
        add(&self.counters.evicted, inserted.evicted);
        match inserted.is_kept {
            true if self.repeats.take(slot, || entry.answer_hash()) => Ok(Kept::Again),
            true => Ok(Kept::Anew),
            false => Err(Refusal::NoRoom),
        }
    }

    /// Removes the entry of exactly that key, counted as purged; says whether there was one.
    pub fn remove(&self, key: &Key<'_>) -> bool {
        let slot = Slot::of(key);
        let removed = self.write(slot).remove_if(slot, |entry| entry.answers(key));
        add(&self.counters.purged, u64::from(removed.is_some()));
        removed.is_some()
    }

    /// Removes the entry of exactly that key if its time is over at `now_ms`, counted as expired; says whether it was.
    /// A fresh entry that another session has just filled stays.
    pub fn remove_expired(&self, key: &Key<'_>, now_ms: u64) -> bool {
        let slot = Slot::of(key);
        let is_due = |entry: &Entry<T>| entry.answers(key) && entry.expires_ms() <= now_ms;
        let removed = self.write(slot).remove_if(slot, is_due);
        add(&self.counters.expired, u64::from(removed.is_some()));
        removed.is_some()
    }

    /// Removes that very entry of the key, one of whose clocks has moved, counted as invalidated; says whether it was
    /// still there. What another session has filled in its place stays.
    pub fn remove_invalidated(&self, key: &Key<'_>, entry: &Entry<T>) -> bool {
        let slot = Slot::of(key);
        let removed = self.write(slot).remove_if(slot, |stored| stored.is_same(entry));
        if let Some(removed) = &removed {
            self.repeats.note(slot, removed.answer_hash());
        }
        add(&self.counters.invalidated, u64::from(removed.is_some()));
        removed.is_some()
    }

    /// Removes entries whose time is over at `now_ms`, looking at no more than `budget` of them, from where the last
    /// call stopped. Ends with the lap at the latest. Does nothing while another call is at work.
    ///
    /// Cost: a shard's shared lock for a few hundred entries at a time, its exclusive one for those to be removed.
    pub fn expire(&self, now_ms: u64, budget: usize) -> Sweep {
        let mut sweep = Sweep::default();
        let Some(mut cursor) = self.cursor.try_lock() else { return sweep };
        let mut due = Vec::new();
        while sweep.examined < budget && !sweep.lap_ended {
            let chunk = SWEEP_CHUNK.min(budget - sweep.examined);
            let visited = self.visit_due(*cursor, chunk, now_ms, &mut due);
            let expired = self.remove_due(cursor.shard, &mut due, now_ms);
            sweep.examined += visited;
            sweep.expired += expired as u64;
            cursor.offset += visited - expired;
            if visited < chunk {
                let next = cursor.shard + 1;
                sweep.lap_ended = next > self.mask.load(Ordering::Relaxed);
                *cursor = Cursor { shard: if sweep.lap_ended { 0 } else { next }, offset: 0 };
            }
        }
        add(&self.counters.expired, sweep.expired);
        sweep
    }

    fn visit_due(&self, cursor: Cursor, count: usize, now_ms: u64, due: &mut Vec<Slot>) -> usize {
        let shard = self.shards[cursor.shard].0.read();
        shard.visit(cursor.offset, count, |slot, entry| {
            if entry.expires_ms() <= now_ms {
                due.push(slot);
            }
        })
    }

    fn remove_due(&self, shard: usize, due: &mut Vec<Slot>, now_ms: u64) -> usize {
        if due.is_empty() {
            return 0;
        }
        let mut shard = self.shards[shard].0.write();
        let is_due = |entry: &Entry<T>| entry.expires_ms() <= now_ms;
        let removed: Vec<_> = due.drain(..).filter_map(|slot| shard.remove_if(slot, is_due)).collect();
        drop(shard);
        removed.len()
    }

    /// Calls `visit` on every entry that stays here while it goes on; of those that come meanwhile on some, where others go perhaps not on all.
    ///
    /// Cost: a shard's shared lock for a few hundred entries at a time.
    pub fn visit(&self, mut visit: impl FnMut(&Entry<T>)) {
        for number in 0..=self.mask.load(Ordering::Acquire) {
            self.visit_shard(number, |_slot, entry| visit(entry));
        }
    }

    /// Removes the entries of which `is_wanted` says so, counted as purged; returns how many. What is filled meanwhile may stay.
    ///
    /// Cost: as [`Self::visit`], and a shard's exclusive lock for those to be removed.
    pub fn purge_if(&self, is_wanted: impl Fn(&Entry<T>) -> bool) -> u64 {
        let mut purged = 0;
        for number in 0..=self.mask.load(Ordering::Acquire) {
            let mut wanted = Vec::new();
            self.visit_shard(number, |slot, entry| wanted.extend(is_wanted(entry).then_some(slot)));
            for chunk in wanted.chunks(SWEEP_CHUNK) {
                let mut shard = self.shards[number].0.write();
                let removed: Vec<_> =
                    chunk.iter().filter_map(|slot| shard.remove_if(*slot, &is_wanted)).collect();
                drop(shard);
                purged += removed.len() as u64;
            }
        }
        add(&self.counters.purged, purged);
        purged
    }

    fn visit_shard(&self, number: usize, mut visit: impl FnMut(Slot, &Entry<T>)) {
        let mut offset = 0;
        loop {
            let visited = self.shards[number].0.read().visit(offset, SWEEP_CHUNK, &mut visit);
            offset += visited;
            if visited < SWEEP_CHUNK {
                return;
            }
        }
    }

    /// Removes every entry that was here when the call began, and gives back the index's memory; returns how many.
    pub fn flush(&self) -> u64 {
        let partition = self.partition.read();
        let mut purged = 0;
        for line in &self.shards[..partition.shards] {
            let outgoing = line.0.write().take(partition.share_bytes);
            purged += outgoing.len() as u64;
        }
        self.kinds.let_go();
        add(&self.counters.purged, purged);
        purged
    }

    /// Puts other limits in force: when the call returns, no more than `limits.bytes` are held. What does not fit is
    /// evicted, the least used first; all are, where what they have in common is more than its part of the new limit.
    ///
    /// Cost: a pass over all entries. Where the number of shards changes, nobody can look up meanwhile.
    pub fn set_limits(&self, limits: Limits) {
        let mut partition = self.partition.write();
        let (old, new) = (*partition, Partition::of(limits));
        self.entry_bytes_max.store(new.entry_bytes_max, Ordering::Relaxed);
        let mut evicted = if old.shards == new.shards { self.resize(&new) } else { self.reshard(&old, &new) };
        if !self.kinds.keep_to(new.kinds_bytes) {
            evicted += self.renounce(&new);
        }
        add(&self.counters.evicted, evicted);
        *partition = new;
    }

    /// Gives each shard its new share, one after the other; returns how many entries had to go.
    fn resize(&self, new: &Partition) -> u64 {
        let mut evicted = 0;
        for line in &self.shards[..new.shards] {
            let mut shard = line.0.write();
            evicted += shard.evict_to(new.share_bytes);
            let moving = shard.take(new.share_bytes);
            evicted +=
                moving.into_iter().map(|(slot, entry)| move_into(&mut shard, slot, entry, new)).sum::<u64>();
        }
        evicted
    }

    /// Distributes the entries over another number of shards, under all locks; returns how many had to go.
    fn reshard(&self, old: &Partition, new: &Partition) -> u64 {
        let mut shards: Vec<_> = self.shards.iter().map(|line| line.0.write()).collect();
        let (mut evicted, mut moving) = (0, Vec::new());
        for (number, shard) in shards.iter_mut().enumerate() {
            evicted += shard.evict_to(new.share_bytes * new.shards as u64 / old.shards as u64);
            moving.extend(shard.take(new.share_of(number)));
        }
        let mask = new.shards - 1;
        self.mask.store(mask, Ordering::Release);
        for (slot, entry) in moving {
            evicted += move_into(&mut shards[slot.shard(mask)], slot, entry, new);
        }
        evicted
    }

    /// Lets go of all entries, since what they have in common is too much; returns how many there were.
    fn renounce(&self, new: &Partition) -> u64 {
        self.kinds.renounce();
        let outgoing = |line: &Line<RwLock<Shard<T>>>| line.0.write().take(new.share_bytes).len() as u64;
        self.shards[..new.shards].iter().map(outgoing).sum()
    }

    /// Copies entries of sizes of which most have gone, so that the allocator can give back what those have left. To be called now and then: it
    /// goes on where it stopped when so many were copied (`budget`), a shard at a time. Does nothing while another call is at work.
    ///
    /// Cost: a look at each shard. Where there are such, a pass over shards' entries under their shared lock, a few hundred at a time, and the
    /// exclusive one for as many that are copied.
    pub fn defragment(&self, budget: usize) {
        let Some(mut copying) = self.copying.try_lock() else { return };
        if copying.sizes == 0 {
            *copying = Copying { sizes: self.sparse_sizes(), shard: 0 };
        }
        let mut copied = 0;
        while copying.sizes != 0 && copied < budget {
            copied += self.copy_all_of(copying.sizes, copying.shard);
            copying.shard += 1;
            if copying.shard > self.mask.load(Ordering::Acquire) {
                copying.sizes = 0;
            }
        }
    }

    fn sparse_sizes(&self) -> u64 {
        let worth_bytes = self.partition.read().limits.bytes / WORTH;
        let mut all = Occupancy::new();
        let shards = &self.shards[..=self.mask.load(Ordering::Acquire)];
        shards.iter().for_each(|shard| all.add(&shard.0.read().occupancy));
        let sizes = all.sparse(worth_bytes);
        if sizes != 0 {
            shards.iter().for_each(|shard| shard.0.write().occupancy.copied(sizes));
        }
        sizes
    }

    /// Copies a shard's entries of these sizes; returns how many there were.
    fn copy_all_of(&self, sizes: u64, number: usize) -> usize {
        let mut found = Vec::new();
        self.visit_shard(number, |slot, entry| {
            if is_among(entry.own_bytes(), sizes) {
                found.push((slot, entry.clone()));
            }
        });
        // Those that came together go together, and with them their slab.
        found.sort_unstable_by_key(|(_, entry)| entry.address());
        let count = found.len();
        let (mut batch, mut bytes) = (Vec::new(), 0);
        for (slot, entry) in found {
            bytes += entry.own_bytes();
            batch.push((slot, entry));
            if bytes >= COPIED_BYTES {
                self.copy(number, &batch);
                batch.clear();
                bytes = 0;
            }
        }
        self.copy(number, &batch);
        count
    }

    /// Puts copies in the place of these entries of a shard, as far as they are still there.
    fn copy(&self, number: usize, entries: &[(Slot, Entry<T>)]) {
        for chunk in entries.chunks(SWEEP_CHUNK) {
            let copies: Vec<_> = chunk.iter().map(|(_, entry)| entry.copied()).collect();
            let mut shard = self.shards[number].0.write();
            for ((slot, entry), copy) in chunk.iter().zip(copies) {
                shard.exchange(*slot, entry, copy);
            }
        }
    }

    /// What is held now and what has been done since the start.
    pub fn usage(&self) -> Usage {
        let partition = self.partition.read();
        let mut usage = self.counters.read();
        usage.limit_bytes = partition.limits.bytes;
        usage.entry_bytes_max = partition.entry_bytes_max;
        usage.kinds = self.kinds.len() as u64;
        usage.kinds_bytes = self.kinds.bytes();
        usage.kinds_bytes_max = partition.kinds_bytes;
        usage.bytes = usage.kinds_bytes;
        for line in &self.shards[..partition.shards] {
            let shard = line.0.read();
            usage.entries += shard.len() as u64;
            usage.bytes += shard.bytes();
            usage.index_bytes += shard.index_bytes();
        }
        usage
    }

    /// What one entry may weigh now, in bytes: a capture that has grown past it can be given up.
    #[inline]
    pub fn entry_bytes_max(&self) -> u64 {
        self.entry_bytes_max.load(Ordering::Relaxed)
    }

    #[inline]
    fn read(&self, slot: Slot) -> RwLockReadGuard<'_, Shard<T>> {
        self.shards[slot.shard(self.mask.load(Ordering::Acquire))].0.read()
    }

    /// The shard in which the slot belongs *while the lock is held*: an entry must never come into a shard that
    /// look-ups have left, where a later change of shards would find it again.
    fn write(&self, slot: Slot) -> RwLockWriteGuard<'_, Shard<T>> {
        loop {
            let mask = self.mask.load(Ordering::Acquire);
            let shard = self.shards[slot.shard(mask)].0.write();
            if self.mask.load(Ordering::Acquire) == mask {
                return shard;
            }
        }
    }
}

/// Puts an entry into a resized shard; returns how many entries had to go for it, itself included.
fn move_into<T: Plan>(shard: &mut Shard<T>, slot: Slot, entry: Entry<T>, new: &Partition) -> u64 {
    if entry.weight_bytes() > new.entry_bytes_max {
        return 1;
    }
    let inserted = shard.insert(slot, entry);
    inserted.evicted + u64::from(!inserted.is_kept)
}

impl<T: Plan> fmt::Debug for Cache<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").field("usage", &self.usage()).finish_non_exhaustive()
    }
}
