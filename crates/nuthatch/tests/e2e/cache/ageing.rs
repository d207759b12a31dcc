//! What becomes of answers with a time before that is over, and behind it: they are read anew, or given while no server answers.

use std::thread::sleep;
use std::time::Duration;

use super::{SELECT, change_behind, waiting_for_table};
use crate::client::{Client, Value};
use crate::deadline::await_that;
use crate::proxy::Setup;
use crate::stage::Stage;

const BY_ID: &str = "SELECT v FROM t WHERE id = ?";

/// Answers are kept for so long, and read anew after a tenth of that.
fn refreshing(ttl_ms: u32) -> Setup {
    let rule = format!("rule_id=1, match_pattern='^SELECT v', cache_ttl={ttl_ms}, apply=1");
    Setup::default().variable("mysql-query_cache_soft_ttl_pct", 10).rule(rule)
}

/// Where a rule gives answers a time, and after that while no server answers.
fn stale(ttl_ms: u32, stale_ms: u32) -> Stage {
    let attributes = format!("{{\"cache_stale_if_error_ms\":{stale_ms}}}");
    let columns = format!("cache_ttl={ttl_ms}, attributes='{attributes}'");
    let rule = format!("rule_id=1, match_pattern='^SELECT v', {columns}, apply=1");
    Stage::alone(Setup::default().variable("mysql-connect_timeout_server_max", 500).rule(rule))
}

fn misses(stage: &Stage) -> u64 {
    stage.figure("Query_Cache_count_GET") - stage.figure("Query_Cache_count_GET_OK")
}

#[test]
fn answer_is_read_anew_before_its_time_is_over_and_nobody_waits_for_it() {
    let stage = Stage::with(refreshing(60_000));
    let mut client = stage.client();
    assert_eq!(client.value(SELECT), "one");
    change_behind(&stage);
    assert_eq!(client.value(SELECT), "one");
    sleep(Duration::from_millis(6_100));
    let mut primary = stage.primary();
    primary.ok("LOCK TABLES t WRITE");
    // Who asks is given what is there, whatever the server does, and asks it once.
    for _ in 0..5 {
        assert_eq!(client.value(SELECT), "one");
    }
    await_that("it is being read anew", || stage.figure("Query_Cache_Refreshes_under_way") == 1);
    await_that("the server is asked", || waiting_for_table(&stage, "SELECT v FROM t%") == "1");
    primary.ok("UNLOCK TABLES");
    await_that("it is read anew", || client.value(SELECT) == "changed");
    assert_eq!((stage.figure("Query_Cache_Refreshes"), misses(&stage)), (1, 1));
    assert_eq!(stage.figure("Query_Cache_Refreshes_failed"), 0);
}

#[test]
fn executions_are_read_anew_as_texts_are_in_the_state_of_who_asks() {
    let stage = Stage::with(refreshing(20_000));
    let mut client = stage.client();
    client.ok("SET NAMES latin1");
    client.ok("SET sql_mode = 'ANSI_QUOTES'");
    client.ok("USE information_schema");
    client.ok(format!("USE {}", stage.schema));
    let statement = client.prepare(BY_ID).unwrap();
    let ask = |client: &mut Client| client.execute(&statement, &[Value::Int(1)]).unwrap().value();
    assert_eq!(ask(&mut client), "one");
    change_behind(&stage);
    await_that("it is read anew", || ask(&mut client) == "changed");
    // The preparation is one of the misses.
    assert!(misses(&stage) <= 2, "{}", misses(&stage));
    assert!(stage.figure("Query_Cache_Refreshes") >= 1);
}

#[test]
fn what_cannot_be_read_anew_is_not_tried_again_at_once() {
    let stage = Stage::with(refreshing(20_000));
    let mut client = stage.client();
    assert_eq!(client.value(SELECT), "one");
    stage.primary().ok("RENAME TABLE t TO other");
    sleep(Duration::from_millis(2_100));
    for _ in 0..100 {
        assert_eq!(client.value(SELECT), "one");
        sleep(Duration::from_millis(10));
    }
    let failed = stage.figure("Query_Cache_Refreshes_failed");
    assert!((1..=6).contains(&failed), "{failed} tries in a second or a few");
}

#[test]
fn answer_past_its_time_is_given_only_while_no_server_answers() {
    let mut stage = stale(300, 60_000);
    let mut client = stage.client();
    assert_eq!(client.value(SELECT), "one");
    assert_eq!(client.value("SELECT v FROM t WHERE id = 2"), "two");
    sleep(Duration::from_millis(400));
    let told = client.table(format!("EXPLAIN CACHE {SELECT}"));
    assert!(told.iter().any(|row| row[1].starts_with("miss, its time is over")), "{told:?}");
    change_behind(&stage);
    assert_eq!(client.value(SELECT), "changed", "the server answers");
    sleep(Duration::from_millis(400));
    let mut in_transaction = stage.client();
    in_transaction.ok("BEGIN");
    stage.stop_server();
    for _ in 0..3 {
        assert_eq!(client.value(SELECT), "changed");
        assert_eq!(client.value("SELECT v FROM t WHERE id = 2"), "two");
    }
    assert_eq!(stage.figure("Query_Cache_Stale_answers"), 6);
    // It was never asked for, or is asked for in a transaction.
    client.refused("SELECT v FROM t WHERE id = 3");
    assert!(in_transaction.query(SELECT).is_err());
    assert_eq!(stage.figure("Query_Cache_Stale_answers"), 6);
    drop((client, in_transaction));
    stage.start_server();
    let mut client = stage.client();
    await_that("the server is back", || client.query("SELECT 1").is_ok());
    stage.primary().ok("UPDATE t SET v = 'new' WHERE id = 1");
    await_that("it answers", || client.query(SELECT).is_ok_and(|answer| answer.value() == "new"));
}

#[test]
fn nothing_is_given_past_its_time_where_no_rule_says_so_nor_past_that_one() {
    for stale_ms in [0, 300] {
        let mut stage = stale(100, stale_ms);
        let mut client = stage.client();
        assert_eq!(client.value(SELECT), "one");
        stage.stop_server();
        sleep(Duration::from_millis(500));
        client.refused(SELECT);
        assert_eq!(stage.figure("Query_Cache_Stale_answers"), 0, "{stale_ms} ms");
    }
}
