//! Which writes take which answers with them.

use crate::client::Value;
use crate::stage::Stage;

use super::{await_known, exact, exact_with, hits, is_hit, warm};

/// Whether an answer that was stored is served after a write, and right.
#[track_caller]
fn survives(stage: &Stage, select: &str, write: &str) -> bool {
    let (mut reader, mut writer) = (stage.client(), stage.client());
    warm(stage, &mut reader, select);
    writer.ok(write);
    let served = is_hit(stage, &mut reader, select);
    let (told, stored) = (reader.table(select), stage.primary().table(select));
    assert_eq!(told, stored, "{select} after {write}");
    served
}

#[test]
fn read_of_a_row_survives_writes_to_others_and_no_write_to_it() {
    let stage = exact();
    for (select, write, expected) in [
        ("SELECT v FROM t WHERE id = 1", "UPDATE t SET v = 'x' WHERE id = 2", true),
        ("SELECT v FROM t WHERE id = 1", "INSERT INTO t VALUES (10, 'ten')", true),
        ("SELECT v FROM t WHERE id = 1", "DELETE FROM t WHERE id = 10", true),
        ("SELECT v FROM t WHERE id = 1", "UPDATE t SET v = 'y' WHERE id = 1", false),
        ("SELECT v FROM t WHERE id = 1", "UPDATE t SET v = 'z' WHERE v = 'two'", false),
        ("SELECT v FROM t WHERE id = 1", "REPLACE INTO t VALUES (1, 'one again')", false),
        ("SELECT v FROM t WHERE id = 1", "REPLACE INTO t VALUES (2, 'two again')", true),
        (
            "SELECT v FROM t WHERE id = 1",
            "INSERT INTO t VALUES (2, '') ON DUPLICATE KEY UPDATE v = 'two'",
            true,
        ),
        (
            "SELECT v FROM t WHERE id = 1",
            "INSERT INTO t VALUES (1, '') ON DUPLICATE KEY UPDATE v = 'uno'",
            false,
        ),
        (
            "SELECT v FROM t WHERE id = 1",
            "INSERT INTO t VALUES (2, '') ON DUPLICATE KEY UPDATE id = 66",
            false,
        ),
        (
            "SELECT v FROM t WHERE id = 1",
            "INSERT INTO t VALUES (66, '') ON DUPLICATE KEY UPDATE id = 2",
            false,
        ),
        ("SELECT v FROM t WHERE id = 67", "REPLACE INTO t VALUES (67, 'new')", false),
        ("SELECT v FROM t WHERE id = 67", "INSERT IGNORE INTO t VALUES (2, 'no'), (68, 'new')", true),
        ("SELECT v FROM t WHERE id = 69", "INSERT IGNORE INTO t VALUES (2, 'no'), (69, 'new')", false),
        ("SELECT v FROM t WHERE id IN (1, 3)", "UPDATE t SET v = 'x2' WHERE id = 2", true),
        ("SELECT v FROM t WHERE id IN (1, 3)", "UPDATE t SET v = 'three!' WHERE id = 3", false),
        ("SELECT v FROM t WHERE id = 77", "UPDATE t SET v = 'x3' WHERE id = 2", true),
        ("SELECT v FROM t WHERE id = 77", "INSERT INTO t VALUES (77, 'here')", false),
        ("SELECT v FROM t WHERE id = 77", "DELETE FROM t WHERE id = 77", false),
        ("SELECT v FROM t WHERE id BETWEEN 1 AND 5", "INSERT INTO t VALUES (5000, 'far')", true),
        ("SELECT v FROM t WHERE id BETWEEN 1 AND 5", "INSERT INTO t VALUES (4, 'near')", false),
        ("SELECT COUNT(*) FROM t", "INSERT INTO t VALUES (6000, 'far')", false),
        ("SELECT COUNT(*) FROM t", "DELETE FROM t WHERE id = 6000", false),
    ] {
        assert_eq!(survives(&stage, select, write), expected, "{select} after {write}");
    }
}

