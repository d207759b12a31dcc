//! The cache: shards under locks, the limits over them.
//!
//! Each operation takes one shard's lock once; look-ups share it. Entries that leave are freed after the lock. A change
//! of limits takes the limits' lock first, then shards' locks in ascending order; nothing else takes two locks.

mod compression;
mod copying;

use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use parking_lot::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::entry::Entry;
use crate::fill::Fill;
use crate::key::Key;
use crate::kinds::Kinds;
use crate::limits::{Limits, Partition, SHARDS_MAX};
use crate::line::Line;
use crate::occupancy::Copying;
use crate::pace::Pace;
use crate::plan::Plan;
use crate::refusal::Refusal;
use crate::repeats::Repeats;
use crate::shard::{
    Choice, Fate, Held, Left, Moved, Newcomer, Outgoing, Over, Rule, Sample, Shard, Tag, Worth,
};
use crate::sweep::{Cursor, Sweep};
use crate::usage::{Counters, Usage, add};

/// How many entries a sweep looks at under one hold of a shard's lock.
const SWEEP_CHUNK: usize = 512;

/// How an answer was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// As the first of its key, or another than what was written over, as far as is known.
    Anew,
    /// It is the answer that was there before it was taken to be [written over](Cache::remove_invalidated).
    Again,
}

type Shards<T> = Box<[Line<RwLock<Shard<Entry<T>>>>]>;

