//! Copies entries, so that slabs that hold few become empty: see `occupancy`.

use std::sync::atomic::Ordering;
use std::thread;

use super::{Cache, SWEEP_CHUNK};
use crate::entry::Entry;
use crate::occupancy::{Copying, Occupancy, is_among};
use crate::plan::Plan;
use crate::shard::Tag;

/// How much is copied before what it was copied from is freed.
const COPIED_BYTES: u64 = 1 << 20;

/// Worth to be copied for is this fraction of the limit: so much more than that the process may take at most.
const WORTH: u64 = 8;

impl<T: Plan> Cache<T> {
    /// Copies entries of sizes of which most have gone, so that the allocator can give back what those have left. To be called now and then: it
    /// goes on where it stopped when so many were copied (`budget`), a shard at a time. Does nothing while another call is at work.
    ///
    /// Cost: a look at each shard. Where there are such, a pass over shards' entries under their shared lock, a few hundred at a time, and the
    /// exclusive one for as many that are copied.
    pub fn defragment(&self, budget: usize) {
        let Some(mut copying) = self.copying.0.try_lock() else { return };
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
        let worth_bytes = self.partition.0.read().limits.bytes / WORTH;
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
        self.visit_shard(number, |tag, entry| {
            if is_among(entry.own_bytes(), sizes) {
                found.push((tag, entry.clone()));
            }
        });
        // The copies come into the slabs that stand first: those of the last go, all of a slab together.
        found.sort_unstable_by_key(|(_, entry)| std::cmp::Reverse(entry.address()));
        let count = found.len();
        let (mut batch, mut bytes) = (Vec::new(), 0);
        for (tag, entry) in found {
            bytes += entry.own_bytes();
            batch.push((tag, entry));
            if bytes >= COPIED_BYTES {
                self.copy(number, &batch);
                free(std::mem::take(&mut batch));
                bytes = 0;
            }
        }
        self.copy(number, &batch);
        free(batch);
        count
    }

    /// Puts copies in the place of these entries of a shard, as far as they are still there.
    fn copy(&self, number: usize, entries: &[(Tag, Entry<T>)]) {
        for chunk in entries.chunks(SWEEP_CHUNK) {
            let copies: Vec<_> = chunk.iter().map(|(_, entry)| entry.copied()).collect();
            let mut shard = self.shards[number].0.write();
            for ((tag, entry), copy) in chunk.iter().zip(copies) {
                if let Some(place) = shard.peek_mut(*tag, |stored| stored.is_same(entry)) {
                    *place = copy;
                }
            }
        }
    }
}

/// Lets go of what was copied, on a thread of its own. An allocator keeps some of what a thread frees for what the same thread asks for next:
/// of the next copies some would come into slabs that are to become empty, and hold them.
fn free<T: Plan>(copied: Vec<(Tag, Entry<T>)>) {
    if copied.is_empty() {
        return;
    }
    thread::scope(|scope| {
        // Behind the join the allocator has all of it. Where there is no other thread to be had, it is freed here.
        if let Ok(thread) =
            thread::Builder::new().name("nuthatch-free".to_owned()).spawn_scoped(scope, || drop(copied))
        {
            let _freed = thread.join();
        }
    });
}
