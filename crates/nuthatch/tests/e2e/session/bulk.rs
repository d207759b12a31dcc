//! MariaDB's COM_STMT_BULK_EXECUTE: what a client gets through the proxy is what the server gives, and what it wrote is seen.

use nuthatch_lab::Kind;
use nuthatch_wire::{CapabilityFlags, Command, append_lenenc_bytes};

use crate::client::{Answer, Client, Cursor, Login, ServerError, Types, Value};
use crate::deadline::await_that;
use crate::proxy::Setup;
use crate::servers;
use crate::stage::Stage;

const BULK: CapabilityFlags = CapabilityFlags::MARIADB_CLIENT_STMT_BULK_OPERATIONS;

const TYPES: u16 = 128;
const EACH_ROW: u16 = 64;

/// A parameter of a row.
#[derive(Debug, Clone, Copy)]
enum Bound {
    Int(i32),
    Text(&'static str),
    Null,
    Default,
    Ignore,
}

use Bound::{Default as Dflt, Ignore, Int, Null, Text};

/// What stands behind the statement's number.
fn batch(flags: u16, types: &[u16], rows: &[&[Bound]]) -> Vec<u8> {
    let mut out = flags.to_le_bytes().to_vec();
    if flags & TYPES != 0 {
        types.iter().for_each(|of_type| out.extend(of_type.to_le_bytes()));
    }
    for bound in rows.iter().copied().flatten() {
        match bound {
            Int(number) => {
                out.push(0);
                out.extend(number.to_le_bytes());
            }
            Text(text) => {
                out.push(0);
                append_lenenc_bytes(&mut out, text.as_bytes());
            }
            Null => out.push(1),
            Dflt => out.push(2),
            Ignore => out.push(3),
        }
    }
    out
}

const LONG: u16 = 3;
const STRING: u16 = 253;

const TABLE: &str =
    "CREATE TABLE b (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(20) DEFAULT 'dflt', n INT) ENGINE=InnoDB";

/// A proxy, a client through it, and one straight at the server, each in a schema with a table `b`.
fn twins(stage: &Stage, login: &Login) -> [Client; 2] {
    let other = format!("{}_direct", stage.schema);
    stage.primary().ok(format!("CREATE SCHEMA {other}"));
    let mut both = twins_again(stage, login);
    both.iter_mut().for_each(|client| drop(client.ok(TABLE)));
    both
}

/// What can be compared: the schema's name may stand in a message.
fn shown(answers: Vec<Result<Answer, ServerError>>) -> Vec<String> {
    let one = |answer: Result<Answer, ServerError>| match answer {
        Ok(answer) => format!(
            "{} rows {:?} columns {:?} id {} warnings {} status {:?} {}",
            answer.affected_rows,
            answer.rows,
            answer.columns,
            answer.insert_id,
            answer.warnings,
            answer.status,
            answer.message
        ),
        Err(error) => format!("{} {} {}", error.code, error.state, error.message.replace("_direct", "")),
    };
    answers.into_iter().map(one).collect()
}

#[test]
fn batches_are_answered_as_by_the_server() {
    let stage = Stage::plain();
    let login = stage.login().with(BULK);
    let mut both = twins(&stage, &login);
    let two = [LONG, STRING];
    let steps: Vec<(&str, Vec<u8>)> = vec![
        (
            "INSERT INTO b (n, v) VALUES (?, ?)",
            batch(TYPES, &two, &[&[Int(1), Text("one")], &[Null, Dflt], &[Int(3), Null]]),
        ),
        ("INSERT INTO b (n, v) VALUES (?, ?)", batch(TYPES, &two, &[&[Int(4), Text("four")]])),
        (
            "UPDATE b SET v = ? WHERE n = ?",
            batch(TYPES, &[STRING, LONG], &[&[Text("x"), Int(1)], &[Ignore, Int(3)], &[Dflt, Int(4)]]),
        ),
        ("DELETE FROM b WHERE n = ?", batch(TYPES, &[LONG], &[&[Int(4)], &[Int(99)]])),
        (
            "REPLACE INTO b (id, n) VALUES (?, ?)",
            batch(TYPES, &[LONG, LONG], &[&[Int(1), Int(11)], &[Int(50), Int(5)]]),
        ),
        ("INSERT INTO b (id) VALUES (?)", batch(TYPES, &[LONG], &[&[Int(60)], &[Int(60)], &[Int(61)]])),
        (
            "INSERT IGNORE INTO b (id, n) VALUES (?, ?)",
            batch(TYPES, &[LONG, LONG], &[&[Int(60), Int(1)], &[Int(62), Int(1)]]),
        ),
        (
            "INSERT INTO b (id, n) VALUES (?, ?) ON DUPLICATE KEY UPDATE n = n + 1",
            batch(TYPES, &[LONG, LONG], &[&[Int(60), Int(1)], &[Int(63), Int(1)]]),
        ),
        (
            "INSERT INTO b (n, v) VALUES (?, ?) RETURNING id, v",
            batch(TYPES, &two, &[&[Int(7), Text("seven")], &[Int(8), Text("eight")]]),
        ),
        ("DELETE FROM b WHERE n = ? RETURNING id", batch(TYPES, &[LONG], &[&[Int(7)], &[Int(8)]])),
        (
            "INSERT INTO b SELECT ? + 100, v, n FROM b WHERE id = 50",
            batch(TYPES, &[LONG], &[&[Int(1)], &[Int(2)]]),
        ),
        ("SELECT ?", batch(TYPES, &[LONG], &[&[Int(1)]])),
        ("INSERT INTO b (n) VALUES (1)", batch(TYPES, &[], &[])),
        ("INSERT INTO b (n) VALUES (?)", batch(TYPES, &[LONG], &[])),
        ("INSERT INTO b (n) VALUES (?)", batch(TYPES | 1, &[LONG], &[&[Int(1)]])),
        ("INSERT INTO b (n) VALUES (?)", batch(TYPES, &[999], &[&[Int(1)]])),
        ("COMMIT", batch(TYPES, &[], &[])),
        ("DO ?", batch(TYPES, &[LONG], &[&[Int(1)]])),
        ("CALL nowhere(?)", batch(TYPES, &[LONG], &[&[Int(1)]])),
    ];
    for (statement, batch) in steps {
        let found = both.each_mut().map(|client| {
            let prepared = client.prepare(statement).expect("it is prepared");
            let mut seen =
                shown(client.of_statement(Command::StmtBulkExecute, &prepared, &batch).expect("an answer"));
            // MariaDB tells how many rows all of a batch changed, and its ROW_COUNT() is of the last row.
            let is_summed = ["INSERT", "REPLACE"].iter().any(|word| statement.starts_with(word));
            let counts = if is_summed { "SELECT ROW_COUNT()" } else { "SELECT 1" };
            for question in [counts, "SELECT LAST_INSERT_ID()", "SHOW WARNINGS", "SELECT * FROM b"] {
                seen.push(format!("{question}: {:?}", client.table(question)));
            }
            client.close(&prepared);
            seen
        });
        assert_eq!(found[0], found[1], "{statement} {batch:?}");
    }
}

#[test]
fn batches_in_transactions_and_with_types_left_out_are_the_servers() {
    let stage = Stage::plain();
    let login = stage.login().with(BULK);
    let mut both = twins(&stage, &login);
    // Somebody else has the connections in between, with other state.
    let mut other = stage.client();
    let found = both.each_mut().map(|client| {
        let prepared = client.prepare("INSERT INTO b (n, v) VALUES (?, ?)").expect("it is prepared");
        let mut seen = Vec::new();
        let mut bulk = |client: &mut Client, flags, rows: &[&[Bound]]| {
            let batch = batch(flags, &[LONG, STRING], rows);
            seen.extend(shown(
                client.of_statement(Command::StmtBulkExecute, &prepared, &batch).expect("an answer"),
            ));
            seen.push(format!("{:?}", client.table("SELECT n, v, LAST_INSERT_ID() FROM b")));
        };
        bulk(client, TYPES, &[&[Int(1), Text("a")]]);
        other.ok("SET NAMES latin1");
        other.ok("SELECT COUNT(*) FROM t");
        bulk(client, 0, &[&[Int(2), Text("b")], &[Null, Text("c")]]);
        client.ok("BEGIN");
        bulk(client, 0, &[&[Int(3), Text("c")]]);
        client.ok("ROLLBACK");
        bulk(client, 0, &[]);
        client.ok("SET autocommit = 0");
        bulk(client, TYPES, &[&[Int(4), Text("c")], &[Int(5), Dflt]]);
        client.ok("COMMIT");
        client.ok("SET autocommit = 1");
        let one = client.execute_as(
            &prepared,
            &[Value::Null, Value::Text(b"t".to_vec())],
            Types::Sent,
            Cursor::None,
        );
        seen.push(format!(
            "{:?}",
            one.map(|answer| answer.affected_rows).map_err(|failure| failure.server())
        ));
        seen.push(format!("{:?}", client.table("SELECT * FROM b")));
        seen
    });
    assert_eq!(found[0], found[1]);
}

#[test]
fn batch_of_more_than_16_mib_is_written_whole() {
    let stage = Stage::plain();
    let mut client = stage.proxy.client(&stage.login().with(BULK));
    client.ok("CREATE TABLE large (id INT PRIMARY KEY AUTO_INCREMENT, v LONGTEXT)");
    let prepared = client.prepare("INSERT INTO large (v) VALUES (?)").expect("it is prepared");
    let mut rows = TYPES.to_le_bytes().to_vec();
    rows.extend(STRING.to_le_bytes());
    let value = vec![b'x'; 1 << 20];
    for _ in 0..20 {
        rows.push(0);
        append_lenenc_bytes(&mut rows, &value);
    }
    let answers = client.of_statement(Command::StmtBulkExecute, &prepared, &rows).expect("an answer");
    assert_eq!(answers.len(), 1);
    let max: usize = client.value("SELECT @@max_allowed_packet").parse().expect("a number");
    match &answers[0] {
        Ok(answer) => assert_eq!(answer.affected_rows, 20),
        Err(error) => panic!("{error:?} with max_allowed_packet {max}"),
    }
    assert_eq!(client.value("SELECT SUM(LENGTH(v)) FROM large"), (20 << 20).to_string());
}

#[test]
fn malformed_batches_are_refused_and_the_session_goes_on() {
    let stage = Stage::plain();
    let login = stage.login().with(BULK);
    let mut both = twins(&stage, &login);
    let good = batch(TYPES, &[LONG, STRING], &[&[Int(1), Text("one")], &[Null, Dflt]]);
    let mut bad: Vec<Vec<u8>> = (0..good.len()).map(|len| good[..len].to_vec()).collect();
    bad.push([&good[..], &[9]].concat());
    bad.push([&good[..6], &[0xFF; 40]].concat());
    bad.push(
        [&good[..6], &[0, 1, 0, 0, 0, 0, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]].concat(),
    );
    for rest in bad {
        let found = both.each_mut().map(|client| {
            client.ok("DELETE FROM b");
            client.ok("ALTER TABLE b AUTO_INCREMENT = 1");
            let prepared = client.prepare("INSERT INTO b (n, v) VALUES (?, ?)").expect("it is prepared");
            let answers = client.of_statement(Command::StmtBulkExecute, &prepared, &rest).expect("an answer");
            (shown(answers), client.table("SELECT n, v FROM b"))
        });
        assert_eq!(found[0], found[1], "{rest:?}");
    }
    for payload in [&[0xFA][..], &[0xFA, 1, 0], &[0xFA, 9, 9, 9, 9, 128, 0]] {
        let found = both.each_mut().map(|client| {
            client.send_payload(payload).expect("it is sent");
            client.read_answers().expect_err("an error").server()
        });
        assert_eq!(found[0], found[1], "{payload:?}");
    }
}

#[test]
fn client_that_did_not_ask_for_batches_is_refused_as_by_the_server() {
    let stage = Stage::plain();
    let mut both = twins(&stage, &stage.login());
    let found = both.each_mut().map(|client| {
        let prepared = client.prepare("INSERT INTO b (n) VALUES (?)").expect("it is prepared");
        shown(
            client
                .of_statement(Command::StmtBulkExecute, &prepared, &batch(TYPES, &[LONG], &[&[Int(1)]]))
                .expect("an answer"),
        )
    });
    assert_eq!(found[0], found[1]);
    let each_row = batch(TYPES | EACH_ROW, &[LONG], &[&[Int(1)]]);
    let mut both = twins_again(&stage, &stage.login().with(BULK));
    let found = both.each_mut().map(|client| {
        let prepared = client.prepare("INSERT INTO b (n) VALUES (?)").expect("it is prepared");
        shown(client.of_statement(Command::StmtBulkExecute, &prepared, &each_row).expect("an answer"))
    });
    assert_eq!(found[0], found[1]);
}

fn twins_again(stage: &Stage, login: &Login) -> [Client; 2] {
    let direct = login.clone().schema(format!("{}_direct", stage.schema));
    [stage.proxy.client(login), stage.primary_as(&direct)]
}

#[test]
#[ignore = "needs a MariaDB from 11.5 on: make test-servers"]
fn newer_servers_tell_of_each_row() {
    let stage = Stage::before_lab(servers::beside(Kind::MariaDb, "NUTHATCH_MARIADB_ROOT"), Setup::default());
    let units = CapabilityFlags::MARIADB_CLIENT_BULK_UNIT_RESULTS;
    let mut both = twins(&stage, &stage.login().with(BULK | units));
    assert!(both[0].capabilities.contains(units));
    for (statement, batch) in [
        ("INSERT INTO b (n) VALUES (?)", batch(TYPES | EACH_ROW, &[LONG], &[&[Int(1)], &[Null], &[Int(3)]])),
        (
            "UPDATE b SET n = 9 WHERE n = ?",
            batch(TYPES | EACH_ROW, &[LONG], &[&[Int(1)], &[Int(7)], &[Int(3)]]),
        ),
        ("INSERT INTO b (id) VALUES (?)", batch(TYPES | EACH_ROW, &[LONG], &[&[Int(50)], &[Int(50)]])),
        ("DELETE FROM b WHERE n = ?", batch(TYPES | EACH_ROW, &[LONG], &[&[Int(9)]])),
    ] {
        let found = both.each_mut().map(|client| {
            let prepared = client.prepare(statement).expect("it is prepared");
            let answers = client.of_statement(Command::StmtBulkExecute, &prepared, &batch);
            let mut seen = shown(answers.expect("an answer"));
            for question in ["SELECT LAST_INSERT_ID()", "SELECT * FROM b"] {
                seen.push(format!("{question}: {:?}", client.table(question)));
            }
            seen
        });
        assert_eq!(found[0], found[1], "{statement}");
    }
}

#[test]
fn mysql_offers_no_batches() {
    let stage = Stage::of_mysql(Setup::default());
    let mut client = stage.proxy.client(&stage.login().with(BULK));
    assert!(!client.greeting.capabilities.intersects(CapabilityFlags::MARIADB));
    let prepared = client.prepare("INSERT INTO t VALUES (?, 'x')").expect("it is prepared");
    let batch = batch(TYPES, &[LONG], &[&[Int(9)]]);
    let answers = client.of_statement(Command::StmtBulkExecute, &prepared, &batch).expect("an answer");
    assert_eq!(answers[0].as_ref().expect_err("an error").code, 1047);
    assert_eq!(client.value("SELECT COUNT(*) FROM t"), "3");
}

#[test]
fn rows_that_a_batch_adds_are_seen_whatever_their_keys() {
    let stage = Stage::with(Setup::default().variable("mysql-query_cache_type", 1));
    let mut reader = stage.client();
    reader.ok("CREATE TABLE given (id INT PRIMARY KEY AUTO_INCREMENT, v INT)");
    let absent = ["SELECT v FROM given WHERE id = 2", "SELECT v FROM given WHERE id BETWEEN 2 AND 3"];
    for sql in absent {
        await_that("it is served from the cache", || {
            let before = stage.figure("Query_Cache_count_GET_OK");
            reader.ok(sql);
            stage.figure("Query_Cache_count_GET_OK") > before
        });
    }
    let mut writer = stage.proxy.client(&stage.login().with(BULK));
    let prepared = writer.prepare("INSERT INTO given (v) VALUES (?)").expect("it is prepared");
    let rows = batch(TYPES, &[LONG], &[&[Int(10)], &[Int(20)], &[Int(30)]]);
    let answers = writer.of_statement(Command::StmtBulkExecute, &prepared, &rows).expect("an answer");
    assert_eq!(answers[0].as_ref().expect("it is executed").affected_rows, 3);
    assert_eq!(absent.map(|sql| reader.ok(sql).rows.len()), [1, 2]);
}

#[test]
fn what_a_batch_writes_is_not_served_as_it_was_before() {
    let stage = Stage::with(Setup::default().variable("mysql-query_cache_type", 1));
    let mut reader = stage.client();
    let sql = "SELECT v FROM t WHERE id = 2";
    let hits = || stage.figure("Query_Cache_count_GET_OK");
    let is_hit = |reader: &mut Client| {
        let before = hits();
        reader.ok(sql);
        hits() > before
    };
    await_that("the table is known", || is_hit(&mut reader));
    let mut writer = stage.proxy.client(&stage.login().with(BULK));
    let prepared = writer.prepare("UPDATE t SET v = ? WHERE id = ?").expect("it is prepared");
    for text in ["x", "y"] {
        let rows = batch(TYPES, &[STRING, LONG], &[&[Text(text), Int(1)], &[Text(text), Int(2)]]);
        let answers = writer.of_statement(Command::StmtBulkExecute, &prepared, &rows).expect("an answer");
        assert_eq!(answers[0].as_ref().expect("it is executed").affected_rows, 2);
        assert_eq!(reader.value(sql), text);
        await_that("it is served again", || is_hit(&mut reader));
    }
    writer.ok("BEGIN");
    let rows = batch(TYPES, &[STRING, LONG], &[&[Text("z"), Int(2)]]);
    writer.of_statement(Command::StmtBulkExecute, &prepared, &rows).expect("an answer");
    assert_eq!((reader.value(sql), writer.value(sql)), ("y".to_owned(), "z".to_owned()));
    writer.ok("COMMIT");
    assert_eq!(reader.value(sql), "z");
}
