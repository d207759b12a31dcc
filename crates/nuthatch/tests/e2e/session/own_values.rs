//! What MariaDB keeps by connection of its last statements: no session is told another's.

use nuthatch_lab::Kind;

use crate::deadline::await_that;
use crate::proxy::Setup;
use crate::servers;
use crate::stage::Stage;

const NOT_SUPPORTED: u16 = 1235;

#[test]
fn last_value_of_a_sequence_is_the_sessions_own_or_refused() {
    let stage = Stage::plain();
    let mut primary = stage.primary();
    for statement in ["CREATE SEQUENCE s", "CREATE SEQUENCE other", "CREATE TABLE kept (v BIGINT)"] {
        primary.ok(statement);
    }
    let (mut one, mut two) = (stage.client(), stage.client());
    for (client, expected) in [(&mut one, "1"), (&mut two, "2")] {
        assert_eq!(client.value("SELECT NEXTVAL(s)"), expected);
    }
    for asking in ["SELECT LASTVAL(s)", "SELECT PREVIOUS VALUE FOR s", "INSERT INTO kept VALUES (LASTVAL(s))"]
    {
        let refused = one.refused(asking);
        assert_eq!(refused.code, NOT_SUPPORTED, "{asking}");
        assert!(refused.message.contains("NEXTVAL"), "{}", refused.message);
        assert!(one.prepare(asking).is_ok_and(|it| one.execute(&it, &[]).is_err()), "prepared: {asking}");
    }
    one.ok("BEGIN");
    assert_eq!(one.refused("SELECT LASTVAL(s)").code, NOT_SUPPORTED, "the transaction has not advanced it");
    assert_eq!(one.value("SELECT NEXTVAL(s)"), "3");
    assert_eq!(two.value("SELECT NEXTVAL(s)"), "4");
    assert_eq!(one.value("SELECT LASTVAL(s)"), "3");
    one.ok("INSERT INTO kept VALUES (PREVIOUS VALUE FOR s)");
    assert_eq!(one.refused("SELECT LASTVAL(other)").code, NOT_SUPPORTED, "nor that");
    one.ok("COMMIT");
    assert_eq!(one.value("SELECT v FROM kept"), "3");
    one.ok("SET sql_mode = 'ORACLE'");
    assert_eq!(one.refused("SELECT s.currval FROM dual").code, NOT_SUPPORTED);
    assert_eq!(one.value("SELECT s.nextval FROM dual"), "5");
}

#[test]
fn number_of_the_last_change_is_the_sessions_own_or_refused() {
    let stage = Stage::plain();
    let (mut one, mut two) = (stage.client(), stage.client());
    two.ok("UPDATE t SET v = 'two' WHERE id = 2");
    let refused = one.refused("SELECT @@last_gtid");
    assert_eq!(refused.code, NOT_SUPPORTED);
    assert!(refused.message.contains("session_track_system_variables"), "{}", refused.message);
    one.ok("SET @keeps = CONCAT('a', 'connection')");
    assert_eq!(one.refused("SELECT @@last_gtid").code, NOT_SUPPORTED, "it has changed nothing there");
    one.ok("UPDATE t SET v = 'three' WHERE id = 1");
    let own = one.value("SELECT @@last_gtid");
    assert!(own.contains('-'), "{own}");
    two.ok("UPDATE t SET v = 'four' WHERE id = 2");
    assert_eq!(one.value("SELECT @@last_gtid"), own);
}

/// A view or function that reads it, and the list of variables, are given the session's own as text is.
#[test]
fn last_insert_id_is_the_sessions_own_wherever_it_is_read() {
    for kind in [Kind::MariaDb, Kind::MySql] {
        // Then it is known what views read.
        let stage = Stage::before_kind(kind, Setup::default().variable("mysql-query_cache_type", 1));
        let mut primary = stage.client();
        for statement in [
            "CREATE VIEW asks AS SELECT LAST_INSERT_ID() AS id",
            "CREATE VIEW over_asks AS SELECT id FROM asks",
            "CREATE TABLE k (id INT AUTO_INCREMENT PRIMARY KEY, v BIGINT)",
        ] {
            primary.ok(statement);
        }
        let mut clients = [(); 3].map(|()| stage.client());
        await_that("the table that was made last is known", || {
            primary.ok("SELECT v FROM k WHERE v = 0");
            stage.figure("Query_Cache_count_GET_OK") > 0
        });
        for client in &mut clients {
            client.ok("INSERT INTO k (v) VALUES (1)");
        }
        for client in &mut clients {
            let own = client.value("SELECT LAST_INSERT_ID()");
            assert_eq!(client.value("SELECT id FROM asks"), own, "{kind:?}");
            assert_eq!(client.value("SELECT id FROM over_asks"), own, "{kind:?}");
            let listed = client.table("SHOW VARIABLES LIKE 'last_insert_id'");
            assert_eq!(listed, [["last_insert_id".to_owned(), own]], "{kind:?}");
        }
    }
}

/// The role before may have been taken away: another can be set, or none.
#[test]
fn role_that_was_revoked_can_be_left() {
    for kind in [Kind::MariaDb, Kind::MySql] {
        let stage = Stage::before_lab(servers::of_kind(kind), Setup::default());
        let mut primary = stage.primary();
        let (role, user) = (servers::fresh_name("r"), stage.login().user.clone());
        primary.ok(format!("CREATE ROLE {role}"));
        let mut client = stage.client();
        let account = client.value("SELECT CURRENT_USER()").replacen('@', "`@`", 1);
        primary.ok(format!("GRANT {role} TO `{account}`"));
        client.ok(format!("SET ROLE {role}"));
        client.ok("SELECT 1");
        primary.ok(format!("REVOKE {role} FROM `{account}`"));
        client.ok("SET ROLE NONE");
        assert_eq!(client.value("SELECT 1"), "1", "{kind:?}, {user}");
        primary.ok(format!("DROP ROLE {role}"));
    }
}
