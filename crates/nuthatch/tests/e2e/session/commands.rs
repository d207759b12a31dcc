//! Commands besides COM_QUERY, and statements with several answers.

use std::time::Duration;

use nuthatch_wire::{CapabilityFlags, Command};

use crate::client::{Client, Login};
use crate::deadline::{Stopwatch, await_that};
use crate::servers;
use crate::stage::Stage;

#[test]
fn ping_is_answered_also_without_a_server() {
    let stage = Stage::plain();
    let mut client = stage.client();
    let asked = stage.backend_queries();
    let ok = client.command(Command::Ping as u8, &[]).unwrap();
    assert!(ok.autocommit() && !ok.in_transaction());
    assert_eq!(stage.backend_queries(), asked);
}

#[test]
fn ping_in_a_transaction_says_so() {
    let stage = Stage::plain();
    let mut client = stage.client();
    client.ok("BEGIN");
    assert!(client.command(Command::Ping as u8, &[]).unwrap().in_transaction());
}

#[test]
fn statistics_is_one_line_of_text() {
    let stage = Stage::plain();
    let mut client = stage.client();
    client.send(Command::Statistics as u8, &[]).unwrap();
    let line = String::from_utf8(client.read_packet().unwrap()).unwrap();
    for word in ["Uptime: ", "Threads: 1", "Questions: ", "Slow queries: ", "Queries per second avg: "] {
        assert!(line.contains(word), "{line}");
    }
    assert_eq!(client.value("SELECT 1"), "1");
}

#[test]
fn unknown_command_is_error_1047_and_the_session_goes_on() {
    let stage = Stage::plain();
    let mut client = stage.client();
    let commands = [0x00, 0x05, 0x06, 0x0B, 0x0F, 0x10, 0x13, 0x14, 0x1D, 0x55, 0xFB, 0xFF];
    for command in commands {
        let error = client.command(command, b"whatever").unwrap_err().server();
        assert_eq!((error.code, error.state.as_str()), (1047, "08S01"), "{command:#x}");
        assert_eq!(client.value("SELECT v FROM t WHERE id = 1"), "one", "{command:#x}");
    }
}

#[test]
fn refresh_is_the_servers_and_commits_as_there() {
    const TABLES: u8 = 4;
    let stage = Stage::plain();
    let mut client = stage.client();
    client.ok("BEGIN");
    client.ok("UPDATE t SET v = 'flushed' WHERE id = 1");
    let ok = client.command(Command::Refresh as u8, &[TABLES]).unwrap();
    assert!(!ok.in_transaction());
    stage.await_unpinned();
    assert_eq!(stage.primary().value("SELECT v FROM t WHERE id = 1"), "flushed");
    let pong = client.command(Command::Ping as u8, &[]).unwrap();
    assert!(!pong.in_transaction());
}

#[test]
fn command_without_a_byte_does_no_harm() {
    let stage = Stage::plain();
    let mut client = stage.client();
    client.send_raw(&[0, 0, 0, 0], 1).unwrap();
    match client.read_answers() {
        Err(failure) => assert!(failure.is_closed() || failure.server().code > 0),
        Ok(answers) => panic!("{answers:?}"),
    }
    assert_eq!(stage.client().value("SELECT 1"), "1");
}

#[test]
fn reset_connection_forgets_everything_but_the_schema() {
    let stage = Stage::plain();
    let mut client = stage.client();
    for statement in [
        "SET NAMES latin1",
        "SET autocommit=0",
        "SET @a = 5",
        "CREATE TEMPORARY TABLE own (a INT)",
        "UPDATE t SET v = 'lost' WHERE id = 1",
    ] {
        client.ok(statement);
    }
    let statement = client.prepare("SELECT ?").unwrap();
    let ok = client.command(Command::ResetConnection as u8, &[]).unwrap();
    assert!(ok.autocommit() && !ok.in_transaction());
    assert_eq!(client.value("SELECT DATABASE()"), stage.schema);
    assert_eq!(client.value("SELECT v FROM t WHERE id = 1"), "one", "the transaction was rolled back");
    assert_eq!(client.value("SELECT @@character_set_client"), "utf8mb4");
    assert_eq!(client.value("SELECT @a"), "NULL");
    assert_eq!(client.value("SELECT @@autocommit"), "1");
    assert_eq!(client.refused("SELECT * FROM own").code, 1146);
    let value = [crate::client::Value::Int(1)];
    assert_eq!(client.execute(&statement, &value).unwrap_err().server().code, 1243);
}

