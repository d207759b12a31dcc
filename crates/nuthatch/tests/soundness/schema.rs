//! The tables: all have the columns `id`, `n` and `g`, so that any statement fits any of them.

use nuthatch_lab::Kind;

/// Where sessions are.
pub(crate) const SCHEMA: &str = "soundness";

/// All tables and views, by which a statement may name them.
pub(crate) const TABLES: [&str; 31] = [
    "item",
    "tiny",
    "wide",
    "arrival",
    "badge",
    "late",
    "id",
    "n",
    "parent",
    "child",
    "grandchild",
    "follower",
    "watched",
    "journal",
    "copied",
    "pair",
    "word",
    "loose",
    "hidden",
    "tree",
    "made",
    "slices",
    "old",
    "seen",
    "seen_twice",
    "joined",
    "elsewhere.item",
    "priced",
    "dated",
    "timed",
    "listed",
];

/// Tables with foreign keys that cascade.
pub(crate) const CHILDREN: [&str; 4] = ["child", "follower", "grandchild", "tree"];

/// Tables, and those that change with them.
pub(crate) const RELATIVES: [(&str, &str); 5] = [
    ("parent", "child"),
    ("child", "parent"),
    ("grandchild", "child"),
    ("badge", "follower"),
    ("follower", "badge"),
];

/// The one whose keys the server gives.
pub(crate) const ARRIVAL: &str = "arrival";

const DEFINITIONS: [&str; 45] = [
    "DROP DATABASE IF EXISTS soundness",
    "DROP DATABASE IF EXISTS elsewhere",
    "DROP DATABASE IF EXISTS elsewhere_too",
    "CREATE DATABASE elsewhere",
    "CREATE DATABASE soundness",
    "USE soundness",
    "CREATE TABLE item (id INT PRIMARY KEY, n INT DEFAULT 1, g INT, KEY g (g))",
    "CREATE TABLE elsewhere.item (id INT PRIMARY KEY, n INT DEFAULT 1, g INT)",
    "CREATE TABLE tiny (id TINYINT PRIMARY KEY, n INT DEFAULT 1, g INT)",
    "CREATE TABLE wide (id BIGINT UNSIGNED PRIMARY KEY, n INT DEFAULT 1, g INT)",
    "CREATE TABLE arrival (id INT AUTO_INCREMENT PRIMARY KEY, n INT DEFAULT 1, g INT)",
    "CREATE TABLE badge (id INT PRIMARY KEY, n INT DEFAULT 1, g INT, UNIQUE KEY n (n))",
    "CREATE TABLE late (g INT, n INT DEFAULT 1, id INT PRIMARY KEY)",
    "CREATE TABLE id (n INT DEFAULT 1, id INT PRIMARY KEY, g INT)",
    "CREATE TABLE n (id INT PRIMARY KEY, n INT DEFAULT 1, g INT)",
    "CREATE TABLE parent (id INT PRIMARY KEY, n INT DEFAULT 1, g INT)",
    "CREATE TABLE child (id INT PRIMARY KEY, n INT DEFAULT 1, g INT, \
     FOREIGN KEY (id) REFERENCES parent (id) ON DELETE CASCADE ON UPDATE CASCADE)",
    "CREATE TABLE grandchild (id INT PRIMARY KEY, n INT DEFAULT 1, g INT, \
     FOREIGN KEY (g) REFERENCES child (id) ON DELETE SET NULL ON UPDATE CASCADE)",
    "CREATE TABLE follower (id INT PRIMARY KEY, n INT DEFAULT 1, g INT, \
     FOREIGN KEY (g) REFERENCES badge (n) ON DELETE SET NULL ON UPDATE CASCADE)",
    "CREATE TABLE watched (id INT PRIMARY KEY, n INT DEFAULT 1, g INT)",
    "CREATE TABLE journal (id INT AUTO_INCREMENT PRIMARY KEY, n INT DEFAULT 1, g INT)",
    "CREATE TABLE copied (id INT PRIMARY KEY, n INT DEFAULT 1, g INT)",
    "CREATE TABLE pair (id INT, n INT DEFAULT 1, g INT, PRIMARY KEY (id, g))",
    "CREATE TABLE word (id VARCHAR(10) PRIMARY KEY, n INT DEFAULT 1, g INT)",
    "CREATE TABLE loose (id INT, n INT DEFAULT 1, g INT)",
    "CREATE TABLE hidden (secret INT AUTO_INCREMENT INVISIBLE PRIMARY KEY, id INT, n INT DEFAULT 1, g INT)",
    "CREATE TABLE tree (id INT PRIMARY KEY, n INT DEFAULT 1, g INT, \
     FOREIGN KEY (g) REFERENCES tree (id) ON DELETE CASCADE ON UPDATE SET NULL)",
    "CREATE TABLE made (id INT PRIMARY KEY, n INT DEFAULT 1, g INT AS (n + 1), kept INT AS (n * 2) STORED)",
    "CREATE TABLE slices (id INT PRIMARY KEY, n INT DEFAULT 1, g INT) \
     PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (5), PARTITION p1 VALUES LESS THAN MAXVALUE)",
    "CREATE TABLE swap (id INT PRIMARY KEY, n INT DEFAULT 1, g INT)",
    "CREATE TABLE priced (id DECIMAL(9,2), n INT DEFAULT 1, g INT, KEY (id))",
    "CREATE TABLE dated (id DATE, n INT DEFAULT 1, g INT, KEY (id))",
    "CREATE TABLE timed (id DATETIME, n INT DEFAULT 1, g INT, KEY (id))",
    "CREATE TABLE listed (id ENUM('k1', 'k2', 'k3', 'k4', 'k6', 'k7', 'K8', 'k9', '5', 'k12', 'k63', 'k64', 'k127', '7'), \
     n INT DEFAULT 1, g INT, KEY (id))",
    "CREATE TABLE old (id INT PRIMARY KEY, n INT DEFAULT 1, g INT) ENGINE=MyISAM",
    "CREATE VIEW seen AS SELECT id, n, g FROM item WHERE id < 100",
    "CREATE VIEW seen_twice AS SELECT id, n + 1 AS n, g FROM seen WHERE n IS NOT NULL",
    "CREATE VIEW joined AS SELECT item.id AS id, badge.n AS n, item.g AS g FROM item JOIN badge ON badge.id = item.id",
    "CREATE TRIGGER watched_insert AFTER INSERT ON watched FOR EACH ROW \
     INSERT INTO journal (n, g) VALUES (NEW.id, NEW.n)",
    "CREATE TRIGGER watched_update AFTER UPDATE ON watched FOR EACH ROW \
     UPDATE copied SET n = n + 1 WHERE id = NEW.id",
    "CREATE TRIGGER watched_delete BEFORE DELETE ON watched FOR EACH ROW DELETE FROM copied WHERE id = OLD.id",
    "CREATE TRIGGER copied_delete AFTER DELETE ON copied FOR EACH ROW UPDATE late SET n = n + 1 WHERE id = OLD.id",
    "CREATE PROCEDURE bump(k INT) UPDATE item SET n = n + 1 WHERE id = k",
    "CREATE FUNCTION touch(k INT) RETURNS INT DETERMINISTIC MODIFIES SQL DATA \
     BEGIN UPDATE badge SET g = g + 1 WHERE id = k; RETURN k; END",
    "CREATE VIEW calling AS SELECT touch(3) AS x",
];

