//! Transactions: own writes are seen, what is not committed is nobody's, and each reader has its own moment.

use std::thread;

use super::{exact, exact_with, hits, is_hit, send_to_wait, warm};
use crate::deadline::await_that;
use crate::stage::Stage;

const ONE: &str = "SELECT v FROM t WHERE id = 1";
const TWO: &str = "SELECT v FROM t WHERE id = 2";

#[test]
fn own_writes_are_seen_and_others_see_them_with_the_commit() {
    let stage = exact();
    let (mut reader, mut writer) = (stage.client(), stage.client());
    for begin in ["BEGIN", "START TRANSACTION", "SET autocommit=0"] {
        writer.ok("UPDATE t SET v = 'one' WHERE id = 1");
        warm(&stage, &mut reader, ONE);
        writer.ok(begin);
        writer.ok("UPDATE t SET v = 'mine' WHERE id = 1");
        assert_eq!(writer.value(ONE), "mine", "{begin}");
        assert_eq!(reader.value(ONE), "one", "{begin}");
        assert!(is_hit(&stage, &mut reader, ONE), "nothing is committed yet");
        writer.ok("COMMIT");
        assert_eq!(reader.value(ONE), "mine", "{begin}");
        assert_eq!(writer.value(ONE), "mine", "{begin}");
        writer.ok("COMMIT");
        writer.ok("SET autocommit=1");
    }
}

#[test]
fn write_that_waits_for_a_lock_keeps_nobody_from_what_is_cached() {
    let stage = exact();
    let (mut reader, mut first, mut second) = (stage.client(), stage.client(), stage.client());
    warm(&stage, &mut reader, ONE);
    first.ok("BEGIN");
    first.ok("UPDATE t SET v = 'first' WHERE id = 1");
    second.ok("BEGIN");
    second.ok("UPDATE t SET v = 'second' WHERE id = 2");
    send_to_wait(&stage, &mut second, "UPDATE t SET v = 'second' WHERE id = 1");
    assert!(is_hit(&stage, &mut reader, ONE));
    first.ok("COMMIT");
    second.read_answers().unwrap();
    assert_eq!(reader.value(ONE), "first");
    warm(&stage, &mut reader, ONE);
    second.ok("COMMIT");
    assert_eq!((reader.value(ONE), reader.value(TWO)), ("second".into(), "second".into()));
}

#[test]
fn write_behind_an_error_that_ended_its_transaction_commits_at_once() {
    let stage = exact();
    let (mut reader, mut first, mut second) = (stage.client(), stage.client(), stage.client());
    first.ok("BEGIN");
    first.ok("UPDATE t SET v = 'a' WHERE id = 1");
    second.ok("BEGIN");
    second.ok("UPDATE t SET v = 'b' WHERE id = 2");
    send_to_wait(&stage, &mut first, "UPDATE t SET v = 'a' WHERE id = 2");
    let deadlock = second.query("UPDATE t SET v = 'b' WHERE id = 1");
    let (mut lost, mut other) = match (deadlock, first.read_answers()) {
        (Err(_), Ok(_)) => (second, first),
        (Ok(_), Err(_)) => (first, second),
        both => panic!("one of them is undone: {both:?}"),
    };
    other.ok("ROLLBACK");
    warm(&stage, &mut reader, ONE);
    lost.ok("UPDATE t SET v = 'alone' WHERE id = 1");
    assert_eq!(reader.value(ONE), "alone", "it was in no transaction any more");
}

#[test]
fn rollback_takes_no_answer_with_it() {
    let stage = exact();
    let (mut reader, mut writer) = (stage.client(), stage.client());
    warm(&stage, &mut reader, ONE);
    writer.ok("BEGIN");
    writer.ok("UPDATE t SET v = 'never' WHERE id = 1");
    assert_eq!(writer.value(ONE), "never");
    writer.ok("ROLLBACK");
    assert!(is_hit(&stage, &mut reader, ONE));
    assert_eq!((reader.value(ONE), writer.value(ONE)), ("one".into(), "one".into()));
    warm(&stage, &mut reader, ONE);
    writer.ok("BEGIN");
    writer.ok("SAVEPOINT s");
    writer.ok("UPDATE t SET v = 'never' WHERE id = 1");
    writer.ok("ROLLBACK TO s");
    writer.ok("UPDATE t SET v = 'zwei' WHERE id = 2");
    writer.ok("COMMIT");
    assert_eq!((reader.value(ONE), reader.value(TWO)), ("one".into(), "zwei".into()));
}

