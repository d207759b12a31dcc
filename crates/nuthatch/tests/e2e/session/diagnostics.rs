//! Warnings, row counts and found rows of the statement before.

use nuthatch_lab::Kind;
use nuthatch_wire::CapabilityFlags;

use crate::client::Client;
use crate::proxy::Setup;
use crate::stage::Stage;
use crate::two_ways::{TwoWays, seen};

#[test]
fn show_warnings_shows_the_warnings_of_the_statement_before() {
    let stage = Stage::plain();
    let (mut client, mut other) = (stage.client(), stage.client());
    assert_eq!(client.ok("SELECT 'a' + 1, 'b' + 1").warnings, 2);
    other.ok("SELECT 1");
    assert_eq!(client.value("SHOW COUNT(*) WARNINGS"), "2");
    let warnings = client.table("SHOW WARNINGS");
    assert_eq!(warnings.len(), 2);
    assert_eq!(warnings[0][1], "1292");
    assert_eq!(client.value("SELECT @@warning_count"), "2");
    client.ok("SELECT v FROM t");
    assert!(client.ok("SHOW WARNINGS").rows.is_empty());
    client.settle();
    // As soon as it is known that what they read has no stored code behind it.
    stage.await_unpinned();
}

#[test]
fn show_warnings_shows_the_error_of_the_statement_before() {
    let stage = Stage::plain();
    let (mut client, mut other) = (stage.client(), stage.client());
    assert_eq!(client.refused("SELECT * FROM nowhere").code, 1146);
    other.ok("SELECT 1");
    assert_eq!(client.table("SHOW WARNINGS")[0][..2], ["Error", "1146"]);
    assert_eq!(client.table("SHOW ERRORS")[0][..2], ["Error", "1146"]);
    assert_eq!(client.value("SHOW COUNT(*) ERRORS"), "1");
    client.ok("SELECT v FROM t");
    assert_eq!(client.value("SHOW COUNT(*) ERRORS"), "0");
    client.settle();
    // As soon as it is known that the statement that failed ran no stored code.
    stage.await_unpinned();
}

#[test]
fn show_warnings_of_a_session_without_any_is_empty() {
    let stage = Stage::plain();
    stage.client().refused("SELECT * FROM nowhere");
    let mut client = stage.client();
    let empty = client.ok("SHOW WARNINGS");
    assert_eq!(empty.columns, ["Level", "Code", "Message"]);
    assert!(empty.rows.is_empty());
    assert_eq!(client.value("SHOW COUNT(*) WARNINGS"), "0");
}

#[test]
fn notes_and_insert_ignore_warn_too() {
    let stage = Stage::plain();
    let mut client = stage.client();
    assert_eq!(client.ok("DROP TABLE IF EXISTS nothing").warnings, 1);
    assert_eq!(client.table("SHOW WARNINGS")[0][..2], ["Note", "1051"]);
    assert_eq!(client.ok("INSERT IGNORE INTO t VALUES (1, 'again')").warnings, 1);
    assert_eq!(client.table("SHOW WARNINGS LIMIT 1")[0][1], "1062");
}

#[test]
fn row_count_is_that_of_the_statement_before() {
    let stage = Stage::plain();
    let (mut client, mut other) = (stage.client(), stage.client());
    for (statement, expected) in [
        ("UPDATE t SET v = CONCAT(v, '!')", "3"),
        ("UPDATE t SET v = v", "0"),
        ("INSERT INTO t VALUES (10, 'a'), (11, 'b')", "2"),
        ("DELETE FROM t WHERE id = 10", "1"),
        ("SELECT * FROM t", "-1"),
        ("DO 1", "0"),
        ("SET @a = 1", "0"),
    ] {
        let mut client = stage.client();
        client.ok(statement);
        other.ok("UPDATE t SET v = CONCAT(v, '?') WHERE id = 2");
        assert_eq!(client.value("SELECT ROW_COUNT()"), expected, "{statement}");
    }
    client.refused("nonsense");
    assert_eq!(client.value("SELECT ROW_COUNT()"), "-1");
    assert_eq!(client.value("SELECT ROW_COUNT()"), "-1", "a SELECT was the statement before");
}

#[test]
fn found_rows_without_and_with_sql_calc_found_rows() {
    let stage = Stage::plain();
    let (mut client, mut other) = (stage.client(), stage.client());
    for (select, expected) in [
        ("SELECT * FROM t", "3"),
        ("SELECT * FROM t LIMIT 2", "2"),
        ("SELECT SQL_CALC_FOUND_ROWS * FROM t LIMIT 2", "3"),
        ("SELECT * FROM t WHERE 0", "0"),
    ] {
        client.ok(select);
        other.ok("SELECT 1");
        assert_eq!(client.value("SELECT FOUND_ROWS()"), expected, "{select}");
    }
    client.ok("DO 1");
    client.settle();
    stage.await_unpinned();
}

