//! Changes of tables, views and grants.

use std::time::Duration;

use nuthatch_wire::Command;

use crate::client::Value;
use crate::deadline::{Stopwatch, await_that};
use crate::proxy::Setup;
use crate::stage::Stage;

use super::{await_known, exact, exact_with, hits, is_hit, on, user_with, warm};

const ALL: &str = "SELECT * FROM t ORDER BY id LIMIT 1";

#[test]
fn changed_table_is_read_anew_at_once_and_cached_again_soon() {
    let stage = exact();
    let (mut reader, mut writer) = (stage.client(), stage.client());
    for change in [
        "ALTER TABLE t ADD COLUMN w INT DEFAULT 5",
        "ALTER TABLE t DROP COLUMN w",
        "CREATE INDEX i ON t (v)",
        "RENAME TABLE t TO t2, t2 TO t",
        "TRUNCATE TABLE t",
    ] {
        await_known(&stage, &mut reader, ALL);
        writer.ok(change);
        assert_eq!(reader.table(ALL), stage.primary().table(ALL), "{change}");
    }
    await_known(&stage, &mut reader, ALL);
    writer.ok("DROP TABLE t");
    assert_eq!(reader.refused(ALL).code, 1146);
    writer.ok("CREATE TABLE t (id INT PRIMARY KEY, v INT)");
    assert!(reader.ok(ALL).rows.is_empty());
    writer.ok("INSERT INTO t VALUES (1, 1)");
    assert_eq!(reader.table(ALL), [["1", "1"]]);
}

#[test]
fn changed_view_is_read_anew() {
    let stage = exact_with(&["CREATE TABLE u (id INT PRIMARY KEY)", "CREATE VIEW w AS SELECT id FROM t"]);
    let (mut reader, mut writer) = (stage.client(), stage.client());
    let select = "SELECT COUNT(*) FROM w";
    await_known(&stage, &mut reader, select);
    writer.ok("CREATE OR REPLACE VIEW w AS SELECT id FROM u");
    assert_eq!(reader.value(select), "0");
    await_known(&stage, &mut reader, select);
    writer.ok("INSERT INTO u VALUES (7)");
    assert_eq!(reader.value(select), "1");
    writer.ok("DROP VIEW w");
    assert_eq!(reader.refused(select).code, 1146);
}

#[test]
fn prepared_read_of_a_view_is_served_and_asks_anew_once_the_view_is_another() {
    let stage = exact_with(&["CREATE VIEW w AS SELECT id FROM t", "CREATE VIEW ww AS SELECT id FROM w"]);
    let (mut reader, mut writer) = (stage.client(), stage.client());
    let select = reader.prepare("SELECT MIN(id) FROM ww WHERE id < ?").expect("it is prepared");
    let mut read = || reader.execute(&select, &[Value::Int(1000)]).expect("it is executed").value();
    let mut is_served = || {
        let before = hits(&stage);
        read();
        hits(&stage) > before
    };
    await_that("it is served", &mut is_served);
    for change in [
        "CREATE OR REPLACE VIEW w AS SELECT id + 100 AS id FROM t",
        "ALTER VIEW w AS SELECT id + 200 AS id FROM t",
    ] {
        writer.ok(change);
        assert!(!is_served(), "{change}");
        await_that("it is served again", &mut is_served);
    }
    assert_eq!(read(), "201");
    writer.ok("UPDATE t SET id = -100 WHERE id = 1");
    assert_eq!(read(), "100");
}

#[test]
fn trigger_made_through_the_proxy_counts_for_the_next_write() {
    let stage = exact_with(&["CREATE TABLE u (id INT AUTO_INCREMENT PRIMARY KEY, v INT)"]);
    let (mut reader, mut writer) = (stage.client(), stage.client());
    let select = "SELECT COUNT(*) FROM u";
    await_known(&stage, &mut reader, select);
    writer.ok("CREATE TRIGGER spy AFTER UPDATE ON t FOR EACH ROW INSERT INTO u (v) VALUES (1)");
    for expected in ["1", "2", "3"] {
        writer.ok("UPDATE t SET v = CONCAT(v, '.') WHERE id = 1");
        assert_eq!(reader.value(select), expected);
        await_known(&stage, &mut reader, select);
    }
}

