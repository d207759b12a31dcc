//! What happens to a connection with state when its session lets go of it.

use nuthatch_lab::Kind;
use nuthatch_wire::CapabilityFlags;

use crate::client::Login;
use crate::deadline::await_that;
use crate::proxy::{Proxy, Setup};
use crate::servers;
use crate::stage::{self, Stage, figure};

/// The server's own number of the connection that a session gets.
const THREAD: &str = "SELECT id FROM information_schema.processlist WHERE info LIKE 'SELECT id FROM information_schema%' AND db = DATABASE()";

#[test]
fn connection_with_state_is_reset_and_put_back() {
    let stage = Stage::plain();
    let lock = format!("lock_{}", stage.schema);
    for (make, see, expected) in [
        ("SELECT @a := 1", "SELECT @a".to_owned(), "NULL"),
        ("SET pseudo_thread_id = 99", "SELECT @@pseudo_thread_id = 99".into(), "0"),
        ("SET sql_mode = 'ANSI_QUOTES', @b = CONCAT(2)", "SELECT \"text\"".into(), "text"),
        ("SET autocommit = 0, @c = CONCAT(1)", "SELECT @@autocommit".into(), "1"),
        ("CREATE TEMPORARY TABLE t SELECT 1 AS id, 'own' AS v", "SELECT v FROM t WHERE id = 1".into(), "one"),
        ("LOCK TABLES t READ", "SELECT COUNT(*) FROM t WHERE v LIKE '%changed%'".into(), "0"),
        (&format!("SELECT GET_LOCK('{lock}', 0)"), format!("SELECT IS_FREE_LOCK('{lock}')"), "1"),
        ("HANDLER t OPEN", "SELECT 1".into(), "1"),
    ] {
        let mut client = stage.client();
        let resets = stage.figure("MyHGM_myconnpoll_reset");
        let thread = client.value(THREAD);
        client.ok(make);
        client.quit();
        await_that("it is reset", || stage.figure("MyHGM_myconnpoll_reset") == resets + 1);
        stage.await_unpinned();
        let mut other = stage.client();
        assert_eq!(other.value(THREAD), thread, "{make}: the same connection");
        assert_eq!(other.value(&see), expected, "{make}");
        other.ok("UPDATE t SET v = v");
        other.quit();
        stage.await_unpinned();
    }
    assert_eq!(stage.pool("ConnOK", 0), 2, "the scout's, and one for all");
}

#[test]
fn reset_by_the_client_puts_its_connection_back() {
    let stage = Stage::plain();
    let mut client = stage.client();
    let statement = client.prepare("SELECT v FROM t WHERE id = 1").expect("it is prepared");
    client.ok("SELECT @a := 1");
    let thread = client.value(THREAD);
    client.command(0x1F, &[]).expect("a reset is answered");
    await_that("it is reset", || stage.figure("MyHGM_myconnpoll_reset") == 1);
    stage.await_unpinned();
    assert_eq!(client.value("SELECT @a"), "NULL");
    assert_eq!(client.value(THREAD), thread);
    assert_eq!(client.execute(&statement, &[]).expect_err("it is gone").server().code, 1243);
    let again = client.prepare("SELECT v FROM t WHERE id = 1").expect("it is prepared");
    assert_eq!(client.execute(&again, &[]).expect("it runs").value(), "one");
}

#[test]
fn character_set_after_a_reset_is_known() {
    let stage = Stage::plain();
    let see =
        "SELECT CONCAT_WS(' ', @@character_set_client, @@collation_connection, @@character_set_results)";
    let latin1 = stage.login().collation(8);
    for login in [stage.login(), latin1.clone(), stage.login(), latin1] {
        let mut client = stage.proxy.client(&login);
        let expected = client.value(see);
        client.ok("SET NAMES cp1251");
        client.ok("SELECT @a := 1");
        client.quit();
        stage.await_unpinned();
        assert_eq!(stage.proxy.client(&login).value(see), expected);
    }
}

