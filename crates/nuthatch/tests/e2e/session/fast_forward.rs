//! Users whose bytes pass as they are.

use crate::deadline::await_that;
use crate::proxy::Setup;
use crate::stage::{CACHE_ALL, Stage};

const THREAD: &str = "SELECT id FROM information_schema.processlist WHERE info LIKE 'SELECT id FROM information_schema%' AND db = DATABASE()";

fn stage() -> Stage {
    let refusing = "rule_id=2, match_pattern='forbidden', error_msg='no', apply=1";
    Stage::with_user(Setup::default().rule(refusing).rule(CACHE_ALL), ", fast_forward=1")
}

#[test]
fn bytes_pass_over_one_connection_without_rules_or_cache() {
    let stage = stage();
    let mut client = stage.client();
    let thread = client.value("SELECT CONNECTION_ID()");
    for _ in 0..3 {
        assert_eq!(client.value(THREAD), thread);
    }
    assert_eq!(client.value("SELECT 'forbidden'"), "forbidden");
    assert_eq!(client.value("SELECT v FROM t WHERE id = 1"), "one");
    stage.primary().ok("UPDATE t SET v = 'new' WHERE id = 1");
    assert_eq!(client.value("SELECT v FROM t WHERE id = 1"), "new");
    client.ok("SET @a = 5");
    client.ok("CREATE TEMPORARY TABLE own SELECT 7 AS a");
    client.ok("BEGIN");
    assert!(client.ok("UPDATE t SET v = 'mine' WHERE id = 2").in_transaction());
    assert_eq!(client.value("SELECT @a + a FROM own"), "12");
    let statement = client.prepare("SELECT v FROM t WHERE id = 2").expect("it is prepared");
    assert_eq!(client.execute(&statement, &[]).expect("it runs").value(), "mine");
    assert_eq!(client.refused("nonsense").code, 1064);
    assert_eq!(client.value("SELECT LENGTH(REPEAT('x', 3000000))"), "3000000");
    assert_eq!(client.value("SELECT REPEAT('x', 3000000)").len(), 3_000_000);
    assert_eq!(stage.pool("ConnUsed", 0), 1);
    let shown = stage.proxy.operator().value("SELECT extended_info FROM stats_mysql_processlist");
    assert_eq!(shown, "{\"pinned_by\":\"fast_forward\"}");
    assert_eq!(stage.figure("Query_Cache_Entries"), 0);
    let idle = stage.pool("ConnFree", 0);
    client.quit();
    stage.await_unpinned();
    assert!(stage.pool("ConnFree", 0) <= idle, "its connection goes into no pool");
    assert_eq!(stage.primary().value("SELECT v FROM t WHERE id = 2"), "two", "rolled back");
}

#[test]
fn many_sessions_have_a_connection_each() {
    let stage = stage();
    let mut clients: Vec<_> = (0..5).map(|_| stage.client()).collect();
    let mut threads: Vec<_> =
        clients.iter_mut().map(|client| client.value("SELECT CONNECTION_ID()")).collect();
    threads.sort();
    threads.dedup();
    assert_eq!(threads.len(), 5);
    assert_eq!(stage.pool("ConnUsed", 0), 5);
}

#[test]
fn statement_is_killed_when_its_client_hangs_up() {
    let stage = stage();
    let mut client = stage.client();
    client.send(3, b"SELECT SLEEP(1000)").unwrap();
    let sleeping = format!(
        "SELECT COUNT(*) FROM information_schema.processlist WHERE db = '{}' AND info LIKE 'SELECT SLEEP(%'",
        stage.schema
    );
    await_that("it runs", || stage.primary().value(&sleeping) == "1");
    client.vanish();
    await_that("it is killed", || stage.primary().value(&sleeping) == "0");
    await_that("nothing is in use", || stage.pool("ConnUsed", 0) == 0);
}

#[test]
fn session_ends_with_its_server_connection() {
    let stage = stage();
    let mut client = stage.client();
    let thread = client.value("SELECT CONNECTION_ID()");
    stage.primary().ok(format!("KILL {thread}"));
    assert!(client.is_closed_by_server());
    let mut other = stage.client();
    assert_eq!(other.value("SELECT 1"), "1");
    stage.administer(["UPDATE mysql_servers SET status = 'OFFLINE_HARD'", "LOAD MYSQL SERVERS TO RUNTIME"]);
    assert!(other.is_closed_by_server());
}
