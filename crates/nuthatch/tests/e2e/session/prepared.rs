//! Prepared statements over the binary protocol, prepared on whichever connection a session gets.

use nuthatch_wire::{CapabilityFlags, Command};

use crate::client::{Client, Cursor, Login, Types, Value};
use crate::proxy::Setup;
use crate::servers;
use crate::stage::{CACHE_ALL, Stage};

fn both_forms(stage: &Stage) -> [Login; 2] {
    [stage.login(), stage.login().without(CapabilityFlags::CLIENT_DEPRECATE_EOF)]
}

fn text(text: &str) -> Value {
    Value::Text(text.as_bytes().to_vec())
}

#[test]
fn statement_is_executed_again_and_again() {
    let stage = Stage::plain();
    for login in both_forms(&stage) {
        let mut client = stage.proxy.client(&login);
        let statement = client.prepare("SELECT v, id FROM t WHERE id = ? OR v = ?").unwrap();
        assert_eq!((statement.parameters, statement.columns), (2, 2));
        for (id, v) in [(1, "one"), (2, "two"), (3, "three")] {
            let answer = client.execute(&statement, &[Value::Int(id), text(v)]).unwrap();
            assert_eq!(answer.table(), [[v.to_owned(), id.to_string()]]);
        }
        let none = client.execute(&statement, &[Value::Null, Value::Null]).unwrap();
        assert!(none.rows.is_empty());
        client.close(&statement);
        assert_eq!(client.value("SELECT 1"), "1");
        let error = client.execute(&statement, &[Value::Null, Value::Null]).unwrap_err().server();
        assert_eq!(error.code, 1243);
        client.quit();
    }
    stage.await_unpinned();
}

#[test]
fn locks_outlast_a_preparation_that_is_refused_under_them() {
    let stage = Stage::plain();
    stage.primary().ok("CREATE TABLE other (a INT)");
    let (mut client, mut holder) = (stage.client(), stage.client());
    // The server accepts both, so that they are sent ahead of statements from now on.
    for _ in 0..2 {
        holder.ok("SET NAMES latin1");
        client.ok("SELECT v FROM t");
        holder.ok("SELECT v FROM t");
    }
    let statement = client.prepare("UPDATE t SET v = ? WHERE id = 1").unwrap();
    holder.ok("BEGIN");
    holder.ok("SELECT v FROM t");
    client.ok("LOCK TABLES other WRITE");
    client.ok("SET NAMES latin1");
    let error = client.execute(&statement, &[text("x")]).unwrap_err().server();
    assert_eq!(error.code, 1100, "it is prepared there under the locks, and that is refused");
    assert_eq!(client.refused("SELECT v FROM t").code, 1100, "the locks are still there");
    client.ok("UNLOCK TABLES");
    client.execute(&statement, &[text("x")]).unwrap();
}

#[test]
fn types_sent_once_serve_later_executions() {
    let stage = Stage::plain();
    let mut client = stage.client();
    let statement = client.prepare("SELECT ? + 1, CONCAT(?, '!')").unwrap();
    let first = [Value::Int(1), text("a")];
    client.execute(&statement, &first).unwrap();
    let later =
        client.execute_as(&statement, &[Value::Int(41), text("b")], Types::LeftOut, Cursor::None).unwrap();
    assert_eq!(later.table(), [["42", "b!"]]);
}

#[test]
fn types_sent_before_a_transaction_serve_inside_it() {
    let stage = Stage::plain();
    let mut client = stage.client();
    let statement = client.prepare("UPDATE t SET v = ? WHERE id = ?").unwrap();
    client.execute(&statement, &[text("a"), Value::Int(1)]).unwrap();
    client.ok("BEGIN");
    let values = [text("b"), Value::Int(1)];
    let ok = client.execute_as(&statement, &values, Types::LeftOut, Cursor::None).unwrap();
    assert!(ok.in_transaction());
    assert_eq!(stage.primary().value("SELECT v FROM t WHERE id = 1"), "a");
    client.ok("COMMIT");
    assert_eq!(stage.primary().value("SELECT v FROM t WHERE id = 1"), "b");
}

