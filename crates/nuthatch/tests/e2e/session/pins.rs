//! State that cannot travel keeps its connection, and goes with it.

use nuthatch_wire::{CapabilityFlags, Command};

use crate::client::{Client, Login};
use crate::deadline::await_that;
use crate::proxy::Setup;
use crate::servers;
use crate::stage::{Stage, figure};

/// Makes state with `make`, sees it with `see` while others work, and sees nothing of it in a later session.
#[track_caller]
fn check_pinned(stage: &Stage, make: &[&str], see: &str, expected: &str, elsewhere: &str) {
    check_own(stage, make, see, expected, elsewhere, true);
}

/// The same for state that travels.
#[track_caller]
fn check_carried(stage: &Stage, make: &[&str], see: &str, expected: &str, elsewhere: &str) {
    check_own(stage, make, see, expected, elsewhere, false);
}

#[track_caller]
fn check_own(stage: &Stage, make: &[&str], see: &str, expected: &str, elsewhere: &str, pins: bool) {
    let (mut client, mut other) = (stage.client(), stage.client());
    let seen = |client: &mut Client| match client.query(see) {
        Ok(answer) => answer.value(),
        Err(failure) => failure.server().code.to_string(),
    };
    make.iter().for_each(|statement| drop(client.ok(statement)));
    for _ in 0..3 {
        assert_eq!(seen(&mut other), elsewhere, "{make:?}: another session");
        assert_eq!(seen(&mut client), expected, "{make:?}");
    }
    if pins {
        assert!(stage.pool("ConnUsed", 0) >= 1, "{make:?} pins");
    } else {
        stage.await_unpinned();
    }
    client.quit();
    other.quit();
    stage.await_unpinned();
    assert_eq!(seen(&mut stage.client()), elsewhere, "{make:?}: a later session");
}

#[test]
fn user_variables_are_the_sessions() {
    let stage = Stage::plain();
    check_carried(&stage, &["SET @a = 'mine'"], "SELECT @a", "mine", "NULL");
    check_pinned(&stage, &["SET @a = CONCAT('mi', 'ne')"], "SELECT @a", "mine", "NULL");
    check_pinned(&stage, &["SELECT @a := 'mine'"], "SELECT @a", "mine", "NULL");
    check_pinned(&stage, &["SELECT v INTO @a FROM t WHERE id = 1"], "SELECT @a", "one", "NULL");
}

#[test]
fn several_statements_in_one_hold_what_each_of_them_holds() {
    let stage = Stage::plain();
    let mut client = stage.client();
    client
        .query_all("UPDATE t SET v = 'a' WHERE id = 1; UPDATE t SET v = 'b' WHERE id = 2; SELECT 1")
        .unwrap();
    stage.await_unpinned();
    client.query_all("BEGIN; UPDATE t SET v = 'c'; COMMIT; SELECT 1").unwrap();
    stage.await_unpinned();
    assert_eq!(stage.client().value("SELECT v FROM t WHERE id = 2"), "c");
    client.query_all("BEGIN; UPDATE t SET v = 'd'").unwrap();
    assert_eq!(stage.pool("ConnUsed", 0), 1, "a transaction is open");
    client.ok("ROLLBACK");
    stage.await_unpinned();
    client.query_all("SET @a = 5; SELECT 1").unwrap();
    assert_eq!(stage.pool("ConnUsed", 0), 1, "nobody knows what was set");
    assert_eq!(client.value("SELECT @a"), "5");
}

