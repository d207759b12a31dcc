//! Statements that write rows.

use nuthatch_lab::Kind;

use super::{Author, Sessions, definition};
use crate::statement::Statement;

/// The kind of what is more, or less, than a statement that writes rows.
pub(super) const OTHER: &str = "other";

const UPDATES: [&str; 12] = [
    "UPDATE {t} SET n = n + 1 WHERE id = {k}",
    "UPDATE {t} SET n = n + 1 WHERE id = {k}",
    "UPDATE {t} SET {set} WHERE id = {k}",
    "UPDATE {t} SET {set} WHERE id = {k}",
    "UPDATE {t} SET {set} WHERE {where}",
    "UPDATE {t} SET {set} WHERE {where}",
    "UPDATE {option}{t} SET {set} WHERE {where}{rest}",
    "UPDATE {t} SET n = n + 1 WHERE id IN ({k}, {k}){rest}",
    "UPDATE {t} SET {set}{rest}",
    "UPDATE Item SET n = n + 1 WHERE id = {k}",
    "UPDATE {t} FORCE INDEX (PRIMARY) SET n = n + 1 WHERE id = {k}",
    "UPDATE {t} SET n = n + 1 WHERE (id = {k}) AND (n > {m})",
];

const DELETES: [&str; 7] = [
    "DELETE FROM {t} WHERE id = {k}",
    "DELETE FROM {t} WHERE id = {k}",
    "DELETE FROM {t} WHERE {where}",
    "DELETE {option}FROM {t} WHERE {where}{rest}",
    "DELETE QUICK FROM {u} WHERE id = {k}",
    "DELETE FROM {t} ORDER BY id LIMIT 1",
    "DELETE FROM {u} WHERE id IN ({k}, {k}) ORDER BY id LIMIT 1",
];

const INSERTS: [&str; 25] = [
    "INSERT INTO {u} (id, n) VALUES ({k}, {m})",
    "INSERT INTO {u} (id, n) VALUES ({k}, {m})",
    "INSERT INTO {u} (n, id) VALUES ({m}, {k})",
    "INSERT INTO {u} (n, `ID`) VALUES (1{m}, {k}), (2{m}, {k})",
    "INSERT INTO {u} (id, n, g) VALUE ({k}, {m}, 1)",
    "INSERT {u} VALUES ({k}, {m}, 1)",
    "INSERT INTO {u} VALUES ({k}, 1{m}, 2), ({k}, 2{m}, 2)",
    "INSERT INTO {u} SET id = {k}, n = {m}",
    "INSERT INTO {u} SET n = {m}, id = {k}",
    "INSERT INTO {u} SET n = {m}",
    "INSERT INTO {u} (n) VALUES ({m})",
    "INSERT INTO {u} (n) VALUES ({m}), (1{m})",
    "INSERT INTO {u} () VALUES ()",
    "INSERT INTO {u} VALUES ()",
    "INSERT INTO {u} (id, n) VALUES (DEFAULT, {m})",
    "INSERT INTO {u} (id, n) VALUES (NULL, {m})",
    "INSERT INTO {u} (id, n) VALUES (0, {m})",
    "INSERT INTO {u} (id, n) VALUES (NULL, {m}), ({k}, {m})",
    "INSERT INTO {u} (n, id) VALUES ({m}, n + 5)",
    "INSERT INTO {u} (id, n) VALUES ({k}, (SELECT MAX(u.n) + 1 FROM {u} AS u))",
    "INSERT INTO {u} (id, n) VALUES ({k} + 1, {m})",
    "INSERT IGNORE INTO {u} (id, n) VALUES ({k}, {m}), (300, {m})",
    "INSERT HIGH_PRIORITY INTO {u} (id, n) VALUES ({k}, {k})",
    "INSERT INTO slices PARTITION (p0, p1) (id, n) VALUES ({k}, {m})",
    "INSERT INTO {u} (n) VALUES (LAST_INSERT_ID({k}))",
];