#[test]
fn statement_prepared_before_begin_executes_inside_the_transaction() {
    let stage = Stage::plain();
    let mut client = stage.client();
    let update = client.prepare("UPDATE t SET v = 'inside' WHERE id = ?").unwrap();
    // Somebody else's transaction takes a connection in between.
    let mut other = stage.client();
    other.ok("BEGIN");
    other.ok("SELECT 1");
    client.ok("BEGIN");
    assert!(client.execute(&update, &[Value::Int(2)]).unwrap().in_transaction());
    assert_eq!(client.value("SELECT v FROM t WHERE id = 2"), "inside");
    client.ok("ROLLBACK");
    assert_eq!(stage.primary().value("SELECT v FROM t WHERE id = 2"), "two");
    other.ok("COMMIT");
}

#[test]
fn statement_runs_where_the_rules_send_it() {
    let rule = "rule_id=1, match_digest='^SELECT', destination_hostgroup=1, apply=1";
    let stage = Stage::with(Setup::default().rule(rule));
    stage.replica();
    let mut client = stage.client();
    let select = client.prepare("SELECT @@server_id + 0 * ?").unwrap();
    assert_eq!(client.execute(&select, &[Value::Int(1)]).unwrap().value(), "2", "the replica");
    client.ok("BEGIN");
    assert_eq!(client.execute(&select, &[Value::Int(1)]).unwrap().value(), "1", "the transaction's server");
    client.ok("COMMIT");
    assert_eq!(client.execute(&select, &[Value::Int(1)]).unwrap().value(), "2", "the replica again");
}

#[test]
fn long_data_is_put_together_and_forgotten_after_the_execution() {
    let stage = Stage::plain();
    let mut client = stage.client();
    let statement = client.prepare("SELECT LENGTH(?), ?").unwrap();
    let chunk = vec![b'x'; 700_000];
    (0..3).for_each(|_| client.send_long_data(&statement, 0, &chunk));
    client.send_long_data(&statement, 1, b"abc");
    client.send_long_data(&statement, 1, b"def");
    let answer = client.execute(&statement, &[Value::Long, Value::Long]).unwrap();
    assert_eq!(answer.table(), [["2100000", "abcdef"]]);
    let again = client.execute(&statement, &[text("ab"), text("c")]).unwrap();
    assert_eq!(again.table(), [["2", "c"]]);
}

#[test]
fn reset_drops_long_data() {
    let stage = Stage::plain();
    let mut client = stage.client();
    let statement = client.prepare("SELECT ?").unwrap();
    client.send_long_data(&statement, 0, b"dropped");
    client.reset_statement(&statement).unwrap();
    client.send_long_data(&statement, 0, b"kept");
    assert_eq!(client.execute(&statement, &[Value::Long]).unwrap().value(), "kept");
    let mut unknown = statement.clone();
    unknown.id = 999;
    assert_eq!(client.reset_statement(&unknown).unwrap_err().server().code, 1243);
}

#[test]
fn cursor_is_fetched_row_by_row() {
    let stage = Stage::plain();
    for login in both_forms(&stage) {
        let mut client = stage.proxy.client(&login);
        let statement = client.prepare("SELECT id FROM t ORDER BY id").unwrap();
        let opened = client.execute_as(&statement, &[], Types::Sent, Cursor::ReadOnly).unwrap();
        assert!(opened.rows.is_empty(), "rows come by fetching");
        assert_eq!(client.fetch(&statement, 2).unwrap().column(), ["1", "2"]);
        // Others work meanwhile, on other connections.
        assert_eq!(stage.client().value("SELECT 5"), "5");
        assert_eq!(client.fetch(&statement, 2).unwrap().column(), ["3"]);
        client.close(&statement);
        assert_eq!(client.value("SELECT 1"), "1");
        client.quit();
    }
    stage.await_unpinned();
}

