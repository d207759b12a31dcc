//! The rows of `stats_query_cache_entries`: the largest entries.

use nuthatch_cache::Entry;

use crate::clock::Clock;
use crate::shared::Shared;
use crate::shared::answers::HitPlan;

/// How many entries are shown.
const ENTRIES_MAX: usize = 1000;

/// So much is shown of a statement.
const QUERY_BYTES_MAX: usize = 200;

/// A row of `stats_query_cache_entries`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the columns of the table under their names")]
pub struct CachedEntryRow {
    pub user: Vec<u8>,
    pub schema: Vec<u8>,
    pub digest: Option<u64>,
    /// The beginning of the normalised statement: an entry's own text may hold what is secret.
    pub query: Vec<u8>,
    /// Bytes with key and header.
    pub length: u64,
    /// By how many it would be longer were it not compressed.
    pub spared: u64,
    pub rows: u64,
    pub mode: &'static str,
    /// Since 1970.
    pub created_ms: u64,
    /// Since 1970; none of an entry that only a write ends.
    pub expire_ms: Option<u64>,
    /// When it was stored or served last, since 1970.
    pub access_ms: u64,
    pub hits: u64,
    /// The cache itself, and who is sending it just now.
    pub ref_count: u64,
}

/// The rows of `stats_query_cache_entries`, the largest first. Cost: a pass over all entries.
pub(super) fn cached_entries(shared: &Shared) -> Vec<CachedEntryRow> {
    let mut largest: Vec<Entry<HitPlan>> = Vec::new();
    shared.answers.cache.visit(|entry| {
        largest.push(entry.clone());
        if largest.len() == 2 * ENTRIES_MAX {
            keep_largest(&mut largest);
        }
    });
    keep_largest(&mut largest);
    largest.iter().map(|entry| cached_entry(entry, shared.clock)).collect()
}

fn cached_entry(entry: &Entry<HitPlan>, clock: Clock) -> CachedEntryRow {
    let digest = entry.plan().counters();
    let text = digest.map(|digest| digest.digest_text()).unwrap_or_default();
    let expires = (entry.expires_ms() != u64::MAX).then_some(entry.expires_ms());
    CachedEntryRow {
        user: entry.user().to_vec(),
        schema: entry.schema().to_vec(),
        digest: digest.map(|digest| digest.digest()),
        query: text[..text.len().min(QUERY_BYTES_MAX)].to_vec(),
        length: entry.weight_bytes(),
        spared: entry.spared_bytes(),
        rows: entry.rows(),
        mode: match (entry.is_exact(), expires) {
            (true, None) => "exact",
            (true, Some(_)) => "both",
            (false, _) => "ttl",
        },
        created_ms: clock.unix_ms_at(entry.created_ms()),
        expire_ms: expires.map(|ms| clock.unix_ms_at(ms)),
        access_ms: clock.unix_ms_at(entry.accessed_ms()),
        hits: u64::from(entry.hits()),
        // Not the list that it is read from.
        ref_count: entry.owners().saturating_sub(1) as u64,
    }
}

fn keep_largest(entries: &mut Vec<Entry<HitPlan>>) {
    entries.sort_unstable_by_key(|entry| std::cmp::Reverse(entry.weight_bytes()));
    entries.truncate(ENTRIES_MAX);
}
