//! `EXPLAIN CACHE`: what it says, and that it does nothing else.

use super::SELECT;
use crate::client::Client;
use crate::deadline::await_that;
use crate::proxy::Setup;
use crate::servers;
use crate::stage::{CACHE_ALL, Stage};

/// Statements and what they read, in the notation of nuthatch-sql's tests.
const READS: &str = include_str!("../../../../nuthatch-sql/tests/footprints/reads.txt");

/// The tables that they are about, where the footprint is one.
const TABLES: [&str; 21] = [
    "CREATE DATABASE IF NOT EXISTS shop",
    "CREATE DATABASE IF NOT EXISTS depot",
    "CREATE TABLE IF NOT EXISTS shop.orders (id INT PRIMARY KEY AUTO_INCREMENT, user_id INT)",
    "CREATE TABLE IF NOT EXISTS shop.users (id BIGINT UNSIGNED PRIMARY KEY AUTO_INCREMENT)",
    "CREATE TABLE IF NOT EXISTS shop.tiny (v INT, Code TINYINT PRIMARY KEY)",
    "CREATE TABLE IF NOT EXISTS shop.lines (id INT, line INT, PRIMARY KEY (id, line))",
    "CREATE TABLE IF NOT EXISTS shop.log (v INT)",
    "CREATE TABLE IF NOT EXISTS shop.parent (id INT PRIMARY KEY)",
    "CREATE TABLE IF NOT EXISTS shop.child (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES shop.parent (id) \
     ON DELETE CASCADE)",
    "CREATE TABLE IF NOT EXISTS shop.audited (id INT PRIMARY KEY)",
    "CREATE OR REPLACE TRIGGER shop.audit AFTER INSERT ON shop.audited FOR EACH ROW INSERT INTO shop.log VALUES (1)",
    "CREATE TABLE IF NOT EXISTS shop.Customers (ID INT PRIMARY KEY AUTO_INCREMENT)",
    "CREATE TABLE IF NOT EXISTS shop.status (v INT)",
    "CREATE TABLE IF NOT EXISTS shop.`read` (`key` INT PRIMARY KEY AUTO_INCREMENT)",
    "CREATE TABLE IF NOT EXISTS shop.`a``b` (v INT)",
    "CREATE TABLE IF NOT EXISTS shop.7up (v INT)",
    "CREATE TABLE IF NOT EXISTS shop.1e5 (v INT)",
    "CREATE TABLE IF NOT EXISTS depot.stock (id INT PRIMARY KEY AUTO_INCREMENT)",
    "CREATE TABLE IF NOT EXISTS depot.orders (id INT PRIMARY KEY AUTO_INCREMENT)",
    "CREATE OR REPLACE VIEW shop.open_orders AS SELECT o.id FROM shop.orders o JOIN shop.users u ON u.id = o.user_id",
    "CREATE OR REPLACE VIEW shop.recent_orders AS SELECT id FROM shop.open_orders",
];

/// What it says of a step; of several of that name, one after the other.
#[track_caller]
fn findings(client: &mut Client, question: &str, step: &str) -> Vec<String> {
    let rows = client.table(question);
    rows.into_iter().filter(|row| row[0] == step).map(|mut row| row.swap_remove(1)).collect()
}

#[track_caller]
fn finding(client: &mut Client, sql: &str, step: &str) -> String {
    findings(client, &format!("EXPLAIN CACHE {sql}"), step).join("; ")
}

/// A footprint of the file as it is told.
fn in_words(footprint: &str) -> Vec<String> {
    if footprint == "-" {
        return vec!["no table".to_owned()];
    }
    let mut told: Vec<_> = footprint.split(' ').map(table_in_words).collect();
    told.sort_unstable();
    told
}

fn table_in_words(read: &str) -> String {
    if read == "definitions" {
        return "information_schema: definitions".to_owned();
    }
    let (name, rows) = read.split_once('[').unwrap_or((read, ""));
    let schema = if name.contains('.') { "" } else { "shop." };
    let rows = match rows.split_once(']') {
        None => "any row".to_owned(),
        Some((range, _)) if is_wide(range) => "any row".to_owned(),
        Some((range, _)) if range.contains("..") => {
            format!("keys {}, also absent", range.replace("..", " to "))
        }
        Some((keys, "!")) => format!("keys {}, also absent if not all are found", keys.replace(',', ", ")),
        Some((keys, _)) => format!("keys {}, also absent", keys.replace(',', ", ")),
    };
    // The file has the keys of all tables with a sign.
    let rows = if name == "users" { rows.replace("keys -1", "keys 18446744073709551615") } else { rows };
    format!("{}: {rows}", format!("{schema}{name}").to_lowercase())
}

