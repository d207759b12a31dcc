//! The default schema and the character set, on whichever connection the session gets.

use nuthatch_lab::Kind;
use nuthatch_wire::CapabilityFlags;

use crate::proxy::Setup;
use crate::servers;
use crate::stage::Stage;

/// A second schema with a table `t` of other content.
fn other_schema(stage: &Stage) -> String {
    let other = servers::fresh_name("s");
    let mut primary = stage.primary();
    primary.ok(format!("CREATE DATABASE {other}"));
    primary.ok(format!("CREATE TABLE {other}.t SELECT 1 AS id, 'other' AS v"));
    other
}

#[test]
fn schema_follows_the_session_over_one_shared_connection() {
    let stage = Stage::plain();
    let other = other_schema(&stage);
    let (mut a, mut b) = (stage.client(), stage.client());
    b.ok(format!("USE {other}"));
    for _ in 0..5 {
        assert_eq!(a.value("SELECT v FROM t WHERE id = 1"), "one");
        assert_eq!(b.value("SELECT v FROM t WHERE id = 1"), "other");
    }
    assert_eq!(a.value("SELECT DATABASE()"), stage.schema);
    assert_eq!(b.value("SELECT DATABASE()"), other);
    assert!(stage.pool("ConnOK", 0) <= 3, "hardly a new connection for each statement");
}

#[test]
fn schema_in_wide_characters_is_chosen_like_any_other() {
    for kind in [Kind::MariaDb, Kind::MySql] {
        let stage = Stage::before_kind(kind, Setup::default());
        for charset in ["utf16", "utf16le", "ucs2", "utf32"] {
            let wide = servers::fresh_name("s");
            stage.primary().ok(format!("CREATE DATABASE {wide} CHARACTER SET {charset}"));
            let (mut by_text, mut by_command) = (stage.client(), stage.client());
            by_text.ok(format!("USE {wide}"));
            by_command.init_db(&wide).expect("it is there");
            for client in [&mut by_text, &mut by_command] {
                client.ok("SET @a = 1");
                client.ok("CREATE TABLE IF NOT EXISTS t (v TEXT)");
                assert_eq!(
                    client.value("SELECT CONCAT(DATABASE(), @a)"),
                    format!("{wide}1"),
                    "{kind:?} {charset}"
                );
                client.ok(format!("USE {}", stage.schema));
                assert_eq!(client.value("SELECT v FROM t WHERE id = 1"), "one");
            }
        }
    }
}

#[test]
fn each_schema_has_its_connection_while_there_are_few() {
    let stage = Stage::with(Setup::default().variable("mysql-connections_before_change", 2));
    let schemas: Vec<_> = (0..4).map(|_| other_schema(&stage)).collect();
    let mut clients: Vec<_> =
        schemas.iter().map(|schema| stage.proxy.client(&stage.login().schema(schema))).collect();
    let turn = |clients: &mut [crate::client::Client]| {
        for client in clients {
            assert_eq!(client.value("SELECT v FROM t"), "other");
        }
        stage.figure("Com_backend_init_db")
    };
    turn(&mut clients[..3]);
    assert_eq!(stage.pool("ConnFree", 0), 3, "up to two, one more is opened");
    let before = turn(&mut clients[..3]);
    assert_eq!(turn(&mut clients[..3]), before, "none is changed");
    assert!(turn(&mut clients) > before, "one is changed for the fourth");
    assert_eq!(stage.pool("ConnFree", 0), 3);
}

