//! Statements that take longer than they may are killed on their server, and their sessions go on.

use nuthatch_lab::{Kind, Role};

use super::{FAR_TOO_LONG_MS, LIMIT_MS, assert_ends_late, assert_late, limited, running};
use crate::client::{Client, Login, Value};
use crate::deadline::{Stopwatch, await_that};
use crate::proxy::{Proxy, Setup};
use crate::servers;
use crate::stage::{self, Stage};

/// Has a row locked, past the proxy.
fn lock_row(stage: &Stage, id: u32) -> Client {
    let mut holder = stage.primary();
    holder.ok("BEGIN");
    holder.ok(format!("UPDATE t SET v = 'held' WHERE id = {id}"));
    holder
}

fn late_statements_end_on(kind: Kind) {
    let stage = Stage::before_kind(kind, limited());
    let mut client = stage.client();
    client.ok("CREATE PROCEDURE slowly() BEGIN SELECT v FROM t; SELECT v, SLEEP(20) FROM t; UPDATE t SET v = 'x'; END");
    client.ok("SELECT 1 FROM t");
    let _holder = lock_row(&stage, 1);
    let opened = stage.figure("Server_Connections_created");
    let statements = [
        "SELECT SLEEP(20) /*late*/",
        "SELECT v, SLEEP(20) FROM t /*late*/",
        "SELECT 1 FROM t WHERE SLEEP(20) /*late*/",
        "UPDATE t SET v = 'new' WHERE id = 1 /*late*/",
        "SELECT v FROM t WHERE id = 1 FOR UPDATE /*late*/",
        "CALL slowly() /*late*/",
        "SELECT v FROM t; SELECT v, SLEEP(20) FROM t; UPDATE t SET v = 'never' /*late*/",
        "INSERT INTO t SELECT id + 10, SLEEP(20) FROM t AS other /*late*/",
    ];
    for statement in statements {
        let watch = Stopwatch::start();
        assert_ends_late(&mut client, statement);
        let warning = client.ok("SHOW WARNINGS").table().remove(0);
        let words = "Query execution was interrupted, query_timeout exceeded";
        assert_eq!(warning, ["Error", "1907", words], "{statement}");
        assert_eq!(client.value("SELECT v FROM t WHERE id = 2"), "two", "{statement}");
        // A server has answered a moment before its thread is idle.
        await_that("the server is done with it", || running(&stage) == "0");
        assert!(watch.elapsed().as_millis() < FAR_TOO_LONG_MS, "{statement}: the server went on");
    }
    let prepared =
        client.prepare("SELECT v, SLEEP(20) FROM t WHERE id > ? /*late*/").expect("it is prepared");
    for _ in 0..2 {
        let error = client.execute(&prepared, &[Value::Int(0)]).expect_err("it is late").server();
        assert_late(&error);
    }
    client.ok("PREPARE p FROM 'SELECT v, SLEEP(20) FROM t'");
    assert_ends_late(&mut client, "EXECUTE p /*late*/");
    // Whether a procedure that failed has left a transaction open is not known.
    client.ok("ROLLBACK");
    client.quit();
    let ended = statements.len() as u64 + 3;
    assert_eq!(stage.figure("Statements_Timed_Out"), ended);
    assert_eq!(stage.figure("mysql_killed_backend_queries"), ended);
    stage.await_unpinned();
    // One for the KILLs; those whose statements were killed are used again.
    assert!(stage.figure("Server_Connections_created") <= opened + 1, "no connection was given up");
}

#[test]
fn late_statements_are_answered_with_1907_and_their_connections_used_again() {
    late_statements_end_on(Kind::MariaDb);
}

#[test]
fn late_statements_are_answered_with_1907_on_mysql_too() {
    late_statements_end_on(Kind::MySql);
}