#[test]
fn field_list_is_the_servers() {
    let stage = Stage::plain();
    let mut client = stage.proxy.client(&stage.login().without(CapabilityFlags::CLIENT_DEPRECATE_EOF));
    client.send(Command::FieldList as u8, b"t\0").unwrap();
    let packets: Vec<_> = (0..3).map(|_| client.read_packet().unwrap()).collect();
    assert_eq!(packets[2].first(), Some(&0xFE), "two columns and an EOF");
    assert_eq!(client.value("SELECT 1"), "1");
    client.send(Command::FieldList as u8, b"nowhere\0").unwrap();
    assert_eq!(client.goodbye().code, 1146);
    assert_eq!(client.value("SELECT 1"), "1");
}

#[test]
fn several_statements_give_several_answers() {
    let stage = Stage::plain();
    let mut client = stage.client();
    let answers = client.query_all("SELECT 1; UPDATE t SET v = 'x'; SELECT v FROM t ORDER BY id").unwrap();
    assert_eq!(answers.len(), 3);
    assert_eq!((answers[0].value().as_str(), answers[1].affected_rows), ("1", 3));
    assert_eq!(answers[2].column(), ["x", "x", "x"]);
    assert_eq!(client.value("SELECT 2"), "2");
}

#[test]
fn error_among_several_statements_ends_them() {
    let stage = Stage::plain();
    let mut client = stage.client();
    let error =
        client.query_all("SELECT 1; SELECT * FROM nowhere; UPDATE t SET v = 'x'").unwrap_err().server();
    assert_eq!(error.code, 1146);
    assert_eq!(client.value("SELECT v FROM t WHERE id = 1"), "one");
}

#[test]
fn several_statements_without_the_capability_are_a_syntax_error() {
    let stage = Stage::plain();
    let mut client = stage.proxy.client(&stage.login().without(CapabilityFlags::CLIENT_MULTI_STATEMENTS));
    assert_eq!(client.refused("SELECT 1; SELECT 2").code, 1064);
    assert_eq!(stage.client().query_all("SELECT 1; SELECT 2").unwrap().len(), 2);
    assert_eq!(client.refused("SELECT 1; SELECT 2").code, 1064, "also on a pool that has the other kind");
}

#[test]
fn state_changed_among_several_statements_stays_with_the_session() {
    let stage = Stage::plain();
    let (mut client, mut other) = (stage.client(), stage.client());
    client.query_all("SET NAMES latin1; SET @a = 7; USE mysql; SELECT 1").unwrap();
    assert_eq!(
        other.value("SELECT CONCAT_WS(',', @@character_set_client, DATABASE())"),
        format!("utf8mb4,{}", stage.schema)
    );
    assert_eq!(
        client.value("SELECT CONCAT_WS(',', @@character_set_client, @a, DATABASE())"),
        "latin1,7,mysql"
    );
    client.quit();
    assert_eq!(
        stage.client().value("SELECT CONCAT_WS(',', @@character_set_client, DATABASE())"),
        format!("utf8mb4,{}", stage.schema)
    );
}

#[test]
fn transaction_begun_among_several_statements_is_known() {
    let stage = Stage::plain();
    let mut client = stage.client();
    let answers = client.query_all("BEGIN; UPDATE t SET v = 'x'").unwrap();
    assert!(answers[1].in_transaction());
    assert_eq!(stage.client().value("SELECT v FROM t WHERE id = 1"), "one");
    client.ok("COMMIT");
    assert_eq!(stage.client().value("SELECT v FROM t WHERE id = 1"), "x");
}

