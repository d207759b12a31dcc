//! What the monitor finds, and what becomes of servers by it.

use std::net::SocketAddr;
use std::time::Duration;

use nuthatch_lab::{Role, ScratchLab};

use crate::client::{Client, Login};
use crate::deadline::{Stopwatch, await_that};
use crate::proxy::{Proxy, Setup};
use crate::routing::{WHO, relay};
use crate::servers;
use crate::stage::{self, Stage, figure, metrics};

const PINGS: &str = "SELECT COUNT(*) FROM monitor.mysql_server_ping_log";

/// Looks often, as this account.
fn watching(login: &Login) -> Setup {
    Setup::default()
        .variable("mysql-monitor_enabled", true)
        .account("monitor", &login.user, &login.password)
        .variable("mysql-monitor_connect_interval", 100)
        .variable("mysql-monitor_ping_interval", 100)
        .variable("mysql-monitor_replication_lag_interval", 100)
}

/// The same of a server that will be made to hang.
fn impatient(login: &Login) -> Setup {
    watching(login).variable("mysql-monitor_ping_timeout", 300)
}

/// How many statements each server of hostgroup 0 had, the slow one last.
fn statements(proxy: &Proxy, slow: SocketAddr) -> [u64; 2] {
    [("<>", slow.port()), ("=", slow.port())].map(|(is, port)| {
        let sql = format!(
            "SELECT Queries FROM stats_mysql_connection_pool WHERE hostgroup = 0 AND srv_port {is} {port}"
        );
        count(&mut proxy.operator(), &sql)
    })
}

/// The server by itself, and the same by a slow way and with nearly all weight.
#[test]
fn server_beyond_its_latency_is_passed_over_by_its_own_limit_or_the_default() {
    let lab = servers::own(0);
    let (login, port) = (servers::account(&lab), lab.primary().port());
    let slow = relay::slow(([127, 0, 0, 1], port).into(), Duration::from_millis(15));
    let user = format!("username='{}', password='{}', default_hostgroup=0", login.user, login.password);
    let setup = watching(&login)
        .variable("mysql-default_max_latency_ms", 10_000)
        .server(format!("hostgroup_id=0, hostname='127.0.0.1', port={port}"))
        .server(format!("hostgroup_id=0, hostname='127.0.0.1', port={}, weight=10000", slow.port()))
        .user(user);
    let proxy = Proxy::start(&setup);
    let (mut operator, mut client) = (proxy.operator(), proxy.client(&login));
    let is_known = "SELECT COUNT(*) FROM stats_mysql_connection_pool WHERE Latency_us > 25000";
    await_that("its pings are slow", || operator.value(is_known) == "1");
    let mut ask = |count| {
        let before = statements(&proxy, slow);
        (0..count).for_each(|_| drop(client.ok("SELECT 1")));
        let after = statements(&proxy, slow);
        [after[0] - before[0], after[1] - before[1]]
    };
    assert!(ask(20)[1] >= 18, "by weight");
    for (limit, lifted) in [
        (
            "UPDATE mysql_servers SET max_latency_ms = 20 WHERE weight = 10000",
            "UPDATE mysql_servers SET max_latency_ms = 5000 WHERE weight = 10000",
        ),
        ("SET mysql-default_max_latency_ms = 20", "SET mysql-default_max_latency_ms = 10000"),
    ] {
        let mut put = |what: &str| {
            operator.ok(what);
            operator.ok("LOAD MYSQL SERVERS TO RUNTIME");
            operator.ok("LOAD MYSQL VARIABLES TO RUNTIME");
        };
        put(limit);
        assert_eq!(ask(20), [20, 0], "{limit}");
        put(lifted);
        assert!(ask(20)[1] >= 18, "{lifted}");
        put("UPDATE mysql_servers SET max_latency_ms = 0");
    }
}

/// A proxy before the lab's primary, in two hostgroups.
fn before_primary(lab: &ScratchLab, setup: Setup) -> Proxy {
    let (login, port) = (servers::account(lab), lab.primary().port());
    let server = |hostgroup| format!("hostgroup_id={hostgroup}, hostname='127.0.0.1', port={port}");
    let user = format!("username='{}', password='{}', default_hostgroup=0", login.user, login.password);
    Proxy::start(&setup.server(server(0)).server(server(1)).user(user))
}