#[test]
fn revoked_user_is_served_nothing_any_more() {
    let stage = exact();
    let mut admin = stage.client();
    let (name, mut reader) = user_with(&stage, &format!("SELECT ON {}.t", stage.schema));
    await_known(&stage, &mut reader, ALL);
    warm(&stage, &mut reader, ALL);
    admin.ok(format!("REVOKE SELECT ON {}.t FROM {name}@'%'", stage.schema));
    // It may need a new connection, which is refused the schema.
    assert!([1044, 1142].contains(&reader.refused(ALL).code));
    admin.ok(format!("DROP USER {name}@'%'"));
}

#[test]
fn change_past_the_proxy_is_noticed_when_the_catalogue_is_read_again() {
    let stage = exact();
    let mut reader = stage.client();
    warm(&stage, &mut reader, ALL);
    stage.primary().ok("ALTER TABLE t DROP PRIMARY KEY, ADD COLUMN w INT DEFAULT 5");
    // Any change of a definition has all catalogues read again.
    reader.ok("CREATE TABLE u (id INT PRIMARY KEY)");
    await_that("the change shows", || reader.table(ALL) == [["1", "one", "5"]]);
    await_that("and is cached", || is_hit(&stage, &mut reader, ALL));
}

#[test]
fn definition_that_is_changed_by_the_way_counts() {
    let stage = exact_with(&[
        "CREATE TABLE parent (id INT PRIMARY KEY)",
        "CREATE TABLE child (id INT PRIMARY KEY, p INT)",
        "INSERT INTO parent VALUES (1), (2)",
        "INSERT INTO child VALUES (1, 1), (2, 2)",
    ]);
    let (mut reader, mut writer) = (stage.client(), stage.client());
    let select = "SELECT COUNT(*) FROM child";
    await_known(&stage, &mut reader, select);
    writer.ok("SET STATEMENT lock_wait_timeout=5 FOR ALTER TABLE child ADD FOREIGN KEY (p) REFERENCES parent (id) ON DELETE CASCADE");
    await_known(&stage, &mut reader, select);
    writer.ok("DELETE FROM parent WHERE id = 1");
    assert_eq!(reader.value(select), "1");
}

#[test]
fn table_made_anew_that_a_trigger_names_is_followed() {
    let stage = exact_with(&[
        "CREATE TABLE log (id INT AUTO_INCREMENT PRIMARY KEY, v INT)",
        "CREATE TRIGGER spy AFTER INSERT ON t FOR EACH ROW INSERT INTO log (v) VALUES (1)",
    ]);
    let (mut reader, mut writer) = (stage.client(), stage.client());
    let select = "SELECT COUNT(*) FROM log";
    await_known(&stage, &mut reader, select);
    writer.ok("DROP TABLE log");
    await_known(&stage, &mut reader, ALL);
    writer.ok("CREATE TABLE log (id INT AUTO_INCREMENT PRIMARY KEY, v INT)");
    writer.ok("BEGIN");
    writer.ok("INSERT INTO t VALUES (50, 'fifty')");
    await_known(&stage, &mut reader, select);
    writer.ok("COMMIT");
    assert_eq!(reader.value(select), "1");
}

/// Whatever batch jobs make and drop again. Tables of other tests would change past this proxy, for which it forgets all.
#[test]
fn answers_outlive_the_making_of_other_tables() {
    let stage = Stage::alone(on(Setup::default()));
    let (mut reader, mut writer) = (stage.client(), stage.client());
    await_known(&stage, &mut reader, ALL);
    for change in [
        "CREATE TABLE made (id INT PRIMARY KEY, v INT)",
        "CREATE TABLE IF NOT EXISTS made2 AS SELECT * FROM t",
        "CREATE VIEW seen AS SELECT * FROM t",
        "DROP TABLE made2",
    ] {
        writer.ok(change);
        assert!(is_hit(&stage, &mut reader, ALL), "after {change}");
    }
    let select = "SELECT COUNT(*) FROM made";
    await_known(&stage, &mut reader, select);
    writer.ok("INSERT INTO made VALUES (1, 1)");
    assert_eq!(reader.value(select), "1");
    assert!(is_hit(&stage, &mut reader, ALL));
    writer.ok("CREATE OR REPLACE TABLE made (id INT PRIMARY KEY)");
    assert_eq!(reader.value(select), "0");
}

