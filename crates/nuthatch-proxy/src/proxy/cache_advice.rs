//! The rows of `stats_query_cache_advice`: what an operator might do about the cache, from what was counted.
//!
//! The rules are those by which others size such caches: a fifth of all distinct results together where that can be told, else a tenth of the
//! buffer pool, taken out of it; no cache before the buffer pool itself answers four reads in five; only what is read more often
//! than written. With too little counted nothing is advised.

use std::borrow::Cow;
use std::sync::Arc;

use nuthatch_cache::Usage;

use crate::exact::{BufferPool, Domain, Exact};
use crate::proxy::cached_tables::{CachedTableRow, cached_tables};
use crate::proxy::query_cache::QueryCacheRow;
use crate::shared::Shared;
use crate::stats::Totals;

/// A row of `stats_query_cache_advice`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheAdvice {
    /// What it is about.
    pub name: &'static str,
    /// What was found.
    pub value: String,
    /// What to do; empty for nothing.
    pub advice: Cow<'static, str>,
}

/// Below so many look-ups or fills nothing can be told.
const COUNT_MIN: u64 = 1000;

/// Below so many pages that were asked for nothing can be told of a buffer pool: a server reads more of them at its start.
const PAGES_MIN: u64 = 100_000;

/// So many names are listed.
const NAMES_MAX: usize = 5;

/// The rows of `stats_query_cache_advice`. `digests` are those of `stats_query_cache`.
pub(super) fn cache_advice(shared: &Shared, digests: &[QueryCacheRow]) -> Vec<CacheAdvice> {
    let (totals, usage) = (shared.totals(), shared.answers.cache.usage());
    let servers = servers_that_take_writes(&shared.exact);
    let mut rows = vec![hit_ratio(&totals), size(&usage, servers.iter().find_map(|one| one.buffer_pool))];
    rows.extend(servers.iter().map(|server| buffer_pool(server)));
    rows.extend([written_tables(&cached_tables(&shared.exact)), useless_digests(digests)]);
    rows
}

/// What is known of each server, once, however many hostgroups it stands in; in the order of their names.
fn servers_that_take_writes(exact: &Exact) -> Vec<Arc<Domain>> {
    let catalogues = exact.catalogues.current();
    let of_servers = catalogues.hostgroups().filter(|(_, domain)| domain.takes_writes);
    let mut servers: Vec<_> = of_servers.map(|(_, domain)| Arc::clone(domain)).collect();
    servers.sort_by(|one, other| (&one.host, one.port).cmp(&(&other.host, other.port)));
    servers.dedup_by(|one, other| (&one.host, one.port) == (&other.host, other.port));
    servers
}

fn hit_ratio(totals: &Totals) -> CacheAdvice {
    let percent = percent(totals.cache_get_ok, totals.cache_get);
    let advice = match percent {
        _ if totals.cache_get < COUNT_MIN => "too few look-ups yet",
        90.. => "",
        50..90 => "point reads gain most above 90 %; range and grouped reads gain below it too",
        _ => {
            "a low ratio costs little and gains little: see last_not_cached, expired and invalidated in stats_query_cache"
        }
    };
    CacheAdvice { name: "hit_ratio", value: format!("{percent} %"), advice: advice.into() }
}

fn size(usage: &Usage, pool: Option<BufferPool>) -> CacheAdvice {
    let used = percent(usage.bytes, usage.limit_bytes);
    // Which of the two it is depends on the rule by which it is chosen who goes.
    let answers = usage.sets + usage.not_admitted;
    let without_room = percent(usage.evicted + usage.not_admitted, answers);
    let advice = match (used, without_room) {
        _ if usage.limit_bytes == 0 => "nothing is cached: raise mysql-query_cache_size_MB".into(),
        _ if answers < COUNT_MIN => {
            let tenth = pool.map_or(String::new(), |pool| format!(": {} MiB", (pool.size_bytes / 10) >> 20));
            format!(
                "too few answers yet; begin with 20 % of what all results together take, or 10 % of innodb_buffer_pool_size{tenth}"
            )
            .into()
        }
        (_, 10..) => {
            "answers make room for others, or are not let in, before they are of use: double mysql-query_cache_size_MB, and take as much from the buffer pool".into()
        }
        (..50, 0) => "half of it would do: mysql-query_cache_size_MB can be lowered".into(),
        _ => Cow::default(),
    };
    let limit = usage.limit_bytes >> 20;
    let value =
        format!("{limit} MiB, {used} % of it used, {without_room} % of the answers evicted or not let in");
    CacheAdvice { name: "query_cache_size", value, advice }
}

/// Of all reads since the server began.
fn buffer_pool(server: &Domain) -> CacheAdvice {
    let of_server = |figure: String| match server.port {
        0 => format!("{}: {figure}", server.host),
        port => format!("{}:{port}: {figure}", server.host),
    };
    let (figure, advice) = match server.buffer_pool {
        None => ("not told".to_owned(), ""),
        Some(pool) => {
            let percent = percent(pool.read_requests.saturating_sub(pool.reads), pool.read_requests);
            let advice = match percent {
                _ if pool.read_requests < PAGES_MIN => "too few reads yet",
                80.. => "",
                _ => {
                    "memory does more for this server's buffer pool than for the query cache: raise innodb_buffer_pool_size first"
                }
            };
            (format!("{percent} % with {} MiB", pool.size_bytes >> 20), advice)
        }
    };
    CacheAdvice { name: "innodb_buffer_pool_hit_ratio", value: of_server(figure), advice: advice.into() }
}

