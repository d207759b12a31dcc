//! `FOUND_ROWS()` behind each kind of statement, beside the same straight at the server; with SQL_CALC_FOUND_ROWS behind hits too.

use nuthatch_lab::Kind;

use crate::client::{Client, Value};
use crate::deadline::await_that;
use crate::proxy::Setup;
use crate::stage::Stage;
use crate::two_ways::{TwoWays, seen, seen_prepared};

const TABLES: [&str; 6] = [
    "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v INT, KEY (v))",
    "CREATE TABLE e (id INT)",
    "CREATE TABLE m (id INT) ENGINE=MyISAM",
    "CREATE TABLE w (id INT PRIMARY KEY AUTO_INCREMENT, v INT)",
    "INSERT INTO t (v) VALUES (1), (2), (3), (4), (5), (5)",
    "INSERT INTO m VALUES (1), (2), (3)",
];

const STATEMENTS: [&str; 81] = [
    "SELECT v FROM t",
    "SELECT v FROM t LIMIT 2",
    "SELECT v FROM t LIMIT 2,1",
    "SELECT v FROM t LIMIT 1 OFFSET 2",
    "SELECT v FROM t LIMIT 4,9",
    "SELECT v FROM t LIMIT 6,9",
    "SELECT v FROM t LIMIT 100,1",
    "SELECT v FROM t LIMIT 0",
    "SELECT v FROM t LIMIT 3,0",
    "SELECT v FROM t WHERE id=3 LIMIT 1,1",
    "SELECT v FROM t WHERE id=99 LIMIT 5,1",
    "SELECT v FROM t WHERE 1=0 LIMIT 5,1",
    "SELECT v FROM t ORDER BY v+1 LIMIT 2,1",
    "SELECT v FROM t ORDER BY v+1 LIMIT 9,2",
    "SELECT v FROM t ORDER BY id DESC LIMIT 2,2",
    "SELECT DISTINCT v FROM t ORDER BY v LIMIT 2,1",
    "SELECT v, COUNT(*) FROM t GROUP BY v ORDER BY 2, 1 LIMIT 2,1",
    "SELECT v, COUNT(*) FROM t GROUP BY v WITH ROLLUP LIMIT 2,1",
    "SELECT COUNT(*) FROM t LIMIT 1,1",
    "SELECT COUNT(*) FROM t",
    "SELECT MAX(id) FROM t LIMIT 1,1",
    "SELECT 1",
    "SELECT 1 LIMIT 1,1",
    "SELECT v FROM t UNION SELECT id FROM t",
    "SELECT v FROM t UNION ALL SELECT id FROM t",
    "SELECT v FROM t UNION ALL SELECT id FROM t LIMIT 2,1",
    "SELECT v FROM t UNION ALL SELECT id FROM t LIMIT 2",
    "(SELECT v FROM t LIMIT 2,1) UNION ALL (SELECT id FROM t LIMIT 3)",
    "(SELECT v FROM t LIMIT 2,1)",
    "(SELECT v FROM t LIMIT 2,3) LIMIT 1,1",
    "SELECT * FROM (SELECT v FROM t LIMIT 2,1) d",
    "SELECT * FROM (SELECT v FROM t LIMIT 2,3) d LIMIT 1,1",
    "SELECT a.id FROM t a JOIN t b LIMIT 3,2",
    "SELECT * FROM m LIMIT 1,1",
    "SELECT * FROM m LIMIT 5,1",
    "SELECT * FROM e LIMIT 1,1",
    "SELECT (SELECT v FROM t LIMIT 2,1)",
    "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY 1 LIMIT 1,1",
    "WITH c AS (SELECT v FROM t LIMIT 2,3) SELECT * FROM c LIMIT 1,1",
    "TABLE t LIMIT 2,1",
    "VALUES (1), (2), (3)",
    "VALUES ROW(1), ROW(2), ROW(3)",
    "VALUES (1), (2) UNION ALL SELECT 3",
    "SELECT 3 UNION ALL VALUES (1), (2)",
    "SELECT * FROM (VALUES (1), (2)) d",
    "SELECT v FROM t LIMIT 2,1 FOR UPDATE",
    "SELECT v FROM t LIMIT 2,1 /* LIMIT 3 */",
    "SELECT SQL_CALC_FOUND_ROWS v FROM t LIMIT 2,1",
    "SELECT SQL_CALC_FOUND_ROWS v FROM t LIMIT 0",
    "SHOW TABLES",
    "SHOW TABLES LIKE 'zzz'",
    "SHOW COLUMNS FROM t",
    "SHOW CREATE TABLE t",
    "SHOW WARNINGS",
    "DESC t",
    "EXPLAIN SELECT v FROM t WHERE id = 1",
    "INSERT INTO w (v) VALUES (7), (8), (9)",
    "INSERT INTO w (v) SELECT id FROM m",
    "INSERT INTO w (v) SELECT id FROM m LIMIT 1,1",
    "INSERT INTO w (v) SELECT v FROM t WHERE 1=0",
    "INSERT INTO e SELECT MAX(v) FROM t",
    "INSERT INTO w (v) VALUES ((SELECT v FROM t LIMIT 1))",
    "REPLACE INTO w (id, v) VALUES (1, 7), (2, 8)",
    "CREATE TABLE x SELECT v FROM t LIMIT 2,1",
    "DROP TABLE IF EXISTS x",
    "INSERT INTO w (id, v) VALUES (1, 1) ON DUPLICATE KEY UPDATE v = v + 1",
    "UPDATE w SET v = v + 1 LIMIT 2",
    "UPDATE w SET v = v WHERE id < 3",
    "UPDATE w, t SET w.v = w.v + 1 WHERE w.id = t.id",
    "DELETE FROM w WHERE id > 4",
    "DELETE a FROM w a JOIN w b ON a.id = b.id WHERE a.id = 4",
    "SET @a = 1",
    "DO 1",
    "BEGIN",
    "COMMIT",
    "SELECT nosuch FROM t",
    "SELECT (SELECT v FROM t) FROM t",
    "INSERT INTO t (id) VALUES (1)",
    "ANALYZE TABLE t",
    "CHECKSUM TABLE t",
    "SAVEPOINT s",
];

