//! Connections have limits on both sides.

use std::thread;
use std::time::Duration;

use crate::client::Client;
use crate::deadline::{Stopwatch, await_that, eventually};
use crate::proxy::Setup;
use crate::servers;
use crate::stage::Stage;

#[test]
fn client_over_max_connections_gets_1040() {
    let stage = Stage::with(Setup::default().variable("mysql-max_connections", 3));
    let mut clients: Vec<Client> = (0..3).map(|_| stage.client()).collect();
    for _ in 0..2 {
        let error = stage.proxy.try_client(&stage.login()).unwrap_err().server();
        assert_eq!((error.code, error.message.as_str()), (1040, "Too many connections"));
    }
    assert_eq!(stage.figure("Access_Denied_Max_Connections"), 2);
    clients.pop().unwrap().quit();
    clients.push(eventually("there is room again", || stage.proxy.try_client(&stage.login()).ok()));
    assert!(clients.iter_mut().all(|client| client.value("SELECT 1") == "1"));
}

#[test]
fn client_over_its_users_max_connections_gets_1226() {
    let stage = Stage::with_user(Setup::default(), ", max_connections=2");
    let clients = [stage.client(), stage.client()];
    let error = stage.proxy.try_client(&stage.login()).unwrap_err().server();
    assert_eq!((error.code, error.state.as_str()), (1226, "42000"));
    assert!(error.message.contains(&stage.login().user), "{error:?}");
    assert_eq!(stage.figure("Access_Denied_Max_User_Connections"), 1);
    clients.into_iter().for_each(Client::quit);
    eventually("there is room again", || stage.proxy.try_client(&stage.login()).ok());
}

#[test]
fn refused_and_vanished_logins_do_not_use_up_the_users_limit() {
    let stage = Stage::with_user(
        Setup::default().variable("mysql-connect_timeout_client", 500),
        ", max_connections=2",
    );
    let address = stage.proxy.mysql.into();
    for _ in 0..10 {
        let mut wrong = stage.login();
        wrong.password.push('x');
        assert_eq!(stage.proxy.try_client(&wrong).unwrap_err().server().code, 1045);
        // Gone before the answer to its login.
        let mut hasty = Client::greeted(&address).unwrap();
        let packet = hasty.login_packet(&stage.login());
        hasty.send_raw(&packet, 2).unwrap();
        hasty.vanish();
    }
    await_that("they are gone", || stage.figure("Client_Connections_connected") == 0);
    let clients = [stage.client(), stage.client()];
    assert_eq!(stage.proxy.try_client(&stage.login()).unwrap_err().server().code, 1226);
    drop(clients);
}

#[test]
fn servers_max_connections_is_never_exceeded_and_the_rest_wait() {
    const LIMIT: u64 = 5;
    let stage = Stage::narrow(5, Setup::default());
    let mut watcher = servers::primary(servers::shared());
    let count = format!("SELECT COUNT(*) FROM information_schema.processlist WHERE db = '{}'", stage.schema);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..50)
            .map(|_| {
                scope.spawn(|| {
                    let mut client = stage.client();
                    (0..4).for_each(|_| assert_eq!(client.value("SELECT SLEEP(0.01)"), "0"));
                })
            })
            .collect();
        while workers.iter().any(|worker| !worker.is_finished()) {
            let connections: u64 = watcher.value(&count).parse().unwrap();
            assert!(connections <= LIMIT, "{connections}");
        }
    });
    assert!(stage.pool("MaxConnUsed", 0) <= LIMIT);
    assert!(stage.pool("MaxConnUsed", 0) > 1, "several at once");
    assert_eq!(stage.pool("ConnERR", 0), 0);
}

#[test]
fn waiting_statement_gets_the_connection_that_a_commit_frees() {
    let stage = Stage::narrow(1, Setup::default());
    let (mut holder, mut waiter) = (stage.client(), stage.client());
    holder.ok("BEGIN");
    holder.ok("SELECT v FROM t");
    waiter.send(3, b"SELECT 'waited'").unwrap();
    waiter.socket().give_up_after(Duration::from_millis(300)).unwrap();
    assert!(waiter.read_packet().is_err(), "it waits");
    waiter.socket().give_up_after(Duration::from_secs(20)).unwrap();
    holder.ok("COMMIT");
    assert_eq!(waiter.read_answers().unwrap()[0].value(), "waited");
}

#[test]
fn statement_that_waits_too_long_for_a_connection_is_error_9001() {
    let stage = Stage::narrow(1, Setup::default().variable("mysql-connect_timeout_server_max", 400));
    let (mut holder, mut waiter) = (stage.client(), stage.client());
    holder.ok("BEGIN");
    holder.ok("SELECT v FROM t");
    let watch = Stopwatch::start();
    assert_eq!(waiter.refused("SELECT 1").code, 9001);
    assert!(watch.elapsed() >= Duration::from_millis(400) && watch.elapsed() < Duration::from_secs(3));
    holder.ok("COMMIT");
    assert_eq!(waiter.value("SELECT 1"), "1");
}

#[test]
fn connection_of_another_user_gives_way_when_the_server_is_full() {
    let name = servers::fresh_name("second");
    servers::primary(servers::shared()).ok(format!("CREATE USER '{name}'@'%' IDENTIFIED BY 'weak'"));
    let stage = Stage::narrow(1, Setup::default().user(format!("username='{name}', password='weak'")));
    let mut first = stage.client();
    let mut second = stage.proxy.client(&crate::client::Login::new(&name, "weak"));
    for _ in 0..3 {
        assert!(first.value("SELECT USER()").starts_with(&stage.login().user));
        assert!(second.value("SELECT USER()").starts_with(&name));
    }
}
