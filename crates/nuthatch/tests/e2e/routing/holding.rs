//! A hostgroup that is held, or has no server for now: statements wait, and go on when that is over.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::client::{Client, Login};
use crate::deadline::{Stopwatch, await_that, eventually};
use crate::proxy::Setup;
use crate::servers;
use crate::stage::{CACHE_ALL, Stage};

const HOLD: &str = "NUTHATCH HOLD HOSTGROUP 0";
const RELEASE: &str = "NUTHATCH RELEASE HOSTGROUP 0";

/// So long that no test waits for it.
const FOR_EVER: u32 = 600_000;

/// A stage whose hostgroups 0 and 1 are those of a replication pair.
fn pair(setup: Setup) -> Stage {
    let stage = Stage::with(setup);
    stage.administer([
        "INSERT INTO mysql_replication_hostgroups (writer_hostgroup, reader_hostgroup) VALUES (0, 1)",
        "LOAD MYSQL SERVERS TO RUNTIME",
    ]);
    stage
}

fn take_the_writer_out(stage: &Stage) {
    stage.administer(["DELETE FROM mysql_servers WHERE hostgroup_id = 0", "LOAD MYSQL SERVERS TO RUNTIME"]);
}

fn put_the_writer_back(stage: &Stage) {
    let port = servers::shared().primary().port();
    stage.administer([
        &format!("INSERT INTO mysql_servers (hostgroup_id, hostname, port) VALUES (0, '127.0.0.1', {port})"),
        "LOAD MYSQL SERVERS TO RUNTIME",
    ]);
}

/// A column of hostgroup 0's line.
fn line(stage: &Stage, column: &str) -> String {
    stage.proxy.operator().value(format!("SELECT {column} FROM stats_nuthatch_lines WHERE hostgroup = 0"))
}

fn await_waiting(stage: &Stage, count: usize) {
    await_that("so many wait", || line(stage, "waiting") == count.to_string());
}

/// Clients, each with a statement that it has sent; that of the first begins a transaction.
fn askers(stage: &Stage, count: usize) -> Vec<Client> {
    let mut clients: Vec<_> = (0..count).map(|_| stage.client()).collect();
    for (place, client) in clients.iter_mut().enumerate() {
        let statement = match place % 3 {
            0 if place == 0 => "BEGIN".to_owned(),
            0 => format!("INSERT INTO t VALUES ({}, 'waited')", 100 + place),
            1 => "SELECT v FROM t WHERE id = 1".to_owned(),
            _ => format!("DELETE FROM t WHERE id = {place} AND v = 'none'"),
        };
        client.send(3, statement.as_bytes()).expect("it is sent");
    }
    clients
}

#[test]
fn statements_wait_while_a_named_hostgroup_has_no_server_and_none_fails() {
    let stage = pair(Setup::default().variable("mysql-hold_for_writer_ms", FOR_EVER));
    let mut open = stage.client();
    open.ok("BEGIN");
    open.ok("INSERT INTO t VALUES (50, 'open')");
    take_the_writer_out(&stage);
    let mut clients = askers(&stage, 30);
    await_waiting(&stage, 30);
    assert!(line(&stage, "reason").ends_with("s: no server stands in it"), "{}", line(&stage, "reason"));
    assert_eq!(line(&stage, "held"), "0");
    assert_eq!(stage.figure("Hostgroups_Without_Server"), 1);
    assert_eq!(open.value("SELECT v FROM t WHERE id = 50"), "open", "who has a connection goes on");
    open.ok("COMMIT");
    let watch = Stopwatch::start();
    put_the_writer_back(&stage);
    for client in &mut clients {
        assert_eq!(client.read_answers().expect("none fails").len(), 1);
    }
    assert!(watch.elapsed() < Duration::from_secs(5), "{:?}", watch.elapsed());
    clients[0].ok("INSERT INTO t VALUES (100, 'waited')");
    clients[0].ok("COMMIT");
    assert_eq!(stage.primary().value("SELECT COUNT(*) FROM t WHERE v = 'waited'"), "10");
    assert_eq!((line(&stage, "waiting"), line(&stage, "waiting_bytes")), ("0".into(), "0".into()));
    assert_eq!((line(&stage, "waiting_max"), line(&stage, "reason")), ("30".into(), "NULL".into()));
    assert_eq!(stage.figure("max_connect_timeouts"), 0);
}

