//! Sessions are spread over the workers before their first byte.

use crate::client::Client;
use crate::deadline::await_that;
use crate::proxy::Setup;
use crate::stage::Stage;

fn sessions(stage: &Stage) -> Vec<u64> {
    let mut operator = stage.proxy.operator();
    (0..4).map(|worker| crate::stage::figure(&mut operator, &format!("Worker_Sessions_{worker}"))).collect()
}

#[test]
fn eight_clients_on_four_workers_differ_by_at_most_one() {
    let stage = Stage::with(Setup::default().flags(["--workers", "4"]));
    let mut clients: Vec<Client> = (0..8).map(|_| stage.client()).collect();
    assert_eq!(sessions(&stage), [2, 2, 2, 2]);
    assert_eq!(stage.figure("MySQL_Thread_Workers"), 4);
    clients.drain(..3).for_each(Client::quit);
    await_that("they have left", || sessions(&stage).iter().sum::<u64>() == 5);
    clients.extend((0..4).map(|_| stage.client()));
    let now = sessions(&stage);
    assert!(now.iter().max().unwrap() - now.iter().min().unwrap() <= 1, "{now:?}");
    assert!(clients.iter_mut().all(|client| client.value("SELECT 1") == "1"));
}

#[test]
fn connections_that_say_nothing_count_too() {
    let stage = Stage::with(Setup::default().flags(["--workers", "4"]));
    let silent: Vec<Client> = (0..4).map(|_| Client::greeted(&stage.proxy.mysql.into()).unwrap()).collect();
    assert_eq!(sessions(&stage), [1, 1, 1, 1]);
    drop(silent);
    await_that("they are gone", || sessions(&stage) == [0, 0, 0, 0]);
}

#[test]
fn backend_connections_are_shared_between_workers() {
    let stage = Stage::with(Setup::default().flags(["--workers", "4"]));
    stage.administer(["UPDATE mysql_servers SET max_connections = 1", "LOAD MYSQL SERVERS TO RUNTIME"]);
    let mut clients: Vec<Client> = (0..8).map(|_| stage.client()).collect();
    for _ in 0..3 {
        assert!(clients.iter_mut().all(|client| client.value("SELECT 1") == "1"));
    }
    assert_eq!(stage.pool("MaxConnUsed", 0), 1);
}
