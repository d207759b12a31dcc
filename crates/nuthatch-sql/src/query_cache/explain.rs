//! `EXPLAIN CACHE SELECT …`: what would the cache do with that statement?

use super::order::name_or_string;
use crate::classify::cursor::Cursor;
use crate::token::Lexing;

/// What is asked of the cache about a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheQuestion<'q> {
    /// `FOR USER 'u'`: for whom it would do it.
    pub user: Option<Vec<u8>>,
    /// `IN SCHEMA s`: where.
    pub schema: Option<Vec<u8>>,
    /// The statement.
    pub statement: &'q [u8],
}

/// Words that begin a statement and cannot be a column's name, as `col` in `EXPLAIN cache col`.
const BEGINNINGS: [&[u8]; 10] =
    [b"SELECT", b"WITH", b"TABLE", b"VALUES", b"INSERT", b"REPLACE", b"UPDATE", b"DELETE", b"CALL", b"SHOW"];

/// The question that `query`, an `EXPLAIN CACHE [FOR USER 'u'] [IN SCHEMA s] …`, asks. `EXPLAIN cache` and `EXPLAIN cache col` are about
/// a table of that name.
#[must_use]
pub fn cache_question(query: &[u8], lexing: Lexing) -> Option<CacheQuestion<'_>> {
    let mut cursor = Cursor::new(query, lexing);
    if !cursor.take_words(&[b"EXPLAIN", b"CACHE"]) {
        return None;
    }
    let (mut user, mut schema) = (None, None);
    if cursor.take_words(&[b"FOR", b"USER"]) {
        user = Some(name_or_string(&mut cursor, lexing)?);
    }
    if cursor.take_words(&[b"IN", b"SCHEMA"]) {
        schema = Some(name_or_string(&mut cursor, lexing)?);
    }
    let begins = cursor.peek_symbol(b'(') || BEGINNINGS.iter().any(|word| cursor.peek_word(word));
    let start = cursor.peek().filter(|_| begins)?.start;
    Some(CacheQuestion { user, schema, statement: query.get(start..)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::ServerFlavor;

    #[test]
    fn question_is_told_from_what_servers_explain() {
        let lexing = Lexing::of(ServerFlavor::MySql(80_400));
        for (query, expected) in [
            ("EXPLAIN CACHE SELECT 1", Some("SELECT 1")),
            ("explain /* x */ cache\n(select 1) union select 2 -- y", Some("(select 1) union select 2 -- y")),
            (
                "EXPLAIN CACHE WITH x AS (SELECT 1) SELECT * FROM x;",
                Some("WITH x AS (SELECT 1) SELECT * FROM x;"),
            ),
            ("EXPLAIN CACHE UPDATE t SET a = 1", Some("UPDATE t SET a = 1")),
            ("EXPLAIN CACHE SHOW TABLES", Some("SHOW TABLES")),
            ("EXPLAIN CACHE", None),
            ("EXPLAIN cache id", None),
            ("EXPLAIN cache 'i%'", None),
            ("EXPLAIN cache.t", None),
            ("EXPLAIN `cache` id", None),
            ("EXPLAIN SELECT 1", None),
            ("DESCRIBE CACHE SELECT 1", None),
            ("CACHE SELECT 1", None),
        ] {
            let found = cache_question(query.as_bytes(), lexing);
            assert_eq!(found.map(|asked| asked.statement), expected.map(str::as_bytes), "{query}");
        }
        let asked = cache_question(b"EXPLAIN CACHE FOR USER 'it''s' IN SCHEMA shop SELECT 1", lexing);
        let (user, schema) = (Some(b"it's".to_vec()), Some(b"shop".to_vec()));
        assert_eq!(asked, Some(CacheQuestion { user, schema, statement: b"SELECT 1" }));
    }
}
