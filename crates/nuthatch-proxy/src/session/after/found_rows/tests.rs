//! A table of statements, their ends, and what FOUND_ROWS() is behind them.

use std::sync::Arc;

use Found::{Elsewhere, Known};
use nuthatch_sql::{Lexing, ServerFlavor, classify};

use super::*;
use crate::session::statement::TextFacts;

const SERVER: ServerFlavor = ServerFlavor::MariaDb(101_119);

fn found(context: &Context, text: &str, bound: &[Parameter], end: &AnswerEnd) -> Option<Found> {
    let (text, lexing) = (text.as_bytes(), Lexing::of(SERVER));
    let facts = TextFacts::of(&classify(text, lexing)).with_settings(text, lexing);
    found_by(context, &Facts::of_text(Arc::new(facts), None), text, || bound.to_vec(), end)
}

fn rows(rows: u64) -> AnswerEnd {
    AnswerEnd { ending: Ending::ResultSet, rows, results: 1, ..AnswerEnd::default() }
}

fn ok() -> AnswerEnd {
    AnswerEnd { results: 1, ..AnswerEnd::default() }
}

#[test]
fn found_rows_are_those_of_the_answer_and_what_its_page_passed_over() {
    let context = Context::on(SERVER);
    for (text, end, expected) in [
        ("SELECT v FROM t", rows(3), Some(Known(3))),
        ("SELECT v FROM t", rows(0), Some(Known(0))),
        ("SELECT v FROM t LIMIT 2", rows(2), Some(Known(2))),
        ("SELECT v FROM t LIMIT 5,2", rows(2), Some(Known(7))),
        ("SELECT v FROM t LIMIT 2 OFFSET 5", rows(1), Some(Known(6))),
        // There may be fewer than were to be passed over.
        ("SELECT v FROM t LIMIT 5,2", rows(0), Some(Elsewhere)),
        ("SELECT SQL_CALC_FOUND_ROWS v FROM t UNION SELECT 1 LIMIT 1", rows(1), Some(Elsewhere)),
        ("SHOW TABLES", rows(4), Some(Known(4))),
        ("SHOW CREATE TABLE t", rows(1), None),
        ("SHOW PROCESSLIST", rows(4), Some(Elsewhere)),
        ("INSERT INTO t VALUES (1)", ok(), None),
        ("INSERT INTO t SELECT 1", ok(), Some(Elsewhere)),
        ("UPDATE t SET v = 1", ok(), None),
        ("SELECT v FROM t LIMIT 2,1 INTO @a", ok(), Some(Elsewhere)),
        // The first of several answers, and rows where none were to be expected.
        ("SELECT v FROM t", AnswerEnd { results: 2, ..rows(3) }, Some(Elsewhere)),
        ("SELECT v FROM t", ok(), Some(Elsewhere)),
        ("INSERT INTO t VALUES (1)", rows(1), Some(Elsewhere)),
    ] {
        assert_eq!(found(&context, text, &[], &end), expected, "{text} {:?}", end.ending);
    }
}

#[test]
fn found_rows_behind_several_are_those_of_the_last_select_among_them() {
    let context = Context::on(SERVER);
    let several = |results, rows, rows_before, ending| AnswerEnd {
        ending,
        rows,
        rows_before,
        results,
        ..AnswerEnd::default()
    };
    let (no_table, duplicate) = (Ending::Err(1146), Ending::Err(1062));
    for (text, end, expected) in [
        ("SELECT v FROM t; SELECT 1", several(2, 4, 3, Ending::ResultSet), Some(Known(1))),
        ("SELECT v FROM t; DO 1", several(2, 3, 0, Ending::Ok), Some(Known(3))),
        ("DO 1; SELECT v FROM t LIMIT 2,1", several(2, 1, 0, Ending::ResultSet), Some(Elsewhere)),
        ("DO 1; BEGIN", several(2, 0, 0, Ending::Ok), None),
        ("CALL p(); SELECT 1", several(4, 9, 8, Ending::ResultSet), Some(Known(1))),
        ("SELECT v FROM t; SELECT 1 FROM n; SELECT 2", several(1, 3, 0, no_table), Some(Known(3))),
        ("SELECT 1 FROM n; SELECT 2", several(0, 0, 0, no_table), None),
        ("CALL p(); SELECT 1; SELECT 1 FROM n", several(2, 9, 0, no_table), Some(Elsewhere)),
        ("DO 1; SELECT f() FROM n", several(1, 0, 0, no_table), Some(Elsewhere)),
        ("SELECT 1; INSERT INTO t VALUES (1)", several(1, 1, 0, duplicate), Some(Elsewhere)),
    ] {
        assert_eq!(found(&context, text, &[], &end), expected, "{text} {:?}", end.ending);
    }
    let mut limited = Context::on(SERVER);
    limited.state.settings.set(b"sql_select_limit", Some(b"2"));
    let end = several(2, 4, 3, Ending::ResultSet);
    assert_eq!(found(&limited, "SELECT v FROM t; SELECT 1", &[], &end), Some(Elsewhere));
}

#[test]
fn page_that_begins_at_a_parameter_goes_by_its_value_if_that_is_known() {
    use Parameter::{Negative, Other, Unsigned};
    let context = Context::on(SERVER);
    let text = "SELECT v FROM t WHERE a = ? LIMIT ?, ?";
    for (bound, expected) in [
        (&[Other, Unsigned(5), Unsigned(2)][..], Known(7)),
        (&[Unsigned(9), Unsigned(0), Unsigned(2)], Known(2)),
        (&[Unsigned(9), Other, Unsigned(2)], Elsewhere),
        (&[Unsigned(9), Negative(-1), Unsigned(2)], Elsewhere),
        (&[Unsigned(9)], Elsewhere),
        (&[], Elsewhere),
    ] {
        assert_eq!(found(&context, text, bound, &rows(2)), Some(expected), "{bound:?}");
    }
}

#[test]
fn error_leaves_them_alone_unless_rows_may_have_been_found_before_it() {
    let context = Context::on(SERVER);
    for (text, code, expected) in [
        ("SELECT v FROM missing", 1146, None),
        ("SELECT missing FROM t", 1054, None),
        ("SELECT v FROM t", 1317, Some(Elsewhere)),
        ("SELECT (SELECT v FROM t)", 1242, Some(Elsewhere)),
        ("INSERT INTO t VALUES (1)", 1062, None),
        ("CALL p()", 1146, Some(Elsewhere)),
    ] {
        let end = AnswerEnd { ending: Ending::Err(code), ..AnswerEnd::default() };
        assert_eq!(found(&context, text, &[], &end), expected, "{text} {code}");
    }
}

#[test]
fn rows_tell_nothing_where_the_session_has_limited_them_by_a_variable() {
    let mut context = Context::on(SERVER);
    context.state.settings.set(b"sql_select_limit", Some(b"2"));
    for (text, end, expected) in [
        ("SELECT v FROM t", rows(2), Some(Elsewhere)),
        ("SELECT v FROM t LIMIT 5,2", rows(2), Some(Elsewhere)),
        ("INSERT INTO t VALUES (1)", ok(), None),
        ("SHOW CREATE TABLE t", rows(1), None),
    ] {
        assert_eq!(found(&context, text, &[], &end), expected, "{text}");
    }
}
