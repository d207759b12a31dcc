//! Statements that text prepares: the names are the session's, and hold no connection.

use crate::proxy::{Proxy, Setup};
use crate::servers;
use crate::session::differential::check_same;
use crate::stage::{self, Stage};

/// With one connection to the primary, a name that holds it would starve everybody else.
fn stage_of_one() -> Stage {
    let stage = Stage::plain();
    stage.administer([
        "UPDATE mysql_servers SET max_connections = 1 WHERE hostgroup_id = 0",
        "LOAD MYSQL SERVERS TO RUNTIME",
    ]);
    stage
}

#[test]
fn one_name_in_many_sessions_on_one_connection_is_each_sessions_own() {
    let stage = stage_of_one();
    let mut clients: Vec<_> = (0..5).map(|_| stage.client()).collect();
    for (number, client) in clients.iter_mut().enumerate() {
        client.ok(format!("PREPARE s FROM 'SELECT {number}, id FROM t WHERE id = 2'"));
    }
    for _ in 0..3 {
        for (number, client) in clients.iter_mut().enumerate() {
            assert_eq!(client.table("EXECUTE s"), [[number.to_string(), "2".to_owned()]]);
        }
    }
    clients[0].ok("DEALLOCATE PREPARE S");
    let refused = clients[0].refused("EXECUTE s");
    assert_eq!(
        (refused.code, refused.message.as_str()),
        (1243, "Unknown prepared statement handler (s) given to EXECUTE")
    );
    assert_eq!(clients[0].refused("DROP PREPARE s").code, 1243);
    assert_eq!(clients[0].refused("EXECUTE `S`").code, 1243, "in any spelling");
    // What SHOW WARNINGS would show is let go.
    clients[0].ok("SELECT id FROM t");
    assert_eq!(clients[1].value("EXECUTE `S`"), "1");
    stage.await_unpinned();
}

#[test]
fn statement_keeps_the_schema_and_character_set_it_was_prepared_under() {
    let stage = stage_of_one();
    let mut client = stage.client();
    client.ok(format!("USE {}", stage.schema));
    client.ok("PREPARE s FROM 'SELECT v FROM t WHERE id = ?'");
    client.ok("USE mysql");
    let mut other = stage.client();
    other.ok("PREPARE s FROM 'SELECT 0'");
    assert_eq!(client.value("EXECUTE s USING 3"), "three");
    assert_eq!(client.value("SELECT DATABASE()"), "mysql");
}

#[test]
fn names_follow_a_session_as_on_a_server() {
    check_same(
        &Stage::plain(),
        &[
            "PREPARE s FROM 'INSERT INTO c (a) VALUES (?)'",
            "EXECUTE s USING 5",
            "SELECT LAST_INSERT_ID()",
            "EXECUTE s USING 6",
            "SELECT LAST_INSERT_ID()",
            "SELECT ROW_COUNT()",
            "PREPARE s FROM 'SELEKT'",
            "EXECUTE s USING 7",
            "PREPARE s FROM 'SELECT v FROM t WHERE id < ?'",
            "PREPARE s2 FROM 'UPDATE t SET v = CONCAT(v, ?) WHERE id = 1'",
            "BEGIN",
            "EXECUTE s2 USING 'x'",
            "EXECUTE s USING 2",
            "ROLLBACK",
            "EXECUTE s USING 2",
            "PREPARE b FROM 'COMMIT'",
            "BEGIN",
            "EXECUTE s2 USING 'y'",
            "EXECUTE b",
            "ROLLBACK",
            "EXECUTE s USING 2",
            "EXECUTE s",
            "SHOW WARNINGS",
            "EXECUTE NoWhere",
            "SHOW WARNINGS",
            "DEALLOCATE PREPARE nowhere",
            "SHOW WARNINGS",
            "BEGIN",
            "EXECUTE nowhere",
            "EXECUTE s USING 2",
            "COMMIT",
            "DEALLOCATE PREPARE s",
            "EXECUTE s USING 1",
            "PREPARE d FROM 'DROP TABLE IF EXISTS gone'",
            "EXECUTE d",
            "SHOW WARNINGS",
            "PREPARE u FROM 'SELECT 1 FROM gone'",
            "PREPARE w FROM 'SELECT \\'a\\' + 1'",
            "EXECUTE w",
            "SHOW WARNINGS",
            "PREPARE n FROM 'SET NAMES latin1'",
            "EXECUTE n",
            "SELECT @@character_set_client",
        ],
    );
}

