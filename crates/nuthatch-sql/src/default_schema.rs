//! Whether a statement is surely the same in whatever default schema it runs, so that a session without one may use a connection
//! that has one.
//!
//! Errs on one side: what is not understood depends on it. A name of a table must stand with its schema; a function must be one that
//! every server has, since any other may be a stored one of the default schema; nothing may tell of the default schema itself,
//! nor of its character set, nor of what connections are in.

use crate::classify::cursor::{Cursor, is_word};
use crate::statement::{Kind, SetEffect, Statement};
use crate::token::{Lexing, Token, TokenKind};
use crate::words::{has_part, is_one_of, words};

/// Words that tell of the default schema, or of what connections are in.
const TELLING: [&[u8]; 8] = [
    b"database",
    b"schema",
    b"character_set_database",
    b"collation_database",
    b"processlist",
    b"threads",
    b"performance_schema",
    b"sys",
];

/// Names before a parenthesis that are no stored function's on any server.
const OWN_BEFORE_PARENTHESIS: [&[u8]; 47] = [
    b"abs",
    b"and",
    b"any",
    b"as",
    b"avg",
    b"between",
    b"cast",
    b"ceil",
    b"char",
    b"coalesce",
    b"concat",
    b"concat_ws",
    b"connection_id",
    b"convert",
    b"count",
    b"current_user",
    b"decimal",
    b"distinct",
    b"exists",
    b"floor",
    b"having",
    b"hex",
    b"if",
    b"ifnull",
    b"in",
    b"length",
    b"lower",
    b"max",
    b"min",
    b"not",
    b"now",
    b"nullif",
    b"on",
    b"or",
    b"rand",
    b"round",
    b"select",
    b"substring",
    b"sum",
    b"trim",
    b"unhex",
    b"upper",
    b"user",
    b"using",
    b"version",
    b"when",
    b"where",
];

/// Words behind which, at their depth, no tables are listed.
const ENDING_TABLES: [&[u8]; 12] = [
    b"SELECT",
    b"WHERE",
    b"GROUP",
    b"HAVING",
    b"ORDER",
    b"LIMIT",
    b"WINDOW",
    b"UNION",
    b"EXCEPT",
    b"INTERSECT",
    b"PROCEDURE",
    b"FOR",
];

/// Whether the statement that `query` was classified as needs no default schema, and reads none.
#[must_use]
pub fn needs_no_schema(query: &[u8], statement: &Statement<'_>, lexing: Lexing) -> bool {
    let effects = &statement.effects;
    let is_telling = |text: &[u8]| words(text).any(|word| is_one_of(word, &TELLING));
    match statement.kind {
        Kind::Use => matches!(effects.set, SetEffect::Schema(_)),
        Kind::Set => !query.contains(&b'(') && !is_telling(query) && !has_part(query, b"character set"),
        Kind::Select => {
            let is_harmless = !effects.writes && effects.pin.is_none() && effects.unpin.is_none();
            is_harmless && !effects.runs_unseen_code && !is_telling(query) && names_schemas(query, lexing)
        }
        _ => false,
    }
}

/// Whether each table of a SELECT stands with its schema, and no function may be a stored one of the default schema.
fn names_schemas(query: &[u8], lexing: Lexing) -> bool {
    let mut cursor = Cursor::at_statement(query, lexing);
    if !cursor.peek_word(b"SELECT") {
        return false;
    }
    // Of each parenthesis that is open: whether tables are listed in it.
    let mut lists = vec![false];
    while let Some(token) = cursor.bump() {
        let is_fit = match token.kind {
            TokenKind::Word => word(token, &cursor, &mut lists),
            TokenKind::Quoted => !cursor.peek_symbol(b'('),
            TokenKind::SystemVariable => !token.text.contains(&b'`') && !cursor.peek_symbol(b'.'),
            TokenKind::Symbol(symbol) => punctuation(symbol, &cursor, &mut lists),
            _ => true,
        };
        if !is_fit {
            return false;
        }
    }
    !cursor.is_unclosed && !cursor.has_executable && !cursor.is_unclear
}

fn word(token: Token<'_>, cursor: &Cursor<'_>, lists: &mut [bool]) -> bool {
    let Some(list) = lists.last_mut() else { return false };
    let is = |known: &[u8]| is_word(token, known);
    if is(b"WITH") || is(b"TABLE") || is(b"NEXTVAL") || is(b"INTO") {
        return false;
    }
    if is(b"FROM") || is(b"JOIN") || is(b"STRAIGHT_JOIN") {
        *list = true;
        return begins_table(cursor);
    }
    if is_one_of(token.text, &ENDING_TABLES) {
        *list = false;
    }
    !cursor.peek_symbol(b'(') || is_one_of(token.text, &OWN_BEFORE_PARENTHESIS)
}

