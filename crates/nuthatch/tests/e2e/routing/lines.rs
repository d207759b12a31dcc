//! Lines of those who wait for connections: what they say, their limits, and that one holds up no other.

use std::time::Duration;

use nuthatch_lab::Role;

use crate::client::{Client, Login};
use crate::deadline::{Stopwatch, await_that};
use crate::proxy::{Proxy, Setup};
use crate::servers;
use crate::stage::{Stage, before, user_row};

/// A column of a hostgroup's line.
fn line(proxy: &Proxy, hostgroup: u32, column: &str) -> String {
    let sql = format!("SELECT {column} FROM stats_nuthatch_lines WHERE hostgroup = {hostgroup}");
    proxy.operator().value(sql)
}

fn send(client: &mut Client, statement: &str) {
    client.send(3, statement.as_bytes()).expect("it is sent");
}

#[test]
fn pool_that_is_exhausted_says_whose_connections_they_are_and_for_which_pins() {
    let name = servers::fresh_name("other");
    servers::primary(servers::shared()).ok(format!("CREATE USER '{name}'@'%' IDENTIFIED BY 'weak'"));
    let stage = Stage::narrow(
        3,
        Setup::default()
            .user(format!("username='{name}', password='weak'"))
            .variable("mysql-connect_timeout_server_max", 700),
    );
    let (mut open, mut temporary) = (stage.client(), stage.client());
    open.ok("BEGIN");
    open.ok("SELECT v FROM t");
    temporary.ok("CREATE TEMPORARY TABLE tmp (id INT)");
    let mut other = stage.proxy.client(&Login::new(&name, "weak"));
    other.ok("SELECT GET_LOCK('secret', 0)");
    let (mut first, mut second) = (stage.client(), stage.client());
    send(&mut first, "SELECT v FROM t WHERE id = 1");
    await_that("it waits", || line(&stage.proxy, 0, "waiting") == "1");
    send(&mut second, "SELECT v FROM t WHERE id = 2");
    let user = &stage.login().user;
    let words = format!(
        "all connections that its servers may have are in use (mysql_servers.max_connections), 3 of 3: 0 at work, \
         1 by get_lock, 1 by temporary_table, 1 in transactions; of {user} (2), {name} (1); "
    );
    await_that("both wait", || line(&stage.proxy, 0, "waiting") == "2");
    assert_eq!(line(&stage.proxy, 0, "reason"), format!("{words}2 wait in line"));
    assert_eq!(line(&stage.proxy, 0, "pins"), "get_lock=1,temporary_table=1,transaction=1");
    let used = (line(&stage.proxy, 0, "connections_used"), line(&stage.proxy, 0, "connections_max"));
    assert_eq!(used, ("3".into(), "3".into()));
    for client in [&mut first, &mut second] {
        let error = client.read_answers().expect_err("nobody lets go").server();
        assert!(error.code == 9001 && error.message.contains(&words), "{error:?}");
        assert!(error.message.len() < 512 && !error.message.contains("secret"), "{error:?}");
    }
    open.ok("COMMIT");
    assert_eq!(first.value("SELECT v FROM t WHERE id = 1"), "one");
    await_that("nothing is at work", || line(&stage.proxy, 0, "pins") == "get_lock=1,temporary_table=1");
}

#[test]
fn line_that_is_full_refuses_at_once_and_says_so() {
    let stage = Stage::narrow(
        1,
        Setup::default()
            .variable("mysql-connect_timeout_server_max", 600_000)
            .variable("mysql-line_max_statements", 2),
    );
    let (mut holder, mut refused) = (stage.client(), stage.client());
    holder.ok("BEGIN");
    holder.ok("SELECT v FROM t");
    let mut waiters = [stage.client(), stage.client()];
    for (place, waiter) in waiters.iter_mut().enumerate() {
        send(waiter, "SELECT v FROM t WHERE id = 1");
        await_that("it waits", || line(&stage.proxy, 0, "waiting") == (place + 1).to_string());
    }
    let watch = Stopwatch::start();
    let error = refused.refused("SELECT v FROM t WHERE id = 2");
    assert!(watch.elapsed() < Duration::from_secs(5), "{:?}", watch.elapsed());
    let words = "Hostgroup 0 takes no more statements: 2 statements wait in its line, and \
                 mysql-line_max_statements allows no more; all connections";
    assert!(error.code == 9001 && error.message.starts_with(words), "{error:?}");
    refused.init_db("information_schema").expect_err("this would wait too");
    assert_eq!(stage.figure("Line_Refused"), 2);
    assert_eq!((stage.figure("Line_Longest"), stage.figure("Line_Longest_limit")), (2, 2));
    // A LOAD makes room.
    stage.administer(["SET mysql-line_max_statements = 0", "LOAD MYSQL VARIABLES TO RUNTIME"]);
    send(&mut refused, "SELECT v FROM t WHERE id = 2");
    await_that("it waits", || line(&stage.proxy, 0, "waiting") == "3");
    holder.ok("COMMIT");
    assert!(waiters.iter_mut().all(|waiter| waiter.read_answers().expect("none fails")[0].value() == "one"));
    assert_eq!(refused.read_answers().expect("it does not fail")[0].value(), "two");
}

