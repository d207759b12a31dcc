//! What rows hold: answers of reads that compare columns with constants outlive writes of other rows, and no write of theirs.

mod columns;

use std::collections::BTreeMap;

use nuthatch_lab::Kind;

use super::{await_mode, following, told};
use crate::cache::exact::is_hit;
use crate::client::Client;
use crate::deadline::await_that;
use crate::stage::Stage;
use crate::twins::random::Random;

const TABLES: [&str; 4] = [
    "CREATE TABLE options (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(64), value TEXT, autoload INT, UNIQUE (name)) CHARACTER SET utf8mb4",
    "INSERT INTO options (name, value, autoload) VALUES ('Url', 'a', 1), ('title', 'b', 1), ('cron', 'c', 0)",
    "CREATE TABLE pairs (a INT, b VARCHAR(9), c INT, PRIMARY KEY (a, b)) CHARACTER SET latin1",
    "INSERT INTO pairs VALUES (1, 'x', 1), (1, 'y', 2), (2, 'x', 3)",
];

fn stage(kind: Kind) -> Stage {
    stage_with(kind, &[])
}

/// The same with more on the server.
fn stage_with(kind: Kind, more: &[&str]) -> Stage {
    let stage =
        following(kind, "bounded", &[], |setup| setup.variable("mysql-query_cache_max_staleness_ms", 5000));
    let mut direct = stage.primary();
    for statement in TABLES.iter().chain(more) {
        direct.ok(*statement);
    }
    stage.administer(["LOAD MYSQL VARIABLES TO RUNTIME"]);
    await_mode(&stage, "bounded");
    stage
}

/// Returns when the read's answer depends on what rows hold.
#[track_caller]
fn await_learnt(stage: &Stage, client: &mut Client, sql: &str) {
    await_that("its columns are learnt", || {
        client.ok(sql);
        let explained = client.table(format!("EXPLAIN CACHE {sql}"));
        explained.iter().any(|row| row[0] == "reads" && row[1].contains("one value of"))
    });
    await_that("it is served", || is_hit(stage, client, sql));
}

#[test]
fn answers_about_what_rows_hold_outlive_writes_of_other_rows_on_mariadb() {
    outlive_writes_of_other_rows(Kind::MariaDb);
}

#[test]
fn answers_about_what_rows_hold_outlive_writes_of_other_rows_on_mysql() {
    outlive_writes_of_other_rows(Kind::MySql);
}

fn outlive_writes_of_other_rows(kind: Kind) {
    let stage = stage(kind);
    let (mut client, mut other, mut direct) = (stage.client(), stage.client(), stage.primary());
    let (url, title) = (
        "SELECT value FROM options WHERE name = 'url' LIMIT 1",
        "SELECT value FROM options WHERE name = 'title' LIMIT 1",
    );
    let pair = "SELECT c FROM pairs WHERE a = 1 AND b = 'X'";
    [url, title, pair].into_iter().for_each(|sql| await_learnt(&stage, &mut client, sql));
    // Through the proxy by a text that does not tell the row, and past it.
    for (write, past) in [
        ("UPDATE options SET value = CONCAT(value, '.') WHERE name = 'URL'", false),
        ("UPDATE options SET value = CONCAT(value, '.') WHERE name = 'uRL'", true),
        ("UPDATE options SET value = 'x' WHERE name = 'nobody'", false),
        ("INSERT INTO options (value) VALUES ('n')", false),
        ("DELETE FROM options WHERE name IS NULL", true),
        ("INSERT INTO options (name, value) SELECT NULL, 'n'", false),
        ("UPDATE pairs SET c = c + 1 WHERE a = 2", false),
        ("UPDATE pairs SET c = c + 1 WHERE b = 'y'", true),
    ] {
        // Until the picture is known to be that of the events at hand, and where the machine is slow, more is forgotten.
        await_that(write, || {
            let before = ended(&stage);
            [title, pair].into_iter().for_each(|sql| drop(client.table(sql)));
            let writer = if past { &mut direct } else { &mut other };
            writer.ok(write);
            if !past {
                await_that("its event is carried", || ended(&stage) > before);
            }
            await_that("all is carried", || carried(&stage));
            [title, pair].into_iter().all(|sql| is_hit(&stage, &mut client, sql))
        });
        super::until(&mut client, url, &direct.value(url));
        await_that("url is served again", || is_hit(&stage, &mut client, url));
    }
    // Theirs.
    for write in [
        "UPDATE options SET name = 'gone' WHERE name = 'title'",
        "UPDATE options SET name = 'Title ' WHERE name = 'gone'",
        "REPLACE INTO options (name, value) VALUES ('TITLE', 'r')",
        "DELETE FROM options WHERE autoload IS NULL",
        "INSERT INTO options (name, value) VALUES ('title', 'z')",
        "UPDATE options SET value = 'y'",
    ] {
        await_that("it is served", || is_hit(&stage, &mut client, title));
        other.ok(write);
        assert_eq!(client.table(title), direct.table(title), "{write}");
    }
}

