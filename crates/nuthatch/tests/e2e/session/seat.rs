//! A statement that only reads or writes rows waits for its turn and for its server without a task: whatever comes meanwhile finds it.

use crate::client::Client;
use crate::deadline::await_that;
use crate::proxy::Setup;
use crate::stage::Stage;

const LATE: &str = "UPDATE t SET v = 'late' WHERE id = 1";

/// A stage, one past the proxy who has a row's lock, and a client whose statement waits for it.
struct Waiting {
    stage: Stage,
    blocker: Client,
    client: Client,
}

impl Waiting {
    fn new() -> Self {
        Self::with(|client| client.send(3, LATE.as_bytes()).expect("it is sent"))
    }

    fn with(send: impl FnOnce(&mut Client)) -> Self {
        let stage = Stage::plain();
        let (mut blocker, mut client) = (stage.primary(), stage.client());
        blocker.ok("BEGIN");
        blocker.ok("SELECT v FROM t WHERE id = 1 FOR UPDATE");
        // Now there is a connection that the statement can take at once.
        client.ok("SELECT v FROM t");
        send(&mut client);
        let mut waiting = Self { stage, blocker, client };
        await_that("it waits at the server", || waiting.at_the_server().len() == 1);
        waiting
    }

    /// The server's threads that work for the statement.
    fn at_the_server(&mut self) -> Vec<Vec<String>> {
        self.blocker.table(format!(
            "SELECT id FROM information_schema.processlist WHERE db = '{}' AND info LIKE 'UPDATE%'",
            self.stage.schema
        ))
    }

    /// Nothing of the statement is left, and it has done nothing.
    fn assert_undone(mut self) {
        await_that("nothing runs", || self.at_the_server().is_empty());
        self.blocker.ok("COMMIT");
        assert_eq!(self.stage.client().value("SELECT v FROM t WHERE id = 1 FOR UPDATE"), "one");
        self.stage.await_unpinned();
    }
}

#[test]
fn what_is_sent_ahead_is_answered_behind_it() {
    let Waiting { stage, mut blocker, mut client } = Waiting::new();
    client.send(3, b"SELECT v FROM t WHERE id = 1").unwrap();
    client.send(3, b"SELECT 'and', 'this'").unwrap();
    blocker.ok("COMMIT");
    assert_eq!(client.read_answers().unwrap().len(), 1);
    client.expect_next(1);
    assert_eq!(client.read_answers().unwrap()[0].value(), "late");
    client.expect_next(1);
    assert_eq!(client.read_answers().unwrap()[0].table(), [["and", "this"]]);
    assert_eq!(client.value("SELECT 'in step'"), "in step");
    assert_eq!(stage.figure("Client_Connections_connected"), 1);
}

#[test]
fn client_that_hangs_up_takes_it_along() {
    type Ending = fn(Client);
    let endings: [Ending; 2] = [Client::vanish, |client| drop(client)];
    for end in endings {
        let Waiting { stage, blocker, client } = Waiting::new();
        end(client);
        await_that("the kill is counted", || stage.figure("mysql_killed_backend_connections") == 1);
        let client = stage.client();
        Waiting { stage, blocker, client }.assert_undone();
    }
}

#[test]
fn client_that_hangs_up_takes_an_execution_along() {
    let Waiting { stage, blocker, client } = Waiting::with(|client| {
        let statement = client.prepare("UPDATE t SET v = 'late' WHERE id = 1").unwrap();
        client.ok("SELECT v FROM t WHERE id = 2");
        client.send(0x17, &[&statement.id.to_le_bytes()[..], &[0, 1, 0, 0, 0]].concat()).unwrap();
    });
    client.vanish();
    await_that("the kill is counted", || stage.figure("mysql_killed_backend_connections") == 1);
    let client = stage.client();
    Waiting { stage, blocker, client }.assert_undone();
}

#[test]
fn kill_query_ends_it_and_not_its_session() {
    let mut waiting = Waiting::new();
    let id = waiting.client.greeting.connection_id;
    waiting.stage.client().ok(format!("KILL QUERY {id}"));
    assert_eq!(waiting.client.read_answers().unwrap_err().server().code, 1317);
    assert_eq!(waiting.client.value("SELECT 'in step'"), "in step");
    waiting.assert_undone();
}

#[test]
fn kill_and_an_operator_end_its_session() {
    type Killer = fn(&Stage, u32);
    let killers: [Killer; 2] = [
        |stage, id| {
            stage.client().ok(format!("KILL {id}"));
        },
        |stage, id| stage.administer([&format!("KILL CONNECTION {id}")]),
    ];
    for kill in killers {
        let mut waiting = Waiting::new();
        kill(&waiting.stage, waiting.client.greeting.connection_id);
        assert!(waiting.client.read_answers().is_err());
        assert!(waiting.client.is_closed_by_server());
        waiting.assert_undone();
    }
}

