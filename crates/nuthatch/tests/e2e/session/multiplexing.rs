//! Multiplexing turned off: sessions keep their connections, which are nobody's state for all that.

use crate::client::Client;
use crate::deadline::await_that;
use crate::proxy::Setup;
use crate::stage::Stage;

const OFF: &str = "{\"pinned_by\":\"multiplexing_off\"}";

/// MariaDB's own number of the connection.
const THREAD: &str = "SELECT @@pseudo_thread_id";

fn off() -> Stage {
    Stage::with(Setup::default().variable("mysql-multiplexing", false))
}

fn turn(stage: &Stage, on: bool) {
    stage.administer([&format!("SET mysql-multiplexing = {on}"), "LOAD MYSQL VARIABLES TO RUNTIME"]);
}

/// What keeps the sessions' connections.
fn reasons(stage: &Stage) -> Vec<String> {
    let why = "SELECT extended_info FROM stats_mysql_processlist ORDER BY SessionID";
    stage.proxy.operator().table(why).into_iter().flatten().collect()
}

/// The proxy's connections, as the server lists them.
fn threads(stage: &Stage) -> Vec<String> {
    let mut primary = stage.primary();
    let own = primary.value("SELECT CONNECTION_ID()");
    let list = primary.table("SHOW PROCESSLIST");
    list.into_iter().filter(|row| row[3] == stage.schema && row[0] != own).map(|row| row[0].clone()).collect()
}

#[test]
fn session_keeps_its_connection_from_the_first_statement_to_its_end() {
    let stage = off();
    let mut clients: Vec<Client> = (0..3).map(|_| stage.client()).collect();
    let used = stage.pool("ConnUsed", 0);
    assert_eq!(used, 0, "who has asked nothing has nothing");
    let own: Vec<String> = clients.iter_mut().map(|client| client.value(THREAD)).collect();
    for _ in 0..3 {
        for (client, own) in clients.iter_mut().zip(&own) {
            assert_eq!(client.value(THREAD), *own);
            client.ok("UPDATE t SET v = 'x' WHERE id = 1");
            assert_eq!(client.value("SELECT COUNT(*) FROM t"), "3");
        }
    }
    clients.iter_mut().for_each(Client::settle);
    assert_eq!(reasons(&stage), [OFF; 3]);
    let mut expected = own.clone();
    expected.sort_unstable();
    let mut listed = threads(&stage);
    listed.sort_unstable();
    assert_eq!(listed, expected, "each its own, and no other");
    clients.into_iter().for_each(Client::quit);
    stage.await_unpinned();
    assert_eq!(
        (stage.pool("ConnFree", 0), stage.figure("MyHGM_myconnpoll_reset")),
        (3, 0),
        "put back as they are"
    );
    assert!(own.contains(&stage.client().value(THREAD)));
}

#[test]
fn sessions_that_run_go_by_a_load_from_their_next_statement_on() {
    let stage = Stage::plain();
    stage.primary().ok("CREATE TABLE counter (id INT AUTO_INCREMENT PRIMARY KEY, v INT)");
    let mut client = stage.client();
    client.ok("INSERT INTO counter (v) SELECT 7 FROM t");
    client.settle();
    stage.await_unpinned();
    turn(&stage, false);
    assert_eq!(stage.pool("ConnUsed", 0), 0, "not before it");
    client.ok("INSERT INTO counter (v) SELECT 8 FROM t");
    client.settle();
    assert_eq!((reasons(&stage), stage.pool("ConnUsed", 0)), (vec![OFF.to_owned()], 1));
    turn(&stage, true);
    client.ok("SELECT v FROM t");
    client.settle();
    assert_eq!((reasons(&stage), stage.pool("ConnUsed", 0)), (vec!["NULL".to_owned()], 0));
    let first = stage.primary().value("SELECT MIN(id) FROM counter WHERE v = 8");
    assert_eq!(client.value("SELECT LAST_INSERT_ID()"), first, "the session knows it without its connection");
    turn(&stage, false);
    let transaction = |client: &mut Client| ["BEGIN", "SELECT v FROM t"].map(|sql| drop(client.ok(sql)));
    transaction(&mut client);
    turn(&stage, true);
    client.ok("ROLLBACK");
    client.settle();
    assert_eq!(stage.pool("ConnUsed", 0), 0);
    transaction(&mut client);
    turn(&stage, false);
    client.ok("ROLLBACK");
    client.settle();
    assert_eq!(stage.pool("ConnUsed", 0), 1);
}