/// A bounded store of answers. `T` is the caller's plan for an entry; share the cache by reference or `Arc`.
pub struct Cache<T: Plan> {
    /// Always [`SHARDS_MAX`]; those past the mask are empty and have no share.
    shards: Shards<T>,
    /// Number of shards in use, less one. Written only under all shards' locks.
    mask: AtomicUsize,
    /// Copy of the partition's, for inserts.
    entry_bytes_max: AtomicU64,
    /// Entries with packets of so many bytes may be compressed; 0 for none.
    compress_bytes_min: AtomicU64,
    choice: Choice,
    repeats: Repeats,
    kinds: Kinds<T>,
    // What is written stands on lines that no hit reads.
    pace: Line<Pace>,
    partition: Line<RwLock<Partition>>,
    cursor: Line<Mutex<Cursor>>,
    copying: Line<Mutex<Copying>>,
    counters: Line<Counters>,
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
            compress_bytes_min: AtomicU64::new(0),
            choice: Choice::new(limits.bytes),
            repeats: Repeats::new(),
            kinds: Kinds::new(partition.kinds_bytes),
            pace: Line::default(),
            partition: Line(RwLock::new(partition)),
            cursor: Line::default(),
            copying: Line::default(),
            counters: Line::default(),
        }
    }

    /// The entry that was last inserted for exactly that key, if it is still here. Its time may be over:
    /// [`Entry::judge`] says.
    ///
    /// Cost: one shard's shared lock, one comparison of the key, one atomic increment; no allocation. Of a small part of the keys the trials are asked
    /// too, if nobody else asks them just then.
    #[inline]
    pub fn get(&self, key: &Key<'_>) -> Option<Entry<T>> {
        let tag = Tag::of(key.hash());
        let shard = self.read(tag);
        let (entry, heat) = shard.get(tag, |entry| entry.answers(key))?;
        let entry = entry.clone();
        drop(shard);
        if self.choice.is_tried(key.hash()) {
            self.choice.ask_if_free(key.hash(), sample_of(&entry), Some(heat.worth()));
        }
        Some(entry)
    }

    /// The same for those who only look: it does not count as used.
    pub fn peek(&self, key: &Key<'_>) -> Option<Entry<T>> {
        let tag = Tag::of(key.hash());
        self.read(tag).peek(tag, |entry| entry.answers(key)).cloned()
    }

    /// Keeps an answer in place of what stood there, evicting others until it fits.
    ///
    /// # Errors
    /// A [`Refusal`] says why the answer is not kept; an older one of that key may then still be there, except after
    /// [`Refusal::NoRoom`] and [`Refusal::NotAdmitted`].
    ///
    /// Cost: one allocation and one copy without a lock, then one shard's lock.
    pub fn insert(&self, fill: &Fill<'_, T>) -> Result<Kept, Refusal> {
        self.insert_and(fill, |_| None, |_, _| ())
    }

    /// The same. Of those that may have to make room, `over` is asked about some: who is over goes first. `made_room` is called, without a lock, for
    /// each that did, with why it was over, if it was.
    ///
    /// # Errors
    /// As those of [`Self::insert`].
    pub fn insert_and(
        &self,
        fill: &Fill<'_, T>,
        over: impl Fn(&Entry<T>) -> Option<Over>,
        made_room: impl FnMut(&Entry<T>, Option<Over>),
    ) -> Result<Kept, Refusal> {
        let packet_bytes = fill.packet_bytes() as u64;
        let kept = self.try_insert(fill, over, made_room);
        match kept {
            Ok(kept) => {
                add(&self.counters.0.repeated, u64::from(kept == Kept::Again));
                add(&self.counters.0.sets, 1);
                add(&self.counters.0.bytes_in, packet_bytes);
            }
            Err(refusal) => {
                add(&self.counters.0.refused, 1);
                add(&self.counters.0.not_admitted, u64::from(refusal == Refusal::NotAdmitted));
            }
        }
        kept
    }

    fn try_insert(
        &self,
        fill: &Fill<'_, T>,
        over: impl Fn(&Entry<T>) -> Option<Over>,
        mut made_room: impl FnMut(&Entry<T>, Option<Over>),
    ) -> Result<Kept, Refusal> {
        let entry = match self.entry_bytes_max() {
            0 if self.partition.0.read().limits.bytes == 0 => return Err(Refusal::Off),
            bytes_max => Entry::new(fill, self.kinds.of(fill).ok_or(Refusal::Malformed)?, bytes_max)?,
        };
        let hash = fill.key.hash();
        let worth = fill.cost_us.map(|cost_us| Worth::of(cost_us, entry.weight_bytes()));
        let tag = Tag::of(hash);
        if self.choice.is_tried(hash) {
            self.choice.ask(hash, sample_of(&entry), worth);
        }
        let mut shard = self.write(tag);
        if !self.kinds.know(entry.kind()) {
            return Err(Refusal::NoRoom);
        }
        let newcomer = Newcomer { tag, value: entry.clone(), worth };
        let (fate, outgoing) = shard.insert(newcomer, self.choice.ruling(), over);
        let to_compress = self.to_compress(&mut shard, (fate == Fate::Kept).then_some((tag, &entry)));
        drop(shard);
        self.see_off(outgoing, &mut made_room);
        if let Some((tag, entry)) = to_compress {
            self.compress(tag, &entry, made_room);
        }
        match fate {
            Fate::Kept if self.repeats.take(hash, || entry.answer_hash()) => Ok(Kept::Again),
            Fate::Kept => Ok(Kept::Anew),
            Fate::NotAdmitted => Err(Refusal::NotAdmitted),
            Fate::NoRoom => Err(Refusal::NoRoom),
        }
    }

    /// Counts who has left a shard, whose lock is not held, and frees them.
    fn see_off(&self, outgoing: Outgoing<Entry<T>>, made_room: &mut impl FnMut(&Entry<T>, Option<Over>)) {
        for (_, gone, why) in &outgoing {
            match why {
                Left::Exchanged => {}
                Left::Replaced => add(&self.counters.0.replaced, 1),
                Left::Evicted => {
                    add(&self.counters.0.evicted, 1);
                    made_room(gone, None);
                }
                Left::Over(why) => {
                    self.let_go_of(gone, gone.key().hash(), *why);
                    made_room(gone, Some(*why));
                }
            }
        }
    }

    /// Whether what has that hash is here, or was asked for not long ago, as far as is remembered. Nothing is noted. Of the few keys with which
    /// the rules are tried it is said in any case, so that all of these are inserted.
    ///
    /// Cost: a shard's shared lock.
    pub fn comes_again(&self, hash: u64) -> bool {
        let tag = Tag::of(hash);
        self.choice.is_tried(hash) || self.read(tag).comes_again(tag)
    }

    /// Remembers that what has that hash was asked for, and is not inserted; counted as not admitted.
    ///
    /// Cost: a shard's lock.
    pub fn turn_away(&self, hash: u64) {
        let tag = Tag::of(hash);
        self.write(tag).turn_away(tag, self.choice.ruling());
        add(&self.counters.0.refused, 1);
        add(&self.counters.0.not_admitted, 1);
    }

    /// The entry to the key with that hash has been removed, being over.
    fn let_go_of(&self, entry: &Entry<T>, hash: u64, why: Over) {
        self.choice.forget(hash);
        match why {
            Over::Expired => add(&self.counters.0.expired, 1),
            Over::Invalidated => {
                self.repeats.note(hash, entry.answer_hash());
                add(&self.counters.0.invalidated, 1);
            }
        }
    }

    /// By which rule it is chosen now who goes.
    pub fn rule(&self) -> Rule {
        self.choice.ruling().rule()
    }

    /// Removes the entry of exactly that key, counted as purged; says whether there was one.
    pub fn remove(&self, key: &Key<'_>) -> bool {
        let removed = self.take_out(key, |entry| entry.answers(key));
        removed.iter().for_each(|_| self.choice.forget(key.hash()));
        add(&self.counters.0.purged, u64::from(removed.is_some()));
        removed.is_some()
    }

    /// Removes the entry of exactly that key if its time is over at `now_ms`, counted as expired; says whether it was.
    /// A fresh entry that another session has just filled stays.
    pub fn remove_expired(&self, key: &Key<'_>, now_ms: u64) -> bool {
        let removed = self.take_out(key, |entry| entry.answers(key) && entry.expires_ms() <= now_ms);
        removed.iter().for_each(|entry| self.let_go_of(entry, key.hash(), Over::Expired));
        removed.is_some()
    }

    /// Removes that very entry of the key, one of whose clocks has moved, counted as invalidated; says whether it was
    /// still there. What another session has filled in its place stays.
    pub fn remove_invalidated(&self, key: &Key<'_>, entry: &Entry<T>) -> bool {
        let removed = self.take_out(key, |stored| stored.is_same(entry));
        removed.iter().for_each(|entry| self.let_go_of(entry, key.hash(), Over::Invalidated));
        removed.is_some()
    }

    /// Removes what `wanted` says of the entries with that key's tag.
    fn take_out(&self, key: &Key<'_>, wanted: impl Fn(&Entry<T>) -> bool) -> Option<Entry<T>> {
        let tag = Tag::of(key.hash());
        self.write(tag).remove_if(tag, wanted)
    }

    /// Removes entries whose time is over at `now_ms`, looking at no more than `budget` of them, from where the last
    /// call stopped. Ends with the lap at the latest. Does nothing while another call is at work.
    ///
    /// Cost: a shard's shared lock for a few hundred entries at a time, its exclusive one for those to be removed.
    pub fn expire(&self, now_ms: u64, budget: usize) -> Sweep {
        let mut sweep = Sweep::default();
        let Some(mut cursor) = self.cursor.0.try_lock() else { return sweep };
        let is_due = |entry: &Entry<T>| entry.expires_ms() <= now_ms;
        while sweep.examined < budget && !sweep.lap_ended {
            let chunk = SWEEP_CHUNK.min(budget - sweep.examined);
            let mut due = Vec::new();
            let shard = self.shards[cursor.shard].0.read();
            let (next, visited) =
                shard.visit(cursor.from, chunk, |tag, entry| due.extend(is_due(entry).then_some(tag)));
            drop(shard);
            sweep.examined += visited;
            sweep.expired += self.remove_all(cursor.shard, due, is_due);
            let next_shard = cursor.shard + 1;
            sweep.lap_ended = next.is_none() && next_shard > self.mask.load(Ordering::Relaxed);
            *cursor = match next {
                Some(from) => Cursor { from, ..*cursor },
                None if sweep.lap_ended => Cursor::default(),
                None => Cursor { shard: next_shard, ..Cursor::default() },
            };
        }
        add(&self.counters.0.expired, sweep.expired);
        sweep
    }

    /// Removes from that shard the entries with these tags of which `wanted` says so; returns how many there were.
    fn remove_all(&self, shard: usize, tags: Vec<Tag>, wanted: impl Fn(&Entry<T>) -> bool) -> u64 {
        if tags.is_empty() {
            return 0;
        }
        let mut shard = self.shards[shard].0.write();
        let removed: Vec<_> = tags.into_iter().filter_map(|tag| shard.remove_if(tag, &wanted)).collect();
        drop(shard);
        removed.iter().for_each(|entry| self.choice.forget(entry.key().hash()));
        removed.len() as u64
    }

    /// Calls `visit` on every entry that stays here while it goes on; of those that come meanwhile on some.
    ///
    /// Cost: a shard's shared lock for a few hundred entries at a time.
    pub fn visit(&self, mut visit: impl FnMut(&Entry<T>)) {
        for number in 0..=self.mask.load(Ordering::Acquire) {
            self.visit_shard(number, |_, entry| visit(entry));
        }
    }

    /// Removes the entries of which `is_wanted` says so, counted as purged; returns how many. What is filled meanwhile may stay.
    ///
    /// Cost: as [`Self::visit`], and a shard's exclusive lock for those to be removed.
    pub fn purge_if(&self, is_wanted: impl Fn(&Entry<T>) -> bool) -> u64 {
        let mut purged = 0;
        for number in 0..=self.mask.load(Ordering::Acquire) {
            let mut wanted = Vec::new();
            self.visit_shard(number, |tag, entry| wanted.extend(is_wanted(entry).then_some(tag)));
            for chunk in wanted.chunks(SWEEP_CHUNK) {
                purged += self.remove_all(number, chunk.to_vec(), &is_wanted);
            }
        }
        add(&self.counters.0.purged, purged);
        purged
    }

    fn visit_shard(&self, number: usize, mut visit: impl FnMut(Tag, &Entry<T>)) {
        let mut from = Some(Tag::FIRST);
        while let Some(tag) = from {
            (from, _) = self.shards[number].0.read().visit(tag, SWEEP_CHUNK, &mut visit);
        }
    }

    /// Removes every entry that was here when the call began, and gives back the index's memory; returns how many.
    pub fn flush(&self) -> u64 {
        let partition = self.partition.0.read();
        let mut purged = 0;
        for line in &self.shards[..partition.shards] {
            let outgoing = line.0.write().take(partition.share_bytes);
            purged += outgoing.len() as u64;
        }
        self.kinds.let_go();
        self.choice.restart(partition.limits.bytes);
        add(&self.counters.0.purged, purged);
        purged
    }

    /// Puts other limits in force: when the call returns, no more than `limits.bytes` are held. What does not fit is
    /// evicted, the least used first; all are, where what they have in common is more than its part of the new limit.
    ///
    /// Cost: a pass over all entries. Where the number of shards changes, nobody can look up meanwhile.
    pub fn set_limits(&self, limits: Limits) {
        let mut partition = self.partition.0.write();
        let (old, new) = (*partition, Partition::of(limits));
        self.entry_bytes_max.store(new.entry_bytes_max, Ordering::Relaxed);
        let mut evicted = if old.shards == new.shards { self.resize(&new) } else { self.reshard(&old, &new) };
        if !self.kinds.keep_to(new.kinds_bytes) {
            evicted += self.renounce(&new);
        }
        if new.limits.bytes != old.limits.bytes {
            self.choice.restart(new.limits.bytes);
        }
        add(&self.counters.0.evicted, evicted);
        *partition = new;
    }

    /// Gives each shard its new share, one after the other; returns how many entries had to go.
    fn resize(&self, new: &Partition) -> u64 {
        let mut evicted = 0;
        for line in &self.shards[..new.shards] {
            let mut shard = line.0.write();
            let large = take_large(&mut shard, new);
            let outgoing = shard.set_share(new.share_bytes, self.choice.ruling());
            drop(shard);
            evicted += (large.len() + outgoing.len()) as u64;
        }
        evicted
    }

    /// Distributes the entries over another number of shards, under all locks; returns how many had to go.
    fn reshard(&self, old: &Partition, new: &Partition) -> u64 {
        let mut shards: Vec<_> = self.shards.iter().map(|line| line.0.write()).collect();
        let (mut evicted, mut moving) = (0, Vec::new());
        for (number, shard) in shards.iter_mut().enumerate() {
            evicted += take_large(shard, new).len() as u64;
            evicted += shard
                .set_share(new.share_bytes * new.shards as u64 / old.shards as u64, self.choice.ruling())
                .len() as u64;
            moving.extend(shard.take(new.share_of(number)));
        }
        let mask = new.shards - 1;
        self.mask.store(mask, Ordering::Release);
        for moved in moving {
            let Moved { tag, .. } = &moved;
            let (fate, outgoing) = shards[shard_of(*tag, mask)].put(moved, self.choice.ruling());
            evicted += outgoing.len() as u64 + u64::from(fate != Fate::Kept);
        }
        evicted
    }

    /// Lets go of all entries, since what they have in common is too much; returns how many there were.
    fn renounce(&self, new: &Partition) -> u64 {
        self.kinds.renounce();
        let outgoing =
            |line: &Line<RwLock<Shard<Entry<T>>>>| line.0.write().take(new.share_bytes).len() as u64;
        self.shards[..new.shards].iter().map(outgoing).sum()
    }

    /// What is held now and what has been done since the start.
    pub fn usage(&self) -> Usage {
        let partition = self.partition.0.read();
        let mut usage = self.counters.0.read();
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
            let compressed = shard.compressed();
            usage.compressed += compressed.entries;
            usage.spared_bytes += compressed.spared_bytes;
        }
        let (bytes, trials, trial_hits) = self.choice.figures();
        usage.bytes += bytes;
        usage.index_bytes += bytes;
        usage.rule = self.rule();
        (usage.trials, usage.trial_hits) = (trials, trial_hits);
        usage
    }

    /// What one entry may weigh now, in bytes: a capture that has grown past it can be given up.
    #[inline]
    pub fn entry_bytes_max(&self) -> u64 {
        self.entry_bytes_max.load(Ordering::Relaxed)
    }

    #[inline]
    fn read(&self, tag: Tag) -> RwLockReadGuard<'_, Shard<Entry<T>>> {
        self.shards[shard_of(tag, self.mask.load(Ordering::Acquire))].0.read()
    }

    /// The shard in which the tag belongs *while the lock is held*: an entry must never come into a shard that
    /// look-ups have left, where a later change of shards would find it again.
    fn write(&self, tag: Tag) -> RwLockWriteGuard<'_, Shard<Entry<T>>> {
        loop {
            let mask = self.mask.load(Ordering::Acquire);
            let shard = self.shards[shard_of(tag, mask)].0.write();
            if self.mask.load(Ordering::Acquire) == mask {
                return shard;
            }
        }
    }
}