#[test]
fn what_is_done_when_its_time_is_over_is_told_as_done_if_it_may_have_written() {
    let stage = Stage::of_mysql(limited());
    let mut client = stage.client();
    // MySQL's SLEEP() gives 1 when it is killed, and the statement goes on.
    let answers = client.query_whole("INSERT INTO t VALUES (7, SLEEP(20)) /*late*/").unwrap();
    let rows = client.value("SELECT COUNT(*) FROM t WHERE id = 7");
    match answers.last() {
        Some(Ok(_)) => assert_eq!(rows, "1"),
        Some(Err(error)) => {
            assert_late(error);
            assert_eq!(rows, "0");
        }
        None => panic!("no answer"),
    }
}

#[test]
fn transaction_goes_on_behind_a_statement_that_was_late() {
    for kind in [Kind::MariaDb, Kind::MySql] {
        let stage = Stage::before_kind(kind, limited());
        let holder = lock_row(&stage, 1);
        let mut client = stage.client();
        client.ok("BEGIN");
        client.ok("INSERT INTO t VALUES (4, 'four')");
        assert_ends_late(&mut client, "UPDATE t SET v = 'new' WHERE id = 1 /*late*/");
        assert_ends_late(&mut client, "SELECT v, SLEEP(20) FROM t /*late*/");
        assert_eq!(client.value("SELECT v FROM t WHERE id = 4"), "four", "its own write is there");
        client.ok("COMMIT");
        drop(holder);
        assert_eq!(stage.primary().value("SELECT v FROM t WHERE id = 4"), "four");
    }
}

#[test]
fn variable_limits_what_no_rule_does() {
    let setup = Setup::default()
        .variable("mysql-default_query_timeout", 1000)
        .rule("rule_id=1, match_pattern='longer', timeout=60000, apply=1")
        .rule("rule_id=2, match_pattern='unsaid', timeout=0, apply=1");
    let stage = Stage::with(setup);
    let mut client = stage.client();
    let watch = Stopwatch::start();
    assert_late(&client.refused("SELECT v, SLEEP(20) FROM t"));
    assert!((1000..5000).contains(&watch.elapsed().as_millis()), "{:?}", watch.elapsed());
    assert_late(&client.refused("SELECT v, SLEEP(20) FROM t /*unsaid*/"));
    assert_eq!(client.value("SELECT v FROM t WHERE id = 1 AND SLEEP(1.6) = 0 /*longer*/"), "one");
    // What is loaded counts for the next statement.
    stage.administer([
        "UPDATE mysql_query_rules SET timeout = 200 WHERE rule_id = 1",
        "LOAD MYSQL QUERY RULES TO RUNTIME",
    ]);
    let watch = Stopwatch::start();
    assert_late(&client.refused("SELECT v, SLEEP(20) FROM t /*longer*/"));
    assert!(watch.elapsed().as_millis() < 900, "{:?}", watch.elapsed());
}

#[test]
fn waiting_for_a_connection_is_not_counted() {
    let stage = Stage::with(limited());
    stage.administer(["UPDATE mysql_servers SET max_connections = 1", "LOAD MYSQL SERVERS TO RUNTIME"]);
    let (mut first, mut second) = (stage.client(), stage.client());
    first.ok("BEGIN");
    first.ok("SELECT 1 FROM t");
    let watch = Stopwatch::start();
    second.send(3, b"SELECT v FROM t WHERE id = 1 /*late*/").unwrap();
    await_that("it waits in line for longer than it may run", || {
        watch.elapsed().as_millis() > u128::from(LIMIT_MS) * 2 && stage.figure("Sessions_Waiting") == 1
    });
    first.ok("COMMIT");
    assert_eq!(second.read_answers().expect("it is answered")[0].value(), "one");
    assert_eq!(stage.figure("Statements_Timed_Out"), 0);
}

