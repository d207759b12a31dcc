//! Passwords in the data directory: never in clear, back after a restart, and never silently wrong.

use std::fs;
use std::path::Path;

use rustix::process::Signal;
use tempfile::TempDir;

use crate::client::Login;
use crate::proxy::{Proxy, Setup};
use crate::servers;
use crate::stage::before;

const SECRET: &str = "hunter2-very-secret";
const OPERATOR: &str = "operator-very-secret";

fn setup(dir: &TempDir) -> Setup {
    let datadir = dir.path().join("data");
    before(Setup::default(), servers::shared()).flags(["--datadir", datadir.to_str().expect("a plain path")])
}

/// A proxy that has saved a user of the server and an operator of its own.
fn saved(setup: &Setup) -> (Proxy, Login) {
    let name = servers::fresh_name("sealed");
    servers::primary(servers::shared()).ok(format!("CREATE USER '{name}'@'%' IDENTIFIED BY '{SECRET}'"));
    let proxy = Proxy::start(setup);
    let mut operator = proxy.operator();
    for statement in [
        format!("INSERT INTO mysql_users (username, password) VALUES ('{name}', '{SECRET}')"),
        "LOAD MYSQL USERS TO RUNTIME".to_owned(),
        "SAVE MYSQL USERS TO DISK".to_owned(),
        format!("SET admin-admin_credentials = 'admin:admin;chief:{OPERATOR}'"),
        "SAVE ADMIN VARIABLES TO DISK".to_owned(),
    ] {
        operator.ok(statement);
    }
    (proxy, Login::new(&name, SECRET))
}

fn stop(mut proxy: Proxy) {
    proxy.signal(Signal::TERM);
    assert!(proxy.await_exit().success());
}

#[track_caller]
fn assert_in_no_file(dir: &Path) {
    for entry in fs::read_dir(dir).expect("the directory is there") {
        let path = entry.expect("an entry").path();
        let text = String::from_utf8_lossy(&fs::read(&path).expect("a file")).into_owned();
        assert!(!text.contains(SECRET) && !text.contains(OPERATOR), "{}", path.display());
    }
}

#[test]
fn saved_passwords_are_in_no_file_and_let_in_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let setup = setup(&dir);
    let (proxy, login) = saved(&setup);
    let datadir = dir.path().join("data");
    assert_in_no_file(&datadir);
    let mut operator = proxy.operator();
    for statement in [
        format!("INSERT INTO disk.mysql_users (username, password) VALUES ('raw', '{SECRET}')"),
        "BEGIN".to_owned(),
        format!("UPDATE disk.mysql_users SET password = '{SECRET}2' WHERE username = 'raw'"),
        "ROLLBACK".to_owned(),
    ] {
        operator.ok(statement);
        assert_in_no_file(&datadir);
    }
    drop(operator);
    stop(proxy);
    assert_in_no_file(&datadir);
    let proxy = Proxy::start(&setup);
    assert!(proxy.client(&login).value("SELECT USER()").starts_with(&login.user));
    assert_eq!(proxy.operator().value("SELECT password FROM mysql_users WHERE username = 'raw'"), SECRET);
    let sealed = proxy.operator().value("SELECT password FROM disk.mysql_users WHERE username = 'raw'");
    assert!(sealed.starts_with("$nuthatch$1$"), "{sealed}");
}

#[test]
fn passwords_in_force_are_not_shown_and_their_sealed_form_works() {
    let dir = tempfile::tempdir().unwrap();
    let (proxy, login) = saved(&setup(&dir));
    let mut operator = proxy.operator();
    let shown = |operator: &mut crate::client::Client, table: &str| {
        operator.value(format!("SELECT password FROM {table} WHERE username = '{}'", login.user))
    };
    assert_eq!(shown(&mut operator, "mysql_users"), SECRET, "memory shows what was typed");
    for table in operator.ok("SHOW TABLES FROM stats").column() {
        assert!(
            !format!("{:?}", operator.table(format!("SELECT * FROM stats.{table}"))).contains(SECRET),
            "{table}"
        );
    }
    assert!(shown(&mut operator, "runtime_mysql_users").starts_with("$nuthatch$1$"));
    operator.ok("SAVE MYSQL USERS FROM RUNTIME");
    assert!(shown(&mut operator, "mysql_users").starts_with("$nuthatch$1$"));
    operator.ok("LOAD MYSQL USERS TO RUNTIME");
    assert_eq!(proxy.client(&login).value("SELECT 1"), "1");
    assert!(
        operator.query("SELECT nuthatch_open('mysql_users', username, password) FROM mysql_users").is_err()
    );
}

#[test]
fn wrong_or_missing_key_is_refused_in_one_sentence_until_it_is_back_or_given_up() {
    let dir = tempfile::tempdir().unwrap();
    let setup = setup(&dir);
    let (proxy, login) = saved(&setup);
    stop(proxy);
    let (key, aside) = (dir.path().join("data/nuthatch-secrets.key"), dir.path().join("aside.key"));
    fs::rename(&key, &aside).unwrap();
    for wrong in [None, Some([1; 32])] {
        wrong.iter().for_each(|bytes| fs::write(&key, bytes).unwrap());
        let mut proxy = Proxy::launch(&setup);
        assert!(!proxy.await_exit().success());
        let log = proxy.log();
        let line = log.lines().last().unwrap_or_default();
        assert!(line.contains(key.to_str().unwrap()) && line.contains("--secrets-key"), "{log}");
        assert!(!log.contains("ready for MySQL clients"), "{log}");
    }
    let elsewhere = setup.clone().flags(["--secrets-key", aside.to_str().unwrap()]);
    let proxy = Proxy::start(&elsewhere);
    assert_eq!(proxy.client(&login).value("SELECT 1"), "1");
    stop(proxy);
    let proxy = Proxy::start(&setup.flags(["--forget-lost-secrets"]));
    assert_eq!(proxy.try_client(&login).unwrap_err().server().code, 1045);
    assert!(proxy.log().contains(&format!("the password of user \"{}\"", login.user)), "{}", proxy.log());
    assert_eq!(proxy.operator().value("SELECT COUNT(*) FROM mysql_users WHERE active = 0"), "1");
}