#[test]
fn whatever_commits_by_the_way_is_seen_to_commit() {
    let stage = exact();
    let (mut reader, mut writer) = (stage.client(), stage.client());
    let commits = [
        "BEGIN",
        "SET autocommit=1",
        "CREATE TABLE IF NOT EXISTS t (id INT)",
        "ANALYZE TABLE t",
        "LOCK TABLES t WRITE",
        "COMMIT AND CHAIN",
        "DROP TABLE IF EXISTS nothing_of_that_name",
    ];
    for (number, commit) in commits.into_iter().enumerate() {
        super::await_known(&stage, &mut reader, ONE);
        writer.ok("SET autocommit=0");
        writer.ok(format!("UPDATE t SET v = 'by {number}' WHERE id = 1"));
        writer.query_all(commit).unwrap();
        writer.ok("UNLOCK TABLES");
        writer.ok("ROLLBACK");
        assert_eq!(reader.value(ONE), format!("by {number}"), "{commit}");
        writer.ok("SET autocommit=1");
    }
}

#[test]
fn repeatable_read_is_served_what_its_snapshot_shows() {
    let stage = exact();
    let (mut reader, mut writer) = (stage.client(), stage.client());
    for begins in [&["BEGIN"][..], &["SET autocommit=0"]] {
        writer.ok("UPDATE t SET v = 'one' WHERE id = 1");
        warm(&stage, &mut writer, ONE);
        warm(&stage, &mut writer, TWO);
        begins.iter().for_each(|begin| drop(reader.ok(begin)));
        reader.ok("SELECT v FROM t WHERE id = 3");
        assert!(is_hit(&stage, &mut reader, ONE), "nothing has changed since");
        writer.ok("UPDATE t SET v = 'later' WHERE id = 1");
        assert_eq!(writer.value(ONE), "later");
        assert!(is_hit(&stage, &mut writer, ONE));
        assert_eq!(reader.value(ONE), "one", "{begins:?}: its snapshot is older");
        assert!(is_hit(&stage, &mut reader, TWO), "that row is as it was");
        assert!(is_hit(&stage, &mut writer, ONE), "what it read did not replace what is stored");
        reader.ok("COMMIT");
        reader.ok("SET autocommit=1");
        assert_eq!(reader.value(ONE), "later");
    }
}

/// Rows whose keys the server gives appear without moving clocks of their own, and nobody who found them asks for others.
#[test]
fn rows_that_appeared_behind_its_snapshot_are_not_served_to_a_transaction() {
    let stage = exact_with(&["CREATE TABLE a (id INT AUTO_INCREMENT PRIMARY KEY, v INT)"]);
    let (mut reader, mut writer) = (stage.client(), stage.client());
    let of_a = "SELECT v FROM a WHERE id = 2";
    super::await_known(&stage, &mut writer, of_a);
    reader.ok("BEGIN");
    reader.ok("SELECT v FROM t WHERE id = 3");
    writer.ok("INSERT INTO a (v) VALUES (1), (2), (3)");
    warm(&stage, &mut writer, of_a);
    assert_eq!(writer.value(of_a), "2");
    assert!(reader.ok(of_a).rows.is_empty(), "its snapshot is older");
    reader.ok("COMMIT");
    assert_eq!(reader.value(of_a), "2");
    assert!(is_hit(&stage, &mut reader, of_a));
}

/// The same, of an answer that was asked for before the snapshot was opened and came behind the write.
#[test]
fn rows_that_appeared_before_an_answer_asked_for_earlier_are_not_served_to_a_transaction() {
    let stage = exact_with(&["CREATE TABLE a (id INT AUTO_INCREMENT PRIMARY KEY, v INT)"]);
    let (mut slow, mut reader, mut writer) = (stage.client(), stage.client(), stage.client());
    let mut primary = stage.primary();
    super::await_known(&stage, &mut writer, "SELECT v FROM a WHERE id = 1");
    let of_a = "SELECT v FROM a WHERE id = 2";
    writer.ok("LOCK TABLES a WRITE");
    let asked = thread::spawn(move || slow.value(of_a));
    let waits = format!("SELECT COUNT(*) FROM information_schema.processlist WHERE info = '{of_a}'");
    await_that("the read waits for the lock", || primary.value(&waits) == "1");
    reader.ok("BEGIN");
    reader.ok("SELECT v FROM t WHERE id = 3");
    writer.ok("INSERT INTO a (v) VALUES (1), (2), (3)");
    let stored = || stage.figure("Query_Cache_count_SET");
    let stored_before = stored();
    writer.ok("UNLOCK TABLES");
    assert_eq!(asked.join().expect("it is answered"), "2");
    await_that("its answer, which the client has first, is stored", || stored() > stored_before);
    assert!(is_hit(&stage, &mut writer, of_a));
    assert!(reader.ok(of_a).rows.is_empty(), "its snapshot is older than the rows");
}

