//! How connections are kept, opened and waited for.

use std::thread;
use std::time::Duration;

use nuthatch_lab::Role;

use crate::client::Client;
use crate::deadline::{Stopwatch, await_that};
use crate::proxy::{Proxy, Setup};
use crate::servers;
use crate::stage::{self, Stage};

fn set_server(stage: &Stage, what: &str) {
    let update = format!("UPDATE mysql_servers SET {what} WHERE hostgroup_id = 0");
    stage.administer([&update, "LOAD MYSQL SERVERS TO RUNTIME"]);
}

fn attributes(stage: &Stage, columns: &str, values: &str) {
    let insert =
        format!("INSERT INTO mysql_hostgroup_attributes (hostgroup_id, {columns}) VALUES (0, {values})");
    stage.administer([&insert, "LOAD MYSQL SERVERS TO RUNTIME"]);
}

#[test]
fn who_waits_for_a_connection_is_served_in_order() {
    const WAITERS: u64 = 12;
    let stage = Stage::plain();
    set_server(&stage, "max_connections = 1");
    stage.primary().ok("CREATE TABLE served (place INT AUTO_INCREMENT PRIMARY KEY, who INT)");
    for _ in 0..3 {
        let mut holder = stage.client();
        holder.ok("BEGIN");
        holder.ok("SELECT v FROM t");
        let mut waiters: Vec<Client> = Vec::new();
        for who in 0..WAITERS {
            let mut waiter = stage.client();
            waiter.send(3, format!("INSERT INTO served (who) VALUES ({who})").as_bytes()).unwrap();
            await_that("it stands in line", || stage.figure("Sessions_Waiting") == who + 1);
            waiters.push(waiter);
        }
        holder.ok("COMMIT");
        waiters.iter_mut().for_each(|waiter| drop(waiter.read_answers().unwrap()));
        let order = stage.primary().ok("SELECT who FROM served ORDER BY place").column();
        let expected: Vec<_> = (0..WAITERS).map(|who| who.to_string()).collect();
        assert_eq!(order, expected);
        stage.primary().ok("TRUNCATE TABLE served");
    }
    assert_eq!(stage.figure("Sessions_Waiting"), 0);
}

#[test]
fn connection_of_another_worker_is_taken_before_one_is_changed() {
    const LATIN1: u8 = 8;
    let stage = Stage::plain();
    let latin1 = || stage.proxy.client(&stage.login().collation(LATIN1));
    // The first and third are of one worker, the second and fourth of the other.
    let (mut first, mut second, mut third, mut fourth) = (latin1(), stage.client(), stage.client(), latin1());
    for client in [&mut first, &mut second] {
        client.ok("BEGIN");
        client.ok("SELECT v FROM t");
    }
    for client in [&mut first, &mut second] {
        client.ok("ROLLBACK");
        client.settle();
    }
    assert_eq!(stage.pool("ConnFree", 0), 2, "one of each character set");
    let before = stage.figure("Com_backend_set_names");
    for _ in 0..5 {
        for client in [&mut third, &mut fourth, &mut first, &mut second] {
            client.ok("SELECT v FROM t");
            client.settle();
        }
    }
    assert_eq!((stage.figure("Com_backend_set_names"), stage.pool("ConnFree", 0)), (before, 2));
}

