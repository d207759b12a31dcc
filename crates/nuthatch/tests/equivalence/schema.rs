//! The tables of every round, and how they are filled again.

use nuthatch_lab::Kind;

pub(crate) const SCHEMA: &str = "fresh";

/// `t` has a column of each type that knows of time; `model` is like it and empty, `old` in MyISAM, `w0` to `w2` are for triggers.
pub(crate) const TABLES: [&str; 10] = [
    "CREATE TABLE t (id INT PRIMARY KEY, d DATE, dt DATETIME, ts TIMESTAMP NULL, tm TIME, y YEAR, s VARCHAR(30), n INT, \
     x DECIMAL(10,4), f DOUBLE, u INT UNSIGNED)",
    "CREATE TABLE model LIKE t",
    "CREATE TABLE old (id INT PRIMARY KEY, n INT, s VARCHAR(30)) ENGINE=MyISAM",
    "CREATE TABLE none (id INT PRIMARY KEY, n INT) ENGINE=MyISAM",
    "CREATE TABLE w0 (id INT AUTO_INCREMENT PRIMARY KEY, n INT NOT NULL, s VARCHAR(5))",
    "CREATE TABLE w1 LIKE w0",
    "CREATE TABLE w2 LIKE w0",
    "CREATE TABLE slices (id INT PRIMARY KEY, n INT) PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (100))",
    "CREATE TABLE made (id INT PRIMARY KEY, tm TIME, dt DATETIME, later TIME AS (addtime(tm, '01:00')) VIRTUAL, \
     both_of INT AS (year(dt) + hour(tm)) STORED)",
    "CREATE TABLE kept (id INT PRIMARY KEY, n INT)",
];

/// Views that call nothing.
pub(crate) const VIEWS: [&str; 6] = [
    "CREATE VIEW v AS SELECT * FROM t",
    "CREATE VIEW v_at AS SELECT id, timestamp(tm) AS at, d FROM t",
    "CREATE VIEW v_union AS SELECT id, tm AS c FROM t UNION SELECT id + 10, dt FROM t",
    "CREATE VIEW v_time AS SELECT id, tm AS c, dt AS b FROM t",
    "CREATE VIEW v_bare AS SELECT 1 AS a",
    "CREATE VIEW v_false AS SELECT * FROM t WHERE 1 = 0",
];

/// Statements that fill all tables as every round finds them.
pub(crate) fn refill(kind: Kind) -> Vec<String> {
    let tables = ["t", "old", "slices", "made", "kept", "w0", "w1", "w2"];
    let mut statements: Vec<String> = tables.map(|table| format!("DELETE FROM {table}")).into();
    // Behind a TRUNCATE MySQL 9.7 gives now 1, now 3.
    statements.extend(["w0", "w1", "w2"].map(|table| format!("ALTER TABLE {table} AUTO_INCREMENT = 3")));
    statements.extend(
        [
            "INSERT INTO t VALUES \
             (1, '2026-03-28', '2026-03-28 10:00:00', '2026-03-28 10:00:00', '10:00:00', 2026, '10:00:00', 10, 1.5, 0.1, 1), \
             (2, '2026-03-29', '2026-03-29 23:30:00', '2026-03-29 23:30:00', '23:30:00', 2026, '2026-03-29', 7, 2.25, 2.5, 2), \
             (3, '2026-10-25', '2026-10-25 02:30:00', '2026-10-25 05:30:00', '-01:00:00', 2025, 'word', 3, 1, 1e10, 3), \
             (4, NULL, '2026-03-30 00:00:00', NULL, '36:00:00', 1970, '12', NULL, NULL, NULL, 0)",
            "INSERT INTO old VALUES (1, 1, 'a'), (2, 2, 'b'), (3, 3, 'c')",
            "INSERT INTO slices VALUES (1, 1), (2, 2)",
            "INSERT INTO made (id, tm, dt) VALUES (1, '10:00:00', '2026-03-28 10:00:00'), (2, '23:30:00', '2026-03-30 00:30:00')",
            "INSERT INTO kept VALUES (1, 1), (2, 2)",
            "INSERT INTO w0 VALUES (1, 1, 'a'), (2, 2, 'b')",
            "INSERT INTO w1 VALUES (1, 1, 'a'), (2, 2, 'b')",
            "INSERT INTO w2 VALUES (1, 1, 'a'), (2, 2, 'b')",
        ]
        .map(str::to_owned),
    );
    if kind == Kind::MySql {
        statements.push("RESET PERSIST".to_owned());
    }
    statements
}
