//! What stored code leaves in its session is the session's own, whatever became of the statement that ran it.

use nuthatch_lab::Kind;
use nuthatch_wire::CapabilityFlags;

use crate::client::{Client, Login};
use crate::deadline::await_that;
use crate::proxy::Setup;
use crate::servers;
use crate::stage::Stage;
use crate::twins::random::Random;

/// Functions, triggers and views that leave something, and some that leave nothing.
const CODE: [&str; 31] = [
    "CREATE TABLE d (d DATE, n INT)",
    "INSERT INTO d VALUES ('2024-01-07', 1), ('2024-01-08', 2)",
    "CREATE TABLE x (a INT UNIQUE)",
    "CREATE TABLE y (a INT UNIQUE)",
    "CREATE TABLE z (a INT UNIQUE)",
    "CREATE TABLE parent (id INT PRIMARY KEY)",
    "CREATE TABLE quiet (a INT UNIQUE, at DATETIME)",
    "CREATE TABLE log (a INT)",
    "CREATE FUNCTION alters() RETURNS INT DETERMINISTIC BEGIN SET lc_time_names='de_DE'; RETURN 7; END",
    "CREATE FUNCTION calling() RETURNS INT DETERMINISTIC RETURN alters() + 1",
    "CREATE FUNCTION alters_and_fails() RETURNS INT DETERMINISTIC \
     BEGIN SET lc_time_names='de_DE'; SIGNAL SQLSTATE '45000'; RETURN 7; END",
    "CREATE FUNCTION calls_none() RETURNS INT DETERMINISTIC \
     BEGIN SET lc_time_names='de_DE'; RETURN no_such_function(); END",
    "CREATE FUNCTION makes_up() RETURNS INT DETERMINISTIC \
     BEGIN SET lc_time_names='de_DE'; SIGNAL SQLSTATE '42000' SET MYSQL_ERRNO=1064; RETURN 7; END",
    "CREATE FUNCTION fails_late(n INT) RETURNS INT DETERMINISTIC \
     BEGIN IF n > 1 THEN SET lc_time_names='de_DE'; SIGNAL SQLSTATE '45000'; END IF; RETURN n; END",
    "CREATE FUNCTION hides() RETURNS INT DETERMINISTIC BEGIN \
     CREATE TEMPORARY TABLE IF NOT EXISTS t (id INT, v VARCHAR(10)); RETURN 7; END",
    "CREATE FUNCTION hides_unseen() RETURNS INT DETERMINISTIC BEGIN \
     CREATE TEMPORARY TABLE IF NOT EXISTS t SELECT 1 AS id, 'hidden' AS v; RETURN 7; END",
    "CREATE FUNCTION notes() RETURNS INT DETERMINISTIC BEGIN SELECT 5 INTO @a; RETURN 7; END",
    "CREATE FUNCTION harmless() RETURNS INT DETERMINISTIC RETURN 7",
    "CREATE FUNCTION harmless_and_fails() RETURNS INT DETERMINISTIC \
     BEGIN DECLARE n INT; SET n = 5; SIGNAL SQLSTATE '45000'; RETURN n; END",
    "CREATE PROCEDURE fills() BEGIN INSERT INTO x VALUES (50); END",
    "CREATE VIEW seen AS SELECT alters() AS a",
    "CREATE VIEW over_seen AS SELECT a FROM seen",
    "CREATE VIEW failing AS SELECT alters_and_fails() AS a",
    "CREATE VIEW late AS SELECT fails_late(n) AS a FROM d",
    "CREATE VIEW of_x AS SELECT a FROM x",
    "CREATE VIEW harmless_view AS SELECT harmless() AS a",
    "CREATE TRIGGER x_trigger BEFORE INSERT ON x FOR EACH ROW SET lc_time_names='de_DE'",
    "CREATE TRIGGER y_update BEFORE UPDATE ON y FOR EACH ROW SET lc_time_names='de_DE'",
    "CREATE TRIGGER y_delete BEFORE DELETE ON y FOR EACH ROW SET lc_time_names='de_DE'",
    "CREATE TRIGGER z_trigger AFTER INSERT ON z FOR EACH ROW SELECT NEW.a INTO @a",
    "CREATE TRIGGER quiet_trigger BEFORE INSERT ON quiet FOR EACH ROW SET NEW.at = NOW()",
];

