//! Transactions pin a connection and release it; what is not committed is gone.

use nuthatch_lab::Kind;

use crate::client::Client;
use crate::deadline::await_that;
use crate::proxy::Setup;
use crate::stage::Stage;

const UPDATE: &str = "UPDATE t SET v = 'new' WHERE id = 1";

fn stored(stage: &Stage) -> String {
    stage.primary().value("SELECT v FROM t WHERE id = 1")
}

#[test]
fn begin_pins_and_each_end_releases() {
    let stage = Stage::plain();
    let mut client = stage.client();
    client.ok("SELECT 1 FROM t");
    client.settle();
    let idle = stage.pool("ConnFree", 0);
    for (begin, end) in [
        ("BEGIN", "COMMIT"),
        ("START TRANSACTION", "ROLLBACK"),
        ("BEGIN WORK", "COMMIT WORK"),
        ("START TRANSACTION READ ONLY", "COMMIT"),
        ("BEGIN", "CREATE TABLE IF NOT EXISTS implicit (a INT)"),
        ("BEGIN", "TRUNCATE TABLE t"),
    ] {
        assert!(client.ok(begin).in_transaction(), "{begin}");
        client.settle();
        assert_eq!((stage.pool("ConnUsed", 0), stage.pool("ConnFree", 0)), (1, idle - 1), "{begin}");
        assert!(!client.ok(end).in_transaction(), "{end}");
        client.settle();
        assert_eq!((stage.pool("ConnUsed", 0), stage.pool("ConnFree", 0)), (0, idle), "{end}");
    }
}

#[test]
fn transactions_of_two_sessions_do_not_mix() {
    let stage = Stage::plain();
    let (mut a, mut b) = (stage.client(), stage.client());
    a.ok("BEGIN");
    b.ok("BEGIN");
    a.ok("UPDATE t SET v = 'a' WHERE id = 1");
    b.ok("UPDATE t SET v = 'b' WHERE id = 2");
    assert_eq!(a.value("SELECT v FROM t WHERE id = 2"), "two");
    assert_eq!(b.value("SELECT v FROM t WHERE id = 1"), "one");
    a.ok("COMMIT");
    b.ok("ROLLBACK");
    assert_eq!(stage.primary().ok("SELECT v FROM t ORDER BY id LIMIT 2").column(), ["a", "two"]);
}

#[test]
fn without_autocommit_writes_wait_for_the_commit() {
    let stage = Stage::plain();
    let mut client = stage.client();
    assert!(!client.ok("SET autocommit=0").autocommit());
    let updated = client.ok(UPDATE);
    assert!(!updated.autocommit() && updated.in_transaction());
    assert_eq!(stored(&stage), "one");
    client.ok("ROLLBACK");
    assert_eq!(stored(&stage), "one");
    client.ok(UPDATE);
    client.ok("COMMIT");
    assert_eq!(stored(&stage), "new");
    assert_eq!(stage.client().value("SELECT @@autocommit"), "1", "others are not touched");
}

#[test]
fn autocommit_in_every_spelling() {
    let stage = Stage::plain();
    for off in [
        "SET autocommit=0",
        "set @@autocommit = OFF",
        "SET SESSION autocommit = 0",
        "SET @@session.autocommit=false",
        "SET AUTOCOMMIT := 0",
    ] {
        let mut client = stage.client();
        assert!(!client.ok(off).autocommit(), "{off}");
        assert_eq!(client.value("SELECT @@autocommit"), "0", "{off}");
        assert!(client.ok("SET autocommit=1").autocommit(), "{off}");
        assert_eq!(client.value("SELECT @@autocommit"), "1", "{off}");
    }
    stage.await_unpinned();
}

#[test]
fn setting_autocommit_again_commits() {
    let stage = Stage::plain();
    let mut client = stage.client();
    client.ok("SET autocommit=0");
    client.ok(UPDATE);
    client.ok("SET autocommit=1");
    assert_eq!(stored(&stage), "new");
    stage.await_unpinned();
}

#[test]
fn transaction_of_a_client_that_vanishes_is_rolled_back() {
    let stage = Stage::plain();
    type Ending = fn(Client);
    let endings: [(&str, Ending); 3] =
        [("reset", Client::vanish), ("quit", Client::quit), ("close", |client| drop(client))];
    for (name, end) in endings {
        let mut client = stage.client();
        client.ok("BEGIN");
        client.ok(UPDATE);
        end(client);
        // Its row lock is gone with it.
        let mut other = stage.client();
        other.ok("SET innodb_lock_wait_timeout = 20");
        assert_eq!(other.value("SELECT v FROM t WHERE id = 1 FOR UPDATE"), "one", "{name}");
    }
    stage.await_unpinned();
}