const UPSERTS: [&str; 14] = [
    "INSERT INTO {u} (id, n) VALUES ({k}, {m}) ON DUPLICATE KEY UPDATE n = n + 1",
    "INSERT INTO {u} (id, n) VALUES ({k}, {m}) ON DUPLICATE KEY UPDATE id = {k}",
    "INSERT INTO {u} (id, n) VALUES ({k}, {m}) ON DUPLICATE KEY UPDATE id = id + 200, n = 0",
    "INSERT INTO {u} (id, n) VALUES ({k}, 6), ({k}, 8) ON DUPLICATE KEY UPDATE n = VALUES(n) + 50",
    "INSERT INTO {u} SET id = {k}, n = 14 ON DUPLICATE KEY UPDATE g = g + 1",
    "INSERT INTO badge (id, n) VALUES ({k}, 2), ({k}, 14) ON DUPLICATE KEY UPDATE g = g + 1",
    "INSERT INTO {u} (id, n) VALUES ({k}, {m}) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), n = n + 1",
    "INSERT INTO {u} (n) VALUES ({m}) ON DUPLICATE KEY UPDATE g = g + 1",
    "INSERT INTO {u} (id, n) VALUES ({k}, {m}) ON DUPLICATE KEY UPDATE n = {m}, `ID` = {k}",
    "INSERT INTO {u} (n, id) VALUES ({m}, {k}), (1{m}, {k}) ON DUPLICATE KEY UPDATE n = VALUES(n) + 1, g = {m}",
    "INSERT IGNORE INTO {u} (id, n) VALUES ({k}, {m}), ({k}, 14) ON DUPLICATE KEY UPDATE n = n + 1, g = 4",
    "INSERT IGNORE {u} SET id = {k}, n = {m}",
    "INSERT INTO badge SELECT u.id, u.n, 1 FROM {u} AS u WHERE u.id = {k} ON DUPLICATE KEY UPDATE badge.n = 100 + {m}",
    "INSERT INTO {u} (id, n, g) VALUES ('{m}', {m}, (SELECT 1)), ({k}, 15, 2) ON DUPLICATE KEY UPDATE g = 2, n = n + 90",
];

const REPLACES: [&str; 9] = [
    "REPLACE INTO {u} (id, n) VALUES ({k}, {m})",
    "REPLACE {u} (id, n) VALUES ({k}, 14), ({k}, 2)",
    "REPLACE INTO badge (id, n) VALUES ({k}, 14)",
    "REPLACE LOW_PRIORITY INTO {u} SET id = {k}, n = {m}",
    "REPLACE INTO {u} (n) VALUES ({m})",
    "REPLACE INTO {u} (id, n) VALUES ({k}, {m}), (NULL, 14)",
    "REPLACE {u} SET n = {m}, ID = {k}",
    "REPLACE DELAYED INTO {u} (id, n) VALUES ({k}, {m})",
    "REPLACE INTO {u} (id, n) SELECT u.id, u.n + 1 FROM {u} AS u WHERE u.id = {k}",
];

const FROM_SELECTS: [&str; 7] = [
    "INSERT INTO {u} (id, n) SELECT u.id + 20, u.n + 300 FROM {u} AS u WHERE u.id = {k}",
    "INSERT INTO {u} (id, n) SELECT {k}, 77",
    "INSERT IGNORE INTO {u} (id, n) SELECT u.n, u.id FROM {u} AS u",
    "INSERT INTO {u} (n) SELECT u.n + 400 FROM {u} AS u WHERE u.id < 4",
    "INSERT INTO {u} (id, n) (SELECT u.id + 4, 500 FROM {u} AS u WHERE u.id = {k})",
    "INSERT INTO {u} (id, n) SELECT u.id, u.n FROM {u} AS u WHERE u.id = {k} ON DUPLICATE KEY UPDATE g = 9",
    "INSERT INTO {u} (id, n) WITH c AS (SELECT id, n FROM item) SELECT c.id + 9, c.n + 600 FROM c WHERE c.id = {k}",
];