/// What each statement finds.
const ROWS: [&str; 6] = [
    "DROP TABLE IF EXISTS made",
    "DELETE FROM x",
    "DELETE FROM y",
    "DELETE FROM z",
    "DELETE FROM log",
    "INSERT INTO y VALUES (1), (2)",
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum On {
    Both,
    MariaDb,
    MySql,
}
use On::{Both, MariaDb, MySql};

/// Ways to run code that leaves something.
const LEAVING: [(On, &str); 58] = [
    (Both, "INSERT INTO x VALUES (1), (1)"),
    (Both, "INSERT INTO x VALUES (2), ('no number')"),
    (Both, "INSERT INTO of_x VALUES (1), (1)"),
    (Both, "INSERT INTO x SELECT 1 UNION ALL SELECT 1"),
    (Both, "INSERT IGNORE INTO x VALUES (1), (1)"),
    (Both, "INSERT INTO x VALUES (1) ON DUPLICATE KEY UPDATE a = (SELECT n FROM d)"),
    (Both, "UPDATE y SET a = 5"),
    (Both, "UPDATE y JOIN d ON n = y.a SET y.a = 5"),
    (Both, "REPLACE INTO y VALUES (1), ((SELECT n FROM d))"),
    (Both, "DELETE y, d FROM y JOIN d WHERE alters_and_fails()"),
    (Both, "SELECT * FROM failing"),
    (Both, "SELECT a FROM late"),
    (Both, "SELECT a FROM late WHERE 1 = 1 UNION SELECT 1"),
    (Both, "SELECT alters_and_fails()"),
    (Both, "SELECT calls_none()"),
    (Both, "SELECT makes_up()"),
    (Both, "SELECT 1 FROM t WHERE EXISTS (SELECT 1 FROM seen)"),
    (Both, "SELECT * FROM over_seen"),
    (Both, "SELECT a FROM (SELECT a FROM seen) AS q"),
    (Both, "SELECT 1 UNION SELECT a FROM seen"),
    (Both, "WITH q AS (SELECT a FROM seen) SELECT * FROM q"),
    (Both, "SELECT t.id FROM t, seen FOR UPDATE"),
    (Both, "SELECT calling()"),
    (MySql, "EXPLAIN ANALYZE SELECT * FROM seen, d"),
    (MySql, "EXPLAIN ANALYZE SELECT alters() FROM d"),
    (MySql, "EXPLAIN ANALYZE SELECT n FROM d WHERE n = alters_and_fails()"),
    (MySql, "VALUES ROW(alters())"),
    (MySql, "TABLE seen"),
    (MariaDb, "EXPLAIN SELECT * FROM seen"),
    (MariaDb, "EXPLAIN SELECT * FROM d WHERE 1 = alters()"),
    (MariaDb, "ANALYZE SELECT * FROM seen"),
    (MariaDb, "ANALYZE FORMAT=JSON SELECT alters() FROM d"),
    (MariaDb, "ANALYZE INSERT INTO x VALUES (1), (1)"),
    (MariaDb, "VALUES (alters())"),
    (MariaDb, "INSERT INTO log VALUES (1) RETURNING alters()"),
    (MariaDb, "INSERT INTO log VALUES (1) RETURNING alters_and_fails()"),
    (MariaDb, "DELETE FROM y RETURNING alters()"),
    (MariaDb, "REPLACE INTO y VALUES (1) RETURNING alters_and_fails()"),
    (MariaDb, "SHOW VARIABLES WHERE alters() AND 0"),
    (Both, "SHOW TABLES WHERE alters()"),
    (Both, "SHOW COLUMNS FROM d WHERE alters() = 1"),
    (Both, "SHOW COLLATION WHERE alters_and_fails()"),
    (Both, "SHOW TABLES WHERE (SELECT a FROM seen)"),
    (Both, "CREATE TABLE made AS SELECT alters() AS a"),
    (Both, "CREATE TABLE made AS SELECT a FROM over_seen"),
    (Both, "CREATE TABLE made AS SELECT alters_and_fails() AS a"),
    (Both, "CREATE TEMPORARY TABLE made AS SELECT a FROM seen"),
    (Both, "DO alters_and_fails()"),
    (Both, "DO (SELECT a FROM failing)"),
    (Both, "SET GLOBAL long_query_time = alters() + 3"),
    (Both, "SET @b = alters_and_fails()"),
    (Both, "SET @b = (SELECT a FROM failing)"),
    (Both, "SET SESSION group_concat_max_len = alters() + 1000"),
    (Both, "SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE alters() = 7"),
    (Both, "SELECT MAX(TABLE_NAME) FROM information_schema.TABLES WHERE alters_and_fails() = 7"),
    (Both, "CALL fills()"),
    (Both, "SELECT * FROM seen LIMIT 1"),
    (Both, "SELECT COUNT(*) FROM seen HAVING alters()"),
];

/// The same as several statements in one.
const SEVERAL: [&str; 6] = [
    "SELECT 1; INSERT INTO x VALUES (1)",
    "INSERT INTO x VALUES (1); SELECT 1",
    "INSERT INTO x VALUES (1), (1); SELECT 1",
    "SELECT a FROM seen; SELECT 1",
    "SELECT 1; SELECT a FROM failing",
    "SELECT 1; SELECT alters(); DO 0",
];

/// What the server tells of in no case.
const UNTOLD: [&str; 5] = [
    "SELECT notes()",
    "DO notes()",
    "INSERT INTO z VALUES (1)",
    "SELECT hides_unseen()",
    "INSERT INTO log VALUES (hides_unseen())",
];

/// What leaves nothing: its connection is put back, be it that it fails.
const HARMLESS: [(&str, u16); 11] = [
    ("INSERT INTO t VALUES (1, 'again')", 1062),
    ("INSERT INTO quiet (a) VALUES (1), (1)", 1062),
    ("SELECT nothing FROM t", 1054),
    ("SELECT nothing FROM x", 1054),
    ("SELECT * FROM nowhere", 1146),
    ("SELECT no_such_function()", 1305),
    ("SELECT harmless_and_fails()", 1644),
    ("INSERT INTO log VALUES (1", 1064),
    ("INSERT INTO x VALUES (1", 1064),
    ("CREATE TABLE t (id INT)", 1050),
    ("DROP TABLE no_such_table", 1051),
];

/// Makes the code in the client's schema.
fn make_code(client: &mut Client) {
    CODE.iter().for_each(|statement| drop(client.ok(statement)));
}

/// How clients may want their answers.
const FORMS: [CapabilityFlags; 2] = [CapabilityFlags::empty(), CapabilityFlags::CLIENT_DEPRECATE_EOF];

/// What is left of code in a session: of everybody else's.
const SEE: &str = "SELECT CONCAT(@@lc_time_names, ' ', IFNULL(@a, 'none'), ' ', \
                   (SELECT COUNT(*) FROM t WHERE v = 'one'), ' ', @@time_zone)";
const CLEAN: &str = "en_US none 1 SYSTEM";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Text,
    Prepared,
    PreparedByText,
    InTransaction,
}

