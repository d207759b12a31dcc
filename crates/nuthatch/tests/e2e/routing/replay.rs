//! `mysql-transaction_replay`: an open transaction whose connection is lost is done again, or its client is told that it is lost.

use nuthatch_lab::Kind;
use nuthatch_wire::{CapabilityFlags, Command};

use crate::client::{Client, ServerError, Value};
use crate::deadline::{await_that, eventually};
use crate::proxy::Setup;
use crate::stage::Stage;

const THREAD: &str = "SELECT MAX(trx_mysql_thread_id) FROM information_schema.innodb_trx";

fn replaying(kind: Kind) -> Stage {
    let setup = Setup::default()
        .variable("mysql-transaction_replay", true)
        .variable("mysql-transaction_replay_attempts", 4);
    let stage = Stage::of(kind, setup);
    let mut primary = stage.primary();
    primary.ok("CREATE TABLE made (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(100) UNIQUE)");
    primary.ok("CREATE TABLE loose (id INT PRIMARY KEY) ENGINE=MyISAM");
    stage.client().ok("SELECT 1 FROM t");
    stage.client().ok("ALTER TABLE t COMMENT = 'known'");
    await_that("tables are known", || stage.figure("Query_Cache_Tables") >= 3);
    stage
}

/// Ends the thread on which a transaction is open.
fn kill(stage: &Stage) {
    let mut primary = stage.primary();
    // The table is made anew only when nobody has looked at it for 100 ms.
    let thread = eventually("it is shown", || {
        std::thread::sleep(std::time::Duration::from_millis(150));
        Some(primary.value(THREAD)).filter(|thread| thread != "NULL")
    });
    primary.ok(format!("KILL {thread}"));
    let left = format!("SELECT COUNT(*) FROM information_schema.processlist WHERE id = {thread}");
    await_that("the thread is gone", || primary.value(&left) == "0");
}

#[track_caller]
fn assert_done(stage: &Stage, times: u64) {
    let figures = ["Transaction_Replays", "Transaction_Replays_Done"].map(|name| stage.figure(name));
    assert_eq!(figures, [times, times], "{}", stage.proxy.log());
}

#[track_caller]
fn assert_lost(client: &mut Client, error: &ServerError) {
    assert!([2013, 9004].contains(&error.code), "{error:?}");
    assert!(error.message.ends_with("; the transaction was rolled back"), "{error:?}");
    assert!(client.is_closed_by_server());
}

fn transaction_is_done_again_on(kind: Kind) {
    let stage = replaying(kind);
    let mut client = stage.client();
    client.ok("BEGIN");
    let first = client.ok("INSERT INTO made (v) VALUES ('a'), ('b')").insert_id;
    assert_eq!(client.refused("INSERT INTO made (v) VALUES ('a')").code, 1062);
    client.ok("SAVEPOINT here");
    client.ok("UPDATE t SET v = 'new' WHERE id = 1");
    let prepared = client.prepare("SELECT id, v FROM t WHERE id <= ? ORDER BY id").expect("it is prepared");
    let rows = client.execute(&prepared, &[Value::Int(2)]).expect("it runs").rows;
    kill(&stage);
    let insert = client.ok("INSERT INTO made (v) VALUES ('c')");
    assert_done(&stage, 1);
    assert_eq!(
        client.value("SELECT MIN(id) FROM made"),
        first.to_string(),
        "the ids that were told are kept"
    );
    assert_eq!(client.value("SELECT LAST_INSERT_ID()"), insert.insert_id.to_string());
    assert_eq!(client.execute(&prepared, &[Value::Int(2)]).expect("it runs").rows, rows);
    kill(&stage);
    client.ok("ROLLBACK TO SAVEPOINT here");
    assert_done(&stage, 2);
    kill(&stage);
    let count = client.prepare("SELECT COUNT(*) FROM made").expect("it is prepared");
    assert_eq!(client.execute(&count, &[]).expect("it runs").value(), "2");
    assert_done(&stage, 3);
    kill(&stage);
    // No byte of it had been given to a server.
    client.ok("COMMIT");
    assert_done(&stage, 4);
    let mut unlucky = stage.client();
    unlucky.ok("BEGIN");
    unlucky.ok("UPDATE t SET v = 'new' WHERE id = 3");
    for _ in 0..4 {
        kill(&stage);
        unlucky.ok("UPDATE t SET v = 'newer' WHERE id = 3");
    }
    kill(&stage);
    let error = unlucky.refused("COMMIT");
    assert_lost(&mut unlucky, &error);
    assert_eq!(stage.figure("Transaction_Replays_Refused_limits"), 1);
    let mut primary = stage.primary();
    assert_eq!(primary.ok("SELECT v FROM made ORDER BY v").column(), ["a", "b"], "each once");
    assert_eq!(primary.value("SELECT v FROM t WHERE id = 1"), "one");
    assert!(!client.ok("SELECT v FROM t WHERE id = 1").in_transaction());
}

#[test]
fn transaction_whose_connection_is_lost_is_done_again() {
    transaction_is_done_again_on(Kind::MariaDb);
}