/// The number of the shard where entries with that tag belong, of `2^n`, given `2^n - 1`.
#[inline]
fn shard_of(tag: Tag, mask: usize) -> usize {
    tag.number() as usize & mask
}

/// Takes out what is larger than one entry may be from now on.
fn take_large<T: Plan>(shard: &mut Shard<Entry<T>>, new: &Partition) -> Vec<Entry<T>> {
    let is_large = |entry: &Entry<T>| entry.weight_bytes() > new.entry_bytes_max;
    let mut large = Vec::new();
    let _all = shard.visit(Tag::FIRST, usize::MAX, |tag, entry| large.extend(is_large(entry).then_some(tag)));
    large.into_iter().filter_map(|tag| shard.remove_if(tag, is_large)).collect()
}

/// What stands for an entry in the trials. Cost: that of hashing its answer.
#[cold]
fn sample_of<T: Plan>(entry: &Entry<T>) -> Sample {
    Sample::of(entry.weight_bytes(), entry.answer_hash())
}

impl<T: Plan> Held for Entry<T> {
    fn weight_bytes(&self) -> u64 {
        Self::weight_bytes(self)
    }

    fn own_bytes(&self) -> u64 {
        Self::own_bytes(self)
    }

    fn spared_bytes(&self) -> u64 {
        Self::spared_bytes(self)
    }

    fn is_like(&self, other: &Self) -> bool {
        Self::is_like(self, other)
    }
}

impl<T: Plan> fmt::Debug for Cache<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").field("usage", &self.usage()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod contention;