/// Runs it, whatever becomes of it.
fn run(client: &mut Client, statement: &str, how: How) {
    match how {
        How::Text => drop(client.query_whole(statement)),
        How::Prepared => {
            if let Ok(prepared) = client.prepare(statement) {
                drop(client.execute_all(&prepared, &[]));
            }
        }
        How::PreparedByText => {
            let quoted = statement.replace('\'', "''");
            drop(client.query(format!("PREPARE s FROM '{quoted}'")));
            drop(client.query_whole("EXECUTE s"));
        }
        How::InTransaction => {
            client.ok("BEGIN");
            drop(client.query_whole(statement));
            client.ok("ROLLBACK");
        }
    }
    client.settle();
}

/// As many as the pool has connections at most, so that whatever is left on one of them is met.
const OTHERS: usize = 4;

/// What others are told, each over a connection of its own at the same time.
fn seen_by_others(others: &mut [Client]) -> Vec<String> {
    others.iter_mut().for_each(|other| drop(other.ok("BEGIN")));
    let seen = others.iter_mut().map(|other| other.value(SEE)).collect();
    others.iter_mut().for_each(|other| drop(other.ok("ROLLBACK")));
    seen
}

/// Whatever the code leaves is seen by its session, if at all, and by no other, while it lasts and after.
#[track_caller]
fn check_apart(stage: &Stage, login: &Login, statement: &str, how: How) {
    let mut primary = stage.primary();
    ROWS.iter().for_each(|statement| drop(primary.ok(statement)));
    let mut one = stage.proxy.client(login);
    let mut others = [(); OTHERS].map(|()| stage.proxy.client(login));
    run(&mut one, statement, how);
    let context = format!("{statement}, {how:?}");
    assert_eq!(seen_by_others(&mut others), [CLEAN; OTHERS], "{context}: other sessions");
    for _ in 0..2 {
        assert_ne!(one.value(SEE), CLEAN, "{context}: its own");
    }
    one.quit();
    stage.await_unpinned();
    assert_eq!(seen_by_others(&mut others), [CLEAN; OTHERS], "{context}: other sessions, later");
    others.into_iter().for_each(Client::quit);
}

