//! What is kept in the data directory and what is not.

use rustix::process::Signal;

use crate::client::Client;
use crate::proxy::{Proxy, Setup};
use crate::servers;
use crate::stage::{before, user_row};

fn setup(dir: &tempfile::TempDir) -> Setup {
    let login = servers::account(servers::shared());
    before(Setup::default(), servers::shared())
        .user(user_row(&login, ""))
        .flags(["--datadir", dir.path().to_str().expect("a plain path")])
}

fn restart(mut proxy: Proxy, setup: &Setup) -> Proxy {
    proxy.signal(Signal::TERM);
    assert!(proxy.await_exit().success());
    proxy.start_again(setup);
    proxy
}

fn refusal(client: &mut Client) -> String {
    client.query("SELECT 'secret'").map_or_else(|failure| failure.server().message, |_| "-".to_owned())
}

#[test]
fn saved_rules_variables_and_users_survive_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let setup = setup(&dir);
    let login = servers::account(servers::shared());
    let proxy = Proxy::start(&setup);
    let mut operator = proxy.operator();
    for statement in [
        "INSERT INTO mysql_query_rules (rule_id, active, match_pattern, error_msg) VALUES (7, 1, 'secret', 'saved')",
        "LOAD MYSQL QUERY RULES TO RUNTIME",
        "SAVE MYSQL QUERY RULES TO DISK",
        "SET mysql-wait_timeout = 12345000",
        "LOAD MYSQL VARIABLES TO RUNTIME",
        "SAVE MYSQL VARIABLES TO DISK",
        "INSERT INTO mysql_users (username, password) VALUES ('unsaved', 'x')",
        "LOAD MYSQL USERS TO RUNTIME",
    ] {
        operator.ok(statement);
    }
    assert_eq!(refusal(&mut proxy.client(&login)), "saved");
    drop(operator);
    let proxy = restart(proxy, &setup);
    assert_eq!(refusal(&mut proxy.client(&login)), "saved");
    let variable =
        "SELECT variable_value FROM runtime_global_variables WHERE variable_name = 'mysql-wait_timeout'";
    assert_eq!(proxy.operator().value(variable), "12345000");
    assert_eq!(proxy.operator().value("SELECT COUNT(*) FROM mysql_users WHERE username = 'unsaved'"), "0");
}

#[test]
fn rules_that_were_only_loaded_are_gone_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let setup = setup(&dir);
    let login = servers::account(servers::shared());
    let proxy = Proxy::start(&setup);
    proxy.operator().ok(
        "INSERT INTO mysql_query_rules (active, match_pattern, error_msg) VALUES (1, 'secret', 'loaded')",
    );
    proxy.operator().ok("LOAD MYSQL QUERY RULES TO RUNTIME");
    assert_eq!(refusal(&mut proxy.client(&login)), "loaded");
    let proxy = restart(proxy, &setup);
    assert_eq!(refusal(&mut proxy.client(&login)), "-");
}

#[test]
fn killed_process_keeps_what_was_saved() {
    let dir = tempfile::tempdir().unwrap();
    let setup = setup(&dir);
    let login = servers::account(servers::shared());
    let mut proxy = Proxy::start(&setup);
    proxy
        .operator()
        .ok("INSERT INTO mysql_query_rules (active, match_pattern, error_msg) VALUES (1, 'secret', 'saved')");
    proxy.operator().ok("SAVE MYSQL QUERY RULES TO DISK");
    proxy.signal(Signal::KILL);
    proxy.await_exit();
    let proxy = Proxy::start(&setup);
    assert_eq!(refusal(&mut proxy.client(&login)), "saved");
}

#[test]
fn second_process_on_the_same_directory_is_refused_or_harmless() {
    let dir = tempfile::tempdir().unwrap();
    let setup = setup(&dir);
    let first = Proxy::start(&setup);
    first
        .operator()
        .ok("INSERT INTO mysql_query_rules (active, match_pattern, error_msg) VALUES (1, 'secret', 'first')");
    first.operator().ok("SAVE MYSQL QUERY RULES TO DISK");
    let second = Proxy::launch(&setup);
    crate::deadline::await_that("it runs or has ended", || !second.log().is_empty());
    drop(second);
    first.operator().ok("SAVE MYSQL QUERY RULES TO DISK");
    let login = servers::account(servers::shared());
    let again = restart(first, &setup);
    assert_eq!(refusal(&mut again.client(&login)), "first");
}
