//! The limits: bytes in all, bytes of one result, results without rows.

use super::SELECT;
use crate::proxy::Setup;
use crate::stage::{CACHE_ALL, Stage, figure};

#[test]
fn result_over_the_threshold_is_not_stored() {
    let stage =
        Stage::with(Setup::default().rule(CACHE_ALL).variable("mysql-threshold_resultset_size", 2048));
    let mut client = stage.client();
    let (small, large) = ("SELECT REPEAT('x', 1000)", "SELECT REPEAT('x', 3000)");
    for select in [small, small, large, large] {
        client.ok(select);
    }
    client.settle();
    assert_eq!((stage.figure("Query_Cache_count_SET"), stage.figure("Query_Cache_count_GET_OK")), (1, 1));
    stage.administer(["SET mysql-threshold_resultset_size = 4096", "LOAD MYSQL VARIABLES TO RUNTIME"]);
    client.ok(large);
    client.settle();
    assert_eq!(stage.figure("Query_Cache_count_SET"), 2, "the new limit acts at once");
}

#[test]
fn memory_never_exceeds_the_limit() {
    const LIMIT: u64 = 1 << 20;
    let stage = Stage::with(Setup::default().rule(CACHE_ALL).variable("mysql-query_cache_size_MB", 1));
    let mut client = stage.client();
    let mut operator = stage.proxy.operator();
    assert_eq!(figure(&mut operator, "Query_Cache_Limit_bytes"), LIMIT);
    let mut highest = 0;
    for round in 0..600 {
        // What is asked for more often is let in for what is less, whatever the server took and however large it is.
        for _ in 0..if round < 300 { 2 } else { 16 } {
            client.ok(format!("SELECT {round}, REPEAT('x', {})", 1000 + round * 13));
        }
        if round % 10 == 0 {
            client.settle();
            highest = highest.max(figure(&mut operator, "Query_Cache_Memory_bytes"));
        }
    }
    assert!(highest <= LIMIT, "{highest}");
    assert!(highest > LIMIT / 2, "{highest}: the limit was put to use");
    assert!(figure(&mut operator, "Query_Cache_Evicted") > 0);
}

#[test]
fn lowered_limit_acts_at_once_and_0_caches_nothing() {
    let stage = Stage::caching();
    let mut client = stage.client();
    (0..40).for_each(|round| drop(client.ok(format!("SELECT {round}, REPEAT('x', 60000)"))));
    client.settle();
    assert!(stage.figure("Query_Cache_Memory_bytes") > 2 << 20);
    stage.administer(["SET mysql-query_cache_size_MB = 1", "LOAD MYSQL VARIABLES TO RUNTIME"]);
    assert!(stage.figure("Query_Cache_Memory_bytes") <= 1 << 20);
    stage.administer(["SET mysql-query_cache_size_MB = 0", "LOAD MYSQL VARIABLES TO RUNTIME"]);
    assert_eq!(stage.figure("Query_Cache_Entries"), 0);
    (0..2).for_each(|_| drop(client.ok(SELECT)));
    client.settle();
    assert_eq!(stage.figure("Query_Cache_Entries"), 0);
    assert_eq!(stage.figure("Query_Cache_count_GET_OK"), 0);
}

#[test]
fn empty_results_are_stored_as_rule_and_variable_say() {
    let empty = "SELECT v FROM t WHERE id = 99";
    for (variable, column, stores) in [
        (true, "", true),
        (false, "", false),
        (true, ", cache_empty_result=0", false),
        (false, ", cache_empty_result=1", true),
    ] {
        let stage = Stage::with(
            Setup::default()
                .rule(format!("{CACHE_ALL}{column}"))
                .variable("mysql-query_cache_stores_empty_result", variable),
        );
        let mut client = stage.client();
        assert!(client.ok(empty).rows.is_empty());
        client.settle();
        assert_eq!(stage.figure("Query_Cache_count_SET"), u64::from(stores), "{variable} {column}");
        stage.primary().ok("INSERT INTO t VALUES (99, 'there now')");
        assert_eq!(client.ok(empty).rows.is_empty(), stores, "{variable} {column}");
    }
}
