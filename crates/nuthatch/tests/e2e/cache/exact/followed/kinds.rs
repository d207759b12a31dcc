//! Every kind of write that can be made past the proxy: behind its acknowledgement the proxy answers what the server does.

use nuthatch_lab::Kind;

use super::{await_mode, waiting};
use crate::client::Client;
use crate::deadline::await_that;
use crate::stage::Stage;

/// What is there before.
const TABLES: &[&str] = &[
    "CREATE TABLE plain (id INT PRIMARY KEY, a INT, s VARCHAR(20))",
    "INSERT INTO plain VALUES (-3, 0, 'minus'), (1, 1, 'one'), (2, 2, 'two')",
    "CREATE TABLE wide (id BIGINT UNSIGNED PRIMARY KEY, a INT)",
    "INSERT INTO wide VALUES (18446744073709551615, 1), (5, 2)",
    "CREATE TABLE tiny (a INT, id TINYINT PRIMARY KEY, g INT AS (a + 1) VIRTUAL, h INT AS (a + 2) STORED)",
    "INSERT INTO tiny (a, id) VALUES (1, -128), (2, 127)",
    "CREATE TABLE given (id INT AUTO_INCREMENT PRIMARY KEY, a INT)",
    "INSERT INTO given (a) VALUES (1), (2)",
    "CREATE TABLE two_keys (x INT, y INT, a INT, PRIMARY KEY (x, y))",
    "INSERT INTO two_keys VALUES (1, 1, 1), (1, 2, 2)",
    "CREATE TABLE named (name VARCHAR(20) PRIMARY KEY, a INT)",
    "INSERT INTO named VALUES ('a', 1), ('b', 2)",
    "CREATE TABLE keyless (a INT, b INT)",
    "INSERT INTO keyless VALUES (1, 1), (2, 2)",
    "CREATE TABLE old (id INT PRIMARY KEY, a INT) ENGINE=MyISAM",
    "INSERT INTO old VALUES (1, 1)",
    "CREATE TABLE parent (id INT PRIMARY KEY, a INT)",
    "CREATE TABLE child (id INT PRIMARY KEY, parent_id INT, FOREIGN KEY (parent_id) REFERENCES parent (id) ON DELETE CASCADE ON UPDATE CASCADE)",
    "CREATE TABLE grandchild (id INT PRIMARY KEY, child_id INT, FOREIGN KEY (child_id) REFERENCES child (id) ON DELETE SET NULL)",
    "INSERT INTO parent VALUES (1, 1), (2, 2), (3, 3)",
    "INSERT INTO child VALUES (10, 1), (20, 2), (30, 3)",
    "INSERT INTO grandchild VALUES (100, 10), (200, 20), (300, 30)",
    "CREATE TABLE watched (id INT PRIMARY KEY, a INT)",
    "CREATE TABLE log (id INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(20))",
    "CREATE TRIGGER watching AFTER UPDATE ON watched FOR EACH ROW INSERT INTO log (what) VALUES ('updated')",
    "INSERT INTO watched VALUES (1, 1)",
    "CREATE VIEW shown AS SELECT id, a FROM plain WHERE a > 0",
    "CREATE PROCEDURE touch() BEGIN UPDATE plain SET a = a + 1 WHERE id = 1; INSERT INTO log (what) VALUES ('called'); END",
    "CREATE TABLE parts (id INT PRIMARY KEY, a INT) PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN (20))",
    "INSERT INTO parts VALUES (1, 1), (11, 2)",
];

/// What is asked of them.
const READS: &[&str] = &[
    "SELECT a, s FROM plain WHERE id = 1",
    "SELECT a, s FROM plain WHERE id = -3",
    "SELECT a, s FROM plain WHERE id = 7",
    "SELECT a FROM plain WHERE id IN (1, 2, 7)",
    "SELECT id FROM plain WHERE id BETWEEN -5 AND 9 ORDER BY id",
    "SELECT COUNT(*), SUM(a) FROM plain",
    "SELECT a FROM wide WHERE id = 18446744073709551615",
    "SELECT a FROM wide WHERE id = 5",
    "SELECT a, g, h FROM tiny WHERE id = -128",
    "SELECT a FROM tiny WHERE id = 127",
    "SELECT a FROM given WHERE id = 2",
    "SELECT a FROM given WHERE id = 3",
    "SELECT COUNT(*) FROM given",
    "SELECT a FROM two_keys WHERE x = 1 AND y = 2",
    "SELECT a FROM named WHERE name = 'a'",
    "SELECT COUNT(*), SUM(b) FROM keyless",
    "SELECT a FROM old WHERE id = 1",
    "SELECT COUNT(*) FROM old",
    "SELECT a FROM parent WHERE id = 1",
    "SELECT parent_id FROM child WHERE id = 10",
    "SELECT parent_id FROM child WHERE id = 20",
    "SELECT child_id FROM grandchild WHERE id = 100",
    "SELECT COUNT(child_id) FROM grandchild",
    "SELECT a FROM watched WHERE id = 1",
    "SELECT COUNT(*) FROM log",
    "SELECT id, a FROM shown ORDER BY id",
    "SELECT COUNT(*) FROM parts",
    "SELECT a FROM parts WHERE id = 11",
    "SHOW FULL COLUMNS FROM plain",
    "SHOW COLUMNS FROM shown",
];

