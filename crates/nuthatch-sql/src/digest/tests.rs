//! What the 800 vectors do not hold: options, limits, odd input.

use proptest::prelude::*;

use super::{Digest, DigestOptions, digest, digest_text};

fn text_with(query: &[u8], options: &DigestOptions) -> String {
    let mut out = b"what was here before".to_vec();
    digest_text(query, options, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

#[track_caller]
fn check(query: &str, expected: &str) {
    assert_eq!(text_with(query.as_bytes(), &DigestOptions::default()), expected, "digest text of {query:?}");
}

#[track_caller]
fn check_with(change: impl FnOnce(&mut DigestOptions), query: &str, expected: &str) {
    let mut options = DigestOptions::default();
    change(&mut options);
    assert_eq!(text_with(query.as_bytes(), &options), expected, "digest text of {query:?} under {options:?}");
}

#[test]
fn digest_prints_as_proxysql_prints_it() {
    assert_eq!(digest(b"SELECT c FROM sbtest1 WHERE id=?").to_string(), "0xBF001A0C13781C1D");
    assert_eq!(digest(b"SELECT c FROM sbtest1 WHERE id BETWEEN ? AND ?").to_string(), "0x290B92FD743826DA");
    assert_eq!(Digest(0x1f).to_string(), "0x000000000000001F");
}

#[test]
fn literals_become_question_marks() {
    check("SELECT X'4D', x'4d', 0x4D, B'1', 0b1, 007", "SELECT X?,x?,?,B?,?,?");
    check("SELECT 1., 1.5E+3, 1e, 1e5x, 0xZZ, 0x", "SELECT ?,?,1e,1e5x,0xZZ,0x");
    check("SELECT a FROM t WHERE b='x\\'y' AND c=\"z\\\\\"", "SELECT a FROM t WHERE b=? AND c=?");
    check("SELECT 'never closed", "SELECT ?");
    check("SELECT 'never closed\\", "SELECT ?");
    check("SELECT ?, ?", "SELECT ?,?");
    check("SELECT 'é' FROM été WHERE 1=1", "SELECT ? FROM été WHERE ?=?");
}

#[test]
fn comments_leave_a_space_or_nothing() {
    check("/**/SELECT/**/1/**/", "SELECT ?");
    check("SELECT 1 /* never closed", "SELECT ?");
    check("SELECT 1 -- aaaa", "SELECT ? aaaa");
    check("SELECT 1 # a", "SELECT ? a");
    check("/*!40101 SET NAMES utf8 */", "SET NAMES utf8");
    check("SELECT /*!40001 SQL_NO_CACHE */ * FROM t", "SELECT SQL_NO_CACHE * FROM t");
    check("SELECT 1--1", "SELECT ?-?");
    check("", "");
    check(" ; ", "");
    check(";;", "");
}

#[test]
fn lists_fold_only_when_that_shortens_them() {
    check("IN (1)", "IN (?)");
    check("IN (1,2,3,4)", "IN (?,?,?,?)");
    check("IN (1,2,3,4,5)", "IN (?,?,?,...)");
    check_with(|o| o.grouping_limit = 1, "IN (1,2)", "IN (?,?)");
    check_with(|o| o.grouping_limit = 1, "IN (1,2,3)", "IN (?,...)");
    check_with(|o| o.grouping_limit = 5, "IN (1,2,3,4,5,6)", "IN (?,?,?,?,?,?)");
    check_with(|o| o.grouping_limit = 5, "IN (1,2,3,4,5,6,7)", "IN (?,?,?,?,?,...)");
    check_with(|o| o.grouping_limit = usize::MAX, "IN (1,2,3,4,5)", "IN (?,?,?,?,?)");
}

#[test]
fn groups_of_folded_lists_fold_past_their_limit() {
    let values = |n: usize| format!("VALUES {}", vec!["(1,2,3,4,5)"; n].join(", "));
    let text = |n: usize, end: &str| format!("VALUES {}{end}", vec!["(?,?,?,...)"; n].join(","));
    check(&values(10), &text(10, ""));
    check(&values(11), &text(10, ",..."));
    check(&format!("{} ON x", values(400)), &text(10, ",... ON x"));
    check_with(|o| o.groups_grouping_limit = 1, &values(3), &text(1, ",..."));
    check_with(|o| o.groups_grouping_limit = 0, &values(12), &text(12, ""));
    check(
        "VALUES (1),(2),(3),(4),(5),(6),(7),(8),(9),(10),(11),(12)",
        &format!("VALUES {}", ["(?)"; 12].join(",")),
    );
}

#[test]
fn options_act() {
    check_with(|o| o.lowercase = true, "SELECT A, 'X' FROM `T`", "select a,? from `t`");
    check_with(
        |o| o.replace_null = true,
        "VALUES (NULL, 1, null, nullx, `null`)",
        "VALUES (?,?,?,nullx,`null`)",
    );
    check_with(|o| o.replace_null = true, "VALUES (NULL,NULL,NULL,NULL,NULL)", "VALUES (?,?,?,...)");
    check_with(|o| o.no_digits = true, "CALL `76_char_14`.gen_v67_chr_5()", "CALL `?_char_?`.gen_v?_chr_?()");
    check_with(|o| o.keep_comment = true, "SELECT /* a  b, 'c' */ 1", "SELECT /* a  b, 'c' */ ?");
    check_with(|o| o.keep_comment = true, "/* a */SELECT 1", "/* a */ SELECT ?");
    check_with(|o| o.max_digest_length = 8, "SELECT abc", "SELECT a");
    check_with(|o| o.max_query_length = 8, "SELECT abc", "SELECT a");
    check_with(|o| o.max_query_length = 9, "SELECT 'abc'", "SELECT ?");
}

fn options() -> impl Strategy<Value = DigestOptions> {
    let limits = (0..40_usize, 0..400_usize, 0..5_usize, 0..5_usize);
    (limits, any::<[bool; 4]>()).prop_map(|((digest, query, group, groups), flags)| DigestOptions {
        max_digest_length: digest,
        max_query_length: query,
        grouping_limit: group,
        groups_grouping_limit: groups,
        lowercase: flags[0],
        replace_null: flags[1],
        no_digits: flags[2],
        keep_comment: flags[3],
    })
}

proptest! {
    #[test]
    fn any_bytes_give_a_text_within_its_bounds(query in any::<Vec<u8>>(), options in options()) {
        let mut out = Vec::new();
        digest_text(&query, &options, &mut out);
        prop_assert!(out.len() <= options.max_digest_length);
        digest_text(&query, &DigestOptions::default(), &mut out);
        prop_assert!(out.len() <= query.len() && out.len() <= 2048);
    }

    #[test]
    fn sql_like_text_gives_a_text_within_its_bounds(query in "[-+*/,()?' \"`#\\\\!ae0-2.;\n]{0,80}", options in options()) {
        let mut out = Vec::new();
        digest_text(query.as_bytes(), &options, &mut out);
        prop_assert!(out.len() <= options.max_digest_length);
        digest_text(query.as_bytes(), &DigestOptions::default(), &mut out);
        prop_assert!(out.len() <= query.len());
    }

    #[test]
    fn an_output_buffer_of_the_statements_size_is_never_grown(query in "[-+*/,()?' \"`#\\\\!ae0-2.;\n]{0,80}") {
        let mut out = Vec::with_capacity(query.len());
        let capacity = out.capacity();
        digest_text(query.as_bytes(), &DigestOptions::default(), &mut out);
        prop_assert_eq!(out.capacity(), capacity);
    }
}
