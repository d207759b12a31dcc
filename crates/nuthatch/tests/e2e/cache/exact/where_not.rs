//! What is not cached, and where.

use crate::client::Login;
use crate::proxy::Setup;
use crate::servers;
use crate::stage::{CACHE_ALL, Stage};

use super::{await_known, exact, exact_with, hits, is_hit, on, warm};

const ONE: &str = "SELECT v FROM t WHERE id = 1";

#[test]
fn nothing_is_cached_while_the_switch_is_off() {
    let stage = Stage::plain();
    let mut client = stage.client();
    assert!((0..5).all(|_| !is_hit(&stage, &mut client, ONE)));
    assert_eq!(stage.figure("Query_Cache_Tables"), 0, "no server is asked for its tables");
    stage.administer(["SET mysql-query_cache_type=1", "LOAD MYSQL VARIABLES TO RUNTIME"]);
    await_known(&stage, &mut client, ONE);
    stage.administer(["SET mysql-query_cache_type=0", "LOAD MYSQL VARIABLES TO RUNTIME"]);
    assert!(!is_hit(&stage, &mut client, ONE) && !is_hit(&stage, &mut client, ONE));
}

#[test]
fn what_may_change_by_itself_is_not_cached() {
    let stage = exact_with(&[
        "CREATE FUNCTION f() RETURNS INT DETERMINISTIC RETURN 5",
        "CREATE TABLE m (id INT PRIMARY KEY) ENGINE=MEMORY",
        "CREATE TABLE text (id INT PRIMARY KEY, words TEXT, FULLTEXT (words))",
        "CREATE VIEW n AS SELECT NOW() AS moment FROM t",
    ]);
    let mut client = stage.client();
    await_known(&stage, &mut client, ONE);
    for select in [
        "SELECT NOW(), v FROM t WHERE id = 1",
        "SELECT RAND() FROM t",
        "SELECT f() FROM t",
        "SELECT @a FROM t",
        "SELECT CONNECTION_ID() FROM t",
        "SELECT SUM(table_rows) FROM information_schema.tables",
        "SELECT * FROM m",
        "SELECT MATCH(words) AGAINST('owl') FROM text WHERE id = 1",
        "SELECT id FROM text WHERE MATCH words AGAINST ('owl' IN BOOLEAN MODE)",
        "SELECT moment FROM n",
        "SELECT SQL_NO_CACHE v FROM t",
        "SELECT v FROM t FOR UPDATE",
    ] {
        client.ok(select);
        assert!(!is_hit(&stage, &mut client, select), "{select}");
    }
}

#[test]
fn statements_of_unknown_effect_take_everything_with_them() {
    let stage = exact_with(&["CREATE PROCEDURE p() UPDATE t SET v = CONCAT(v, '.') WHERE id = 1"]);
    let (mut reader, mut writer) = (stage.client(), stage.client());
    for write in [
        "CALL p()",
        "EXECUTE IMMEDIATE 'UPDATE t SET v = 1 WHERE id = 1'",
        "DO 1; UPDATE t SET v = 2 WHERE id = 1",
    ] {
        await_known(&stage, &mut reader, ONE);
        writer.query_all(write).unwrap();
        assert_eq!(reader.value(ONE), stage.primary().value(ONE), "{write}");
    }
}

#[test]
fn stored_function_with_the_name_of_another_servers_own_is_not_cached_and_its_writes_are_seen() {
    let stage = exact_with(&[
        "CREATE TABLE u SELECT 1 AS id",
        "CREATE FUNCTION uuid_to_bin (a INT) RETURNS INT MODIFIES SQL DATA DETERMINISTIC \
         BEGIN UPDATE t SET v = a WHERE id = 1; RETURN a; END",
    ]);
    let (mut reader, mut writer) = (stage.client(), stage.client());
    for write in [
        "SELECT uuid_to_bin(2)",
        "SELECT UUID_TO_BIN (3) FROM u",
        "DO uuid_to_bin(4)",
        "SET @a = uuid_to_bin(5)",
        "SELECT uuid_to_bin(6)",
        "SELECT UUID_TO_BIN (3) FROM u",
    ] {
        await_known(&stage, &mut reader, ONE);
        writer.query_all(write).unwrap();
        assert_eq!(reader.value(ONE), stage.primary().value(ONE), "{write}");
    }
}