#[test]
fn row_that_stands_in_the_way_by_another_index_is_found() {
    let stage = exact_with(&[
        "CREATE TABLE d (id INT PRIMARY KEY, v INT, u INT UNIQUE)",
        "INSERT INTO d VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3)",
    ]);
    let mut client = stage.client();
    let select = "SELECT v FROM d WHERE id = 1";
    await_known(&stage, &mut client, select);
    assert!(survives(&stage, select, "INSERT IGNORE INTO d VALUES (9, 9, 1)"));
    assert!(!survives(&stage, select, "INSERT INTO d VALUES (9, 9, 1) ON DUPLICATE KEY UPDATE v = 7"));
    assert!(!survives(&stage, select, "REPLACE INTO d VALUES (9, 9, 1)"));
}

/// MariaDB takes both names for one where it tells of indexes.
#[test]
fn indexes_of_tables_whose_names_differ_in_accents_are_told_apart() {
    let stage = exact_with(&[
        "SET NAMES utf8mb4",
        "CREATE TABLE `caf\u{e9}` (id INT PRIMARY KEY, v INT, u INT UNIQUE)",
        "CREATE TABLE cafe (id INT PRIMARY KEY, v INT, u INT UNIQUE)",
        "CREATE TABLE tea (id INT PRIMARY KEY, v INT, u INT UNIQUE)",
        "CREATE TABLE `te\u{e1}` (id INT PRIMARY KEY, v INT, u INT UNIQUE)",
        "INSERT INTO cafe VALUES (1, 1, 1)",
        "INSERT INTO tea VALUES (1, 1, 1)",
    ]);
    let mut client = stage.client();
    for table in ["cafe", "tea"] {
        let select = format!("SELECT v FROM {table} WHERE id = 1");
        await_known(&stage, &mut client, &select);
        assert!(!survives(&stage, &select, &format!("REPLACE INTO {table} VALUES (9, 9, 1)")), "{table}");
    }
}

#[test]
fn row_whose_key_the_server_gave_leaves_answers_about_others() {
    let stage = exact_with(&[
        "CREATE TABLE g (id INT AUTO_INCREMENT PRIMARY KEY, v INT)",
        "INSERT INTO g VALUES (1, 1)",
    ]);
    let mut client = stage.client();
    await_known(&stage, &mut client, "SELECT v FROM g WHERE id = 1");
    assert!(survives(&stage, "SELECT v FROM g WHERE id = 1", "INSERT INTO g (v) VALUES (2)"));
    assert!(survives(&stage, "SELECT v FROM g WHERE id = 100", "INSERT INTO g (v) VALUES (3)"));
    let next = "SELECT v FROM g WHERE id = 4";
    assert!(!survives(&stage, next, "INSERT INTO g (v) VALUES (4)"), "it is that very row");
    assert!(!survives(&stage, "SELECT v FROM g WHERE id = 50", "INSERT INTO g (v) VALUES (5), (6)"));
}

#[test]
fn prepared_reads_are_served_and_prepared_writes_seen() {
    let stage = exact();
    let (mut reader, mut writer) = (stage.client(), stage.client());
    let select = reader.prepare("SELECT v FROM t WHERE id = ?").unwrap();
    let update = writer.prepare("UPDATE t SET v = ? WHERE id = ?").unwrap();
    let text = |text: &str| Value::Text(text.as_bytes().to_vec());
    let mut read = |id: i64| {
        let before = hits(&stage);
        let value = reader.execute(&select, &[Value::Int(id)]).unwrap().value();
        (value, hits(&stage) > before)
    };
    read(1);
    read(2);
    assert_eq!((read(1), read(2)), (("one".to_owned(), true), ("two".to_owned(), true)));
    writer.execute(&update, &[text("eins"), Value::Int(1)]).unwrap();
    assert_eq!((read(1), read(2)), (("eins".to_owned(), false), ("two".to_owned(), true)));
    let mut as_text = stage.client();
    assert_eq!(as_text.value("SELECT v FROM t WHERE id = 1"), "eins", "text and binary rows are kept apart");
}