/// A role travels, and what it gives access to is nobody else's, from the cache neither.
#[test]
fn role_is_the_sessions() {
    let stage = Stage::caching();
    let (other, role, user) = (servers::fresh_name("s"), servers::fresh_name("r"), servers::fresh_name("u"));
    let mut primary = stage.primary();
    for statement in [
        format!("CREATE DATABASE {other}"),
        format!("CREATE TABLE {other}.secret SELECT 7 AS v"),
        format!("CREATE USER {user} IDENTIFIED BY 'pw'"),
        format!("CREATE ROLE {role}"),
        format!("GRANT ALL ON {}.* TO {user}", stage.schema),
        format!("GRANT ALL ON {other}.* TO {role}"),
        format!("GRANT {role} TO {user}"),
    ] {
        primary.ok(statement);
    }
    stage.administer([
        &format!("INSERT INTO mysql_users (username, password) VALUES ('{user}', 'pw')"),
        "LOAD MYSQL USERS TO RUNTIME",
    ]);
    let login = Login::new(&user, "pw").schema(&stage.schema);
    let (mut with, mut without) = (stage.proxy.client(&login), stage.proxy.client(&login));
    let select = format!("SELECT v FROM {other}.secret");
    assert_eq!(without.refused(&select).code, 1142);
    with.ok(format!("SET ROLE {role}"));
    for _ in 0..3 {
        assert_eq!(with.value(&select), "7");
        assert_eq!(without.refused(&select).code, 1142);
        assert_eq!(without.value("SELECT CURRENT_ROLE()"), "NULL");
        assert_eq!(with.value("SELECT CURRENT_ROLE()"), role);
    }
    stage.await_unpinned();
    with.ok(format!("USE {other}"));
    stage.administer(["UPDATE mysql_servers SET max_connections = 1", "LOAD MYSQL SERVERS TO RUNTIME"]);
    for _ in 0..3 {
        assert_eq!(with.value("SELECT MAX(v) FROM secret"), "7", "over a new connection each time");
        assert_eq!(without.refused(&select).code, 1142);
    }
    with.command(Command::ResetConnection as u8, &[]).unwrap();
    assert_eq!(with.value(&select), "7", "a server keeps it");
    with.ok("SET ROLE NONE");
    assert_eq!(with.refused(&select).code, 1142);
}

/// Each way in which clients may want their answers; the server tells of changes in OK packets only.
const FORMS: [CapabilityFlags; 4] = [
    CapabilityFlags::empty(),
    CapabilityFlags::CLIENT_DEPRECATE_EOF,
    CapabilityFlags::CLIENT_SESSION_TRACK,
    CapabilityFlags::CLIENT_SESSION_TRACK.union(CapabilityFlags::CLIENT_DEPRECATE_EOF),
];

#[test]
fn stored_code_that_sets_something_holds_its_connection_and_other_does_not() {
    let stage = Stage::plain();
    let mut primary = stage.primary();
    for statement in [
        "CREATE TABLE noted (a INT UNIQUE)",
        "CREATE TRIGGER notes BEFORE INSERT ON noted FOR EACH ROW SET @noted = NEW.a",
        "CREATE TABLE quiet (a INT)",
        "CREATE TRIGGER quiet_trigger BEFORE INSERT ON quiet FOR EACH ROW SET NEW.a = NEW.a + 1",
        "CREATE FUNCTION sets() RETURNS INT DETERMINISTIC BEGIN SET @set = 7; RETURN 7; END",
        "CREATE FUNCTION limits() RETURNS INT DETERMINISTIC BEGIN SET SESSION max_length_for_sort_data = 99; RETURN 7; END",
        "CREATE FUNCTION makes() RETURNS INT DETERMINISTIC BEGIN CREATE TEMPORARY TABLE IF NOT EXISTS made (a INT DEFAULT 7); INSERT INTO made VALUES (); RETURN 7; END",
        "CREATE FUNCTION fails() RETURNS INT DETERMINISTIC BEGIN SET @set = 7; SIGNAL SQLSTATE '45000'; RETURN 7; END",
        "CREATE FUNCTION harmless() RETURNS INT DETERMINISTIC RETURN 7",
        "CREATE VIEW seen AS SELECT sets() AS a",
    ] {
        primary.ok(statement);
    }
    for form in FORMS {
        let login =
            stage.login().schema(&stage.schema).without(CapabilityFlags::CLIENT_DEPRECATE_EOF).with(form);
        let client = || stage.proxy.client(&login);
        check_quiet(&stage, &client);
        check_function_in_transaction(&stage, &client);
        for (statement, see, expected) in [
            ("SELECT sets()", "SELECT @set", "7"),
            ("SELECT a FROM seen", "SELECT @set", "7"),
            ("DO sets()", "SELECT @set", "7"),
            ("INSERT INTO quiet VALUES (sets())", "SELECT @set", "7"),
            ("INSERT INTO noted VALUES (5) ON DUPLICATE KEY UPDATE a = 5", "SELECT @noted", "5"),
            ("SELECT limits()", "SELECT @@max_length_for_sort_data", "99"),
            ("SELECT makes()", "SELECT a FROM made", "7"),
            ("SELECT fails()", "SELECT @set", "7"),
            ("SET @other = sets()", "SELECT @set", "7"),
        ] {
            for is_prepared in [false, true] {
                let (mut one, mut other) = (client(), client());
                if is_prepared {
                    let prepared = one.prepare(statement).unwrap();
                    let _may_fail = one.execute(&prepared, &[]);
                } else {
                    let _may_fail = one.query(statement);
                }
                for _ in 0..2 {
                    let seen = other.query(see).map(|answer| answer.value()).ok();
                    assert_ne!(seen.as_deref(), Some(expected), "{statement}, {form:?}: another session");
                    assert_eq!(one.value(see), expected, "{statement}, {form:?}");
                }
                if !statement.starts_with("SET") {
                    let why = "SELECT COUNT(*) FROM stats_mysql_processlist WHERE extended_info LIKE '%stored_code%'";
                    await_that("the pin is shown", || stage.proxy.operator().value(why) == "1");
                }
                one.quit();
                other.quit();
                stage.await_unpinned();
            }
        }
    }
}

