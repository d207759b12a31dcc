//! Stored code that sets something, and statements that run it without looking like it.

use super::{Author, On, Theme};

/// What code does besides.
const BODIES: [(On, &str); 8] = [
    (On::Both, "SET {state}"),
    (On::Both, "SET {state}"),
    (On::Both, "SET {state}"),
    (On::Both, "CREATE TEMPORARY TABLE IF NOT EXISTS t LIKE model"),
    (On::Both, "SET @u = 'leaked'"),
    (On::Both, "DO GET_LOCK('l', 0)"),
    (On::Both, "SET insert_id = 7{n}"),
    (On::Both, "SET {state}; SET @u = 1"),
];

/// Those that run a trigger.
const TRIGGERED: [(On, &str); 20] = [
    (On::Both, "INSERT INTO w{i} VALUES (1, 1, 'a'), (1, 1, 'b')"),
    (On::Both, "INSERT INTO w{i} VALUES (9{n}, 1, 'a'), (1, 1, 'b')"),
    (On::Both, "INSERT INTO w{i} (n, s) VALUES ({n}, 'b')"),
    (On::Both, "INSERT INTO w{i} VALUES (NULL, NULL, 'b')"),
    (On::Both, "INSERT INTO w{i} (n, s) VALUES (1, 'much too long')"),
    (On::Both, "INSERT IGNORE INTO w{i} VALUES (1, 1, 'a')"),
    (On::Both, "INSERT INTO w{i} VALUES (1, 1, 'a') ON DUPLICATE KEY UPDATE n = {n}"),
    (On::Both, "INSERT INTO w{i} SELECT id, n, 'x' FROM kept"),
    (On::Both, "REPLACE INTO w{i} VALUES (1, {n}, 'r')"),
    (On::Both, "UPDATE w{i} SET id = 1"),
    (On::Both, "UPDATE w{i} SET n = NULL"),
    (On::Both, "UPDATE w{i} SET s = 'u{n}' WHERE id = 2"),
    (On::Both, "UPDATE w{i} JOIN kept ON kept.id = w{i}.id SET w{i}.id = 2"),
    (On::Both, "DELETE FROM w{i} WHERE id = 8{n}"),
    (On::Both, "DELETE FROM w{i} WHERE id = 2 AND (SELECT id FROM t)"),
    (On::Both, "DELETE w{i} FROM w{i} JOIN kept ON kept.id = w{i}.id"),
    (On::Both, "SELECT 1; INSERT INTO w{i} VALUES (1, 1, 'a')"),
    (On::Both, "SELECT 1; INSERT INTO w{i} (n) VALUES ({n})"),
    (On::Both, "INSERT INTO w{i} (n) VALUES ({n}); SELECT 2"),
    (On::MariaDb, "INSERT INTO w{i} (n) VALUES ({n}), (NULL) RETURNING id"),
];