fn check_all(stage: &Stage, kind: Kind) {
    make_code(&mut stage.primary());
    let is_of = |on: On| on == Both || (on == MariaDb) == (kind == Kind::MariaDb);
    let leaving: Vec<_> = LEAVING.into_iter().filter(|(on, _)| is_of(*on)).map(|(_, text)| text).collect();
    for form in FORMS {
        let login =
            stage.login().schema(&stage.schema).without(CapabilityFlags::CLIENT_DEPRECATE_EOF).with(form);
        for statement in leaving.iter().copied().chain(SEVERAL).chain(UNTOLD) {
            check_apart(stage, &login, statement, How::Text);
        }
        for statement in leaving.iter().copied().chain(UNTOLD) {
            if !statement.starts_with("EXPLAIN") && !statement.starts_with("ANALYZE") {
                check_apart(stage, &login, statement, How::Prepared);
            }
            let is_set_to_function = statement.starts_with("SET @b");
            if !is_set_to_function {
                check_apart(stage, &login, statement, How::PreparedByText);
            }
        }
        for statement in leaving.iter().copied().filter(|text| text.starts_with("SELECT")) {
            check_apart(stage, &login, statement, How::InTransaction);
        }
        check_harmless(stage, &login);
    }
}

fn check_harmless(stage: &Stage, login: &Login) {
    let mut client = stage.proxy.client(login);
    for (statement, code) in HARMLESS {
        assert_eq!(client.refused(statement).code, code, "{statement}");
        client.ok("DO 0");
        await_that(statement, || stage.pool("ConnUsed", 0) == 0);
    }
    for statement in ["SELECT a FROM harmless_view", "SELECT harmless()", "SHOW TABLES WHERE harmless()"] {
        client.ok(statement);
        client.settle();
        await_that(statement, || stage.pool("ConnUsed", 0) == 0);
    }
}

#[test]
fn what_stored_code_leaves_is_its_sessions_however_it_ran() {
    check_all(&Stage::plain(), Kind::MariaDb);
}

#[test]
fn what_stored_code_leaves_is_its_sessions_however_it_ran_on_mysql() {
    check_all(&Stage::of(Kind::MySql, Setup::default()), Kind::MySql);
}

/// The statement that failed left a language, whose names of days would be stored and served.
#[test]
fn answer_is_never_stored_over_a_connection_with_what_a_failed_statement_left() {
    let stage = Stage::with(Setup::default().variable("mysql-query_cache_type", 1));
    make_code(&mut stage.client());
    let day = "SELECT DAYNAME(d) FROM d WHERE n = 1";
    await_that("answers are stored", || {
        stage.client().ok("SELECT n FROM d");
        stage.figure("Query_Cache_count_SET") > 0
    });
    for failing in
        ["INSERT INTO x VALUES (1), (1)", "SELECT * FROM failing", "SELECT 1; DO alters_and_fails()"]
    {
        stage.client().ok("UPDATE d SET n = n");
        let mut one = stage.client();
        drop(one.query_whole(failing));
        one.quit();
        for _ in 0..3 {
            assert_eq!(stage.client().value(day), "Sunday", "{failing}");
        }
    }
}

