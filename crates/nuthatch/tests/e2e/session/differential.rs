//! The server alone is the oracle: a session through the proxy, with others in between on the same connections, is given
//! what a session of the same statements straight at the server is given.

use nuthatch_wire::CapabilityFlags;

use crate::client::{Answer, Client, Failure};
use crate::proxy::Setup;
use crate::servers;
use crate::stage::{CACHE_ALL, Stage};

/// What a client can see of an answer, but for what names the connection.
fn visible(outcome: Result<Vec<Answer>, Failure>) -> Vec<String> {
    let of_answer = |answer: Answer| {
        format!(
            "{:?} {:?} rows={:?} affected={} id={} warnings={} autocommit={} transaction={}",
            answer.columns,
            answer.collations,
            answer.table(),
            answer.affected_rows,
            answer.insert_id,
            answer.warnings,
            answer.autocommit(),
            answer.in_transaction(),
        )
    };
    match outcome {
        Ok(answers) => answers.into_iter().map(of_answer).collect(),
        Err(failure) => vec![format!("{:?}", failure.server())],
    }
}

/// Fills a schema of its own with what the statements use.
fn fill(client: &mut Client, schema: &str) {
    for statement in [
        format!("CREATE OR REPLACE DATABASE {schema}"),
        format!("USE {schema}"),
        "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(100))".to_owned(),
        "INSERT INTO t VALUES (1, 'one'), (2, 'two'), (3, 'three')".to_owned(),
        "CREATE TABLE c (id INT PRIMARY KEY AUTO_INCREMENT, a INT, u INT UNIQUE)".to_owned(),
        "CREATE PROCEDURE p() BEGIN SELECT COUNT(*) FROM t; SELECT MAX(id) FROM c; END".to_owned(),
        "CREATE FUNCTION f(x INT) RETURNS INT DETERMINISTIC RETURN x + 1".to_owned(),
    ] {
        client.ok(statement);
    }
}

/// Runs the statements one by one on both sides. Between any two, another session does what leaves traces on a connection.
#[track_caller]
pub(super) fn check_same(stage: &Stage, statements: &[&str]) {
    let (through, alone) = (servers::fresh_name("d"), servers::fresh_name("d"));
    let mut primary = stage.primary();
    fill(&mut primary, &through);
    fill(&mut primary, &alone);
    let flags = CapabilityFlags::CLIENT_MULTI_STATEMENTS;
    let mut proxied = stage.proxy.client(&stage.login().schema(&through).with(flags));
    let mut direct = primary;
    direct.ok(format!("USE {alone}"));
    let mut other = stage.client();
    other.ok("CREATE TABLE IF NOT EXISTS noise (id INT PRIMARY KEY AUTO_INCREMENT)");
    for (place, statement) in statements.iter().enumerate() {
        for noise in [
            "INSERT INTO noise VALUES ()",
            "SELECT * FROM noise LIMIT 1",
            "SELECT 'x' + 1",
            "SELECT * FROM nowhere",
        ] {
            drop(other.query(noise));
        }
        let expected = visible(direct.query_all(statement.replace("{schema}", &alone)));
        let found = visible(proxied.query_all(statement.replace("{schema}", &through)));
        let expected: Vec<_> = expected.iter().map(|text| text.replace(&alone, &through)).collect();
        assert_eq!(found, expected, "statement {place} of {statements:#?}");
    }
}

#[test]
fn insert_ids_are_the_servers() {
    check_same(
        &Stage::plain(),
        &[
            "SELECT LAST_INSERT_ID()",
            "INSERT INTO c (a) VALUES (1)",
            "SELECT LAST_INSERT_ID()",
            "INSERT INTO c (id, a) VALUES (500, 2)",
            "SELECT LAST_INSERT_ID()",
            "INSERT INTO c (a) VALUES (3), (4)",
            "SELECT LAST_INSERT_ID(), @@last_insert_id, @@identity",
            "INSERT INTO c (id, a) VALUES (NULL, 5), (900, 6)",
            "SELECT LAST_INSERT_ID()",
            "INSERT IGNORE INTO c (a, u) VALUES (1, 1), (2, 1)",
            "SELECT LAST_INSERT_ID()",
            "INSERT INTO c (a, u) VALUES (9, 1) ON DUPLICATE KEY UPDATE a = 10",
            "SELECT LAST_INSERT_ID()",
            "INSERT INTO c (a, u) VALUES (9, 1) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), a = 11",
            "SELECT LAST_INSERT_ID()",
            "REPLACE INTO c (a, u) VALUES (12, 1)",
            "SELECT LAST_INSERT_ID() AS id",
            "INSERT INTO c (a) SELECT id FROM t",
            "SELECT LAST_INSERT_ID()",
            "UPDATE c SET a = LAST_INSERT_ID(7) WHERE id = 1",
            "SELECT LAST_INSERT_ID()",
            "SELECT LAST_INSERT_ID(77)",
            "SELECT LAST_INSERT_ID()",
            "INSERT INTO c (a) VALUES (LAST_INSERT_ID())",
            "SELECT a FROM c WHERE id = LAST_INSERT_ID()",
            "INSERT INTO c (a) VALUES (1) RETURNING id",
            "SELECT LAST_INSERT_ID()",
            "SET last_insert_id = 42",
            "SELECT LAST_INSERT_ID()",
            "INSERT INTO c (id) VALUES (1)",
            "SELECT LAST_INSERT_ID()",
            "INSERT INTO c (id, a) VALUES (NULL, 7), (1, 2)",
            "SELECT LAST_INSERT_ID()",
            "DELETE FROM c",
            "SELECT LAST_INSERT_ID(), 1 + LAST_INSERT_ID()",
        ],
    );
}