fn count(operator: &mut Client, sql: &str) -> u64 {
    operator.value(sql).parse().expect("a number")
}

fn statuses(proxy: &Proxy) -> Vec<String> {
    let rows = proxy.operator().table("SELECT status FROM stats_mysql_connection_pool ORDER BY hostgroup");
    rows.into_iter().flatten().collect()
}

#[test]
fn checks_are_logged_and_the_pool_shows_how_fast_pings_are() {
    let lab = servers::own(0);
    let proxy = before_primary(&lab, watching(&servers::account(&lab)));
    let mut operator = proxy.operator();
    await_that("pings are answered", || {
        count(&mut operator, &format!("{PINGS} WHERE ping_error IS NULL AND ping_success_time_us > 0")) > 3
    });
    let connects = "SELECT COUNT(*) FROM mysql_server_connect_log \
                    WHERE connect_error IS NULL AND connect_success_time_us > 0";
    await_that("logins work", || count(&mut operator, connects) > 0);
    let port = lab.primary().port().to_string();
    let row =
        "SELECT DISTINCT hostname, port, time_start_us > 1700000000000000 FROM monitor.mysql_server_ping_log";
    assert_eq!(
        operator.table(row),
        [["127.0.0.1", port.as_str(), "1"]],
        "one server, whatever its hostgroups"
    );
    let fast = "SELECT COUNT(*) FROM stats_mysql_connection_pool WHERE Latency_us BETWEEN 1 AND 999999";
    assert_eq!(operator.value(fast), "2");
    // What is older than the history goes.
    operator.ok("SET mysql-monitor_history = 1000");
    operator.ok("LOAD MYSQL VARIABLES TO RUNTIME");
    let old = "SELECT MAX(time_start_us) - MIN(time_start_us) > 1500000 FROM monitor.mysql_server_ping_log";
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(operator.value(old), "0");
    operator.ok("SET mysql-monitor_enabled = 'false'");
    operator.ok("LOAD MYSQL VARIABLES TO RUNTIME");
    let pings = operator.value(PINGS);
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(operator.value(PINGS), pings, "nobody is looked at any more");
}

#[test]
fn server_that_hangs_is_shunned_its_statements_end_and_it_comes_back() {
    let lab = servers::own(0);
    let login = servers::account(&lab);
    let proxy = before_primary(&lab, impatient(&login).variable("mysql-connect_timeout_server_max", 1500));
    let mut client = proxy.client(&login);
    client.ok("SELECT 1");
    await_that("it is pinged", || proxy.operator().value(PINGS) != "0");
    let mut running = proxy.client(&login);
    running.send(3, b"SELECT SLEEP(60)").expect("it is sent");
    let sleeps = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO = 'SELECT SLEEP(60)'";
    await_that("the server has it", || servers::primary(&lab).value(sleeps) == "1");
    client.settle();
    let watch = Stopwatch::start();
    lab.freeze(Role::Primary).expect("it runs");
    let error = running.read_answers().expect_err("it hangs").server();
    assert_eq!(error.code, 9004, "{error:?}");
    assert!(watch.elapsed().as_secs() < 10, "without the monitor nobody would know: {:?}", watch.elapsed());
    assert_eq!(statuses(&proxy), ["SHUNNED", "SHUNNED"], "in each hostgroup");
    let refused = client.refused("SELECT 1");
    assert_eq!(refused.code, 9001, "{refused:?}");
    let words = "failed pings in a row of the monitor: no answer within 300 ms";
    assert!(refused.message.contains(words), "{refused:?}");
    assert!(proxy.log().contains("does not answer pings"), "the log tells");
    lab.thaw(Role::Primary).expect("it is frozen");
    await_that("it is used again", || client.query("SELECT 1").is_ok());
    assert_eq!(statuses(&proxy), ["ONLINE", "ONLINE"]);
    let silent =
        format!("{PINGS} WHERE ping_error LIKE 'no answer within 300 ms' AND ping_success_time_us = 0");
    assert!(count(&mut proxy.operator(), &silent) >= 3);
}

