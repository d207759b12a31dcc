//! Logins: who is refused, how it is told and logged, and that passwords appear nowhere.

use std::io::Write as _;

use nuthatch_wire::CapabilityFlags;

use crate::client::{Address, Client, Login};
use crate::deadline::{Stopwatch, await_that};
use crate::proxy::Setup;
use crate::servers;
use crate::stage::{Stage, metrics, user_row};

#[test]
fn wrong_password_and_unknown_user_are_told_alike() {
    let stage = Stage::plain();
    let user = stage.login().user;
    for (name, password, using) in
        [(user.as_str(), "wrong", "YES"), ("nobody", "wrong", "YES"), ("nobody", "", "NO"), (&user, "", "NO")]
    {
        let error = stage.proxy.try_client(&Login::new(name, password)).unwrap_err().server();
        assert_eq!((error.code, error.state.as_str()), (1045, "28000"));
        assert_eq!(
            error.message,
            format!("Access denied for user '{name}'@'127.0.0.1' (using password: {using})")
        );
    }
    assert_eq!(stage.figure("Access_Denied_Wrong_Password"), 4);
}

#[test]
fn refused_logins_are_logged_with_client_and_user_at_a_bounded_rate() {
    let stage = Stage::plain();
    let refused = |user: &str| drop(stage.proxy.try_client(&Login::new(user, "Tr0ub4dor")).unwrap_err());
    refused("mallory");
    let line = stage.proxy.log().lines().find(|line| line.contains("mallory")).unwrap().to_owned();
    assert!(line.contains("refused a login") && line.contains("127.0.0.1"), "{line}");
    let watch = Stopwatch::start();
    (0..300).for_each(|_| refused("mallory"));
    let lines = stage.proxy.log().lines().filter(|line| line.contains("refused a login")).count();
    let seconds = usize::try_from(watch.elapsed().as_secs()).unwrap() + 2;
    assert!(lines <= 20 * seconds, "{lines} lines in {seconds} s");
    assert!(lines < 300, "{lines}");
    assert_eq!(stage.figure("Access_Denied_Wrong_Password"), 301, "all are counted");
    assert!(!stage.proxy.log().contains("Tr0ub4dor"));
}

#[test]
fn passwords_appear_in_no_log_and_no_statistic() {
    let secret = "hunter2-very-secret";
    let name = servers::fresh_name("keeper");
    servers::primary(servers::shared()).ok(format!("CREATE USER '{name}'@'%' IDENTIFIED BY '{secret}'"));
    let login = Login::new(&name, secret);
    let stage = Stage::with(Setup::default().user(user_row(&login, "")).flags(["--log-level", "trace"]));
    let mut client = stage.proxy.client(&login);
    client.ok("SELECT 1");
    drop(stage.proxy.try_client(&Login::new(&name, "hunter2-wrong")));
    client.refused(format!("CREATE USER x IDENTIFIED BY '{secret}'"));
    client.refused(format!("SET PASSWORD = PASSWORD('{secret}'); nonsense"));
    stage.administer([
        &format!("UPDATE mysql_users SET password = '{secret}' WHERE username = '{name}'"),
        "LOAD MYSQL USERS TO RUNTIME",
    ]);
    let mut operator = stage.proxy.operator();
    let tables = operator.ok("SHOW TABLES FROM stats").column();
    assert!(tables.len() > 5);
    for table in tables {
        let rows = operator.table(format!("SELECT * FROM stats.{table}"));
        assert!(!format!("{rows:?}").contains(secret), "{table}");
    }
    assert!(!metrics(&mut operator).contains(secret));
    let log = stage.proxy.log();
    for line in log.lines() {
        assert!(!line.contains(secret) && !line.contains("hunter2-wrong"), "{line}");
    }
}

#[test]
fn hashed_passwords_let_in_and_reach_the_server() {
    let name = servers::fresh_name("hashed");
    let mut primary = servers::primary(servers::shared());
    primary.ok(format!("CREATE USER '{name}'@'%' IDENTIFIED BY 'pw'"));
    let hash = primary.value("SELECT PASSWORD('pw')");
    let stage = Stage::with(Setup::default().user(format!("username='{name}', password='{hash}'")));
    let mut client = stage.proxy.client(&Login::new(&name, "pw"));
    assert!(client.value("SELECT USER()").starts_with(&name));
    assert_eq!(stage.proxy.try_client(&Login::new(&name, "no")).unwrap_err().server().code, 1045);
    assert_eq!(stage.proxy.try_client(&Login::new(&name, "")).unwrap_err().server().code, 1045);
}