/// The same, of which the answer is not served everywhere.
const LISTS: &[&str] = &[
    "SHOW FULL TABLES",
    "SELECT table_name, table_type FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY 1",
];

/// What is written, each in a session of its own, statement by statement.
const WRITES: &[&[&str]] = &[
    &["UPDATE plain SET a = 10 WHERE id = 1"],
    &["UPDATE plain SET a = 11 WHERE s = 'minus'"],
    &["UPDATE plain SET id = 7 WHERE id = 2"],
    &["INSERT INTO plain VALUES (2, 3, 'new')"],
    &["REPLACE INTO plain VALUES (2, 4, 'newer')"],
    &["INSERT INTO plain VALUES (2, 5, 'x') ON DUPLICATE KEY UPDATE a = 6"],
    &["DELETE FROM plain WHERE id = 7"],
    &["INSERT INTO plain SELECT 7, 8, 'seven'"],
    &["UPDATE wide SET a = 3 WHERE id = 18446744073709551615"],
    &["DELETE FROM wide WHERE a = 2"],
    &["UPDATE tiny SET a = 5 WHERE id = -128"],
    &["UPDATE tiny SET a = 6 WHERE a = 2"],
    &["INSERT INTO given (a) VALUES (3)"],
    &["UPDATE given SET a = 9"],
    &["UPDATE two_keys SET a = 3 WHERE y = 2"],
    &["UPDATE named SET a = 3 WHERE name = 'A'"],
    &["DELETE FROM keyless LIMIT 1"],
    &["UPDATE old SET a = 2"],
    &["INSERT INTO old VALUES (2, 2)"],
    &[
        "BEGIN",
        "UPDATE plain SET a = 20 WHERE id = 1",
        "UPDATE old SET a = 3",
        "UPDATE wide SET a = 7",
        "ROLLBACK",
    ],
    &[
        "BEGIN",
        "UPDATE plain SET a = 21 WHERE id = 1",
        "SAVEPOINT s",
        "UPDATE wide SET a = 8",
        "ROLLBACK TO s",
        "COMMIT",
    ],
    &["SET autocommit = 0", "UPDATE plain SET a = 22 WHERE id = 1", "CREATE TABLE implied (a INT)"],
    &["DELETE FROM parent WHERE id = 1"],
    &["UPDATE parent SET id = 5 WHERE id = 2"],
    &["UPDATE watched SET a = 2 WHERE id = 1"],
    &["CALL touch()"],
    &["UPDATE plain, wide SET plain.a = 30, wide.a = 30 WHERE plain.id = 1"],
    &["DELETE plain, named FROM plain JOIN named WHERE plain.id = 7 AND named.name = 'b'"],
    &["CREATE OR REPLACE VIEW shown AS SELECT id, a + 100 AS a FROM plain"],
    &[
        "RENAME TABLE named TO renamed, keyless TO named2",
        "CREATE TABLE keyless (a INT, b INT)",
        "RENAME TABLE renamed TO named",
    ],
    &["DROP TABLE keyless", "CREATE TABLE keyless (a INT, b INT)", "INSERT INTO keyless VALUES (7, 7)"],
    &["ALTER TABLE plain ADD COLUMN first INT FIRST", "UPDATE plain SET a = 40 WHERE id = 1"],
    &[
        "ALTER TABLE plain MODIFY a INT FIRST",
        "UPDATE plain SET a = 41 WHERE id = 1",
        "DELETE FROM plain WHERE id = 2",
    ],
    &["ALTER TABLE parts TRUNCATE PARTITION p1"],
    &[
        "CREATE TRIGGER late AFTER INSERT ON wide FOR EACH ROW UPDATE named SET a = a + 1",
        "INSERT INTO wide VALUES (6, 6)",
    ],
    &[
        "SET SESSION binlog_row_image = 'MINIMAL'",
        "UPDATE plain SET a = 50 WHERE id = 1",
        "UPDATE tiny SET a = 50 WHERE id = 127",
    ],
    &["SET SESSION binlog_row_image = 'NOBLOB'", "UPDATE plain SET s = 'noblob' WHERE id = -3"],
    &[
        "SET SESSION binlog_format = 'STATEMENT'",
        "UPDATE plain SET a = 60 WHERE id = 1",
        "SET @x = 2",
        "UPDATE wide SET a = @x",
    ],
    &[
        "SET SESSION binlog_format = 'MIXED'",
        "UPDATE plain SET a = 61 WHERE id = 1",
        "INSERT INTO log (what) VALUES (UUID())",
    ],
    &["SET SESSION sql_mode = 'ANSI_QUOTES'", "UPDATE \"plain\" SET a = 62 WHERE id = 1"],
    &["CREATE TEMPORARY TABLE plain (id INT)", "INSERT INTO plain VALUES (1)", "DROP TEMPORARY TABLE plain"],
    &["XA START 'one'", "UPDATE plain SET a = 70 WHERE id = 1", "XA END 'one'", "XA COMMIT 'one' ONE PHASE"],
    &[
        "XA START 'two'",
        "UPDATE plain SET a = 71 WHERE id = 1",
        "XA END 'two'",
        "XA PREPARE 'two'",
        "XA COMMIT 'two'",
    ],
    &[
        "XA START 'three'",
        "UPDATE plain SET a = 72 WHERE id = 1",
        "XA END 'three'",
        "XA PREPARE 'three'",
        "XA ROLLBACK 'three'",
    ],
    &["CREATE TABLE copied AS SELECT * FROM plain"],
    &["TRUNCATE TABLE log"],
    &["DROP TABLE named2"],
];