#[test]
fn table_that_is_newer_than_a_snapshot_is_not_served_to_its_transaction() {
    let stage = exact();
    let (mut old, mut writer) = (stage.client(), stage.client());
    old.ok("BEGIN");
    old.ok("SELECT v, 0 FROM t");
    writer.ok("CREATE TABLE made AS SELECT * FROM t");
    let select = "SELECT COUNT(*) FROM made";
    await_known(&stage, &mut writer, select);
    assert_eq!(old.refused(select).code, 1412, "as the server says");
}

#[test]
fn read_that_turns_out_to_write_after_it_was_sent_is_waited_for() {
    let stage = exact_with(&[
        "CREATE TABLE z (id INT PRIMARY KEY, v INT)",
        "INSERT INTO z VALUES (1, 1)",
        "CREATE FUNCTION slow() RETURNS INT DETERMINISTIC BEGIN DO SLEEP(3); UPDATE z SET v = v + 1; RETURN 1; END",
        "CREATE FUNCTION nap() RETURNS INT DETERMINISTIC BEGIN DO SLEEP(1); RETURN 1; END",
        "CREATE VIEW w AS SELECT slow() AS x",
    ]);
    let select = "SELECT v FROM z WHERE id = 1";
    for (begin, read) in [(None, "SELECT SQL_NO_CACHE x FROM w"), (Some("BEGIN"), "SELECT x FROM w")] {
        let (mut definer, mut writer, mut reader) = (stage.client(), stage.client(), stage.client());
        await_known(&stage, &mut reader, select);
        definer.send(Command::Query as u8, b"CREATE OR REPLACE TABLE q AS SELECT nap()").unwrap();
        await_that("nothing is known", || !is_hit(&stage, &mut reader, select));
        begin.iter().for_each(|begin| drop(writer.ok(begin)));
        writer.send(Command::Query as u8, read.as_bytes()).unwrap();
        definer.read_answers().unwrap();
        let deadline = Stopwatch::start();
        while deadline.elapsed() < Duration::from_secs(2) {
            reader.ok(select);
        }
        writer.read_answers().unwrap();
        begin.iter().for_each(|_| drop(writer.ok("COMMIT")));
        assert_eq!(reader.value(select), stage.primary().value(select), "{read}");
    }
}

#[test]
fn view_that_writes_counts_as_a_write() {
    let stage = exact_with(&[
        "CREATE FUNCTION touch() RETURNS INT DETERMINISTIC \
         BEGIN UPDATE t SET v = CONCAT(v, '!') WHERE id = 3; RETURN 1; END",
        "CREATE VIEW w AS SELECT touch() AS x",
    ]);
    let (mut reader, mut writer) = (stage.client(), stage.client());
    let select = "SELECT v FROM t WHERE id = 3";
    await_known(&stage, &mut reader, select);
    writer.ok("SELECT x FROM w");
    assert_eq!(reader.value(select), "three!");
}

#[test]
fn table_that_is_made_while_a_write_waits_is_followed() {
    let stage = exact();
    let (mut reader, mut writer, mut holder) = (stage.client(), stage.client(), stage.primary());
    holder.ok("BEGIN");
    holder.ok("SELECT v FROM t WHERE id = 1 FOR UPDATE");
    writer.send(3, b"DELETE FROM t WHERE id = 1").expect("it is sent");
    await_that("it waits for the lock", || stage.figure("Query_Cache_Writes_Pending") == 1);
    reader.ok("SET foreign_key_checks=0");
    reader
        .ok("CREATE TABLE child (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES t (id) ON DELETE CASCADE)");
    reader.ok("INSERT INTO child VALUES (1)");
    let select = "SELECT COUNT(*) FROM child";
    (0..5).for_each(|_| drop(reader.ok(select)));
    holder.ok("ROLLBACK");
    writer.read_answers().expect("it is written");
    assert_eq!(reader.value(select), "0");
}