/// Its connection is kept, and the log says what it takes to know better.
#[test]
fn failed_statement_of_an_account_that_sees_no_code_keeps_its_connection() {
    let stage = Stage::plain();
    let user = servers::fresh_name("u");
    let mut primary = stage.primary();
    primary.ok(format!("CREATE USER {user} IDENTIFIED BY 'pw'"));
    primary.ok(format!("GRANT SELECT, INSERT ON {}.* TO {user}", stage.schema));
    stage.administer([
        "DELETE FROM mysql_users",
        &format!("INSERT INTO mysql_users (username, password) VALUES ('{user}', 'pw')"),
        "LOAD MYSQL USERS TO RUNTIME",
    ]);
    let login = Login::new(&user, "pw").schema(&stage.schema);
    let mut client = stage.proxy.client(&login);
    client.ok("INSERT INTO t VALUES (4, 'four')");
    stage.await_unpinned();
    assert_eq!(client.refused("INSERT INTO t VALUES (4, 'again')").code, 1062);
    let why = "SELECT extended_info FROM stats_mysql_processlist WHERE extended_info LIKE '%pinned_by%'";
    await_that("the log tells", || {
        stage.proxy.log().contains("cannot tell which statements run stored code")
    });
    assert!(stage.proxy.log().contains("GRANT "), "{}", stage.proxy.log());
    client.ok("SELECT 1");
    assert!(stage.proxy.operator().value(why).contains("unseen_code"));
    client.quit();
    stage.await_unpinned();
    primary.ok(format!("DROP USER {user}"));
}

#[test]
fn failed_statements_keep_no_connection_where_no_code_leaves_anything() {
    let stage = Stage::plain();
    let mut client = stage.client();
    for _ in 0..3 {
        assert_eq!(client.refused("INSERT INTO t VALUES (1, 'again')").code, 1062);
        await_that("it is known that nothing ran", || stage.pool("ConnUsed", 0) == 0);
    }
    // From then on it is known at once.
    let pins = stage.figure("Pins_unseen_code");
    assert_eq!(client.refused("INSERT INTO t VALUES (1, 'again')").code, 1062);
    client.ok("CREATE TABLE more (a INT)");
    assert_eq!(client.refused("INSERT INTO t VALUES (1, 'again')").code, 1062);
    assert_eq!(stage.figure("Pins_unseen_code"), pins);
}

/// What a body does to its session.
const EFFECTS: [&str; 9] = [
    "SET lc_time_names = 'de_DE'",
    "SET time_zone = '+01:00'",
    "SET @@session.lc_time_names = 'fr_FR'",
    "SET @a = 5",
    "SELECT 5 INTO @a",
    "CREATE TEMPORARY TABLE IF NOT EXISTS t (id INT, v VARCHAR(10))",
    "CREATE TEMPORARY TABLE IF NOT EXISTS t SELECT 1 AS id, 'hidden' AS v",
    "SET r = r + 1",
    "INSERT IGNORE INTO fires VALUES (5)",
];

/// What else it does.
const ENDS: [&str; 6] = [
    "",
    "",
    "SIGNAL SQLSTATE '45000';",
    "SET r = no_such_function();",
    "SET r = (SELECT n FROM d);",
    "SET r = {f}();",
];