#[test]
fn call_gives_all_its_result_sets() {
    let stage = Stage::plain();
    stage.primary().ok("CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2, 3; UPDATE t SET v = 'p'; END");
    for login in [stage.login(), stage.login().without(CapabilityFlags::CLIENT_DEPRECATE_EOF)] {
        let mut client = stage.proxy.client(&login);
        let answers = client.query_all("CALL p()").unwrap();
        assert_eq!(answers.len(), 3);
        assert_eq!(answers[1].table(), [["2", "3"]]);
        assert!(answers[2].columns.is_empty(), "the OK at the end");
        assert_eq!(client.value("SELECT v FROM t WHERE id = 1"), "p");
    }
}

#[test]
fn statements_sent_before_the_answer_are_answered_in_order() {
    let stage = Stage::plain();
    let mut client = stage.client();
    let packet = |sql: &str| {
        let mut out = Vec::new();
        nuthatch_wire::append_packet(&mut out, &mut 0, &[b"\x03", sql.as_bytes()].concat());
        out
    };
    let all: Vec<u8> = (0..20).flat_map(|number| packet(&format!("SELECT {number}"))).collect();
    client.send_raw(&all, 1).unwrap();
    for number in 0..20 {
        assert_eq!(client.read_answers().unwrap()[0].value(), number.to_string());
        client.send_raw(&[], 1).unwrap();
    }
}

#[test]
fn several_statements_can_be_allowed_and_forbidden_later() {
    let stage = Stage::plain();
    let login = stage.login().without(CapabilityFlags::CLIENT_MULTI_STATEMENTS);
    let mut client = stage.proxy.client(&login);
    let set_option = |client: &mut Client, option: u8| {
        client.send(Command::SetOption as u8, &[option, 0]).unwrap();
        assert_eq!(client.read_packet().unwrap()[0], 0xFE, "an EOF packet");
    };
    assert_eq!(client.refused("SELECT 1; SELECT 2").code, 1064);
    set_option(&mut client, 0);
    assert_eq!(client.query_all("SELECT 1; SELECT 2").unwrap().len(), 2);
    // Also over a connection that is held.
    client.ok("BEGIN");
    set_option(&mut client, 1);
    assert_eq!(client.refused("SELECT 1; SELECT 2").code, 1064);
    set_option(&mut client, 0);
    assert_eq!(client.query_all("SELECT 1; COMMIT; SELECT 3").unwrap().len(), 3);
    let error = client.command(Command::SetOption as u8, &[7, 0]).unwrap_err().server();
    assert_eq!(error.code, 1047);
    assert_eq!(client.value("SELECT 'in step'"), "in step");
}

#[test]
fn what_only_administrators_may_do_is_refused_as_by_a_server() {
    let stage = Stage::plain();
    let mut client = stage.client();
    for command in [Command::Debug, Command::Shutdown] {
        let error = client.command(command as u8, &[]).unwrap_err().server();
        assert_eq!((error.code, error.state.as_str()), (1227, "42000"), "{command:?}");
    }
    assert_eq!(client.value("SELECT 'in step'"), "in step");
}

#[test]
fn another_user_begins_anew_over_the_same_connection() {
    let stage = Stage::plain();
    let second = servers::fresh_name("u");
    stage.primary().ok(format!("CREATE USER {second} IDENTIFIED BY 'other'"));
    stage.primary().ok(format!("GRANT ALL ON *.* TO {second}"));
    stage.administer([
        format!("INSERT INTO mysql_users (username, password) VALUES ('{second}', 'other')").as_str(),
        "LOAD MYSQL USERS TO RUNTIME",
    ]);
    let mut client = stage.client();
    client.ok("SET NAMES latin1");
    client.ok("SET @a = 1");
    client.ok("BEGIN");
    client.ok("UPDATE t SET v = 'lost' WHERE id = 1");
    client.change_user(&Login::new(&second, "other").schema(&stage.schema)).unwrap();
    assert_eq!(
        client.value("SELECT CONCAT_WS(',', SUBSTRING_INDEX(CURRENT_USER(), '@', 1), DATABASE(), @a, @@character_set_client)"),
        format!("{second},{},utf8mb4", stage.schema)
    );
    assert_eq!(client.value("SELECT v FROM t WHERE id = 1"), "one", "the transaction is rolled back");
    let users = "SELECT username, frontend_connections FROM stats_mysql_users WHERE frontend_connections > 0";
    assert_eq!(stage.proxy.operator().table(users), [[second.as_str(), "1"]]);
    let refused = client.change_user(&Login::new(&second, "wrong")).unwrap_err().server();
    assert_eq!((refused.code, refused.state.as_str()), (1045, "28000"));
    assert!(client.is_closed_by_server());
}

