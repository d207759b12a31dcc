//! When a transaction's snapshot is opened, only its server decides. Sessions in turn, each beside its twin straight at the server:
//! what a transaction reads first, what others write then and what it reads after that are drawn by chance, and every answer is the
//! twin's.

use nuthatch_lab::Kind;

use crate::client::Client;
use crate::deadline::await_that;
use crate::proxy::Setup;
use crate::two_ways::{TwoWays, seen, seen_prepared};

/// What both schemas hold.
const TABLES: [&str; 14] = [
    "CREATE TABLE t (id INT PRIMARY KEY, v INT, w INT NOT NULL, KEY (w)) ENGINE=InnoDB",
    "CREATE TABLE u (id INT PRIMARY KEY, v INT) ENGINE=InnoDB",
    "CREATE TABLE e (id INT PRIMARY KEY, v INT) ENGINE=InnoDB",
    "CREATE TABLE p (id INT PRIMARY KEY, v INT) ENGINE=InnoDB \
     PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN (20))",
    "CREATE TABLE m (id INT PRIMARY KEY, v INT) ENGINE=MyISAM",
    "CREATE TABLE one (id INT PRIMARY KEY, v INT) ENGINE=MyISAM",
    "CREATE VIEW nothing AS SELECT 1 AS id, 2 AS v",
    "CREATE VIEW some AS SELECT id, v FROM t WHERE id < 3",
    "CREATE VIEW united AS SELECT 1 AS id, 2 AS v UNION ALL SELECT id, v FROM t WHERE id = 99",
    "INSERT INTO t VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3)",
    "INSERT INTO u VALUES (1, 1), (2, 2), (3, 3)",
    "INSERT INTO p VALUES (1, 1), (11, 11)",
    "INSERT INTO m VALUES (1, 1), (2, 2)",
    "INSERT INTO one VALUES (1, 1)",
];

/// What a transaction may begin with: whether it opens a snapshot, and on which server, is not said here.
const FIRST: [&str; 81] = [
    "SELECT LOWER(v) FROM t WHERE id = 1",
    "SELECT IF(v, (v), 0) FROM t WHERE 1=0",
    "SELECT IFNULL(SUM(v), 0) FROM t WHERE 1=0",
    "SELECT GROUP_CONCAT(v) FROM t WHERE id = 2 AND id = 3",
    "SELECT JSON_ARRAYAGG(v) FROM t WHERE 1=0",
    "SELECT SUM(v) OVER () FROM t WHERE 1=0",
    "SELECT STD(v), BIT_AND(v) FROM t WHERE id IS NULL",
    "SELECT ANY_VALUE(v) FROM t WHERE 1=0",
    "SELECT v FROM t WHERE id = 1",
    "SELECT v FROM t WHERE id = 99",
    "SELECT v FROM t WHERE 1=0",
    "SELECT v FROM t LIMIT 0",
    "SELECT v FROM t WHERE NULL",
    "SELECT v FROM t WHERE id IS NULL",
    "SELECT v FROM t WHERE w IS NULL",
    "SELECT v FROM t WHERE id = 2 AND id = 3",
    "SELECT v FROM t WHERE id > 5 AND id < 4",
    "SELECT v FROM t WHERE id BETWEEN 9 AND 3",
    "SELECT v FROM t WHERE id BETWEEN 1 AND 2 ORDER BY v DESC",
    "SELECT v FROM t WHERE id = 99999999999",
    "SELECT v FROM t WHERE id < -99999999999",
    "SELECT v FROM t WHERE id IN (98, 99)",
    "SELECT v FROM t WHERE id IN (NULL)",
    "SELECT v FROM t WHERE id = 'x'",
    "SELECT v FROM t WHERE id = 1.5",
    "SELECT v FROM t WHERE id <> id",
    "SELECT v FROM t WHERE v > 100",
    "SELECT v FROM t",
    "SELECT v FROM t ORDER BY v LIMIT 1",
    "SELECT v FROM t ORDER BY v LIMIT 1 OFFSET 7",
    "SELECT DISTINCT v FROM t WHERE w > 0",
    "SELECT COUNT(*) FROM t",
    "SELECT COUNT(*) FROM t WHERE 1=0",
    "SELECT COUNT(*) FROM t WHERE id BETWEEN 9 AND 3",
    "SELECT COUNT(*) FROM m",
    "SELECT COUNT(*) FROM e",
    "SELECT MAX(id) FROM t",
    "SELECT MAX(id) FROM e",
    "SELECT MIN(w) FROM t WHERE w > 100",
    "SELECT MAX(7) FROM t",
    "SELECT SUM(v) FROM t WHERE id = 2 AND id = 3",
    "SELECT v, COUNT(*) FROM t WHERE 1=0 GROUP BY v WITH ROLLUP",
    "SELECT v FROM e",
    "SELECT v FROM m",
    "SELECT v FROM one",
    "SELECT v FROM p WHERE id = 99",
    "SELECT v FROM p WHERE id = 1",
    "SELECT v FROM p WHERE id = 5",
    "SELECT * FROM nothing",
    "SELECT * FROM some",
    "SELECT * FROM united LIMIT 1",
    "SELECT * FROM (SELECT 1 AS a) AS d",
    "SELECT * FROM (SELECT 1 AS a) AS d LEFT JOIN t ON t.id = 99",
    "SELECT d.a FROM (SELECT 1 AS a) AS d LEFT JOIN t ON t.id = d.a",
    "SELECT v FROM (SELECT * FROM t WHERE 1=0) AS d",
    "WITH c AS (SELECT * FROM t) SELECT 1",
    "WITH c AS (SELECT 1 AS a) SELECT * FROM c",
    "WITH c AS (SELECT * FROM t) SELECT v FROM c",
    "SELECT 1 FROM dual WHERE EXISTS (SELECT 1 FROM t)",
    "SELECT 1 FROM dual WHERE EXISTS (SELECT 1 FROM t WHERE 1=0)",
    "SELECT EXISTS (SELECT 1 FROM t WHERE id = 99)",
    "SELECT 1 WHERE 0 AND EXISTS (SELECT 1 FROM t)",
    "SELECT v FROM u WHERE 1=0 AND EXISTS (SELECT 1 FROM t)",
    "SELECT IF(1, 5, (SELECT v FROM t LIMIT 1))",
    "SELECT (SELECT v FROM t) FROM t",
    "(SELECT 1) UNION ALL (SELECT v FROM t WHERE id = 2)",
    "SELECT 1 UNION ALL SELECT v FROM t WHERE 1=0",
    "SELECT t.v FROM t JOIN u ON t.id = u.id WHERE t.id = 1",
    "SELECT t.v FROM t LEFT JOIN u ON t.id = u.id AND 1=0 WHERE t.id = 1",
    "SELECT t.v FROM t JOIN m ON t.id = m.id WHERE m.id = 99",
    "SELECT one.v FROM one LEFT JOIN t ON t.id = one.id",
    "SELECT one.v FROM one JOIN t WHERE t.id IS NULL",
    "SELECT 1 FROM t HAVING 0",
    "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = 't'",
    "SELECT nosuch FROM t",
    "SELECT 1",
    "SHOW TABLES LIKE 't'",
    "EXPLAIN SELECT v FROM t WHERE id = 1",
    "DO 1",
    "SET @a = (SELECT v FROM t WHERE id = 1)",
    "SELECT v FROM t WHERE id = 1 FOR UPDATE",
];

