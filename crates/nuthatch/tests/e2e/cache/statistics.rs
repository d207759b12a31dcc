//! The tables of statistics of the cache.

use super::SELECT;
use crate::client::Client;
use crate::deadline::await_that;
use crate::proxy::Setup;
use crate::stage::{CACHE_ALL, Stage};

/// The one row of a digest, of these columns.
#[track_caller]
fn row(stage: &Stage, columns: &str, digest_text: &str) -> Vec<String> {
    let sql = format!("SELECT {columns} FROM stats_query_cache WHERE digest_text LIKE '{digest_text}'");
    let mut rows = stage.proxy.operator().table(sql);
    assert_eq!(rows.len(), 1, "{rows:?}");
    rows.remove(0)
}

fn last_not_cached(stage: &Stage, digest_text: &str) -> String {
    row(stage, "COALESCE(last_not_cached, 'cached')", digest_text).remove(0)
}

#[test]
fn each_digest_has_its_hits_fills_and_bytes_until_a_reset() {
    let stage = Stage::caching();
    let mut client = stage.client();
    for id in [1, 2, 1, 1] {
        client.ok(format!("SELECT v FROM t WHERE id = {id}"));
    }
    client.settle();
    let columns = "hostgroup, look_ups, hits, hit_ratio, fills, entries, expired, invalidated";
    assert_eq!(row(&stage, columns, "SELECT v%"), ["0", "4", "2", "0.5", "2", "2", "0", "0"]);
    let figures = row(&stage, "bytes, backend_time_saved_us", "SELECT v%");
    assert!(figures.iter().all(|figure| figure != "0"), "{figures:?}");
    let mut operator = stage.proxy.operator();
    assert_eq!(operator.table("SELECT hits FROM stats_query_cache_reset").len(), 1);
    assert_eq!(operator.value("SELECT COUNT(*) FROM stats_query_cache"), "0");
}

#[test]
fn reason_why_the_last_answer_was_not_cached_is_kept_in_words() {
    let stage = Stage::with(
        Setup::default().rule(CACHE_ALL).variable("mysql-query_cache_stores_empty_result", false),
    );
    let mut client = stage.client();
    for (sql, digest_text, expected) in [
        (SELECT, "SELECT v FROM t WHERE id = ?", "cached"),
        (
            "SELECT v FROM t WHERE id = 99",
            "SELECT v FROM t WHERE id = ?",
            "its answer had no rows, and those are not stored",
        ),
        ("SELECT v FROM t FOR UPDATE", "%FOR UPDATE", "it locks rows or moves a sequence"),
        ("SELECT CAST(v AS INT) FROM t", "SELECT CAST%", "its answer came with warnings"),
        ("SELECT SQL_NO_CACHE 1", "SELECT SQL_NO_CACHE%", "it says SQL_NO_CACHE or no_cache"),
    ] {
        client.ok(sql);
        client.settle();
        assert_eq!(last_not_cached(&stage, digest_text), expected, "{sql}");
    }
    client.ok("BEGIN");
    client.ok("SELECT v, 1 FROM t");
    client.settle();
    let expected = "a transaction was open, and a time is given only to what was read outside of one";
    assert_eq!(last_not_cached(&stage, "SELECT v,%"), expected);
}

#[test]
fn tables_are_counted_by_what_reads_and_writes_them() {
    let stage = Stage::with(Setup::default().variable("mysql-query_cache_type", 1));
    let (mut client, mut operator) = (stage.client(), stage.proxy.operator());
    client.ok("CREATE TABLE old (id INT) ENGINE=MEMORY");
    let of = |operator: &mut Client, table: &str| {
        operator.table(format!(
            "SELECT reads, writes, invalidations, COALESCE(unsuitable, '') FROM stats_query_cache_tables \
             WHERE schema_name = '{}' AND table_name = '{table}'",
            stage.schema
        ))
    };
    await_that("the tables are known", || {
        !of(&mut operator, "t").is_empty() && !of(&mut operator, "old").is_empty()
    });
    client.ok(SELECT);
    client.ok("UPDATE t SET v = 'changed' WHERE id = 1");
    client.ok(SELECT);
    client.settle();
    assert_eq!(of(&mut operator, "t"), [["2", "1", "1", ""]]);
    assert_eq!(of(&mut operator, "old"), [["0", "0", "0", "is of an engine other than InnoDB and MyISAM"]]);
    let figures = || row(&stage, "hits, fills, invalidated, repeated", "SELECT v%");
    assert_eq!(figures(), ["0", "2", "1", "0"]);
    // It cannot be told of which row it is, and it is of another.
    client.ok("UPDATE t SET v = 'other' WHERE v = 'two'");
    client.ok(SELECT);
    client.settle();
    assert_eq!(figures(), ["0", "3", "2", "1"], "the same answer came again");
    assert_eq!(
        operator.value(
            "SELECT Variable_Value FROM stats_mysql_global WHERE Variable_Name = 'Query_Cache_Repeated'"
        ),
        "1"
    );
}