#[test]
fn wrong_statement_is_the_servers_error() {
    let stage = Stage::plain();
    let mut client = stage.client();
    assert_eq!(client.prepare("SELECT * FROM nowhere").unwrap_err().server().code, 1146);
    assert_eq!(client.prepare("nonsense").unwrap_err().server().code, 1064);
    assert_eq!(client.table("SHOW WARNINGS")[0][1], "1064");
    let good = client.prepare("SELECT 7").unwrap();
    assert_eq!(client.execute(&good, &[]).unwrap().value(), "7");
}

#[test]
fn many_statements_of_many_sessions_do_not_mix() {
    let stage = Stage::plain();
    let mut clients: Vec<Client> = (0..5).map(|_| stage.client()).collect();
    let mut statements = Vec::new();
    for round in 0..10 {
        for (place, client) in clients.iter_mut().enumerate() {
            let number = place * 100 + round;
            statements.push((place, number, client.prepare(format!("SELECT {number}, ?")).unwrap()));
        }
    }
    for (place, number, statement) in statements.iter().rev() {
        let answer = clients[*place].execute(statement, &[text("x")]).unwrap();
        assert_eq!(answer.table(), [[number.to_string(), "x".to_owned()]]);
    }
}

#[test]
fn last_insert_id_and_warnings_after_an_execution() {
    let stage = Stage::plain();
    stage.primary().ok("CREATE TABLE c (id INT PRIMARY KEY AUTO_INCREMENT, a INT)");
    let (mut client, mut other) = (stage.client(), stage.client());
    let insert = client.prepare("INSERT INTO c (a) VALUES (?)").unwrap();
    let id = client.execute(&insert, &[Value::Int(1)]).unwrap().insert_id;
    other.ok("INSERT INTO c (a) VALUES (2)");
    assert_eq!(client.value("SELECT LAST_INSERT_ID()"), id.to_string());
    let warns = client.prepare("SELECT ? + 1").unwrap();
    assert_eq!(client.execute(&warns, &[text("a")]).unwrap().warnings, 1);
    assert_eq!(client.ok("SHOW WARNINGS").rows.len(), 1);
}

#[test]
fn text_statements_of_a_session_with_prepared_ones_still_use_the_cache() {
    let stage = Stage::with(Setup::default().rule(CACHE_ALL));
    let mut client = stage.client();
    client.prepare("SELECT ?").unwrap();
    (0..3).for_each(|_| drop(client.ok("SELECT v FROM t WHERE id = 1")));
    assert_eq!(stage.figure("Query_Cache_count_GET_OK"), 2);
}

#[test]
fn written_data_in_every_order_with_the_binary_protocol() {
    let stage = Stage::plain();
    let mut client = stage.client();
    let insert = client.prepare("INSERT INTO t VALUES (?, ?)").unwrap();
    for id in 100..150 {
        let value =
            if id % 7 == 0 { Value::Null } else { text(&"é".repeat(usize::try_from(id - 99).unwrap())) };
        assert_eq!(client.execute(&insert, &[Value::Int(id), value]).unwrap().affected_rows, 1);
    }
    let sum =
        stage.primary().value("SELECT CONCAT(COUNT(*), ',', SUM(CHAR_LENGTH(v))) FROM t WHERE id >= 100");
    let expected: i64 = (100..150).filter(|id| id % 7 != 0).map(|id| id - 99).sum();
    assert_eq!(sum, format!("50,{expected}"));
}

#[test]
fn prepared_statements_hold_no_connection_and_are_shared() {
    let stage = Stage::plain();
    let mut clients: Vec<Client> = (0..20).map(|_| stage.client()).collect();
    let statements: Vec<_> =
        clients.iter_mut().map(|client| client.prepare("SELECT v FROM t WHERE id = ?").unwrap()).collect();
    clients.iter_mut().for_each(Client::settle);
    stage.await_unpinned();
    let connections = stage.pool("ConnOK", 0);
    for round in 0..10 {
        for (client, statement) in clients.iter_mut().zip(&statements) {
            let id = round % 3 + 1;
            let answer = client.execute(statement, &[Value::Int(id)]).unwrap();
            assert_eq!(answer.value(), ["one", "two", "three"][usize::try_from(id - 1).unwrap()]);
        }
    }
    assert!(stage.pool("ConnOK", 0) <= connections.max(4), "no connection for each session");
}

