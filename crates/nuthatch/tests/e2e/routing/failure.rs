//! Servers that die, come back, or hang up.

use std::time::Duration;

use nuthatch_lab::{Role, ScratchLab};

use super::WHO;
use crate::client::Login;
use crate::deadline::{Stopwatch, await_that};
use crate::proxy::{Proxy, Setup, free_addresses};
use crate::servers;
use crate::stage::{self, Stage, figure};

/// A proxy with all servers of the lab in hostgroup 0.
fn in_one_hostgroup(lab: &ScratchLab, setup: Setup) -> (Proxy, Login) {
    let login = servers::account(lab);
    let setup = lab.servers().fold(setup, |setup, server| {
        setup.server(format!("hostgroup_id=0, hostname='127.0.0.1', port={}", server.port()))
    });
    (Proxy::start(&setup.user(stage::user_row(&login, ""))), login)
}

fn status_of(proxy: &Proxy, port: u16) -> String {
    proxy.operator().value(format!("SELECT status FROM stats_mysql_connection_pool WHERE srv_port = {port}"))
}

#[test]
fn killed_server_is_passed_over_shunned_and_taken_back() {
    let mut lab = servers::own(1);
    let setup = Setup::default()
        .variable("mysql-shun_on_failures", 2)
        .variable("mysql-shun_recovery_time_sec", 1)
        .variable("mysql-connect_retries_delay", 1);
    let (proxy, login) = in_one_hostgroup(&lab, setup);
    let replica_port = lab.server(Role::Replica(1)).unwrap().port();
    let mut client = proxy.client(&login);
    await_that("both answer", || client.value(WHO) == "2");
    let mut running = proxy.client(&login);
    running.ok("BEGIN");
    while running.value(WHO) != "2" {
        running.ok("COMMIT");
        running.ok("BEGIN");
    }
    running.send(3, b"SELECT SLEEP(15)").unwrap();
    await_that("it runs", || {
        proxy.operator().value("SELECT COUNT(*) FROM stats_mysql_processlist WHERE info LIKE '%SLEEP%'")
            == "1"
    });
    lab.kill(Role::Replica(1)).unwrap();
    let error = running.read_answers().unwrap_err().server();
    assert_eq!((error.code, error.state.as_str()), (2013, "HY000"), "{error:?}");
    assert!(running.is_closed_by_server(), "with its transaction the session is over");
    let watch = Stopwatch::start();
    assert!((0..200).all(|_| client.value(WHO) == "1"), "no statement fails");
    assert!(watch.elapsed() < Duration::from_secs(10));
    await_that("it is shunned", || {
        client.ok(WHO);
        status_of(&proxy, replica_port) == "SHUNNED"
    });
    assert!(proxy.log().contains("shunned"), "the log tells");
    lab.start(Role::Replica(1)).unwrap();
    await_that("it is taken back", || client.value(WHO) == "2");
    assert_eq!(status_of(&proxy, replica_port), "ONLINE");
}

/// In which hostgroups a server is shunned that was shunned in both and can be reached in the first again.
fn shunned_after_the_first_works(algorithm: u8) -> Vec<String> {
    let mut lab = servers::own(0);
    let login = servers::account(&lab);
    let port = lab.server(Role::Primary).expect("a lab has a primary").port();
    let setup = Setup::default()
        .server(format!("hostgroup_id=0, hostname='127.0.0.1', port={port}"))
        .server(format!("hostgroup_id=1, hostname='127.0.0.1', port={port}"))
        .user(stage::user_row(&login, ""))
        .rule("rule_id=1, active=1, match_pattern='second', destination_hostgroup=1, apply=1")
        .variable("mysql-shun_on_failures", 1)
        .variable("mysql-shun_recovery_time_sec", 1)
        .variable("mysql-connect_timeout_server_max", 100)
        .variable("mysql-unshun_algorithm", algorithm);
    let proxy = Proxy::start(&setup);
    let (mut client, mut operator) = (proxy.client(&login), proxy.operator());
    let statuses = "SELECT status FROM stats_mysql_connection_pool ORDER BY hostgroup";
    lab.kill(Role::Primary).expect("it runs");
    operator.ok("SET mysql-shun_recovery_time_sec = 600");
    operator.ok("LOAD MYSQL VARIABLES TO RUNTIME");
    client.refused("SELECT 'second'");
    operator.ok("SET mysql-shun_recovery_time_sec = 1");
    operator.ok("LOAD MYSQL VARIABLES TO RUNTIME");
    client.refused("SELECT 'first'");
    assert_eq!(operator.table(statuses)[1], ["SHUNNED"]);
    lab.start(Role::Primary).expect("it comes up again");
    await_that("it can be reached", || client.query("SELECT 'first'").is_ok());
    operator.table(statuses).into_iter().flatten().collect()
}