#[test]
fn answers_through_joins_views_and_subqueries_follow_every_table_of_theirs() {
    let stage = exact_with(&[
        "CREATE TABLE u (id INT PRIMARY KEY, t_id INT)",
        "INSERT INTO u VALUES (1, 1), (2, 2)",
        "CREATE VIEW w AS SELECT t.v, u.id FROM t JOIN u ON u.t_id = t.id",
    ]);
    let mut client = stage.client();
    for select in [
        "SELECT t.v FROM t JOIN u ON u.t_id = t.id WHERE u.id = 1",
        "SELECT v FROM w WHERE id = 1",
        "SELECT v FROM t WHERE id = (SELECT MAX(t_id) FROM u)",
        "SELECT v FROM t UNION SELECT id FROM u",
        "WITH x AS (SELECT t_id FROM u) SELECT v FROM t, x WHERE t.id = x.t_id",
    ] {
        await_known(&stage, &mut client, select);
        for write in
            ["UPDATE t SET v = CONCAT(v, '.') WHERE id = 1", "UPDATE u SET t_id = 3 - t_id WHERE id = 1"]
        {
            assert!(!survives(&stage, select, write), "{select} after {write}");
        }
        assert!(is_hit(&stage, &mut client, select), "nothing was written since");
    }
}

#[test]
fn what_triggers_and_cascades_write_is_seen() {
    let stage = exact_with(&[
        "CREATE TABLE log (id INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(100))",
        "CREATE TABLE spied (id INT PRIMARY KEY, v INT)",
        "INSERT INTO spied VALUES (1, 1)",
        "CREATE TRIGGER spy AFTER UPDATE ON spied FOR EACH ROW INSERT INTO log (what) VALUES (NEW.v)",
        "CREATE TABLE parent (id INT PRIMARY KEY) ENGINE=InnoDB",
        "CREATE TABLE child (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES parent (id) ON DELETE CASCADE)",
        "INSERT INTO parent VALUES (1), (2)",
        "INSERT INTO child VALUES (1, 1), (2, 2)",
    ]);
    let mut client = stage.client();
    for (select, write) in [
        ("SELECT COUNT(*) FROM log", "UPDATE spied SET v = v + 1 WHERE id = 1"),
        ("SELECT id FROM child WHERE id = 1", "DELETE FROM parent WHERE id = 1"),
    ] {
        await_known(&stage, &mut client, select);
        assert!(!survives(&stage, select, write), "{select} after {write}");
    }
}

#[test]
fn foreign_key_takes_the_rows_of_its_table_with_it_only_where_it_cascades() {
    let stage = exact_with(&[
        "CREATE TABLE parent (id INT PRIMARY KEY, code INT UNIQUE, v INT) ENGINE=InnoDB",
        "CREATE TABLE child (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES parent (code) \
         ON DELETE CASCADE ON UPDATE CASCADE)",
        "INSERT INTO parent VALUES (1, 10, 1), (2, 20, 2)",
        "INSERT INTO child VALUES (1, 10), (2, 20)",
    ]);
    let mut client = stage.client();
    let (all, one) = ("SELECT COUNT(*), MAX(p) FROM child", "SELECT p FROM child WHERE (id) = '2'");
    for (select, write, expected) in [
        (all, "INSERT INTO parent VALUES (3, 30, 3)", true),
        (all, "UPDATE parent SET v = v + 1 WHERE id = 1", true),
        (all, "INSERT INTO parent VALUES (1, 10, 1) ON DUPLICATE KEY UPDATE v = 5", true),
        (one, "INSERT INTO child VALUES ('3', 30)", true),
        (one, "DELETE FROM child WHERE (id = '3') AND (p > 2)", true),
        ("SELECT v FROM parent WHERE id = '1'", "DELETE FROM parent WHERE id = '3'", true),
        (one, "UPDATE parent SET code = 21 WHERE id = 2", false),
        (one, "REPLACE INTO parent VALUES (2, 21, 7)", false),
    ] {
        await_known(&stage, &mut client, select);
        assert_eq!(survives(&stage, select, write), expected, "{select} after {write}");
    }
}