#[test]
fn bytes_that_wait_have_a_limit_and_a_single_statement_has_none() {
    let stage = Stage::narrow(
        1,
        Setup::default()
            .variable("mysql-connect_timeout_server_max", 600_000)
            .variable("mysql-line_max_bytes", 1000),
    );
    let (mut holder, mut long, mut other) = (stage.client(), stage.client(), stage.client());
    holder.ok("BEGIN");
    holder.ok("SELECT v FROM t");
    let statement = format!("SELECT '{}'", "x".repeat(2000));
    send(&mut long, &statement);
    await_that("it waits", || line(&stage.proxy, 0, "waiting_bytes") == (statement.len() + 1).to_string());
    assert_eq!(stage.figure("Line_Bytes"), statement.len() as u64 + 1);
    let error = other.refused("SELECT v FROM t WHERE id = 2");
    assert!(error.code == 9001 && error.message.contains("mysql-line_max_bytes allows 1000"), "{error:?}");
    holder.ok("COMMIT");
    assert_eq!(long.read_answers().expect("it has its turn").len(), 1);
    assert_eq!(line(&stage.proxy, 0, "waiting_bytes"), "0");
}

/// A proxy with a single worker before a primary (hostgroup 0) and a replica on the same host (hostgroup 1), and as whom to log in.
fn on_one_worker(lab: &nuthatch_lab::ScratchLab, setup: Setup) -> (Proxy, Login) {
    let login = servers::account(lab);
    let setup = before(setup, lab)
        .user(user_row(&login, ""))
        .rule("rule_id=1, match_pattern='replica', destination_hostgroup=1, apply=1")
        .flags(["--workers", "1"]);
    (Proxy::start(&setup), login)
}

/// The longest that the replica's hostgroup takes for one of many statements, half of them from new clients.
fn longest_elsewhere(proxy: &Proxy, login: &Login) -> Duration {
    let mut client = proxy.client(login);
    let mut longest = Duration::ZERO;
    for round in 0..40 {
        let watch = Stopwatch::start();
        if round % 2 == 0 {
            client = proxy.client(login);
        }
        assert_eq!(client.value("SELECT 'replica'"), "replica");
        longest = longest.max(watch.elapsed());
    }
    longest
}

#[test]
fn full_server_holds_up_no_other_hostgroup_on_the_same_worker() {
    let lab = servers::own(1);
    let (proxy, login) =
        on_one_worker(&lab, Setup::default().variable("mysql-connect_timeout_server_max", 600_000));
    proxy.operator().ok("UPDATE mysql_servers SET max_connections = 1 WHERE hostgroup_id = 0");
    proxy.operator().ok("LOAD MYSQL SERVERS TO RUNTIME");
    let mut holder = proxy.client(&login);
    holder.ok("BEGIN");
    holder.ok("SELECT COUNT(*) FROM mysql.user");
    let mut waiters: Vec<_> = (0..100).map(|_| proxy.client(&login)).collect();
    waiters.iter_mut().for_each(|waiter| send(waiter, "SELECT 'waited'"));
    await_that("they wait", || line(&proxy, 0, "waiting") == "100");
    let longest = longest_elsewhere(&proxy, &login);
    assert!(longest < Duration::from_secs(1), "{longest:?}");
    assert_eq!(line(&proxy, 0, "waiting"), "100");
    holder.ok("COMMIT");
    waiters.iter_mut().for_each(|waiter| drop(waiter.read_answers().expect("none fails")));
}

#[test]
fn server_that_hangs_holds_up_no_other_hostgroup_on_the_same_host_and_worker() {
    let lab = servers::own(1);
    let (proxy, login) =
        on_one_worker(&lab, Setup::default().variable("mysql-connect_timeout_server_max", 600_000));
    let mut known = proxy.client(&login);
    known.ok("SELECT 'known'");
    known.settle();
    lab.freeze(Role::Primary).expect("it runs");
    // One over the connection that is there, the others over new ones, whose logins are not answered.
    let mut waiters: Vec<_> = (0..20).map(|_| proxy.client(&login)).collect();
    waiters.iter_mut().for_each(|waiter| send(waiter, "SELECT 'waited'"));
    await_that("they wait", || {
        proxy.operator().value("SELECT COUNT(*) FROM stats_mysql_processlist WHERE command = 'Query'") == "20"
    });
    let longest = longest_elsewhere(&proxy, &login);
    assert!(longest < Duration::from_secs(1), "{longest:?}");
    lab.thaw(Role::Primary).expect("it is frozen");
    waiters.iter_mut().for_each(|waiter| drop(waiter.read_answers().expect("none fails")));
}

#[test]
fn held_hostgroup_holds_up_no_other_on_the_same_worker() {
    let lab = servers::own(1);
    let (proxy, login) = on_one_worker(&lab, Setup::default().variable("mysql-hold_for_writer_ms", 600_000));
    proxy.operator().ok("NUTHATCH HOLD HOSTGROUP 0");
    let mut waiters: Vec<_> = (0..100).map(|_| proxy.client(&login)).collect();
    waiters.iter_mut().for_each(|waiter| send(waiter, "SELECT 'waited'"));
    await_that("they wait", || line(&proxy, 0, "waiting") == "100");
    let longest = longest_elsewhere(&proxy, &login);
    assert!(longest < Duration::from_secs(1), "{longest:?}");
    proxy.operator().ok("NUTHATCH RELEASE HOSTGROUP 0");
    waiters.iter_mut().for_each(|waiter| drop(waiter.read_answers().expect("none fails")));
}