#[test]
fn names_that_code_out_of_sight_uses_are_given_up_to_one_connection() {
    check_same(
        &Stage::plain(),
        &[
            "CREATE PROCEDURE q() BEGIN PREPARE s FROM 'SELECT 99'; PREPARE p FROM 'SELECT 98'; END",
            "PREPARE s FROM 'SELECT 1'",
            "PREPARE keep FROM 'SELECT 2'",
            "EXECUTE s",
            "CALL q()",
            "EXECUTE s",
            "EXECUTE p",
            "EXECUTE keep",
            "DEALLOCATE PREPARE keep",
            "EXECUTE keep",
            "PREPARE s FROM 'SELECT 3'",
            "EXECUTE s",
        ],
    );
    check_same(
        &Stage::plain(),
        &[
            "PREPARE s FROM 'SELECT 1'",
            "PREPARE s FROM CONCAT('SELECT ', 5)",
            "EXECUTE s",
            "EXECUTE IMMEDIATE 'SELECT 6'",
            "EXECUTE s; SELECT 7; PREPARE s FROM 'SELECT 8'",
            "EXECUTE s",
        ],
    );
}

#[test]
fn names_that_are_given_up_leave_the_character_set_alone() {
    check_same(
        &Stage::plain(),
        &[
            "PREPARE n FROM 'SELECT 1'",
            "SET NAMES utf8mb4 COLLATE utf8mb4_unicode_ci",
            "SET NAMES DEFAULT",
            "EXECUTE unknown",
            "SELECT @@collation_connection, 'x'",
            "CALL p()",
            "SELECT @@collation_connection, 'x'",
            "SET NAMES utf8mb4",
            "SET CHARACTER SET latin1",
            "EXECUTE n",
            "CALL p()",
            "EXECUTE n",
            "SELECT @@character_set_client, @@character_set_results, v FROM t",
        ],
    );
    check_same(
        &Stage::plain(),
        &[
            "PREPARE n FROM 'SELECT 1'",
            "SET NAMES utf8mb4 COLLATE utf8mb4_unicode_ci",
            "SET CHARACTER SET latin1",
            "EXECUTE n",
            "SELECT @@character_set_client, @@character_set_results, v FROM t",
            "SET NAMES utf8mb4 COLLATE utf8mb4_unicode_ci",
            "PREPARE n FROM 'SELECT 2'",
            "SET NAMES utf8mb4",
            "CALL p()",
            "EXECUTE n",
            "SELECT 'x'",
        ],
    );
}

/// What it means is in `connection_numbers.rs`.
#[test]
fn kill_of_anything_but_a_number_cannot_be_prepared() {
    let stage = Stage::plain();
    let mut client = stage.client();
    assert_eq!(client.refused("PREPARE s FROM 'KILL USER root'").code, 1295);
    assert_eq!(client.prepare("KILL QUERY ID 1").unwrap_err().server().code, 1295);
    assert_eq!(client.value("SELECT 1"), "1");
}

#[test]
fn room_is_made_on_a_server_that_takes_few_statements() {
    let lab = servers::own(0);
    let login = servers::account(&lab);
    servers::primary(&lab).ok("SET GLOBAL max_prepared_stmt_count = 8");
    let proxy = Proxy::start(&stage::before(Setup::default(), &lab).user(stage::user_row(&login, "")));
    let mut clients: Vec<_> = (0..4).map(|_| proxy.client(&login)).collect();
    let mut statements = Vec::new();
    for round in 0..10 {
        for (number, client) in clients.iter_mut().enumerate() {
            let text = format!("SELECT {number}, {round}");
            client.ok(format!("PREPARE s{round} FROM '{text}'"));
            statements.push((number, client.prepare(&text).expect("there is room"), text));
        }
    }
    for (number, statement, text) in &statements {
        let answer = clients[*number].execute(statement, &[]).expect("there is room");
        assert_eq!(format!("SELECT {}", answer.table()[0].join(", ")), *text);
    }
    for round in 0..10 {
        for (number, client) in clients.iter_mut().enumerate() {
            assert_eq!(client.table(format!("EXECUTE s{round}")), [[number.to_string(), round.to_string()]]);
        }
    }
}