#[test]
fn statement_belongs_to_the_schema_that_it_was_prepared_in() {
    let stage = Stage::plain();
    let other = servers::fresh_name("s");
    stage.primary().ok(format!("CREATE DATABASE {other}"));
    stage.primary().ok(format!("CREATE TABLE {other}.t SELECT 1 AS id, 'other' AS v"));
    let mut client = stage.client();
    let statement = client.prepare("SELECT v, DATABASE() FROM t WHERE id = 1").unwrap();
    client.ok(format!("USE {other}"));
    // On the connection where it was prepared, and on others.
    let mut busy = Vec::new();
    for round in 0..4 {
        let answer = client.execute(&statement, &[]).unwrap();
        assert_eq!(answer.table()[0][0], "one", "{round}");
        assert_eq!(client.value("SELECT v FROM t"), "other", "{round}");
        client.settle();
        let mut taker = stage.client();
        taker.ok("BEGIN");
        busy.push(taker);
    }
}

#[test]
fn answer_to_prepare_is_of_now() {
    let stage = Stage::plain();
    let (mut client, mut other) = (stage.client(), stage.client());
    client.ok("CREATE TABLE changing (a INT)");
    let first = client.prepare("SELECT * FROM changing").unwrap();
    assert_eq!(first.columns, 1);
    client.ok("ALTER TABLE changing ADD b INT");
    assert_eq!(other.prepare("SELECT * FROM changing").unwrap().columns, 2);
    assert_eq!(client.execute(&first, &[]).unwrap().columns.len(), 2);
    client.ok("DROP TABLE changing");
    assert_eq!(client.execute(&first, &[]).unwrap_err().server().code, 1146);
    assert_eq!(other.prepare("SELECT * FROM changing").unwrap_err().server().code, 1146);
    client.ok("CREATE TABLE changing (c INT)");
    assert_eq!(client.execute(&first, &[]).unwrap().columns.len(), 1);
}

#[test]
fn connection_keeps_no_more_statements_than_it_may() {
    let stage = Stage::with(Setup::default().variable("mysql-max_stmts_per_connection", 3));
    let mut client = stage.client();
    let statements: Vec<_> =
        (0..20).map(|number| client.prepare(format!("SELECT {number}, ?")).unwrap()).collect();
    for round in 0..3 {
        for (number, statement) in statements.iter().enumerate() {
            let answer = client.execute(statement, &[Value::Int(round)]).unwrap();
            assert_eq!(answer.table(), [[number.to_string(), round.to_string()]]);
        }
    }
    // A cursor's statement stays, whatever comes.
    let cursor = client.prepare("SELECT id FROM t ORDER BY id").unwrap();
    client.execute_as(&cursor, &[], Types::Sent, Cursor::ReadOnly).unwrap();
    assert_eq!(client.fetch(&cursor, 1).unwrap().column(), ["1"]);
    for statement in &statements {
        client.execute(statement, &[Value::Int(9)]).unwrap();
    }
    assert_eq!(client.fetch(&cursor, 1).unwrap().column(), ["2"]);
    client.reset_statement(&cursor).unwrap();
    assert_eq!(client.fetch(&cursor, 1).unwrap_err().server().code, 1421);
    client.settle();
    stage.await_unpinned();
}

#[test]
fn execution_whose_pooled_connection_has_died_runs_on_another() {
    let stage = Stage::plain();
    let mut client = stage.client();
    let select = client.prepare("SELECT v FROM t WHERE id = ?").unwrap();
    let update = client.prepare("UPDATE t SET v = CONCAT(v, '!') WHERE id = ?").unwrap();
    let mut primary = stage.primary();
    let mine = format!(
        "SELECT id FROM information_schema.processlist WHERE db = '{}' AND command = 'Sleep' AND id <> CONNECTION_ID()",
        stage.schema
    );
    for _ in 0..3 {
        client.settle();
        for id in primary.ok(&mine).column() {
            drop(primary.query(format!("KILL {id}")));
        }
        client.execute(&update, &[Value::Int(1)]).unwrap();
        client.execute(&select, &[Value::Int(1)]).unwrap();
    }
    assert_eq!(stage.primary().value("SELECT v FROM t WHERE id = 1"), "one!!!", "each update ran once");
}

