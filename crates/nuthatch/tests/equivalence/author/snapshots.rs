//! Transactions that begin with reads, others' writes between them.

use super::{Author, On};
use crate::step::SLOTS;

const BEGINNINGS: [(On, &str); 7] = [
    (On::Both, "BEGIN"),
    (On::Both, "BEGIN"),
    (On::Both, "START TRANSACTION"),
    (On::Both, "START TRANSACTION READ ONLY"),
    (On::Both, "START TRANSACTION WITH CONSISTENT SNAPSHOT"),
    (On::Both, "SET autocommit = 0"),
    (On::Both, "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; BEGIN"),
];

/// Reads of which most open no snapshot at a server.
const FIRST: [(On, &str); 44] = [
    (On::Both, "SELECT 1"),
    (On::Both, "SELECT @@version_comment"),
    (On::Both, "SELECT * FROM t WHERE 1 = 0"),
    (On::Both, "SELECT * FROM kept WHERE 1 = 0"),
    (On::Both, "SELECT * FROM kept WHERE NULL"),
    (On::Both, "SELECT * FROM kept WHERE false AND id = 1"),
    (On::Both, "SELECT * FROM kept LIMIT 0"),
    (On::Both, "SELECT count(*) FROM kept WHERE 1 = 0"),
    (On::Both, "SELECT * FROM kept WHERE id = 1 AND id = 2"),
    (On::Both, "SELECT * FROM kept WHERE id > 5 AND id < 3"),
    (On::Both, "SELECT * FROM kept WHERE id IS NULL"),
    (On::Both, "SELECT * FROM kept WHERE id = 4711"),
    (On::Both, "SELECT * FROM kept HAVING 0"),
    (On::Both, "SELECT max(id) FROM kept"),
    (On::Both, "SELECT count(*) FROM kept"),
    (On::Both, "SELECT * FROM kept WHERE EXISTS (SELECT 1 FROM DUAL WHERE 1 = 0)"),
    (On::Both, "SELECT * FROM kept WHERE EXISTS (SELECT 1 FROM none)"),
    (On::Both, "SELECT * FROM kept WHERE (SELECT 0)"),
    (On::Both, "SELECT * FROM kept WHERE id IN (SELECT id FROM none)"),
    (On::Both, "SELECT * FROM (SELECT 1 AS a) AS x"),
    (On::Both, "WITH c AS (SELECT 1 AS a) SELECT * FROM c"),
    (On::Both, "WITH c AS (SELECT * FROM kept) SELECT 1"),
    (On::Both, "SELECT * FROM v_bare"),
    (On::Both, "SELECT * FROM v_false"),
    (On::Both, "SELECT * FROM old"),
    (On::Both, "SELECT * FROM old WHERE id = 1"),
    (On::Both, "SELECT * FROM none, kept"),
    (On::Both, "SELECT * FROM kept, none"),
    (On::Both, "SELECT * FROM old LEFT JOIN kept ON false"),
    (On::Both, "SELECT * FROM none LEFT JOIN kept ON kept.id = none.id"),
    (On::Both, "SELECT * FROM slices WHERE id = 4711"),
    (On::Both, "SELECT * FROM slices PARTITION (p0) WHERE id > 100"),
    (On::Both, "SELECT nowhere FROM kept"),
    (On::Both, "SELECT 1 UNION SELECT 2"),
    (On::Both, "SELECT 1 UNION SELECT id FROM kept WHERE 1 = 0"),
    (On::Both, "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'fresh'"),
    (On::Both, "SELECT * FROM information_schema.schemata WHERE schema_name = 'fresh'"),
    (On::Both, "SHOW TABLES"),
    (On::Both, "DO 1"),
    (On::Both, "EXPLAIN SELECT * FROM kept"),
    (On::Both, "DESCRIBE kept"),
    (On::MariaDb, "SELECT * FROM seq_1_to_3"),
    (On::MariaDb, "VALUES (1)"),
    (On::MySql, "VALUES ROW(1)"),
];

const WRITES: [(On, &str); 5] = [
    (On::Both, "UPDATE kept SET n = n + {n}"),
    (On::Both, "INSERT INTO kept VALUES (1000{n}, 1) ON DUPLICATE KEY UPDATE n = n + 1"),
    (On::Both, "DELETE FROM kept WHERE id > 1000"),
    (On::Both, "UPDATE t SET n = {n} WHERE id = {id}"),
    // MySQL 9.7 warns now and then of a connection that has written to InnoDB as well.
    (On::MariaDb, "UPDATE old SET n = n + 1"),
];

impl Author {
    /// One reads twice in a transaction, another writes between. Nobody waits: what is read takes no locks.
    pub(super) fn transaction(&mut self) {
        let reader = self.random.below(SLOTS);
        let writer = (reader + 1 + self.random.below(SLOTS - 1)) % SLOTS;
        let begin = self.one_of(&BEGINNINGS);
        self.says(reader, &begin);
        for _ in 0..=self.random.below(2) {
            let first = self.one_of(&FIRST);
            self.says(reader, &first);
        }
        for _ in 0..=self.random.below(2) {
            let write = self.one_of(&WRITES);
            self.says(writer, &write);
            let question = self.random.pick(&self.questions).clone();
            self.says(reader, &question);
            self.says(writer, &question);
        }
        let end = *self.random.pick(&["COMMIT", "ROLLBACK", "COMMIT AND CHAIN"]);
        self.says(reader, end);
        // Behind SET autocommit and AND CHAIN the next transaction is open already.
        self.says(reader, "SET autocommit = 1");
        self.says(reader, "COMMIT");
    }
}
