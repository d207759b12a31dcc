//! Whether each row of an answer is made of a row of each table in the statement's FROM.
//!
//! It is of no use to ask whether a server *looks* for rows: its optimizer may find without a look that there are none (`WHERE 1=0`,
//! `LIMIT 0`, a pruned partition, `id = 2 AND id = 3`), and each server and version finds other things so. But a row that it gives
//! was read, unless the answer has a row where the tables have none: behind aggregates, constants that stand for a table, a UNION.
//! So what may be one of these is left out, by words.

use super::keyword::Keyword;
use super::names::{is_name, take_name};
use crate::classify::cursor::Cursor;
use crate::token::{Lexing, Token, TokenKind};

/// Whether an answer of `text` has a row only if a row was read of each table behind its FROM, or of each that is not behind an outer
/// join. Told of a statement of which [`read_footprint`](super::read_footprint) knows the tables, none of them a view.
#[must_use]
pub fn rows_are_of_tables(text: &[u8], lexing: Lexing) -> bool {
    let mut walk =
        Walk { cursor: Cursor::at_statement(text, lexing), before: None, depth: 0, has_from: false };
    walk.cursor.take_word(b"SELECT") && walk.is_plain() && walk.has_from && !walk.cursor.has_executable
}

struct Walk<'q> {
    cursor: Cursor<'q>,
    before: Option<Token<'q>>,
    depth: usize,
    has_from: bool,
}

impl<'q> Walk<'q> {
    /// Walks to the end, or to what a plain SELECT of rows does not have.
    fn is_plain(&mut self) -> bool {
        while let Some(token) = self.cursor.bump() {
            let is_plain = match token.kind {
                TokenKind::Symbol(b'.') => {
                    // A name, whatever word it is.
                    self.before = self.cursor.bump();
                    continue;
                }
                TokenKind::Symbol(b'(') => {
                    self.depth += 1;
                    !self.before.is_some_and(|before| {
                        before.kind == TokenKind::Quoted || is_name(before) && makes_one_of_many(before)
                    })
                }
                TokenKind::Symbol(b')') => {
                    self.depth = self.depth.saturating_sub(1);
                    true
                }
                TokenKind::Symbol(b'{') => false,
                TokenKind::Word => self.is_plain_word(token),
                _ => true,
            };
            if !is_plain {
                return false;
            }
            self.before = Some(token);
        }
        true
    }

    fn is_plain_word(&mut self, token: Token<'q>) -> bool {
        match Keyword::of(token) {
            // Of EXTRACT, TRIM and the like: no other query is in parentheses here.
            Some(Keyword::From) if self.depth > 0 => true,
            Some(Keyword::From) => {
                let is_first = !std::mem::replace(&mut self.has_from, true);
                is_first && self.names_a_table()
            }
            Some(
                Keyword::Dual
                | Keyword::Group
                | Keyword::Having
                | Keyword::JsonTable
                | Keyword::Lateral
                | Keyword::Returning
                | Keyword::Select
                | Keyword::SetOperation
                | Keyword::Table
                | Keyword::Union
                | Keyword::Values
                | Keyword::Window
                | Keyword::With,
            ) => false,
            _ => true,
        }
    }

    fn names_a_table(&self) -> bool {
        Keyword::next(&self.cursor).is_none() && take_name(&mut self.cursor.clone()).is_some()
    }
}

/// Whether it is the name of a function that makes one value of many rows, or of none. A statement whose answers are cached calls no
/// function that is not on the list of known ones, of which these are all that do.
fn makes_one_of_many(name: Token<'_>) -> bool {
    const NAMES: [&[u8]; 22] = [
        b"AVG",
        b"BIT_AND",
        b"BIT_OR",
        b"BIT_XOR",
        b"COUNT",
        b"GROUPING",
        b"GROUP_CONCAT",
        b"JSON_ARRAYAGG",
        b"JSON_OBJECTAGG",
        b"MAX",
        b"MEDIAN",
        b"MIN",
        b"PERCENTILE_CONT",
        b"ST_COLLECT",
        b"STD",
        b"STDDEV",
        b"STDDEV_POP",
        b"STDDEV_SAMP",
        b"SUM",
        b"VAR_POP",
        b"VAR_SAMP",
        b"VARIANCE",
    ];
    let text = name.text;
    NAMES.iter().any(|one| text.eq_ignore_ascii_case(one)) || text.to_ascii_uppercase().ends_with(b"AGG")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::ServerFlavor;

    const LEXING: Lexing = Lexing::of(ServerFlavor::MariaDb(101_119));

    #[test]
    fn only_rows_of_tables_are_told_by_a_plain_select() {
        for text in [
            "SELECT c FROM sbtest1 WHERE id=5",
            "SELECT c FROM sbtest1 WHERE id BETWEEN 1 AND 100 ORDER BY c",
            "SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN ? AND ? ORDER BY c",
            "select `t`.`id`, t.values from `t` where (t.id in (1, 2) or not (v = 'x')) limit 21 offset 3;",
            "SELECT 7, 'a' AS count FROM s.t AS a, u LEFT JOIN w ON (u.id = w.id) WHERE a.id = u.id",
            "SELECT t.* FROM t INNER JOIN u USING (id) WHERE EXTRACT = 1",
            "SELECT LOWER(v), EXTRACT(YEAR FROM d), IF(a, (b), 2) FROM t USE INDEX (k) WHERE TRIM(LEADING FROM v) = 'x'",
            "SELECT CASE WHEN (a = 1) THEN 2 END FROM t",
            "SELECT /* COUNT(*) */ a FROM t WHERE b = 'SELECT COUNT(*) FROM t'",
        ] {
            assert!(rows_are_of_tables(text.as_bytes(), LEXING), "{text}");
        }
        for text in [
            "",
            "SELECT 1",
            "SELECT 1 AS t",
            "SELECT 1 FROM DUAL",
            "SELECT 1 FROM dual AS t",
            "SELECT COUNT(*) FROM t",
            "SELECT count (*) FROM t WHERE 1=0",
            "SELECT MAX(id) FROM t WHERE id = 7",
            "SELECT v FROM t WHERE EXISTS (SELECT 1 FROM t)",
            "SELECT (SELECT 1) FROM t",
            "SELECT 1 FROM t HAVING 1",
            "SELECT v, 1 FROM t GROUP BY v WITH ROLLUP",
            "SELECT v FROM t GROUP BY v",
            "SELECT 1 UNION SELECT v FROM t",
            "(SELECT v FROM t)",
            "SELECT * FROM (SELECT 1) AS d LEFT JOIN t ON 1",
            "SELECT * FROM (t, u)",
            "SELECT * FROM JSON_TABLE('[]', '$[*]' COLUMNS (a INT PATH '$')) AS j",
            "SELECT * FROM t JOIN LATERAL (SELECT 1) AS d",
            "WITH c AS (SELECT 1) SELECT * FROM c",
            "VALUES ROW(1)",
            "TABLE t",
            "SELECT v /*!99999 , COUNT(*) */ FROM t",
            "SELECT EXTRACT(YEAR FROM d)",
            "SELECT v FROM {OJ t LEFT JOIN u ON 1}",
            "SELECT v FROM t WINDOW w AS ()",
            "SELECT GROUP_CONCAT(v) FROM t",
            "SELECT IFNULL(SUM(v), 0) FROM t WHERE 1=0",
            "SELECT v FROM t ORDER BY max (v)",
            "SELECT TRIM(BOTH FROM v)",
        ] {
            assert!(!rows_are_of_tables(text.as_bytes(), LEXING), "{text}");
        }
    }
}
