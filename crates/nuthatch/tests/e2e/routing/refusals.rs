//! Connects that a server refuses: what is the login's own fault harms nobody else, what is for want of room is waited for, and
//! whoever is refused is told by whom and why.

use std::thread;
use std::time::Duration;

use nuthatch_lab::{Kind, Role, ScratchLab};

use crate::client::{Login, ServerError};
use crate::deadline::{Stopwatch, await_that};
use crate::proxy::{Proxy, Setup, free_addresses};
use crate::servers;
use crate::stage::{before, figure, user_row};

struct Ground {
    proxy: Proxy,
    login: Login,
    lab: ScratchLab,
}

impl Ground {
    fn new(kind: Kind, connections_max: u16, setup: Setup) -> Self {
        let lab = servers::own_of(kind, connections_max);
        let login = servers::account(&lab);
        let proxy = Proxy::start(&before(setup, &lab).user(user_row(&login, "")));
        Self { proxy, login, lab }
    }

    /// What keeps such a login, or its first statement, from an answer.
    fn refused(&self, login: &Login) -> ServerError {
        match self.proxy.try_client(login) {
            Ok(mut client) => client.refused("SELECT 1"),
            Err(failure) => failure.server(),
        }
    }

    fn status(&self) -> String {
        self.proxy.operator().value("SELECT status FROM stats_mysql_connection_pool WHERE hostgroup = 0")
    }

    fn errors(&self, number: u16) -> Vec<Vec<String>> {
        let sql = format!(
            "SELECT username, count_star, last_error FROM stats_mysql_errors WHERE errno = {number} AND hostgroup = 0"
        );
        self.proxy.operator().table(sql)
    }
}

fn logins_that_are_refused_harm_nobody(kind: Kind) {
    let ground = Ground::new(kind, 100, Setup::default());
    let mut usual = ground.proxy.client(&ground.login);
    usual.ok("BEGIN");
    for round in 0..8 {
        for (schema, codes) in [
            (b"test ".to_vec(), vec![1102, 1049]),
            (vec![b'a'; 70], vec![1059, 1102, 1049]),
            (b"no_such".to_vec(), vec![1049]),
            (b"te\xFFst".to_vec(), vec![1300, 1049]),
        ] {
            let error = ground.refused(&ground.login.clone().schema(&schema));
            assert!(codes.contains(&error.code), "{kind:?} {schema:x?}: {error:?}");
        }
        assert_eq!(ground.status(), "ONLINE", "{round}");
        // With a connection of its own: the other one is in use.
        let watch = Stopwatch::start();
        assert_eq!(ground.proxy.client(&ground.login).value("SELECT 1"), "1");
        assert!(watch.elapsed() < Duration::from_secs(3), "{:?}", watch.elapsed());
    }
    assert!(!ground.proxy.log().contains("shunned"));
}

#[test]
fn logins_that_mariadb_refuses_harm_nobody() {
    logins_that_are_refused_harm_nobody(Kind::MariaDb);
}

#[test]
fn logins_that_mysql_refuses_harm_nobody() {
    logins_that_are_refused_harm_nobody(Kind::MySql);
}

#[test]
fn errors_of_statements_stand_with_what_the_server_said_and_no_password() {
    for kind in [Kind::MariaDb, Kind::MySql] {
        let ground = Ground::new(kind, 100, Setup::default());
        let mut client = ground.proxy.client(&ground.login);
        client.refused("SELECT no_such");
        client.settle();
        assert!(ground.errors(1054)[0][2].contains("no_such"), "{kind:?}: {:?}", ground.errors(1054));
        for secret in [
            "CREATE USER x IDENTIFIED 's3cret'",
            "SET PASSWORD FOO = 's3cret'",
            "PREPARE s FROM \"SELEC 's3cret'\"",
        ] {
            client.refused(secret);
            client.settle();
            let rows = ground.errors(1064);
            assert!(rows[0][2].contains("hidden"), "{kind:?} {secret}: {rows:?}");
        }
        client.refused("SELECT 1 FRO t");
        client.settle();
        let rows = ground.errors(1064);
        assert!(rows[0][2].contains("near"), "{kind:?}: {rows:?}");
    }
}