#[test]
fn server_that_can_be_reached_in_one_hostgroup_is_taken_back_there_or_everywhere() {
    assert_eq!(shunned_after_the_first_works(0), ["ONLINE", "SHUNNED"]);
    assert_eq!(shunned_after_the_first_works(1), ["ONLINE", "ONLINE"]);
}

#[test]
fn replica_follows_through_the_proxy() {
    let lab = servers::own(1);
    let login = servers::account(&lab);
    let port = lab.server(Role::Primary).expect("a lab has a primary").port();
    let setup = Setup::default()
        .server(format!("hostgroup_id=0, hostname='127.0.0.1', port={port}"))
        .user(stage::user_row(&login, ""));
    let proxy = Proxy::start(&setup);
    let mut client = proxy.client(&login);
    let mut replica = servers::replica(&lab);
    replica.ok("STOP SLAVE");
    replica.ok(format!(
        "CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={}, MASTER_USER='{}', MASTER_PASSWORD='{}'",
        proxy.mysql.port(),
        login.user,
        login.password
    ));
    replica.ok("START SLAVE");
    client.ok("CREATE DATABASE followed");
    client.ok("CREATE TABLE followed.t (id INT PRIMARY KEY)");
    for id in 0..200 {
        client.ok(format!("INSERT INTO followed.t VALUES ({id})"));
    }
    await_that("it has all rows", || {
        replica.query("SELECT COUNT(*) FROM followed.t").is_ok_and(|answer| answer.value() == "200")
    });
    let dumps = "SELECT COUNT(*) FROM stats_mysql_processlist WHERE command = 'Binlog Dump' \
                 AND extended_info LIKE '%replication%'";
    assert_eq!(proxy.operator().value(dumps), "1");
    replica.ok("STOP SLAVE");
    await_that("its session ends with it", || proxy.operator().value(dumps) == "0");
    client.ok("INSERT INTO followed.t VALUES (1000)");
    replica.ok("START SLAVE");
    await_that("it goes on where it was", || {
        replica.value("SELECT COUNT(*) FROM followed.t WHERE id = 1000") == "1"
    });
}

#[test]
fn server_that_is_down_at_the_start_is_used_when_it_comes_up() {
    let mut lab = servers::own(0);
    lab.stop(Role::Primary).unwrap();
    let setup = Setup::default().variable("mysql-connect_timeout_server_max", 500);
    let (proxy, login) = in_one_hostgroup(&lab, setup);
    let mut client = proxy.client(&login);
    let watch = Stopwatch::start();
    let error = client.refused("SELECT 1");
    assert_eq!((error.code, error.state.as_str()), (9001, "HY000"));
    assert!(
        watch.elapsed() >= Duration::from_millis(500) && watch.elapsed() < Duration::from_secs(3),
        "{:?}",
        watch.elapsed()
    );
    lab.start(Role::Primary).unwrap();
    await_that("it is used", || client.query("SELECT 1").is_ok());
    let real = servers::primary(&lab).greeting.version;
    await_that("its greeting is learned", || proxy.client(&login).greeting.version == real);
}

#[test]
fn frozen_server_is_passed_over_after_its_connect_timeout() {
    let lab = servers::own(1);
    let setup = Setup::default()
        .variable("mysql-connect_timeout_server", 200)
        .variable("mysql-shun_on_failures", 1)
        .variable("mysql-shun_recovery_time_sec", 60);
    lab.freeze(Role::Replica(1)).unwrap();
    let (proxy, login) = in_one_hostgroup(&lab, setup);
    let mut client = proxy.client(&login);
    let watch = Stopwatch::start();
    assert!((0..100).all(|_| client.value(WHO) == "1"));
    assert!(watch.elapsed() < Duration::from_secs(5), "{:?}", watch.elapsed());
    lab.thaw(Role::Replica(1)).unwrap();
}