/// Ways to run a function, a view, a trigger.
const WAYS: [&str; 22] = [
    "SELECT {f}()",
    "SELECT * FROM {v}",
    "SELECT a FROM (SELECT a FROM {v}) AS q UNION SELECT 1",
    "SELECT id FROM t WHERE id = {f}() OR id = (SELECT MAX(a) FROM {v})",
    "INSERT INTO fires VALUES (1), (2), (1)",
    "INSERT INTO fires VALUES ({f}())",
    "REPLACE INTO fires SELECT a FROM {v}",
    "UPDATE fires SET a = a + 1",
    "DELETE FROM fires",
    "DO {f}()",
    "DO 1 + (SELECT a FROM {v})",
    "SHOW TABLES WHERE {f}()",
    "CREATE TABLE made SELECT a FROM {v}",
    "CREATE TEMPORARY TABLE made SELECT {f}() AS a",
    "SELECT 1; SELECT a FROM {v}",
    "INSERT INTO fires VALUES (7), (7); SELECT 1",
    "DO 0; DO {f}(); DO 0",
    "SET @b = {f}()",
    "SET SESSION group_concat_max_len = 1000 + {f}()",
    "EXPLAIN SELECT * FROM {v}",
    "EXPLAIN SELECT * FROM d WHERE n = {f}()",
    "SELECT n FROM d WHERE {f}() > n FOR UPDATE",
];

/// Random code, random ways to run it: nobody else sees anything of it.
fn check_random(stage: &Stage, seed: u64, rounds: usize) {
    let mut random = Random::new(seed);
    let mut maker = stage.client();
    for statement in
        ["CREATE TABLE d (n INT)", "INSERT INTO d VALUES (1), (2)", "CREATE TABLE fires (a INT UNIQUE)"]
    {
        maker.ok(statement);
    }
    for n in 0..rounds {
        let end = random.pick(&ENDS).replace("{f}", &format!("f{}", random.below(n + 1)));
        let body = format!("DECLARE r INT DEFAULT 0; {}; {end}", random.pick(&EFFECTS));
        maker.ok(format!("CREATE FUNCTION f{n}() RETURNS INT DETERMINISTIC BEGIN {body} RETURN 7; END"));
        maker.ok(format!("CREATE VIEW v{n} AS SELECT f{n}() AS a"));
        let (moment, event) =
            (random.pick(&["BEFORE", "AFTER"]), random.pick(&["INSERT", "UPDATE", "DELETE"]));
        maker.ok(format!("DROP TRIGGER IF EXISTS fires_{event}"));
        // One that inserts there itself is refused when it runs, after it has set what it sets.
        maker.ok(format!(
            "CREATE TRIGGER fires_{event} {moment} {event} ON fires FOR EACH ROW BEGIN {body} END"
        ));
        for _ in 0..4 {
            let name = random.below(n + 1);
            let way =
                random.pick(&WAYS).replace("{f}", &format!("f{name}")).replace("{v}", &format!("v{name}"));
            let how = *random.pick(&[How::Text, How::Text, How::Prepared, How::InTransaction]);
            let form = *random.pick(&FORMS);
            let login =
                stage.login().schema(&stage.schema).without(CapabilityFlags::CLIENT_DEPRECATE_EOF).with(form);
            let (mut one, mut other) = (stage.proxy.client(&login), stage.proxy.client(&login));
            run(&mut one, &way, how);
            let context = format!("seed {seed}, round {n}: {way}, {how:?}, {form:?}, {body}");
            assert_eq!(other.value(SEE), CLEAN, "{context}: another session");
            one.quit();
            // On all connections that are idle.
            let mut others: Vec<_> = (0..4).map(|_| stage.client()).collect();
            for other in &mut others {
                other.ok("BEGIN");
                assert_eq!(other.value(SEE), CLEAN, "{context}: another session, later");
            }
            drop(maker.query("DROP TABLE IF EXISTS made"));
        }
    }
}

#[test]
fn random_code_leaves_nothing_for_others() {
    check_random(&Stage::plain(), 1, 40);
}

#[test]
fn random_code_leaves_nothing_for_others_on_mysql() {
    check_random(&Stage::of(Kind::MySql, Setup::default()), 2, 40);
}

/// Until then each statement is in doubt. A session that is in doubt already is not counted once more: each asks once.
fn await_known_code(stage: &Stage) {
    await_that("it is known what code there is", || {
        let pins = stage.figure("Pins_unseen_code");
        let mut client = stage.client();
        assert_eq!(client.refused("INSERT INTO t VALUES (1, 'again')").code, 1062);
        // What the first was is counted before this is answered.
        client.ok("DO 0");
        client.quit();
        stage.figure("Pins_unseen_code") == pins
    });
}

