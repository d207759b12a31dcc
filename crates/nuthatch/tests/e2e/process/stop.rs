//! The end: sessions may finish what they have open, and a second signal ends the patience.

use std::time::Duration;

use rustix::process::Signal;

use crate::client::Client;
use crate::deadline::{Stopwatch, await_that};
use crate::proxy::Setup;
use crate::stage::Stage;

/// Sends the signal and returns when nobody new is let in.
fn stop(stage: &Stage, signal: Signal) {
    stage.proxy.signal(signal);
    await_that("no new client is let in", || stage.proxy.try_client(&stage.login()).is_err());
}

#[test]
fn sigterm_waits_for_an_open_transaction_then_ends_cleanly() {
    let mut stage = Stage::plain();
    let (mut open, mut idle) = (stage.client(), stage.client());
    open.ok("BEGIN");
    open.ok("UPDATE t SET v = 'kept' WHERE id = 1");
    idle.ok("SELECT 1");
    stop(&stage, Signal::TERM);
    let goodbye = idle.goodbye();
    assert_eq!(goodbye.code, 1053, "an idle session is told and ended: {goodbye:?}");
    assert!(idle.is_closed_by_server());
    assert_eq!(open.value("SELECT v FROM t WHERE id = 1"), "kept", "the transaction goes on");
    assert!(stage.proxy.exit_status().is_none());
    open.ok("COMMIT");
    assert!(stage.proxy.await_exit().success());
    assert!(open.is_closed_by_server());
    assert_eq!(stage.primary().value("SELECT v FROM t WHERE id = 1"), "kept");
}

#[test]
fn sigint_lets_a_running_statement_finish() {
    let mut stage = Stage::plain();
    let mut client = stage.client();
    client.send(3, b"SELECT SLEEP(1), 'finished'").unwrap();
    await_that("it runs", || stage.pool("ConnUsed", 0) == 1);
    stop(&stage, Signal::INT);
    assert_eq!(client.read_answers().unwrap()[0].table(), [["0", "finished"]]);
    assert!(stage.proxy.await_exit().success());
}

#[test]
fn second_signal_stops_at_once_and_rolls_back() {
    let mut stage = Stage::plain();
    let mut open = stage.client();
    open.ok("BEGIN");
    open.ok("UPDATE t SET v = 'lost' WHERE id = 1");
    stop(&stage, Signal::TERM);
    assert!(stage.proxy.exit_status().is_none());
    let watch = Stopwatch::start();
    stage.proxy.signal(Signal::TERM);
    stage.proxy.await_exit();
    assert!(watch.elapsed() < Duration::from_secs(4), "{:?}", watch.elapsed());
    assert_eq!(open.goodbye().code, 1053);
    let mut primary = stage.primary();
    primary.ok("SET innodb_lock_wait_timeout = 10");
    assert_eq!(primary.value("SELECT v FROM t WHERE id = 1 FOR UPDATE"), "one");
}

#[test]
fn drain_has_a_time_limit() {
    let mut stage = Stage::with(Setup::default().flags(["--drain-seconds", "1"]));
    let mut open = stage.client();
    open.ok("BEGIN");
    open.ok("SELECT 1 FROM t");
    let watch = Stopwatch::start();
    stage.proxy.signal(Signal::TERM);
    stage.proxy.await_exit();
    assert!(watch.elapsed() >= Duration::from_secs(1) && watch.elapsed() < Duration::from_secs(6));
    assert!(stage.proxy.log().contains("cut off"), "the log tells");
}

#[test]
fn idle_sessions_do_not_hold_up_a_stop_whatever_they_did_last() {
    let mut stage = Stage::caching();
    let mut clients: Vec<Client> = (0..9).map(|_| stage.client()).collect();
    clients[0].ok("SET autocommit=0");
    clients[1].ok("COMMIT");
    clients[2].ok("SELECT LAST_INSERT_ID()");
    clients[3].prepare("SELECT ?").unwrap();
    clients[4].init_db(&stage.schema).unwrap();
    clients[5].refused("SELECT * FROM nowhere");
    clients[6].command(0x1F, &[]).unwrap();
    clients[7].ok("SELECT v FROM t WHERE id = 1");
    clients[7].settle();
    stage.administer(["UPDATE mysql_query_rules SET comment = 'x'", "LOAD MYSQL QUERY RULES TO RUNTIME"]);
    clients[7].ok("SELECT v FROM t WHERE id = 1");
    clients[8].ok("SHOW WARNINGS");
    clients.iter_mut().for_each(Client::settle);
    let listed = stage.proxy.operator().table("SELECT command, info FROM stats_mysql_processlist");
    assert!(listed.iter().all(|row| row[0] == "Sleep"), "{listed:?}");
    let watch = Stopwatch::start();
    stage.proxy.signal(Signal::TERM);
    assert!(stage.proxy.await_exit().success());
    assert!(watch.elapsed() < Duration::from_secs(5), "{:?}", watch.elapsed());
}

#[test]
fn operators_shutdown_verb_stops_too() {
    let mut stage = Stage::plain();
    let mut client = stage.client();
    client.ok("SELECT 1");
    drop(stage.proxy.operator().query("PROXYSQL SHUTDOWN"));
    assert!(stage.proxy.await_exit().success());
    assert!(client.is_closed_by_server());
}
