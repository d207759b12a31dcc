//! The rows of `stats_query_cache`: what the cache did for each digest, out of the map of digests and the entries.
//!
//! What a server answered stands in the digest's row of its hostgroup, and what the cache answered in one of its own
//! ([`HOSTGROUP_CACHE`]). Here they come together: where a digest went to several hostgroups, what the cache did counts for that
//! from which it was filled most.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use nuthatch_cache::{Cache, Entry};

use crate::shared::answers::{Answers, HitPlan};
use crate::stats::{DigestCounters, DigestReading, DigestRow, HOSTGROUP_CACHE};

/// A row of `stats_query_cache`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the columns of the table under their names")]
pub struct QueryCacheRow {
    pub hostgroup: i64,
    pub schemaname: Vec<u8>,
    pub username: String,
    pub digest: u64,
    pub digest_text: Vec<u8>,
    pub look_ups: u64,
    pub hits: u64,
    pub fills: u64,
    pub entries: u64,
    pub bytes: u64,
    pub backend_time_saved_us: u64,
    pub evicted: u64,
    pub expired: u64,
    pub invalidated: u64,
    /// Answers that were the same when they were read again after that, as far as is known.
    pub repeated: u64,
    pub last_not_cached: Option<String>,
    /// Whether copies of its answers pay, in words; none if that is not known yet.
    pub admission: Option<String>,
}

/// What tells statements apart besides where they go.
type Asked = (Vec<u8>, String, u64);

/// What the cache holds now of one digest.
#[derive(Debug, Clone, Copy, Default)]
struct Stored {
    entries: u64,
    bytes: u64,
}

/// The rows of `stats_query_cache`.
pub(super) fn query_cache(answers: &Answers, reading: DigestReading, now_ms: u64) -> Vec<QueryCacheRow> {
    query_cache_rows(answers.digests.read(reading, now_ms), &stored(&answers.cache))
}

/// What the cache holds now of each digest. Cost: a pass over all entries.
fn stored(cache: &Cache<HitPlan>) -> HashMap<Asked, Stored> {
    let mut rows: HashMap<usize, (Arc<DigestCounters>, Stored)> = HashMap::new();
    cache.visit(|entry: &Entry<HitPlan>| {
        let Some(digest) = entry.plan().counters() else { return };
        let (_, stored) =
            rows.entry(Arc::as_ptr(digest).addr()).or_insert_with(|| (Arc::clone(digest), Stored::default()));
        stored.entries += 1;
        stored.bytes += entry.weight_bytes();
    });
    let mut by_asked = HashMap::new();
    for (digest, stored) in rows.into_values() {
        let sum: &mut Stored = by_asked.entry(digest.asked()).or_default();
        sum.entries += stored.entries;
        sum.bytes += stored.bytes;
    }
    by_asked
}

/// The rows, of all digests that were looked up or could not be cached.
fn query_cache_rows(digests: Vec<DigestRow>, stored: &HashMap<Asked, Stored>) -> Vec<QueryCacheRow> {
    let mut by_asked: BTreeMap<Asked, Vec<DigestRow>> = BTreeMap::new();
    for row in digests {
        let asked = (row.schemaname.clone(), row.username.clone(), row.digest);
        by_asked.entry(asked).or_default().push(row);
    }
    let rows_of = |(asked, digests)| rows_of_one(digests, stored.get(&asked).copied().unwrap_or_default());
    by_asked.into_iter().flat_map(rows_of).collect()
}

/// The rows of what differs in the hostgroup and the client's address only.
fn rows_of_one(digests: Vec<DigestRow>, stored: Stored) -> Vec<QueryCacheRow> {
    let (by_cache, by_servers): (Vec<_>, Vec<_>) =
        digests.into_iter().partition(|row| row.hostgroup == HOSTGROUP_CACHE);
    let mut rows: BTreeMap<i64, (QueryCacheRow, Answered)> = BTreeMap::new();
    for digest in by_servers {
        let (row, answered) = rows.entry(digest.hostgroup).or_default();
        answered.add(&digest);
        row.add_of_server(digest);
    }
    rows.retain(|_, (row, _)| row.look_ups > 0 || row.last_not_cached.is_some());
    if rows.is_empty() && !by_cache.is_empty() {
        rows.entry(HOSTGROUP_CACHE).or_default();
    }
    if let Some((row, answered)) = rows.values_mut().max_by_key(|(row, _)| row.fills) {
        by_cache.into_iter().for_each(|digest| row.add_of_cache(digest));
        (row.entries, row.bytes) = (stored.entries, stored.bytes);
        row.backend_time_saved_us = row.hits.saturating_mul(answered.average_us());
    }
    rows.into_values().map(|(row, _)| row).collect()
}

