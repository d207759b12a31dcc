//! Sessions are ended whose transaction lasts too long, or is idle for too long.

use crate::deadline::{Stopwatch, await_that};
use crate::proxy::Setup;
use crate::stage::Stage;

fn limited(variable: &str) -> Stage {
    Stage::with(Setup::default().variable(variable, 1000))
}

/// Sessions that the proxy has, those that were ended for a long transaction, and for an idle one.
fn figures(stage: &Stage) -> (u64, u64, u64) {
    let connected = stage.figure("Client_Connections_connected");
    (connected, stage.figure("Transactions_Too_Long"), stage.figure("Transactions_Too_Idle"))
}

#[test]
fn session_with_an_idle_transaction_is_closed_and_one_without_is_not() {
    let stage = limited("mysql-max_transaction_idle_time");
    let (mut idle, mut busy, mut other) = (stage.client(), stage.client(), stage.client());
    for client in [&mut idle, &mut busy] {
        client.ok("BEGIN");
    }
    idle.ok("UPDATE t SET v = 'idle' WHERE id = 1");
    // A statement that takes longer than a transaction may be idle makes it no idle one.
    assert_eq!(busy.value("SELECT SLEEP(1.7) FROM t WHERE id = 2"), "0");
    busy.ok("UPDATE t SET v = 'busy' WHERE id = 2");
    busy.ok("COMMIT");
    await_that("the idle one is ended", || figures(&stage) == (2, 0, 1));
    assert!(idle.is_closed_by_server());
    assert_eq!(other.value("SELECT v FROM t WHERE id = 1"), "one", "what it wrote is rolled back");
    assert_eq!(busy.value("SELECT v FROM t WHERE id = 2"), "busy");
    stage.await_unpinned();
    assert!(stage.proxy.log().contains("mysql-max_transaction_idle_time"), "the log names the limit");
}

#[test]
fn session_whose_transaction_lasts_too_long_is_closed_whatever_it_does() {
    let stage = limited("mysql-max_transaction_time");
    let (mut silent, mut running, mut talking) = (stage.client(), stage.client(), stage.client());
    silent.ok("SET autocommit = 0");
    silent.ok("UPDATE t SET v = 'x' WHERE id = 1");
    for client in [&mut running, &mut talking] {
        client.ok("START TRANSACTION");
        client.ok("SELECT v FROM t");
    }
    running.send(3, b"SELECT v, SLEEP(30) FROM t").unwrap();
    let watch = Stopwatch::start();
    while talking.query("SELECT 1 FROM t").is_ok() {
        assert!(watch.elapsed().as_secs() < 10, "it is never ended");
    }
    await_that("all are ended", || figures(&stage) == (0, 3, 0));
    assert!(silent.is_closed_by_server() && running.is_closed_by_server());
    let asleep = "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'SELECT v, SLEEP(30)%' AND db = DATABASE()";
    await_that("its statement is ended too", || stage.primary().value(asleep) == "0");
}

#[test]
fn many_short_transactions_are_none_that_lasts() {
    let stage = limited("mysql-max_transaction_time");
    let (mut each, mut chained) = (stage.client(), stage.client());
    chained.ok("BEGIN");
    let watch = Stopwatch::start();
    while watch.elapsed().as_millis() < 2500 {
        each.ok("BEGIN");
        each.ok("UPDATE t SET v = 'x' WHERE id = 1");
        each.ok("COMMIT");
        chained.ok("UPDATE t SET v = 'y' WHERE id = 2");
        chained.ok("COMMIT AND CHAIN");
    }
    assert_eq!(figures(&stage), (2, 0, 0));
}