/// What the proxy says where it cannot know.
const REFUSED: &str = "error 1235";

/// Each statement behind one that found four rows, on connections that others use as well.
fn check(kind: Kind, setup: Setup) {
    let ways = TwoWays::new(kind, setup, &TABLES);
    let is_caching = ways.proxy.operator().value("SELECT @@mysql-query_cache_type") != "0";
    let mut pairs = [ways.proxied(), ways.proxied(), ways.straight(), ways.straight()];
    if is_caching {
        await_that("the tables are known", || {
            pairs[0].ok("SELECT v FROM t WHERE id <= 4");
            ways.figure("Query_Cache_count_SET") > 0
        });
    }
    let (mut asked, mut refused) = (0, Vec::new());
    let mut take = |what: &str, form: &dyn Fn(&mut Client) -> String| {
        let [proxied_one, proxied_other, straight_one, straight_other] = &mut pairs;
        let mut both =
            [(proxied_one, proxied_other), (straight_one, straight_other)].map(|(client, other)| {
                client.ok("SELECT v FROM t WHERE id <= 4");
                form(client);
                other.ok("SELECT 1 FROM m");
                let found = seen(client, "SELECT FOUND_ROWS()");
                // What the cache has now.
                form(client);
                let again = seen(client, "SELECT FOUND_ROWS()");
                form(client);
                other.ok("SELECT 1 FROM m");
                let larger = seen(client, "SELECT FOUND_ROWS() + 0");
                client.ok("ROLLBACK");
                [found, again, larger]
            });
        let [proxied, straight] = &mut both;
        for (place, (proxied, straight)) in proxied.iter_mut().zip(straight).enumerate() {
            asked += 1;
            if proxied == REFUSED {
                refused.push(format!("{what}, {place}"));
                proxied.clone_from(straight);
            }
        }
        assert_eq!(both[0], both[1], "{kind:?}: {what}");
    };
    for statement in STATEMENTS {
        take(statement, &|client| seen(client, statement));
        take(&format!("prepared {statement}"), &|client| seen_prepared(client, statement, &[]));
    }
    for sql in [
        "SELECT v FROM t WHERE id > ? LIMIT ?, ?",
        "SELECT v FROM t WHERE id > ? LIMIT ? OFFSET ?",
        "SELECT v FROM t WHERE id > ? ORDER BY v LIMIT 1 OFFSET 1",
    ] {
        for values in [[0, 2, 2], [1, 3, 1], [9, 1, 1], [0, 9, 9]] {
            let count = sql.matches('?').count();
            let values = values.map(Value::Int);
            take(sql, &|client| seen_prepared(client, sql, &values[..count]));
        }
    }
    // A SELECT's own is known, whoever had the connection; it is refused in a larger question only, as ever.
    let is_of_select = |what: &&String| what.contains("SELECT v FROM t LIMIT") && !what.ends_with(", 2");
    let in_vain: Vec<_> = refused.iter().filter(is_of_select).collect();
    assert!(
        in_vain.iter().all(|what| what.contains("INTO") || what.contains("CREATE")),
        "{in_vain:?} of {asked}"
    );
}

