//! Transactions and session state: when the cache is neither read nor filled.

use super::{SELECT, change_behind, fill_and_change};
use crate::stage::Stage;

#[test]
fn transaction_that_has_written_sees_its_own_write_and_no_hit() {
    let stage = Stage::caching();
    let mut client = stage.client();
    assert_eq!(client.value(SELECT), "one");
    client.ok("BEGIN");
    client.ok("UPDATE t SET v = 'mine' WHERE id = 1");
    assert_eq!(client.value(SELECT), "mine");
    client.ok("ROLLBACK");
    assert_eq!(client.value(SELECT), "one");
    assert_eq!(stage.client().value(SELECT), "one", "what it saw was not stored");
}

#[test]
fn nothing_is_served_after_a_write_of_any_kind_in_the_transaction() {
    let stage = Stage::caching();
    stage.primary().ok("CREATE PROCEDURE p() UPDATE t SET v = 'p' WHERE id = 2");
    fill_and_change(&stage, &mut stage.client());
    for write in [
        "INSERT INTO t VALUES (9, 'nine')",
        "REPLACE INTO t VALUES (2, 'zwei')",
        "DELETE FROM t WHERE id = 3",
        "SELECT v FROM t WHERE id = 2 FOR UPDATE",
        "CALL p()",
        "WITH x AS (SELECT 2 AS id) SELECT * FROM x; UPDATE t SET v = 'x' WHERE id = 2",
    ] {
        let mut client = stage.client();
        client.ok("START TRANSACTION");
        client.query_all(write).unwrap();
        let is_a_read = write.starts_with("SELECT");
        assert_eq!(client.value(SELECT), if is_a_read { "one" } else { "changed" }, "{write}");
        client.ok("ROLLBACK");
    }
}

#[test]
fn write_without_autocommit_counts_as_in_a_transaction() {
    let stage = Stage::caching();
    let mut client = stage.client();
    client.ok("SET autocommit=0");
    fill_and_change(&stage, &mut stage.client());
    client.ok("UPDATE t SET v = 'two!' WHERE id = 2");
    assert_eq!(client.value(SELECT), "changed");
    client.ok("COMMIT");
    assert_eq!(client.value(SELECT), "one", "after the commit it is an ordinary reader again");
}

#[test]
fn hits_come_again_after_the_transaction_that_wrote() {
    let stage = Stage::caching();
    for end in ["COMMIT", "ROLLBACK", "COMMIT AND NO CHAIN", "CREATE TABLE IF NOT EXISTS implicit (a INT)"] {
        stage.primary().ok("UPDATE t SET v = 'one' WHERE id = 1");
        stage.administer(["PROXYSQL FLUSH QUERY CACHE"]);
        fill_and_change(&stage, &mut stage.client());
        let mut client = stage.client();
        client.ok("BEGIN");
        client.ok("UPDATE t SET v = CONCAT(v, '!') WHERE id = 2");
        client.ok(end);
        assert_eq!(client.value(SELECT), "one", "{end}");
    }
}

#[test]
fn open_transaction_fills_nothing() {
    let stage = Stage::caching();
    for begin in ["BEGIN", "START TRANSACTION READ ONLY", "START TRANSACTION WITH CONSISTENT SNAPSHOT"] {
        let mut client = stage.client();
        client.ok(begin);
        client.ok(SELECT);
        client.ok("COMMIT");
        client.settle();
    }
    assert_eq!(stage.figure("Query_Cache_count_SET"), 0);
}

#[test]
fn reader_without_autocommit_does_not_fill_what_its_old_snapshot_saw() {
    let stage = Stage::caching();
    let mut old = stage.client();
    old.ok("SET autocommit=0");
    assert_eq!(old.value("SELECT COUNT(*) FROM t"), "3", "the snapshot is taken");
    change_behind(&stage);
    assert_eq!(old.value(SELECT), "one", "the snapshot's value");
    assert_eq!(stage.client().value(SELECT), "changed", "was not stored for others");
}

/// Statements after which a session's answers may differ from those of others.
const CHANGES: [&str; 16] = [
    "CREATE TEMPORARY TABLE t (id INT, v TEXT) SELECT 1 AS id, 'temporary' AS v",
    "LOCK TABLES t READ",
    "LOCK TABLES t WRITE",
    "SET sql_mode = 'ANSI'",
    "SET SESSION sql_mode = ''",
    "SET @@session.sql_mode = 'NO_BACKSLASH_ESCAPES'",
    "SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED",
    "SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE",
    "SET tx_isolation = 'READ-COMMITTED'",
    "SET time_zone = '+05:00'",
    "SET sql_select_limit = 1",
    "SET group_concat_max_len = 5",
    "SET character_set_results = latin1",
    "SET CHARACTER SET latin1",
    "SET max_statement_time = 20, lc_time_names = 'de_DE'",
    "SET NAMES latin1, @b = 1",
];

#[test]
fn session_with_state_of_its_own_is_served_nothing() {
    let stage = Stage::caching();
    fill_and_change(&stage, &mut stage.client());
    for change in CHANGES {
        let mut client = stage.client();
        client.ok(change);
        let asked = stage.backend_queries();
        client.ok(SELECT);
        assert_eq!(stage.backend_queries(), asked + 1, "{change}");
    }
}

#[test]
fn session_with_state_of_its_own_stores_nothing_for_others() {
    let stage = Stage::caching();
    for change in CHANGES {
        let (mut client, mut other) = (stage.client(), stage.client());
        client.ok(change);
        client.ok(SELECT);
        client.settle();
        if change.starts_with("LOCK TABLES t WRITE") {
            client.ok("UNLOCK TABLES");
        }
        let asked = stage.backend_queries();
        assert_eq!(other.value(SELECT), "one", "{change}");
        assert_eq!(stage.backend_queries(), asked + 1, "{change}");
        // What it was answered is stored by now, and not after the flush.
        other.settle();
        stage.administer(["PROXYSQL FLUSH QUERY CACHE"]);
    }
}

#[test]
fn isolation_that_the_cache_cannot_give_stores_nothing() {
    let stage = Stage::caching();
    for level in ["READ UNCOMMITTED", "SERIALIZABLE"] {
        let mut client = stage.client();
        client.ok(format!("SET SESSION TRANSACTION ISOLATION LEVEL {level}"));
        client.ok(SELECT);
        client.settle();
        assert_eq!(stage.figure("Query_Cache_count_SET"), 0, "{level}");
    }
}

#[test]
fn state_of_its_own_ends_with_unlock_reset_and_the_connection() {
    let stage = Stage::caching();
    fill_and_change(&stage, &mut stage.client());
    let mut client = stage.client();
    client.ok("LOCK TABLES t READ");
    client.ok("UNLOCK TABLES");
    assert_eq!(client.value(SELECT), "one", "a hit after UNLOCK TABLES");
    client.ok("SET sql_mode = 'ANSI'");
    client.command(0x1F, &[]).unwrap();
    assert_eq!(client.value(SELECT), "one", "a hit after COM_RESET_CONNECTION");
    client.quit();
    assert_eq!(stage.client().value(SELECT), "one");
}