/// Whether it is a range of keys that covers more than 16 blocks of 64.
fn is_wide(range: &str) -> bool {
    let key = |text: &str| text.parse::<i64>().map_or(u64::MAX, i64::cast_unsigned);
    range.split_once("..").is_some_and(|(from, to)| key(to) / 64 - key(from) / 64 >= 16)
}

#[test]
fn footprint_of_each_example_is_shown() {
    let mut primary = servers::primary(servers::shared());
    TABLES.iter().for_each(|statement| drop(primary.ok(*statement)));
    let stage = Stage::with(Setup::default().variable("mysql-query_cache_type", 1));
    let mut client = stage.proxy.client(&stage.login().schema("shop"));
    await_that("the tables are known", || {
        finding(&mut client, "TABLE orders", "source").is_empty()
            && finding(&mut client, "SELECT * FROM depot.stock", "reads") == "depot.stock: any row"
    });
    let of_plain_sessions = READS.lines().take_while(|line| !line.starts_with('%'));
    let examples = of_plain_sessions.filter_map(|line| line.rsplit_once(" => "));
    let mut count = 0;
    for (sql, footprint) in examples.filter(|(_, footprint)| !footprint.starts_with('!')) {
        let shown = findings(&mut client, &format!("EXPLAIN CACHE {sql}"), "reads");
        assert_eq!(shown, in_words(footprint), "{sql}");
        count += 1;
    }
    assert!(count >= 200, "{count}");
}

#[test]
fn entry_is_told_from_its_fill_to_its_end_and_nothing_is_counted() {
    let stage = Stage::with(Setup::default().variable("mysql-query_cache_type", 1));
    let (mut client, mut writer) = (stage.client(), stage.client());
    await_that("the table is known", || finding(&mut client, SELECT, "reads").ends_with("not all are found"));
    let asked = [stage.figure("Query_Cache_count_GET"), stage.backend_queries()];
    assert_eq!(finding(&mut client, SELECT, "entry"), "miss: there is none");
    assert_eq!(finding(&mut client, SELECT, "mode"), "exact: until something is written that it depends on");
    assert_eq!([stage.figure("Query_Cache_count_GET"), stage.backend_queries()], asked);

    client.ok(SELECT);
    let told = finding(&mut client, SELECT, "entry");
    assert!(told.starts_with("hit: 1 rows, ") && told.ends_with(" s ago"), "{told}");
    client.ok("BEGIN");
    let told = finding(&mut client, SELECT, "entry");
    assert!(told.starts_with("miss, a server opens its transaction's snapshot first: "), "{told}");
    client.ok("COMMIT");
    writer.ok("UPDATE t SET v = 'changed' WHERE id = 1");
    let told = finding(&mut client, SELECT, "entry");
    assert!(told.starts_with("stale, what it reads has been written since: "), "{told}");
    assert_eq!(stage.figure("Query_Cache_Entries"), 1, "nothing is removed");
    assert_eq!(
        client.value("SELECT FOUND_ROWS()"),
        client.table(format!("EXPLAIN CACHE {SELECT}")).len().to_string()
    );
}