/// Those that are filled, with their columns.
const FILLED: [&str; 22] = [
    "parent (id, n, g)",
    "child (id, n, g)",
    "grandchild (id, n, g)",
    "item (id, n, g)",
    "elsewhere.item (id, n, g)",
    "tiny (id, n, g)",
    "wide (id, n, g)",
    "arrival (id, n, g)",
    "badge (id, n, g)",
    "late (id, n, g)",
    "id (id, n, g)",
    "n (id, n, g)",
    "journal (id, n, g)",
    "copied (id, n, g)",
    "pair (id, n, g)",
    "word (id, n, g)",
    "loose (id, n, g)",
    "hidden (id, n, g)",
    "tree (id, n, g)",
    "slices (id, n, g)",
    "swap (id, n, g)",
    "old (id, n, g)",
];

/// Ids with a row; those between are free.
const IDS: [i64; 12] = [1, 2, 3, 4, 6, 7, 8, 9, 12, 63, 64, 127];

/// Statements that make all anew, whatever was there.
pub(crate) fn statements(server: Kind) -> Vec<String> {
    let mut statements = Vec::new();
    if server == Kind::MySql {
        // Without it a function that writes is refused where there is a binary log.
        statements.push("SET GLOBAL log_bin_trust_function_creators = 1".to_owned());
    }
    // Rows refer to later ones.
    statements.push("SET SESSION foreign_key_checks = 0".to_owned());
    statements.extend(DEFINITIONS.map(str::to_owned));
    // `g` refers to a row of `child` in one table.
    let rows = |n: fn(i64) -> i64| {
        IDS.map(|id| format!("({id}, {}, {})", n(id), IDS[usize::try_from(id % 3).expect("0 to 2")]))
            .join(", ")
    };
    statements.extend(FILLED.map(|table| format!("INSERT INTO {table} VALUES {}", rows(|id| id * 2))));
    statements.extend(TYPED.map(|(table, spellings)| {
        let rows = IDS.map(|id| format!("({}, {}, 1)", spelled(spellings[0], id), id * 2));
        format!("INSERT INTO {table} (id, n, g) VALUES {}", rows.join(", "))
    }));
    statements.push("INSERT INTO follower SELECT id, n, n FROM badge".to_owned());
    statements.push(format!(
        "INSERT INTO made (id, n) VALUES {}",
        IDS.map(|id| format!("({id}, {id})")).join(", ")
    ));
    statements.push(format!("INSERT INTO watched (id, n, g) VALUES {}", rows(|id| id)));
    statements.extend(
        [
            "tiny (id) VALUES (-128), (-7), (-1)",
            "wide (id) VALUES (9223372036854775808), (18446744073709551615)",
        ]
        .map(|rows| format!("INSERT INTO {rows}")),
    );
    statements.push("SET SESSION foreign_key_checks = 1".to_owned());
    statements
}

