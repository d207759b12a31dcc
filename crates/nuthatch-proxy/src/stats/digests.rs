//! The map behind `stats_mysql_query_digest`: one row for each hostgroup, schema, user, client address and digest.
//!
//! The map is bounded: beyond `mysql-query_digests_max_entries` rows, statements of a digest that is not there are counted
//! in `dropped` only. A cache entry holds its row, so a hit bumps it without a look-up. A reset zeroes the rows;
//! those that nobody holds leave the map.
//!
//! Cost: a row is found under one of 16 locks by a hash of its key. Two keys with one 64-bit hash share a row.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use nuthatch_config::Stripes;
use nuthatch_sql::{ReadFootprint, TableId};
use parking_lot::Mutex;

use crate::stats::admission::{Admission, Counted};
use crate::stats::cache_counters::{CacheCounters, CacheFigures};
use crate::stats::door::Door;
use crate::stats::patience::Patience;
use crate::stats::reading::DigestReading;

const SHARDS: usize = 16;

/// What a statement takes beyond so many times the least is waiting.
const WAITING_FACTOR: u64 = 4;

/// Hostgroup of what the cache answered: ProxySQL's convention.
pub(crate) const HOSTGROUP_CACHE: i64 = -1;

/// What tells rows apart.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Observed<'a> {
    pub(crate) hostgroup: i64,
    pub(crate) schema: &'a [u8],
    pub(crate) user: &'a str,
    /// Empty unless `mysql-query_digests_track_hostname`.
    pub(crate) client_addr: &'a str,
    pub(crate) digest: u64,
    pub(crate) digest_text: &'a [u8],
}

/// What is added to a row.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Observation {
    pub(crate) now_ms: u64,
    pub(crate) time_us: u64,
    pub(crate) rows_affected: u64,
    pub(crate) rows_sent: u64,
}

/// The counters of one row.
#[derive(Debug)]
pub(crate) struct DigestCounters {
    hostgroup: i64,
    schema: Box<[u8]>,
    user: Box<str>,
    client_addr: Box<str>,
    digest: u64,
    digest_text: Box<[u8]>,
    /// What servers answered.
    answered: Seen,
    sum_us: AtomicU64,
    min_us: AtomicU64,
    max_us: AtomicU64,
    rows_affected: AtomicU64,
    /// What the cache answered, by workers; of the cache's own row.
    hits: Stripes<Seen>,
    cache: CacheCounters,
    admission: Admission,
    patience: Patience,
    door: Door,
    /// What is hit when its answers are stored: the row of the cache.
    hit: OnceLock<Arc<Self>>,
    /// The tables that its answers depend on.
    tables: OnceLock<Box<[TableId]>>,
}

/// How many statements were answered with how many rows, and when the first and the last was.
#[derive(Debug, Default)]
struct Seen {
    count: AtomicU64,
    rows_sent: AtomicU64,
    first_ms: AtomicU64,
    last_ms: AtomicU64,
}

/// The same, read.
#[derive(Debug, Clone, Copy)]
struct Told {
    count: u64,
    rows_sent: u64,
    first_ms: u64,
    last_ms: u64,
}

/// A row of `stats_mysql_query_digest`, times in milliseconds since the proxy's start.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the columns of ProxySQL's table under their names")]
pub struct DigestRow {
    pub hostgroup: i64,
    pub schemaname: Vec<u8>,
    pub username: String,
    pub client_address: String,
    pub digest: u64,
    pub digest_text: Vec<u8>,
    pub count_star: u64,
    pub first_seen_ms: u64,
    pub last_seen_ms: u64,
    pub sum_time_us: u64,
    pub min_time_us: u64,
    pub max_time_us: u64,
    pub sum_rows_affected: u64,
    pub sum_rows_sent: u64,
    pub cache: CacheFigures,
    /// Whether copies of its answers pay, in words; none if that is not known yet.
    pub admission: Option<String>,
}

type Shard = HashMap<u64, Arc<DigestCounters>, BuildHasherDefault<AlreadyHashed>>;

/// The map. See the module's doc.
#[derive(Debug)]
pub(crate) struct Digests {
    shards: [Mutex<Shard>; SHARDS],
    len: AtomicUsize,
    dropped: AtomicU64,
    on_probation: AtomicU64,
}

impl Digests {
    pub(crate) fn new() -> Self {
        Self {
            shards: Default::default(),
            len: AtomicUsize::new(0),
            dropped: AtomicU64::new(0),
            on_probation: AtomicU64::new(0),
        }
    }