#[test]
fn server_that_comes_online_again_is_used_at_once() {
    let stage = pair(Setup::default().variable("mysql-hold_for_writer_ms", FOR_EVER));
    stage.administer([
        "UPDATE mysql_servers SET status = 'OFFLINE_SOFT' WHERE hostgroup_id = 0",
        "LOAD MYSQL SERVERS TO RUNTIME",
    ]);
    let mut clients = askers(&stage, 6);
    await_waiting(&stage, 6);
    assert!(line(&stage, "reason").ends_with("is OFFLINE_SOFT"), "{}", line(&stage, "reason"));
    stage.administer([
        "UPDATE mysql_servers SET status = 'ONLINE' WHERE hostgroup_id = 0",
        "LOAD MYSQL SERVERS TO RUNTIME",
    ]);
    clients.iter_mut().for_each(|client| drop(client.read_answers().expect("none fails")));
}

#[test]
fn who_waits_for_a_server_for_too_long_is_told_which_hostgroup_has_none_and_why() {
    let stage = pair(
        Setup::default()
            .variable("mysql-hold_for_writer_ms", 400)
            .variable("mysql-connect_timeout_server_max", FOR_EVER),
    );
    take_the_writer_out(&stage);
    let (mut first, mut second) = (stage.client(), stage.client());
    for client in [&mut first, &mut second] {
        client.send(3, b"SELECT v FROM t").expect("it is sent");
    }
    let watch = Stopwatch::start();
    for client in [&mut first, &mut second] {
        let error = client.read_answers().expect_err("no server comes").server();
        assert_eq!(error.code, 9001);
        assert!(
            error.message.starts_with("Max connect timeout reached while reaching hostgroup 0 after"),
            "{error:?}"
        );
        assert!(error.message.ends_with("s: no server stands in it"), "{error:?}");
    }
    assert!(watch.elapsed() < Duration::from_secs(5), "{:?}", watch.elapsed());
    put_the_writer_back(&stage);
    assert_eq!(second.value("SELECT v FROM t WHERE id = 2"), "two", "its session goes on");
}

#[test]
fn operator_holds_a_hostgroup_whose_server_is_online_and_releases_it() {
    let stage = Stage::with(Setup::default().variable("mysql-hold_for_writer_ms", FOR_EVER));
    let (mut open, mut pinned) = (stage.client(), stage.client());
    open.ok("BEGIN");
    open.ok("INSERT INTO t VALUES (50, 'open')");
    pinned.ok("CREATE TEMPORARY TABLE tmp (id INT)");
    // A connection lies idle.
    stage.client().ok("SELECT v FROM t");
    await_that("it does", || stage.pool("ConnFree", 0) == 1);
    stage.administer([HOLD]);
    let mut clients = askers(&stage, 12);
    await_waiting(&stage, 12);
    assert_eq!((stage.pool("ConnFree", 0), stage.figure("Hostgroups_Held")), (1, 1), "it is not lent");
    assert_eq!((line(&stage, "held"), line(&stage, "connections_used")), ("1".into(), "2".into()));
    assert_eq!(line(&stage, "connections_unfinished"), "2");
    assert_eq!(line(&stage, "hold_reason"), "an operator holds it (NUTHATCH HOLD)");
    assert_eq!(line(&stage, "pins"), "temporary_table=1,transaction=1");
    assert_eq!(open.value("SELECT v FROM t WHERE id = 50"), "open", "who has a connection goes on");
    open.ok("COMMIT");
    pinned.ok("INSERT INTO tmp VALUES (1)");
    open.send(3, b"SELECT v FROM t WHERE id = 50").expect("it is sent");
    await_waiting(&stage, 13);
    stage.administer([RELEASE]);
    clients.push(open);
    clients.iter_mut().for_each(|client| drop(client.read_answers().expect("none fails")));
    assert_eq!(stage.figure("Hostgroups_Held"), 0);
    let again = stage.proxy.operator().refused(RELEASE);
    assert!(again.message.contains("no operator holds hostgroup 0"), "{again:?}");
}