/// How long the server took.
#[derive(Debug, Clone, Copy, Default)]
struct Answered {
    count: u64,
    time_us: u64,
}

impl Answered {
    fn add(&mut self, digest: &DigestRow) {
        self.count += digest.count_star;
        self.time_us += digest.sum_time_us;
    }

    fn average_us(self) -> u64 {
        self.time_us.checked_div(self.count).unwrap_or(0)
    }
}

impl QueryCacheRow {
    fn add_of_server(&mut self, digest: DigestRow) {
        self.look_ups += digest.cache.misses;
        self.fills += digest.cache.fills;
        self.last_not_cached = digest.cache.not_cached.clone().or(self.last_not_cached.take());
        self.admission = digest.admission.clone().or(self.admission.take());
        self.name(digest);
    }

    fn add_of_cache(&mut self, digest: DigestRow) {
        self.look_ups += digest.count_star;
        self.hits += digest.count_star;
        self.evicted += digest.cache.evicted;
        self.expired += digest.cache.expired;
        self.invalidated += digest.cache.invalidated;
        self.repeated += digest.cache.repeated;
        if self.username.is_empty() {
            self.name(digest);
        }
    }

    fn name(&mut self, digest: DigestRow) {
        self.hostgroup = digest.hostgroup;
        (self.schemaname, self.username) = (digest.schemaname, digest.username);
        (self.digest, self.digest_text) = (digest.digest, digest.digest_text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::CacheFigures;

    fn digest(hostgroup: i64, count_star: u64, sum_time_us: u64, cache: CacheFigures) -> DigestRow {
        DigestRow {
            hostgroup,
            schemaname: b"shop".to_vec(),
            username: "app".to_owned(),
            client_address: String::new(),
            digest: 7,
            digest_text: b"SELECT ?".to_vec(),
            count_star,
            first_seen_ms: 0,
            last_seen_ms: 0,
            sum_time_us,
            min_time_us: 0,
            max_time_us: 0,
            sum_rows_affected: 0,
            sum_rows_sent: 0,
            cache,
            admission: None,
        }
    }

    fn figures(misses: u64, fills: u64) -> CacheFigures {
        CacheFigures { misses, fills, ..CacheFigures::default() }
    }

    #[test]
    fn hits_count_for_the_hostgroup_that_filled_and_save_what_its_misses_took() {
        let stored =
            HashMap::from([((b"shop".to_vec(), "app".to_owned(), 7), Stored { entries: 2, bytes: 600 })]);
        let cached = CacheFigures { expired: 1, invalidated: 3, ..CacheFigures::default() };
        let rows = query_cache_rows(
            vec![
                digest(HOSTGROUP_CACHE, 90, 0, cached),
                digest(0, 5, 5, figures(5, 0)),
                digest(1, 10, 2000, figures(10, 4)),
                digest(2, 10, 2000, figures(0, 0)),
            ],
            &stored,
        );
        assert_eq!(rows.len(), 2, "{rows:?}");
        assert_eq!((rows[0].hostgroup, rows[0].look_ups, rows[0].hits), (0, 5, 0));
        let row = &rows[1];
        assert_eq!((row.hostgroup, row.look_ups, row.hits, row.fills), (1, 100, 90, 4));
        assert_eq!((row.entries, row.bytes, row.expired, row.invalidated), (2, 600, 1, 3));
        assert_eq!(row.backend_time_saved_us, 90 * 200);
    }

    #[test]
    fn what_could_not_be_cached_has_a_row_and_what_was_not_asked_about_has_none() {
        let not_cached = CacheFigures { not_cached: Some("it failed".into()), ..CacheFigures::default() };
        let rows = query_cache_rows(vec![digest(0, 5, 5, not_cached)], &HashMap::new());
        assert_eq!(rows[0].last_not_cached.as_deref(), Some("it failed"));
        assert_eq!(query_cache_rows(vec![digest(0, 5, 5, figures(0, 0))], &HashMap::new()), []);
        let alone = query_cache_rows(vec![digest(HOSTGROUP_CACHE, 5, 0, figures(0, 0))], &HashMap::new());
        assert_eq!((alone[0].hostgroup, alone[0].hits, alone[0].username.as_str()), (-1, 5, "app"));
    }
}