#[test]
fn client_that_vanishes_during_a_statement_leaves_nothing_pinned() {
    let stage = Stage::plain();
    let mut client = stage.client();
    client.ok("BEGIN");
    client.ok(UPDATE);
    client.send(3, b"SELECT SLEEP(1)").unwrap();
    await_that("the statement runs", || {
        stage.proxy.operator().value("SELECT COUNT(*) FROM stats_mysql_processlist WHERE info LIKE '%SLEEP%'")
            == "1"
    });
    client.vanish();
    stage.await_unpinned();
    await_that("the session is gone", || stage.figure("Client_Connections_connected") == 0);
    assert_eq!(stored(&stage), "one");
}

#[test]
fn savepoints_stay_in_their_transaction() {
    let stage = Stage::plain();
    let mut client = stage.client();
    client.ok("BEGIN");
    client.ok(UPDATE);
    client.ok("SAVEPOINT here");
    client.ok("UPDATE t SET v = 'newer' WHERE id = 1");
    assert!(client.ok("ROLLBACK TO SAVEPOINT here").in_transaction());
    client.ok("RELEASE SAVEPOINT here");
    assert!(!client.ok("COMMIT").in_transaction());
    assert_eq!(stored(&stage), "new");
    stage.await_unpinned();
}

#[test]
fn chained_transactions_stay_pinned() {
    let stage = Stage::plain();
    let mut client = stage.client();
    client.ok("BEGIN");
    client.ok(UPDATE);
    assert!(client.ok("COMMIT AND CHAIN").in_transaction());
    assert_eq!(stage.pool("ConnUsed", 0), 1);
    client.ok("UPDATE t SET v = 'lost' WHERE id = 1");
    assert!(!client.ok("ROLLBACK AND NO CHAIN").in_transaction());
    assert_eq!(stored(&stage), "new");
    stage.await_unpinned();
}

#[test]
fn error_inside_a_transaction_keeps_it_open() {
    let stage = Stage::plain();
    let mut client = stage.client();
    client.ok("BEGIN");
    client.ok(UPDATE);
    assert_eq!(client.refused("INSERT INTO t VALUES (1, 'again')").code, 1062);
    assert_eq!(client.refused("nonsense").code, 1064);
    assert!(client.ok("DO 1").in_transaction());
    client.ok("COMMIT");
    assert_eq!(stored(&stage), "new");
}

#[test]
fn deadlock_rolls_back_and_releases() {
    let stage = Stage::plain();
    let (mut a, mut b) = (stage.client(), stage.client());
    a.ok("BEGIN");
    b.ok("BEGIN");
    a.ok("UPDATE t SET v = 'a' WHERE id = 1");
    b.ok("UPDATE t SET v = 'b' WHERE id = 2");
    a.send(3, b"UPDATE t SET v = 'a' WHERE id = 2").unwrap();
    let from_b = b.query("UPDATE t SET v = 'b' WHERE id = 1");
    let from_a = a.read_answers();
    let codes: Vec<u16> = [from_a.map(drop), from_b.map(drop)]
        .into_iter()
        .filter_map(|outcome| outcome.err().map(|failure| failure.server().code))
        .collect();
    assert_eq!(codes, [1213], "one of them is the victim");
    a.ok("COMMIT");
    b.ok("COMMIT");
    assert!(!a.ok("DO 1").in_transaction() && !b.ok("DO 1").in_transaction());
    stage.await_unpinned();
}

#[test]
fn commit_and_rollback_without_a_transaction_need_no_server() {
    let stage = Stage::plain();
    let mut client = stage.client();
    let asked = stage.backend_queries();
    for statement in ["COMMIT", "ROLLBACK", "commit;", "ROLLBACK WORK"] {
        let ok = client.ok(statement);
        assert!(ok.autocommit() && !ok.in_transaction(), "{statement}");
    }
    assert_eq!(stage.backend_queries(), asked);
}

#[test]
fn isolation_level_of_the_next_transaction_only() {
    let stage = Stage::plain();
    let mut client = stage.client();
    client.ok("SET TRANSACTION ISOLATION LEVEL READ COMMITTED");
    client.ok("BEGIN");
    assert_eq!(client.value("SELECT v FROM t WHERE id = 1"), "one");
    stage.primary().ok(UPDATE);
    assert_eq!(client.value("SELECT v FROM t WHERE id = 1"), "new", "it reads what is committed");
    client.ok("COMMIT");
}

