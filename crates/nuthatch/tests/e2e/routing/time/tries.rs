//! Statements that are held back before they are sent, and servers that get their share by and by.

use super::super::{WHO, both_in_one_hostgroup};
use crate::deadline::{Stopwatch, await_that};
use crate::proxy::Setup;
use crate::servers;
use crate::stage::{CACHE_ALL, Stage};

#[test]
fn statement_is_held_back_by_its_rule_and_the_variable_together() {
    let stage = Stage::with(Setup::default().rule("rule_id=1, match_pattern='held', delay=300, apply=1"));
    let mut client = stage.client();
    for (variable_ms, least_ms) in [(0, 300), (200, 500)] {
        stage.administer([
            &format!("SET mysql-default_query_delay = {variable_ms}"),
            "LOAD MYSQL VARIABLES TO RUNTIME",
        ]);
        let prepared = client.prepare("SELECT v FROM t WHERE id = 1 /*held*/").unwrap();
        let watch = Stopwatch::start();
        assert_eq!(client.value("SELECT v FROM t WHERE id = 1 /*held*/"), "one");
        assert!(watch.elapsed().as_millis() >= least_ms, "{:?}", watch.elapsed());
        let watch = Stopwatch::start();
        assert_eq!(client.execute(&prepared, &[]).unwrap().value(), "one");
        assert!(watch.elapsed().as_millis() >= least_ms, "{:?}", watch.elapsed());
        let watch = Stopwatch::start();
        client.ok("SELECT v FROM t");
        let took_ms = watch.elapsed().as_millis();
        assert!(took_ms >= variable_ms && (variable_ms > 0 || took_ms < 300), "{took_ms} ms");
    }
}

#[test]
fn held_back_statement_has_no_connection_and_is_not_sent_for_a_client_that_goes() {
    let setup = Setup::default().rule("rule_id=1, match_pattern='held', delay=2000, timeout=1000, apply=1");
    let stage = Stage::with(setup);
    let mut other = stage.client();
    other.ok("SELECT 1 FROM t");
    let mut client = stage.client();
    client.send(3, b"UPDATE t SET v = 'held' WHERE id = 1").unwrap();
    await_that("it is held back", || stage.figure("Client_Connections_non_idle") == 1);
    assert_eq!(stage.pool("ConnUsed", 0), 0);
    client.vanish();
    await_that("it is gone", || stage.figure("Client_Connections_connected") == 1);
    assert_eq!(stage.primary().value("SELECT v FROM t WHERE id = 1"), "one");
    // Its delay is no part of the time that it may take.
    let watch = Stopwatch::start();
    assert_eq!(other.value("SELECT 'held' FROM t WHERE id = 1"), "held");
    assert!(watch.elapsed().as_millis() >= 2000, "{:?}", watch.elapsed());
}

#[test]
fn answer_from_the_cache_is_not_held_back() {
    let stage = Stage::with(Setup::default().rule(CACHE_ALL).variable("mysql-default_query_delay", 400));
    let mut client = stage.client();
    client.ok("SELECT v FROM t");
    let watch = Stopwatch::start();
    client.ok("SELECT v FROM t");
    assert!(watch.elapsed().as_millis() < 400, "{:?}", watch.elapsed());
    assert_eq!(stage.figure("Query_Cache_count_GET_OK"), 1);
}

#[test]
fn server_that_comes_back_gets_its_share_by_and_by() {
    let stage = Stage::with(Setup::default().variable("mysql-slow_start_ms", 120_000));
    both_in_one_hostgroup(&stage);
    let mut client = stage.client();
    let mut share = || {
        let of_replica = (0..2000).filter(|_| client.value(WHO) == "2").count();
        of_replica / 20
    };
    let status = |status: &str| {
        let port = servers::shared().primary().port();
        let row =
            format!("UPDATE mysql_servers SET status = '{status}' WHERE hostgroup_id = 5 AND port <> {port}");
        stage.administer([&row, "LOAD MYSQL SERVERS TO RUNTIME"]);
    };
    let slowly = |ms: u32| {
        stage.administer([&format!("SET mysql-slow_start_ms = {ms}"), "LOAD MYSQL VARIABLES TO RUNTIME"]);
    };
    // Both are new, and rise alike.
    assert!(share().abs_diff(50) <= 6);
    slowly(1);
    assert!(share().abs_diff(50) <= 6);
    slowly(120_000);
    status("OFFLINE_SOFT");
    assert_eq!(share(), 0);
    status("ONLINE");
    // One part beside the other's ten.
    let at_first = share();
    assert!((4..=18).contains(&at_first), "{at_first} %");
    slowly(1);
    assert!(share().abs_diff(50) <= 6);
}