fn full_server_is_waited_for(kind: Kind) {
    let ground = Ground::new(kind, 12, Setup::default());
    let mut primary = servers::primary(&ground.lab);
    primary.ok("CREATE USER other IDENTIFIED BY 'other'");
    primary.ok("CREATE DATABASE shop");
    primary.ok("GRANT ALL ON shop.* TO other");
    ground.proxy.operator().ok("INSERT INTO mysql_users (username, password) VALUES ('other', 'other')");
    ground.proxy.operator().ok("LOAD MYSQL USERS TO RUNTIME");
    let other = Login::new("other", "other").schema("shop");
    let (login, other) = (&ground.login, &other);
    // Many at once, of two accounts, whose connections are of no use to the other.
    thread::scope(|scope| {
        for number in 0..40 {
            let proxy = &ground.proxy;
            scope.spawn(move || {
                let mut client = proxy.client(if number % 2 == 0 { login } else { other });
                for _ in 0..5 {
                    client.ok("BEGIN");
                    assert_eq!(client.value("SELECT SLEEP(0.01)"), "0");
                    client.ok("COMMIT");
                }
            });
        }
    });
    // And one after the other.
    for number in 0..60 {
        let mut client = ground.proxy.client(if number % 2 == 0 { login } else { other });
        assert_eq!(client.value("SELECT 1"), "1");
        client.quit();
    }
    assert_eq!(ground.status(), "ONLINE");
    assert!(figure(&mut ground.proxy.operator(), "Server_Connections_refused_full") > 0, "it was full");
    assert!(ground.proxy.log().contains("lets in no more connections"), "the log tells");
    assert!(!ground.errors(1040).is_empty());
}

#[test]
fn full_mariadb_is_waited_for_and_refuses_nobody() {
    full_server_is_waited_for(Kind::MariaDb);
}

#[test]
fn full_mysql_is_waited_for_and_refuses_nobody() {
    full_server_is_waited_for(Kind::MySql);
}

#[test]
fn who_waits_in_vain_for_a_full_server_is_told_of_it() {
    let ground =
        Ground::new(Kind::MariaDb, 10, Setup::default().variable("mysql-connect_timeout_server_max", 400));
    // MariaDB keeps one more for who may do everything.
    let _theirs: Vec<_> = (0..11)
        .filter_map(|_| {
            crate::client::Client::connect(&servers::direct_address(&ground.lab), &ground.login).ok()
        })
        .collect();
    let error = ground.refused(&ground.login);
    assert_eq!(error.code, 9001);
    assert!(error.message.contains("error 1040 (Too many connections)"), "{error:?}");
    assert_eq!(ground.status(), "ONLINE");
}

#[test]
fn account_that_may_have_few_connections_waits_for_them() {
    for kind in [Kind::MariaDb, Kind::MySql] {
        let ground = Ground::new(kind, 100, Setup::default());
        let mut primary = servers::primary(&ground.lab);
        primary.ok("CREATE USER few IDENTIFIED BY 'few' WITH MAX_USER_CONNECTIONS 2");
        ground.proxy.operator().ok("INSERT INTO mysql_users (username, password) VALUES ('few', 'few')");
        ground.proxy.operator().ok("LOAD MYSQL USERS TO RUNTIME");
        let login = &Login::new("few", "few");
        thread::scope(|scope| {
            for _ in 0..12 {
                let proxy = &ground.proxy;
                scope.spawn(move || assert_eq!(proxy.client(login).value("SELECT SLEEP(0.05)"), "0"));
            }
        });
        assert_eq!(ground.status(), "ONLINE", "{kind:?}");
        assert_eq!(ground.proxy.client(&ground.login).value("SELECT 1"), "1");
    }
}

#[test]
fn login_that_the_server_refuses_is_told_logged_and_counted() {
    for kind in [Kind::MariaDb, Kind::MySql] {
        let setup = Setup::default().user("username='stranger', password='quite_secret'");
        let ground = Ground::new(kind, 100, setup);
        let error = ground.refused(&Login::new("stranger", "quite_secret"));
        assert_eq!(error.code, 1045, "{error:?}");
        let port = ground.lab.primary().port();
        for part in ["on the way to the server", &format!("127.0.0.1:{port}"), "'stranger'"] {
            assert!(error.message.contains(part), "{part}: {error:?}");
        }
        let log = ground.proxy.log();
        assert!(log.contains("refused the proxy's login") && log.contains("stranger"), "{log}");
        assert!(!log.contains("quite_secret") && !error.message.contains("quite_secret"));
        // MySQL asks for the proof of an account that it has not by any plugin.
        let errors = [ground.errors(1045), ground.errors(2059)].concat();
        assert_eq!((errors.len(), errors[0][0].as_str()), (1, "stranger"), "{errors:?}");
        let own = ground.refused(&Login::new("stranger", "wrong"));
        assert!(!own.message.contains("on the way"), "the client's own password: {own:?}");
        ground.proxy.operator().ok("SELECT * FROM stats_mysql_errors_reset");
        assert!([ground.errors(1045), ground.errors(2059)].concat().is_empty());
    }
}