#[test]
fn kill_query_ends_the_statement_and_nothing_else() {
    let stage = Stage::plain();
    let (mut sleeper, mut killer, mut other) = (stage.client(), stage.client(), stage.client());
    let id = sleeper.greeting.connection_id;
    for round in 0..5 {
        let watch = Stopwatch::start();
        sleeper.send(3, b"SELECT SLEEP(20), 'slept'").unwrap();
        await_that("it runs", || {
            stage
                .proxy
                .operator()
                .value("SELECT COUNT(*) FROM stats_mysql_processlist WHERE info LIKE '%slept%'")
                == "1"
        });
        std::thread::sleep(Duration::from_millis(20));
        killer.ok(format!("KILL QUERY {id}"));
        match sleeper.read_answers() {
            // MariaDB lets SLEEP return 1, or ends the statement.
            Ok(answers) => assert_eq!(answers[0].table()[0][0], "1"),
            Err(failure) => assert_eq!(failure.server().code, 1317),
        }
        assert!(watch.elapsed() < Duration::from_secs(10), "round {round}");
        assert_eq!(sleeper.value("SELECT 'in step'"), "in step");
        assert_eq!(other.value("SELECT SLEEP(0.05)"), "0", "nobody else is hit");
    }
    killer.ok(format!("KILL QUERY {id}"));
    assert_eq!(sleeper.value("SELECT 'idle, so unharmed'"), "idle, so unharmed");
}

#[test]
fn kill_ends_a_session_of_the_own_user_and_no_other() {
    let stage = Stage::plain();
    let second = servers::fresh_name("u");
    stage.primary().ok(format!("CREATE USER {second} IDENTIFIED BY 'other'"));
    stage.administer([
        format!("INSERT INTO mysql_users (username, password) VALUES ('{second}', 'other')").as_str(),
        "LOAD MYSQL USERS TO RUNTIME",
    ]);
    let mut stranger = stage.proxy.client(&Login::new(&second, "other"));
    let (mut victim, mut killer) = (stage.client(), stage.client());
    victim.ok("BEGIN");
    victim.ok("UPDATE t SET v = 'lost' WHERE id = 1");
    let id = victim.greeting.connection_id;
    assert_eq!(stranger.refused(format!("KILL {id}")).code, 1095);
    assert_eq!(stranger.refused("KILL CONNECTION 4000000000").code, 1094);
    assert_eq!(stranger.refused("KILL USER root").code, 1235);
    assert_eq!(victim.value("SELECT v FROM t WHERE id = 1"), "lost");
    killer.ok(format!("KILL {id}"));
    assert!(victim.is_closed_by_server());
    await_that("its transaction is rolled back", || killer.value("SELECT v FROM t WHERE id = 1") == "one");

    let mut victim = stage.client();
    victim.send(3, b"SELECT SLEEP(20), 'again'").unwrap();
    await_that("it runs", || {
        stage.proxy.operator().value("SELECT COUNT(*) FROM stats_mysql_processlist WHERE info LIKE '%again%'")
            == "1"
    });
    let id = victim.greeting.connection_id.to_le_bytes();
    killer.command(Command::ProcessKill as u8, &id).unwrap();
    assert!(victim.is_closed_by_server());
    await_that("the server does not go on with it", || {
        stage.primary().value("SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE '%''again''%' AND info NOT LIKE '%processlist%'") == "0"
    });
}
