//! Tables of other engines than InnoDB: MyISAM's are cached as long as no row may come by INSERT DELAYED.

use super::{await_known, exact_with, is_hit, send_to_wait, warm};
use crate::deadline::await_that;
use crate::stage::Stage;

const COUNT: &str = "SELECT COUNT(*) FROM m";
const ALL: &str = "SELECT id, n FROM m";
const ONE: &str = "SELECT n FROM m WHERE id = 1";

fn with_myisam(statements: &[&str]) -> Stage {
    let table = "CREATE TABLE m (id INT PRIMARY KEY, n INT) ENGINE=MyISAM";
    let stage = exact_with(&[&[table, "INSERT INTO m VALUES (1, 1), (2, 2)"], statements].concat());
    await_known(&stage, &mut stage.client(), COUNT);
    stage
}

/// What the server says, and what is there whether it is said through the proxy or not.
#[track_caller]
fn assert_fresh(stage: &Stage, what: &str) {
    for question in [COUNT, ALL, ONE] {
        let (mut reader, mut primary) = (stage.client(), stage.primary());
        let sorted = |mut rows: Vec<Vec<String>>| {
            rows.sort_unstable();
            rows
        };
        assert_eq!(sorted(reader.table(question)), sorted(primary.table(question)), "{what}: {question}");
    }
}

#[test]
fn writes_without_transactions_are_seen_at_once_whatever_becomes_of_the_transaction() {
    let stage = with_myisam(&[
        "CREATE TABLE whole (id INT, n INT, KEY (id)) ENGINE=MyISAM",
        "CREATE TABLE part (id INT, n INT, KEY (id)) ENGINE=MyISAM",
        "CREATE TRIGGER spy AFTER DELETE ON t FOR EACH ROW UPDATE m SET n = n + 1",
        "CREATE VIEW seen AS SELECT id, n FROM m",
    ]);
    let (mut reader, mut writer) = (stage.client(), stage.client());
    for writes in [
        &["UPDATE m SET n = 5 WHERE id = 1"][..],
        &["UPDATE seen SET n = 6 WHERE id = 1"],
        &["INSERT INTO m VALUES (7, 7)"],
        &["BEGIN", "UPDATE m SET n = 8 WHERE id = 1", "ROLLBACK"],
        &["BEGIN", "UPDATE t SET v = 'x'", "INSERT INTO m VALUES (8, 8)", "ROLLBACK"],
        &["SET autocommit=0", "DELETE FROM m WHERE id = 7", "ROLLBACK", "SET autocommit=1"],
        &["BEGIN", "SAVEPOINT s", "REPLACE INTO m VALUES (1, 9)", "ROLLBACK TO s", "COMMIT"],
        &["START TRANSACTION", "DELETE FROM t WHERE id = 1", "ROLLBACK"],
        &["LOCK TABLES m WRITE", "UPDATE m SET n = 10 WHERE id = 1", "UNLOCK TABLES"],
        &["REPAIR TABLE m"],
        &["TRUNCATE TABLE m", "INSERT INTO m VALUES (1, 11), (2, 12)"],
    ] {
        for question in [COUNT, ALL, ONE] {
            await_known(&stage, &mut reader, question);
        }
        let keeps_others_out = writes[0].starts_with("LOCK");
        for write in writes {
            writer.query(write).unwrap();
            if !keeps_others_out {
                assert_fresh(&stage, write);
            }
        }
        assert_fresh(&stage, "in the end");
    }
    warm(&stage, &mut reader, ALL);
    assert_eq!(writer.refused("INSERT INTO m VALUES (20, 20), (1, 1)").code, 1062);
    assert_fresh(&stage, "the first row stays");
    assert_eq!(reader.value("SELECT n FROM m WHERE id = 20"), "20");
}

#[test]
fn rows_of_others_stay_cached() {
    let stage = with_myisam(&[]);
    let (mut reader, mut writer) = (stage.client(), stage.client());
    warm(&stage, &mut reader, ONE);
    writer.ok("UPDATE m SET n = 5 WHERE id = 2");
    assert!(is_hit(&stage, &mut reader, ONE));
}

#[test]
fn write_to_a_table_that_merges_others_is_seen_in_them() {
    let stage = with_myisam(&[
        "CREATE TABLE whole (id INT PRIMARY KEY, n INT) ENGINE=MERGE UNION=(m) INSERT_METHOD=LAST",
    ]);
    let (mut reader, mut writer) = (stage.client(), stage.client());
    warm(&stage, &mut reader, ALL);
    writer.ok("UPDATE whole SET n = 77 WHERE id = 1");
    assert_fresh(&stage, "updated");
    writer.ok("INSERT INTO whole VALUES (3, 3)");
    assert_fresh(&stage, "inserted");
    reader.ok("SELECT * FROM whole");
    assert!(!is_hit(&stage, &mut reader, "SELECT * FROM whole"));
}

