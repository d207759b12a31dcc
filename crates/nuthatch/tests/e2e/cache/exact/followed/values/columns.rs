//! Answers outlive writes to columns that their statements do not look at, and of rows that a join leaves out.

use nuthatch_lab::Kind;

use super::{carried, ended, stage};
use crate::cache::exact::is_hit;
use crate::client::Client;
use crate::deadline::await_that;
use crate::stage::Stage;

/// Reads, and what each of them depends on in words; none of them looks at `value` or `c`.
const READS: [(&str, &str); 6] = [
    ("SELECT COUNT(*) FROM options", "any row, made or removed"),
    ("SELECT name FROM options ORDER BY id", "any row, changed in id, name"),
    (
        "SELECT name FROM options WHERE autoload = 1 ORDER BY name",
        "rows with one value of autoload, changed in name, autoload",
    ),
    ("SELECT b FROM pairs WHERE a > 0 ORDER BY b", "any row, changed in a, b"),
    (
        "SELECT p.b FROM options o JOIN pairs p ON p.a = o.autoload WHERE o.autoload = 1 AND o.name = 'url' ORDER BY p.b",
        "rows with one value of a, changed in a, b",
    ),
    (
        "SELECT COUNT(p.b) FROM options o LEFT JOIN pairs p ON (p.a = o.autoload) WHERE o.autoload = 1",
        "rows with one value of a, changed in a, b",
    ),
];

#[test]
fn answers_outlive_writes_to_columns_that_are_not_looked_at_on_mariadb() {
    outlive_writes_to_other_columns(Kind::MariaDb);
}

#[test]
fn answers_outlive_writes_to_columns_that_are_not_looked_at_on_mysql() {
    outlive_writes_to_other_columns(Kind::MySql);
}

fn outlive_writes_to_other_columns(kind: Kind) {
    let stage = stage(kind);
    let (mut client, mut other, mut direct) = (stage.client(), stage.client(), stage.primary());
    READS.iter().for_each(|read| await_told(&stage, &mut client, read));
    for (write, past) in [
        ("UPDATE options SET value = CONCAT(value, '.')", false),
        ("UPDATE options SET value = CONCAT(value, '.') WHERE name = 'url'", true),
        ("UPDATE options SET value = CONCAT(value, '.') WHERE id = 1", false),
        ("UPDATE pairs SET c = c + 1", false),
        ("UPDATE pairs SET c = c + 1 WHERE b = 'y'", true),
    ] {
        // Until the picture is known to be that of the events at hand, and where the machine is slow, more is forgotten.
        await_that(write, || {
            let before = ended(&stage);
            READS.iter().for_each(|(sql, _)| drop(client.table(*sql)));
            let writer = if past { &mut direct } else { &mut other };
            writer.ok(write);
            if !past {
                await_that("its event is carried", || ended(&stage) > before);
            }
            await_that("all is carried", || carried(&stage));
            READS.iter().all(|(sql, _)| is_hit(&stage, &mut client, sql))
        });
    }
    // Of rows that the join leaves out.
    await_that("a row that is joined to none", || {
        let joined = &READS[4..];
        joined.iter().for_each(|(sql, _)| drop(client.table(*sql)));
        let before = ended(&stage);
        other.ok("INSERT INTO pairs VALUES (9, 'q', 9) ON DUPLICATE KEY UPDATE b = CONCAT(b, 'q')");
        await_that("its event is carried", || ended(&stage) > before);
        let are_hits = joined.iter().all(|(sql, _)| is_hit(&stage, &mut client, sql));
        other.ok("DELETE FROM pairs WHERE a = 9");
        are_hits
    });
    // Theirs.
    for write in [
        "UPDATE options SET name = 'other' WHERE name = 'title'",
        "INSERT INTO options (name, value, autoload) VALUES ('new', 'v', 1)",
        "UPDATE options SET autoload = 0 WHERE name = 'new'",
        "DELETE FROM options WHERE name = 'new'",
        "REPLACE INTO options (name, value, autoload) VALUES ('other', 'w', 1)",
        "INSERT INTO pairs VALUES (1, 'z', 0), (3, 'z', 0)",
        "UPDATE pairs SET a = 1, b = 'v' WHERE a = 3",
        "UPDATE pairs SET b = 'Z' WHERE b = 'z'",
        "UPDATE pairs SET a = 4 WHERE b = 'v'",
        "DELETE FROM pairs WHERE b = 'Z'",
    ] {
        for (sql, _) in READS {
            await_that("it is served", || is_hit(&stage, &mut client, sql));
        }
        other.ok(write);
        for (sql, _) in READS {
            assert_eq!(client.table(sql), direct.table(sql), "{sql} behind {write}");
        }
    }
}

/// Returns when the read's answer depends on what is said, and is served.
#[track_caller]
fn await_told(stage: &Stage, client: &mut Client, (sql, expected): &(&str, &str)) {
    await_that(expected, || {
        client.ok(*sql);
        let explained = client.table(format!("EXPLAIN CACHE {sql}"));
        explained.iter().any(|row| row[0] == "reads" && row[1].ends_with(expected))
    });
    await_that("it is served", || is_hit(stage, client, sql));
}