#[test]
fn counts_and_warnings_are_the_servers() {
    check_same(
        &Stage::plain(),
        &[
            "SHOW WARNINGS",
            "SHOW COUNT(*) WARNINGS",
            "SELECT 'a' + 1 FROM t",
            "SHOW WARNINGS",
            "SHOW WARNINGS LIMIT 1, 1",
            "SHOW COUNT(*) WARNINGS",
            "SELECT @@warning_count, @@error_count",
            "SELECT v FROM t",
            "SHOW WARNINGS",
            "SELECT FOUND_ROWS()",
            "SELECT v FROM t LIMIT 1",
            "SELECT FOUND_ROWS()",
            "SELECT SQL_CALC_FOUND_ROWS v FROM t LIMIT 1",
            "SELECT FOUND_ROWS()",
            "UPDATE t SET v = CONCAT(v, '!')",
            "SELECT ROW_COUNT()",
            "SELECT ROW_COUNT()",
            "UPDATE t SET v = v",
            "SELECT ROW_COUNT()",
            "INSERT INTO t VALUES (1, 'x')",
            "SHOW WARNINGS",
            "SHOW ERRORS",
            "SELECT ROW_COUNT()",
            "INSERT IGNORE INTO t VALUES (1, 'x'), (9, 'nine')",
            "SHOW WARNINGS",
            "SELECT ROW_COUNT()",
            "DELETE FROM t WHERE id = 9",
            "SELECT ROW_COUNT()",
            "SELECT * FROM nowhere",
            "SHOW COUNT(*) ERRORS",
            "DROP TABLE IF EXISTS nowhere",
            "SHOW WARNINGS",
            "CREATE TABLE x (a INT)",
            "SELECT ROW_COUNT()",
            "DROP TABLE x",
            "CALL p()",
            "SELECT ROW_COUNT()",
        ],
    );
}

#[test]
fn found_rows_behind_several_statements_are_the_servers() {
    let mut statements = Vec::new();
    for several in [
        "SELECT 1; SELECT ROW_COUNT()",
        "SELECT v FROM t; SELECT v FROM t WHERE id = 1",
        "SELECT v FROM t; BEGIN; UPDATE t SET v = CONCAT(v, '!'); COMMIT",
        "UPDATE t SET v = CONCAT(v, '?'); SELECT v FROM t WHERE id > 1",
        "SELECT v FROM t; SHOW WARNINGS",
        "SELECT v FROM t LIMIT 1, 1; DO 1; SELECT v FROM t LIMIT 2, 9",
        "SELECT SQL_CALC_FOUND_ROWS v FROM t LIMIT 1; SELECT v FROM t WHERE id = 9",
        "CALL p(); SELECT v FROM t WHERE id < 3",
        "BEGIN; COMMIT",
        "SELECT v FROM t; DO 1; SELECT FOUND_ROWS()",
    ] {
        statements.extend(["SELECT v FROM t WHERE id <> 2", several, "SELECT FOUND_ROWS()"]);
    }
    check_same(&Stage::plain(), &statements);
}

