//! SELECTs.

use nuthatch_lab::Kind;

use super::Author;
use crate::statement::Statement;

const ONE_TABLE: [&str; 13] = [
    "SELECT {list} FROM {t} WHERE {where}{tail}",
    "SELECT {list} FROM {t} WHERE {where}{tail}",
    "SELECT {list} FROM {t} WHERE {where}",
    "select {list} from {t} where {where}",
    "SELECT {list} FROM {t}{tail}",
    "SELECT COUNT(*) FROM {t}",
    "SELECT 1 FROM {t} LIMIT 3",
    "SELECT COUNT(*), MAX(n) FROM {t} WHERE {where}",
    "SELECT g, COUNT(*) FROM {t} GROUP BY g ORDER BY g",
    "(SELECT {list} FROM {t} WHERE {where})",
    "SELECT DISTINCT n FROM {t} WHERE {where}",
    "SELECT DISTINCT g FROM {t} WHERE {where} ORDER BY g LIMIT 2",
    "SELECT {list} FROM {t} WHERE {where} AND {where}{tail}",
];

const BY_KEY: [&str; 16] = [
    "SELECT {list} FROM {t} WHERE id = {k}",
    "SELECT * FROM {t} WHERE id = {k}",
    "SELECT n FROM {t} WHERE {q}.id = {k}",
    "SELECT n, g FROM {t} WHERE id IN ({k}, {k})",
    "SELECT id, n FROM {t} WHERE id = {k} AND n > {m}",
    "SELECT {list} FROM {t} WHERE id IN ({k}, {k}, {k}){tail}",
    "SELECT n FROM {t} WHERE {k} = id",
    "SELECT n FROM hidden WHERE secret = {k}",
    "SELECT n FROM Item WHERE id = {k}",
    "SELECT {list} FROM {t} WHERE id BETWEEN {m} AND {k}{tail}",
    "SELECT n FROM {t} WHERE (id = {k} AND n > 0)",
    "SELECT n FROM {t} WHERE (id = {k}) = 0",
    "SELECT n FROM {t} WHERE (id = {k}) IS FALSE AND n",
    "SELECT n FROM {t} WHERE (id = {k}) OR n > {m}",
    "SELECT n FROM {t} WHERE (id = {k} OR n > {m}) AND g",
    "SELECT n FROM {t} WHERE ((id = {k}) < n) AND (g > 0)",
];

const HINTED: [&str; 10] = [
    "SELECT n FROM {u} FORCE INDEX (PRIMARY) WHERE id = {k}",
    "SELECT n FROM {u} USE INDEX FOR ORDER BY (PRIMARY) WHERE {where} ORDER BY id",
    "SELECT n FROM {u} IGNORE INDEX (g) WHERE id = {k} AND g > 0",
    "SELECT n FROM {t} FORCE KEY FOR JOIN (PRIMARY) USE INDEX () WHERE id = {k}",
    "SELECT n FROM {t} IGNORE INDEX FOR GROUP BY (PRIMARY) WHERE id IN ({k}, {k})",
    "SELECT * FROM {u} USE INDEX (PRIMARY), {u} AS b WHERE b.id = {k}",
    "SELECT n FROM slices PARTITION (p0) WHERE id = {k}",
    "SELECT /*+ MAX_EXECUTION_TIME(10000) */ n FROM {t} WHERE id = {k}",
    "SELECT SQL_BIG_RESULT STRAIGHT_JOIN n FROM {t} WHERE id = {k}",
    "SELECT HIGH_PRIORITY SQL_SMALL_RESULT DISTINCT n FROM {t} WHERE {where}",
];