#[test]
fn answers_about_dates_decimals_and_members_outlive_writes_of_other_rows_on_mariadb() {
    types_outlive_writes_of_other_rows(Kind::MariaDb);
}

#[test]
fn answers_about_dates_decimals_and_members_outlive_writes_of_other_rows_on_mysql() {
    types_outlive_writes_of_other_rows(Kind::MySql);
}

const BOOKINGS: [&str; 2] = [
    "CREATE TABLE bookings (id INT AUTO_INCREMENT PRIMARY KEY, day DATE, at DATETIME, price DECIMAL(12,2), \
     state ENUM('open','Shut','lost') CHARACTER SET utf8mb4, n INT)",
    "INSERT INTO bookings (day, at, price, state, n) VALUES \
     ('2026-11-27', '2026-11-27 09:30:00', 12.30, 'shut', 1), ('2026-11-28', '2026-11-27 09:30:01', -12.30, 'open', 1), \
     (NULL, NULL, 1234567890.05, 'lost', 1)",
];

fn types_outlive_writes_of_other_rows(kind: Kind) {
    let stage = stage_with(kind, &BOOKINGS);
    let (mut client, mut direct) = (stage.client(), stage.primary());
    let reads = [
        "day = '2026-11-27'",
        "at = '2026-11-27 09:30:00'",
        "price = 12.3",
        "state = 'shut'",
        "price IN (-99, 012.300)",
    ]
    .map(|condition| format!("SELECT SUM(n), COUNT(*) FROM bookings WHERE {condition}"));
    // The last is of a column that another one compares.
    reads[..4].iter().for_each(|sql| await_learnt(&stage, &mut client, sql));
    for write in [
        "UPDATE bookings SET n = n + 1 WHERE id > 1",
        "UPDATE bookings SET day = '2026-12-27', price = 1230 WHERE id = 2",
        "UPDATE bookings SET day = '2026-11-28', price = -12.3, at = NULL WHERE id = 2",
        "INSERT INTO bookings (day, at, price, state) VALUES ('0001-01-01', '9999-12-31 23:59:59', 0, NULL)",
        "DELETE FROM bookings WHERE state IS NULL",
    ] {
        await_that(write, || {
            reads.iter().for_each(|sql| drop(client.table(sql)));
            direct.ok(write);
            await_that("all is carried", || carried(&stage));
            reads.iter().all(|sql| is_hit(&stage, &mut client, sql))
        });
    }
    for write in [
        "UPDATE bookings SET n = n + 1 WHERE id = 1",
        "UPDATE bookings SET day = '2026-11-27', at = '2026-11-27 09:30:00', price = 12.30, state = 'Shut' WHERE id = 2",
        "UPDATE bookings SET state = 'lost' WHERE id = 1",
        "INSERT INTO bookings (day, at, price, state, n) VALUES ('2026-11-27', '2026-11-27 09:30:00', -99, 2, 5)",
        "DELETE FROM bookings WHERE n = 5",
    ] {
        reads.iter().for_each(|sql| await_that("it is served", || is_hit(&stage, &mut client, sql)));
        direct.ok(write);
        await_that("all is carried", || carried(&stage));
        for sql in &reads {
            assert_eq!(client.table(sql), direct.table(sql), "{sql} behind {write}");
        }
    }
}