#[test]
fn transactions_are_the_servers() {
    check_same(
        &Stage::plain(),
        &[
            "BEGIN",
            "UPDATE t SET v = 'x' WHERE id = 1",
            "SELECT ROW_COUNT() + 1",
            "ROLLBACK",
            "SELECT v FROM t",
            "SET autocommit = 0",
            "SELECT v FROM t WHERE id = 1",
            "UPDATE t SET v = 'y' WHERE id = 1",
            "SELECT v FROM t WHERE id = 1",
            "SET autocommit = 1",
            "SELECT v FROM t WHERE id = 1",
            "SET autocommit = 0",
            "SAVEPOINT early",
            "UPDATE t SET v = 'e' WHERE id = 1",
            "ROLLBACK TO early",
            "RELEASE SAVEPOINT early",
            "COMMIT",
            "SET autocommit = 1",
            "START TRANSACTION READ ONLY",
            "UPDATE t SET v = 'z'",
            "COMMIT",
            "BEGIN",
            "SAVEPOINT s",
            "DELETE FROM t",
            "ROLLBACK TO s",
            "COMMIT AND CHAIN",
            "ROLLBACK",
            "SELECT COUNT(*) FROM t",
            "COMMIT AND CHAIN",
            "INSERT INTO c (a) VALUES (1)",
            "ROLLBACK AND CHAIN",
            "SELECT COUNT(*) FROM c",
            "COMMIT",
            "BEGIN; UPDATE t SET v = 'm'; SELECT COUNT(*) FROM t",
            "CREATE TABLE implicit (a INT)",
            "SELECT v FROM t",
            "LOCK TABLES t WRITE",
            "SELECT COUNT(*) FROM c",
            "UPDATE t SET v = 'l'",
            "UNLOCK TABLES",
            "SELECT COUNT(*) FROM c",
            "XA START '{schema}'",
            "UPDATE t SET v = 'xa'",
            "XA END '{schema}'",
            "XA ROLLBACK '{schema}'",
            "SELECT v FROM t",
        ],
    );
}

#[test]
fn session_state_is_the_servers() {
    check_same(
        &Stage::plain(),
        &[
            "SELECT DATABASE()",
            "SET @a = 5, @b := 'x'",
            "SELECT @a, @b",
            "SET NAMES latin1",
            "SELECT @@character_set_client, @@collation_connection, 'é'",
            "SET NAMES DEFAULT",
            "SELECT @@character_set_client",
            "SET CHARACTER SET utf8mb4",
            "SELECT @@character_set_connection",
            "SET sql_mode = 'ANSI_QUOTES'",
            "SELECT \"v\" FROM t",
            "SET sql_mode = DEFAULT",
            "SELECT \"v\" FROM t",
            "SET SESSION time_zone = '+02:00'",
            "SELECT @@time_zone",
            "PREPARE s FROM 'SELECT ? + 1'",
            "EXECUTE s USING @a",
            "DEALLOCATE PREPARE s",
            "EXECUTE s USING @a",
            "CREATE TEMPORARY TABLE tt (a INT)",
            "INSERT INTO tt VALUES (1)",
            "SELECT * FROM tt",
            "DROP TEMPORARY TABLE tt",
            "SELECT * FROM tt",
            "SELECT f(1)",
            "USE no_such_schema",
            "SELECT DATABASE()",
            "HANDLER t OPEN",
            "HANDLER t READ FIRST",
            "HANDLER t CLOSE",
            "SET GLOBAL no_such_variable = 1",
            "DO RELEASE_ALL_LOCKS()",
            "EXPLAIN SELECT 1",
            "SHOW TABLES",
            "",
            ";",
            "/* nothing */",
            "SELECT 1;",
            "SELECT 1; ;",
        ],
    );
}

#[test]
fn results_of_every_kind_are_the_servers_also_from_the_cache() {
    let kinds = [
        "SELECT 1, 1.5, 1e10, 'text', NULL, TRUE, DATE '2020-01-02', TIME '10:11:12.5', X'00FF', 0x41, b'101'",
        "SELECT CAST('[1]' AS CHAR), JSON_ARRAY(1, 'a'), POINT(1, 2), INET6_ATON('::1')",
        "SELECT * FROM t ORDER BY id",
        "SELECT v AS `a ``b` FROM t WHERE id = 1",
        "SELECT * FROM t WHERE 0",
        "SELECT t.*, c.* FROM t LEFT JOIN c ON c.id = t.id",
        "(SELECT 1) UNION ALL (SELECT 'two') ORDER BY 1",
        "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT * FROM n",
        "SELECT REPEAT('x', 250), REPEAT('y', 251), REPEAT('z', 70000)",
        "SELECT '' FROM t",
    ];
    let twice: Vec<&str> = kinds.iter().flat_map(|kind| [*kind, *kind]).collect();
    let stage = Stage::with(Setup::default().rule(CACHE_ALL));
    check_same(&stage, &twice);
    assert!(stage.figure("Query_Cache_count_GET_OK") >= kinds.len() as u64);
}