#[test]
fn what_the_session_knows_is_told_to_prepared_statements_too() {
    let stage = Stage::plain();
    stage.primary().ok("CREATE TABLE c (id INT PRIMARY KEY AUTO_INCREMENT, a INT)");
    for login in both_forms(&stage) {
        let (mut client, mut other) = (stage.proxy.client(&login), stage.client());
        let questions = ["SELECT ROW_COUNT()", "SELECT LAST_INSERT_ID() AS id", "SELECT FOUND_ROWS()"]
            .map(|text| client.prepare(text).unwrap());
        let insert = client.prepare("INSERT INTO c (a) VALUES (?), (?)").unwrap();
        let id = client.execute(&insert, &[Value::Int(1), Value::Int(2)]).unwrap().insert_id;
        other.ok("INSERT INTO c (a) VALUES (9), (9), (9)");
        assert_eq!(client.execute(&questions[0], &[]).unwrap().value(), "2");
        assert_eq!(client.execute(&questions[0], &[]).unwrap().value(), "-1");
        assert_eq!(client.execute(&questions[1], &[]).unwrap().value(), id.to_string());
        client.ok("SELECT * FROM t");
        assert_eq!(client.execute(&questions[2], &[]).unwrap().value(), "3");
        client.command(Command::Ping as u8, &[]).unwrap();
        assert_eq!(client.execute(&questions[0], &[]).unwrap().value(), "0", "a ping affects no row");
    }
}

#[test]
fn number_from_before_a_reset_names_no_statement_of_after_it() {
    let stage = Stage::plain();
    let mut client = stage.client();
    let before = client.prepare("SELECT 1").expect("it is prepared");
    client.command(Command::ResetConnection as u8, &[]).expect("it is reset");
    let after = client.prepare("SELECT 2").expect("it is prepared");
    assert_ne!(before.id, after.id);
    let refused = client.execute(&before, &[]).unwrap_err().server();
    assert_eq!(refused.code, 1243);
    assert!(refused.message.ends_with("given to mysqld_stmt_execute"), "{}", refused.message);
    assert_eq!(client.execute(&after, &[]).expect("it runs").value(), "2");
}

#[test]
fn cursor_over_what_the_session_knows_is_fetched_from() {
    let stage = Stage::plain();
    let mut client = stage.client();
    client.ok("SELECT LAST_INSERT_ID(7)");
    let statement = client.prepare("SELECT LAST_INSERT_ID()").expect("it is prepared");
    let opened = client.execute_as(&statement, &[], Types::Sent, Cursor::ReadOnly).expect("it runs");
    assert!(opened.rows.is_empty());
    assert_eq!(client.fetch(&statement, 5).expect("there is a cursor").value(), "7");
    client.reset_statement(&statement).expect("it is reset");
    assert_eq!(client.value("SELECT ROW_COUNT()"), "0");
    client.prepare("SELEKT").unwrap_err();
    assert_eq!(client.value("SELECT ROW_COUNT()"), "-1");
}

#[test]
fn row_count_behind_a_prepare_is_the_servers() {
    let stage = Stage::plain();
    let address = servers::shared().primary().address().into();
    for login in both_forms(&stage) {
        let login = login.schema(&stage.schema);
        let direct = Client::connect(&address, &login).expect("the server takes the login");
        let seen = [direct, stage.proxy.client(&login)].map(|mut client| {
            ["UPDATE t SET v = CONCAT(v, 'x')", "SELECT 5", "DO 1"].map(|statement| {
                client.ok(statement);
                client.prepare("SELECT v FROM t WHERE id = ?").expect("it is prepared");
                client.value("SELECT ROW_COUNT()")
            })
        });
        assert_eq!(seen[0], seen[1]);
    }
}