#[test]
fn statement_behind_a_change_of_schema_that_is_refused_runs_in_no_other() {
    let stage = Stage::plain();
    stage.administer(["UPDATE mysql_servers SET max_connections = 1", "LOAD MYSQL SERVERS TO RUNTIME"]);
    let other = other_schema(&stage);
    let elsewhere = || stage.proxy.client(&stage.login().schema(&other));
    let (mut a, mut reader, mut writer) = (stage.client(), elsewhere(), elsewhere());
    for _ in 0..2 {
        for client in [&mut reader, &mut writer] {
            assert_eq!(a.value("SELECT v FROM t WHERE id = 1"), "one");
            assert_eq!(client.value("SELECT v FROM t WHERE id = 1"), "other");
        }
    }
    assert_eq!(a.value("SELECT v FROM t WHERE id = 1"), "one");
    stage.primary().ok(format!("DROP DATABASE {other}"));
    let let_go = format!("SELECT DATABASE() FROM {}.t", stage.schema);
    assert_eq!(reader.refused("SELECT v FROM t WHERE id = 1").code, 1046, "not what the other's schema has");
    assert_eq!(reader.value(&let_go), "NULL");
    assert_eq!(a.value("SELECT v FROM t WHERE id = 1"), "one");
    assert_eq!(writer.refused("UPDATE t SET v = 'lost'").code, 1046);
    assert_eq!(writer.value(&let_go), "NULL");
    assert_eq!(a.value("SELECT v FROM t WHERE id = 1"), "one");
}

#[test]
fn use_and_init_db_do_the_same() {
    let stage = Stage::plain();
    let other = other_schema(&stage);
    let mut client = stage.client();
    client.init_db(&other).unwrap();
    assert_eq!(client.value("SELECT v FROM t"), "other");
    client.ok(format!("use `{}`", stage.schema));
    assert_eq!(client.value("SELECT COUNT(*) FROM t"), "3");
    client.ok(format!("/* comment */ USE {other};"));
    assert_eq!(client.value("SELECT v FROM t"), "other");
}

#[test]
fn unknown_schema_is_error_1049_and_changes_nothing() {
    let stage = Stage::plain();
    let mut client = stage.client();
    for error in [client.init_db("no_such").unwrap_err().server(), client.refused("USE no_such")] {
        assert_eq!((error.code, error.state.as_str()), (1049, "42000"), "{error:?}");
        assert_eq!(client.value("SELECT DATABASE()"), stage.schema);
    }
}

#[test]
fn unknown_schema_at_login_is_told_at_the_first_statement_at_the_latest() {
    let stage = Stage::plain();
    let error = match stage.proxy.try_client(&stage.login().schema("no_such")) {
        Ok(mut client) => client.refused("SELECT 1"),
        Err(failure) => failure.server(),
    };
    assert_eq!(error.code, 1049);
}

#[test]
fn session_without_a_schema_is_not_given_somebody_elses() {
    let stage = Stage::plain();
    stage.client().ok("SELECT v FROM t");
    let mut login = stage.login();
    login.schema = None;
    let mut client = stage.proxy.client(&login);
    assert_eq!(client.value("SELECT DATABASE()"), "NULL");
    assert_eq!(client.refused("SELECT v FROM t").code, 1046);
}

#[test]
fn session_whose_schema_is_dropped_goes_on_over_an_old_and_over_a_new_connection() {
    let stage = Stage::plain();
    for idle in [1, 0] {
        let gone = servers::fresh_name("s");
        stage.primary().ok(format!("CREATE DATABASE {gone}"));
        let mut client = stage.proxy.client(&stage.login().schema(&gone));
        client.ok("SELECT 1");
        let mut others: Vec<_> = (0..8).map(|_| stage.client()).collect();
        if idle == 0 {
            others.iter_mut().for_each(|other| drop(other.ok("BEGIN")));
            assert_eq!(stage.pool("ConnFree", 0), 0, "the next statement needs a new connection");
        }
        stage.primary().ok(format!("DROP DATABASE {gone}"));
        let code = client.refused("SELECT * FROM t").code;
        assert!([1046, 1146].contains(&code), "{code} with {idle} idle");
        client.ok(format!("USE {}", stage.schema));
        assert_eq!(client.value("SELECT COUNT(*) FROM t"), "3");
    }
}

#[test]
fn default_schema_of_the_user_is_used_where_the_login_names_none() {
    let stage = Stage::plain();
    stage.administer([
        &format!("UPDATE mysql_users SET default_schema = '{}'", stage.schema),
        "LOAD MYSQL USERS TO RUNTIME",
    ]);
    let mut login = stage.login();
    login.schema = None;
    assert_eq!(stage.proxy.client(&login).value("SELECT v FROM t WHERE id = 2"), "two");
}