/// Pieces of sessions. What asks about the statement before stands behind it: a server without a table in a statement
/// keeps the warnings of the one before, and the proxy does not.
const PIECES: [&[&str]; 42] = [
    &["SELECT v FROM t ORDER BY id"],
    &["SELECT v FROM t WHERE id = 2", "SELECT FOUND_ROWS()"],
    &["SELECT SQL_CALC_FOUND_ROWS id FROM t ORDER BY id LIMIT 1", "SELECT FOUND_ROWS()"],
    &["INSERT INTO c (a) VALUES (1)", "SELECT LAST_INSERT_ID()"],
    &["INSERT INTO c (a) VALUES (LAST_INSERT_ID())", "SELECT LAST_INSERT_ID() + 0"],
    &["INSERT INTO c (id, a) SELECT MAX(id) + 10, 2 FROM c HAVING MAX(id) > 0", "SELECT LAST_INSERT_ID()"],
    &["SELECT LAST_INSERT_ID(33)", "SELECT LAST_INSERT_ID()"],
    &["UPDATE t SET v = CONCAT(LEFT(v, 20), '!')", "SELECT ROW_COUNT()"],
    &["DELETE FROM c ORDER BY id LIMIT 1", "SELECT ROW_COUNT()"],
    &["SELECT 'a' + 1 FROM t", "SHOW WARNINGS"],
    &["SELECT * FROM nowhere", "SHOW ERRORS"],
    &["INSERT INTO t VALUES (1, 'again')", "SHOW WARNINGS"],
    &["INSERT IGNORE INTO t VALUES (1, 'again')", "SHOW COUNT(*) WARNINGS"],
    &["BEGIN"],
    &["START TRANSACTION"],
    &["COMMIT"],
    &["ROLLBACK"],
    &["SET autocommit = 0"],
    &["SET autocommit = 1"],
    &["SAVEPOINT s", "UPDATE t SET v = 's' WHERE id = 3", "ROLLBACK TO s"],
    &["SET NAMES latin1", "SELECT @@character_set_results"],
    &["SET NAMES utf8mb4 COLLATE utf8mb4_unicode_ci", "SELECT @@collation_connection"],
    &["SET @a = 7", "SELECT @a"],
    &["SET sql_select_limit = 2", "SELECT id FROM t ORDER BY id", "SET sql_select_limit = DEFAULT"],
    &["CREATE TEMPORARY TABLE IF NOT EXISTS tt SELECT 1 AS a", "SELECT * FROM tt"],
    &["SELECT 1 FROM t; SELECT 2 FROM t", "SELECT DATABASE()"],
    &["USE mysql", "SELECT DATABASE()", "USE {schema}"],
    &["CALL p()"],
    &["LOCK TABLES t WRITE, c WRITE", "UPDATE t SET v = 'l' WHERE id = 1", "UNLOCK TABLES"],
    &["DO 1", "SELECT 1 FROM t"],
    &["PREPARE s FROM 'SELECT v FROM t WHERE id = ?'", "EXECUTE s USING 2"],
    &["PREPARE s FROM 'SELECT 1'", "DEALLOCATE PREPARE s", "SELECT ROW_COUNT()"],
    &["PREPARE i FROM 'INSERT INTO c (a) VALUES (?)'", "EXECUTE i USING 3", "SELECT LAST_INSERT_ID()"],
    &["PREPARE x FROM CONCAT('SELECT ', 5)", "EXECUTE x"],
    &["EXECUTE IMMEDIATE 'SELECT 6'"],
    &["PREPARE c FROM 'CALL p()'", "EXECUTE c"],
    &["PREPARE b FROM 'COMMIT'", "EXECUTE b"],
    &["PREPARE w FROM 'SELECT v + 1 FROM t'", "EXECUTE w", "SHOW WARNINGS"],
    &["PREPARE u FROM 'UPDATE t SET v = LEFT(CONCAT(v, ?), 9)'", "EXECUTE u USING 'k'", "SELECT ROW_COUNT()"],
    &["PREPARE l FROM 'SELECT LAST_INSERT_ID()'", "EXECUTE l"],
    &["PREPARE s FROM 'SELEKT'", "SHOW ERRORS"],
    &["PREPARE n FROM 'SET NAMES latin1'", "EXECUTE n", "SELECT @@character_set_client"],
];

#[test]
fn random_sessions_are_given_what_the_server_gives() {
    const SESSIONS: u64 = 8;
    const PIECES_EACH: usize = 25;
    let stage = Stage::plain();
    for seed in 1..=SESSIONS {
        let mut state = seed;
        let statements: Vec<&str> = (0..PIECES_EACH)
            .flat_map(|_| {
                // A linear congruential generator; its high bits are even enough to choose by.
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let place = usize::try_from(state >> 33).expect("31 bits") % PIECES.len();
                PIECES[place].iter().copied()
            })
            .collect();
        check_same(&stage, &statements);
    }
}