#[test]
fn schema_keeps_its_character_set_over_a_reset_and_has_the_new_one_after_an_alter() {
    const ASK: &str = "SELECT @@character_set_database";
    let stage = Stage::plain();
    stage.administer(["UPDATE mysql_servers SET max_connections = 1", "LOAD MYSQL SERVERS TO RUNTIME"]);
    let mut primary = stage.primary();
    primary.ok(format!("ALTER DATABASE {} CHARACTER SET latin1", stage.schema));
    let mut client = stage.client();
    assert_eq!(client.value(ASK), "latin1");
    client.ok("SELECT @a := 1");
    client.quit();
    stage.await_unpinned();
    assert_eq!(stage.pool("MAX(ConnFree)", 0), 1, "it was reset and put back");
    let mut client = stage.client();
    assert_eq!(client.value(ASK), "latin1");
    stage.client().ok(format!("ALTER DATABASE {} CHARACTER SET utf8mb3", stage.schema));
    assert_eq!(stage.client().value(ASK), "utf8mb3");
}

#[test]
fn connection_that_a_reset_may_not_clean_is_closed() {
    let stage = Stage::plain();
    stage.primary().ok("CREATE PROCEDURE hides() SET @hidden = 1");
    for make in ["CALL hides()", "XA START 'x'", "BEGIN"] {
        let mut client = stage.client();
        client.ok(make);
        client.ok("SELECT v FROM t");
        client.quit();
        stage.await_unpinned();
        assert_eq!(stage.pool("ConnFree", 0), 0, "{make}");
    }
    assert_eq!(stage.figure("MyHGM_myconnpoll_reset"), 0);
}

#[test]
fn nothing_is_reset_where_that_is_turned_off() {
    let stage = Stage::with(Setup::default().variable("mysql-connpoll_reset_queue_length", 0));
    let mut client = stage.client();
    client.ok("SELECT @a := 1");
    client.quit();
    stage.await_unpinned();
    assert_eq!((stage.pool("ConnFree", 0), stage.figure("MyHGM_myconnpoll_reset")), (0, 0));
}

#[test]
fn connection_of_a_server_with_init_connect_is_closed_not_reset() {
    let lab = servers::own(0);
    servers::primary(&lab).ok("SET GLOBAL init_connect = 'SET @server_says = 1'");
    servers::primary(&lab).ok("CREATE USER plain IDENTIFIED BY 'p'");
    let login = Login::new("plain", "p");
    let setup = stage::before(Setup::default(), &lab).user(stage::user_row(&login, ""));
    let proxy = Proxy::start(&setup);
    let mut client = proxy.client(&login);
    assert_eq!(client.value("SELECT @server_says"), "1");
    client.quit();
    let used = "SELECT SUM(ConnUsed) FROM stats_mysql_connection_pool";
    await_that("it is let go of", || proxy.operator().value(used) == "0");
    assert_eq!(figure(&mut proxy.operator(), "MyHGM_myconnpoll_reset"), 0);
    assert_eq!(proxy.client(&login).value("SELECT @server_says"), "1");
}

/// Servers keep both over a reset, also where only they know them.
#[test]
fn schema_and_role_of_a_text_that_is_not_understood_outlast_a_reset() {
    for kind in [Kind::MariaDb, Kind::MySql] {
        let stage = Stage::before_kind(kind, Setup::default());
        let mut primary = stage.primary();
        let (other, role) = (servers::fresh_name("other"), servers::fresh_name("r"));
        primary.ok(format!("CREATE DATABASE {other}"));
        primary.ok(format!("CREATE ROLE {role}"));
        let login = stage.login().schema(&stage.schema).with(CapabilityFlags::CLIENT_MULTI_STATEMENTS);
        for text in [
            format!("USE {other}; SELECT 1"),
            format!("SELECT 1; USE {other}"),
            format!("USE {other}; SELEKT"),
        ] {
            let mut client = stage.proxy.client(&login);
            drop(client.query_whole(&text));
            client.command(0x1F, &[]).expect("a reset is answered");
            assert_eq!(client.value("SELECT DATABASE()"), other, "{kind:?}: {text}");
        }
        let mut client = stage.proxy.client(&login);
        let account = client.value("SELECT CURRENT_USER()").replacen('@', "`@`", 1);
        primary.ok(format!("GRANT {role} TO `{account}`"));
        drop(client.query_whole(format!("SET ROLE {role}; SELECT 1")));
        client.command(0x1F, &[]).expect("a reset is answered");
        assert!(client.value("SELECT CURRENT_ROLE()").contains(&role), "{kind:?}");
        assert_eq!(client.value("SELECT DATABASE()"), stage.schema);
        primary.ok(format!("DROP ROLE {role}"));
        primary.ok(format!("DROP DATABASE {other}"));
    }
}