/// Those that call a function, or read a view that does.
const CALLING: [(On, &str); 48] = [
    (On::Both, "SELECT * FROM vf{i}"),
    (On::Both, "SELECT f{i}()"),
    (On::Both, "SELECT f{i}() FROM t WHERE nowhere = 1"),
    (On::Both, "SELECT f{i}(), (SELECT id FROM t)"),
    (On::Both, "SELECT (SELECT id FROM t WHERE id > length(a)) FROM vf{i}"),
    (On::Both, "SELECT * FROM vf{i} WHERE a = (SELECT id FROM t)"),
    (On::Both, "SELECT 1 FROM t WHERE EXISTS (SELECT * FROM vf{i})"),
    (On::Both, "(SELECT a FROM vf{i}) UNION (SELECT 1)"),
    (On::Both, "SELECT 1 UNION SELECT a FROM vf{i}"),
    (On::Both, "WITH c AS (SELECT * FROM vf{i}) SELECT * FROM c"),
    (On::Both, "SELECT * FROM (SELECT * FROM vf{i}) AS x"),
    (On::Both, "SELECT * FROM vf{i} FOR UPDATE"),
    (On::Both, "SELECT * FROM vf{i} LOCK IN SHARE MODE"),
    (On::Both, "SELECT a INTO @u FROM vf{i} LIMIT 1"),
    (On::Both, "SELECT SQL_CALC_FOUND_ROWS a FROM vf{i} LIMIT 1"),
    (On::Both, "EXPLAIN SELECT * FROM vf{i}"),
    (On::MySql, "EXPLAIN ANALYZE SELECT * FROM vf{i}"),
    (On::MySql, "EXPLAIN FORMAT=TREE SELECT * FROM vf{i}"),
    (On::MySql, "TABLE vf{i}"),
    (On::MySql, "VALUES ROW(f{i}())"),
    (On::MariaDb, "ANALYZE SELECT * FROM vf{i}"),
    (On::MariaDb, "ANALYZE FORMAT=JSON SELECT * FROM vf{i}"),
    (On::MariaDb, "VALUES (f{i}())"),
    (On::MariaDb, "EXECUTE IMMEDIATE 'SELECT * FROM vf{i}'"),
    (On::MariaDb, "EXECUTE IMMEDIATE CONCAT('SELECT ', f{i}())"),
    (On::MariaDb, "BEGIN NOT ATOMIC DECLARE z INT DEFAULT f{i}(); END"),
    (On::MariaDb, "SET STATEMENT sort_buffer_size = 100000 FOR SELECT * FROM vf{i}"),
    (On::MariaDb, "SELECT * FROM t LIMIT ROWS EXAMINED 1000"),
    (On::Both, "SHOW TABLES WHERE f{i}()"),
    (On::Both, "SHOW TABLES WHERE f{i}() AND nowhere"),
    (On::Both, "SHOW COLUMNS FROM kept WHERE f{i}() OR 1"),
    (On::Both, "SHOW VARIABLES WHERE f{i}() AND Variable_name = 'version_comment'"),
    (On::Both, "SHOW COLLATION WHERE f{i}() AND 0"),
    (On::Both, "SHOW INDEX FROM t WHERE f{i}() AND 0"),
    (On::Both, "CREATE TABLE extra_{n} SELECT f{i}() AS c"),
    (On::Both, "CREATE TABLE extra_{n} AS SELECT * FROM vf{i}"),
    (On::Both, "CREATE TEMPORARY TABLE mine_{n} AS SELECT * FROM vf{i}"),
    (On::Both, "DO f{i}()"),
    (On::Both, "DO (SELECT max(a) FROM vf{i})"),
    (On::Both, "SET @u = f{i}()"),
    (On::Both, "SET @u = (SELECT max(a) FROM vf{i})"),
    (On::Both, "CALL p{i}()"),
    (On::Both, "CALL pfails{i}()"),
    (On::Both, "SELECT 1; CALL pfails{i}()"),
    (On::Both, "DELETE FROM kept WHERE id = f{i}() AND id > 1000"),
    (On::Both, "UPDATE kept SET n = 1 WHERE id IN (SELECT a FROM vf{i}) AND id > 1000"),
    (On::Both, "INSERT INTO kept SELECT 1, a FROM vf{i}"),
    (On::Both, "SELECT 1; SELECT * FROM vf{i}"),
];

impl Author {
    /// The round's own code; none where it is not about code, as a cache empties itself for it.
    pub(super) fn definitions(&mut self) -> Vec<String> {
        if self.theme != Theme::Code {
            return Vec::new();
        }
        (0..3).flat_map(|number| self.code(number)).collect()
    }

    fn code(&mut self, number: usize) -> Vec<String> {
        let time = *self.random.pick(&["BEFORE", "AFTER"]);
        let event = *self.random.pick(&["INSERT", "INSERT", "INSERT", "UPDATE", "DELETE"]);
        let failure = *self.random.pick(&["", "", "; SIGNAL SQLSTATE '45000'"]);
        let [function, trigger, procedure, failing] = [(); 4].map(|()| self.one_of(&BODIES));
        let columns =
            *self.random.pick(&["f{}() AS a", "f{}() AS a, id", "length(f{}()) AS a", "id + f{}() AS a"]);
        let columns = columns.replace("{}", &number.to_string());
        vec![
            format!("CREATE FUNCTION f{number}() RETURNS INT BEGIN {function}; RETURN {number}; END"),
            format!("CREATE VIEW vf{number} AS SELECT {columns} FROM kept"),
            format!(
                "CREATE TRIGGER tr{number} {time} {event} ON w{number} FOR EACH ROW BEGIN {trigger}{failure}; END"
            ),
            format!("CREATE PROCEDURE p{number}() BEGIN {procedure}; END"),
            format!("CREATE PROCEDURE pfails{number}() BEGIN {failing}; SELECT nowhere FROM t; END"),
        ]
    }

    /// Somebody runs it, and mostly leaves; others ask.
    pub(super) fn run_code(&mut self) {
        let slot = self.random.below(crate::step::SLOTS);
        let sql = if self.random.below(2) == 0 { self.one_of(&TRIGGERED) } else { self.one_of(&CALLING) };
        self.says(slot, &sql);
        if self.random.below(4) > 0 {
            self.open(slot);
        }
        self.ask();
        self.ask();
    }
}