    /// The row of `observed`, made if there is room for it among `entries_max`.
    pub(crate) fn row(&self, observed: &Observed<'_>, entries_max: u64) -> Option<Arc<DigestCounters>> {
        let hash = observed.hash();
        let mut shard = self.shard(hash)?.lock();
        if let Some(row) = shard.get(&hash) {
            return Some(Arc::clone(row));
        }
        if self.len.load(Ordering::Relaxed) as u64 >= entries_max {
            self.dropped.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        self.len.fetch_add(1, Ordering::Relaxed);
        let row = Arc::new(DigestCounters::new(observed));
        shard.insert(hash, Arc::clone(&row));
        Some(row)
    }

    /// The row of `observed`, if there is one.
    pub(crate) fn known(&self, observed: &Observed<'_>) -> Option<Arc<DigestCounters>> {
        let hash = observed.hash();
        self.shard(hash)?.lock().get(&hash).map(Arc::clone)
    }

    /// Where the row of that hash stands.
    fn shard(&self, hash: u64) -> Option<&Mutex<Shard>> {
        self.shards.get(usize::try_from(hash % SHARDS as u64).unwrap_or_default())
    }

    /// Every row that has counted something since the last reset.
    pub(crate) fn read(&self, reading: DigestReading, now_ms: u64) -> Vec<DigestRow> {
        let mut rows = Vec::new();
        for shard in &self.shards {
            let mut shard = shard.lock();
            rows.extend(shard.values().filter_map(|row| row.read(reading, now_ms)));
            if reading == DigestReading::Reset {
                let before = shard.len();
                shard.retain(|_, row| Arc::strong_count(row) > 1);
                self.len.fetch_sub(before - shard.len(), Ordering::Relaxed);
            }
        }
        rows
    }

    /// Judges of each row whether copies of its answers pay. `writes` says how often a table was written. Cost: a pass over all rows.
    pub(crate) fn judge(&self, writes: impl Fn(TableId) -> u64, now_ms: u64) {
        let mut on_probation = 0;
        for shard in &self.shards {
            for row in shard.lock().values() {
                row.judge(&writes, now_ms);
                on_probation += u64::from(row.admission.is_on_probation());
            }
        }
        self.on_probation.store(on_probation, Ordering::Relaxed);
    }

    /// Copies are made for all again. Cost: a pass over all rows, if any is on probation.
    pub(crate) fn admit_all(&self) {
        if self.on_probation.swap(0, Ordering::Relaxed) > 0 {
            self.shards.iter().for_each(|shard| shard.lock().values().for_each(|row| row.admission.forget()));
        }
    }

    /// How many rows are on probation, as of when they were judged last.
    pub(crate) fn on_probation(&self) -> u64 {
        self.on_probation.load(Ordering::Relaxed)
    }

    /// Rows in the map.
    pub(crate) fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed)
    }

    /// Statements that found no room for their digest.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

impl Observed<'_> {
    fn hash(&self) -> u64 {
        let parts: [&[u8]; 3] = [self.schema, self.user.as_bytes(), self.client_addr.as_bytes()];
        let start = self.digest ^ self.hostgroup.cast_unsigned().rotate_left(32);
        parts.iter().fold(start, |sum, part| {
            sum.rotate_left(5).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ rapidhash::v3::rapidhash_v3(part)
        })
    }
}

impl DigestCounters {
    fn new(observed: &Observed<'_>) -> Self {
        Self {
            hostgroup: observed.hostgroup,
            schema: observed.schema.into(),
            user: observed.user.into(),
            client_addr: observed.client_addr.into(),
            digest: observed.digest,
            digest_text: observed.digest_text.into(),
            answered: Seen::default(),
            sum_us: AtomicU64::new(0),
            min_us: AtomicU64::new(u64::MAX),
            max_us: AtomicU64::new(0),
            rows_affected: AtomicU64::new(0),
            hits: Stripes::new(),
            cache: CacheCounters::default(),
            admission: Admission::default(),
            patience: Patience::default(),
            door: Door::default(),
            hit: OnceLock::new(),
            tables: OnceLock::new(),
        }
    }

    /// What tells its statements apart besides where they go: schema, user, digest.
    pub(crate) fn asked(&self) -> (Vec<u8>, String, u64) {
        (self.schema.to_vec(), self.user.to_string(), self.digest)
    }

    /// What the query cache had to do with it.
    pub(crate) fn cache(&self) -> &CacheCounters {
        &self.cache
    }

    pub(crate) fn digest(&self) -> u64 {
        self.digest
    }

    pub(crate) fn digest_text(&self) -> &[u8] {
        &self.digest_text
    }