const OF_SEVERAL: [&str; 11] = [
    "UPDATE {u} AS a JOIN {u} AS b ON a.id = b.id SET a.n = a.n + 1, b.n = b.n + 2 WHERE a.id = {k}",
    "UPDATE {u} AS a, {u} AS b SET a.n = b.n + 1 WHERE a.id = b.id AND b.id = {k}",
    "UPDATE {u} AS a LEFT JOIN {u} AS b USING (id) SET b.n = b.n + 1, a.g = 3 WHERE a.id = {k}",
    "UPDATE {u} AS a NATURAL JOIN {u} AS b SET a.n = a.n + 1",
    "UPDATE {t}, (SELECT 1 AS x) AS d SET n = n + 1 WHERE id = {k}",
    "UPDATE {u} AS a, elsewhere.item AS b SET b.n = b.n + 1 WHERE a.id = b.id AND a.id = {k}",
    "DELETE a FROM {u} AS a JOIN {u} AS b USING (id) WHERE a.id = {k}",
    "DELETE a, b FROM {u} AS a JOIN {u} AS b ON a.id = b.id WHERE b.id = {k}",
    "DELETE FROM a USING {u} AS a JOIN {u} AS b ON a.id = b.id WHERE b.id = {k}",
    "DELETE item FROM item JOIN badge ON item.id = badge.id WHERE badge.id = {k}",
    "DELETE FROM {u} WHERE id IN (SELECT x FROM (SELECT u.id AS x FROM {u} AS u WHERE u.id = {k}) AS d)",
];

/// Writes to tables to which foreign keys refer that cascade.
const TO_PARENTS: [&str; 19] = [
    "DELETE FROM parent WHERE id = {k}",
    "UPDATE parent SET id = id + 200 WHERE id = {k}",
    "UPDATE parent SET n = n + 1, g = 2 WHERE id = {k}",
    "REPLACE INTO parent (id, n) VALUES ({k}, {m})",
    "INSERT INTO parent (id, n) VALUES ({k}, {m}) ON DUPLICATE KEY UPDATE n = {m}, id = 200 + {m}",
    "DELETE FROM badge WHERE id = {k}",
    "UPDATE badge SET n = n + 100 WHERE id = {k}",
    "UPDATE badge SET g = n, badge.`N` = 100 WHERE id = {k}",
    "UPDATE badge SET g = g + 1, id = id + 200 WHERE id = {k}",
    "UPDATE IGNORE badge SET n = n + 1",
    "REPLACE INTO badge (id, n) VALUES ({k}, {m})",
    "INSERT INTO badge (id, n) VALUES ({k}, 300) ON DUPLICATE KEY UPDATE badge.n = 100",
    "INSERT IGNORE INTO badge (id, n) VALUES ({k}, {m}), (300, {m})",
    "DELETE FROM child WHERE id = {k}",
    "DELETE FROM tree WHERE id = {k}",
    "UPDATE tree SET id = id + 200 WHERE id = {k}",
    "UPDATE tree SET g = {k} WHERE id = {k}",
    "UPDATE parent AS a JOIN badge AS b USING (id) SET a.id = a.id + 200, b.n = 100 WHERE a.id = {k}",
    "DELETE a, b FROM parent AS a JOIN badge AS b ON a.id = b.id WHERE a.id = {k}",
];

const OTHERS: [&str; 11] = [
    "CALL bump({k})",
    "SELECT touch({k})",
    "DO touch({m})",
    "SELECT COUNT(*) FROM item WHERE touch(3) = id",
    "SET @x = touch({m})",
    "SELECT x FROM calling",
    "INSERT INTO item (id, n) SELECT 20, x FROM calling",
    "UPDATE item SET n = touch({m}) WHERE id = {k}",
    "UPDATE {t} SET n = n + 1 WHERE id = {k}; UPDATE {t} SET n = n + 1 WHERE id = {k}",
    "/*! UPDATE */ {u} SET n = n + 1 WHERE id = {k}",
    "INSERT INTO item (id, n) VALUES ({k}, touch({m}))",
];