/// Servers tell nobody of a lock that is taken so, nor of an insert id.
fn check_what_a_view_keeps(stage: &Stage) {
    await_known_code(stage);
    let (mut one, mut other) = (stage.client(), stage.client());
    one.ok("CREATE VIEW locks AS SELECT GET_LOCK('by_view', 0) AS got");
    for is_known in [false, true] {
        if is_known {
            await_known_code(stage);
        }
        assert_eq!(one.value("SELECT got FROM locks"), "1");
        for _ in 0..3 {
            one.ok("DO 0");
            assert_eq!(other.value("SELECT GET_LOCK('by_view', 0)"), "0", "the first still has it");
        }
        assert_eq!(one.value("SELECT RELEASE_LOCK('by_view')"), "1");
    }
    one.ok("CREATE VIEW identities AS SELECT LAST_INSERT_ID(7) AS id");
    await_known_code(stage);
    assert_eq!(one.value("SELECT id FROM identities"), "7");
    stage.client().ok("DO LAST_INSERT_ID(8)");
    assert_eq!(one.value("SELECT LAST_INSERT_ID()"), "7", "its own");
    one.value("SELECT got FROM locks");
    one.quit();
    await_that("it is given back", || other.value("SELECT GET_LOCK('by_view', 0)") == "1");
}

#[test]
fn lock_and_insert_id_of_a_view_are_its_sessions() {
    check_what_a_view_keeps(&Stage::plain());
}

#[test]
fn lock_and_insert_id_of_a_view_are_its_sessions_on_mysql() {
    check_what_a_view_keeps(&Stage::of(Kind::MySql, Setup::default()));
}

/// A view is made anew again and again, while others read it, some of them in a form in which servers tell nothing behind rows.
fn check_views_made_anew(stage: &Stage) {
    make_code(&mut stage.client());
    stage.client().ok("CREATE VIEW edition AS SELECT n, 0 AS edition FROM d");
    await_known_code(stage);
    let pins = || (stage.figure("Pins_stored_code"), stage.figure("Pins_unseen_code"));
    let before = pins();
    let mut maker = stage.client();
    let mut readers = FORMS.map(|form| {
        let login = stage.login().schema(&stage.schema);
        stage.proxy.client(&login.without(CapabilityFlags::CLIENT_DEPRECATE_EOF).with(form))
    });
    for edition in 1..20 {
        // Over the change.
        for reader in &mut readers {
            reader.send(3, b"SELECT SLEEP(0.02), n FROM edition WHERE n = 1").expect("it is sent");
        }
        maker.ok(format!("CREATE OR REPLACE VIEW edition AS SELECT n, {edition} AS edition FROM d"));
        for reader in &mut readers {
            reader.read_answers().expect("it is answered");
            assert_eq!(reader.value("SELECT MAX(edition) FROM edition"), edition.to_string());
        }
    }
    assert_eq!(pins(), before, "(stored_code, unseen_code)");
    // One that runs code.
    maker.ok("CREATE OR REPLACE VIEW edition AS SELECT n, alters() AS edition FROM d");
    for reader in &mut readers {
        reader.ok("SELECT * FROM edition");
        assert_ne!(reader.value(SEE), CLEAN);
        assert_eq!(maker.value(SEE), CLEAN);
    }
    maker.ok("CREATE OR REPLACE VIEW edition AS SELECT n, 1 AS edition FROM d");
    maker.ok("DROP VIEW edition");
    assert_eq!(maker.value(SEE), CLEAN);
}

#[test]
fn view_that_is_made_anew_and_runs_no_code_keeps_no_connection() {
    check_views_made_anew(&Stage::plain());
}

#[test]
fn view_that_is_made_anew_and_runs_no_code_keeps_no_connection_on_mysql() {
    check_views_made_anew(&Stage::of(Kind::MySql, Setup::default()));
}