/// Sets it when it is dropped, also by a failure.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What a switchover rests on: once nothing is unfinished, nothing reaches the server until the release.
#[test]
fn nothing_is_written_while_it_is_held_once_nothing_is_unfinished_and_nothing_fails() {
    const CLIENTS: usize = 8;
    let stage = Stage::with(Setup::default().variable("mysql-hold_for_writer_ms", FOR_EVER));
    let mut direct = stage.primary();
    direct.ok("CREATE TABLE log (id INT AUTO_INCREMENT PRIMARY KEY, who INT)");
    let is_over = AtomicBool::new(false);
    let written = std::thread::scope(|scope| {
        let over = Over(&is_over);
        let writers: Vec<_> = (0..CLIENTS)
            .map(|who| {
                let mut client = stage.client();
                let is_over = &is_over;
                scope.spawn(move || {
                    let mut written = 0;
                    while !is_over.load(Ordering::Relaxed) {
                        if written % 3 == 0 {
                            client.ok("BEGIN");
                            client.ok(format!("INSERT INTO log (who) VALUES ({who})"));
                            client.ok("COMMIT");
                        } else {
                            client.ok(format!("INSERT INTO log (who) VALUES ({who})"));
                        }
                        written += 1;
                    }
                    written
                })
            })
            .collect();
        let mut before = 0;
        for _ in 0..20 {
            let count = "SELECT COUNT(*) FROM log";
            await_that("they write", || direct.value(count).parse::<u64>().unwrap() > before + 20);
            stage.administer([HOLD]);
            await_that("nothing is unfinished", || line(&stage, "connections_unfinished") == "0");
            let held = direct.value(count);
            await_waiting(&stage, CLIENTS);
            assert_eq!(direct.value(count), held);
            before = held.parse().unwrap();
            stage.administer([RELEASE]);
        }
        drop(over);
        writers.into_iter().map(|writer| writer.join().expect("none fails")).sum::<u64>()
    });
    assert_eq!(direct.value("SELECT COUNT(*) FROM log"), written.to_string());
}

#[test]
fn hold_of_an_operator_ends_by_itself_and_who_waits_longer_is_told_that_it_is_held() {
    let stage = Stage::with(Setup::default().variable("mysql-hold_for_writer_ms", 400));
    stage.administer(["NUTHATCH HOLD HOSTGROUP 0 MAX 3000"]);
    let mut client = stage.client();
    let error = client.refused("SELECT v FROM t");
    assert_eq!(error.code, 9001);
    assert!(error.message.contains("reaching hostgroup 0"), "{error:?}");
    assert!(
        error.message.ends_with("it has been held for 0 s: an operator holds it (NUTHATCH HOLD)"),
        "{error:?}"
    );
    await_that("it is over", || client.query("SELECT v FROM t").is_ok());
    assert!(stage.proxy.log().contains("the time of an operator's hold is over"));
}

#[test]
fn second_hold_of_an_operator_takes_the_place_of_the_first() {
    let stage = Stage::with(Setup::default().variable("mysql-hold_for_writer_ms", FOR_EVER));
    stage.administer(["NUTHATCH HOLD HOSTGROUP 0 MAX 1000", HOLD]);
    let mut clients = askers(&stage, 2);
    await_waiting(&stage, 2);
    std::thread::sleep(Duration::from_millis(1700));
    assert_eq!(line(&stage, "held"), "1", "it is for a minute now");
    stage.administer([RELEASE]);
    clients.iter_mut().for_each(|client| drop(client.read_answers().expect("none fails")));
}

