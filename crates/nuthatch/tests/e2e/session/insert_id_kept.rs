//! `LAST_INSERT_ID()` is what the server made up last, and not what a statement or a trigger named as the key, though an OK packet tells
//! that too. Each form beside its twin straight at the server, while others use the connection.

use nuthatch_lab::Kind;

use crate::client::Value;
use crate::deadline::await_that;
use crate::proxy::Setup;
use crate::two_ways::{TwoWays, seen, seen_prepared};

const TABLES: [&str; 9] = [
    "CREATE TABLE c (id INT PRIMARY KEY AUTO_INCREMENT, v INT, UNIQUE KEY (v))",
    "CREATE TABLE d (id DECIMAL(10, 0) NOT NULL, n BIGINT UNSIGNED NOT NULL AUTO_INCREMENT, KEY (n))",
    "CREATE TABLE tiny (id TINYINT PRIMARY KEY AUTO_INCREMENT, v INT)",
    "CREATE TABLE sets (id INT PRIMARY KEY AUTO_INCREMENT, v INT)",
    "CREATE TABLE sometimes (id INT PRIMARY KEY AUTO_INCREMENT, v INT)",
    "CREATE TABLE my (id INT PRIMARY KEY AUTO_INCREMENT, v INT) ENGINE=MyISAM",
    "CREATE TRIGGER sets_it BEFORE INSERT ON sets FOR EACH ROW SET NEW.id = NEW.v + 700",
    "CREATE TRIGGER may_set_it BEFORE INSERT ON sometimes FOR EACH ROW SET NEW.id = IF(NEW.v > 5, NEW.v, NEW.id)",
    "CREATE VIEW seen AS SELECT id, v FROM c",
];

/// What puts the id of a session somewhere before each of the forms below.
const BEFORE: &str = "INSERT INTO c (v) VALUES (NULL)";

const FORMS: [&str; 74] = [
    "INSERT INTO c (id) VALUES (-1)",
    "INSERT INTO c (id) VALUES (10-4)",
    "INSERT INTO c (id) VALUES (1<<14)",
    "INSERT INTO c (id) VALUES (10 DIV 3 + 800)",
    "INSERT INTO c (id) VALUES (true)",
    "INSERT INTO c (id) VALUES (CURRENT_DATE)",
    "INSERT INTO c (id) VALUES (DATE'2020-01-01')",
    "INSERT INTO c (id) VALUES (DEFAULT(id) + 4000)",
    "INSERT INTO c (id) VALUES ((SELECT 4001))",
    "INSERT INTO c (id) VALUES ('4002')",
    "INSERT INTO c (id) VALUES (0x1000)",
    "INSERT INTO c (id) VALUES (x'1001')",
    "INSERT INTO c (id) VALUES (b'1000000000010')",
    "INSERT INTO c (id) VALUES (5e3)",
    "INSERT INTO c (id) VALUES (5001.4)",
    "INSERT INTO c (id) VALUES (5001.6)",
    "INSERT INTO c (id) VALUES (.5003e4)",
    "INSERT INTO c (id) VALUES (5004)",
    "INSERT INTO c (id) VALUES (+5005)",
    "INSERT INTO c (id) VALUES (NULL)",
    "INSERT INTO c (id) VALUES (0)",
    "INSERT INTO c (id) VALUES (DEFAULT)",
    "INSERT INTO c VALUES ()",
    "INSERT INTO c () VALUES ()",
    "INSERT INTO c SET id = 5006",
    "INSERT INTO c SET v = 5007",
    "INSERT INTO c SET id = 5008 - 0, v = 5008",
    "INSERT INTO c (v) VALUES (5009), (5010)",
    "INSERT INTO c (id, v) VALUES (6000, 5011), (NULL, 5012)",
    "INSERT INTO c (id, v) VALUES (NULL, 5013), (6010, 5014), (NULL, 5015)",
    "INSERT INTO c (id, v) VALUES (NULL, 5016), (6020, 5017)",
    "INSERT INTO c (id) SELECT 6030",
    "INSERT INTO c (v) SELECT 5018",
    "INSERT INTO c (id) SELECT 6040 UNION SELECT 6041",
    "REPLACE INTO c (id) VALUES (6050)",
    "REPLACE INTO c (id) VALUES (6050)",
    "REPLACE INTO c (v) VALUES (5018)",
    "REPLACE INTO c SET id = 1 << 13",
    "INSERT IGNORE INTO c (v) VALUES (5018)",
    "INSERT IGNORE INTO c (v) VALUES (5018), (5019)",
    "INSERT IGNORE INTO c (id, v) VALUES (6060, 5020), (NULL, 5020)",
    "INSERT IGNORE INTO c (id, v) VALUES (NULL, 5018), (6070, 5021)",
    "INSERT IGNORE INTO c (id) VALUES (6050)",
    "INSERT INTO c (v) VALUES (5018)",
    "INSERT INTO c (v) VALUES (5018) ON DUPLICATE KEY UPDATE v = 5018",
    "INSERT INTO c (v) VALUES (5018) ON DUPLICATE KEY UPDATE v = 5023",
    "INSERT INTO c (v) VALUES (5019) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id)",
    "INSERT INTO c (v) VALUES (5024) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id)",
    "INSERT INTO c (v) VALUES (5024) ON DUPLICATE KEY UPDATE id = 6080",
    "INSERT INTO c (id) VALUES (LAST_INSERT_ID(6090))",
    "INSERT INTO c (v) VALUES (LAST_INSERT_ID(6100))",
    "INSERT INTO d (id, n) VALUES (1, 6110)",
    "INSERT INTO d (id) VALUES (6120)",
    "INSERT INTO d (id, n) VALUES (1, 18446744073709551000)",
    "INSERT INTO tiny (id) VALUES (7)",
    "INSERT IGNORE INTO tiny (id) VALUES (700)",
    "INSERT INTO sets (v) VALUES (1)",
    "INSERT INTO sets (v) VALUES (2), (3)",
    "INSERT INTO sets (id, v) VALUES (NULL, 4)",
    "INSERT INTO sometimes (v) VALUES (1)",
    "INSERT INTO sometimes (v) VALUES (6130)",
    "INSERT INTO sometimes (v) VALUES (6140), (2)",
    "INSERT INTO sometimes (v) VALUES (3), (6150)",
    "INSERT INTO my (id) VALUES (6160 + 1)",
    "INSERT INTO my (v) VALUES (1)",
    "INSERT INTO seen (id) VALUES (6170)",
    "INSERT INTO seen (v) VALUES (6171)",
    "INSERT INTO c (id) VALUES (6180) /* 6180 */",
    "INSERT INTO c /*! (id) VALUES (6190) */",
    "EXECUTE IMMEDIATE 'INSERT INTO c (id) VALUES (6200)'",
    "UPDATE c SET v = LAST_INSERT_ID(6210) WHERE id = 6200",
    "UPDATE c SET id = 6220 WHERE id = 6200",
    "DELETE FROM c WHERE id = 6220",
    "DO LAST_INSERT_ID(6230)",
];