#[test]
fn transaction_whose_connection_is_lost_is_done_again_on_mysql() {
    transaction_is_done_again_on(Kind::MySql);
}

#[test]
fn executions_of_a_client_with_attributes_are_done_again() {
    let stage = replaying(Kind::MySql);
    let login = stage.login().with(CapabilityFlags::CLIENT_QUERY_ATTRIBUTES);
    let mut client = stage.proxy.client(&login);
    let prepared = client.prepare("SELECT v FROM t WHERE id = ?").expect("it is prepared");
    client.ok("BEGIN");
    client.ok("UPDATE t SET v = 'new' WHERE id = 2");
    // Flags, one execution, one parameter: not NULL, a text without a name, of one byte.
    let execution = [8, 1, 0, 0, 0, 1, 0, 1, 253, 0, 0, 1, b'1'];
    let answers = client.of_statement(Command::StmtExecute, &prepared, &execution).expect("answers");
    assert_eq!(answers[0].as_ref().expect("it is executed").value(), "one");
    kill(&stage);
    assert_eq!(client.value("SELECT v FROM t WHERE id = 2"), "new");
    assert_done(&stage, 1);
}

#[test]
fn transaction_without_autocommit_is_done_again() {
    let stage = replaying(Kind::MariaDb);
    let mut client = stage.client();
    client.ok("SET autocommit = 0");
    for statement in ["INSERT INTO made (v) VALUES ('a')", "UPDATE t SET v = 'b' WHERE id = 1"] {
        client.ok(statement);
        kill(&stage);
        assert_eq!(client.ok("SELECT COUNT(*) FROM made").value(), "1");
    }
    client.ok("COMMIT");
    assert_done(&stage, 2);
    assert_eq!(stage.primary().value("SELECT v FROM t WHERE id = 1"), "b");
}

#[test]
fn transaction_that_would_be_another_is_not_done_again() {
    let stage = replaying(Kind::MariaDb);
    for (statements, reason) in [
        (&["SELECT NOW() FROM t"][..], "statement"),
        (&["INSERT INTO made (v) VALUES (UUID())"], "statement"),
        (&["SET @a = 1", "UPDATE t SET v = 'x' WHERE id = 2"], "statement"),
        (&["SELECT GET_LOCK('a', 1)"], "statement"),
        (&["CREATE TEMPORARY TABLE x (id INT)"], "statement"),
        (&["UPDATE t SET v = 'x' WHERE id = 2", "INSERT INTO loose VALUES (1)"], "tables"),
        (&["SELECT v FROM t WHERE id = 3"], "differs"),
    ] {
        let name = format!("Transaction_Replays_Refused_{reason}");
        let before = stage.figure(&name);
        let mut client = stage.client();
        client.ok("BEGIN");
        client.ok("UPDATE t SET v = 'x' WHERE id = 2");
        statements.iter().for_each(|statement| drop(client.ok(statement)));
        kill(&stage);
        if reason == "differs" {
            stage.primary().ok("UPDATE t SET v = CONCAT(v, '.') WHERE id = 3");
        }
        let error = match client.query("SELECT v FROM t WHERE id = 1") {
            Ok(answer) => panic!("{statements:?}: {answer:?}"),
            Err(failure) if failure.is_closed() => None,
            Err(failure) => Some(failure.server()),
        };
        if let Some(error) = error {
            assert_lost(&mut client, &error);
            assert_eq!(stage.figure(&name), before + 1, "{statements:?}: {}", stage.proxy.log());
        } else {
            assert_ne!(reason, "differs", "it was tried");
        }
    }
    assert_eq!(stage.figure("Transaction_Replays_Done"), 0);
    assert_eq!(stage.primary().value("SELECT v FROM t WHERE id = 2"), "two");
}

#[test]
fn transaction_that_went_on_in_another_schema_is_not_done_again() {
    let stage = replaying(Kind::MariaDb);
    let mut client = stage.client();
    client.ok("BEGIN");
    client.ok("UPDATE t SET v = 'x' WHERE id = 2");
    client.init_db("information_schema").expect("it is there");
    kill(&stage);
    let error = client.refused(format!("SELECT v FROM {}.t WHERE id = 1", stage.schema));
    assert_lost(&mut client, &error);
    assert_eq!(stage.figure("Transaction_Replays_Refused_statement"), 1);
}

#[test]
fn nothing_is_done_again_unless_that_is_wanted_or_beyond_its_limit() {
    for setup in [
        Setup::default(),
        Setup::default()
            .variable("mysql-transaction_replay", true)
            .variable("mysql-transaction_replay_max_bytes", 1024),
    ] {
        let stage = Stage::alone(setup);
        let mut client = stage.client();
        client.ok("BEGIN");
        client.ok(format!("UPDATE t SET v = 'x' WHERE id = 2 /* {} */", "x".repeat(2000)));
        kill(&stage);
        assert!(client.query("SELECT v FROM t WHERE id = 1").is_err());
        assert!(client.is_closed_by_server());
        assert_eq!(stage.figure("Transaction_Replays_Done"), 0);
    }
}
