//! `wait_timeout` closes idle clients, and only those.

use crate::client::Client;
use crate::deadline::{Stopwatch, await_that};
use crate::proxy::Setup;
use crate::stage::{CACHE_ALL, Stage};

/// Clients whose last commands differ.
fn idle_in_every_way(stage: &Stage) -> Vec<Client> {
    let mut clients: Vec<Client> = (0..7).map(|_| stage.client()).collect();
    clients[1].ok("SELECT 1");
    clients[2].ok("SET autocommit=0");
    clients[3].prepare("SELECT ?").expect("it can be prepared");
    clients[4].ok("SELECT LAST_INSERT_ID()");
    clients[5].refused("nonsense");
    clients[6].ok("SELECT v FROM t WHERE id = 1");
    clients[6].settle();
    clients[6].ok("SELECT v FROM t WHERE id = 1");
    clients
}

#[test]
fn wait_timeout_closes_idle_clients_whatever_they_did_last() {
    let stage = Stage::with(Setup::default().rule(CACHE_ALL).variable("mysql-wait_timeout", 1000));
    let watch = Stopwatch::start();
    let mut clients = idle_in_every_way(&stage);
    for (place, client) in clients.iter_mut().enumerate() {
        assert!(client.is_closed_by_server(), "client {place} is still there");
    }
    assert!(watch.elapsed().as_millis() >= 1000, "not before its time");
    assert!(watch.elapsed().as_secs() < 8, "{:?}", watch.elapsed());
}

#[test]
fn wait_timeout_rolls_back_an_idle_transaction() {
    let stage = Stage::with(Setup::default().variable("mysql-wait_timeout", 1000));
    let mut client = stage.client();
    client.ok("BEGIN");
    client.ok("UPDATE t SET v = 'lost' WHERE id = 1");
    assert!(client.is_closed_by_server());
    await_that("the connection is free", || stage.pool("ConnUsed", 0) == 0);
    assert_eq!(stage.primary().value("SELECT v FROM t WHERE id = 1 FOR UPDATE"), "one");
}

#[test]
fn wait_timeout_spares_who_works() {
    let stage = Stage::with(Setup::default().variable("mysql-wait_timeout", 1000));
    let mut runs_long = stage.client();
    runs_long.send(3, b"SELECT SLEEP(2.5)").unwrap();
    let mut busy = stage.client();
    let mut idle = stage.client();
    let watch = Stopwatch::start();
    while watch.elapsed().as_millis() < 2500 {
        busy.ok("SELECT 1");
    }
    assert!(idle.is_closed_by_server());
    assert_eq!(runs_long.read_answers().unwrap()[0].value(), "0");
    busy.ok("SELECT 1");
}

#[test]
fn wait_timeout_0_closes_nobody() {
    let stage = Stage::with(Setup::default().variable("mysql-wait_timeout", 0));
    let mut client = stage.client();
    client.ok("SELECT 1");
    let uptime = stage.figure("ProxySQL_Uptime");
    await_that("a few rounds of the housekeeping", || stage.figure("ProxySQL_Uptime") >= uptime + 3);
    client.ok("SELECT 1");
}