const MARIADB: [&str; 9] = [
    "DELETE FROM {t} WHERE id = {k} RETURNING n",
    "INSERT INTO {u} (id, n) VALUES ({k}, {m}) RETURNING id",
    "INSERT INTO {u} (n) VALUES ({m}) RETURNING id",
    "REPLACE INTO {u} (id, n) VALUES ({k}, {m}) RETURNING *",
    "EXECUTE IMMEDIATE 'UPDATE item SET n = n + 1 WHERE id = 3'",
    "BEGIN NOT ATOMIC UPDATE item SET n = n + 1 WHERE id = 7; END",
    "SET STATEMENT lock_wait_timeout = 5 FOR UPDATE {t} SET n = n + 1 WHERE id = {k}",
    "ANALYZE UPDATE {t} SET n = n + 1 WHERE id = {k}",
    "ANALYZE FORMAT=JSON DELETE FROM {u} WHERE id = {k}",
];

const MYSQL: [&str; 5] = [
    "INSERT INTO {u} (id, n) VALUES ({k}, {m}) AS new ON DUPLICATE KEY UPDATE n = new.n + 50",
    "INSERT INTO {u} (id, n) VALUES ROW({k}, {m}), ROW({k}, {m})",
    "WITH c AS (SELECT u.id FROM {u} AS u WHERE u.id = {k}) UPDATE {t} SET n = n + 1 WHERE id IN (SELECT id FROM c)",
    "WITH c AS (SELECT 7 AS x) DELETE FROM {t} WHERE id IN (SELECT x FROM c)",
    "EXPLAIN ANALYZE SELECT touch({k}) FROM item WHERE id = 3",
];

const ASSIGNMENTS: [&str; 19] = [
    "n = n + 1",
    "n = n + 1",
    "n = {m}",
    "n = NULL",
    "g = g + 1, n = n + 1",
    "id = {k}",
    "id = id + 100",
    "n = n + 1, id = {k}",
    "`id` = {k}, n = 5",
    "n = (SELECT MAX(u.id) + 100 FROM {u} AS u)",
    "n = id = {k}",
    "n = CASE WHEN id = {k} AND 1 THEN 1 ELSE n + 1 END",
    "n = IF(1, n + 1, id), g = g",
    "n = DEFAULT",
    "{q}.n = {q}.n + 2",
    "`n` = n + 3, n = n * 2",
    "n := n + 1",
    "n = 'WHERE id = 1' + 1",
    "n = - (n + 1)",
];

const RESTS: [&str; 7] =
    ["", "", "", "", " ORDER BY id LIMIT 1", " ORDER BY id DESC LIMIT 1", " ORDER BY n = {k}, id LIMIT 2"];

