//! How much memory copies of answers on their way into the cache may take together.
//!
//! Short ones are not counted: a session has one at most. The others ask for room before they grow, and give it back when they are gone, however
//! that comes about.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A copy of so many bytes is not counted.
pub(crate) const UNCOUNTED_BYTES: usize = 16 << 10;

/// All copies together may take this part of the cache's limit, or one of the largest.
const PART: u64 = 8;

/// See the module's doc.
#[derive(Debug, Default)]
pub(crate) struct CaptureRoom {
    bytes: AtomicU64,
    bytes_max: AtomicU64,
    refused: AtomicU64,
}

/// What one copy has of it; it is given back with this.
#[derive(Debug)]
pub(crate) struct CaptureShare {
    room: Arc<CaptureRoom>,
    bytes: u64,
}

/// A reading.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CaptureUsage {
    /// What copies take now that are counted, in bytes.
    pub bytes: u64,
    /// The most that they may take together.
    pub bytes_max: u64,
    /// How many found no room.
    pub refused: u64,
}

impl CaptureRoom {
    /// Has the room that a cache with this limit gives, from now on. What is under way stays.
    pub(crate) fn keep_to(&self, cache_bytes: u64, entry_bytes_max: u64) {
        self.bytes_max.store((cache_bytes / PART).max(entry_bytes_max.min(cache_bytes)), Ordering::Relaxed);
    }

    /// What is taken and what there is.
    pub(crate) fn usage(&self) -> CaptureUsage {
        CaptureUsage {
            bytes: self.bytes.load(Ordering::Relaxed),
            bytes_max: self.bytes_max.load(Ordering::Relaxed),
            refused: self.refused.load(Ordering::Relaxed),
        }
    }

    fn take(&self, more_bytes: u64) -> bool {
        let bytes_max = self.bytes_max.load(Ordering::Relaxed);
        let taken = self.bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |bytes| {
            bytes.checked_add(more_bytes).filter(|bytes| *bytes <= bytes_max)
        });
        if taken.is_err() {
            self.refused.fetch_add(1, Ordering::Relaxed);
        }
        taken.is_ok()
    }
}

impl CaptureShare {
    /// None of it yet.
    pub(crate) const fn new(room: Arc<CaptureRoom>) -> Self {
        Self { room, bytes: 0 }
    }

    /// Whether a copy may grow to `bytes` in all. What it had before stays its own if not.
    pub(crate) fn grow_to(&mut self, bytes: usize) -> bool {
        let bytes = if bytes <= UNCOUNTED_BYTES { 0 } else { bytes as u64 };
        let is_given = bytes <= self.bytes || self.room.take(bytes - self.bytes);
        if is_given {
            self.bytes = bytes.max(self.bytes);
        }
        is_given
    }
}

impl Drop for CaptureShare {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.room.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_share_a_part_of_the_limit_and_give_it_back() {
        let room = Arc::new(CaptureRoom::default());
        room.keep_to(16 << 20, 1 << 20);
        assert_eq!(room.usage().bytes_max, 2 << 20);
        let mut one = CaptureShare::new(Arc::clone(&room));
        let mut other = CaptureShare::new(Arc::clone(&room));
        assert!(one.grow_to(1 << 20) && other.grow_to(UNCOUNTED_BYTES) && other.grow_to(1 << 20));
        assert!(!one.grow_to((1 << 20) + 1), "there is no more");
        assert_eq!(room.usage(), CaptureUsage { bytes: 2 << 20, bytes_max: 2 << 20, refused: 1 });
        drop(other);
        assert!(one.grow_to(2 << 20) && one.grow_to(100), "and one has less than it was given");
        drop(one);
        assert_eq!(room.usage().bytes, 0);
    }

    #[test]
    fn one_of_the_largest_has_room_in_any_cache() {
        let room = CaptureRoom::default();
        for (cache_bytes, entry_bytes_max, bytes_max) in
            [(0, 4 << 20, 0), (1 << 20, 4 << 20, 1 << 20), (16 << 20, 4 << 20, 4 << 20)]
        {
            room.keep_to(cache_bytes, entry_bytes_max);
            assert_eq!(room.usage().bytes_max, bytes_max);
        }
    }
}