#[test]
fn rows_that_come_after_their_statement_was_acknowledged_are_seen() {
    // Others wait behind a write that waits.
    const COUNT: &str = "SELECT HIGH_PRIORITY COUNT(*) FROM m";
    for delayed in [
        &["INSERT DELAYED INTO m VALUES (3, 3)"][..],
        &["SET STATEMENT max_statement_time = 50 FOR INSERT DELAYED INTO m VALUES (3, 3)"],
        &["PREPARE p FROM 'INSERT DELAYED INTO m VALUES (3, 3)'", "EXECUTE p"],
        &["EXECUTE IMMEDIATE CONCAT('INSERT DE', 'LAYED INTO m VALUES (3, 3)')"],
    ] {
        let stage = with_myisam(&[]);
        let (mut reader, mut writer) = (stage.client(), stage.client());
        let (mut gate, mut long_read) = (stage.primary(), stage.primary());
        // A row is added behind the others while somebody reads, but not into a hole.
        writer.ok("INSERT INTO m VALUES (9, 9)");
        writer.ok("DELETE FROM m WHERE id = 1");
        warm(&stage, &mut reader, COUNT);
        let name = &stage.schema;
        gate.ok(format!("SELECT GET_LOCK('{name}', 1)"));
        send_to_wait(&stage, &mut long_read, &format!("SELECT GET_LOCK('{name}', 60) FROM m LIMIT 1"));
        delayed.iter().for_each(|statement| drop(writer.query_all(statement).unwrap()));
        for _ in 0..2 {
            assert_eq!(reader.value(COUNT), "2", "{delayed:?}: it waits");
        }
        gate.ok(format!("SELECT RELEASE_LOCK('{name}')"));
        await_that("the row is there", || gate.value(COUNT) == "3");
        assert_eq!(reader.value(COUNT), "3", "{delayed:?}");
        let explained = format!("EXPLAIN CACHE {COUNT}");
        let tells_why = |step: &Vec<String>| step[0] == "reads" && step[1].contains("INSERT DELAYED");
        await_that("it is told why", || reader.table(&explained).iter().any(tells_why));
    }
}

#[test]
fn rows_that_others_see_when_a_lock_goes_are_seen() {
    let stage = with_myisam(&[]);
    let (mut reader, mut writer) = (stage.client(), stage.client());
    warm(&stage, &mut reader, COUNT);
    writer.ok("LOCK TABLES m WRITE CONCURRENT");
    writer.ok("INSERT INTO m VALUES (3, 3)");
    assert_eq!([reader.value(COUNT), reader.value(COUNT)], ["2", "2"], "the lock hides it");
    writer.ok("UNLOCK TABLES");
    assert_eq!(reader.value(COUNT), "3");
}

#[test]
fn table_that_is_made_again_by_another_engine_is_looked_at_again() {
    let stage = exact_with(&["CREATE TABLE e (id INT PRIMARY KEY)"]);
    let (mut reader, mut writer) = (stage.client(), stage.client());
    let (count, engine) = (
        "SELECT COUNT(*) FROM e",
        "SELECT engine FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = 'e'",
    );
    for question in [count, engine] {
        await_known(&stage, &mut reader, question);
    }
    writer.ok("SET SESSION sql_mode = ''");
    writer.ok("SET SESSION enforce_storage_engine = MyISAM");
    writer.ok("OPTIMIZE TABLE e");
    assert_eq!(reader.value(engine), "MyISAM");
    await_known(&stage, &mut reader, count);
    writer.ok("BEGIN");
    writer.ok("INSERT INTO e VALUES (1)");
    assert_eq!(reader.value(count), "1", "no transaction holds it back");
    writer.ok("ROLLBACK");
    assert_eq!(reader.value(count), "1");
}

#[test]
fn procedures_that_insert_at_once_leave_tables_cached() {
    let stage = with_myisam(&["CREATE PROCEDURE at_once() INSERT INTO m VALUES (3, 3)"]);
    let (mut reader, mut writer) = (stage.client(), stage.client());
    warm(&stage, &mut reader, COUNT);
    writer.query_all("CALL at_once()").unwrap();
    assert_eq!(reader.value(COUNT), "3");
    await_known(&stage, &mut reader, COUNT);
}