/// What the proxy does on a connection before the statement is sent ends too: here it has the server forget a variable.
#[test]
fn connection_that_is_being_reset_for_a_statement_is_given_up_when_its_server_hangs() {
    let lab = servers::own(0);
    let login = servers::account(&lab);
    let proxy = before_primary(&lab, impatient(&login).variable("mysql-connect_timeout_server_max", 1500));
    let mut other = proxy.client(&login);
    other.ok("SET @a = 1");
    other.ok("SELECT @a");
    await_that("it is pinged", || count(&mut proxy.operator(), PINGS) > 0);
    let mut client = proxy.client(&login);
    other.settle();
    lab.freeze(Role::Primary).expect("it runs");
    let watch = Stopwatch::start();
    let error = client.refused("SELECT @a");
    assert_eq!(error.code, 9001, "{error:?}");
    assert!(watch.elapsed().as_secs() < 15, "{:?}", watch.elapsed());
    assert_eq!(figure(&mut proxy.operator(), "MyHGM_myconnpoll_reset"), 1, "it was being reset");
    lab.thaw(Role::Primary).expect("it is frozen");
    await_that("it is used again", || client.query("SELECT 1").is_ok());
}

/// A proxy before both servers of the lab in one hostgroup; the replica may be 3 seconds behind.
fn before_both(lab: &ScratchLab, setup: Setup) -> Proxy {
    let login = servers::account(lab);
    let server = |role, lag: &str| {
        let port = lab.server(role).expect("it is there").port();
        format!("hostgroup_id=0, hostname='127.0.0.1', port={port}{lag}")
    };
    let setup = setup
        .server(server(Role::Primary, ""))
        .server(server(Role::Replica(1), ", max_replication_lag=3"))
        .user(stage::user_row(&login, ""));
    Proxy::start(&setup)
}

fn status_of_replica(lab: &ScratchLab, proxy: &Proxy) -> String {
    let port = lab.server(Role::Replica(1)).expect("it is there").port();
    proxy.operator().value(format!("SELECT status FROM stats_mysql_connection_pool WHERE srv_port = {port}"))
}

#[test]
fn replica_that_does_not_follow_is_shunned_for_lag_until_it_does() {
    let lab = servers::own(1);
    let login = servers::account(&lab);
    let proxy = before_both(&lab, watching(&login));
    let mut client = proxy.client(&login);
    await_that("the replica answers", || client.value(WHO) == "2");
    let near =
        "SELECT COUNT(*) FROM monitor.mysql_server_replication_lag_log WHERE repl_lag = 0 AND error IS NULL";
    await_that("it is near", || count(&mut proxy.operator(), near) > 0);
    let port = lab.server(Role::Replica(1)).expect("it is there").port();
    let metric = |name: &str, value: u32| format!("{name}endpoint=\"127.0.0.1:{port}\"}} {value}");
    assert!(
        metrics(&mut proxy.operator()).contains(&metric("nuthatch_server_lag_seconds{", 0)),
        "how near it is"
    );
    let mut replica = servers::replica(&lab);
    replica.ok("STOP SLAVE SQL_THREAD");
    await_that("it is shunned", || status_of_replica(&lab, &proxy) == "SHUNNED_REPLICATION_LAG");
    let in_force = "SELECT status FROM runtime_mysql_servers ORDER BY max_replication_lag";
    assert_eq!(proxy.operator().table(in_force), [["ONLINE"], ["SHUNNED"]]);
    assert!((0..50).all(|_| client.value(WHO) == "1"), "nothing new is sent to it");
    let unknown = "SELECT COUNT(*) FROM monitor.mysql_server_replication_lag_log WHERE repl_lag = 60";
    assert!(count(&mut proxy.operator(), unknown) > 0, "mysql-monitor_slave_lag_when_null");
    assert!(proxy.log().contains("too far behind its source"), "the log tells");
    assert!(
        metrics(&mut proxy.operator())
            .contains(&metric("nuthatch_connpool_conns_status{hostgroup=\"0\",", 5)),
        "and metrics"
    );
    // What is said for NULL may be said for the hostgroup.
    let mut operator = proxy.operator();
    operator.ok("INSERT INTO mysql_hostgroup_attributes (hostgroup_id, hostgroup_settings) \
         VALUES (0, '{\"monitor_slave_lag_when_null\": 2}')");
    operator.ok("LOAD MYSQL SERVERS TO RUNTIME");
    await_that("it is used again", || status_of_replica(&lab, &proxy) == "ONLINE");
    operator.ok("DELETE FROM mysql_hostgroup_attributes");
    operator.ok("LOAD MYSQL SERVERS TO RUNTIME");
    await_that("it is shunned again", || status_of_replica(&lab, &proxy) == "SHUNNED_REPLICATION_LAG");
    replica.ok("START SLAVE SQL_THREAD");
    await_that("it is taken back", || {
        status_of_replica(&lab, &proxy) == "ONLINE" && client.value(WHO) == "2"
    });
}