/// What changes nothing, though it might, or though MariaDB tells of a schema.
#[track_caller]
fn check_quiet(stage: &Stage, client: &dyn Fn() -> Client) {
    let mut quiet = client();
    for statement in [
        "SELECT 1 FROM t",
        "SELECT TABLE_NAME FROM information_schema.TABLES LIMIT 1",
        "SELECT COLUMN_NAME FROM information_schema.COLUMNS LIMIT 1",
        "USE information_schema",
        "SELECT COLUMN_NAME FROM COLUMNS LIMIT 1",
        "SHOW FULL COLUMNS FROM TABLES",
    ] {
        quiet.ok(statement);
        stage.await_unpinned();
    }
    quiet.ok(format!("USE {}", stage.schema));
    for statement in ["SELECT harmless()", "INSERT INTO quiet VALUES (harmless())", "DO harmless()"] {
        quiet.ok(statement);
    }
    assert_eq!(quiet.refused("SELECT no_such()").code, 1305);
    let statement = quiet.prepare("SELECT harmless()").expect("it is prepared");
    quiet.execute(&statement, &[]).expect("it is executed");
    stage.await_unpinned();
}

/// Its connection has the client's own form, in which MySQL tells only with the next OK packet.
#[track_caller]
fn check_function_in_transaction(stage: &Stage, client: &dyn Fn() -> Client) {
    let mut one = client();
    one.ok("BEGIN");
    one.ok("SELECT sets()");
    one.ok("COMMIT");
    for _ in 0..2 {
        assert_eq!(client().value("SELECT @set"), "NULL", "another session");
        assert_eq!(one.value("SELECT @set"), "7");
    }
    one.quit();
    stage.await_unpinned();
}

#[test]
fn call_that_a_rule_vouches_for_holds_only_what_the_server_tells_of() {
    let rule = "rule_id=1, active=1, match_digest='^CALL', multiplex=2, apply=1";
    let stage = Stage::with(Setup::default().rule(rule));
    let mut primary = stage.primary();
    for body in ["quiet() UPDATE t SET v = 'called'", "sets() SET @a = 7", "fails() SELECT * FROM nowhere"] {
        primary.ok(format!("CREATE PROCEDURE {body}"));
    }
    for capabilities in [CapabilityFlags::empty(), CapabilityFlags::CLIENT_SESSION_TRACK] {
        let client = || stage.proxy.client(&stage.login().with(capabilities));
        let mut quiet = client();
        quiet.ok("CALL quiet()");
        let statement = quiet.prepare("CALL quiet()").unwrap();
        quiet.execute(&statement, &[]).unwrap();
        stage.await_unpinned();
        assert_eq!(quiet.value("SELECT v FROM t WHERE id = 1"), "called");
        assert_eq!(quiet.value("SELECT @@session_track_state_change"), "0", "it is as it was");

        let mut sets = client();
        sets.ok("CALL sets()");
        assert_eq!(stage.pool("ConnUsed", 0), 1, "the server told of a change");
        assert_eq!(sets.value("SELECT @a"), "7");
        sets.quit();

        let mut fails = client();
        assert_eq!(fails.refused("CALL fails()").code, 1146);
        fails.ok("SELECT 1 FROM t");
        assert_eq!(stage.pool("ConnUsed", 0), 1, "an error tells nothing");
        fails.quit();
        stage.await_unpinned();
    }
}