/// What a session has said before, a statement, and what is told of a step of it.
const REASONS: [(&str, &str, &str, &str); 14] = [
    ("DO 1", "SELECT @a", "mode", "not cached: it reads or sets a user variable"),
    (
        "DO 1",
        "UPDATE t SET v = 1",
        "mode",
        "not cached: it is neither a SELECT nor a SHOW of schemas, tables or columns",
    ),
    (
        "DO 1",
        "SELECT * FROM t FOR UPDATE",
        "statement",
        "cannot be cached: it locks rows or moves a sequence",
    ),
    (
        "DO 1",
        "SELECT CONNECTION_ID()",
        "mode",
        "not cached: connection_id in it has an effect or a result that belongs to the session",
    ),
    ("DO 1", "SELECT SQL_NO_CACHE v FROM t", "mode", "not cached: it says SQL_NO_CACHE or no_cache"),
    (
        "DO 1",
        "SELECT /* nuthatch: no_cache */ v FROM t",
        "mode",
        "not cached: it says SQL_NO_CACHE or no_cache",
    ),
    (
        "DO 1",
        "SELECT /* nuthatch: ttl=5000 */ v FROM t",
        "mode",
        "ttl: for 5000 ms, whatever is written meanwhile",
    ),
    (
        "DO 1",
        "SELECT nosuch(1)",
        "mode",
        "not cached: it calls a function that is not known to be free of effects",
    ),
    (
        "SET query_cache_type = OFF",
        SELECT,
        "session",
        "off the cache: the session has set its query_cache_type to OFF",
    ),
    (
        "SET query_cache_type = DEMAND",
        SELECT,
        "mode",
        "not cached: query_cache_type is DEMAND, and it does not ask to be cached",
    ),
    (
        "SET query_cache_type = DEMAND",
        "SELECT SQL_CACHE v FROM t",
        "mode",
        "exact: until something is written that it depends on",
    ),
    (
        "CREATE TEMPORARY TABLE tt (a INT)",
        SELECT,
        "session",
        "off the cache: the session holds a connection for: temporary_table",
    ),
    (
        "LOCK TABLES t READ",
        SELECT,
        "session",
        "off the cache: the session holds a connection for: lock_tables",
    ),
    (
        "SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE",
        SELECT,
        "session",
        "off the cache: the session's isolation is READ UNCOMMITTED or SERIALIZABLE",
    ),
];

#[test]
fn what_keeps_a_statement_off_the_cache_is_told_in_words() {
    let stage = Stage::with(Setup::default().variable("mysql-query_cache_type", 1));
    for (before, sql, step, expected) in REASONS {
        let mut client = stage.client();
        client.ok(before);
        assert_eq!(finding(&mut client, sql, step), expected, "{before}; {sql}");
    }
    let mut client = stage.client();
    client.ok("BEGIN");
    client.ok("UPDATE t SET v = 'mine' WHERE id = 1");
    assert_eq!(finding(&mut client, SELECT, "session"), "off the cache: its transaction has written");
    client.ok("ROLLBACK");
    let volatile = finding(&mut client, "SELECT NOW()", "statement");
    assert!(volatile.starts_with("only for a time: "), "{volatile}");
}

#[test]
fn rules_hostgroup_and_missing_source_are_told() {
    let setup =
        Setup::default().rule(CACHE_ALL).rule("rule_id=2, match_pattern='.', destination_hostgroup=1");
    let stage = Stage::with(setup);
    let mut client = stage.client();
    for (step, expected) in [
        ("digest_text", "SELECT v FROM t WHERE id = ?"),
        ("rules", "1"),
        ("hostgroup", "0"),
        ("query_cache_type", "OFF"),
        (
            "session",
            "only what is given a time: query_cache_type is OFF, and no rule or comment gives it a time",
        ),
        ("mode", "ttl: for 60000 ms, whatever is written meanwhile"),
        ("source", "none: its catalogue has not been read yet"),
    ] {
        assert_eq!(finding(&mut client, SELECT, step), expected, "{step}");
    }
}

#[test]
fn operators_ask_for_any_user_and_schema() {
    let stage = Stage::caching();
    let (mut client, mut operator) = (stage.client(), stage.proxy.operator());
    client.ok(SELECT);
    client.settle();
    let (user, schema) = (stage.login().user, &stage.schema);
    let question = format!("EXPLAIN CACHE FOR USER '{user}' IN SCHEMA {schema} {SELECT}");
    assert_eq!(findings(&mut operator, &question, "schema"), [schema.as_str()]);
    assert!(findings(&mut operator, &question, "entry")[0].starts_with("hit: 1 rows"));
    assert_eq!(findings(&mut operator, &format!("EXPLAIN CACHE {SELECT}"), "user"), [user]);
    assert_eq!(operator.refused(format!("EXPLAIN CACHE FOR USER 'nobody' {SELECT}")).code, 1064);
    assert_eq!(operator.refused("EXPLAIN CACHE everything").code, 1064);
    assert_eq!(client.refused(question).code, 1227, "a client asks for itself");
}