#[test]
fn procedure_that_is_executed_by_name_or_number_knows_no_names_of_others() {
    let stage = stage_of_one();
    stage.primary().ok("CREATE PROCEDURE runs() BEGIN EXECUTE t; END");
    for by_number in [false, true] {
        let (mut other, mut client) = (stage.client(), stage.client());
        other.ok("PREPARE t FROM 'SELECT 1'");
        let outcome = if by_number {
            let statement = client.prepare("CALL runs()").expect("it is a procedure");
            client.execute(&statement, &[]).map(drop)
        } else {
            client.ok("PREPARE c FROM 'CALL runs()'");
            client.query_all("EXECUTE c").map(drop)
        };
        assert_eq!(outcome.expect_err("nobody of its session has a t").server().code, 1243);
        client.quit();
        assert_eq!(other.value("EXECUTE t"), "1");
    }
}

#[test]
fn more_names_than_a_connection_keeps_are_all_given_up_to_it() {
    let stage = Stage::plain();
    stage.administer(["SET mysql-max_stmts_per_connection = 2", "LOAD MYSQL VARIABLES TO RUNTIME"]);
    stage.primary().ok("CREATE PROCEDURE p() DO 0");
    let mut client = stage.client();
    for number in 0..5 {
        client.ok(format!("PREPARE s{number} FROM 'SELECT {number}'"));
    }
    client.ok("CALL p()");
    for number in 0..5 {
        assert_eq!(client.value(format!("EXECUTE s{number}")), number.to_string());
    }
}

#[test]
fn name_that_a_procedure_took_back_is_no_trouble_for_the_next() {
    let stage = Stage::plain();
    stage.primary().ok("CREATE PROCEDURE takes_back() DEALLOCATE PREPARE s");
    stage.primary().ok("CREATE PROCEDURE p() DO 0");
    let mut client = stage.client();
    client.ok("PREPARE s FROM 'SELECT 1'");
    let statement = client.prepare("CALL takes_back()").expect("it is a procedure");
    client.execute(&statement, &[]).expect("the name is there");
    client.ok("CALL p()");
    assert_eq!(client.refused("EXECUTE s").code, 1243);
}

#[test]
fn row_count_behind_a_name_is_the_servers() {
    check_same(
        &Stage::plain(),
        &[
            "PREPARE s FROM 'SELECT 1'",
            "UPDATE t SET v = 'counted'",
            "DEALLOCATE PREPARE s",
            "SELECT ROW_COUNT()",
            "UPDATE t SET v = 'again'",
            "EXECUTE s",
            "SELECT ROW_COUNT()",
            "UPDATE t SET v = 'third'",
            "COMMIT",
            "SELECT ROW_COUNT()",
            "UPDATE t SET v = 'fourth'",
            "SET autocommit = 1",
            "SELECT ROW_COUNT()",
        ],
    );
}

#[test]
fn name_of_what_only_the_session_knows_is_answered_by_it() {
    let stage = stage_of_one();
    let mut client = stage.client();
    client.ok("PREPARE s FROM 'SELECT CONNECTION_ID()'");
    assert_eq!(client.value("EXECUTE s"), client.value("SELECT CONNECTION_ID()"));
    check_same(
        &Stage::plain(),
        &[
            "PREPARE r FROM 'SELECT ROW_COUNT()'",
            "PREPARE f FROM 'SELECT FOUND_ROWS()'",
            "PREPARE i FROM 'SELECT LAST_INSERT_ID()'",
            "INSERT INTO c (a) VALUES (1), (2)",
            "EXECUTE r",
            "EXECUTE i",
            "SELECT id FROM t",
            "EXECUTE f",
            "SELECT SQL_CALC_FOUND_ROWS id FROM t LIMIT 1",
            "EXECUTE f",
            "EXECUTE f",
        ],
    );
}