/// Events do not show what rows hold before a column is learnt: a snapshot that is older is given nothing that was changed meanwhile.
#[test]
fn snapshot_that_is_older_than_what_was_learnt_is_given_what_it_shows() {
    let stage = stage(Kind::MariaDb);
    let (mut client, mut old, mut direct) = (stage.client(), stage.client(), stage.primary());
    let cron = "SELECT value FROM options WHERE name = 'cron'";
    // The tables are known, and none of their columns is learnt.
    await_that("the table is known", || is_hit(&stage, &mut client, "SELECT COUNT(*) FROM options"));
    old.ok("BEGIN");
    old.ok("SELECT v FROM t WHERE id = 1");
    direct.ok("UPDATE options SET value = 'later' WHERE id = 3");
    await_learnt(&stage, &mut client, cron);
    assert_eq!(client.value(cron), "later");
    for _ in 0..20 {
        assert_eq!(old.value(cron), "c", "its snapshot was opened before");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    old.ok("COMMIT");
    assert_eq!(old.value(cron), "later");
}

/// How many writes have waited for their events.
fn ended(stage: &Stage) -> u64 {
    let count = |column| told(stage, column).parse::<u64>().expect("a count");
    count("narrowed") + count("late")
}

#[test]
fn random_writes_take_each_answer_with_them_that_they_change_on_mariadb() {
    random_writes(Kind::MariaDb);
}

#[test]
fn random_writes_take_each_answer_with_them_that_they_change_on_mysql() {
    random_writes(Kind::MySql);
}

/// Of random writes; another seed makes others.
const SEED: u64 = 7;
const ROUNDS: u32 = 20;

const WORDS: [&str; 12] =
    ["'a'", "'A'", "'b'", "'a '", "' a'", "'\u{e4}'", "'\u{e0}'", "''", "'ss'", "'\u{df}'", "'a\tb'", "NULL"];
const NUMBERS: [&str; 6] = ["0", "1", "2", "-1", "'1'", "NULL"];

fn predicate(random: &mut Random) -> String {
    let one = |random: &mut Random| match random.below(8) {
        0 | 1 => format!("s = {}", *random.pick(&WORDS)),
        2 => format!("u = {}", *random.pick(&WORDS)),
        3 => format!("n = {}", *random.pick(&NUMBERS)),
        4 => format!("m = {}", *random.pick(&NUMBERS)),
        5 => format!("s IN ({}, {})", *random.pick(&WORDS), *random.pick(&WORDS)),
        6 => format!("n IN ({}, {})", *random.pick(&NUMBERS), *random.pick(&NUMBERS)),
        _ => format!("b = {}", *random.pick(&WORDS)),
    };
    let first = one(random);
    if random.below(2) == 0 { first } else { format!("{first} AND {}", one(random)) }
}

fn read(random: &mut Random) -> String {
    let join = random.pick(&["LEFT JOIN", "JOIN", "RIGHT JOIN"]);
    match random.below(6) {
        0 => format!(
            "SELECT held.id, held.v, o.id, o.k FROM held {join} other o ON o.id = held.n WHERE {} ORDER BY 1, 3",
            predicate(random)
        ),
        1 => format!(
            "SELECT h.id, h.v, k FROM held h {join} other ON other.id = h.n WHERE k = {} AND h.s = {} ORDER BY 1",
            *random.pick(&NUMBERS),
            *random.pick(&WORDS)
        ),
        2 => format!(
            "SELECT COUNT(h.id), SUM(h.v) FROM held h, other WHERE h.n = other.id AND k IN ({}, 1)",
            *random.pick(&NUMBERS)
        ),
        _ => format!("SELECT id, v FROM held WHERE {} ORDER BY id", predicate(random)),
    }
}

fn write(random: &mut Random) -> String {
    match random.below(9) {
        7 => format!("UPDATE other SET k = {} WHERE id = {}", *random.pick(&NUMBERS), random.below(4)),
        8 => format!("UPDATE other SET id = id + 10, k = k + 1 WHERE k = {} LIMIT 1", *random.pick(&NUMBERS)),
        0 => format!(
            "UPDATE held SET s = {}, n = {} WHERE {}",
            *random.pick(&WORDS),
            *random.pick(&NUMBERS),
            predicate(random)
        ),
        1 => format!("UPDATE held SET u = {} WHERE {}", *random.pick(&WORDS), predicate(random)),
        2 => format!("UPDATE held SET v = v + 1 WHERE {} LIMIT 1", predicate(random)),
        3 => format!(
            "UPDATE held SET b = {}, m = {} WHERE id = {}",
            *random.pick(&WORDS),
            *random.pick(&NUMBERS),
            random.below(30)
        ),
        4 => format!("DELETE FROM held WHERE {} LIMIT 2", predicate(random)),
        5 => format!(
            "INSERT INTO held (s, u, b, n, m, v) SELECT {}, {}, {}, {}, {}, 0",
            *random.pick(&WORDS),
            *random.pick(&WORDS),
            *random.pick(&WORDS),
            *random.pick(&NUMBERS),
            *random.pick(&NUMBERS)
        ),
        _ => format!(
            "REPLACE INTO held (id, s, u, b, n, m, v) VALUES ({}, {}, {}, {}, {}, {}, 1)",
            1 + random.below(30),
            *random.pick(&WORDS),
            *random.pick(&WORDS),
            *random.pick(&WORDS),
            *random.pick(&NUMBERS),
            *random.pick(&NUMBERS)
        ),
    }
}

fn random_writes(kind: Kind) {
    let stage = stage(kind);
    let (mut client, mut other, mut direct) = (stage.client(), stage.client(), stage.primary());
    let swedish = if kind == Kind::MySql { "utf8mb4_0900_ai_ci" } else { "utf8mb4_unicode_520_ci" };
    direct.ok("SET sql_mode = ''");
    other.ok("SET sql_mode = ''");
    direct.ok(format!(
        "CREATE TABLE held (id INT AUTO_INCREMENT PRIMARY KEY, s VARCHAR(9) CHARACTER SET utf8mb4 COLLATE {swedish}, \
         u CHAR(9) CHARACTER SET latin1, b VARBINARY(9), n INT, m TINYINT, v INT)"
    ));
    let mut random = Random::new(SEED);
    direct.ok("CREATE TABLE other (id INT, k INT)");
    direct.ok("INSERT INTO other VALUES (0, 1), (1, 1), (2, 2), (-1, 0), (1, 2), (NULL, 1)");
    for _ in 0..20 {
        direct.ok(write(&mut random));
    }
    // Those of few shapes, so that their columns are learnt.
    let reads: Vec<String> = (0..32).map(|_| read(&mut random)).collect();
    let (mut outlived, mut served) = (0, BTreeMap::new());
    for round in 0..ROUNDS {
        for read in &reads {
            client.ok(read);
        }
        let write = write(&mut random);
        let writer = if random.below(3) == 0 { &mut other } else { &mut direct };
        writer.ok(&*write);
        // What is within the bound may be older: all of it is to be carried.
        await_that("all is carried", || carried(&stage));
        for read in &reads {
            let is_served = is_hit(&stage, &mut client, read);
            let answer = client.table(read);
            assert_eq!(
                answer,
                direct.table(read),
                "{round}: {write} behind {read}, served: {is_served}, seed {SEED}"
            );
            outlived += u32::from(is_served);
            served.entry(read).and_modify(|count| *count += u32::from(is_served)).or_insert(0);
        }
    }
    let asked = ROUNDS * u32::try_from(reads.len()).expect("a few");
    assert!(outlived > asked / 4, "{outlived} of {asked}: {served:?}");
}

/// All that the server has written is carried and proven.
fn carried(stage: &Stage) -> bool {
    let before: u64 = told(stage, "delay_count").parse().expect("a count");
    await_that("the end is reached again", || {
        told(stage, "delay_count").parse::<u64>().expect("a count") > before + 1
    });
    told(stage, "unproven") == "0"
}

#[test]
fn write_of_a_session_that_left_the_binlog_unseen_ends_what_it_may_have_changed() {
    let stage = stage(Kind::MariaDb);
    let mut client = stage.client();
    let cron = "SELECT value FROM options WHERE name = 'cron'";
    await_learnt(&stage, &mut client, cron);
    // The word is in no text that the proxy sees.
    let mut unseen = stage.client();
    unseen.ok("EXECUTE IMMEDIATE CONCAT('SET sql_log_', 'bin = 0')");
    unseen.ok("UPDATE options SET value = 'unseen' WHERE name = 'cron'");
    assert_eq!(client.table(cron), [["unseen"]]);
    await_that("all is carried", || carried(&stage));
    assert_eq!(client.table(cron), [["unseen"]]);
    assert!(stage.proxy.log().contains("was not seen may have its session write past the binlog"));
}

#[test]
fn write_behind_a_routine_that_leaves_the_binlog_ends_what_it_may_have_changed() {
    let stage = stage_with(Kind::MariaDb, &["CREATE PROCEDURE off() SET SESSION sql_log_bin = 0"]);
    let (mut client, mut unseen) = (stage.client(), stage.client());
    let cron = "SELECT value FROM options WHERE name = 'cron'";
    await_learnt(&stage, &mut client, cron);
    unseen.ok("CALL off()");
    await_that("it is served", || is_hit(&stage, &mut client, cron));
    unseen.ok("UPDATE options SET value = 'unseen' WHERE name = 'cron'");
    assert_eq!(client.table(cron), [["unseen"]]);
    await_that("all is carried", || carried(&stage));
    assert_eq!(client.table(cron), [["unseen"]]);
}