#[test]
fn transaction_that_opens_no_snapshot_with_its_first_statement_reads_past_the_cache() {
    let stage = exact();
    let (mut reader, mut writer) = (stage.client(), stage.client());
    for first in ["SELECT 1", "SELECT v FROM t WHERE 1=0", "UPDATE t SET v = 'drei' WHERE id = 3"] {
        writer.ok("UPDATE t SET v = 'one' WHERE id = 1");
        warm(&stage, &mut writer, ONE);
        reader.ok("BEGIN");
        reader.ok(first);
        writer.ok("UPDATE t SET v = 'later' WHERE id = 1");
        let told = reader.value(ONE);
        assert_eq!(reader.value(ONE), told, "{first}");
        writer.ok("UPDATE t SET v = 'last' WHERE id = 1");
        warm(&stage, &mut writer, ONE);
        assert_eq!(reader.value(ONE), told, "{first}: its snapshot is open now");
        reader.ok("COMMIT");
        assert_eq!(reader.value(ONE), "last", "{first}");
    }
}

#[test]
fn read_committed_is_served_what_is_committed() {
    let stage = exact();
    let (mut reader, mut writer) = (stage.client(), stage.client());
    reader.ok("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
    warm(&stage, &mut reader, ONE);
    reader.ok("BEGIN");
    assert!(is_hit(&stage, &mut reader, ONE));
    writer.ok("UPDATE t SET v = 'later' WHERE id = 1");
    assert_eq!(reader.value(ONE), "later");
    assert!(is_hit(&stage, &mut reader, ONE));
    reader.ok("UPDATE t SET v = 'mine' WHERE id = 1");
    assert_eq!(reader.value(ONE), "mine");
    assert_eq!(writer.value(ONE), "later");
    reader.ok("ROLLBACK");
    assert_eq!(reader.value(ONE), "later");
}

#[test]
fn serializable_uncommitted_and_locking_reads_go_past_the_cache_both_ways() {
    let stage = exact();
    let (mut reader, mut writer) = (stage.client(), stage.client());
    warm(&stage, &mut writer, ONE);
    for level in ["SERIALIZABLE", "READ UNCOMMITTED"] {
        reader.ok(format!("SET SESSION TRANSACTION ISOLATION LEVEL {level}"));
        assert!(!is_hit(&stage, &mut reader, ONE) && !is_hit(&stage, &mut reader, ONE), "{level}");
    }
    writer.ok("BEGIN");
    writer.ok("UPDATE t SET v = 'dirty' WHERE id = 1");
    assert_eq!(reader.value(ONE), "dirty");
    writer.ok("ROLLBACK");
    assert_eq!(stage.client().value(ONE), "one", "what was read uncommitted is not stored");
    let asked = hits(&stage);
    for locking in [" FOR UPDATE", " LOCK IN SHARE MODE"] {
        writer.ok(format!("{ONE}{locking}"));
        writer.ok(format!("{ONE}{locking}"));
    }
    assert_eq!(hits(&stage), asked);
}

#[test]
fn begin_that_was_held_back_is_a_transaction_to_the_client() {
    use nuthatch_wire::StatusFlags;
    let stage = exact();
    let mut client = stage.client();
    let asked = stage.backend_queries();
    assert!(client.ok("BEGIN").status.contains(StatusFlags::SERVER_STATUS_IN_TRANS));
    assert!(!client.ok("COMMIT").status.contains(StatusFlags::SERVER_STATUS_IN_TRANS));
    assert!(client.ok("START TRANSACTION").status.contains(StatusFlags::SERVER_STATUS_IN_TRANS));
    assert!(!client.ok("ROLLBACK").status.contains(StatusFlags::SERVER_STATUS_IN_TRANS));
    assert_eq!(stage.backend_queries(), asked, "no server was needed for an empty transaction");
    client.ok("BEGIN");
    let read = client.ok(ONE);
    assert!(read.status.contains(StatusFlags::SERVER_STATUS_IN_TRANS));
    client.ok("UPDATE t SET v = 'x' WHERE id = 1");
    client.ok("ROLLBACK");
    client.ok("BEGIN");
    client.ok("UPDATE t SET v = 'y' WHERE id = 1");
    client.ok("ROLLBACK");
    assert_eq!(stage.primary().value(ONE), "one");
    client.ok("BEGIN");
    assert_eq!(client.refused("SELECT nosuch FROM t").code, 1054);
    client.ok("UPDATE t SET v = 'z' WHERE id = 1");
    client.ok("ROLLBACK");
    assert_eq!(
        stage.primary().value(ONE),
        "one",
        "the transaction was open though its first statement failed"
    );
}

#[test]
fn snapshot_ends_with_its_transaction() {
    let stage = exact();
    let (mut reader, mut writer) = (stage.client(), stage.client());
    for next in ["COMMIT AND CHAIN", "BEGIN", "ROLLBACK AND CHAIN"] {
        writer.ok("UPDATE t SET v = 'one' WHERE id = 1");
        writer.ok("UPDATE t SET v = 'two' WHERE id = 2");
        warm(&stage, &mut writer, ONE);
        reader.ok("BEGIN");
        reader.ok(TWO);
        reader.ok(next);
        let one = reader.value(ONE);
        writer.ok("UPDATE t SET v = 'later' WHERE id = 1");
        writer.ok("UPDATE t SET v = 'later' WHERE id = 2");
        reader.ok(TWO);
        assert_eq!(reader.value(ONE), one, "{next}: one transaction, one answer");
        reader.ok("ROLLBACK");
    }
}

#[test]
fn what_a_transaction_would_end_is_left_alone_without_autocommit() {
    let stage = exact();
    let (mut client, mut other) = (stage.client(), stage.client());
    warm(&stage, &mut client, ONE);
    client.ok("SET autocommit=0");
    client.ok("SAVEPOINT a");
    client.ok(TWO);
    client.ok("UPDATE t SET v = 'mine' WHERE id = 2");
    client.ok("ROLLBACK TO a");
    client.ok("COMMIT");
    assert_eq!(other.value(TWO), "two");
    client.ok("LOCK TABLES t WRITE");
    client.ok("COMMIT");
    client.ok(ONE);
    other.ok("SET lock_wait_timeout=1");
    assert_eq!(other.refused("UPDATE t SET v = 'x' WHERE id = 3").code, 1205, "the lock is still there");
    client.ok("UNLOCK TABLES");
}

#[test]
fn autocommit_ends_a_transaction_that_was_held_back() {
    let stage = exact();
    let mut client = stage.client();
    client.ok("SET autocommit=0");
    client.ok("BEGIN");
    client.ok("SET autocommit=1");
    client.ok("UPDATE t SET v = 'kept' WHERE id = 1");
    client.quit();
    assert_eq!(stage.primary().value(ONE), "kept");
}

#[test]
fn transaction_that_began_ahead_of_a_statement_that_failed_is_the_clients_to_end() {
    let stage = exact();
    let (mut client, mut other) = (stage.client(), stage.client());
    client.ok("SET autocommit=0");
    assert_eq!(client.refused("SELECT v FROM t WHERE WHERE id = 1").code, 1064);
    client.ok("COMMIT");
    client.ok("UPDATE t SET v = 'written' WHERE id = 1");
    client.ok("COMMIT");
    other.ok("SET autocommit=0");
    assert_eq!(other.value(ONE), "written", "no snapshot of somebody else is left on a connection");
}

#[test]
fn prepared_begin_says_how() {
    let stage = exact();
    let mut client = stage.client();
    let read_only = client.prepare("START TRANSACTION READ ONLY").unwrap();
    client.execute(&read_only, &[]).unwrap();
    assert_eq!(client.refused("UPDATE t SET v = 'x' WHERE id = 1").code, 1792);
    client.ok("ROLLBACK");
    let begin = client.prepare("BEGIN").unwrap();
    let commit = client.prepare("COMMIT").unwrap();
    client.execute(&begin, &[]).unwrap();
    client.ok("UPDATE t SET v = 'prepared' WHERE id = 1");
    client.execute(&commit, &[]).unwrap();
    assert_eq!(stage.client().value(ONE), "prepared");
}

#[test]
fn transactions_on_several_connections_each_commit_what_they_wrote() {
    let rule = "rule_id=1, match_pattern='^UPDATE t SET v = .two', destination_hostgroup=5, apply=1";
    let primary = crate::servers::shared().primary().port();
    let setup = super::on(crate::proxy::Setup::default())
        .rule(rule)
        .server(format!("hostgroup_id=5, hostname='127.0.0.1', port={primary}"));
    let stage = Stage::with_user(setup, ", transaction_persistent=0");
    let (mut writer, mut reader) = (stage.client(), stage.client());
    super::await_known(&stage, &mut reader, ONE);
    writer.ok("BEGIN");
    writer.ok("UPDATE t SET v = 'first' WHERE id = 1");
    writer.ok("UPDATE t SET v = 'two!' WHERE id = 2");
    warm(&stage, &mut reader, ONE);
    writer.ok("COMMIT");
    assert_eq!((reader.value(ONE), reader.value(TWO)), ("first".into(), "two!".into()));
}