const JOINS: [&str; 19] = [
    "SELECT a.id, b.n FROM {u} AS a JOIN {u} AS b USING (id) WHERE a.id = {k}",
    "SELECT * FROM {u} AS a JOIN {u} AS b USING (id) WHERE id = {k}",
    "SELECT a.n, b.n FROM {u} AS a, {u} AS b WHERE a.id = {k} AND b.id = a.id",
    "SELECT a.n, b.n FROM {u} a, {u} b WHERE a.id = {k} AND b.id = {k}",
    "SELECT * FROM {u} AS a LEFT JOIN {u} AS b ON b.id = a.n WHERE a.id = {k}",
    "SELECT b.n FROM {u} AS a RIGHT JOIN {u} AS b ON b.id = a.id AND a.id = {k}",
    "SELECT * FROM {u} AS a NATURAL JOIN {u} AS b",
    "SELECT a.n FROM {u} AS a STRAIGHT_JOIN {u} AS b ON a.id = b.id WHERE b.id = {k}",
    "SELECT COUNT(*) FROM ({u} AS a CROSS JOIN {u} AS b ON a.id = b.id) WHERE a.id = {k}",
    "SELECT a.n, b.n FROM {u} AS a JOIN ({u} AS b, {u} AS c) ON a.id = b.id AND b.id = c.id WHERE a.id = {k}",
    "SELECT a.n, b.n FROM {oj} WHERE a.id = {k}",
    "SELECT a.n, b.g FROM {u} AS a LEFT JOIN {u} AS b ON b.g = a.n WHERE a.n = {m}",
    "SELECT a.n, b.g FROM {u} AS a LEFT JOIN {u} AS b ON (b.g = a.n AND b.n > 1) WHERE b.g IN ({m}, 2)",
    "SELECT a.id, c.n FROM {u} AS a JOIN {u} AS b ON a.g = b.n LEFT JOIN {u} AS c ON c.n = b.g AND c.g = a.g WHERE b.n = {m}",
    "SELECT COUNT(*), MAX(c.g) FROM {u} AS a LEFT JOIN {u} AS b ON a.g = b.g LEFT JOIN {u} AS c ON b.n = c.g WHERE a.g = {m} OR a.g = 1",
    "SELECT a.id, c.g FROM {u} AS a LEFT JOIN {u} AS b ON a.g = b.g JOIN {u} AS c ON b.g = c.n WHERE c.n = {m} AND a.n > 0",
    "SELECT b.n FROM {u} AS a JOIN {u} AS b ON a.g = b.n RIGHT JOIN {u} AS c ON c.n = b.g WHERE a.g = {m} OR c.g = {m}",
    "SELECT a.g, b.g FROM {u} AS a, {u} AS b, {u} AS c WHERE (a.g = b.n AND b.n = c.g) AND c.g IN (1, {m}) AND a.id < {k}",
    "SELECT item.n, badge.n FROM item JOIN badge ON item.id = badge.id AND badge.id = {k} WHERE item.id = {k}",
];

const NESTED: [&str; 18] = [
    "SELECT * FROM (SELECT id, n FROM {t} WHERE {where}) AS d WHERE d.id = {k}",
    "SELECT d.n FROM (SELECT * FROM {u}) AS d WHERE id = {k}",
    "WITH c AS (SELECT id, n FROM {t} WHERE {where}) SELECT * FROM c WHERE id = {k}",
    "WITH item AS (SELECT * FROM elsewhere.item) SELECT n FROM item WHERE id = {k}",
    "WITH badge (id, n) AS (SELECT id, n FROM item), c AS (SELECT * FROM badge) SELECT n FROM c WHERE id = {k}",
    "WITH RECURSIVE c AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM c WHERE x < 4) \
     SELECT a.id, a.n FROM c JOIN {u} AS a ON a.id = c.x",
    "SELECT id, n FROM {t} WHERE id = {k} UNION SELECT id, g FROM {u} WHERE id = {k}",
    "SELECT n FROM {t} WHERE id = {k} UNION ALL SELECT n FROM {u} AS u WHERE u.id = {k}",
    "(SELECT id FROM {t} WHERE {where}) UNION (SELECT n FROM {u} AS u WHERE u.id = {k}) ORDER BY 1 LIMIT 3",
    "SELECT id FROM {t} WHERE {where} EXCEPT SELECT u.n FROM {u} AS u",
    "SELECT id FROM {t} WHERE {where} INTERSECT SELECT u.id FROM {u} AS u WHERE u.id = {k}",
    "SELECT n FROM {t} WHERE id = {k} AND EXISTS (SELECT 1 FROM {u} AS u WHERE u.id = {k})",
    "SELECT n, (SELECT MAX(u.n) FROM {u} AS u) AS x FROM {t} WHERE id = {k}",
    "SELECT (SELECT n FROM {t} WHERE id = {k}) AS x",
    "SELECT n FROM {t} WHERE id = (SELECT u.id FROM {u} AS u WHERE u.id = {k})",
    "SELECT id, SUM(n) OVER w FROM {t} WHERE {where} WINDOW w AS (ORDER BY id)",
    "SELECT n, ROW_NUMBER() OVER (PARTITION BY g ORDER BY id, n) FROM {t} WHERE id IN ({k}, {k})",
    "SELECT j.x, a.n FROM JSON_TABLE('[1,3,7]', '$[*]' COLUMNS (x INT PATH '$')) AS j JOIN {u} AS a ON a.id = j.x",
];

