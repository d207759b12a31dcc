//! Statements and answers that are never stored and never served, whatever a rule says.

use crate::client::Client;
use crate::stage::Stage;

/// Runs each statement twice, each in a session of its own, and sees that the cache was neither asked nor filled.
#[track_caller]
fn check_never(stage: &Stage, statements: &[&str]) {
    for statement in statements {
        let before = (stage.figure("Query_Cache_count_GET"), stage.figure("Query_Cache_count_SET"));
        for _ in 0..2 {
            let mut client = stage.client();
            client.query_all(statement).unwrap_or_else(|failure| panic!("{statement}: {failure:?}"));
            client.quit();
        }
        let after = (stage.figure("Query_Cache_count_GET"), stage.figure("Query_Cache_count_SET"));
        assert_eq!(after, before, "{statement}");
    }
}

#[test]
fn locking_reads_are_not_cached() {
    check_never(
        &Stage::caching(),
        &[
            "SELECT v FROM t WHERE id = 1 FOR UPDATE",
            "SELECT v FROM t WHERE id = 1 LOCK IN SHARE MODE",
            "SELECT v FROM t WHERE id = 1 /*!40001 FOR UPDATE */",
            "select v from t where id = 1 for/**/update",
            "SELECT a.v FROM (SELECT v FROM t WHERE id = 1 FOR UPDATE) a",
            "(SELECT v FROM t WHERE id = 1 FOR UPDATE) UNION (SELECT 2)",
            "SELECT GET_LOCK('never', 0)",
            "SELECT RELEASE_LOCK('never')",
            "SELECT IS_FREE_LOCK('never')",
            "SELECT IS_USED_LOCK('never')",
            "SELECT RELEASE_ALL_LOCKS()",
        ],
    );
}

#[test]
fn what_the_session_alone_knows_is_not_cached() {
    check_never(
        &Stage::caching(),
        &[
            "SELECT LAST_INSERT_ID()",
            "SELECT LAST_INSERT_ID(), 1",
            "SELECT @@last_insert_id",
            "SELECT @@identity",
            "SELECT FOUND_ROWS()",
            "SELECT ROW_COUNT()",
            "SELECT CONNECTION_ID()",
            "SELECT CONNECTION_ID(), 1",
            "SELECT @a",
            "SELECT @a := 5",
            "SELECT v FROM t WHERE id = @a",
            "SELECT v INTO @x FROM t WHERE id = 1",
            "SELECT v FROM t WHERE id = 1 INTO @x",
            "SELECT @@global.sql_mode",
            "SELECT @@session.autocommit",
            "SELECT UUID()",
        ],
    );
}

#[test]
fn statements_that_are_no_single_select_are_not_cached() {
    let stage = Stage::caching();
    let mut primary = stage.primary();
    primary.ok("CREATE PROCEDURE p() SELECT v FROM t WHERE id = 1");
    primary.ok("CREATE FUNCTION f() RETURNS INT NO SQL RETURN 1");
    primary.ok("CREATE SEQUENCE s");
    check_never(
        &stage,
        &[
            "CALL p()",
            "SELECT 1; SELECT 2",
            "SELECT 1; SELECT 1",
            "SELECT f()",
            "SELECT NEXT VALUE FOR s",
            "SELECT NEXTVAL(s)",
            "SHOW CREATE TABLE t",
            "EXPLAIN SELECT 1",
            "SHOW VARIABLES LIKE 'version'",
            "UPDATE t SET v = v",
            "DO 1",
            "SELECT SQL_NO_CACHE v FROM t WHERE id = 1",
            "EXECUTE IMMEDIATE 'SELECT 1'",
        ],
    );
}

fn check_not_stored(stage: &Stage, client: &mut Client, statement: &str) {
    let asked = stage.backend_queries();
    for _ in 0..3 {
        drop(client.query(statement));
    }
    client.settle();
    assert_eq!(stage.backend_queries(), asked + 3, "{statement}");
    assert_eq!(stage.figure("Query_Cache_count_SET"), 0, "{statement}");
    assert_eq!(stage.figure("Query_Cache_count_GET_OK"), 0, "{statement}");
}

#[test]
fn errors_are_not_stored() {
    let stage = Stage::caching();
    let mut client = stage.client();
    check_not_stored(&stage, &mut client, "SELECT nope FROM t");
    check_not_stored(&stage, &mut client, "SELECT (SELECT id FROM t)");
    stage.primary().ok("ALTER TABLE t ADD nope INT DEFAULT 7");
    assert_eq!(client.value("SELECT nope FROM t LIMIT 1"), "7");
}

#[test]
fn results_with_warnings_are_not_stored() {
    let stage = Stage::caching();
    let mut client = stage.client();
    check_not_stored(&stage, &mut client, "SELECT 'a' + 1");
    assert_eq!(client.ok("SELECT 'a' + 1").warnings, 1);
    assert_eq!(client.ok("SHOW WARNINGS").rows.len(), 1);
}

#[test]
fn error_in_the_middle_of_a_result_is_not_stored() {
    let stage = Stage::caching();
    stage.primary().ok("INSERT INTO t SELECT seq, REPEAT('x', 90) FROM seq_10_to_5000");
    let mut client = stage.client();
    // Fails at the last row, when the first have long been sent.
    let select = "SELECT v, IF(id = 5000, (SELECT id FROM t WHERE id < 9), 1) FROM t";
    check_not_stored(&stage, &mut client, select);
    assert_eq!(client.refused(select).code, 1242);
}

#[test]
fn count_get_counts_only_statements_that_may_be_cached() {
    let stage = Stage::with(
        crate::proxy::Setup::default().rule("rule_id=1, match_digest='^SELECT v', cache_ttl=60000, apply=1"),
    );
    let mut client = stage.client();
    for statement in
        ["SELECT 1", "UPDATE t SET v = v", "SELECT v FROM t WHERE id = 1 FOR UPDATE", "SET @a = 1"]
    {
        client.ok(statement);
    }
    assert_eq!(stage.figure("Query_Cache_count_GET"), 0, "no rule wants them cached, or they cannot be");
    let mut client = stage.client();
    (0..4).for_each(|_| drop(client.ok("SELECT v FROM t WHERE id = 1")));
    assert_eq!((stage.figure("Query_Cache_count_GET"), stage.figure("Query_Cache_count_GET_OK")), (4, 3));
}