#[test]
fn temporary_tables_are_the_sessions() {
    let stage = Stage::plain();
    check_pinned(&stage, &["CREATE TEMPORARY TABLE own SELECT 5 AS a"], "SELECT a FROM own", "5", "1146");
    check_pinned(
        &stage,
        &["CREATE TEMPORARY TABLE t SELECT 1 AS id, 'hidden' AS v"],
        "SELECT v FROM t WHERE id = 1",
        "hidden",
        "one",
    );
}

/// What the server works out is asked for once: what a later SET keeps the connection for is not let go of by the one behind it.
#[test]
fn value_that_is_asked_for_lets_go_of_nothing_that_comes_behind() {
    let stage = Stage::plain();
    let make = [
        "BEGIN",
        "SET sql_mode = CONCAT(@@sql_mode, ',ANSI_QUOTES')",
        "SET timestamp = 1000",
        "SET @a = 1",
        "COMMIT",
    ];
    check_pinned(&stage, &make, "SELECT UNIX_TIMESTAMP() = 1000", "1", "0");
}

#[test]
fn session_variables_are_the_sessions() {
    let stage = Stage::plain();
    for (make, see, expected, elsewhere) in [
        ("SET group_concat_max_len = 99", "SELECT @@group_concat_max_len", "99", "1048576"),
        (
            "SET SESSION sql_select_limit = 2",
            "SELECT COUNT(*) FROM (SELECT @@sql_select_limit AS a) x WHERE a = 2",
            "1",
            "0",
        ),
        ("SET @@session.time_zone = '+03:00'", "SELECT @@time_zone", "+03:00", "SYSTEM"),
        ("SET LOCAL div_precision_increment = 9", "SELECT 1/3", "0.333333333", "0.3333"),
        (
            "SET sql_mode = 'ANSI_QUOTES'",
            "SELECT @@sql_mode",
            "ANSI_QUOTES",
            "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION",
        ),
    ] {
        check_carried(&stage, &[make], see, expected, elsewhere);
    }
    let make = "SET group_concat_max_len = @@global.group_concat_max_len - 1048477";
    check_carried(&stage, &[make], "SELECT @@group_concat_max_len", "99", "1048576");
    // No connection has that number by itself.
    let make = "SET pseudo_thread_id = 4000000001";
    check_pinned(&stage, &[make], "SELECT @@pseudo_thread_id = 4000000001", "1", "0");
}

#[test]
fn get_lock_holds_until_it_is_released_or_the_session_ends() {
    let stage = Stage::plain();
    let name = format!("lock_{}", stage.schema);
    let mut client = stage.client();
    assert_eq!(client.value(format!("SELECT GET_LOCK('{name}', 0)")), "1");
    let try_lock = format!("SELECT GET_LOCK('{name}', 0)");
    let mut other = stage.client();
    assert_eq!(other.value(&try_lock), "0");
    client.ok("SELECT 1");
    assert_eq!(client.value(format!("SELECT IS_USED_LOCK('{name}') = CONNECTION_ID()")).len(), 1);
    assert_eq!(client.value(format!("SELECT RELEASE_LOCK('{name}')")), "1", "on its own connection");
    assert_eq!(other.value(&try_lock), "1");
    other.quit();
    await_that("the lock is free", || stage.primary().value(format!("SELECT IS_FREE_LOCK('{name}')")) == "1");
}

#[test]
fn locked_tables_are_locked_for_others_until_unlock() {
    let stage = Stage::plain();
    let mut client = stage.client();
    client.ok("LOCK TABLES t WRITE");
    client.ok("UPDATE t SET v = 'locked' WHERE id = 1");
    let mut other = stage.client();
    other.send(3, b"SELECT v FROM t WHERE id = 1").unwrap();
    await_that("the other waits", || {
        stage.primary().value(
            "SELECT COUNT(*) FROM information_schema.processlist WHERE state LIKE 'Waiting for table%'",
        ) != "0"
    });
    client.ok("UPDATE t SET v = 'still locked' WHERE id = 1");
    client.ok("UNLOCK TABLES");
    assert_eq!(other.read_answers().unwrap()[0].value(), "still locked");
    stage.await_unpinned();
}

