//! Sessions without a default schema: what is the same in any schema runs on any connection, for the rest one leaves its schema.

use nuthatch_lab::{Kind, ScratchLab};

use crate::client::{Client, Login};
use crate::deadline::await_that;
use crate::proxy::{Proxy, Setup};
use crate::servers;
use crate::stage::{before, figure, user_row};

/// A lab of that kind with a schema `wp` that has a table `t`, and a proxy before it.
struct Ground {
    proxy: Proxy,
    login: Login,
    lab: ScratchLab,
}

impl Ground {
    fn new(kind: Kind, connections_max: u16, setup: Setup) -> Self {
        let lab = servers::own_of(kind, connections_max);
        let login = servers::account(&lab);
        let mut primary = servers::primary(&lab);
        for schema in ["wp", "other"] {
            primary.ok(format!("CREATE DATABASE {schema}"));
            primary.ok(format!("CREATE TABLE {schema}.t (v VARCHAR(20))"));
            primary.ok(format!("INSERT INTO {schema}.t VALUES ('{schema}')"));
        }
        let proxy = Proxy::start(&before(setup, &lab).user(user_row(&login, "")));
        Self { proxy, login, lab }
    }

    fn client(&self) -> Client {
        self.proxy.client(&self.login)
    }

    fn in_schema(&self, schema: &str) -> Client {
        self.proxy.client(&self.login.clone().schema(schema))
    }

    fn opened(&self) -> u64 {
        let opened = "SELECT ConnOK FROM stats_mysql_connection_pool WHERE hostgroup = 0";
        self.proxy.operator().value(opened).parse().expect("a number")
    }
}

/// What a program sends between its login and its first statement.
fn enter(client: &mut Client, way: usize) {
    match way % 4 {
        0 => drop(client.init_db("wp").expect("it is there")),
        1 => drop(client.ok("USE wp")),
        2 => {
            // WordPress.
            client.ok("SET NAMES 'utf8mb4' COLLATE 'utf8mb4_unicode_520_ci'");
            client.ok("SELECT @@SESSION.sql_mode");
            client.ok("SET SESSION sql_mode='NO_ENGINE_SUBSTITUTION'");
            client.init_db("wp").expect("it is there");
        }
        _ => {
            client.ok("SET NAMES latin1");
            client.ok("SET sql_mode = 'STRICT_ALL_TABLES', time_zone = '+02:00'");
            client.ok("SELECT 1");
            client.ok("use `wp`");
        }
    }
}

fn one_client_at_a_time_takes_few_connections(kind: Kind) {
    for (before_change, most) in [(0, 2), (8, 2)] {
        for way in 0..4 {
            let setup = Setup::default().variable("mysql-connections_before_change", before_change);
            let ground = Ground::new(kind, 200, setup);
            for _ in 0..250 {
                let mut client = ground.client();
                enter(&mut client, way);
                assert_eq!(client.value("SELECT v FROM t"), "wp");
                client.quit();
            }
            let opened = ground.opened();
            // One more was opened to ask how the server greets.
            assert!(opened <= most + 1, "{kind:?}: {opened} connections by way {way} ({before_change})");
            assert_eq!(figure(&mut ground.proxy.operator(), "Com_backend_change_user"), 0);
            drop(ground.lab);
        }
    }
}

#[test]
fn one_client_at_a_time_takes_few_connections_of_mariadb() {
    one_client_at_a_time_takes_few_connections(Kind::MariaDb);
}

#[test]
fn one_client_at_a_time_takes_few_connections_of_mysql() {
    one_client_at_a_time_takes_few_connections(Kind::MySql);
}