#[test]
fn replica_is_shunned_after_as_many_checks_in_a_row_as_is_wanted() {
    let lab = servers::own(1);
    let login = servers::account(&lab);
    let setup = watching(&login)
        .variable("mysql-monitor_replication_lag_count", 10)
        .variable("mysql-monitor_ping_timeout", 200)
        .variable("mysql-monitor_ping_max_failures", 7);
    let proxy = before_both(&lab, setup);
    let mut operator = proxy.operator();
    let near =
        "SELECT COUNT(*) FROM monitor.mysql_server_replication_lag_log WHERE repl_lag = 0 AND error IS NULL";
    await_that("it is near", || count(&mut operator, near) > 0);
    let mut replica = servers::replica(&lab);
    replica.ok("STOP SLAVE SQL_THREAD");
    await_that("it is shunned", || status_of_replica(&lab, &proxy) == "SHUNNED_REPLICATION_LAG");
    let far = "SELECT COUNT(*) FROM monitor.mysql_server_replication_lag_log WHERE repl_lag = 60";
    assert!(count(&mut operator, far) >= 10, "not before");
    replica.ok("START SLAVE SQL_THREAD");
    await_that("it is taken back", || status_of_replica(&lab, &proxy) == "ONLINE");
    lab.freeze(Role::Replica(1)).expect("it runs");
    await_that("it is shunned", || status_of_replica(&lab, &proxy) == "SHUNNED");
    let silent = format!("{PINGS} WHERE ping_error LIKE 'no answer within 200 ms'");
    assert!(count(&mut operator, &silent) >= 7, "not before");
    lab.thaw(Role::Replica(1)).expect("it is frozen");
    await_that("it is used again", || status_of_replica(&lab, &proxy) == "ONLINE");
}

#[test]
fn lag_of_a_heartbeat_counts_in_seconds() {
    let lab = servers::own(1);
    let login = servers::account(&lab);
    let mut primary = servers::primary(&lab);
    primary.ok("CREATE DATABASE IF NOT EXISTS percona");
    primary.ok("CREATE TABLE percona.heartbeat (ts VARCHAR(26) NOT NULL, server_id INT UNSIGNED NOT NULL PRIMARY KEY)");
    primary.ok("INSERT INTO percona.heartbeat VALUES (SYSDATE(6) - INTERVAL 100 SECOND, 1)");
    servers::await_replicas(&lab);
    let heartbeat = "mysql-monitor_replication_lag_use_percona_heartbeat";
    let proxy = before_both(&lab, watching(&login).variable(heartbeat, "'percona.heartbeat'"));
    await_that("it is shunned", || status_of_replica(&lab, &proxy) == "SHUNNED_REPLICATION_LAG");
    let told = "SELECT MIN(repl_lag) BETWEEN 99 AND 130 FROM monitor.mysql_server_replication_lag_log";
    assert_eq!(proxy.operator().value(told), "1");
    primary.ok("UPDATE percona.heartbeat SET ts = SYSDATE(6) + INTERVAL 1 HOUR");
    await_that("it is taken back", || status_of_replica(&lab, &proxy) == "ONLINE");
}

#[test]
fn account_that_may_not_ask_for_the_lag_is_told_of_once_and_the_replica_is_used() {
    let lab = servers::own(1);
    let mut primary = servers::primary(&lab);
    primary.ok("CREATE USER looker@'%' IDENTIFIED BY 'pw'");
    servers::await_replicas(&lab);
    let login = Login::new("looker", "pw");
    let proxy = before_both(&lab, watching(&login));
    let refused = "SELECT COUNT(*) FROM mysql_server_replication_lag_log WHERE error LIKE '%1227%' AND repl_lag IS NULL";
    await_that("it may not ask", || count(&mut proxy.operator(), refused) > 3);
    assert_eq!(status_of_replica(&lab, &proxy), "ONLINE");
    let log = proxy.log();
    assert_eq!(log.matches("the monitor is not told by a server how far that is behind").count(), 1, "{log}");
    assert!(log.contains("GRANT REPLICATION CLIENT ON *.* TO 'looker'@'%'"), "{log}");
}

