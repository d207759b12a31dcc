//! Questions about the statement before inside larger statements: on a shared connection they must not be answered with
//! what somebody else's statement left there.

use nuthatch_wire::Command;

use crate::client::Client;
use crate::stage::Stage;

/// The right answer, or a refusal that says why: never what another session's statement left.
#[track_caller]
fn check_expression(client: &mut Client, ask: &str, expected: &str) {
    match client.query(ask) {
        Ok(answer) => assert_eq!(answer.value(), expected, "{ask}"),
        Err(failure) => assert_eq!(failure.server().code, 1235, "{ask}"),
    }
}

fn pair(stage: &Stage) -> (Client, Client) {
    (stage.client(), stage.client())
}

#[test]
fn found_rows_in_an_expression_is_the_sessions() {
    let stage = Stage::plain();
    let (mut client, mut other) = pair(&stage);
    for (select, expected) in [
        ("SELECT * FROM t", "3"),
        ("SELECT SQL_CALC_FOUND_ROWS * FROM t LIMIT 2", "3"),
        ("SELECT * FROM t WHERE 0", "0"),
    ] {
        client.ok(select);
        other.ok("SELECT 1");
        check_expression(&mut client, "SELECT FOUND_ROWS() + 0", expected);
    }
    client.ok("BEGIN");
    client.ok("SELECT * FROM t");
    other.ok("SELECT 1");
    assert_eq!(client.value("SELECT FOUND_ROWS() + 0"), "3", "the connection is held, so it knows");
}

#[test]
fn row_count_in_an_expression_is_the_sessions() {
    let stage = Stage::plain();
    let (mut client, mut other) = pair(&stage);
    client.ok("UPDATE t SET v = CONCAT(v, '!')");
    other.ok("DELETE FROM t WHERE id = 3");
    check_expression(&mut client, "SELECT ROW_COUNT() + 0", "3");
    client.ok("BEGIN");
    client.ok("UPDATE t SET v = 'x'");
    assert_eq!(client.value("SELECT ROW_COUNT() + 0"), "2", "the connection is held, so it knows");
}

#[test]
fn counts_in_expressions_are_there_until_somebody_else_has_the_connection() {
    let stage = Stage::plain();
    stage.administer(["UPDATE mysql_servers SET max_connections = 1", "LOAD MYSQL SERVERS TO RUNTIME"]);
    let (mut client, mut other) = pair(&stage);
    for _ in 0..2 {
        client.ok("UPDATE t SET v = CONCAT(v, '!')");
        stage.await_unpinned();
        assert_eq!(client.value("SELECT ROW_COUNT() + 0"), "3");
        client.ok("SELECT * FROM t LIMIT 2");
        assert_eq!(client.value("SELECT FOUND_ROWS() + 0"), "2");
        assert_eq!(client.value("SELECT FOUND_ROWS() + 0"), "1");
        let statement = client.prepare("SELECT FOUND_ROWS() + 0").unwrap();
        client.ok("SELECT * FROM t LIMIT 2");
        assert_eq!(client.execute(&statement, &[]).unwrap().value(), "2");

        client.ok("SELECT * FROM t LIMIT 2");
        other.ok("SELECT * FROM t");
        assert_eq!(client.refused("SELECT FOUND_ROWS() + 0").code, 1235);
        client.ok("SELECT * FROM t LIMIT 2");
        client.command(Command::Ping as u8, &[]).unwrap();
        assert_eq!(client.refused("SELECT ROW_COUNT() + 0").code, 1235, "the proxy has answered");
        stage.await_unpinned();
    }
}

#[test]
fn warning_count_of_a_session_without_warnings_is_0() {
    let stage = Stage::plain();
    stage.client().refused("SELECT * FROM nowhere");
    for ask in ["SELECT @@warning_count", "SELECT @@error_count", "SELECT @@session.warning_count + 0"] {
        assert_eq!(stage.client().value(ask), "0", "{ask}");
    }
}

#[test]
fn last_insert_id_that_a_select_sets_is_kept() {
    let stage = Stage::plain();
    stage.primary().ok("CREATE TABLE c (id INT PRIMARY KEY AUTO_INCREMENT, a INT)");
    let (mut client, mut other) = pair(&stage);
    assert_eq!(client.value("SELECT LAST_INSERT_ID(99)"), "99");
    other.ok("INSERT INTO c (a) VALUES (1)");
    assert_eq!(client.value("SELECT LAST_INSERT_ID()"), "99");
    assert_eq!(client.value("SELECT LAST_INSERT_ID() + 0"), "99");
}