#[test]
fn pooled_connection_that_its_server_has_closed_is_noticed() {
    let stage = Stage::plain();
    let mut client = stage.client();
    let mut primary = stage.primary();
    for round in 0..5 {
        let thread = client.value("SELECT MAX(id) FROM information_schema.processlist WHERE id = (SELECT id FROM information_schema.processlist WHERE info LIKE '%processlist%' LIMIT 1)");
        client.settle();
        primary.ok(format!("KILL {thread}"));
        let gone = format!("SELECT COUNT(*) FROM information_schema.processlist WHERE id = {thread}");
        await_that("it is killed", || primary.value(&gone) == "0");
        let statement =
            if round % 2 == 0 { "UPDATE t SET v = CONCAT(v, '!') WHERE id = 1" } else { "SELECT 1" };
        client.ok(statement);
    }
    assert_eq!(stage.primary().value("SELECT v FROM t WHERE id = 1"), "one!!!", "each update ran once");
}

#[test]
fn killed_transaction_ends_the_session() {
    let stage = Stage::plain();
    let mut client = stage.client();
    client.ok("BEGIN");
    client.ok("UPDATE t SET v = 'lost' WHERE id = 1");
    let thread = client.value("SELECT id FROM information_schema.processlist WHERE info LIKE 'SELECT id FROM information_schema%' AND db = DATABASE()");
    let mut primary = stage.primary();
    primary.ok(format!("KILL {thread}"));
    await_that("it is killed", || {
        primary.value(format!("SELECT COUNT(*) FROM information_schema.processlist WHERE id = {thread}"))
            == "0"
    });
    let mut failure = client.query("UPDATE t SET v = 'not alone' WHERE id = 2").unwrap_err();
    if !failure.is_closed() {
        // The statement was on its way before the proxy saw the server's end of the connection close.
        assert_eq!(failure.server().code, 2013);
        failure = client.query("UPDATE t SET v = 'not alone' WHERE id = 2").unwrap_err();
    }
    assert!(failure.is_closed(), "so that nothing is written outside the transaction: {failure:?}");
    assert_eq!(primary.ok("SELECT v FROM t ORDER BY id LIMIT 2").column(), ["one", "two"]);
}

#[test]
fn wrong_password_towards_the_server_is_told_and_does_not_shun() {
    let stage = Stage::with(Setup::default().user("username='stranger', password='no'"));
    let error = match stage.proxy.try_client(&Login::new("stranger", "no")) {
        Ok(mut client) => client.refused("SELECT 1"),
        Err(failure) => failure.server(),
    };
    assert_eq!(error.code, 1045);
    assert_eq!(stage.client().value("SELECT 1"), "1");
    let shunned = "SELECT COUNT(*) FROM stats_mysql_connection_pool WHERE status = 'SHUNNED'";
    assert_eq!(stage.proxy.operator().value(shunned), "0");
}

#[test]
fn no_server_left_is_error_9001_within_connect_timeout_server_max() {
    let [nobody] = free_addresses();
    let login = Login::new("app", "secret");
    let setup = Setup::default()
        .server(format!("hostgroup_id=0, hostname='127.0.0.1', port={}", nobody.port()))
        .user(stage::user_row(&login, ""))
        .variable("mysql-connect_timeout_server_max", 600);
    let proxy = Proxy::start(&setup);
    let mut client = proxy.client(&login);
    for _ in 0..2 {
        let watch = Stopwatch::start();
        let error = client.refused("SELECT 1");
        assert_eq!(error.code, 9001);
        assert!(
            error.message.starts_with("Max connect timeout reached while reaching hostgroup 0 after"),
            "{error:?}"
        );
        assert!(watch.elapsed() >= Duration::from_millis(600) && watch.elapsed() < Duration::from_secs(3));
    }
    assert_eq!(figure(&mut proxy.operator(), "max_connect_timeouts"), 2);
    client.command(0x0E, &[]).expect("a ping needs no server");
}