#[test]
fn reason_why_no_server_can_be_reached_is_told() {
    let [nobody] = free_addresses();
    let login = Login::new("app", "secret");
    let setup = Setup::default()
        .server(format!("hostgroup_id=0, hostname='127.0.0.1', port={}", nobody.port()))
        .user(user_row(&login, ""))
        .variable("mysql-connect_timeout_server_max", 400)
        .variable("mysql-shun_on_failures", 2);
    let proxy = Proxy::start(&setup);
    let mut client = proxy.client(&login);
    let error = client.refused("SELECT 1");
    assert!(error.code == 9001 && error.message.contains("refused"), "{error:?}");
    await_that("it is shunned", || {
        client.refused("SELECT 1");
        proxy.log().contains("shunned a server")
    });
    let shunned = client.refused("SELECT 1");
    assert!(shunned.message.contains("refused"), "{shunned:?}");
    let log = proxy.log();
    let line = log.lines().find(|line| line.contains("shunned a server")).expect("a line");
    assert!(line.contains("refused"), "{line}");
    let counted = "SELECT SUM(count_star) > 0 FROM stats_mysql_errors WHERE errno = 2003";
    assert_eq!(proxy.operator().value(counted), "1");
}

#[test]
fn hostgroup_without_a_server_fails_at_once_unless_one_may_come() {
    let rule = "rule_id=7, active=1, match_pattern='^SELECT 7', destination_hostgroup=77, apply=1";
    let ground = Ground::new(Kind::MariaDb, 50, Setup::default().rule(rule));
    let mut operator = ground.proxy.operator();
    let mut client = ground.proxy.client(&ground.login);
    let watch = Stopwatch::start();
    let error = client.refused("SELECT 7");
    assert!(watch.elapsed() < Duration::from_secs(2), "{:?}", watch.elapsed());
    assert_eq!(error.code, 9001);
    assert!(error.message.contains("hostgroup 77") && error.message.contains("rule"), "{error:?}");
    operator.ok("UPDATE mysql_users SET default_hostgroup = 78");
    assert_eq!(operator.ok("LOAD MYSQL USERS TO RUNTIME").warnings, 1);
    assert!(operator.ok("SHOW WARNINGS").table()[0].concat().contains("default_hostgroup 78"));
    operator.ok("LOAD MYSQL QUERY RULES TO RUNTIME");
    assert!(operator.ok("SHOW WARNINGS").table()[0].concat().contains("rule 7"));
    let of_user = ground.refused(&ground.login);
    assert!(of_user.message.contains("default_hostgroup of user"), "{of_user:?}");
    operator
        .ok("INSERT INTO mysql_replication_hostgroups (writer_hostgroup, reader_hostgroup) VALUES (77, 78)");
    operator.ok("LOAD MYSQL SERVERS TO RUNTIME");
    operator.ok("SET mysql-connect_timeout_server_max = 300");
    operator.ok("LOAD MYSQL VARIABLES TO RUNTIME");
    let watch = Stopwatch::start();
    let waited = client.refused("SELECT 7");
    assert!(watch.elapsed() >= Duration::from_millis(300), "a server may come: {waited:?}");
}

#[test]
fn server_that_is_stopped_is_still_shunned() {
    let mut ground = Ground::new(
        Kind::MariaDb,
        50,
        Setup::default()
            .variable("mysql-shun_on_failures", 2)
            .variable("mysql-connect_retries_delay", 1)
            .variable("mysql-connect_timeout_server_max", 500),
    );
    ground.lab.stop(Role::Primary).unwrap();
    let mut client = ground.proxy.client(&ground.login);
    client.refused("SELECT 1");
    assert_eq!(ground.status(), "SHUNNED");
}