fn written_tables(tables: &[CachedTableRow]) -> CacheAdvice {
    let mut written: Vec<_> =
        tables.iter().filter(|table| table.writes > table.reads.max(COUNT_MIN)).collect();
    written.sort_by_key(|table| std::cmp::Reverse(table.writes));
    let name = |table: &&CachedTableRow| {
        format!("{}.{}", String::from_utf8_lossy(&table.schema), String::from_utf8_lossy(&table.table))
    };
    let value = written.iter().take(NAMES_MAX).map(name).collect::<Vec<_>>().join(", ");
    let advice = match written.as_slice() {
        [] => "",
        _ => {
            "written more often than read into the cache: read them with SQL_NO_CACHE, or use query_cache_type DEMAND"
        }
    };
    CacheAdvice { name: "tables_written_more_than_read", value, advice: advice.into() }
}

fn useless_digests(digests: &[QueryCacheRow]) -> CacheAdvice {
    let mut useless: Vec<_> =
        digests.iter().filter(|row| row.fills >= COUNT_MIN && row.hits < row.fills / 10).collect();
    useless.sort_by_key(|row| std::cmp::Reverse(row.fills));
    let value: Vec<_> = useless.iter().take(NAMES_MAX).map(|row| format!("0x{:016X}", row.digest)).collect();
    let advice = match useless.as_slice() {
        [] => "",
        _ => "stored again and again and hardly ever served: give them SQL_NO_CACHE",
    };
    CacheAdvice { name: "digests_hardly_ever_hit", value: value.join(", "), advice: advice.into() }
}

/// 0 of nothing.
fn percent(part: u64, whole: u64) -> u64 {
    part.saturating_mul(100).checked_div(whole).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use nuthatch_sql::Catalogue;

    use super::*;

    const POOL: BufferPool = BufferPool { size_bytes: 128 << 20, read_requests: 1_000_000, reads: 190_000 };

    #[test]
    fn memory_goes_to_a_buffer_pool_that_answers_less_than_four_reads_in_five() {
        let of = |buffer_pool| {
            let row = super::buffer_pool(&Domain { buffer_pool, ..Domain::before(Catalogue::default()) });
            (row.value, row.advice)
        };
        assert_eq!(of(Some(POOL)), ("db:3306: 81 % with 128 MiB".to_owned(), "".into()));
        let (value, advice) = of(Some(BufferPool { reads: 210_000, ..POOL }));
        assert_eq!(value, "db:3306: 79 % with 128 MiB");
        assert!(advice.contains("raise innodb_buffer_pool_size"), "{advice}");
        assert_eq!(of(Some(BufferPool { read_requests: 99_999, ..POOL })).1, "too few reads yet");
        assert_eq!(of(None).0, "db:3306: not told");
    }

    #[test]
    fn advice_follows_from_what_was_counted() {
        let ratio = |hits, look_ups| {
            hit_ratio(&Totals { cache_get_ok: hits, cache_get: look_ups, ..Totals::default() }).advice
        };
        assert!(ratio(9, 10).starts_with("too few"));
        assert_eq!(ratio(950, 1000), "");
        assert!(ratio(600, 1000).starts_with("point reads"));
        assert!(ratio(100, 1000).starts_with("a low ratio"));

        let of = |usage: &Usage| size(usage, Some(POOL)).advice;
        let size = |limit_bytes, bytes, sets, evicted| {
            of(&Usage { limit_bytes, bytes, sets, evicted, ..Usage::default() })
        };
        let not_let_in =
            Usage { limit_bytes: 1 << 20, bytes: 1 << 20, sets: 900, not_admitted: 100, ..Usage::default() };
        assert!(of(&not_let_in).starts_with("answers make room"));
        assert!(size(0, 0, 0, 0).starts_with("nothing is cached"));
        assert!(size(1 << 20, 9, 9, 0).ends_with("innodb_buffer_pool_size: 12 MiB"));
        assert!(size(1 << 20, 1 << 20, 1000, 100).starts_with("answers make room"));
        assert!(size(1 << 20, 1 << 10, 1000, 0).starts_with("half"));
        assert_eq!(size(1 << 20, 1 << 20, 1000, 99), "");

        let table = |reads, writes| CachedTableRow {
            schema: b"shop".to_vec(),
            table: b"log".to_vec(),
            reads,
            writes,
            invalidations: 0,
            unsuitable: None,
        };
        assert_eq!(written_tables(&[table(10, 5000)]).value, "shop.log");
        assert_eq!(written_tables(&[table(6000, 5000), table(0, 10)]).value, "");

        let digest = |fills, hits| QueryCacheRow { digest: 7, fills, hits, ..QueryCacheRow::default() };
        assert_eq!(useless_digests(&[digest(1000, 99)]).value, "0x0000000000000007");
        assert_eq!(useless_digests(&[digest(1000, 100), digest(10, 0)]).value, "");
    }
}