#[test]
fn dropped_schema_is_no_longer_the_sessions() {
    let stage = Stage::plain();
    let other = other_schema(&stage);
    let mut client = stage.client();
    client.ok(format!("USE {other}"));
    client.ok(format!("DROP DATABASE {other}"));
    assert_eq!(client.value("SELECT DATABASE()"), "NULL");
    assert_eq!(stage.client().value("SELECT v FROM t WHERE id = 1"), "one");
}

#[test]
fn set_names_follows_the_session_in_every_spelling() {
    let stage = Stage::plain();
    let ask =
        "SELECT CONCAT_WS(',', @@character_set_client, @@character_set_results, @@collation_connection)";
    let mut plain = stage.client();
    let usual = plain.value(ask);
    for (spelling, expected) in [
        ("SET NAMES latin1", "latin1,latin1,latin1_swedish_ci"),
        ("set names 'latin1'", "latin1,latin1,latin1_swedish_ci"),
        ("SET NAMES \"latin1\" COLLATE \"latin1_bin\"", "latin1,latin1,latin1_bin"),
        ("SET  NAMES  utf8mb4  COLLATE  utf8mb4_unicode_ci ;", "utf8mb4,utf8mb4,utf8mb4_unicode_ci"),
        ("/* a */ SET NAMES latin2", "latin2,latin2,latin2_general_ci"),
        ("SET CHARACTER SET latin1", "latin1,latin1,"),
        ("SET character_set_results = latin2", ",latin2,"),
    ] {
        let mut client = stage.client();
        client.ok(spelling);
        for _ in 0..2 {
            let found = client.value(ask);
            let fits =
                expected.split(',').zip(found.split(',')).all(|(want, is)| want.is_empty() || want == is);
            assert!(fits, "{spelling}: {found}");
            assert_eq!(plain.value(ask), usual, "somebody else's session");
        }
        client.quit();
        assert_eq!(stage.client().value(ask), usual, "a later session");
    }
}

#[test]
fn collation_of_the_login_is_the_sessions() {
    let stage = Stage::plain();
    let ask = "SELECT @@collation_connection";
    for (number, name) in [
        (8, "latin1_swedish_ci"),
        (33, "utf8mb3_general_ci"),
        (45, "utf8mb4_general_ci"),
        (46, "utf8mb4_bin"),
    ] {
        let mut client = stage.proxy.client(&stage.login().collation(number));
        assert_eq!(client.value(ask), name);
        assert_eq!(stage.client().value(ask), "utf8mb4_general_ci");
        assert_eq!(client.value(ask), name, "again, on a connection that was somebody else's");
    }
}

#[test]
fn wrong_set_names_is_refused_and_changes_nothing() {
    let stage = Stage::plain();
    let mut client = stage.client();
    assert_eq!(client.refused("SET NAMES no_such").code, 1115);
    assert_eq!(client.refused("SET NAMES latin1 COLLATE utf8mb4_bin").code, 1253);
    assert_eq!(client.value("SELECT @@character_set_client"), "utf8mb4");
}

#[test]
fn found_rows_capability_of_the_client_is_kept() {
    let stage = Stage::plain();
    let update = "UPDATE t SET v = 'one' WHERE id = 1";
    let mut matched = stage.proxy.client(&stage.login().with(CapabilityFlags::CLIENT_FOUND_ROWS));
    let mut changed = stage.client();
    for _ in 0..2 {
        assert_eq!(matched.ok(update).affected_rows, 1);
        assert_eq!(changed.ok(update).affected_rows, 0);
    }
}

#[test]
fn greeting_is_the_servers_unless_a_version_is_set() {
    let stage = Stage::plain();
    let real = servers::primary(servers::shared()).greeting;
    let greeted = stage.client().greeting;
    assert_eq!(String::from_utf8_lossy(&greeted.version), String::from_utf8_lossy(&real.version));
    assert_eq!(greeted.collation, real.collation);
    let set = Stage::with(Setup::default().variable("mysql-server_version", "'8.0.99-test'"));
    assert_eq!(set.client().greeting.version, b"8.0.99-test");
}