#[test]
fn statement_is_ended_where_its_server_lets_in_no_second_connection() {
    let stage = Stage::with(limited());
    stage.administer(["UPDATE mysql_servers SET max_connections = 1", "LOAD MYSQL SERVERS TO RUNTIME"]);
    let mut client = stage.client();
    for _ in 0..2 {
        assert_ends_late(&mut client, "SELECT v, SLEEP(20) FROM t /*late*/");
        await_that("the session goes on", || client.query("SELECT 1 FROM t").is_ok());
        await_that("the server is done with it", || running(&stage) == "0");
    }
}

#[test]
fn statement_that_cannot_be_killed_is_answered_all_the_same() {
    let stage = Stage::alone(limited());
    let name = servers::fresh_name("single");
    stage.primary().ok(format!("CREATE USER {name}@'%' IDENTIFIED BY 'pw' WITH MAX_USER_CONNECTIONS 1"));
    stage.primary().ok(format!("GRANT ALL ON *.* TO {name}@'%'"));
    stage.administer([
        &format!("INSERT INTO mysql_users (username, password) VALUES ('{name}', 'pw')"),
        "LOAD MYSQL USERS TO RUNTIME",
    ]);
    let mut client = stage.proxy.client(&Login::new(&name, "pw").schema(&stage.schema));
    assert_ends_late(&mut client, "SELECT v, SLEEP(1) FROM t /*late*/");
    assert!(stage.proxy.log().contains("could not end a statement that takes too long"));
    await_that("the server is done with it", || running(&stage) == "0");
    await_that("the session goes on", || client.query("SELECT 1 FROM t").is_ok());
}

#[test]
fn kill_that_comes_as_its_statement_ends_hits_nothing_else() {
    for kind in [Kind::MariaDb, Kind::MySql] {
        let rule = "rule_id=1, match_pattern='late', timeout=40, apply=1";
        // On a busy machine a KILL takes its time.
        let setup = Setup::default().rule(rule).variable("mysql-connect_timeout_server", 10_000);
        let stage = Stage::before_kind(kind, setup);
        let (mut client, mut ended) = (stage.client(), 0);
        client.ok("BEGIN");
        client.ok("UPDATE t SET v = 'own' WHERE id = 3");
        for round in 0..60 {
            let seconds = 0.036 + f64::from(round % 12) / 1000.0;
            match client.query(format!("SELECT v FROM t WHERE id = 3 AND SLEEP({seconds}) = 0 /*late*/")) {
                Ok(answer) => assert_eq!(answer.value(), "own"),
                Err(failure) => {
                    assert_late(&failure.server());
                    ended += 1;
                }
            }
            assert_eq!(client.value("SELECT v FROM t WHERE id = 3"), "own", "round {round}");
        }
        client.ok("COMMIT");
        assert!(ended > 0, "none was late");
    }
}

/// A proxy before a server of its own that it may not reach any more.
fn before_own(setup: Setup) -> (nuthatch_lab::ScratchLab, Proxy, Client) {
    let lab = servers::own(0);
    let login = servers::account(&lab);
    servers::primary(&lab).ok("CREATE DATABASE own");
    servers::primary(&lab).ok("CREATE TABLE own.t (id INT PRIMARY KEY)");
    let proxy = Proxy::start(&stage::before(setup, &lab).user(stage::user_row(&login, "")));
    let client = proxy.client(&login.schema("own"));
    (lab, proxy, client)
}

#[test]
fn statement_on_a_server_that_hangs_is_answered_and_its_connection_closed() {
    let (lab, proxy, mut client) = before_own(limited().variable("mysql-monitor_enabled", false));
    client.ok("SELECT 1 FROM t");
    lab.freeze(Role::Primary).expect("it runs");
    let watch = Stopwatch::start();
    assert_late(&client.refused("SELECT id FROM t /*late*/"));
    assert!(watch.elapsed().as_secs() < 6, "{:?}", watch.elapsed());
    lab.thaw(Role::Primary).expect("it is frozen");
    await_that("the session goes on", || client.query("SELECT 1 FROM t").is_ok());
    assert!(proxy.log().contains("could not end a statement that takes too long"));
}