#[test]
fn every_kind_of_write_past_the_proxy_is_seen_at_once_on_mariadb() {
    is_seen(Kind::MariaDb);
}

#[test]
fn every_kind_of_write_past_the_proxy_is_seen_at_once_on_mysql() {
    is_seen(Kind::MySql);
}

fn is_seen(kind: Kind) {
    let stage = waiting(kind);
    let mut direct = stage.primary();
    TABLES.iter().for_each(|statement| drop(direct.ok(statement)));
    let mut client = stage.client();
    await_mode(&stage, "exact");
    warm(&stage, &mut client);
    let mut hits = 0;
    for writes in WRITES {
        // What was stored behind the writes before, and is to be written over.
        for sql in READS.iter().chain(READS).chain(LISTS).chain(LISTS) {
            assert_eq!(answer(&mut client, sql), answer(&mut direct, sql), "{sql} before {writes:?}");
        }
        let mut writer = stage.primary();
        for write in *writes {
            let falls = falls(&stage);
            // What a server does not have (binlog formats on MySQL) is not written.
            if writer.query(write).is_err() {
                continue;
            }
            for sql in READS.iter().chain(LISTS) {
                let before = super::hits(&stage);
                let (proxied, at_server) = (answer(&mut client, sql), answer(&mut direct, sql));
                hits += super::hits(&stage) - before;
                let is_exact = || super::told(&stage, "mode") == "exact" && falls == self::falls(&stage);
                if proxied != at_server && !is_exact() {
                    // The server may give up waiting for the proxy on a busy machine: within the bound then.
                    await_that(sql, || answer(&mut client, sql) == answer(&mut direct, sql));
                    continue;
                }
                assert_eq!(proxied, at_server, "{sql} behind {write} of {writes:?}");
            }
        }
    }
    assert!(hits > 300, "only {hits} were served from the cache");
    assert!(super::told(&stage, "begun_anew") == "1" || has_fallen_too_often(&stage));
}

fn falls(stage: &Stage) -> String {
    super::told(stage, "falls")
}

/// It is not exact any more, whatever comes.
fn has_fallen_too_often(stage: &Stage) -> bool {
    falls(stage).parse::<u64>().expect("a number") >= 3
}

/// The rows, or the number of the error.
fn answer(client: &mut Client, sql: &str) -> Result<Vec<Vec<Option<Vec<u8>>>>, u16> {
    client.query(sql).map(|answer| answer.rows).map_err(|failure| failure.server().code)
}

/// Returns when all that is asked is served.
fn warm(stage: &Stage, client: &mut Client) {
    for sql in READS {
        await_that(sql, || super::is_hit(stage, client, sql));
    }
}