#[test]
fn account_that_does_not_see_everything_caches_nothing_and_says_what_to_grant() {
    let name = servers::fresh_name("blind");
    let mut primary = servers::primary(servers::shared());
    primary.ok(format!("CREATE USER {name}@'%' IDENTIFIED BY 'pw'"));
    primary.ok(format!("GRANT SELECT ON *.* TO {name}@'%'"));
    let setup = on(Setup::default())
        .variable("mysql-query_cache_catalogue_username", format!("'{name}'"))
        .variable("mysql-query_cache_catalogue_password", "'pw'");
    let stage = Stage::with(setup);
    let mut client = stage.client();
    crate::deadline::await_that("the log says it", || stage.proxy.log().contains("GRANT "));
    assert!((0..5).all(|_| !is_hit(&stage, &mut client, ONE)));
    assert!(!stage.proxy.log().contains("pw@"), "no password is shown");
    primary.ok(format!("DROP USER {name}@'%'"));
}

#[test]
fn rule_with_a_ttl_goes_before_the_switch() {
    let stage = Stage::with(on(Setup::default()).rule(CACHE_ALL));
    let mut client = stage.client();
    warm(&stage, &mut client, ONE);
    client.ok("UPDATE t SET v = 'new' WHERE id = 1");
    assert!(is_hit(&stage, &mut client, ONE), "for a minute, whatever is written");
    assert_eq!(client.value(ONE), "one");
}

#[test]
fn sessions_with_temporary_tables_or_locks_read_past_the_cache() {
    let stage = exact();
    let mut client = stage.client();
    for (begin, end) in [
        ("CREATE TEMPORARY TABLE t SELECT 1 AS id, 'temporary' AS v", "DROP TEMPORARY TABLE t"),
        ("LOCK TABLES t WRITE", "UNLOCK TABLES"),
    ] {
        await_known(&stage, &mut client, ONE);
        client.ok(begin);
        let before = hits(&stage);
        client.ok(ONE);
        client.ok(ONE);
        assert_eq!(hits(&stage), before, "{begin}");
        client.ok(end);
        await_known(&stage, &mut client, ONE);
        assert_eq!(client.value(ONE), "one", "{end}");
    }
}

#[test]
fn fast_forward_sessions_are_not_looked_into_so_nothing_is_served_meanwhile() {
    let stage = exact();
    let mut client = stage.client();
    let (name, password) = (servers::fresh_name("fast"), "pw");
    let mut primary = stage.primary();
    primary.ok(format!("CREATE USER {name}@'%' IDENTIFIED BY '{password}'"));
    primary.ok(format!("GRANT ALL ON {}.* TO {name}@'%'", stage.schema));
    stage.administer([
        &format!(
            "INSERT INTO mysql_users (username, password, fast_forward) VALUES ('{name}', '{password}', 1)"
        ),
        "LOAD MYSQL USERS TO RUNTIME",
    ]);
    await_known(&stage, &mut client, ONE);
    let mut fast = stage.proxy.client(&Login::new(&name, password).schema(&stage.schema));
    fast.ok("UPDATE t SET v = 'unseen' WHERE id = 1");
    assert_eq!(client.value(ONE), "unseen");
    assert!(!is_hit(&stage, &mut client, ONE));
    fast.quit();
    await_known(&stage, &mut client, ONE);
    primary.ok(format!("DROP USER {name}@'%'"));
}

#[test]
fn what_a_server_shows_uncommitted_by_default_is_not_stored() {
    let lab = servers::own(0);
    let mut root = servers::primary(&lab);
    root.ok("SET GLOBAL tx_isolation = 'READ-UNCOMMITTED'");
    root.ok("CREATE DATABASE own");
    root.ok("CREATE TABLE own.t (id INT PRIMARY KEY, v INT)");
    root.ok("INSERT INTO own.t VALUES (1, 1)");
    let login = servers::account(&lab);
    let setup = crate::stage::before(on(Setup::default()), &lab).user(crate::stage::user_row(&login, ""));
    let proxy = crate::proxy::Proxy::start(&setup);
    let login = login.schema("own");
    let (mut writer, mut reader) = (proxy.client(&login), proxy.client(&login));
    crate::deadline::await_that("the catalogue is read", || {
        crate::stage::figure(&mut proxy.operator(), "Query_Cache_Tables") > 0
    });
    writer.ok("BEGIN");
    writer.ok("UPDATE t SET v = 666 WHERE id = 1");
    (0..3).for_each(|_| assert_eq!(reader.value(ONE), "666", "so the server is set"));
    writer.ok("ROLLBACK");
    assert_eq!(reader.value(ONE), "1");
}