#[test]
fn found_rows_are_the_servers_at_mariadb() {
    check(Kind::MariaDb, Setup::default());
}

#[test]
fn found_rows_are_the_servers_at_mysql() {
    check(Kind::MySql, Setup::default());
}

#[test]
fn found_rows_behind_a_hit_are_the_servers() {
    check(Kind::MariaDb, Setup::default().variable("mysql-query_cache_type", 1));
    check(Kind::MySql, Setup::default().variable("mysql-query_cache_type", 1));
}

#[test]
fn found_rows_behind_insert_select_are_told_to_who_is_alone() {
    for kind in [Kind::MariaDb, Kind::MySql] {
        let ways = TwoWays::new(kind, Setup::default(), &TABLES);
        let mut both = [ways.proxied(), ways.straight()];
        for statement in [
            "INSERT INTO w (v) SELECT id FROM m",
            "INSERT INTO w (v) SELECT v FROM t LIMIT 1,2",
            "REPLACE INTO w (v) SELECT v FROM t",
            "INSERT INTO e SELECT id FROM m",
            "INSERT INTO e SELECT 1 FROM m WHERE 1=0",
            "CREATE TABLE y SELECT v FROM t LIMIT 2,1",
        ] {
            let found = both.each_mut().map(|client| {
                client.ok("SELECT v FROM t WHERE id <= 4");
                client.ok(statement);
                let found = client.value("SELECT FOUND_ROWS()");
                client.ok("DROP TABLE IF EXISTS y");
                found
            });
            assert_eq!(found[0], found[1], "{kind:?}: {statement}");
        }
    }
}

const PAGE: &str = "SELECT SQL_CALC_FOUND_ROWS v FROM t ORDER BY id LIMIT 1, 1";

fn counted(client: &mut Client, page: &str) -> String {
    client.ok(page);
    client.value("SELECT FOUND_ROWS()")
}

