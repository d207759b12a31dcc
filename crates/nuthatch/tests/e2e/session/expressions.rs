//! Questions about the statement before inside larger statements: on a shared connection they must not be answered with
//! what somebody else's statement left there.

use nuthatch_lab::Kind;
use nuthatch_wire::Command;

use crate::client::Client;
use crate::proxy::Setup;
use crate::servers;
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

/// On the only connection.
fn pair_on_one(kind: Kind) -> (Stage, Client, Client) {
    let stage = Stage::of(kind, Setup::default());
    stage.administer(["UPDATE mysql_servers SET max_connections = 1", "LOAD MYSQL SERVERS TO RUNTIME"]);
    let (client, other) = pair(&stage);
    (stage, client, other)
}

fn list_fields(client: &mut Client) {
    client.send(Command::FieldList as u8, b"t\0").expect("the proxy listens");
    while client.read_packet().expect("fields").first() != Some(&0xFE) {}
}

#[test]
fn connection_that_only_prepared_for_the_session_does_not_know_its_counts() {
    for kind in [Kind::MariaDb, Kind::MySql] {
        let (stage, mut client, mut other) = pair_on_one(kind);
        let ask = "SELECT ROW_COUNT() + 0, FOUND_ROWS() + 0";
        for prepare in [ask, "SELECT v FROM t"] {
            client.ok("SELECT v FROM t WHERE id < 3");
            other.ok("UPDATE t SET v = CONCAT(v, '!')");
            other.ok("DO 1");
            let prepared = client.prepare(prepare).unwrap();
            list_fields(&mut client);
            match prepare == ask {
                true => assert_eq!(client.execute(&prepared, &[]).unwrap_err().server().code, 1235),
                false => assert_eq!(client.refused(ask).code, 1235),
            }
            client.close(&prepared);
        }
        // The proxy answers this, so no server knows.
        client.value("SELECT ROW_COUNT()");
        let prepared = client.prepare("SELECT ROW_COUNT() + 0").unwrap();
        assert_eq!(client.execute(&prepared, &[]).unwrap_err().server().code, 1235);
        stage.await_unpinned();
        // Where nobody was in between, it is known behind a preparation too.
        client.ok("UPDATE t SET v = CONCAT(v, '?')");
        let prepared = client.prepare("SELECT ROW_COUNT() + 0").unwrap();
        assert_eq!(client.execute(&prepared, &[]).unwrap().value(), "3");
    }
}

#[test]
fn connection_that_is_held_does_not_know_what_the_proxy_has_answered_before_a_preparation() {
    for (mode, function) in [("", "ROW_COUNT()"), ("ORACLE", "SQL%ROWCOUNT")] {
        let (_stage, mut client, _) = pair_on_one(Kind::MariaDb);
        client.ok(format!("SET sql_mode = '{mode}'"));
        client.ok("START TRANSACTION");
        client.ok("UPDATE t SET v = CONCAT(v, '!')");
        assert_eq!(client.value(format!("SELECT {function}")), "3");
        let prepared = client.prepare(format!("SELECT {function}, v FROM t")).unwrap();
        assert_eq!(client.execute(&prepared, &[]).unwrap_err().server().code, 1235, "not 3, of the UPDATE");
    }
}

#[test]
fn counts_beside_a_warning_count_are_the_sessions() {
    for kind in [Kind::MariaDb, Kind::MySql] {
        let (_stage, mut client, mut other) = pair_on_one(kind);
        other.refused("nonsense");
        client.ok("BEGIN");
        client.ok("DO 1");
        check_expression(&mut client, "SELECT ROW_COUNT() + 0, @@warning_count", "0");
    }
}

#[test]
fn oracles_row_count_in_an_expression_is_the_sessions() {
    let (_stage, mut client, mut other) = pair_on_one(Kind::MariaDb);
    client.ok("SET sql_mode = 'ORACLE'");
    for ask in ["SELECT SQL%ROWCOUNT, v FROM t WHERE id = 1", "SELECT (SELECT SQL%ROWCOUNT)"] {
        for (statement, expected) in [
            ("UPDATE t SET v = CONCAT(v, '!')", "3"),
            // They leave FOUND_ROWS() alone, which only the other session has set on this connection.
            ("SHOW CREATE TABLE t", "1"),
            ("INSERT INTO t VALUES (1, 'again')", "1"),
            ("SELECT v FROM t", "3"),
        ] {
            client.ok("SELECT v FROM t WHERE id < 2");
            other.ok("SELECT v FROM t LIMIT 2");
            client.ok("START TRANSACTION");
            drop(client.query(statement));
            check_expression(&mut client, ask, expected);
            client.ok("ROLLBACK");
        }
    }
}

#[test]
fn row_count_behind_a_command_is_the_servers() {
    for kind in [Kind::MariaDb, Kind::MySql] {
        let (_stage, mut client, _) = pair_on_one(kind);
        let cursor = client.prepare("SELECT v FROM t").unwrap();
        let ping: fn(&mut Client) = |client| drop(client.command(Command::Ping as u8, b"").unwrap());
        let set_option = |client: &mut Client| {
            client.send(Command::SetOption as u8, &[0, 0]).unwrap();
            assert_eq!(client.read_packet().unwrap().first(), Some(&0xFE));
        };
        for (what, command, expected) in
            [("ping", ping, "0"), ("fields", list_fields, "-1"), ("option", set_option, "-1")]
        {
            client.ok("BEGIN");
            client.ok("UPDATE t SET v = CONCAT(LEFT(v, 9), '!')");
            command(&mut client);
            check_expression(&mut client, "SELECT ROW_COUNT() + 0", expected);
            client.ok("UPDATE t SET v = CONCAT(LEFT(v, 9), '?')");
            command(&mut client);
            assert_eq!(client.value("SELECT ROW_COUNT()"), expected, "{kind:?} {what}");
            client.ok("COMMIT");
        }
        client.ok("BEGIN");
        client.ok("UPDATE t SET v = CONCAT(LEFT(v, 9), '.')");
        client.reset_statement(&cursor).unwrap();
        check_expression(&mut client, "SELECT ROW_COUNT() + 0", "0");
    }
}

#[test]
fn row_count_is_the_sessions_where_its_question_is_prepared_in_another_schema() {
    for kind in [Kind::MariaDb, Kind::MySql] {
        let (stage, mut client, _) = pair_on_one(kind);
        let away = servers::fresh_name("away");
        client.ok(format!("CREATE DATABASE {away}"));
        client.ok(format!("USE {away}"));
        let question = client.prepare("SELECT ROW_COUNT() + 0").unwrap();
        client.ok(format!("USE {}", stage.schema));
        // Another connection.
        stage.administer(["UPDATE mysql_servers SET max_connections = 9", "LOAD MYSQL SERVERS TO RUNTIME"]);
        let mut holder = stage.client();
        holder.ok("BEGIN");
        holder.ok("SELECT v FROM t");
        client.ok("BEGIN");
        client.ok("UPDATE t SET v = CONCAT(LEFT(v, 9), '!')");
        match client.execute(&question, &[]) {
            Ok(answer) => assert_eq!(answer.value(), "3", "{kind:?}"),
            Err(failure) => assert_eq!(failure.server().code, 1235, "{kind:?}"),
        }
        client.ok("COMMIT");
        holder.ok("COMMIT");
        client.ok(format!("DROP DATABASE {away}"));
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