#[test]
fn standstill_of_the_server_opens_few_connections_and_long_statements_get_theirs() {
    const CLIENTS: usize = 100;
    let lab = servers::own(0);
    let login = servers::account(&lab);
    let proxy = Proxy::start(&stage::before(Setup::default(), &lab).user(stage::user_row(&login, "")));
    let mut clients: Vec<Client> = (0..CLIENTS).map(|_| proxy.client(&login)).collect();
    let opened =
        || proxy.operator().value("SELECT ConnOK FROM stats_mysql_connection_pool").parse::<usize>().unwrap();
    clients[0].ok("SELECT 1");
    lab.freeze(Role::Primary).unwrap();
    clients.iter_mut().for_each(|client| client.send(3, b"SELECT 2").unwrap());
    thread::sleep(Duration::from_millis(200));
    lab.thaw(Role::Primary).unwrap();
    clients.iter_mut().for_each(|client| assert_eq!(client.read_answers().unwrap()[0].value(), "2"));
    let after_standstill = opened();
    assert!(after_standstill <= 30, "{after_standstill} connections");
    let watch = Stopwatch::start();
    clients.iter_mut().for_each(|client| client.send(3, b"SELECT SLEEP(2)").unwrap());
    clients.iter_mut().for_each(|client| assert_eq!(client.read_answers().unwrap()[0].value(), "0"));
    assert!(watch.elapsed() < Duration::from_millis(3800), "{:?}", watch.elapsed());
    assert!(opened() >= CLIENTS);
}

#[test]
fn storm_of_connections_waits_in_line() {
    let throttle = "mysql-throttle_connections_per_sec_to_hostgroup";
    let stage = Stage::with(Setup::default().variable(throttle, 20));
    let watch = Stopwatch::start();
    let hold = || {
        let mut client = stage.client();
        client.ok("BEGIN");
        client.ok("SELECT v FROM t");
        client
    };
    let clients: Vec<Client> = thread::scope(|scope| {
        let storm: Vec<_> = (0..20).map(|_| scope.spawn(hold)).collect();
        storm.into_iter().map(|client| client.join().expect("nobody is refused")).collect()
    });
    assert!(watch.elapsed() > Duration::from_millis(850), "{:?}", watch.elapsed());
    assert!(stage.figure("Server_Connections_delayed") > 0);
    assert_eq!((stage.pool("ConnERR", 0), stage.pool("MaxConnUsed", 0)), (0, 20));
    drop(clients);
    stage.await_unpinned();
    attributes(&stage, "throttle_connections_per_sec", "1000000");
    let watch = Stopwatch::start();
    let _clients: Vec<Client> = (0..30).map(|_| hold()).collect();
    assert!(watch.elapsed() < Duration::from_secs(5), "the hostgroup's own limit is in force");
}

#[test]
fn old_connections_are_closed() {
    let stage = Stage::with(Setup::default().variable("mysql-connection_max_age_ms", 300));
    let mut client = stage.client();
    client.ok("SELECT 1");
    // Or it may not be idle yet.
    client.settle();
    await_that("the idle one is closed", || stage.pool("ConnFree", 0) == 0);
    let opened = stage.pool("ConnOK", 0);
    client.ok("BEGIN");
    client.ok("SELECT SLEEP(0.4)");
    client.ok("COMMIT");
    client.settle();
    assert_eq!(stage.pool("ConnFree", 0), 0, "an old one is not put back");
    client.ok("SELECT 1");
    assert_eq!(stage.pool("ConnOK", 0), opened + 2);
}

#[test]
fn idle_connections_are_pinged_and_closed_if_they_do_not_answer() {
    let lab = servers::own(0);
    servers::primary(&lab).ok("SET GLOBAL wait_timeout = 3");
    let login = servers::account(&lab);
    let setup = Setup::default().variable("mysql-ping_interval_server_msec", 1000);
    let proxy = Proxy::start(&stage::before(setup, &lab).user(stage::user_row(&login, "")));
    let mut client = proxy.client(&login);
    let thread = "SELECT id FROM information_schema.processlist WHERE info LIKE 'SELECT id FROM%'";
    let before = client.value(thread);
    let watch = Stopwatch::start();
    await_that("the server's patience is over", || watch.elapsed() > Duration::from_secs(5));
    assert_eq!(client.value(thread), before, "pings have kept it");
    client.settle();
    lab.freeze(Role::Primary).unwrap();
    let free = "SELECT ConnFree FROM stats_mysql_connection_pool";
    await_that("it is closed", || proxy.operator().value(free) == "0");
    lab.thaw(Role::Primary).unwrap();
    assert_eq!(client.value("SELECT 1"), "1");
}

