//! COMMIT of a transaction that has only read is answered when it is sent.

use std::thread::sleep;
use std::time::Duration;

use rustix::process::Signal;

use super::SELECT;
use super::exact::await_known;
use crate::client::Client;
use crate::deadline::await_that;
use crate::proxy::Setup;
use crate::stage::Stage;

const OTHER: &str = "SELECT v FROM t WHERE id = 2";

/// Before a server of its own, with answers cached until something is written, over one connection, that has seen a COMMIT.
fn stage() -> (Stage, Client) {
    let stage = Stage::alone(Setup::default().variable("mysql-query_cache_type", 1));
    stage.administer(["UPDATE mysql_servers SET max_connections = 1", "LOAD MYSQL SERVERS TO RUNTIME"]);
    let mut client = stage.client();
    await_known(&stage, &mut client, SELECT);
    for sql in ["BEGIN", SELECT, "COMMIT"] {
        client.ok(sql);
    }
    (stage, client)
}

/// Sends the statement while the server stands still. Returns whether it is answered then.
fn is_answered_early(stage: &mut Stage, client: &mut Client, sql: &str) -> bool {
    let before = stage.figure("Com_commit_early");
    stage.signal_server(Signal::STOP);
    client.send(3, sql.as_bytes()).expect("it is sent");
    sleep(Duration::from_millis(300));
    let is_early = stage.figure("Com_commit_early") > before;
    stage.signal_server(Signal::CONT);
    client.expect_next(1);
    let answer = client.read_packet().expect("it is answered");
    // OK, no rows, no id, autocommit alone, no warnings.
    assert_eq!(answer.get(..7), Some(&[0, 0, 0, 2, 0, 0, 0][..]), "{sql}: {answer:?}");
    is_early
}

#[test]
fn end_of_a_transaction_that_has_only_read_is_told_before_its_server_has() {
    let (mut stage, mut client) = stage();
    for end in ["COMMIT", "ROLLBACK", "commit work"] {
        client.ok("BEGIN");
        client.ok(OTHER);
        client.ok(SELECT);
        assert!(is_answered_early(&mut stage, &mut client, end), "{end}");
        // What comes behind is of now, and in no transaction.
        stage.client().ok(format!("UPDATE t SET v = '{end}' WHERE id = 2"));
        assert_eq!(client.value(OTHER), end);
        assert_eq!(client.value("SELECT @@in_transaction"), "0");
    }
    stage.await_unpinned();
}

#[test]
fn whatever_else_was_done_in_it_is_waited_for() {
    let (mut stage, mut client) = stage();
    for done in [
        "UPDATE t SET v = 'w' WHERE id = 1",
        "SELECT v FROM t WHERE id = 1 FOR UPDATE",
        "SELECT v FROM t WHERE id = 1 LOCK IN SHARE MODE",
        "SELECT GET_LOCK('early', 0), RELEASE_LOCK('early')",
        "SAVEPOINT s",
        "SET @early = 1",
        "DO 1",
    ] {
        client.ok("BEGIN");
        client.ok(OTHER);
        client.ok(done);
        assert!(!is_answered_early(&mut stage, &mut client, "COMMIT"), "{done}");
    }
    stage.administer(["SET mysql-commit_reads_early = false", "LOAD MYSQL VARIABLES TO RUNTIME"]);
    client.ok("BEGIN");
    client.ok(OTHER);
    assert!(!is_answered_early(&mut stage, &mut client, "COMMIT"));
}

#[test]
fn server_that_is_lost_behind_it_is_met_by_the_next_statement_only() {
    let (mut stage, mut client) = stage();
    client.ok("BEGIN");
    client.ok(OTHER);
    stage.signal_server(Signal::STOP);
    client.send(3, b"COMMIT").expect("it is sent");
    client.expect_next(1);
    assert_eq!(client.read_packet().expect("it is answered").first(), Some(&0));
    stage.stop_server();
    sleep(Duration::from_millis(200));
    stage.start_server();
    await_that("the server is back", || stage.client().query(OTHER).is_ok());
    let value = client.value(OTHER);
    assert_eq!(value, "two");
}

#[test]
fn where_a_commit_begins_another_transaction_nothing_is_told_early() {
    let stage = Stage::alone(Setup::default().variable("mysql-query_cache_type", 1));
    stage.primary().ok("SET GLOBAL completion_type = 'CHAIN'");
    let mut client = stage.client();
    await_known(&stage, &mut client, SELECT);
    for _ in 0..4 {
        client.ok("BEGIN");
        client.ok(OTHER);
        client.ok("COMMIT");
    }
    assert_eq!(stage.figure("Com_commit_early"), 0);
}