#[test]
fn count_of_all_rows_is_told_behind_a_hit() {
    let stage = Stage::with(Setup::default().variable("mysql-query_cache_type", 1));
    let (mut client, mut other) = (stage.client(), stage.client());
    let hits = || stage.figure("Query_Cache_count_GET_OK");
    let is_hit_with = |client: &mut Client, count: &str| {
        let before = hits();
        assert_eq!(counted(client, PAGE), count);
        hits() > before
    };
    await_that("it is served", || is_hit_with(&mut client, "3"));
    assert!(is_hit_with(&mut other, "3"));
    // Of the statement before, whichever that was.
    other.ok("SELECT v FROM t LIMIT 1");
    assert_eq!(other.value("SELECT FOUND_ROWS()"), "1");
    client.ok("INSERT INTO t VALUES (9, 'nine')");
    assert!(!is_hit_with(&mut other, "4"));
    assert!(is_hit_with(&mut client, "4"));
    let prepared = client.prepare(PAGE).expect("it can be prepared");
    let before = hits();
    for _ in 0..3 {
        client.execute(&prepared, &[]).expect("it is answered");
        assert_eq!(client.value("SELECT FOUND_ROWS() AS `all`"), "4");
    }
    assert_eq!(hits(), before + 2, "the binary protocol's too");
}

/// The connection is held, which would have to be asked: what is not stored is not told wrongly.
#[test]
fn count_of_all_rows_is_told_in_transactions() {
    let stage = Stage::with(Setup::default().variable("mysql-query_cache_type", 1));
    let (mut client, mut other) = (stage.client(), stage.client());
    let page = |place: u32| format!("SELECT SQL_CALC_FOUND_ROWS v FROM t ORDER BY id LIMIT {place}, 1");
    await_that("it is served", || {
        let before = stage.figure("Query_Cache_count_GET_OK");
        client.ok(page(1));
        stage.figure("Query_Cache_count_GET_OK") > before
    });
    client.ok("BEGIN");
    for _ in 0..3 {
        for place in 0..3 {
            assert_eq!(counted(&mut client, &page(place)), "3");
            client.ok(page(place));
            assert_eq!(client.value("SELECT FOUND_ROWS() + 0"), "3");
            client.ok("SELECT v FROM t WHERE id = 1");
            client.ok("SELECT v FROM t WHERE id = 1");
            assert_eq!(client.value("SELECT FOUND_ROWS()"), "1");
        }
        other.ok("INSERT INTO t (id, v) SELECT MAX(id) + 1, 'more' FROM t");
    }
    client.ok("COMMIT");
    assert_eq!([1, 2, 5].map(|place| counted(&mut client, &page(place))), ["6", "6", "6"]);
}

/// A transaction may begin with it of which no server knows yet.
#[test]
fn count_of_all_rows_is_told_to_expressions_and_code_of_a_transaction() {
    let stage = Stage::with(Setup::default().variable("mysql-query_cache_type", 1));
    let (mut client, mut other) = (stage.client(), stage.client());
    client.ok("CREATE PROCEDURE found() SELECT FOUND_ROWS()");
    await_that("it is served", || {
        let before = stage.figure("Query_Cache_count_GET_OK");
        other.ok(PAGE);
        stage.figure("Query_Cache_count_GET_OK") > before
    });
    for level in ["READ COMMITTED", "REPEATABLE READ"] {
        client.ok(format!("SET SESSION TRANSACTION ISOLATION LEVEL {level}"));
        for begin in ["SET autocommit = 0", "BEGIN"] {
            for asked in ["SELECT FOUND_ROWS() + 0", "CALL found()"] {
                client.ok(begin);
                client.ok(PAGE);
                let told = client.query_all(asked).map(|answers| answers[0].value());
                assert_eq!(
                    told.map_err(|failure| failure.server().code),
                    Ok("3".to_owned()),
                    "{level}, {begin}, {asked}"
                );
                client.ok("COMMIT");
            }
        }
    }
}

/// MySQL warns of it each time, and what came with warnings is not stored.
#[test]
fn count_of_all_rows_is_told_by_mysql_itself() {
    let stage = Stage::of_mysql(Setup::default().variable("mysql-query_cache_type", 1));
    let mut client = stage.client();
    for count in 3..6 {
        for _ in 0..3 {
            assert_eq!(counted(&mut client, PAGE), count.to_string());
        }
        client.ok("INSERT INTO t (id, v) SELECT MAX(id) + 1, 'more' FROM t");
    }
}