#[test]
fn client_whose_transaction_died_with_its_statement_is_told_and_hung_up_on() {
    let (lab, proxy, mut client) = before_own(limited().variable("mysql-monitor_enabled", false));
    client.ok("BEGIN");
    client.ok("INSERT INTO t VALUES (1)");
    lab.freeze(Role::Primary).expect("it runs");
    let error = client.refused("INSERT INTO t VALUES (2) /*late*/");
    let words = "Query execution was interrupted, query_timeout exceeded; the transaction was rolled back";
    assert_eq!((error.code, error.message.as_str()), (1907, words));
    assert!(client.is_closed_by_server(), "what it would write next would not be in its transaction");
    lab.thaw(Role::Primary).expect("it is frozen");
    let mut other = proxy.client(&servers::account(&lab).schema("own"));
    await_that("the transaction is rolled back", || {
        other.query("SELECT COUNT(*) FROM t").is_ok_and(|answer| answer.value() == "0")
            && servers::primary(&lab).value("SELECT COUNT(*) FROM information_schema.innodb_trx") == "0"
    });
}

#[test]
fn what_became_of_a_write_that_its_server_did_not_end_is_told_as_unknown() {
    let (lab, proxy, mut client) = before_own(limited().variable("mysql-monitor_enabled", false));
    let mut committing = proxy.client(&servers::account(&lab).schema("own"));
    committing.ok("BEGIN");
    committing.ok("INSERT INTO t VALUES (1)");
    client.ok("SELECT 1 FROM t");
    lab.freeze(Role::Primary).expect("it runs");
    for (client, statement, words) in [
        (&mut client, "INSERT INTO t VALUES (2) /*late*/", "whether the statement was executed"),
        (&mut committing, "COMMIT /*late*/", "whether the transaction was committed"),
    ] {
        let error = client.refused(statement);
        let is_told = error.message.contains("query_timeout") && error.message.ends_with(words);
        assert!(error.code == 2013 && is_told, "{error:?}");
    }
    assert!(committing.is_closed_by_server());
    lab.thaw(Role::Primary).expect("it is frozen");
    await_that("the session goes on", || client.query("SELECT 1 FROM t").is_ok());
    let mut operator = proxy.operator();
    assert_eq!(stage::figure(&mut operator, "Commits_Unknown"), 1);
    assert_eq!(stage::figure(&mut operator, "Statements_Timed_Out"), 2);
}

#[test]
fn write_that_was_killed_is_settled_for_the_exact_cache() {
    let stage = Stage::with(limited().variable("mysql-query_cache_type", 1));
    let (mut client, mut reader) = (stage.client(), stage.client());
    let one = "SELECT v FROM t WHERE id = 1";
    let mut is_hit = |stage: &Stage| {
        let before = stage.figure("Query_Cache_count_GET_OK");
        (reader.value(one), stage.figure("Query_Cache_count_GET_OK") > before)
    };
    await_that("it is cached", || is_hit(&stage).1);
    let holder = lock_row(&stage, 1);
    assert_ends_late(&mut client, "UPDATE t SET v = 'late' WHERE id = 1 /*late*/");
    assert_eq!(stage.figure("Query_Cache_Writes_Pending"), 0);
    drop(holder);
    await_that("it is cached again", || is_hit(&stage) == ("one".to_owned(), true));
    client.ok("UPDATE t SET v = 'in time' WHERE id = 1 /*late*/");
    assert_eq!(is_hit(&stage), ("in time".to_owned(), false));
    // In a transaction, which goes on.
    let holder = lock_row(&stage, 2);
    client.ok("BEGIN");
    client.ok("UPDATE t SET v = 'first' WHERE id = 1");
    assert_ends_late(&mut client, "UPDATE t SET v = 'second' WHERE id = 2 /*late*/");
    await_that("what is not committed is nobody else's", || is_hit(&stage) == ("in time".to_owned(), true));
    client.ok("COMMIT");
    assert_eq!(is_hit(&stage).0, "first");
    drop(holder);
}