fn punctuation(symbol: u8, cursor: &Cursor<'_>, lists: &mut Vec<bool>) -> bool {
    let is_list = lists.last().copied().unwrap_or(false);
    match symbol {
        b'(' => {
            // Of tables in parentheses, or a query, or none of both, which is taken for tables then.
            let may_list = is_list && !cursor.peek_word(b"SELECT");
            lists.push(may_list);
            true
        }
        b')' => lists.pop().is_some() && !lists.is_empty(),
        b',' => !is_list || begins_table(cursor),
        b';' => cursor.peek().is_none(),
        _ => true,
    }
}

/// Whether what comes next is a table with its schema, or a query in parentheses.
fn begins_table(cursor: &Cursor<'_>) -> bool {
    let mut ahead = cursor.clone();
    let is_inside = ahead.peek_symbol(b'(');
    while ahead.take_symbol(b'(') {}
    let Some(first) = ahead.bump() else { return false };
    match first.kind {
        TokenKind::Word if is_word(first, b"DUAL") || is_inside && is_word(first, b"SELECT") => true,
        TokenKind::Word | TokenKind::Quoted => ahead.peek_symbol(b'.'),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify;
    use crate::token::ServerFlavor;

    fn check(query: &str) -> bool {
        let lexing = Lexing::of(ServerFlavor::MariaDb(101_119));
        needs_no_schema(query.as_bytes(), &classify(query.as_bytes(), lexing), lexing)
    }

    #[test]
    fn what_names_no_schema_and_needs_none_runs_in_any() {
        for query in [
            "USE a",
            "use `a b`",
            "SET NAMES utf8mb4",
            "SET SESSION sql_mode='ANSI'",
            "SET autocommit=0",
            "SELECT @@SESSION.sql_mode",
            "SELECT 1",
            "SELECT 1;",
            "SELECT VERSION(), CONNECTION_ID()",
            "SELECT @@version, NOW()",
            "SELECT 1 FROM DUAL",
            "SELECT * FROM s.t",
            "SELECT COUNT(*) FROM `s`.`t` AS a, s.u WHERE a.x IN (1, 2) ORDER BY y, z",
            "SELECT x FROM s.t JOIN (s.u, s.v) ON (t.a = u.a) LEFT JOIN s.w USING (x)",
            "SELECT x, (SELECT MAX(y) FROM s.u) FROM (SELECT a, b FROM s.t WHERE a = 1) d, s.v",
            "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA",
        ] {
            assert!(check(query), "{query}");
        }
    }

    #[test]
    fn what_may_depend_on_the_schema_is_never_said_to_run_in_any() {
        for query in [
            "SELECT DATABASE()",
            "SELECT SCHEMA()",
            "SELECT `database`()",
            "SELECT @@collation_database",
            "SELECT @@`collation_database`",
            "SELECT * FROM t",
            "SELECT * FROM s.t, u",
            "SELECT * FROM (s.t, u)",
            "SELECT * FROM (t)",
            "SELECT * FROM ((t))",
            "SELECT * FROM s.t JOIN u",
            "SELECT * FROM (SELECT a FROM s.t WHERE a = 1) d, v",
            "SELECT x FROM s.t WHERE x IN (SELECT y FROM u)",
            "SELECT f()",
            "SELECT `f`()",
            "SELECT natural_sort_key(1)",
            "SELECT count (1)",
            "SELECT NEXTVAL(q)",
            "SELECT NEXT VALUE FOR q",
            "SELECT /*!50000 f() */ 1",
            "WITH c AS (SELECT 1) SELECT * FROM c",
            "TABLE t",
            "(SELECT * FROM t)",
            "SELECT 1; SELECT * FROM t",
            "SELECT * FROM information_schema.processlist",
            "SELECT * FROM performance_schema.threads",
            "SELECT @a := 1",
            "SELECT 1 INTO @a",
            "SET sql_mode = f()",
            "SET CHARACTER SET latin1",
            "SET collation_connection = @@collation_database",
            "SHOW TABLES",
            "BEGIN",
            "INSERT INTO s.t VALUES (1)",
            "UPDATE s.t SET a = 1",
            "CREATE TABLE s.t (a INT)",
        ] {
            assert!(!check(query), "{query}");
        }
    }
}