#[test]
fn hits_are_served_while_the_hostgroup_is_held() {
    let stage = Stage::with(Setup::default().rule(CACHE_ALL).variable("mysql-hold_for_writer_ms", 300));
    let mut client = stage.client();
    client.ok("SELECT v FROM t WHERE id = 1");
    client.settle();
    stage.administer([HOLD]);
    assert_eq!(client.value("SELECT v FROM t WHERE id = 1"), "one");
    assert_eq!(client.refused("SELECT v FROM t WHERE id = 2").code, 9001);
}

#[test]
fn prepared_statements_schemas_and_fast_forward_wait_too() {
    let name = servers::fresh_name("fast");
    servers::primary(servers::shared()).ok(format!("CREATE USER '{name}'@'%' IDENTIFIED BY 'weak'"));
    let fast = Login::new(&name, "weak");
    let stage = Stage::with(
        Setup::default()
            .user(format!("username='{name}', password='weak', fast_forward=1"))
            .variable("mysql-hold_for_writer_ms", FOR_EVER),
    );
    let (mut executes, mut prepares, mut uses) = (stage.client(), stage.client(), stage.client());
    let prepared = executes.prepare("SELECT v FROM t WHERE id = 1").expect("it is prepared");
    executes.settle();
    let mut passes = stage.proxy.client(&fast);
    stage.administer([HOLD]);
    std::thread::scope(|scope| {
        let asked = [
            scope.spawn(|| executes.execute(&prepared, &[]).expect("it goes on").value()),
            scope.spawn(|| {
                prepares.prepare("SELECT v FROM t WHERE id = 3").expect("it goes on");
                "one".to_owned()
            }),
            scope.spawn(|| {
                uses.init_db("information_schema").expect("it goes on");
                "one".to_owned()
            }),
            scope.spawn(|| passes.value("SELECT 'one'")),
        ];
        await_waiting(&stage, 4);
        stage.administer([RELEASE]);
        asked.into_iter().for_each(|asked| assert_eq!(asked.join().expect("it is answered"), "one"));
    });
}

#[test]
fn who_waits_can_hang_up_and_be_killed_and_leaves_the_line() {
    let stage = Stage::with(Setup::default().variable("mysql-hold_for_writer_ms", FOR_EVER));
    stage.administer([HOLD]);
    let mut clients = askers(&stage, 5);
    await_waiting(&stage, 5);
    clients.pop().expect("there are five").vanish();
    await_waiting(&stage, 4);
    let mut killed = clients.pop().expect("there are four");
    stage.proxy.operator().ok(format!("KILL {}", killed.greeting.connection_id));
    assert!(killed.read_answers().is_err());
    await_waiting(&stage, 3);
    stage.administer([RELEASE]);
    clients.iter_mut().for_each(|client| drop(client.read_answers().expect("none fails")));
}

#[test]
fn server_may_go_and_come_while_the_hostgroup_is_held() {
    let stage = pair(Setup::default().variable("mysql-hold_for_writer_ms", FOR_EVER));
    stage.administer([HOLD]);
    let mut clients = askers(&stage, 5);
    await_waiting(&stage, 5);
    take_the_writer_out(&stage);
    assert!(line(&stage, "reason").starts_with("it has been held for"), "{}", line(&stage, "reason"));
    stage.administer([RELEASE]);
    await_that("a server is waited for", || line(&stage, "reason").ends_with("no server stands in it"));
    await_waiting(&stage, 5);
    put_the_writer_back(&stage);
    clients.iter_mut().for_each(|client| drop(client.read_answers().expect("none fails")));
}

#[test]
fn drain_waits_for_who_waits() {
    let mut stage = Stage::with(Setup::default().variable("mysql-hold_for_writer_ms", FOR_EVER));
    stage.administer(["NUTHATCH HOLD HOSTGROUP 0 MAX 2000"]);
    let mut client = stage.client();
    client.send(3, b"SELECT v FROM t WHERE id = 1").expect("it is sent");
    await_waiting(&stage, 1);
    stage.proxy.signal(rustix::process::Signal::TERM);
    let is_drained = std::thread::spawn(move || stage.proxy.await_exit());
    assert_eq!(client.read_answers().expect("the hold ends")[0].value(), "one");
    assert!(is_drained.join().expect("it ends").success());
}