/// MariaDB forgets them where a statement names a table, MySQL everywhere.
#[test]
fn warnings_behind_statements_without_a_table_are_the_servers() {
    for kind in [Kind::MariaDb, Kind::MySql] {
        let stage = Stage::before_kind(kind, Setup::default());
        for statement in [
            "DO 1",
            "VALUES (1), (2)",
            "VALUES ROW(1)",
            "EXPLAIN SELECT 1",
            "EXPLAIN SELECT 1 FROM DUAL",
            "EXPLAIN FORMAT=JSON SELECT 1",
            "ANALYZE SELECT 1",
            "EXPLAIN VALUES (1)",
            "EXPLAIN SELECT 1 FROM (SELECT 1) d",
            "EXPLAIN SELECT v FROM t",
            "DESC t",
        ] {
            let mut both = [stage.client(), stage.primary()];
            let seen = both.each_mut().map(|client| {
                client.ok("SELECT CAST('x' AS SIGNED)");
                drop(client.query(statement));
                client.table("SHOW WARNINGS")
            });
            assert_eq!(seen[0], seen[1], "{kind:?}: {statement}");
        }
    }
}

/// Of which it does not show whether they name a table.
const UNTOLD: [&str; 20] = [
    "CALL none()",
    "CALL some()",
    "CALL nowhere()",
    "CALL warns()",
    "SELECT counts()",
    "DO counts()",
    "SELECT v FROM t; SELECT 1",
    "CALL none(); SELECT 2",
    "PREPARE x FROM 'CALL none()'",
    "PREPARE x FROM 'SELECT v FROM t'",
    "PREPARE x FROM @none",
    "PREPARE x FROM @some",
    "EXECUTE IMMEDIATE 'SELECT 1'",
    "EXECUTE IMMEDIATE 'SELECT v FROM t'",
    "CREATE PROCEDURE passing() SELECT 1",
    "DROP PROCEDURE passing",
    "SELECT EXTRACT(YEAR FROM '2026-01-01')",
    "SHOW GRANTS",
    "SHOW TABLES",
    "XA RECOVER",
];

/// Both ways, a session each.
fn ways(kind: Kind) -> (TwoWays, [Client; 2]) {
    let ways = TwoWays::new(
        kind,
        Setup::default(),
        &[
            "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(9))",
            "INSERT INTO t VALUES (1, 'one'), (2, 'two')",
            "CREATE PROCEDURE none() SET @z = 1",
            "CREATE PROCEDURE some() SELECT COUNT(*) INTO @z FROM t",
            "CREATE PROCEDURE warns() SELECT CAST('x' AS SIGNED)",
            "CREATE FUNCTION counts() RETURNS INT READS SQL DATA RETURN (SELECT COUNT(*) FROM t)",
        ],
    );
    let flags = CapabilityFlags::CLIENT_MULTI_STATEMENTS;
    let both = [ways.proxied_with(flags), ways.straight()];
    (ways, both)
}

#[test]
fn warnings_behind_statements_of_which_a_server_alone_can_tell_are_the_servers() {
    for kind in [Kind::MariaDb, Kind::MySql] {
        let (ways, mut both) = ways(kind);
        let mut other = ways.proxied();
        for (before, after) in [("DO 1", "DO 1"), ("BEGIN", "ROLLBACK")] {
            for failing in ["SELECT CAST('x' AS SIGNED)", "SELECT nosuch"] {
                for statement in UNTOLD {
                    let seen = both.each_mut().map(|client| {
                        client.ok("SET @none = 'SELECT 1', @some = 'SELECT v FROM t'");
                        client.ok(before);
                        drop(client.query(failing));
                        drop(other.query("SELECT * FROM nobody"));
                        drop(client.query_all(statement));
                        let counts = seen(client, "SELECT @@warning_count AS w, @@session.error_count");
                        // MySQL keeps no list over that.
                        drop(client.query(failing));
                        drop(client.query_all(statement));
                        let list = seen(client, "SHOW WARNINGS").replace("proxied", "straight");
                        client.ok(after);
                        [counts, list]
                    });
                    assert_eq!(seen[0], seen[1], "{kind:?}: {before}, {failing}, {statement}");
                }
            }
        }
    }
}