/// Without autocommit a server keeps the definition of a table locked that was used, until COMMIT, and its flags tell of no transaction
/// where the table knows of none.
fn check_definitions_are_given_back(stage: &Stage) {
    let mut maker = stage.client();
    maker.ok("SET SESSION lock_wait_timeout = 5");
    for end in ["COMMIT", "ROLLBACK", "SET autocommit = 1", "CREATE TABLE other (id INT)"] {
        maker.ok("DROP TABLE IF EXISTS plain, other");
        maker.ok("CREATE TABLE plain (id INT) ENGINE=MyISAM");
        let (mut user, mut idle) = (stage.client(), stage.client());
        user.ok("SET autocommit = 0");
        for statement in ["SELECT * FROM plain", "INSERT INTO plain VALUES (1)", "SELECT COUNT(*) FROM plain"]
        {
            user.ok(statement);
            idle.ok("SELECT 1");
        }
        let why = "SELECT extended_info FROM stats_mysql_processlist WHERE extended_info LIKE '%pinned_by%'";
        assert!(stage.proxy.operator().value(why).contains("metadata_lock"), "{end}");
        user.ok(end);
        maker.ok("DROP TABLE plain");
        user.ok("SELECT 1");
        stage.await_unpinned();
        user.quit();
    }
    // One that leaves gives it back too.
    maker.ok("CREATE TABLE plain (id INT) ENGINE=MyISAM");
    let mut user = stage.client();
    user.ok("SET autocommit = 0");
    user.ok("SELECT * FROM plain");
    user.quit();
    maker.ok("DROP TABLE plain");
}

/// Each leaves the table's definition locked on one of the servers at least, and begins no transaction that its answer tells of. Those
/// that fail do too.
const LOCKS_DEFINITION: [&str; 13] = [
    "INSERT INTO locked VALUES (1)",
    "INSERT INTO locked VALUES (1, 2)",
    "SELECT nothing FROM locked",
    "UPDATE locked SET nothing = 1",
    "SELECT * FROM locked WHERE id = (SELECT 1 UNION SELECT 2)",
    "DO (SELECT COUNT(*) FROM locked)",
    "EXPLAIN SELECT * FROM locked",
    "EXPLAIN UPDATE locked SET id = 3",
    "DESCRIBE locked",
    "SHOW FULL COLUMNS FROM locked",
    "SHOW INDEXES IN locked",
    "SHOW VARIABLES WHERE (SELECT COUNT(*) FROM locked) > 9",
    "CHECKSUM TABLE locked",
];

fn check_failed_and_odd_ones_give_back(stage: &Stage) {
    let mut maker = stage.client();
    maker.ok("SET SESSION lock_wait_timeout = 2");
    for engine in ["InnoDB", "MyISAM"] {
        for statement in LOCKS_DEFINITION {
            maker.ok(format!("CREATE TABLE locked (id INT UNIQUE) ENGINE={engine}"));
            maker.ok("INSERT INTO locked VALUES (1)");
            let mut user = stage.client();
            user.ok("SET autocommit = 0");
            // Some of them fail.
            let (Ok(_) | Err(_)) = user.query(statement);
            user.settle();
            user.ok("COMMIT");
            let dropped = maker.query("DROP TABLE locked");
            assert!(dropped.is_ok(), "{engine}: {statement} has locked it for ever: {dropped:?}");
            user.ok("SELECT 1");
            user.settle();
            await_that(&format!("{engine}: nothing is kept behind {statement}"), || {
                stage.pool("ConnUsed", 0) == 0
            });
            user.quit();
        }
    }
    let mut user = stage.client();
    user.ok("SET autocommit = 0");
    for statement in ["SELECT 1", "SHOW VARIABLES LIKE 'auto%'", "SHOW WARNINGS", "SET @a = 1"] {
        user.ok(statement);
        user.settle();
        stage.await_unpinned();
    }
}

#[test]
fn definitions_are_locked_until_the_commit_and_no_longer() {
    let stage = Stage::plain();
    check_definitions_are_given_back(&stage);
    check_failed_and_odd_ones_give_back(&stage);
}

#[test]
fn definitions_are_locked_until_the_commit_and_no_longer_on_mysql() {
    let stage = Stage::of(Kind::MySql, Setup::default());
    check_definitions_are_given_back(&stage);
    check_failed_and_odd_ones_give_back(&stage);
}