/// Tables whose keys are of another type, and these in their spellings, of which few are surely that key: `##` is the key as a day or a
/// number of two digits, `#` its digits. The first ones are what people write.
pub(crate) const TYPED: [(&str, &[&str]); 4] = [
    (
        "priced",
        &[
            "#.00",
            "#.00",
            "#",
            "#.0",
            "#.50",
            "'#'",
            "'#.00'",
            "#e0",
            "-#",
            "- #.0",
            "(#.00)",
            "+#.0",
            "0#.",
            "#.001",
            "#.004999",
            "CAST(# AS DECIMAL(9,2))",
            "#.0 + 0",
            "NULL",
        ],
    ),
    (
        "dated",
        &[
            "'2000-01-##'",
            "'2000-01-##'",
            "'2000-01-##'",
            "'2000-1-#'",
            "'2000-01-## '",
            "'2000-01-## 00:00:00'",
            "'2000-01-## 10:00:00'",
            "'00-01-##'",
            "200001##",
            "DATE'2000-01-##'",
            "DATE '2000-01-##'",
            "('2000-01-##')",
            "'2000-01-##x'",
            "'2000/01/##'",
            "'2000-02-30'",
            "'2000-00-##'",
            "'0000-00-00'",
            "0",
            "'2000-01-##' + INTERVAL 1 DAY",
            "'2000-01-##' COLLATE utf8mb4_bin",
            "NULL",
        ],
    ),
    (
        "timed",
        &[
            "'2000-01-## 10:20:30'",
            "'2000-01-## 10:20:30'",
            "'2000-01-## 10:20:30'",
            "'2000-01-##T10:20:30'",
            "'2000-01-## 10:20:30.0'",
            "'2000-01-## 10:20:30.4'",
            "'2000-01-## 10:20:30 '",
            "TIMESTAMP'2000-01-## 10:20:30'",
            "'2000-01-##'",
            "'2000-01-## 10:20'",
            "'2000-1-# 10:20:30'",
            "200001##102030",
            "('2000-01-## 10:20:30')",
            "'2000-02-30 10:20:30'",
            "'0000-00-00 00:00:00'",
            "NULL",
        ],
    ),
    (
        "listed",
        &[
            "'k#'",
            "'k#'",
            "'k#'",
            "'K#'",
            "'k# '",
            "'k#x'",
            "#",
            "'#'",
            "('k#')",
            "'k' '#'",
            "'none'",
            "''",
            "0",
            "'7'",
            "'5'",
            "_utf8mb4'k#'",
            "'k#' COLLATE utf8mb4_bin",
            "NULL",
        ],
    ),
];

/// A key so spelled.
pub(crate) fn spelled(spelling: &str, key: i64) -> String {
    let day = key.rem_euclid(28) + 1;
    match spelling.contains("##") {
        true => spelling.replace("##", &format!("{day:02}")),
        false if spelling.contains("2000-1-#") => spelling.replace('#', &day.to_string()),
        false => spelling.replace('#', &key.to_string()),
    }
}