#[test]
fn warnings_behind_executions_of_which_a_server_alone_can_tell_are_the_servers() {
    for kind in [Kind::MariaDb, Kind::MySql] {
        let (ways, mut both) = ways(kind);
        let mut other = ways.proxied();
        for statement in
            ["CALL none()", "CALL some()", "SELECT counts()", "SELECT 1", "SELECT v FROM t", "DO counts()"]
        {
            let seen = both.each_mut().map(|client| {
                drop(client.query("SELECT nosuch"));
                other.ok("DO 1");
                let prepared = client.prepare(statement).expect("it is one");
                let behind_preparation = seen(client, "SHOW WARNINGS");
                drop(client.query("SELECT nosuch"));
                drop(client.execute_all(&prepared, &[]));
                let behind_execution = seen(client, "SHOW WARNINGS");
                client.ok(format!("PREPARE x FROM '{statement}'"));
                drop(client.query("SELECT nosuch"));
                drop(client.query_all("EXECUTE x"));
                [behind_preparation, behind_execution, seen(client, "SHOW WARNINGS")]
            });
            assert_eq!(seen[0], seen[1], "{kind:?}: {statement}");
        }
    }
}

/// The session's own, of a command that the proxy refuses, while a connection is held for a name that was made out of sight.
#[test]
fn error_of_a_command_is_kept_behind_an_execute_of_what_names_no_table() {
    for kind in [Kind::MariaDb, Kind::MySql] {
        let (_ways, mut both) = ways(kind);
        for executed in ["SELECT ? + 1", "SELECT v FROM t WHERE id = ?"] {
            let seen = both.each_mut().map(|client| {
                client.ok("SET @sql = 'SELECT 1', @x = 6");
                client.ok("PREPARE a FROM 'SELECT 7'");
                client.ok("PREPARE b FROM @sql");
                let prepared = client.prepare("DELETE FROM t WHERE v = ?").expect("it is one");
                client.ok(format!("PREPARE c FROM '{executed}'"));
                assert!(client.fetch(&prepared, 9).is_err());
                client.ok("EXECUTE c USING @x");
                let behind_execute = seen(client, "SELECT @@warning_count AS w, @@session.error_count");
                assert!(client.fetch(&prepared, 9).is_err());
                client.ok(format!("PREPARE c FROM '{executed}'"));
                [behind_execute, seen(client, "SHOW COUNT(*) ERRORS")]
            });
            assert_eq!(seen[0], seen[1], "{kind:?}: {executed}");
        }
    }
}

/// MySQL forgets it in any case.
#[test]
fn error_before_a_statement_that_has_names_prepared_again_is_shown_behind_it() {
    let (ways, mut both) = ways(Kind::MariaDb);
    let seen = both.each_mut().map(|client| {
        client.ok("PREPARE a FROM 'SELECT v FROM t'");
        // Through the proxy the transaction is on another connection.
        let mut holder = ways.proxied();
        holder.ok("BEGIN");
        holder.ok("SELECT v FROM t");
        client.ok("BEGIN");
        client.ok("SELECT v FROM t");
        drop(client.query("SELECT nosuch"));
        client.ok("PREPARE b FROM CONCAT('SELECT ', 1)");
        seen(client, "SHOW WARNINGS")
    });
    assert_eq!(seen[0], seen[1]);
}

#[test]
fn warnings_of_another_session_are_not_shown_in_a_transaction() {
    for kind in [Kind::MariaDb, Kind::MySql] {
        let (ways, [mut client, _]) = ways(kind);
        let mut other = ways.proxied();
        ways.administer(["UPDATE mysql_servers SET max_connections = 1", "LOAD MYSQL SERVERS TO RUNTIME"]);
        for statement in ["SHOW GRANTS", "SHOW CREATE DATABASE proxied", "PREPARE x FROM 'SHOW GRANTS'"] {
            assert_eq!(other.refused("SELECT nosuch").code, 1054);
            client.ok("BEGIN");
            client.ok(statement);
            assert!(client.table("SHOW WARNINGS").is_empty(), "{kind:?}: {statement}");
            client.ok("COMMIT");
        }
    }
}

#[test]
fn connection_id_is_the_proxys_session() {
    let stage = Stage::plain();
    let mut client = stage.client();
    let id = client.greeting.connection_id.to_string();
    assert_eq!(client.value("SELECT CONNECTION_ID()"), id);
    let listed = stage.proxy.operator().value("SELECT SessionID FROM stats_mysql_processlist");
    assert_eq!(listed, id);
}

#[test]
fn names_and_forms_of_own_answers_are_the_servers() {
    let stage = Stage::plain();
    let (mut client, mut primary) = (stage.client(), stage.primary());
    for ask in [
        "SELECT LAST_INSERT_ID()",
        "select  last_insert_id( )",
        "SELECT ROW_COUNT() AS n",
        "SELECT FOUND_ROWS() `x y`",
        "SELECT @@identity",
        "SHOW WARNINGS",
        "SHOW COUNT(*) WARNINGS",
        "SHOW COUNT(*) ERRORS",
    ] {
        assert_eq!(client.ok(ask).columns, primary.ok(ask).columns, "{ask}");
    }
}