#[test]
fn session_that_keeps_its_connection_by_configuration_only_waits_too() {
    let stage = Stage::with(
        Setup::default()
            .variable("mysql-hold_for_writer_ms", FOR_EVER)
            .variable("mysql-multiplexing", "false"),
    );
    let mut client = stage.client();
    client.ok("CREATE TABLE ids (id INT AUTO_INCREMENT PRIMARY KEY)");
    client.ok("INSERT INTO ids VALUES (NULL), (NULL)");
    client.settle();
    assert_eq!(line(&stage, "pins"), "multiplexing_off=1");
    stage.administer([HOLD]);
    client.send(3, b"INSERT INTO ids VALUES (7)").expect("it is sent");
    await_waiting(&stage, 1);
    assert_eq!(line(&stage, "connections_used"), "0");
    let mut silent = stage.client();
    silent.send(3, b"SELECT v FROM t").expect("it is sent");
    await_waiting(&stage, 2);
    stage.administer([RELEASE]);
    assert_eq!(client.read_answers().expect("it goes on").len(), 1);
    assert_eq!(client.value("SELECT LAST_INSERT_ID() + 0"), "1");
    assert_eq!(silent.read_answers().expect("it goes on").len(), 1);
    stage.administer([HOLD]);
    assert_eq!(line(&stage, "connections_used"), "2", "they are kept");
    assert_eq!(line(&stage, "connections_unfinished"), "0", "and nothing is on them");
    stage.administer([RELEASE]);
    client.ok("INSERT INTO ids VALUES (LAST_INSERT_ID(77))");
    client.settle();
    stage.administer([HOLD]);
    client.send(3, b"SELECT v FROM t").expect("it is sent");
    await_waiting(&stage, 1);
    stage.administer([RELEASE]);
    assert_eq!(client.read_answers().expect("it goes on").len(), 1);
    assert_eq!(client.value("SELECT LAST_INSERT_ID() + 0"), "77", "which its connection alone knew");
    client.settle();
    silent.ok("INSERT INTO ids VALUES (8), (9)");
    stage.administer([HOLD]);
    // What only its connection knows is asked there.
    assert_eq!(silent.value("SELECT ROW_COUNT() + 0"), "2");
    // MariaDB has it keep the warnings of the statement before: there are none.
    client.send(3, b"SET @v = (SELECT v FROM t WHERE id = 1)").expect("it is sent");
    await_waiting(&stage, 1);
    stage.administer([RELEASE]);
    assert_eq!(client.read_answers().expect("it goes on").len(), 1);
}

#[test]
fn hostgroup_that_is_taken_out_of_the_configuration_keeps_nobody_waiting() {
    let stage = Stage::with(Setup::default().variable("mysql-connect_timeout_server_max", FOR_EVER));
    stage.administer([
        "UPDATE mysql_servers SET max_connections = 1 WHERE hostgroup_id = 0",
        "LOAD MYSQL SERVERS TO RUNTIME",
    ]);
    let mut holder = stage.client();
    holder.ok("BEGIN");
    holder.ok("SELECT v FROM t");
    let mut clients: Vec<_> = (0..4).map(|_| stage.client()).collect();
    for client in &mut clients {
        client.send(3, b"SELECT v FROM t WHERE id = 1").expect("it is sent");
    }
    await_waiting(&stage, 4);
    take_the_writer_out(&stage);
    for client in &mut clients {
        let error = client.read_answers().expect_err("there is no server").server();
        assert!(
            error.code == 9001 && error.message.starts_with("No server stands in hostgroup 0"),
            "{error:?}"
        );
    }
    holder.ok("COMMIT");
    let rows = "SELECT COUNT(*) FROM stats_nuthatch_lines WHERE hostgroup = 0";
    assert_eq!(eventually("it is read", || Some(stage.proxy.operator().value(rows))), "0");
}