/// All that a session without a schema may ask of one that others have used.
fn nothing_is_left_of_a_schema(kind: Kind) {
    let ground = Ground::new(kind, 200, Setup::default());
    let mut other = ground.in_schema("other");
    // Behind the first error nothing is known of stored code, and its connection is kept until it is.
    let mut first = ground.client();
    assert_eq!(first.refused("SELECT v FROM t").code, 1046);
    await_that("the code is known", || figure(&mut ground.proxy.operator(), "Sessions_Pinned") == 0);
    first.quit();
    for round in 0..5 {
        assert_eq!(other.value("SELECT v FROM t"), "other");
        other.ok("SET @a = 'mine', time_zone = '+05:00'");
        other.settle();
        let mut client = ground.client();
        assert_eq!(client.value("SELECT DATABASE()"), "NULL", "{kind:?} {round}");
        assert_eq!(client.value("SELECT v FROM wp.t"), "wp");
        assert_eq!(client.refused("SELECT v FROM t").code, 1046);
        assert_eq!(client.refused("INSERT INTO t VALUES ('lost')").code, 1046);
        assert_eq!(client.refused("SHOW TABLES").code, 1046);
        assert_eq!(client.value("SELECT @a"), "NULL");
        let direct = servers::primary(&ground.lab).value("SELECT @@collation_database");
        assert_eq!(client.value("SELECT @@collation_database"), direct);
        assert_eq!(client.value("SELECT @@time_zone"), "SYSTEM");
        let prepared = client.prepare("SELECT DATABASE()").expect("it is prepared");
        assert_eq!(client.execute(&prepared, &[]).expect("it runs").value(), "NULL");
        client.ok("BEGIN");
        assert_eq!(client.value("SELECT v FROM wp.t"), "wp");
        assert_eq!(client.value("SELECT DATABASE()"), "NULL");
        client.ok("COMMIT");
        client.ok("SET autocommit = 0");
        assert_eq!(client.value("SELECT v FROM wp.t"), "wp");
        assert_eq!(client.value("SELECT DATABASE()"), "NULL");
        // An open transaction would have its connection closed.
        client.ok("COMMIT");
        client.ok("SET autocommit = 1");
        client.quit();
    }
    assert!(figure(&mut ground.proxy.operator(), "Com_backend_change_user") >= 5);
    // One for each session would be eleven and more. Four do, and one more for each that is still being reset when the next is asked for.
    assert!(ground.opened() <= 9, "{} connections", ground.opened());
}

#[test]
fn nothing_is_left_of_a_schema_on_mariadb() {
    nothing_is_left_of_a_schema(Kind::MariaDb);
}

#[test]
fn nothing_is_left_of_a_schema_on_mysql() {
    nothing_is_left_of_a_schema(Kind::MySql);
}

#[test]
fn statement_that_needs_no_schema_runs_on_a_connection_that_has_one() {
    let ground = Ground::new(Kind::MariaDb, 200, Setup::default());
    ground.in_schema("other").ok("SELECT v FROM t");
    let mut client = ground.client();
    let opened = ground.opened();
    for _ in 0..20 {
        assert_eq!(client.value("SELECT 1"), "1");
        client.ok("SET NAMES latin1");
        client.ok("SET sql_mode = ''");
        assert_eq!(client.refused("USE no_such").code, 1049);
        assert_eq!(client.init_db("no_such").unwrap_err().server().code, 1049);
    }
    assert_eq!(client.value("SELECT @@sql_mode, @@character_set_client"), "");
    assert_eq!(figure(&mut ground.proxy.operator(), "Com_backend_change_user"), 0);
    assert_eq!(ground.opened(), opened);
    assert_eq!(client.value("SELECT DATABASE()"), "NULL");
}

/// Every plugin that a server may ask for the proof by, when a connection is to leave its schema.
#[test]
fn connection_leaves_its_schema_by_each_plugin() {
    for (kind, plugins) in [
        (Kind::MariaDb, ["mysql_native_password USING PASSWORD('secret')"]),
        (Kind::MySql, ["caching_sha2_password BY 'secret'"]),
    ] {
        let lab = servers::own_of(kind, 100);
        let mut primary = servers::primary(&lab);
        primary.ok("CREATE DATABASE wp");
        for (number, plugin) in plugins.iter().enumerate() {
            let user = format!("leaver{number}");
            let words = if kind == Kind::MariaDb { "VIA" } else { "WITH" };
            primary.ok(format!("CREATE USER {user} IDENTIFIED {words} {plugin}"));
            primary.ok(format!("GRANT ALL ON wp.* TO {user}"));
            let login = Login::new(&user, "secret");
            let proxy = Proxy::start(&before(Setup::default(), &lab).user(user_row(&login, "")));
            for round in 0..4 {
                // What the server remembers of the password is forgotten: it must be told.
                primary.ok("FLUSH PRIVILEGES");
                let mut inside = proxy.client(&login.clone().schema("wp"));
                let thread = inside.value("SELECT CONNECTION_ID() + 0");
                inside.quit();
                let mut client = proxy.client(&login);
                assert_eq!(client.value("SELECT CONCAT_WS('', DATABASE())"), "", "{plugin} {round} {thread}");
            }
            let left = figure(&mut proxy.operator(), "Com_backend_change_user");
            assert!(left >= 3, "{plugin}: {left}");
        }
    }
}

#[test]
fn server_whose_logins_do_more_is_asked_once_for_a_new_one() {
    let ground = Ground::new(Kind::MariaDb, 100, Setup::default());
    let mut primary = servers::primary(&ground.lab);
    primary.ok("SET GLOBAL init_connect = 'SET @greeted = 1'");
    for _ in 0..5 {
        let mut inside = ground.in_schema("wp");
        inside.ok("SELECT v FROM t");
        inside.settle();
        assert_eq!(ground.client().value("SELECT DATABASE()"), "NULL");
    }
    assert_eq!(figure(&mut ground.proxy.operator(), "Com_backend_change_user"), 1);
}