/// What a session leaves behind for the next statement to ask for, it takes along: nobody waits for it while it thinks.
#[test]
fn warnings_errors_and_found_rows_hold_no_connection() {
    let stage = Stage::plain();
    stage.administer(["UPDATE mysql_servers SET max_connections = 1", "LOAD MYSQL SERVERS TO RUNTIME"]);
    let (mut client, mut other) = (stage.client(), stage.client());
    let mut disturb = || assert_eq!(other.refused("SELECT 5 + 'x' FROM nobody").code, 1146);

    client.ok("SELECT 'a' + 1 FROM t");
    stage.await_unpinned();
    disturb();
    assert_eq!(client.table("SHOW WARNINGS").len(), 3);
    assert_eq!(client.table("SHOW WARNINGS LIMIT 1, 1").len(), 1);
    assert!(client.table("SHOW ERRORS").is_empty());
    assert_eq!(client.table("SELECT @@warning_count, @@error_count"), [["3", "0"]]);

    assert_eq!(client.refused("SELECT * FROM nowhere").code, 1146);
    stage.await_unpinned();
    disturb();
    assert_eq!(client.value("SHOW COUNT(*) ERRORS"), "1");
    assert!(client.table("SHOW ERRORS")[0][2].contains("nowhere"));

    client.ok("SELECT SQL_CALC_FOUND_ROWS v FROM t LIMIT 1");
    stage.await_unpinned();
    disturb();
    assert_eq!(client.value("SELECT FOUND_ROWS()"), "3");

    let statement = client.prepare("SHOW WARNINGS").unwrap();
    client.ok("DROP TABLE IF EXISTS nothing");
    stage.await_unpinned();
    disturb();
    let listed = client.execute(&statement, &[]).unwrap().table();
    assert_eq!(listed[0][..2], ["Note", "1051"]);
    assert!(stage.figure("Diagnostics_Fetched") >= 4);
}

#[test]
fn more_warnings_than_a_server_lists_hold_their_connection() {
    let stage = Stage::plain();
    let mut client = stage.client();
    let rows: Vec<String> = (0..100).map(|_| "(1, 'again')".to_owned()).collect();
    assert_eq!(client.ok(format!("INSERT IGNORE INTO t VALUES {}", rows.join(", "))).warnings, 100);
    assert_eq!(stage.pool("ConnUsed", 0), 1);
    assert_eq!(client.value("SHOW COUNT(*) WARNINGS"), "100");
    assert_eq!(client.table("SHOW WARNINGS").len(), 64);
    client.ok("SELECT 1 FROM t");
    stage.await_unpinned();
}

#[test]
fn get_diagnostics_works_where_the_connection_is_held() {
    let ask = "GET DIAGNOSTICS CONDITION 1 @code = MYSQL_ERRNO";
    let stage = Stage::plain();
    stage.administer(["UPDATE mysql_servers SET max_connections = 1", "LOAD MYSQL SERVERS TO RUNTIME"]);
    let (mut client, mut other) = (stage.client(), stage.client());
    client.refused("SELECT * FROM nowhere");
    stage.await_unpinned();
    other.ok("SELECT 1 FROM t");
    stage.await_unpinned();
    assert_eq!(client.refused(ask).code, 1235, "rather than another's");
    client.refused("SELECT * FROM nowhere");
    stage.await_unpinned();
    client.ok(ask);
    assert_eq!(client.value("SELECT @code"), "1146", "nobody had it in between");
    client.quit();
    let mut client = stage.client();
    client.ok("BEGIN");
    client.refused("SELECT * FROM nowhere");
    client.ok(ask);
    assert_eq!(client.value("SELECT @code"), "1146");

    let stage = Stage::with(Setup::default().variable("mysql-hold_for_diagnostics", true));
    let mut client = stage.client();
    client.refused("SELECT * FROM nowhere");
    assert_eq!(stage.pool("ConnUsed", 0), 1);
    client.ok(ask);
    assert_eq!(client.value("SELECT @code"), "1146");
}

#[test]
fn errors_of_the_proxy_are_shown_too() {
    let stage =
        Stage::with(Setup::default().rule("rule_id=1, match_pattern='forbidden', error_msg='not here'"));
    let mut client = stage.client();
    client.refused("SELECT forbidden");
    assert_eq!(client.table("SHOW ERRORS"), [["Error", "1148", "not here"]]);
    assert_eq!(client.refused("EXECUTE no_such").code, 1243);
    assert_eq!(client.table("SHOW WARNINGS")[0][..2], ["Error", "1243"]);
    client.ok("SELECT 1 FROM t");
    assert!(client.table("SHOW WARNINGS").is_empty());
    client.refused("SELECT * FROM nowhere");
    client.refused("SELECT forbidden");
    let ask = "GET DIAGNOSTICS CONDITION 1 @code = MYSQL_ERRNO";
    assert_eq!(client.refused(ask).code, 1235, "no connection has the proxy's own");
}