    /// Whether copies of its answers pay.
    pub(crate) const fn admission(&self) -> &Admission {
        &self.admission
    }

    /// Whether its answers are let in where the cache is full.
    pub(crate) const fn door(&self) -> &Door {
        &self.door
    }

    /// How long its statements wait for each other's answers.
    pub(crate) const fn patience(&self) -> &Patience {
        &self.patience
    }

    /// The row of what the cache answers of its statements, found by `find` at first.
    pub(crate) fn hit_row(&self, find: impl FnOnce() -> Option<Arc<Self>>) -> Option<Arc<Self>> {
        if let Some(row) = self.hit.get() {
            return Some(Arc::clone(row));
        }
        let row = find()?;
        Some(Arc::clone(self.hit.get_or_init(|| row)))
    }

    /// Takes note of the tables that its answers depend on.
    pub(crate) fn note_tables(&self, footprint: &ReadFootprint) {
        let _known = self.tables.get_or_init(|| footprint.tables.iter().map(|read| read.table).collect());
    }

    fn judge(&self, writes: &impl Fn(TableId) -> u64, now_ms: u64) {
        let answered = self.answered.count.load(Ordering::Relaxed);
        let counted = Counted {
            hits: self.hit.get().map_or(0, |hit| hit.answered_from_cache()),
            copies: self.cache.copies(),
            writes: self.tables.get().map_or(0, |tables| tables.iter().map(|table| writes(*table)).sum()),
            average_us: self.average_us(answered),
        };
        self.admission.judge(counted, now_ms);
    }

    /// What its statements take a server on an average. Where the least is far less, the rest is taken for waiting at a busy server, which is not
    /// what an answer costs it.
    fn average_us(&self, answered: u64) -> u64 {
        let average_us = self.sum_us.load(Ordering::Relaxed).checked_div(answered).unwrap_or(0);
        average_us.min(self.min_us.load(Ordering::Relaxed).saturating_mul(WAITING_FACTOR))
    }

    /// Counts one statement that a server answered.
    pub(crate) fn observe(&self, seen: &Observation) {
        self.answered.note(seen.now_ms, seen.rows_sent);
        self.sum_us.fetch_add(seen.time_us, Ordering::Relaxed);
        self.min_us.fetch_min(seen.time_us, Ordering::Relaxed);
        self.max_us.fetch_max(seen.time_us, Ordering::Relaxed);
        self.rows_affected.fetch_add(seen.rows_affected, Ordering::Relaxed);
    }

    /// Counts one statement that the cache answered on that worker: it took no time that is counted.
    #[inline]
    pub(crate) fn hit(&self, worker: usize, now_ms: u64, rows_sent: u64) {
        self.hits.of(worker).note(now_ms, rows_sent);
    }

    fn answered_from_cache(&self) -> u64 {
        self.hits.all().map(|hits| hits.count.load(Ordering::Relaxed)).sum()
    }

    fn read(&self, reading: DigestReading, now_ms: u64) -> Option<DigestRow> {
        let take = |counter: &AtomicU64, zero: u64| match reading {
            DigestReading::Keep => counter.load(Ordering::Relaxed),
            DigestReading::Reset => counter.swap(zero, Ordering::Relaxed),
        };
        let hits = self.hits.all().map(|hits| hits.read(take));
        let seen = hits.fold(self.answered.read(take), Told::and);
        let min_us = take(&self.min_us, u64::MAX);
        let row = DigestRow {
            hostgroup: self.hostgroup,
            schemaname: self.schema.to_vec(),
            username: self.user.to_string(),
            client_address: self.client_addr.to_string(),
            digest: self.digest,
            digest_text: self.digest_text.to_vec(),
            count_star: seen.count,
            first_seen_ms: seen.first_ms,
            last_seen_ms: seen.last_ms,
            sum_time_us: take(&self.sum_us, 0),
            min_time_us: if min_us == u64::MAX { 0 } else { min_us },
            max_time_us: take(&self.max_us, 0),
            sum_rows_affected: take(&self.rows_affected, 0),
            sum_rows_sent: seen.rows_sent,
            cache: self.cache.read(reading),
            admission: self.admission.told(now_ms),
        };
        (seen.count > 0 || row.cache != CacheFigures::default()).then_some(row)
    }
}

impl Seen {
    /// One more was, with so many rows.
    #[inline]
    fn note(&self, now_ms: u64, rows_sent: u64) {
        if self.count.fetch_add(1, Ordering::Relaxed) == 0 {
            self.first_ms.store(now_ms, Ordering::Relaxed);
        }
        self.last_ms.store(now_ms, Ordering::Relaxed);
        self.rows_sent.fetch_add(rows_sent, Ordering::Relaxed);
    }