const MYSQL: [&str; 4] = [
    "TABLE {u}",
    "TABLE {u} ORDER BY id, n, g LIMIT 3",
    "SELECT a.n, l.n FROM {u} AS a, LATERAL (SELECT b.n FROM {u} AS b WHERE b.id = a.id) AS l WHERE a.id = {k}",
    "SELECT n FROM {t} WHERE id = {k} AND id MEMBER OF ('[1,3,7]')",
];

const MARIADB: [&str; 3] = [
    "SELECT n FROM {t} WHERE id = {k} LIMIT ROWS EXAMINED 100",
    "SELECT MEDIAN(n) OVER (PARTITION BY g) FROM {t} WHERE id = {k}",
    "SELECT n FROM {t} WHERE {where} ORDER BY id, n, g FETCH FIRST 2 ROWS ONLY",
];

/// Which definitions there are.
const DEFINITIONS: [&str; 22] = [
    "SELECT table_name, table_type, table_comment FROM information_schema.tables WHERE table_schema = DATABASE()",
    "SELECT table_name, engine, table_collation FROM information_schema.tables WHERE table_schema IN ('soundness', 'elsewhere')",
    "SELECT COUNT(*) FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_TYPE='BASE TABLE' AND TABLE_NAME='gone' AND TABLE_SCHEMA='soundness'",
    "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'soundness' AND TABLE_NAME = 'item'",
    "SELECT t.table_name, c.column_name FROM information_schema.tables t JOIN information_schema.columns c \
     USING (table_schema, table_name) WHERE t.table_schema = 'soundness'",
    "SELECT table_name, column_name, ordinal_position, column_default, is_nullable, data_type FROM information_schema.columns \
     WHERE table_schema = DATABASE()",
    "SELECT table_name, column_name, column_type, column_key, extra, column_comment, character_set_name, collation_name, \
     character_maximum_length, character_octet_length, numeric_precision, numeric_scale, datetime_precision \
     FROM information_schema.columns WHERE table_schema IN ('soundness', 'elsewhere')",
    "SELECT column_name FROM information_schema.columns WHERE table_schema = 'soundness' AND table_name = 'item' ORDER BY ordinal_position",
    "SELECT table_name, index_name, column_name, seq_in_index, non_unique, collation, sub_part, nullable, index_type, index_comment \
     FROM information_schema.statistics WHERE table_schema = DATABASE()",
    "SELECT DISTINCT LOWER(index_name) FROM information_schema.statistics WHERE table_schema = 'soundness' AND NOT non_unique",
    "SELECT table_name, column_name, constraint_name, ordinal_position, position_in_unique_constraint, referenced_table_schema, \
     referenced_table_name, referenced_column_name FROM information_schema.key_column_usage WHERE table_schema = DATABASE()",
    "SELECT kc.constraint_name, tc.constraint_type FROM information_schema.key_column_usage AS kc, \
     information_schema.table_constraints AS tc WHERE kc.table_schema = DATABASE() AND tc.table_schema = kc.table_schema \
     AND tc.constraint_name = kc.constraint_name",
    "SELECT constraint_name, table_name, referenced_table_name, unique_constraint_name, match_option, update_rule, delete_rule \
     FROM information_schema.referential_constraints WHERE constraint_schema = DATABASE()",
    "SELECT table_name, is_updatable, security_type, check_option, definer FROM information_schema.views WHERE table_schema = DATABASE()",
    "SELECT schema_name, default_character_set_name, default_collation_name FROM information_schema.schemata",
    "SHOW TABLES",
    "SHOW FULL TABLES FROM soundness WHERE Table_type = 'BASE TABLE'",
    "SHOW FULL COLUMNS FROM item",
    "SHOW COLUMNS FROM {t}",
    "SHOW FIELDS FROM elsewhere.item LIKE '%n%'",
    "SHOW SCHEMAS",
    "SELECT table_name, (SELECT COUNT(*) FROM information_schema.statistics s WHERE s.table_name = t.table_name) AS indexed \
     FROM information_schema.tables AS t WHERE t.table_schema = 'soundness' AND t.table_name LIKE '%a%'",
];