/// What it reads then.
const THEN: [&str; 7] = [
    "SELECT v FROM t WHERE id = 1",
    "SELECT v FROM t WHERE id = 2",
    "SELECT v FROM u WHERE id = 1",
    "SELECT SUM(v) FROM u",
    "SELECT v FROM m WHERE id = 1",
    "SELECT v FROM e ORDER BY id",
    "SELECT v FROM p WHERE id = 11",
];

const BEGINS: [&str; 5] =
    ["BEGIN", "BEGIN", "SET autocommit=0", "START TRANSACTION", "START TRANSACTION READ ONLY"];

const WRITES: [&str; 6] = [
    "UPDATE t SET v = v + 1 WHERE id = 1",
    "UPDATE t SET v = v + 1",
    "UPDATE u SET v = v + 1 WHERE id = 1",
    "UPDATE m SET v = v + 1",
    "INSERT INTO e SELECT COUNT(*) + 1, 7 FROM e",
    "UPDATE p SET v = v + 1 WHERE id = 11",
];

/// What is sent, and how.
#[derive(Debug, Clone, Copy)]
struct Step {
    session: Who,
    sql: &'static str,
    is_prepared: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Who {
    /// The transaction that is looked at.
    Reader,
    /// Who writes, and has answers cached.
    Other,
}

/// Both sessions, on one of the two ways.
struct Side {
    reader: Client,
    other: Client,
}

impl Side {
    fn new(client: impl Fn() -> Client) -> Self {
        Self { reader: client(), other: client() }
    }

