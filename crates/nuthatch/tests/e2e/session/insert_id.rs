//! `LAST_INSERT_ID()` is the session's, whoever used the connection in between.

use crate::client::Client;
use crate::stage::Stage;

fn with_counter() -> Stage {
    let stage = Stage::plain();
    stage.primary().ok("CREATE TABLE c (id INT PRIMARY KEY AUTO_INCREMENT, parent INT)");
    stage
}

fn insert(client: &mut Client) -> u64 {
    client.ok("INSERT INTO c (parent) VALUES (0)").insert_id
}

#[test]
fn last_insert_id_survives_another_session_on_the_same_connection() {
    let stage = with_counter();
    let (mut a, mut b) = (stage.client(), stage.client());
    let of_a = insert(&mut a);
    let of_b = insert(&mut b);
    assert_ne!(of_a, of_b);
    for ask in [
        "SELECT LAST_INSERT_ID()",
        "select last_insert_id() as id",
        "SELECT @@last_insert_id",
        "SELECT @@identity",
        "SELECT LAST_INSERT_ID() + 0",
    ] {
        assert_eq!(a.value(ask), of_a.to_string(), "{ask}");
        assert_eq!(b.value(ask), of_b.to_string(), "{ask}");
    }
    a.settle();
    b.settle();
    stage.await_unpinned();
}

#[test]
fn last_insert_id_travels_into_larger_statements() {
    let stage = with_counter();
    let (mut a, mut b) = (stage.client(), stage.client());
    let of_a = insert(&mut a);
    insert(&mut b);
    a.ok("INSERT INTO c (parent) VALUES (LAST_INSERT_ID())");
    insert(&mut b);
    a.ok("UPDATE c SET parent = parent + 0 WHERE parent = LAST_INSERT_ID()");
    let parent = stage.primary().value(format!("SELECT COUNT(*) FROM c WHERE parent = {of_a}"));
    assert_eq!(parent, "1");
}

#[test]
fn last_insert_id_of_an_expression_is_kept() {
    let stage = with_counter();
    let (mut a, mut b) = (stage.client(), stage.client());
    insert(&mut a);
    assert_eq!(a.ok("UPDATE t SET v = LAST_INSERT_ID(4711) WHERE id = 1").insert_id, 4711);
    insert(&mut b);
    assert_eq!(a.value("SELECT LAST_INSERT_ID()"), "4711");
}

#[test]
fn asking_for_the_id_hides_no_found_rows_and_no_warnings() {
    let stage = with_counter();
    let (mut a, mut b) = (stage.client(), stage.client());
    a.ok("SELECT SQL_CALC_FOUND_ROWS LAST_INSERT_ID(77) FROM seq_1_to_9 LIMIT 1");
    insert(&mut b);
    assert_eq!(a.value("SELECT FOUND_ROWS()"), "9");
    a.ok("SELECT v FROM t");
    insert(&mut b);
    assert_eq!(a.value("SELECT LAST_INSERT_ID()"), "77");
    assert_eq!(a.ok("INSERT IGNORE INTO c (id, parent) VALUES (NULL, 'x')").warnings, 1);
    assert_eq!(a.value("SHOW COUNT(*) WARNINGS"), "1");
    a.settle();
    a.ok("SELECT v FROM t");
    a.settle();
    stage.await_unpinned();
}

#[test]
fn new_session_has_no_last_insert_id() {
    let stage = with_counter();
    insert(&mut stage.client());
    let mut fresh = stage.client();
    assert_eq!(fresh.value("SELECT LAST_INSERT_ID()"), "0");
    assert_eq!(fresh.value("SELECT LAST_INSERT_ID() + 0"), "0");
    fresh.ok("INSERT INTO c (parent) VALUES (LAST_INSERT_ID())");
    assert_eq!(stage.primary().value("SELECT parent FROM c ORDER BY id DESC LIMIT 1"), "0");
}

#[test]
fn failed_insert_and_later_statements_leave_it_as_it_was() {
    let stage = with_counter();
    let mut client = stage.client();
    let id = insert(&mut client).to_string();
    client.refused(format!("INSERT INTO c VALUES ({id}, 0)"));
    client.ok("UPDATE t SET v = 'x' WHERE id = 1");
    client.ok("INSERT INTO t VALUES (50, 'a key of its own')");
    client.ok("SELECT 1");
    assert_eq!(client.value("SELECT LAST_INSERT_ID()"), id);
    assert_eq!(client.value("SELECT LAST_INSERT_ID(), 1"), id);
}

#[test]
fn several_rows_give_the_first_id() {
    let stage = with_counter();
    let mut client = stage.client();
    let first = client.ok("INSERT INTO c (parent) VALUES (1), (2), (3)").insert_id;
    assert_eq!(client.value("SELECT LAST_INSERT_ID()"), first.to_string());
    assert_eq!(client.value("SELECT id FROM c WHERE parent = 1"), first.to_string());
}

#[test]
fn last_insert_id_in_a_transaction_on_its_connection() {
    let stage = with_counter();
    let (mut a, mut b) = (stage.client(), stage.client());
    a.ok("BEGIN");
    let id = insert(&mut a);
    insert(&mut b);
    a.ok("INSERT INTO c (parent) VALUES (LAST_INSERT_ID())");
    a.ok("COMMIT");
    assert_eq!(stage.primary().value(format!("SELECT COUNT(*) FROM c WHERE parent = {id}")), "1");
}

#[test]
fn id_that_another_session_left_on_the_connection_is_never_ones_own() {
    let stage = with_counter();
    stage.primary().ok("CREATE TABLE other (id INT PRIMARY KEY AUTO_INCREMENT, v INT)");
    stage.primary().ok("CREATE FUNCTION f(x INT) RETURNS INT DETERMINISTIC RETURN x + 1");
    stage.administer([
        "UPDATE mysql_servers SET max_connections = 1 WHERE hostgroup_id = 0",
        "LOAD MYSQL SERVERS TO RUNTIME",
    ]);
    let mut noise = stage.client();
    for own in [0_u64, 77] {
        for sql in [
            "INSERT INTO other (id, v) VALUES (209, 2)",
            // The number that the connection has as its last id, named here as a key.
            "INSERT INTO other (id, v) VALUES ({left}, 2)",
            "INSERT INTO other (id, v) SELECT {left}, 3",
            "INSERT INTO other (id, v) VALUES ({left}, 4) RETURNING id",
            "SELECT f(1)",
            "SET sql_select_limit = 5",
            "PREPARE s FROM 'INSERT INTO other (id, v) VALUES (?, 5)'; EXECUTE s USING {left}",
        ] {
            let mut client = stage.client();
            if own > 0 {
                client.ok(format!("SELECT LAST_INSERT_ID({own})"));
            }
            let left = insert(&mut noise).to_string();
            noise.settle();
            for statement in sql.split("; ") {
                client.ok(statement.replace("{left}", &left));
            }
            assert_eq!(client.value("SELECT LAST_INSERT_ID()"), own.to_string(), "{sql} behind id {left}");
            assert_eq!(
                client.value("SELECT LAST_INSERT_ID() + 0"),
                own.to_string(),
                "{sql} behind id {left}"
            );
            client.quit();
            noise.ok("DELETE FROM other");
        }
    }
}