#[test]
fn connections_are_opened_ahead_of_need_up_to_the_share() {
    let stage = Stage::with(Setup::default().variable("mysql-connection_warming", true));
    set_server(&stage, "max_connections = 40");
    stage.client().ok("SELECT 1");
    await_that("a tenth is warm", || stage.pool("ConnFree", 0) == 4);
    attributes(&stage, "free_connections_pct, connection_warming", "30, 1");
    await_that("the hostgroup's own share is warm", || stage.pool("ConnFree", 0) == 12);
    let opened = stage.pool("ConnOK", 0);
    let mut clients: Vec<_> = (0..10).map(|_| stage.client()).collect();
    clients.iter_mut().for_each(|client| drop(client.ok("BEGIN")));
    clients.iter_mut().for_each(|client| drop(client.ok("SELECT v FROM t")));
    assert!(stage.pool("MaxConnUsed", 0) <= 40);
    drop(clients);
    assert!(stage.pool("ConnOK", 0) <= opened + 12, "the warm ones were used");
}

#[test]
fn warming_stays_within_the_servers_limit() {
    let stage = Stage::with(
        Setup::default()
            .variable("mysql-connection_warming", true)
            .variable("mysql-free_connections_pct", 100),
    );
    set_server(&stage, "max_connections = 6");
    let count = format!("SELECT COUNT(*) FROM information_schema.processlist WHERE db = '{}'", stage.schema);
    let mut watcher = servers::primary(servers::shared());
    let mut holders: Vec<_> = (0..3).map(|_| stage.client()).collect();
    holders.iter_mut().for_each(|holder| drop(holder.ok("BEGIN")));
    holders.iter_mut().for_each(|holder| drop(holder.ok("SELECT v FROM t")));
    await_that("the rest is warm", || {
        let there: u64 = watcher.value(&count).parse().unwrap();
        assert!(there <= 6, "{there}");
        stage.pool("ConnFree", 0) == 3
    });
}

#[test]
fn init_connect_is_sent_before_the_first_use_and_after_a_reset() {
    let statements = "SET SESSION group_concat_max_len = 77; SET NAMES latin1; SET @begun = 'yes;'";
    let stage = Stage::with(Setup::default().variable("mysql-init_connect", format!("\"{statements}\"")));
    let see = "SELECT CONCAT(@@group_concat_max_len, @begun, @@character_set_client)";
    for login in
        [stage.login(), stage.login().without(nuthatch_wire::CapabilityFlags::CLIENT_MULTI_STATEMENTS)]
    {
        let mut client = stage.proxy.client(&login);
        for _ in 0..2 {
            assert_eq!(client.value(see), "77yes;utf8mb4");
            client.ok("SELECT @own := 1");
            client.command(0x1F, &[]).unwrap();
            stage.await_unpinned();
        }
    }
    assert!(stage.figure("MyHGM_myconnpoll_reset") > 0);
    attributes(&stage, "init_connect", "'SET @begun = ''here'''");
    assert_eq!(stage.client().value("SELECT @begun"), "here");
}

#[test]
fn init_connect_that_fails_is_told_and_no_connection_is_used() {
    let stage = Stage::with(Setup::default().variable("mysql-init_connect", "'SET nonsense = 1'"));
    // The login asks a server for its schema.
    let error = stage.proxy.try_client(&stage.login()).expect_err("no connection is to be had").server();
    assert_eq!(error.code, 1193);
    assert!(error.message.starts_with("mysql-init_connect failed: "), "{error:?}");
    assert_eq!(stage.pool("ConnFree", 0), 0);
    assert!(stage.proxy.log().contains("mysql-init_connect failed"));
    stage.administer(["SET mysql-init_connect = ''", "LOAD MYSQL VARIABLES TO RUNTIME"]);
    assert_eq!(stage.client().value("SELECT 1"), "1");
}
