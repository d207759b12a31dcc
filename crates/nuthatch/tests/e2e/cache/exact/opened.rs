//! A transaction's snapshot is opened by itself where the cache has what its first read asks for: that read is a hit, and the snapshot is of the
//! moment at which a server would have opened it.

use super::{is_hit, on, warm};
use crate::client::{Client, Value};
use crate::proxy::Setup;
use crate::stage::Stage;

const ONE: &str = "SELECT v FROM t WHERE id = 1";
const TWO: &str = "SELECT v FROM t WHERE id = 2";
const OPENED: &str = "Query_Cache_Snapshots_opened";

/// What opens no snapshot, or not for a row of its answer.
const OPEN_NONE: [&str; 4] = [
    "SELECT v FROM t WHERE 1=0",
    "SELECT COUNT(*) FROM t WHERE 1=0",
    "SELECT v FROM m",
    "SELECT 7 AS v FROM nothing",
];

/// Before a server of its own, with a reader and a writer.
fn stage(mysql: bool) -> (Stage, Client, Client) {
    let stage =
        if mysql { Stage::of_mysql(on(Setup::default())) } else { Stage::alone(on(Setup::default())) };
    let (mut reader, mut writer) = (stage.client(), stage.client());
    writer.ok("CREATE TABLE m (v INT) ENGINE=MyISAM");
    writer.ok("CREATE VIEW nothing AS SELECT 1");
    writer.ok("INSERT INTO m VALUES (1)");
    warm(&stage, &mut reader, ONE);
    (stage, reader, writer)
}

fn first_read_is_a_hit_and_its_snapshot_is_of_that_moment_of(mysql: bool) {
    let (stage, mut reader, mut writer) = stage(mysql);
    for (round, begin) in (1..).zip(["BEGIN", "START TRANSACTION", "SET autocommit = 0", "BEGIN"]) {
        reader.ok(begin);
        writer.ok(format!("UPDATE t SET v = 'behind BEGIN {round}' WHERE id IN (1, 2)"));
        warm(&stage, &mut writer, ONE);
        assert!(is_hit(&stage, &mut reader, ONE));
        assert_eq!(stage.figure(OPENED), round);
        writer.ok("UPDATE t SET v = 'behind the read' WHERE id IN (1, 2)");
        warm(&stage, &mut writer, ONE);
        let of_the_read = format!("behind BEGIN {round}");
        assert_eq!(reader.value(ONE), of_the_read);
        assert_eq!(reader.value(TWO), of_the_read, "a server has the snapshot too");
        reader.ok(if round == 2 { "ROLLBACK" } else { "COMMIT" });
        reader.ok("SET autocommit = 1");
        assert_eq!(reader.value(ONE), "behind the read");
        assert_eq!(reader.value(TWO), "behind the read");
    }
    stage.await_unpinned();
}

#[test]
fn first_read_is_a_hit_and_its_snapshot_is_of_that_moment_on_mariadb() {
    first_read_is_a_hit_and_its_snapshot_is_of_that_moment_of(false);
}

#[test]
fn first_read_is_a_hit_and_its_snapshot_is_of_that_moment_on_mysql() {
    first_read_is_a_hit_and_its_snapshot_is_of_that_moment_of(true);
}

#[test]
fn write_behind_it_is_of_the_transaction() {
    let (stage, mut reader, mut writer) = stage(false);
    reader.ok("BEGIN");
    assert!(is_hit(&stage, &mut reader, ONE));
    reader.ok("UPDATE t SET v = 'own' WHERE id = 1");
    assert_eq!(reader.value(ONE), "own");
    assert_eq!(writer.value(ONE), "one");
    reader.ok("ROLLBACK");
    assert_eq!(reader.value(ONE), "one");
    stage.await_unpinned();
}

#[test]
fn prepared_read_has_it_opened_too() {
    let (stage, mut reader, mut writer) = stage(false);
    let statement = reader.prepare("SELECT v FROM t WHERE id = ?").expect("it is prepared");
    let read =
        |reader: &mut Client| reader.execute(&statement, &[Value::Int(2)]).expect("it is read").value();
    assert_eq!((read(&mut reader), read(&mut reader)), ("two".to_owned(), "two".to_owned()));
    let before = stage.figure("Query_Cache_count_GET_OK");
    reader.ok("BEGIN");
    assert_eq!(read(&mut reader), "two");
    assert_eq!((stage.figure(OPENED), stage.figure("Query_Cache_count_GET_OK")), (1, before + 1));
    writer.ok("UPDATE t SET v = 'later' WHERE id = 2");
    assert_eq!(read(&mut reader), "two");
    reader.ok("COMMIT");
    assert_eq!(read(&mut reader), "later");
}

#[test]
fn what_opens_none_at_a_server_has_none_opened() {
    let (stage, mut reader, mut writer) = stage(false);
    for (round, first) in OPEN_NONE.iter().enumerate() {
        warm(&stage, &mut reader, ONE);
        // Not all of them are stored.
        (0..3).for_each(|_| drop(reader.ok(first)));
        reader.ok("BEGIN");
        reader.ok(first);
        let later = format!("behind {round}");
        writer.ok(format!("UPDATE t SET v = '{later}' WHERE id = 1"));
        assert_eq!(reader.value(ONE), later, "{first}");
        reader.ok("COMMIT");
    }
    assert_eq!(stage.figure(OPENED), 0);
}

#[test]
fn sessions_without_such_snapshots_and_operators_who_do_not_want_it_have_none_opened() {
    let (stage, mut reader, mut writer) = stage(false);
    let mut begin_with_a_hit = |before: &[&str]| {
        before.iter().for_each(|sql| drop(reader.ok(sql)));
        warm(&stage, &mut writer, ONE);
        // Answers are of an isolation.
        (0..3).for_each(|_| drop(reader.ok(ONE)));
        reader.ok("BEGIN");
        reader.ok(ONE);
        reader.ok("COMMIT");
    };
    begin_with_a_hit(&["SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"]);
    begin_with_a_hit(&["SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE"]);
    assert_eq!(stage.figure(OPENED), 0);
    begin_with_a_hit(&["SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ"]);
    assert_eq!(stage.figure(OPENED), 1);
    stage.administer(["SET mysql-query_cache_opens_snapshots = false", "LOAD MYSQL VARIABLES TO RUNTIME"]);
    begin_with_a_hit(&[]);
    assert_eq!(stage.figure(OPENED), 1);
}