    /// What the client sees of the answer.
    fn take(&mut self, step: &Step) -> String {
        let client = if step.session == Who::Reader { &mut self.reader } else { &mut self.other };
        let seen =
            if step.is_prepared { seen_prepared(client, step.sql, &[]) } else { seen(client, step.sql) };
        if step.sql.starts_with("EXPLAIN") { String::new() } else { seen }
    }
}

/// Chance that a printed number repeats.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % limit
    }

    fn pick(&mut self, among: &[&'static str]) -> &'static str {
        among[self.below(among.len())]
    }
}

/// A transaction among writes of another session. `first` is what it begins with.
fn script(chance: &mut Chance, first: &'static str) -> Vec<Step> {
    let step = |session, sql| Step { session, sql, is_prepared: false };
    let mut steps = vec![step(Who::Other, chance.pick(&THEN)), step(Who::Other, chance.pick(&THEN))];
    steps.push(step(Who::Reader, chance.pick(&BEGINS)));
    steps.push(Step { is_prepared: chance.below(3) == 0, ..step(Who::Reader, first) });
    for _ in 0..2 + chance.below(4) {
        let (session, sql) = match chance.below(5) {
            0 | 1 if !locks(first) => (Who::Other, chance.pick(&WRITES)),
            2 => (Who::Other, chance.pick(&THEN)),
            3 => (Who::Reader, chance.pick(&FIRST)),
            _ => (Who::Reader, chance.pick(&THEN)),
        };
        let sql = if session == Who::Reader && locks(sql) { "SELECT 1" } else { sql };
        steps.push(Step { is_prepared: chance.below(4) == 0, ..step(session, sql) });
    }
    steps.push(step(Who::Reader, chance.pick(&THEN)));
    steps.push(step(Who::Reader, "COMMIT"));
    steps.push(step(Who::Reader, chance.pick(&THEN)));
    steps.push(step(Who::Reader, "SET autocommit=1"));
    steps
}

/// Whether who writes would have to wait for the reader.
fn locks(sql: &str) -> bool {
    sql.ends_with("FOR UPDATE") || sql.starts_with("SET @a")
}

/// Every form as the first of so many transactions.
#[expect(clippy::print_stdout, reason = "what a long run came to")]
fn check(kind: Kind, rounds: u64) {
    let ways = TwoWays::new(kind, super::on(Setup::default()), &TABLES);
    let (mut proxied, mut straight) = (Side::new(|| ways.proxied()), Side::new(|| ways.straight()));
    await_that("the tables are known", || {
        proxied.other.ok("SELECT v FROM p");
        ways.figure("Query_Cache_count_SET") > 0
    });
    let (before, mut answers) = (ways.figure("Query_Cache_count_GET_OK"), 0);
    for seed in 0..rounds {
        let mut chance = Chance(seed);
        for first in FIRST {
            let steps = script(&mut chance, first);
            for (number, step) in steps.iter().enumerate() {
                let (found, expected) = (proxied.take(step), straight.take(step));
                assert_eq!(found, expected, "{kind:?}, seed {seed}, step {number} of {steps:#?}");
            }
            answers += steps.len();
        }
    }
    let hits = ways.figure("Query_Cache_count_GET_OK") - before;
    println!("{kind:?}: {answers} answers, {hits} hits");
    assert!(hits > answers as u64 / 20, "{hits} hits in {answers} answers are no test");
}

#[test]
fn transaction_sees_what_it_would_see_at_mariadb_whatever_it_begins_with() {
    check(Kind::MariaDb, 5);
}

#[test]
fn transaction_sees_what_it_would_see_at_mysql_whatever_it_begins_with() {
    check(Kind::MySql, 5);
}

/// What sysbench sends in a transaction, and most object mappers.
#[test]
fn first_row_of_a_transaction_opens_its_snapshot_and_the_rest_is_served() {
    let stage = super::exact_with(&[
        "CREATE TABLE sbtest1 (id INT PRIMARY KEY AUTO_INCREMENT, k INT NOT NULL, c CHAR(120) NOT NULL)",
        "INSERT INTO sbtest1 (k, c) VALUES (1, 'a'), (2, 'b'), (3, 'c')",
    ]);
    let reads = [
        "SELECT c FROM sbtest1 WHERE id=2",
        "SELECT c FROM sbtest1 WHERE id=3",
        "SELECT c FROM sbtest1 WHERE id BETWEEN 1 AND 100",
        "SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN 1 AND 100",
        "SELECT c FROM sbtest1 WHERE id BETWEEN 1 AND 100 ORDER BY c",
        "SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN 1 AND 100 ORDER BY c",
    ];
    let mut client = stage.client();
    reads.iter().for_each(|read| super::await_known(&stage, &mut client, read));
    for begin in ["BEGIN", "SET autocommit=0"] {
        client.ok(begin);
        let before = super::hits(&stage);
        reads.iter().for_each(|read| drop(client.ok(read)));
        assert_eq!(
            super::hits(&stage) - before,
            reads.len() as u64,
            "{begin}: the snapshot is opened for the first"
        );
        client.ok("COMMIT");
    }
    client.ok("SET autocommit=1");
    client.ok("BEGIN");
    for (first, is_open) in
        [(reads[3], false), ("SELECT c FROM sbtest1 WHERE id=99", false), (reads[0], true)]
    {
        client.ok(first);
        // What was no proof is read at the server, as well as what comes behind it.
        assert_eq!(super::is_hit(&stage, &mut client, reads[3]), is_open, "{first}");
    }
}