#[test]
fn one_hostgroup_can_do_without_and_no_rule_undoes_it() {
    let rule = "rule_id=1, match_pattern='FROM t', destination_hostgroup=1, multiplex=1, apply=1";
    let stage = Stage::with(Setup::default().rule(rule));
    drop(stage.replica());
    stage.administer([
        "INSERT INTO mysql_hostgroup_attributes (hostgroup_id, multiplex) VALUES (0, 1), (1, 0)",
        "LOAD MYSQL SERVERS TO RUNTIME",
    ]);
    let mut client = stage.client();
    let used = |hostgroup| stage.pool("ConnUsed", hostgroup);
    for _ in 0..2 {
        client.ok("SELECT v FROM t");
        client.ok("UPDATE t SET v = 'x' WHERE id = 1");
        client.settle();
        assert_eq!((used(0), used(1)), (0, 1));
    }
    assert_eq!(stage.pool("ConnFree", 1), 0);
    turn(&stage, false);
    client.ok("UPDATE t SET v = 'y' WHERE id = 1");
    client.ok("SELECT v FROM t");
    client.settle();
    assert_eq!((used(0), used(1)), (1, 1), "a connection of each");
    stage
        .administer(["UPDATE mysql_hostgroup_attributes SET multiplex = 1", "LOAD MYSQL SERVERS TO RUNTIME"]);
    client.ok("SELECT v FROM t");
    client.settle();
    assert_eq!((used(0), used(1)), (1, 1), "the variable is off for all");
    turn(&stage, true);
    client.ok("SELECT v FROM t");
    client.settle();
    assert_eq!((used(0), used(1)), (0, 0), "that of the other hostgroup too");
}

#[test]
fn kept_connection_carries_state_as_any_other_and_is_reset_for_it() {
    let stage = off();
    let mut client = stage.client();
    let own = client.value(THREAD);
    client.ok("SET NAMES latin1");
    client.ok("SET @a = 'mine', sql_mode = 'ANSI'");
    client.ok("CREATE TEMPORARY TABLE own SELECT 5 AS a");
    client.settle();
    assert_eq!(reasons(&stage), ["{\"pinned_by\":\"temporary_table,multiplexing_off\"}"]);
    client.ok("DROP TEMPORARY TABLE own");
    client.ok("SELECT 'x' + 1");
    assert_eq!(client.table("SHOW WARNINGS").len(), 1);
    assert_eq!(client.value("SELECT @a"), "mine");
    assert_eq!(client.value(THREAD), own);
    client.ok("SELECT GET_LOCK(CONCAT('of ', DATABASE()), 0)");
    client.quit();
    await_that("it is reset", || stage.figure("MyHGM_myconnpoll_reset") == 1);
    stage.await_unpinned();
    let mut later = stage.client();
    assert_eq!(later.value(THREAD), own);
    assert_eq!(later.value("SELECT @a"), "NULL");
    assert_eq!(later.value("SELECT @@character_set_client"), "utf8mb4");
}

#[test]
fn another_takes_the_place_of_a_kept_connection_that_is_lost() {
    let stage = off();
    let mut client = stage.client();
    let own = client.value(THREAD);
    client.settle();
    stage.primary().ok(format!("KILL {own}"));
    await_that("it is gone", || threads(&stage).is_empty());
    let other = client.value(THREAD);
    assert_ne!(other, own);
    assert_eq!(client.value(THREAD), other);
}