    fn read(&self, take: impl Fn(&AtomicU64, u64) -> u64) -> Told {
        Told {
            count: take(&self.count, 0),
            rows_sent: take(&self.rows_sent, 0),
            first_ms: self.first_ms.load(Ordering::Relaxed),
            last_ms: self.last_ms.load(Ordering::Relaxed),
        }
    }
}

impl Told {
    /// Both together. Times of nothing are of no account.
    fn and(self, other: Self) -> Self {
        let (first_ms, last_ms) = match (self.count, other.count) {
            (_, 0) => (self.first_ms, self.last_ms),
            (0, _) => (other.first_ms, other.last_ms),
            _ => (self.first_ms.min(other.first_ms), self.last_ms.max(other.last_ms)),
        };
        let (count, rows_sent) = (self.count + other.count, self.rows_sent + other.rows_sent);
        Self { count, rows_sent, first_ms, last_ms }
    }
}

/// The key is a hash already.
#[derive(Debug, Default)]
struct AlreadyHashed(u64);

impl Hasher for AlreadyHashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |sum, &byte| sum.rotate_left(8) ^ u64::from(byte));
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observed(digest: u64) -> Observed<'static> {
        Observed {
            hostgroup: 1,
            schema: b"test",
            user: "app",
            client_addr: "",
            digest,
            digest_text: b"SELECT ?",
        }
    }

    #[test]
    fn a_row_adds_up_what_it_observed() {
        let digests = Digests::new();
        for time_us in [30, 10, 20] {
            let row = digests.row(&observed(7), 10).unwrap();
            row.observe(&Observation { now_ms: time_us, time_us, rows_affected: 1, rows_sent: 2 });
        }
        let rows = digests.read(DigestReading::Keep, 0);
        assert_eq!(rows.len(), 1);
        let row = &rows[0];
        assert_eq!((row.count_star, row.sum_time_us, row.min_time_us, row.max_time_us), (3, 60, 10, 30));
        assert_eq!((row.first_seen_ms, row.last_seen_ms), (30, 20));
        assert_eq!((row.sum_rows_affected, row.sum_rows_sent), (3, 6));
    }

    #[test]
    fn hits_of_all_workers_add_up_and_begin_anew_behind_a_reset() {
        let digests = Digests::new();
        let row = digests.row(&observed(7), 10).unwrap();
        for (worker, now_ms) in [(3, 40), (0, 20), (11, 70), (0, 30)] {
            row.hit(worker, now_ms, 5);
        }
        let read = |reading| {
            let row = digests.read(reading, 0).first().cloned();
            row.map(|row| (row.count_star, row.sum_rows_sent, row.first_seen_ms, row.last_seen_ms))
        };
        assert_eq!(read(DigestReading::Reset), Some((4, 20, 20, 70)));
        assert_eq!(read(DigestReading::Keep), None);
        row.hit(3, 90, 1);
        assert_eq!(read(DigestReading::Keep), Some((1, 1, 90, 90)));
    }

    #[test]
    fn rows_are_apart_by_every_part_of_their_key() {
        let digests = Digests::new();
        let base = observed(7);
        for other in [
            Observed { hostgroup: HOSTGROUP_CACHE, ..base },
            Observed { schema: b"other", ..base },
            Observed { user: "other", ..base },
            Observed { client_addr: "10.0.0.1", ..base },
            observed(8),
            base,
        ] {
            digests.row(&other, 100).unwrap().hit(0, 1, 0);
        }
        assert_eq!(digests.read(DigestReading::Keep, 0).len(), 6);
    }

    #[test]
    fn the_map_is_bounded_and_counts_what_it_drops() {
        let digests = Digests::new();
        let made = (0..10).filter(|digest| digests.row(&observed(*digest), 4).is_some()).count();
        assert_eq!((made, digests.len(), digests.dropped()), (4, 4, 6));
    }

    #[test]
    fn a_reset_clears_everything_but_keeps_rows_that_are_held() {
        let digests = Digests::new();
        let held = digests.row(&observed(1), 10).unwrap();
        held.hit(0, 1, 0);
        digests.row(&observed(2), 10).unwrap().hit(0, 1, 0);
        assert_eq!(digests.read(DigestReading::Reset, 0).len(), 2);
        assert_eq!(digests.read(DigestReading::Keep, 0).len(), 0);
        assert_eq!(digests.len(), 1);
        held.hit(0, 2, 0);
        assert_eq!(digests.read(DigestReading::Keep, 0)[0].count_star, 1);
    }
}