#[test]
fn password_from_the_environment_works() {
    let lab = servers::shared();
    let login = servers::account(lab);
    let variable = format!("NUTHATCH_PASSWORD_{}", login.user);
    let setup = crate::stage::before(Setup::default(), lab)
        .environment(&variable, &login.password)
        .flags(["--user", login.user.as_str()]);
    let proxy = crate::proxy::Proxy::start(&setup);
    assert_eq!(proxy.client(&login).value("SELECT 1"), "1");
}

#[test]
fn user_added_and_removed_at_run_time() {
    let stage = Stage::plain();
    let name = servers::fresh_name("late");
    servers::primary(servers::shared()).ok(format!("CREATE USER '{name}'@'%' IDENTIFIED BY 'pw'"));
    let login = Login::new(&name, "pw");
    assert_eq!(stage.proxy.try_client(&login).unwrap_err().server().code, 1045);
    stage.administer([
        &format!("INSERT INTO mysql_users (username, password) VALUES ('{name}', 'pw')"),
        "LOAD MYSQL USERS TO RUNTIME",
    ]);
    let mut client = stage.proxy.client(&login);
    assert_eq!(client.value("SELECT 1"), "1");
    stage.administer([
        &format!("DELETE FROM mysql_users WHERE username = '{name}'"),
        "LOAD MYSQL USERS TO RUNTIME",
    ]);
    assert_eq!(client.query("SELECT 1").unwrap_err().server().code, 1045);
    assert_eq!(stage.proxy.try_client(&login).unwrap_err().server().code, 1045);
}

#[test]
fn old_clients_without_plugin_auth_may_enter() {
    let stage = Stage::plain();
    let login = stage.login().without(
        CapabilityFlags::CLIENT_PLUGIN_AUTH
            | CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA
            | CapabilityFlags::CLIENT_DEPRECATE_EOF
            | CapabilityFlags::CLIENT_MULTI_STATEMENTS
            | CapabilityFlags::CLIENT_MULTI_RESULTS
            | CapabilityFlags::CLIENT_PS_MULTI_RESULTS,
    );
    let mut client: Client = stage.proxy.client(&login);
    assert_eq!(client.value("SELECT v FROM t WHERE id = 1"), "one");
}

#[test]
fn statement_with_a_password_is_not_shown_while_it_runs() {
    let stage = Stage::plain();
    let name = servers::fresh_name("shown");
    let mut client = stage.client();
    let text = format!("SELECT SLEEP(2); CREATE USER '{name}'@'%' IDENTIFIED BY 'open-sesame'");
    client.send(3, text.as_bytes()).unwrap();
    await_that("it runs", || {
        stage.proxy.operator().value("SELECT COUNT(*) FROM stats_mysql_processlist WHERE command = 'Query'")
            == "1"
    });
    let shown = stage.proxy.operator().table("SELECT * FROM stats_mysql_processlist");
    assert!(!format!("{shown:?}").contains("open-sesame"), "{shown:?}");
    client.read_answers().unwrap();
}

#[test]
fn client_behind_a_trusted_balancer_is_the_one_that_it_names() {
    let stage = Stage::with(Setup::default().variable("mysql-proxy_protocol_networks", "'127.0.0.0/8'"));
    let header = b"PROXY TCP4 192.0.2.7 198.51.100.1 5555 3306\r\n";
    let address = Address::Tcp(stage.proxy.mysql);
    for cut in [0, 3, 10, header.len()] {
        let mut client = Client::greeted(&address).unwrap();
        let login = client.login_packet(&stage.login());
        client.socket().write_all(&header[..cut]).unwrap();
        client.socket().write_all(&[&header[cut..], &login].concat()).unwrap();
        client.send_raw(&[], 2).unwrap();
        assert_eq!(client.read_packet().unwrap()[0], 0x00, "cut at {cut}");
        assert_eq!(client.value("SELECT 1"), "1");
        let rows = stage.proxy.operator().table("SELECT cli_host, cli_port FROM stats_mysql_processlist");
        assert_eq!(rows, [["192.0.2.7", "5555"]]);
        client.quit();
        await_that("it is gone", || stage.figure("Client_Connections_connected") == 0);
    }
    // Without a header the balancer's own address counts.
    let _direct = stage.client();
    let rows = stage.proxy.operator().table("SELECT cli_host FROM stats_mysql_processlist");
    assert_eq!(rows, [["127.0.0.1"]]);
}

#[test]
fn header_of_who_is_not_trusted_ends_the_connection() {
    let stage = Stage::plain();
    let mut client = Client::greeted(&Address::Tcp(stage.proxy.mysql)).unwrap();
    client.socket().write_all(b"PROXY TCP4 192.0.2.7 198.51.100.1 5555 3306\r\n").unwrap();
    assert!(client.is_closed_by_server());
}