#[test]
fn text_prepared_statements_are_the_sessions() {
    let stage = Stage::plain();
    let (mut client, mut other) = (stage.client(), stage.client());
    client.ok("PREPARE s FROM 'SELECT v FROM t WHERE id = 2'");
    other.ok("SELECT 1");
    assert_eq!(client.value("EXECUTE s"), "two");
    assert_eq!(other.refused("EXECUTE s").code, 1243);
    client.ok("DEALLOCATE PREPARE s");
    assert_eq!(client.refused("EXECUTE s").code, 1243);
}

#[test]
fn prepared_text_can_change_state_without_leaking_it() {
    let stage = Stage::plain();
    let mut client = stage.client();
    client.ok("EXECUTE IMMEDIATE 'SET @hidden = 1, sql_select_limit = 1'");
    client.quit();
    stage.await_unpinned();
    let mut later = stage.client();
    assert_eq!(later.value("SELECT @hidden"), "NULL");
    assert_eq!(later.ok("SELECT id FROM t").rows.len(), 3);
}

#[test]
fn state_set_inside_a_procedure_does_not_leak() {
    let stage = Stage::plain();
    stage.primary().ok("CREATE PROCEDURE p() BEGIN SET @hidden = 1; SET sql_select_limit = 1; CREATE TEMPORARY TABLE tt (a INT); END");
    let (mut client, mut other) = (stage.client(), stage.client());
    client.query_all("CALL p()").unwrap();
    assert_eq!(other.value("SELECT @hidden"), "NULL");
    assert_eq!(client.value("SELECT @hidden"), "1");
    client.ok("SELECT * FROM tt");
    client.quit();
    assert_eq!(stage.client().ok("SELECT id FROM t").rows.len(), 3);
}

#[test]
fn statement_that_fails_after_it_changed_state_does_not_leak_it() {
    let stage = Stage::plain();
    for (statement, code) in [
        ("SET @hidden = 1; nonsense", 1064),
        ("SET NAMES latin1; SELECT * FROM nowhere", 1146),
        ("USE mysql; SELECT * FROM nowhere", 1146),
        ("SET sql_select_limit = 1; SELECT * FROM nowhere", 1146),
        ("CREATE TEMPORARY TABLE hidden (a INT); SELECT * FROM nowhere", 1146),
    ] {
        let mut client = stage.client();
        assert_eq!(client.query_all(statement).unwrap_err().server().code, code, "{statement}");
        client.quit();
        stage.await_unpinned();
        let mut later = stage.client();
        assert_eq!(later.value("SELECT @hidden"), "NULL", "{statement}");
        assert_eq!(later.value("SELECT @@character_set_client"), "utf8mb4", "{statement}");
        assert_eq!(later.value("SELECT DATABASE()"), stage.schema, "{statement}");
        assert_eq!(later.ok("SELECT id FROM t").rows.len(), 3, "{statement}");
        assert_eq!(later.refused("SELECT * FROM hidden").code, 1146, "{statement}");
    }
}

#[test]
fn pooled_connection_is_shared_by_many_sessions_in_turn() {
    let stage = Stage::plain();
    let mut clients: Vec<_> = (0..20).map(|_| stage.client()).collect();
    for round in 0..3 {
        for client in &mut clients {
            assert_eq!(client.value(format!("SELECT {round}")), round.to_string());
        }
    }
    clients.iter_mut().for_each(Client::settle);
    stage.await_unpinned();
    assert!(stage.pool("ConnOK", 0) <= 3, "the scout's, and at most one for each worker");
}

#[test]
fn client_is_closed_when_the_server_closes_what_the_session_holds() {
    let stage = Stage::plain();
    let (mut client, mut other) = (stage.client(), stage.client());
    client.ok("SET SESSION wait_timeout = 1");
    assert!(client.is_closed_by_server(), "as the server itself would close it");
    // Nothing of the kind happens to who only asks for warnings.
    other.ok("SELECT 'x' + 1");
    let id = other.value("SELECT @@pseudo_thread_id");
    other.ok("SELECT 'x' + 1");
    let mut primary = stage.primary();
    primary.ok(format!("KILL {id}"));
    let gone = format!("SELECT COUNT(*) FROM information_schema.processlist WHERE id = {id}");
    await_that("it is killed", || primary.value(&gone) == "0");
    assert_eq!(other.value("SELECT 5"), "5");
}