/// Of which none is to be cached, or only some.
const SPECIAL: [&str; 9] = [
    "SELECT n FROM {t} WHERE id = {k} FOR UPDATE",
    "SELECT n FROM {t} WHERE id = {k} LOCK IN SHARE MODE",
    "SELECT n, @x FROM {t} WHERE id = {k}",
    "SELECT AUTO_INCREMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'soundness' AND TABLE_NAME = 'arrival'",
    "SELECT MAX(create_time) FROM information_schema.tables WHERE table_schema = DATABASE()",
    "SELECT COUNT(*) FROM nowhere",
    "SELECT {k} AS x",
    "SELECT 1 FROM DUAL WHERE {k} = 7",
    "SELECT DATABASE(), n FROM {t} WHERE id = {k}",
];

const LISTS: [&str; 25] = [
    "*",
    "*",
    "n",
    "id, n",
    "id, n",
    "n, g",
    "n AS id, id AS n",
    "n x",
    "1",
    "n + 1, id",
    "(n)",
    "-n",
    "IF(n > 4, id, g)",
    "CASE WHEN n > 4 THEN id END",
    "n * 2 AS n",
    "ALL n",
    "COUNT(*)",
    "COUNT(n), MAX(id)",
    "SUM(n)",
    "MIN(n), MAX(n)",
    "GROUP_CONCAT(id ORDER BY id)",
    "COUNT(DISTINCT g)",
    "ROW_NUMBER() OVER (ORDER BY id, n, g)",
    "id = {k}, n",
    "(SELECT COUNT(*) FROM {u} AS u WHERE u.id = {k})",
];

/// What limits puts rows in an order without ties first: else two answers may differ although nothing has changed.
const TAILS: [&str; 17] = [
    "",
    "",
    "",
    "",
    " ORDER BY id",
    " ORDER BY id, n, g LIMIT 1",
    " ORDER BY id DESC, n, g LIMIT 2 OFFSET 1",
    " ORDER BY id, n, g LIMIT 1, 1",
    " LIMIT 0",
    " GROUP BY id",
    " GROUP BY g",
    " GROUP BY n, id HAVING COUNT(*) = 1",
    " GROUP BY id WITH ROLLUP",
    " HAVING {k} = 7",
    " ORDER BY id = {k}, id, n, g LIMIT 2",
    " GROUP BY id, n ORDER BY COUNT(*), id, n LIMIT 1",
    " ORDER BY (SELECT MAX(u.n) FROM {u} AS u), id",
];

impl Author {
    pub(super) fn read(&mut self) -> Statement {
        match self.random.below(20) {
            0..6 => self.statement("by key", &BY_KEY),
            6..11 => self.statement("of one table", &ONE_TABLE),
            11 => self.statement("with hints", &HINTED),
            12..14 => self.statement("join", &JOINS),
            14..18 => self.statement("nested", &NESTED),
            18 => match self.server {
                Kind::MySql => self.statement("of one server only", &MYSQL),
                Kind::MariaDb => self.statement("of one server only", &MARIADB),
            },
            _ => self.statement("special", &SPECIAL),
        }
    }

    pub(super) fn read_of_definitions(&mut self) -> Statement {
        self.statement("of definitions", &DEFINITIONS)
    }

    pub(super) fn select_list(&mut self) -> String {
        let list = *self.random.pick(&LISTS);
        self.fill(list)
    }

    pub(super) fn select_tail(&mut self) -> String {
        let tail = *self.random.pick(&TAILS);
        self.fill(tail)
    }
}
