//! What an operator says of a server acts at once.

use std::time::Duration;

use super::{WHO, both_in_one_hostgroup};
use crate::client::Client;
use crate::deadline::{Stopwatch, await_that, eventually};
use crate::proxy::Setup;
use crate::servers;
use crate::stage::Stage;

/// Sets the status of one of the two servers in hostgroup 5.
fn set_status(stage: &Stage, server_id: &str, status: &str) {
    let port = servers::shared().primary().port();
    let is = if server_id == "1" { "=" } else { "<>" };
    stage.administer([
        &format!("UPDATE mysql_servers SET status = '{status}' WHERE hostgroup_id = 5 AND port {is} {port}"),
        "LOAD MYSQL SERVERS TO RUNTIME",
    ]);
}

/// A client with an open transaction, and the server that it is on.
fn in_transaction(stage: &Stage) -> (Client, String) {
    let mut client = stage.client();
    client.ok("BEGIN");
    let server = client.value(WHO);
    (client, server)
}

#[test]
fn offline_soft_finishes_what_is_open_and_takes_no_new_work() {
    let stage = Stage::plain();
    both_in_one_hostgroup(&stage);
    let (mut open, server) = in_transaction(&stage);
    set_status(&stage, &server, "OFFLINE_SOFT");
    let mut other = stage.client();
    assert!((0..50).all(|_| other.value(WHO) != server));
    assert!((0..5).all(|_| open.value(WHO) == server), "the transaction goes on");
    open.ok("COMMIT");
    assert_ne!(open.value(WHO), server);
    open.settle();
    let port = if server == "1" { "=" } else { "<>" };
    let left = stage.proxy.operator().value(format!(
        "SELECT ConnUsed + ConnFree FROM stats_mysql_connection_pool WHERE hostgroup = 5 AND srv_port {port} {}",
        servers::shared().primary().port()
    ));
    assert_eq!(left, "0", "no connection is kept to it");
    set_status(&stage, &server, "ONLINE");
    await_that("it works again", || other.value(WHO) == server);
}

/// Has the client run a long statement, and returns on which server it runs.
fn run_long(stage: &Stage, client: &mut Client) -> String {
    client.send(3, b"SELECT SLEEP(15)").expect("it is sent");
    let select = "SELECT srv_port FROM stats_mysql_processlist WHERE info LIKE '%SLEEP%' AND srv_port > 0";
    let port = eventually("it runs", || {
        let rows = stage.proxy.operator().table(select);
        rows.first().map(|row| row[0].clone())
    });
    if port == servers::shared().primary().port().to_string() { "1" } else { "2" }.to_owned()
}

#[test]
fn offline_hard_cuts_a_running_statement_with_a_clear_error() {
    let stage = Stage::with(Setup::default().variable("mysql-query_retries_on_failure", 0));
    both_in_one_hostgroup(&stage);
    let mut client = stage.client();
    let server = run_long(&stage, &mut client);
    let watch = Stopwatch::start();
    set_status(&stage, &server, "OFFLINE_HARD");
    let error = client.read_answers().unwrap_err().server();
    assert!(watch.elapsed() < Duration::from_secs(5), "{:?}", watch.elapsed());
    assert_eq!(error.code, 9004, "{error:?}");
    assert!(error.message.contains("offline"), "{error:?}");
    assert!((0..20).all(|_| client.value(WHO) != server), "the session goes on with the other server");
    assert_eq!(stage.figure("backend_offline_during_query"), 1);
}

#[test]
fn offline_hard_ends_sessions_with_a_transaction_after_an_error() {
    let stage = Stage::plain();
    both_in_one_hostgroup(&stage);
    let (mut open, server) = in_transaction(&stage);
    open.ok("UPDATE t SET v = v");
    set_status(&stage, &server, "OFFLINE_HARD");
    let error = open.refused("SELECT 1");
    assert!([9004, 2013].contains(&error.code), "{error:?}");
    assert!(open.is_closed_by_server());
    assert!((0..20).all(|_| stage.client().value(WHO) != server));
}

#[test]
fn shunned_server_gets_nothing() {
    let stage = Stage::plain();
    both_in_one_hostgroup(&stage);
    set_status(&stage, "1", "SHUNNED");
    let mut client = stage.client();
    assert!((0..50).all(|_| client.value(WHO) == "2"));
    let select = "SELECT status FROM stats_mysql_connection_pool WHERE hostgroup = 5 ORDER BY status";
    let status = stage.proxy.operator().ok(select).column();
    assert_eq!(status, ["ONLINE", "SHUNNED"]);
}

#[test]
fn hostgroup_with_no_server_online_is_error_9001_in_time() {
    let stage = Stage::with(Setup::default().variable("mysql-connect_timeout_server_max", 400));
    both_in_one_hostgroup(&stage);
    let mut client = stage.client();
    for status in ["SHUNNED", "OFFLINE_SOFT", "OFFLINE_HARD"] {
        ["1", "2"].into_iter().for_each(|server| set_status(&stage, server, status));
        let watch = Stopwatch::start();
        let error = client.refused(WHO);
        assert_eq!(error.code, 9001, "{status}: {error:?}");
        assert!(watch.elapsed() >= Duration::from_millis(400) && watch.elapsed() < Duration::from_secs(3));
    }
    set_status(&stage, "2", "ONLINE");
    assert_eq!(client.value(WHO), "2");
}

#[test]
fn statement_that_waits_for_a_server_goes_on_when_one_comes_online() {
    let stage = Stage::plain();
    both_in_one_hostgroup(&stage);
    ["1", "2"].into_iter().for_each(|server| set_status(&stage, server, "OFFLINE_SOFT"));
    let mut client = stage.client();
    client.send(3, WHO.as_bytes()).unwrap();
    await_that("it waits", || {
        stage.proxy.operator().value("SELECT COUNT(*) FROM stats_mysql_processlist WHERE command = 'Query'")
            == "1"
    });
    set_status(&stage, "2", "ONLINE");
    assert_eq!(client.read_answers().unwrap()[0].value(), "2");
}

#[test]
fn unknown_hostgroup_is_error_9001_at_once() {
    let stage = Stage::with(
        Setup::default()
            .variable("mysql-connect_timeout_server_max", 60_000)
            .rule("rule_id=1, match_pattern='^SELECT', destination_hostgroup=77, apply=1"),
    );
    let mut client = stage.client();
    let error = client.refused("SELECT 1");
    assert_eq!(error.code, 9001);
    assert!(error.message.contains("77"), "{error:?}");
    assert_eq!(stage.figure("max_connect_timeouts"), 0, "nothing was waited for");
}

#[test]
fn server_taken_out_of_the_table_finishes_what_runs() {
    let stage = Stage::plain();
    both_in_one_hostgroup(&stage);
    let (mut open, server) = in_transaction(&stage);
    let port = servers::shared().primary().port();
    let is = if server == "1" { "=" } else { "<>" };
    stage.administer([
        &format!("DELETE FROM mysql_servers WHERE hostgroup_id = 5 AND port {is} {port}"),
        "LOAD MYSQL SERVERS TO RUNTIME",
    ]);
    assert_eq!(open.value(WHO), server);
    open.ok("COMMIT");
    assert!((0..20).all(|_| open.value(WHO) != server));
}
