//! Compresses entries while the cache is short of memory, and holds those in steady use as they are sent.
//!
//! Nothing is spared where nothing has to go. A fill of a shard from which something had to go lately compresses one entry: what it has brought,
//! or, where that was not let in, whom it would have pushed out. An entry that is hit all the time costs more to decompress than its bytes are
//! worth; it is held plain again, if who has to go for it is used less. Neither holds a lock while it works.

use std::sync::atomic::Ordering;

use super::Cache;
use crate::entry::Entry;
use crate::plan::Plan;
use crate::shard::{Left, Outgoing, Over, Shard, Tag};
use crate::usage::add;

/// One in so many hits of a compressed entry asks whether it is in steady use.
const ASKED: u32 = 16;

impl<T: Plan> Cache<T> {
    /// From now on entries that come, with packets of so many bytes at least, may be held compressed; none for 0. Those that are stay so.
    pub fn compress_from(&self, bytes: u64) {
        self.compress_bytes_min.store(bytes, Ordering::Relaxed);
    }

    /// Holds the compressed entry, which was just served, plain from now on, if it is in steady use. `made_room` is called, without a lock, for each
    /// that had to go.
    ///
    /// Cost: mostly a comparison; of some hits a look-up, and once that of decompressing all of it.
    pub fn hold_plain_if_steady(&self, entry: &Entry<T>, mut made_room: impl FnMut(&Entry<T>, Option<Over>)) {
        if !entry.is_compressed() || !entry.hits().is_multiple_of(ASKED) {
            return;
        }
        let tag = Tag::of(entry.key().hash());
        if self.read(tag).is_steady(tag, |stored| stored.is_same(entry)) {
            let count = self.exchange(tag, entry, entry.plain(), &mut made_room);
            add(&self.counters.0.made_plain, count);
        }
    }

    /// The entry that is to be compressed behind a fill of that shard: what was kept, or who was spared.
    pub(super) fn to_compress(
        &self,
        shard: &mut Shard<Entry<T>>,
        kept: Option<(Tag, &Entry<T>)>,
    ) -> Option<(Tag, Entry<T>)> {
        let bytes_min = self.compress_bytes_min.load(Ordering::Relaxed);
        if bytes_min == 0 || !shard.is_short() {
            return None;
        }
        let is_wanted = |entry: &Entry<T>| !entry.is_compressed() && entry.packet_bytes() as u64 >= bytes_min;
        let found = match kept {
            Some((tag, entry)) => Some((tag, entry)).filter(|(_, entry)| is_wanted(entry)),
            None => shard.take_spared(is_wanted),
        };
        found.filter(|_| self.pace.0.is_due()).map(|(tag, entry)| (tag, entry.clone()))
    }

    /// Compresses the entry, which stands in a shard that is short of memory, if it shrinks.
    pub(super) fn compress(
        &self,
        tag: Tag,
        entry: &Entry<T>,
        mut made_room: impl FnMut(&Entry<T>, Option<Over>),
    ) {
        let compressed = entry.compressed();
        self.pace.0.note(compressed.is_some());
        if let Some(compressed) = compressed {
            let count = self.exchange(tag, entry, compressed, &mut made_room);
            add(&self.counters.0.compressions, count);
        }
    }

    /// Puts its like in the place of the entry, if that is still there; returns how often.
    fn exchange(
        &self,
        tag: Tag,
        entry: &Entry<T>,
        like: Entry<T>,
        made_room: &mut impl FnMut(&Entry<T>, Option<Over>),
    ) -> u64 {
        let is_it = |stored: &Entry<T>| stored.is_same(entry);
        let outgoing: Outgoing<_> = self.write(tag).exchange(tag, like, is_it, self.choice.ruling());
        let exchanged = outgoing.iter().filter(|(_, _, why)| *why == Left::Exchanged).count();
        self.see_off(outgoing, made_room);
        exchanged as u64
    }
}