#[test]
fn temporary_tables_pin_until_the_last_is_dropped() {
    let stage = Stage::plain();
    let mut client = stage.client();
    client.ok("CREATE TEMPORARY TABLE one (a INT)");
    client.ok(format!("CREATE TEMPORARY TABLE {}.two AS SELECT 2 AS a", stage.schema));
    client.ok("DROP TEMPORARY TABLE one");
    assert_eq!(client.value("SELECT a FROM two"), "2");
    assert_eq!(stage.pool("ConnUsed", 0), 1);
    client.refused("DROP TABLE two, nowhere");
    assert_eq!(stage.pool("ConnUsed", 0), 1, "what a failed DROP left is not known");
    client.quit();
    let mut client = stage.client();
    client.ok("CREATE TEMPORARY TABLE one (a INT)");
    client.ok("DROP TABLE IF EXISTS one");
    stage.await_unpinned();
    let statement = client.prepare("CREATE TEMPORARY TABLE hidden (a INT)").unwrap();
    client.execute(&statement, &[]).unwrap();
    client.ok("CREATE TEMPORARY TABLE one (a INT)");
    client.ok("DROP TEMPORARY TABLE one");
    assert_eq!(client.table("SELECT a FROM hidden"), [[""; 0]; 0]);
}

#[test]
fn handlers_pin_until_the_last_is_closed() {
    let stage = Stage::plain();
    let mut client = stage.client();
    let used = |client: &mut Client| {
        client.settle();
        stage.pool("ConnUsed", 0)
    };
    client.ok("HANDLER t OPEN");
    client.ok(format!("HANDLER {}.t OPEN AS other", stage.schema));
    client.ok("HANDLER t CLOSE");
    assert_eq!(client.ok("HANDLER other READ FIRST").table()[0][1], "one");
    assert_eq!(client.refused("HANDLER t READ NEXT").code, 1109);
    assert_eq!(used(&mut client), 1);
    client.ok("HANDLER other CLOSE");
    assert_eq!(used(&mut client), 0);
    assert_eq!(client.refused("HANDLER other READ NEXT").code, 1109);
    client.refused("HANDLER nowhere OPEN");
    client.ok("SELECT v FROM t");
    assert_eq!(used(&mut client), 0, "nothing was opened, and nothing to be closed is nothing");

    client.ok("CREATE TABLE gone (id INT)");
    client.ok("HANDLER gone OPEN");
    client.ok("HANDLER t OPEN");
    client.ok("DROP TABLE gone");
    client.ok("HANDLER t CLOSE");
    assert_eq!(used(&mut client), 1, "the server closed the first by itself: that is not looked for");
    client.quit();

    let mut client = stage.client();
    client.query_all("HANDLER t OPEN; HANDLER t CLOSE").unwrap();
    assert_eq!(used(&mut client), 1, "several statements in one are not counted");
    client.quit();

    let mut client = stage.client();
    for unseen in
        ["PREPARE p FROM 'HANDLER t OPEN AS hidden'", "EXECUTE p", "HANDLER t OPEN", "HANDLER t CLOSE"]
    {
        client.ok(unseen);
    }
    assert_eq!(used(&mut client), 1, "nobody counted what the prepared statement opened");
    assert_eq!(client.ok("HANDLER hidden READ FIRST").table()[0][1], "one");
    client.quit();
    stage.await_unpinned();
    assert_eq!(stage.client().refused("HANDLER hidden READ FIRST").code, 1109);
}

#[test]
fn xa_pins_until_it_is_committed_or_rolled_back() {
    let stage = Stage::plain();
    let mut client = stage.client();
    for end in ["XA COMMIT 'x'", "XA ROLLBACK 'x'"] {
        for statement in
            ["XA START 'x'", "UPDATE t SET v = 'xa' WHERE id = 1", "XA END 'x'", "XA PREPARE 'x'"]
        {
            client.ok(statement);
            assert_eq!(stage.pool("ConnUsed", 0), 1, "{statement}");
        }
        client.ok(end);
        stage.await_unpinned();
    }
    client.ok("XA RECOVER");
    stage.await_unpinned();
}