#[test]
fn connection_of_the_monitor_that_is_killed_is_no_failed_ping() {
    let lab = servers::own(0);
    let login = servers::account(&lab);
    let proxy = before_primary(&lab, watching(&login));
    let mut operator = proxy.operator();
    await_that("it is pinged", || count(&mut operator, PINGS) > 2);
    let mut primary = servers::primary(&lab);
    let own = primary.value("SELECT CONNECTION_ID()");
    for _ in 0..5 {
        let others = format!(
            "SELECT id FROM information_schema.processlist WHERE id <> {own} AND user <> 'system user'"
        );
        for row in primary.table(others) {
            // It may be gone by itself.
            drop(primary.query(format!("KILL {}", row[0])));
        }
        let pings = count(&mut operator, PINGS);
        await_that("it is pinged on", || count(&mut operator, PINGS) > pings + 1);
    }
    assert_eq!(operator.value(format!("{PINGS} WHERE ping_error IS NOT NULL")), "0");
}

#[test]
fn server_that_is_put_into_a_further_hostgroup_is_shunned_there_too() {
    let lab = servers::own(1);
    let login = servers::account(&lab);
    let proxy = before_both(&lab, watching(&login));
    servers::replica(&lab).ok("STOP SLAVE SQL_THREAD");
    await_that("it is shunned", || status_of_replica(&lab, &proxy) == "SHUNNED_REPLICATION_LAG");
    let mut operator = proxy.operator();
    let port = lab.server(Role::Replica(1)).expect("it is there").port();
    operator.ok(format!(
        "INSERT INTO mysql_servers (hostgroup_id, hostname, port, max_replication_lag) VALUES (7, '127.0.0.1', {port}, 3)"
    ));
    operator.ok("LOAD MYSQL SERVERS TO RUNTIME");
    let status = "SELECT status FROM stats_mysql_connection_pool WHERE hostgroup = 7";
    assert_eq!(operator.value(status), "SHUNNED_REPLICATION_LAG");
}

#[test]
fn what_the_monitor_said_is_taken_back_when_it_is_turned_off() {
    let lab = servers::own(0);
    let proxy = before_primary(&lab, impatient(&servers::account(&lab)));
    lab.freeze(Role::Primary).expect("it runs");
    await_that("it is shunned", || statuses(&proxy) == ["SHUNNED", "SHUNNED"]);
    let mut operator = proxy.operator();
    operator.ok("SET mysql-monitor_enabled = 'false'");
    operator.ok("LOAD MYSQL VARIABLES TO RUNTIME");
    await_that("it is not any more", || statuses(&proxy) == ["ONLINE", "ONLINE"]);
    lab.thaw(Role::Primary).expect("it is frozen");
}

#[test]
fn server_that_does_not_let_the_monitor_in_is_used_and_the_log_tells_once_what_to_do() {
    let stage = Stage::with(
        Setup::default()
            .variable("mysql-monitor_enabled", true)
            .variable("mysql-monitor_ping_interval", 100)
            .variable("mysql-monitor_connect_interval", 100),
    );
    let mut operator = stage.proxy.operator();
    let refused = format!("{PINGS} WHERE ping_error LIKE '%Access denied%' OR ping_error LIKE '%plugin%'");
    let servers = count(&mut operator, "SELECT COUNT(DISTINCT hostname || port) FROM mysql_servers");
    let each = format!(
        "SELECT COUNT(*) FROM (SELECT port FROM ({refused_rows}) GROUP BY port HAVING COUNT(*) > 3)",
        refused_rows = refused.replace("COUNT(*)", "port")
    );
    await_that("pings of each are refused", || count(&mut operator, &each) == servers);
    assert_eq!(statuses(&stage.proxy).iter().filter(|status| **status != "ONLINE").count(), 0);
    let mut client: Client = stage.client();
    assert_eq!(client.value("SELECT 1"), "1");
    let log = stage.proxy.log();
    let told = log.matches("the monitor is not let in by a server").count() as u64;
    assert_eq!(told, servers, "{log}");
    assert!(log.contains("CREATE USER 'monitor'@'%'") && !log.contains("IDENTIFIED BY 'monitor'"), "{log}");
}
