//! Variables for a single statement, and modes of the grammar.

use super::{Author, On};
use crate::step::SLOTS;

/// Variables that a hint may set and an answer may show.
const HINTED: [(On, &str); 15] = [
    (On::Both, "sql_auto_is_null = 1"),
    (On::Both, "sql_auto_is_null=1"),
    (On::Both, "sql_select_limit = 1"),
    (On::Both, "group_concat_max_len = 4"),
    (On::Both, "div_precision_increment = 1"),
    (On::Both, "sql_mode = 'PIPES_AS_CONCAT'"),
    (On::Both, "time_zone = '+05:00'"),
    (On::Both, "timestamp = 1000000000"),
    (On::Both, "insert_id = 9"),
    (On::Both, "max_error_count = 0"),
    (On::Both, "sql_safe_updates = 1"),
    (On::Both, "max_join_size = 1"),
    (On::Both, "lc_time_names = 'de_DE'"),
    (On::MySql, "windowing_use_high_precision = 0"),
    (On::MySql, "cte_max_recursion_depth = 3"),
];

/// What is asked under them.
const ASKED: [&str; 9] = [
    "id FROM w{i} WHERE id IS NULL",
    "id, n FROM w{i} WHERE id IS NULL ORDER BY id",
    "count(*) FROM w{i} WHERE id IS NULL",
    "group_concat(s) FROM t WHERE id < 3",
    "id, n / 7 FROM t ORDER BY id",
    "id, ts FROM t ORDER BY id",
    "id, s || n FROM t ORDER BY id",
    "id, dayname(d) FROM t ORDER BY id",
    "a.id FROM t AS a, t AS b ORDER BY 1",
];

/// Modes under which the grammar has more words.
const MODES: [(On, &str); 8] = [
    (On::MariaDb, "ORACLE"),
    (On::MariaDb, "ORACLE"),
    (On::MariaDb, "MSSQL"),
    (On::MariaDb, "DB2"),
    (On::MariaDb, "MAXDB"),
    (On::MariaDb, "POSTGRESQL"),
    (On::Both, "ANSI"),
    (On::MariaDb, "EMPTY_STRING_IS_NULL,SIMULTANEOUS_ASSIGNMENT"),
];

/// What such modes add, and what reads otherwise under them.
const OF_MODES: [(On, &str); 22] = [
    (On::Both, "SELECT SQL%ROWCOUNT FROM DUAL"),
    (On::Both, "SELECT SQL%ROWCOUNT"),
    (On::Both, "SELECT SQL%ROWCOUNT, id FROM kept ORDER BY id"),
    (On::Both, "SELECT id FROM kept WHERE id > SQL%ROWCOUNT ORDER BY id"),
    (On::Both, "SELECT ROWNUM, id FROM kept"),
    (On::Both, "SELECT id FROM kept WHERE ROWNUM = 1"),
    (On::Both, "SELECT SYSDATE FROM DUAL"),
    (On::Both, "SELECT SYSDATE, id FROM kept ORDER BY id"),
    (On::Both, "SELECT TO_CHAR(dt, 'DAY MON YYYY') FROM t ORDER BY id"),
    (On::Both, "SELECT NVL(n, 0), DECODE(n, 7, 'x', 'y'), CHR(65) FROM t ORDER BY id"),
    (On::Both, "SELECT s || n, n || '' FROM t ORDER BY id"),
    (On::Both, "SELECT id, '' IS NULL, length('') FROM kept ORDER BY id"),
    (On::Both, "SELECT SUBSTR(s, 0, 2) FROM t ORDER BY id"),
    (On::Both, "SELECT \"id\" FROM kept ORDER BY 1"),
    (On::Both, "SELECT [id] FROM [kept] ORDER BY 1"),
    (On::Both, "SELECT id FROM kept MINUS SELECT 1 FROM DUAL"),
    (On::Both, "SELECT (SELECT SQL%ROWCOUNT FROM DUAL) AS a"),
    (On::Both, "SELECT * FROM kept WHERE id = LAST_INSERT_ID()"),
    (On::Both, "SELECT cast(d AS DATE), date(d) FROM t ORDER BY id"),
    (On::Both, "SELECT RPAD(s, 0), LTRIM(' ') FROM t ORDER BY id"),
    (On::Both, "SELECT CAST(1 AS VARCHAR(2)), CAST('x' AS CLOB)"),
    (On::Both, "SELECT TRIM(s), REPLACE(s, '', 'x') FROM t ORDER BY id"),
];

impl Author {
    pub(super) fn hinted(&mut self) {
        let slot = self.random.below(SLOTS);
        if self.random.below(3) > 0 {
            let write = self.any(&[
                "INSERT INTO w{i} (n) VALUES ({n})",
                "INSERT INTO w{i} (n) VALUES (1), (2)",
                "DELETE FROM w{i} WHERE id > 3",
            ]);
            self.says(slot, &write);
        }
        let (variable, asked) = (self.one_of(&HINTED), self.any(&ASKED));
        let sql = match (self.knows(On::MySql), self.random.below(4)) {
            (_, 0) => format!("SELECT {asked}"),
            (true, _) => format!("SELECT /*+ SET_VAR({variable}) */ {asked}"),
            (false, _) => format!("SET STATEMENT {variable} FOR SELECT {asked}"),
        };
        self.says(slot, &sql);
        for _ in 0..2 {
            self.someone(&sql);
        }
    }

    pub(super) fn mode(&mut self) {
        let slot = self.random.below(SLOTS);
        if self.random.below(2) == 0 {
            let mode = self.one_of(&MODES);
            self.says(slot, &format!("SET sql_mode = '{mode}'"));
        }
        if self.random.below(2) == 0 {
            self.write();
        }
        let sql = self.one_of(&OF_MODES);
        for _ in 0..3 {
            self.says(slot, &sql);
            if self.random.below(3) == 0 {
                let write = self.any(&[
                    "UPDATE kept SET n = n + 1",
                    "DELETE FROM kept WHERE id > 100",
                    "INSERT INTO w{i} (n) VALUES (1), (2)",
                ]);
                self.says(slot, &write);
            }
        }
        self.someone(&sql);
    }
}