#[test]
fn user_variable_that_is_only_read_pins_nothing() {
    let stage = Stage::plain();
    let mut client = stage.client();
    assert_eq!(client.value("SELECT @nobody_has_set_it"), "NULL");
    client.ok("SET @somebody_has = 1");
    client.ok("UPDATE t SET v = COALESCE(@somebody_has, 'x') WHERE id = 1");
    stage.await_unpinned();
    client.ok("SELECT @it := 5");
    assert_eq!(stage.pool("ConnUsed", 0), 1);
    assert_eq!(client.value("SELECT @it"), "5");
}

#[test]
fn pins_are_counted_by_reason_once_for_each_time() {
    let stage = Stage::plain();
    let count = |reason: &str| figure(&mut stage.proxy.operator(), &format!("Pins_{reason}"));
    let reasons = stage.proxy.operator().query("SELECT Variable_Name FROM stats_mysql_global").unwrap();
    let reasons = reasons.table().into_iter().filter(|row| row[0].starts_with("Pins_")).count();
    assert_eq!(reasons, 25, "each has a figure");
    let mut client = stage.client();
    for _ in 0..2 {
        for statement in ["BEGIN", "SELECT v FROM t", "SELECT @a := 1", "UPDATE t SET v = 'x'", "COMMIT"] {
            client.ok(statement);
        }
        client.ok("SELECT @a");
    }
    assert_eq!((count("transaction"), count("user_variable"), count("lock_tables")), (2, 1, 0));
    client.ok("LOCK TABLES t READ");
    assert_eq!(figure(&mut stage.proxy.operator(), "Sessions_Pinned"), 1);
    assert_eq!(figure(&mut stage.proxy.operator(), "Server_Connections_percent"), 100);
    client.ok("UNLOCK TABLES");
    assert_eq!((count("transaction"), count("user_variable"), count("lock_tables")), (2, 1, 1));
}

#[test]
fn named_locks_pin_until_the_last_is_given_back() {
    let stage = Stage::plain();
    let (mut client, mut other) = (stage.client(), stage.client());
    let (one, two) = (servers::fresh_name("lock"), servers::fresh_name("lock"));
    assert_eq!(client.value(format!("SELECT GET_LOCK('{one}', 0)")), "1");
    assert_eq!(client.value(format!("SELECT GET_LOCK('{one}', 0) + GET_LOCK('{two}', 0)")), "2");
    assert_eq!(other.value(format!("SELECT GET_LOCK('{two}', 0)")), "0");
    await_that("who got none holds none", || stage.pool("ConnUsed", 0) == 1);
    client.ok(format!("DO RELEASE_LOCK('{one}')"));
    client.ok(format!("DO RELEASE_LOCK('{two}')"));
    assert_eq!(stage.pool("ConnUsed", 0), 1, "one was taken twice");
    assert_eq!(client.value(format!("SELECT RELEASE_LOCK('{one}')")), "1");
    stage.await_unpinned();
    assert_eq!(client.value(format!("SELECT GET_LOCK(CONCAT('{one}'), 0)")), "1");
    client.ok(format!("DO RELEASE_LOCK('{one}')"));
    assert_eq!(stage.pool("ConnUsed", 0), 1, "of a name that does not stand there nobody knows");
    client.ok("DO RELEASE_ALL_LOCKS()");
    stage.await_unpinned();
}

#[test]
fn procedure_that_fails_in_a_text_of_its_own_leaves_nothing_to_others() {
    let stage = Stage::plain();
    stage.administer([
        "UPDATE mysql_servers SET max_connections = 1 WHERE hostgroup_id = 0",
        "LOAD MYSQL SERVERS TO RUNTIME",
    ]);
    stage.primary().ok("CREATE PROCEDURE bad() BEGIN SET @a = 'mine'; START TRANSACTION; \
         UPDATE t SET v = 'unfinished' WHERE id = 1; PREPARE b FROM 'SELEKT'; END");
    for statement in ["CALL bad()", "BEGIN NOT ATOMIC CALL bad(); END", "EXECUTE IMMEDIATE 'CALL bad()'"] {
        let mut client = stage.client();
        assert_eq!(client.refused(statement).code, 1064, "{statement}");
        client.quit();
        let mut other = stage.client();
        assert_eq!(other.value("SELECT @a"), "NULL", "{statement}");
        assert_eq!(other.value("SELECT v FROM t WHERE id = 1"), "one", "{statement}");
        other.quit();
    }
}
