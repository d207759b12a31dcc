//! ProxySQL's delays, which keep a connection for a while; and schemas that users may not leave.

use crate::deadline::{Stopwatch, await_that};
use crate::proxy::Setup;
use crate::stage::Stage;
use std::time::Duration;

fn held(stage: &Stage) -> String {
    let why = "SELECT extended_info FROM stats_mysql_processlist WHERE user = ";
    stage.proxy.operator().value(format!("{why}'{}'", stage.login().user))
}

fn with_counter(setup: Setup, user: &str) -> Stage {
    let stage = Stage::with_user(setup, user);
    stage.primary().ok("CREATE TABLE counter (id INT AUTO_INCREMENT PRIMARY KEY, v INT)");
    stage
}

const DELAYED: &str = "{\"pinned_by\":\"delay_multiplex\"}";

#[test]
fn insert_keeps_its_connection_for_so_many_statements() {
    let stage = with_counter(Setup::default().variable("mysql-auto_increment_delay_multiplex", 2), "");
    let mut client = stage.client();
    client.ok("INSERT INTO counter (v) VALUES (1)");
    for _ in 0..2 {
        client.settle();
        assert_eq!((held(&stage).as_str(), stage.pool("ConnUsed", 0)), (DELAYED, 1));
        client.ok("SELECT v FROM t");
    }
    client.settle();
    assert_eq!((held(&stage).as_str(), stage.pool("ConnUsed", 0)), ("NULL", 0));
    assert_eq!(client.value("SELECT LAST_INSERT_ID()"), "1");
    client.ok("INSERT INTO counter (v) VALUES (2)");
    client.settle();
    assert_eq!(stage.pool("ConnUsed", 0), 1);
    client.quit();
    stage.await_unpinned();
    assert_eq!(stage.pool("ConnFree", 0), 1, "put back, not closed");
    assert_eq!(stage.figure("MyHGM_myconnpoll_reset"), 0);
}

#[test]
fn delay_after_an_insert_ends_by_itself_and_the_id_stays() {
    let setup = Setup::default()
        .variable("mysql-auto_increment_delay_multiplex", 1000)
        .variable("mysql-auto_increment_delay_multiplex_timeout_ms", 300);
    let stage = with_counter(setup, "");
    let mut client = stage.client();
    // The proxy cannot see that the id was made up: the connection knows.
    client.ok("INSERT INTO counter (v) SELECT 7 FROM t");
    client.settle();
    assert_eq!(held(&stage), DELAYED);
    stage.await_unpinned();
    assert_eq!(client.value("SELECT LAST_INSERT_ID()"), "1");
}

#[test]
fn delays_of_hostgroup_and_user_go_before_the_variables() {
    let stage = Stage::plain();
    let mut client = stage.client();
    // Once it is known that no stored code stands behind the table.
    client.ok("SELECT v FROM t");
    stage.await_unpinned();
    client.ok("SELECT v FROM t");
    client.settle();
    assert_eq!(stage.pool("ConnUsed", 0), 0, "by default nothing is kept");
    stage.administer([
        "INSERT INTO mysql_hostgroup_attributes (hostgroup_id, hostgroup_settings) \
         VALUES (0, '{\"connection_delay_multiplex_ms\": 600}')",
        "LOAD MYSQL SERVERS TO RUNTIME",
    ]);
    let watch = Stopwatch::start();
    client.ok("SELECT v FROM t");
    client.settle();
    assert_eq!(held(&stage), DELAYED);
    stage.await_unpinned();
    assert!(watch.elapsed() >= Duration::from_millis(600));
    stage.administer([
        "UPDATE mysql_users SET attributes = '{\"connection_delay_multiplex_ms\": 0}'",
        "LOAD MYSQL USERS TO RUNTIME",
    ]);
    client.ok("SELECT v FROM t");
    client.settle();
    assert_eq!(stage.pool("ConnUsed", 0), 0);
}

#[test]
fn delayed_connection_serves_the_transaction_that_follows() {
    let stage = Stage::with(Setup::default().variable("mysql-connection_delay_multiplex_ms", 60_000));
    let (mut client, mut other) = (stage.client(), stage.client());
    client.ok("SELECT v FROM t");
    other.ok("SELECT v FROM t");
    client.ok("BEGIN");
    client.ok("UPDATE t SET v = 'kept' WHERE id = 1");
    client.ok("ROLLBACK");
    client.settle();
    assert_eq!(stage.pool("ConnUsed", 0), 2, "each keeps its own");
    stage.administer(["SET mysql-connection_delay_multiplex_ms = 0", "LOAD MYSQL VARIABLES TO RUNTIME"]);
    for client in [&mut client, &mut other] {
        assert_eq!(client.value("SELECT v FROM t WHERE id = 1"), "one");
    }
    await_that("both are put back", || stage.pool("ConnUsed", 0) == 0);
}

#[test]
fn locked_schema_is_not_left() {
    let stage = Stage::with_user(Setup::default(), ", schema_locked=1");
    let mut client = stage.client();
    for error in [
        client.refused("USE mysql"),
        client.init_db("mysql").expect_err("it is locked").server(),
        client.refused("use `information_schema`"),
    ] {
        assert_eq!((error.code, error.state.as_str()), (1044, "42000"), "{error:?}");
        assert!(error.message.contains("schema_locked"), "{error:?}");
    }
    assert_eq!(client.value("SELECT DATABASE()"), stage.schema);
    client.ok(format!("USE {}", stage.schema));
    stage.administer([
        &format!("UPDATE mysql_users SET default_schema = '{}'", stage.schema),
        "LOAD MYSQL USERS TO RUNTIME",
    ]);
    let refused = stage.proxy.try_client(&stage.login().schema("mysql")).expect_err("it is locked").server();
    assert_eq!(refused.code, 1044);
    let without = crate::client::Login { schema: None, ..stage.login() };
    assert_eq!(stage.proxy.client(&without).value("SELECT DATABASE()"), stage.schema);
}
