//! A client that hangs up while its statement runs, or while it waits for a connection.

use std::io::Read;

use crate::client::Client;
use crate::deadline::await_that;
use crate::proxy::Setup;
use crate::stage::Stage;

const SLEEP: &str = "SELECT SLEEP(1000)";

/// How many of the test's statements sleep on the primary.
fn sleeping(stage: &Stage) -> u64 {
    let sql = format!(
        "SELECT COUNT(*) FROM information_schema.processlist WHERE db = '{}' AND info LIKE 'SELECT SLEEP(%'",
        stage.schema
    );
    stage.primary().value(sql).parse().expect("a number")
}

fn falls_asleep(stage: &Stage, client: &mut Client) {
    client.send(3, SLEEP.as_bytes()).expect("it is sent");
    await_that("the statement runs", || sleeping(stage) == 1);
}

#[test]
fn statement_of_a_client_that_hangs_up_is_killed_and_its_transaction_rolled_back() {
    let stage = Stage::plain();
    type Ending = fn(Client);
    let endings: [(&str, Ending); 2] = [("reset", Client::vanish), ("close", |client| drop(client))];
    for (killed, (name, end)) in (1..).zip(endings) {
        let mut client = stage.client();
        client.ok("BEGIN");
        client.ok("UPDATE t SET v = 'lost' WHERE id = 1");
        falls_asleep(&stage, &mut client);
        end(client);
        await_that("nothing sleeps", || sleeping(&stage) == 0);
        await_that("the kill is counted", || stage.figure("mysql_killed_backend_connections") == killed);
        let mut other = stage.client();
        assert_eq!(other.value("SELECT v FROM t WHERE id = 1 FOR UPDATE"), "one", "{name}: its lock is free");
        other.quit();
        stage.await_unpinned();
    }
    await_that("all clients are gone", || stage.figure("Client_Connections_connected") == 0);
}

#[test]
fn prepared_statement_of_a_client_that_hangs_up_is_killed() {
    let stage = Stage::plain();
    let mut client = stage.client();
    let statement = client.prepare(SLEEP).unwrap();
    client.send(0x17, &[&statement.id.to_le_bytes()[..], &[0, 1, 0, 0, 0]].concat()).unwrap();
    await_that("the statement runs", || sleeping(&stage) == 1);
    client.vanish();
    await_that("nothing sleeps", || sleeping(&stage) == 0);
    stage.await_unpinned();
}

#[test]
fn statement_of_a_session_that_an_operator_ends_is_killed() {
    let stage = Stage::plain();
    let mut client = stage.client();
    let id = client.value("SELECT CONNECTION_ID()");
    falls_asleep(&stage, &mut client);
    stage.administer([&format!("KILL CONNECTION {id}")]);
    await_that("nothing sleeps", || sleeping(&stage) == 0);
}

#[test]
fn statement_runs_on_without_its_client_where_that_is_configured() {
    let stage =
        Stage::with(Setup::default().variable("mysql-kill_backend_connection_when_disconnect", false));
    let mut client = stage.client();
    client.send(3, b"SELECT SLEEP(3)").unwrap();
    await_that("the statement runs", || sleeping(&stage) == 1);
    client.vanish();
    await_that("the session is gone", || stage.figure("Client_Connections_connected") == 0);
    assert_eq!(sleeping(&stage), 1, "the server goes on");
    assert_eq!(stage.figure("mysql_killed_backend_connections"), 0);
}

#[test]
fn server_full_of_abandoned_statements_is_cleared() {
    let stage = Stage::narrow(2, Setup::default());
    let mut clients = [stage.client(), stage.client()];
    for client in &mut clients {
        client.send(3, SLEEP.as_bytes()).unwrap();
    }
    await_that("both run", || sleeping(&stage) == 2);
    clients.into_iter().for_each(Client::vanish);
    assert_eq!(stage.client().value("SELECT 'served'"), "served");
    await_that("nothing sleeps", || sleeping(&stage) == 0);
}

#[test]
fn client_that_hangs_up_while_it_waits_for_a_connection_waits_no_longer() {
    let stage = Stage::narrow(1, Setup::default().variable("mysql-connect_timeout_server_max", 600_000));
    let (mut holder, mut waiter) = (stage.client(), stage.client());
    holder.ok("BEGIN");
    holder.ok("SELECT v FROM t");
    waiter.send(3, b"UPDATE t SET v = 'late'").unwrap();
    let waits = "SELECT COUNT(*) FROM stats_mysql_processlist WHERE info LIKE 'UPDATE%'";
    await_that("it waits", || stage.proxy.operator().value(waits) == "1");
    waiter.vanish();
    await_that("its session is gone", || stage.figure("Client_Connections_connected") == 1);
    holder.ok("COMMIT");
    assert_eq!(holder.value("SELECT v FROM t WHERE id = 1"), "one");
}

/// What is said in the middle of a row would be taken for its content.
#[test]
fn client_that_is_killed_in_the_middle_of_an_answer_is_told_nothing() {
    for row in ["", ", fast_forward=1"] {
        let stage = Stage::with_user(Setup::default(), row);
        let mut client = stage.client();
        client.ok("SELECT 1 FROM t");
        client.send(3, b"SELECT REPEAT('x', 12000000) FROM t").expect("it is sent");
        let mut begun = [0; 1000];
        client.socket().read_exact(&mut begun).expect("the answer has begun");
        stage.proxy.operator().ok(format!("KILL CONNECTION {}", client.greeting.connection_id));
        let mut answer = Vec::new();
        // Hung up on with what it did not take, or not.
        let _ended = client.socket().read_to_end(&mut answer);
        assert!(!answer.windows(10).any(|window| window == b"was killed"), "{row}");
        stage.await_unpinned();
    }
}