/// Several statements, of which the first ones change what the others mean.
const SEQUENCES: [&[&str]; 16] = [
    &["PREPARE s FROM 'UPDATE item SET n = n + 1 WHERE id = ?'", "SET @k = {k}", "EXECUTE s USING @k"],
    &["PREPARE s FROM 'INSERT INTO arrival (n) VALUES (?)'", "SET @k = {k}", "EXECUTE s USING @k"],
    &["SET @text = 'DELETE FROM badge WHERE id = 7'", "PREPARE s FROM @text", "EXECUTE s"],
    &[
        "USE elsewhere",
        "PREPARE s FROM 'UPDATE item SET n = n + 1 WHERE id = 7'",
        "USE soundness",
        "EXECUTE s",
    ],
    &["SET sql_select_limit = 1", "UPDATE {t} SET n = n + 1", "SET sql_select_limit = DEFAULT"],
    &["USE elsewhere", "UPDATE item SET n = n + 1 WHERE id = {k}", "USE soundness"],
    &["USE elsewhere", "INSERT INTO item (id, n) VALUES ({k}, {m})", "USE soundness"],
    &[
        "SET SESSION sql_mode = 'ANSI_QUOTES'",
        "UPDATE \"item\" SET \"n\" = n + 1 WHERE \"id\" = {k}",
        "SET sql_mode = ''",
    ],
    &["SET autocommit = 0", "UPDATE {t} SET n = n + 1 WHERE id = {k}", "SET autocommit = 1"],
    &["SET autocommit = 0", "DELETE FROM {t} WHERE id = {k}", "ROLLBACK", "SET autocommit = 1"],
    &[
        "BEGIN",
        "UPDATE {t} SET n = n + 1 WHERE id = {k}",
        "SAVEPOINT a",
        "DELETE FROM {t}",
        "ROLLBACK TO a",
        "COMMIT",
    ],
    &["BEGIN", "UPDATE {t} SET n = n + 1 WHERE id = {k}", "CREATE TABLE nowhere (id INT)", "ROLLBACK"],
    &[
        "CREATE TEMPORARY TABLE item AS SELECT * FROM badge",
        "UPDATE item SET n = n + 1",
        "DROP TEMPORARY TABLE item",
        "UPDATE item SET n = n + 1 WHERE id = {k}",
    ],
    &["LOCK TABLES item WRITE", "UPDATE item SET n = n + 1 WHERE id = {k}", "UNLOCK TABLES"],
    &["XA START 'x'", "UPDATE {t} SET n = n + 1 WHERE id = {k}", "XA END 'x'", "XA COMMIT 'x' ONE PHASE"],
    &[
        "DROP VIEW seen",
        "CREATE TABLE seen AS SELECT * FROM badge",
        "UPDATE seen SET n = n + 1 WHERE id = {k}",
    ],
];

/// What a session may be told before it writes.
const SETTINGS: [&str; 5] = [
    "SET INSERT_ID = 5",
    "SET SESSION auto_increment_increment = 3",
    "SET SESSION auto_increment_increment = 1",
    "SET foreign_key_checks = 0",
    "SET unique_checks = 0, foreign_key_checks = 1",
];

impl Author {
    pub(super) fn write_to_parents(&mut self) -> Vec<Statement> {
        vec![self.statement("to parents", &TO_PARENTS)]
    }

    pub(super) fn write(&mut self) -> Vec<Statement> {
        if self.sessions == Sessions::Any && self.random.below(25) == 0 {
            let sequence = *self.random.pick(&SEQUENCES);
            return sequence.iter().map(|template| Statement::text(OTHER, &self.fill(template))).collect();
        }
        let write = match self.random.below(100) {
            0..26 => self.statement("update", &UPDATES),
            26..38 => self.statement("delete", &DELETES),
            38..58 => self.statement("insert", &INSERTS),
            58..65 => self.statement("upsert", &UPSERTS),
            65..70 => self.statement("replace", &REPLACES),
            70..77 => self.statement("insert from select", &FROM_SELECTS),
            77..86 => self.statement("of several tables", &OF_SEVERAL),
            86..91 => self.statement(OTHER, &OTHERS),
            91..95 => match self.server {
                Kind::MySql => self.statement(OTHER, &MYSQL),
                Kind::MariaDb => self.statement(OTHER, &MARIADB),
            },
            _ => self.definition(),
        };
        match self.random.below(60) {
            0 => {
                let setting = *self.random.pick(&SETTINGS);
                vec![Statement::text("setting", setting), write]
            }
            _ => vec![write],
        }
    }

    pub(super) fn definition(&mut self) -> Statement {
        self.statement(definition::KIND, &definition::TEMPLATES)
    }

    pub(super) fn assignments(&mut self) -> String {
        let assignments = *self.random.pick(&ASSIGNMENTS);
        self.fill(assignments)
    }

    pub(super) fn order_and_limit(&mut self) -> String {
        let rest = *self.random.pick(&RESTS);
        self.fill(rest)
    }
}