#[test]
fn server_that_ends_its_thread_is_told_of_and_the_write_is_not_tried_again() {
    let mut waiting = Waiting::new();
    let thread = waiting.at_the_server().remove(0).remove(0);
    waiting.blocker.ok(format!("KILL CONNECTION {thread}"));
    let error = waiting.client.read_answers().unwrap_err().server();
    assert!([2013, 1927].contains(&error.code), "{error:?}");
    assert_eq!(waiting.client.value("SELECT 'goes on'"), "goes on");
    waiting.assert_undone();
}

#[test]
fn server_that_is_taken_offline_is_told_of() {
    let mut waiting = Waiting::new();
    waiting.stage.administer([
        "UPDATE mysql_servers SET status = 'OFFLINE_HARD' WHERE hostgroup_id = 0",
        "LOAD MYSQL SERVERS TO RUNTIME",
    ]);
    assert_eq!(waiting.client.read_answers().unwrap_err().server().code, 9004);
    waiting.stage.administer([
        "UPDATE mysql_servers SET status = 'ONLINE' WHERE hostgroup_id = 0",
        "LOAD MYSQL SERVERS TO RUNTIME",
    ]);
    assert_eq!(waiting.client.value("SELECT 'goes on'"), "goes on");
}

#[test]
fn drain_waits_for_it() {
    let Waiting { mut stage, mut blocker, mut client } = Waiting::new();
    stage.proxy.signal(rustix::process::Signal::TERM);
    let is_drained = std::thread::spawn(move || stage.proxy.await_exit());
    std::thread::sleep(std::time::Duration::from_millis(300));
    blocker.ok("COMMIT");
    assert_eq!(client.read_answers().unwrap().len(), 1, "it has its answer");
    assert!(client.is_closed_by_server());
    assert!(is_drained.join().unwrap().success());
}

/// A session with all that its server gives, one that looks for more, and behind that one whose statement stands in line.
fn in_line(patience_ms: u32) -> (Stage, Client, [Client; 2]) {
    let stage = Stage::with(Setup::default().variable("mysql-connect_timeout_server_max", patience_ms));
    stage.administer([
        "UPDATE mysql_servers SET max_connections = 1 WHERE hostgroup_id = 0",
        "LOAD MYSQL SERVERS TO RUNTIME",
    ]);
    let (mut holder, mut first, mut waiter) = (stage.client(), stage.client(), stage.client());
    holder.ok("BEGIN");
    holder.ok("SELECT v FROM t");
    first.send(3, b"SELECT v FROM t WHERE id = 1").expect("it is sent");
    let waiting = "SELECT COUNT(*) FROM stats_mysql_processlist WHERE info LIKE 'SELECT v FROM t WHERE%'";
    await_that("the first waits", || stage.proxy.operator().value(waiting) == "1");
    waiter.send(3, b"SELECT v FROM t WHERE id = 2").expect("it is sent");
    await_that("both wait", || stage.proxy.operator().value(waiting) == "2");
    (stage, holder, [first, waiter])
}

#[test]
fn turn_in_line_comes_when_a_connection_is_free() {
    let (_stage, mut holder, [_first, mut waiter]) = in_line(600_000);
    holder.ok("COMMIT");
    assert_eq!(waiter.read_answers().unwrap()[0].value(), "two");
}

#[test]
fn kill_ends_a_session_that_stands_in_line() {
    let (stage, mut holder, [_first, mut waiter]) = in_line(600_000);
    holder.ok(format!("KILL {}", waiter.greeting.connection_id));
    assert!(waiter.read_answers().is_err());
    await_that("it is gone", || stage.figure("Client_Connections_connected") == 2);
    holder.ok("COMMIT");
}

#[test]
fn who_hangs_up_in_line_leaves_it() {
    let (stage, mut holder, [_first, waiter]) = in_line(600_000);
    waiter.vanish();
    await_that("it is gone", || stage.figure("Client_Connections_connected") == 2);
    holder.ok("COMMIT");
    assert_eq!(holder.value("SELECT v FROM t WHERE id = 1"), "one");
}

#[test]
fn who_waits_in_line_in_vain_is_told_so_in_time() {
    let (_stage, mut holder, [_first, mut waiter]) = in_line(500);
    assert_eq!(waiter.read_answers().unwrap_err().server().code, 9001);
    holder.ok("COMMIT");
    assert_eq!(waiter.value("SELECT v FROM t WHERE id = 2"), "two");
}