const ASKED: [&str; 2] = ["SELECT LAST_INSERT_ID()", "SELECT LAST_INSERT_ID() + 0, @@identity"];

fn values() -> [Value; 7] {
    let text = |text: &str| Value::Text(text.into());
    [Value::Int(7001), Value::Int(-7), Value::Int(0), Value::Null, text("7002"), text("7003.7"), text("7e3")]
}

/// Each form with somebody else on the connection before it, and behind it.
fn check(kind: Kind, setup: Setup, mode: &str) {
    let ways = TwoWays::new(kind, setup, &TABLES);
    if ways.proxy.operator().value("SELECT @@mysql-query_cache_type") != "0" {
        let mut client = ways.proxied();
        await_that("the tables are known", || {
            client.ok("SELECT id FROM c");
            ways.figure("Query_Cache_count_SET") > 0
        });
    }
    let mut sessions = [ways.proxied(), ways.straight()];
    let mut others = [ways.proxied(), ways.straight()];
    let mut take = |what: &str, form: &mut dyn FnMut(usize, &mut crate::client::Client) -> String| {
        let [proxied, straight] = [0, 1].map(|way| {
            let (client, other) = (&mut sessions[way], &mut others[way]);
            client.ok(mode);
            let before = seen(client, BEFORE);
            other.ok(BEFORE);
            let made = form(way, client);
            let asked = ASKED[0];
            let told = seen(client, asked);
            other.ok(BEFORE);
            other.ok("SELECT 1");
            let again = ASKED.map(|asked| seen(client, asked));
            (before, made, told, again)
        });
        assert_eq!(proxied, straight, "{kind:?}, {mode}: {what}");
    };
    for form in FORMS {
        take(form, &mut |_, client| seen(client, form));
        take(&format!("prepared {form}"), &mut |_, client| seen_prepared(client, form, &[]));
        take(&format!("{form} in a transaction"), &mut |_, client| {
            client.ok("BEGIN");
            let seen = seen(client, form);
            client.ok("COMMIT");
            seen
        });
    }
    for sql in [
        "INSERT INTO c (id) VALUES (?)",
        "REPLACE INTO c SET id = ? + 10",
        "INSERT IGNORE INTO c (v) VALUES (?)",
    ] {
        for value in values() {
            let what = format!("{sql} of {value:?}");
            take(&what, &mut |_, client| seen_prepared(client, sql, std::slice::from_ref(&value)));
        }
    }
}

const MODES: [&str; 2] = ["SET sql_mode = ''", "SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO,STRICT_ALL_TABLES'"];

#[test]
fn key_that_was_named_is_no_last_insert_id_at_mariadb() {
    check(Kind::MariaDb, Setup::default(), MODES[0]);
    check(Kind::MariaDb, Setup::default(), MODES[1]);
}

#[test]
fn key_that_was_named_is_no_last_insert_id_at_mysql() {
    check(Kind::MySql, Setup::default(), MODES[0]);
    check(Kind::MySql, Setup::default(), MODES[1]);
}

#[test]
fn key_that_was_named_is_no_last_insert_id_where_tables_are_known() {
    let cached = || Setup::default().variable("mysql-query_cache_type", 1);
    check(Kind::MariaDb, cached(), MODES[0]);
    check(Kind::MySql, cached(), MODES[1]);
}
