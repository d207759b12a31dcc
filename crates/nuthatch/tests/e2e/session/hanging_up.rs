//! Statements behind which a server hangs up, or stops: their failures end no session, and nobody stops a server unless that is allowed.

use nuthatch_lab::Kind;

use crate::client::Login;
use crate::proxy::Setup;
use crate::servers;
use crate::two_ways::TwoWays;

const STOPS: [&str; 9] = [
    "SHUTDOWN",
    "/* now */ shutdown;",
    "/*! SHUTDOWN */",
    "SELECT 1; SHUTDOWN",
    "RESTART",
    "PREPARE s FROM 'SHUTDOWN'",
    "EXECUTE IMMEDIATE 'SHUTDOWN'",
    "BEGIN NOT ATOMIC SHUTDOWN; END",
    "CREATE PROCEDURE stops() SHUTDOWN",
];

fn check(kind: Kind) {
    let ways = TwoWays::new(kind, Setup::default(), &["CREATE TABLE t (id INT)"]);
    let (mut client, mut straight) = (ways.proxied(), ways.straight());
    for stops in STOPS {
        let refused = client.refused(stops);
        assert_eq!(refused.code, 1227, "{stops}: {}", refused.message);
        assert_eq!(client.value("SELECT 7"), "7", "{kind:?}: the session goes on behind {stops}");
    }
    assert_eq!(client.prepare("SHUTDOWN").expect_err("it is refused").server().code, 1227);
    assert_eq!(client.value("SELECT 7"), "7");

    client.ok("BEGIN");
    client.ok("INSERT INTO t VALUES (1)");
    straight.ok("BEGIN");
    for fails in [
        "COMMIT AND CHAIN RELEASE",
        "ROLLBACK AND CHAIN RELEASE",
        "COMMIT RELEASE AND CHAIN",
        "COMMIT RELEASE 1",
    ] {
        assert_eq!(client.refused(fails).code, straight.refused(fails).code, "{kind:?}: {fails}");
        assert_eq!(
            client.value("SELECT COUNT(*) FROM t"),
            "1",
            "{kind:?}: the transaction goes on behind {fails}"
        );
    }
    client.ok("COMMIT RELEASE");
    assert!(client.is_closed_by_server(), "it succeeded");
    assert_eq!(ways.proxied().value("SELECT COUNT(*) FROM t"), "1");

    // As far as the server allows it.
    let user = servers::fresh_name("weak");
    straight.ok(format!("CREATE USER {user}@'%' IDENTIFIED BY 'pw'"));
    let mut operator = ways.proxy.operator();
    operator.ok("SET mysql-allow_shutdown = 'true'");
    operator.ok("LOAD MYSQL VARIABLES TO RUNTIME");
    operator.ok(format!("INSERT INTO mysql_users (username, password) VALUES ('{user}', 'pw')"));
    operator.ok("LOAD MYSQL USERS TO RUNTIME");
    let mut weak = ways.proxy.client(&Login::new(&user, "pw"));
    assert_eq!(weak.refused("SHUTDOWN").code, 1227, "the server refuses it");
    assert_eq!(weak.value("SELECT 7"), "7", "{kind:?}: the session goes on");
    let mut strong = ways.proxied();
    assert!(strong.query("SHUTDOWN").is_ok());
    assert!(strong.is_closed_by_server(), "it succeeded");
}

#[test]
fn statement_that_would_disconnect_ends_no_session_if_it_fails_at_mariadb() {
    check(Kind::MariaDb);
}

#[test]
fn statement_that_would_disconnect_ends_no_session_if_it_fails_at_mysql() {
    check(Kind::MySql);
}