#[test]
fn entries_show_no_literal_and_the_largest_first() {
    let stage = Stage::caching();
    let mut client = stage.client();
    client.ok("SELECT 'secret', v FROM t");
    client.ok("SELECT 'secret' FROM t WHERE id = 1");
    client.settle();
    let mut operator = stage.proxy.operator();
    let entries =
        operator.table("SELECT username, schemaname, query, \"rows\", mode FROM stats_query_cache_entries");
    let user = stage.login().user;
    let expected = |query: &'static str, rows| [user.as_str(), stage.schema.as_str(), query, rows, "ttl"];
    assert_eq!(entries, [expected("SELECT ?,v FROM t", "3"), expected("SELECT ? FROM t WHERE id = ?", "1")]);
    let times = operator.table("SELECT expire_ms - created_ms FROM stats_query_cache_entries");
    assert_eq!(times, [["60000"], ["60000"]]);
    (0..3).for_each(|_| drop(client.ok("SELECT 'secret', v FROM t")));
    client.settle();
    let used =
        operator.table("SELECT hits, access_ms > created_ms, ref_count FROM stats_query_cache_entries");
    assert_eq!(used, [["3", "1", "1"], ["0", "0", "1"]]);
    let advice = operator.table("SELECT name FROM stats_query_cache_advice ORDER BY name");
    assert!(advice.contains(&vec!["query_cache_size".to_owned()]), "{advice:?}");
}

#[test]
fn operator_is_told_how_well_the_servers_memory_serves_it() {
    let stage = Stage::with(Setup::default().variable("mysql-query_cache_type", 1));
    let mut operator = stage.proxy.operator();
    let select = "SELECT value FROM stats_query_cache_advice WHERE name='innodb_buffer_pool_hit_ratio'";
    await_that("its catalogue is read", || !operator.table(select).is_empty());
    let told = operator.value(select);
    assert!(told.starts_with("127.0.0.1:") && told.ends_with(" % with 64 MiB"), "{told}");
    let advice = operator.value("SELECT advice FROM stats_query_cache_advice WHERE name='query_cache_size'");
    assert!(advice.ends_with("innodb_buffer_pool_size: 6 MiB"), "{advice}");
}

#[test]
fn digest_is_told_how_many_of_its_entries_made_room() {
    // Compressed, all would fit.
    let setup = Setup::default().variable("mysql-query_cache_compress_min_bytes", 0);
    let stage = Stage::with(setup.rule(CACHE_ALL).variable("mysql-query_cache_size_MB", 1));
    let mut client = stage.client();
    // Asked for some times, and never again: it is found out that it is best to let those in.
    for number in 0..300 {
        (0..4).for_each(|_| drop(client.ok(format!("SELECT REPEAT('x', 20000), {number}"))));
    }
    client.settle();
    let figures = row(&stage, "fills, entries, evicted", "SELECT REPEAT%");
    let [fills, entries, evicted]: [u64; 3] =
        figures.iter().map(|figure| figure.parse().unwrap()).collect::<Vec<_>>().try_into().unwrap();
    assert!(evicted > 20 && evicted <= fills - entries, "{evicted} of {fills}, {entries} are left");
    assert!(stage.figure("Query_Cache_Not_admitted") > 0);
    assert!(stage.figure("Query_Cache_Evicted") >= evicted);
}
