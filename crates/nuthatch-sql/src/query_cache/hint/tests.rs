//! What hints say, and what is no hint.

use proptest::prelude::*;

use super::*;

const MYSQL: ServerFlavor = ServerFlavor::MySql(80_400);

fn hint(query: &str) -> (CacheWish, Option<u32>) {
    let CacheHint { wish, ttl_ms, .. } = cache_hint(query.as_bytes(), Lexing::of(MYSQL));
    (wish, ttl_ms)
}

#[test]
fn hints_are_read_in_their_places() {
    use CacheWish::{Cache, NoCache, None as Nothing};
    for (query, wish, ttl_ms) in [
        ("SELECT 1", Nothing, None),
        ("SELECT SQL_CACHE 1", Cache, None),
        ("(select high_priority sql_cache distinct a FROM t)", Cache, None),
        ("SELECT SQL_CACHE * FROM t", Cache, None),
        ("SELECT SQL_CACHE -1", Cache, None),
        ("SELECT /*!40001 SQL_NO_CACHE */ * FROM t", NoCache, None),
        ("SELECT SQL_NO_CACHE a FROM t", NoCache, None),
        ("SELECT SQL_CACHE SQL_NO_CACHE a FROM t", NoCache, None),
        ("SELECT sql_cache FROM t", Nothing, None),
        ("SELECT sql_cache, a FROM t", Nothing, None),
        ("SELECT sql_cache.a FROM sql_cache", Nothing, None),
        ("SELECT a, SQL_CACHE FROM t", Nothing, None),
        ("SELECT 1 FROM (SELECT SQL_CACHE 1) x", Nothing, None),
        ("SELECT 'SQL_CACHE'", Nothing, None),
        ("INSERT INTO t SELECT SQL_CACHE 1", Nothing, None),
        ("/* nuthatch: cache */ SELECT 1", Cache, None),
        ("/*nuthatch:no_cache*/SELECT 1", NoCache, None),
        ("SELECT 1 /* Nuthatch : NO_CACHE */", NoCache, None),
        ("SELECT /* nuthatch: ttl=5000 */ 1", Nothing, Some(5000)),
        ("SELECT 1 /* nuthatch: cache, ttl = 10 */", Cache, Some(10)),
        ("SELECT 1 /* nuthatch: ttl=0 */", Nothing, Some(0)),
        ("/* nuthatch: cache */ SELECT 1 /* nuthatch: no_cache, ttl=7 */", Cache, Some(7)),
        ("/* nuthatch: ttl=1 */ SELECT 1 /* nuthatch: ttl=2 */", Nothing, Some(1)),
        ("/* nuthatch: no_cache */ SELECT SQL_CACHE 1", NoCache, None),
        ("/* nuthatch: cache */ SELECT SQL_NO_CACHE 1", NoCache, None),
        ("/* nuthatch: colour=red, cache */ SELECT 1", Cache, None),
        ("/* nuthatch: ttl=-1, ttl=x, ttl=99999999999, ttl */ SELECT 1", Nothing, None),
        ("/* nuthatch: cache=1 */ SELECT 1", Nothing, None),
        ("/* nuthatch cache */ SELECT 1", Nothing, None),
        ("/* nuthatches: cache */ SELECT 1", Nothing, None),
        ("/* see nuthatch: cache */ SELECT 1", Nothing, None),
        ("SELECT '/* nuthatch: cache */'", Nothing, None),
        ("SELECT 1 -- nuthatch: cache", Nothing, None),
        ("SELECT 1 /*!99999 nuthatch: cache */", Nothing, None),
        ("SELECT 1 /* nuthatch: cache", Nothing, None),
    ] {
        assert_eq!(hint(query), (wish, ttl_ms), "{query}");
    }
}

#[test]
fn sql_cache_gives_way_to_spaces_where_the_server_does_not_know_it() {
    for (query, server, expected) in [
        ("SELECT SQL_CACHE a FROM t", MYSQL, Some("SELECT           a FROM t")),
        ("SELECT/**/sql_cache(1)", MYSQL, Some("SELECT/**/         (1)")),
        ("SELECT SQL_CACHE SQL_CACHE 1", MYSQL, Some("SELECT           SQL_CACHE 1")),
        ("SELECT SQL_CACHE a FROM t", ServerFlavor::MySql(50_744), None),
        ("SELECT SQL_CACHE a FROM t", ServerFlavor::MariaDb(101_119), None),
        ("SELECT SQL_NO_CACHE a FROM t", MYSQL, None),
        ("SELECT sql_cache FROM t", MYSQL, None),
        ("/* nuthatch: cache */ SELECT 1", MYSQL, None),
    ] {
        let hint = cache_hint(query.as_bytes(), Lexing::of(server));
        let sent = hint.without_sql_cache(query.as_bytes(), server);
        assert_eq!(sent.as_deref(), expected.map(str::as_bytes), "{query} {server:?}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read(query in any::<Vec<u8>>()) {
        let query = [b"SELECT SQL_CACHE /* nuthatch: ".as_slice(), &query].concat();
        let hint = cache_hint(&query, Lexing::of(MYSQL));
        let sent = hint.without_sql_cache(&query, MYSQL);
        prop_assert!(sent.is_none_or(|sent| sent.len() == query.len()));
    }
}
