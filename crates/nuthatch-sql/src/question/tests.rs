//! Which statements are questions, and the column name of the answer.

use proptest::prelude::*;

use super::{Asked, session_questions};
use crate::assignments::Reads;
use crate::query_cache::CacheVariable;
use crate::token::{Lexing, ServerFlavor};

const MARIADB: Lexing = Lexing::of(ServerFlavor::MariaDb(101_106));

fn found(query: &str) -> Option<Vec<(Asked, String)>> {
    let shown = |question: &super::Question<'_>| {
        (question.asked, String::from_utf8_lossy(&question.column.text()).into_owned())
    };
    Some(session_questions(query.as_bytes(), MARIADB)?.iter().map(shown).collect())
}

#[track_caller]
fn check(query: &str, asked: Asked, column: &str) {
    assert_eq!(found(query), Some(vec![(asked, column.to_owned())]), "{query}");
}

#[test]
fn questions_are_answered_under_the_servers_column_name() {
    check("SELECT LAST_INSERT_ID()", Asked::LastInsertId, "LAST_INSERT_ID()");
    check("select last_insert_id();", Asked::LastInsertId, "last_insert_id()");
    check("SELECT LAST_INSERT_ID( )", Asked::LastInsertId, "LAST_INSERT_ID( )");
    check("/* c */ SELECT LAST_INSERT_ID() AS id -- c", Asked::LastInsertId, "id");
    check("SELECT LAST_INSERT_ID() `my id`", Asked::LastInsertId, "my id");
    check("SELECT LAST_INSERT_ID() 'it''s'", Asked::LastInsertId, "it's");
    check("SELECT LAST_INSERT_ID() id FROM DUAL LIMIT 1 ;", Asked::LastInsertId, "id");
    check("select @@identity", Asked::LastInsertId, "@@identity");
    check("SELECT @@session.last_insert_id AS a", Asked::LastInsertId, "a");
    check("SELECT CONNECTION_ID()", Asked::ConnectionId, "CONNECTION_ID()");
    check("SELECT ROW_COUNT() LIMIT 1", Asked::RowCount, "ROW_COUNT()");
    check("select Sql%RowCount FROM DUAL", Asked::OracleRowCount, "Sql%RowCount");
    check("SELECT FOUND_ROWS() FROM dual", Asked::FoundRows, "FOUND_ROWS()");
    let size = Asked::QueryCache(CacheVariable::Size, Reads::Global);
    check("SELECT @@GLOBAL.query_cache_size", size, "@@GLOBAL.query_cache_size");
    let kind = Asked::QueryCache(CacheVariable::Type, Reads::Either);
    check("SELECT @@query_cache_type AS t LIMIT 1", kind, "t");
}

#[test]
fn several_questions_at_once() {
    let both = |first: &str, second: &str| {
        Some(vec![(Asked::RowCount, first.to_owned()), (Asked::LastInsertId, second.to_owned())])
    };
    assert_eq!(found("SELECT ROW_COUNT(), LAST_INSERT_ID()"), both("ROW_COUNT()", "LAST_INSERT_ID()"));
    assert_eq!(found("select row_count() n, @@identity as id from dual;"), both("n", "id"));
    assert_eq!(found("SELECT ROW_COUNT(), 1"), None);
    assert_eq!(found("SELECT ROW_COUNT(),"), None);
}

#[test]
fn anything_more_is_no_question() {
    for query in [
        "SELECT LAST_INSERT_ID(5)",
        "SELECT LAST_INSERT_ID() + 1",
        "SELECT LAST_INSERT_ID(), 1",
        "SELECT LAST_INSERT_ID() FROM t",
        "SELECT LAST_INSERT_ID() LIMIT 0",
        "SELECT LAST_INSERT_ID() LIMIT 1,1",
        "SELECT LAST_INSERT_ID() WHERE 1=0",
        "SELECT LAST_INSERT_ID() UNION SELECT 1",
        "SELECT LAST_INSERT_ID() INTO @a",
        "SELECT LAST_INSERT_ID() FOR UPDATE",
        "SELECT LAST_INSERT_ID() AS",
        "SELECT LAST_INSERT_ID() AS a b",
        "SELECT LAST_INSERT_ID(); SELECT 1",
        "SELECT LAST_INSERT_ID(/* c */)",
        "SELECT LAST_INSERT_ID() /*!40101 + 1 */",
        "SELECT LAST_INSERT_ID() /*!99999 + 1 */",
        "SELECT LAST_INSERT_ID",
        "SELECT SQL%x",
        "SELECT SQL%ROWCOUNT + 1",
        "SELECT @@global.identity",
        "SELECT @@identity.x",
        "SELECT @@identity . x",
        "SELECT @@query_cache_type + 0",
        "SELECT @@query_cache_type, @@version",
        "SELECT @@session.query_cache_size",
        "SELECT DISTINCT ROW_COUNT()",
        "(SELECT ROW_COUNT())",
        "SELECT ROW_COUNT() IS NULL",
        "SELECT 'ROW_COUNT()'",
        "SELECT",
        "",
    ] {
        assert_eq!(session_questions(query.as_bytes(), MARIADB), None, "{query}");
    }
}

#[test]
fn what_may_be_cut_in_two_ways_is_no_question() {
    // In gbk the second back quote is the half of a character, and the name has no end.
    let query = b"SELECT ROW_COUNT() `\x81`";
    assert!(session_questions(query, MARIADB).is_some());
    let gbk = Lexing { ascii_in_characters: true, ..MARIADB };
    assert_eq!(session_questions(query, gbk), None);
    assert!(session_questions(b"SELECT ROW_COUNT() `n`", gbk).is_some());
}

proptest! {
    #[test]
    fn any_bytes_are_answered(query in any::<Vec<u8>>()) {
        let _questions = session_questions(&query, MARIADB);
    }
}
