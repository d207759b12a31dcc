//! `SHOW VARIABLES` and `SHOW STATUS` of nothing but the query cache.

use super::like::is_like;
use super::variable::{CacheStatus, CacheVariable};
use crate::assignments::Reads;
use crate::classify::cursor::{Cursor, is_word};
use crate::statement::Name;
use crate::token::literal::unescaped;
use crate::token::{Lexing, TokenKind};

/// What is to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CacheShow {
    /// These variables.
    Variables {
        /// Whose values.
        reads: Reads,
        /// Which, sorted by name.
        chosen: Vec<CacheVariable>,
    },
    /// These figures, sorted by name.
    Status(Vec<CacheStatus>),
}

/// A name is chosen if it passes one of the tests.
enum Test {
    Is(Vec<u8>),
    IsLike(Vec<u8>),
}

/// What `query` shows, if it is one SHOW that can choose names of the query cache only: by LIKE, or by WHERE with `=`, LIKE and IN on
/// `Variable_name`, and OR between them.
#[must_use]
pub fn cache_show(query: &[u8], lexing: Lexing) -> Option<CacheShow> {
    let mut cursor = Cursor::new(query, lexing);
    if !cursor.take_word(b"SHOW") {
        return None;
    }
    let is_global = cursor.take_word(b"GLOBAL");
    let _session = is_global || cursor.take_word(b"SESSION") || cursor.take_word(b"LOCAL");
    let is_status = cursor.take_word(b"STATUS");
    if !is_status && !cursor.take_word(b"VARIABLES") {
        return None;
    }
    let tests = tests(&mut cursor, lexing)?;
    if !cursor.ends_statement() {
        return None;
    }
    if is_status {
        let chosen = chosen(&tests, CacheStatus::ALL, CacheStatus::name, b"qcache")?;
        return Some(CacheShow::Status(chosen));
    }
    let reads = if is_global { Reads::Global } else { Reads::Either };
    let chosen = chosen(&tests, CacheVariable::ALL, CacheVariable::name, b"query_cache")?;
    Some(CacheShow::Variables { reads, chosen })
}

fn tests(cursor: &mut Cursor<'_>, lexing: Lexing) -> Option<Vec<Test>> {
    if cursor.take_word(b"LIKE") {
        return Some(vec![Test::IsLike(string(cursor, lexing)?)]);
    }
    if !cursor.take_word(b"WHERE") {
        return None;
    }
    let mut tests = Vec::new();
    loop {
        take_column(cursor)?;
        if cursor.take_symbol(b'=') {
            tests.push(Test::Is(string(cursor, lexing)?));
        } else if cursor.take_word(b"LIKE") {
            tests.push(Test::IsLike(string(cursor, lexing)?));
        } else if cursor.take_word(b"IN") && cursor.take_symbol(b'(') {
            loop {
                tests.push(Test::Is(string(cursor, lexing)?));
                if !cursor.take_symbol(b',') {
                    break;
                }
            }
            if !cursor.take_symbol(b')') {
                return None;
            }
        } else {
            return None;
        }
        if !cursor.take_word(b"OR") {
            return Some(tests);
        }
    }
}

/// Takes `Variable_name`.
fn take_column(cursor: &mut Cursor<'_>) -> Option<()> {
    let column = cursor.bump()?;
    let is_quoted = column.kind == TokenKind::Quoted;
    let is_it = is_word(column, b"VARIABLE_NAME")
        || is_quoted && Name(column.text).text().eq_ignore_ascii_case(b"variable_name");
    is_it.then_some(())
}

pub(super) fn string(cursor: &mut Cursor<'_>, lexing: Lexing) -> Option<Vec<u8>> {
    let token = cursor.bump().filter(|token| token.kind == TokenKind::String)?;
    unescaped(token.text, lexing)
}

/// Those of `all` that pass, if no other name of a server can: a test names one of them, or is for what has `mark` (in lower case) in it.
fn chosen<T: Copy>(
    tests: &[Test],
    all: &[T],
    name: impl Fn(T) -> &'static str,
    mark: &[u8],
) -> Option<Vec<T>> {
    let is = |one: T, wanted: &[u8]| name(one).as_bytes().eq_ignore_ascii_case(wanted);
    let is_narrow = tests.iter().all(|test| match test {
        Test::Is(wanted) => all.iter().any(|one| is(*one, wanted)),
        Test::IsLike(pattern) => {
            let fixed: Vec<u8> = pattern.iter().filter(|byte| **byte != b'\\').copied().collect();
            fixed.windows(mark.len()).any(|part| part.eq_ignore_ascii_case(mark))
        }
    });
    let passes = |one: &T| {
        tests.iter().any(|test| match test {
            Test::Is(wanted) => is(*one, wanted),
            Test::IsLike(pattern) => is_like(name(*one).as_bytes(), pattern),
        })
    };
    is_narrow.then(|| all.iter().copied().filter(passes).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::ServerFlavor;

    fn shown(query: &str) -> String {
        let lexing = Lexing::of(ServerFlavor::MariaDb(101_119));
        match cache_show(query.as_bytes(), lexing) {
            None => "-".to_owned(),
            Some(CacheShow::Status(chosen)) => {
                chosen.iter().map(|one| one.name()).collect::<Vec<_>>().join(" ")
            }
            Some(CacheShow::Variables { reads, chosen }) => {
                let names = chosen.iter().map(|one| one.name()).collect::<Vec<_>>().join(" ");
                if reads == Reads::Global { format!("global: {names}") } else { names }
            }
        }
    }

    #[test]
    fn names_of_the_cache_are_chosen_and_with_others_nothing_is() {
        let all = "query_cache_limit query_cache_min_res_unit query_cache_size query_cache_strip_comments \
                   query_cache_type query_cache_wlock_invalidate";
        let with_have = format!("have_query_cache {all}");
        let status = "Qcache_free_blocks Qcache_free_memory Qcache_hits Qcache_inserts Qcache_lowmem_prunes \
                      Qcache_not_cached Qcache_queries_in_cache Qcache_total_blocks";
        for (query, expected) in [
            ("SHOW VARIABLES LIKE 'query_cache%'", all),
            ("show variables like \"%QUERY\\_CACHE%\" ;", &with_have),
            ("SHOW SESSION VARIABLES LIKE 'query_cache_type'", "query_cache_type"),
            ("SHOW LOCAL VARIABLES LIKE 'query_cache_t%'", "query_cache_type"),
            (
                "SHOW GLOBAL VARIABLES LIKE 'query_cache_s%'",
                "global: query_cache_size query_cache_strip_comments",
            ),
            ("SHOW VARIABLES LIKE 'query_cache_nothing'", ""),
            ("SHOW VARIABLES WHERE Variable_name = 'query_cache_size'", "query_cache_size"),
            ("SHOW VARIABLES WHERE `variable_name` LIKE 'query_cache_l%'", "query_cache_limit"),
            (
                "SHOW VARIABLES WHERE variable_name IN ('query_cache_type', 'Have_Query_Cache')",
                "have_query_cache query_cache_type",
            ),
            (
                "SHOW VARIABLES WHERE Variable_name = 'query_cache_type' OR Variable_name LIKE 'query_cache_siz_'",
                "query_cache_size query_cache_type",
            ),
            ("SHOW STATUS LIKE 'Qcache%'", status),
            ("SHOW GLOBAL STATUS LIKE '%qcache_hits'", "Qcache_hits"),
            ("SHOW SESSION STATUS WHERE Variable_name = 'qcache_inserts'", "Qcache_inserts"),
            ("SHOW VARIABLES", "-"),
            ("SHOW VARIABLES LIKE '%'", "-"),
            ("SHOW VARIABLES LIKE '%cache%'", "-"),
            ("SHOW VARIABLES LIKE 'query%'", "-"),
            ("SHOW VARIABLES LIKE 'qcache%'", "-"),
            ("SHOW STATUS LIKE 'query_cache%'", "-"),
            ("SHOW VARIABLES WHERE Variable_name = 'query_cache_nothing'", "-"),
            ("SHOW VARIABLES WHERE Variable_name IN ('query_cache_type', 'version')", "-"),
            ("SHOW VARIABLES WHERE Variable_name = 'query_cache_type' OR Value = 'ON'", "-"),
            ("SHOW VARIABLES WHERE Variable_name = 'query_cache_type' AND 0", "-"),
            ("SHOW VARIABLES WHERE Value = 'query_cache_type'", "-"),
            ("SHOW VARIABLES LIKE 'query_cache%' LIMIT 1", "-"),
            ("SHOW VARIABLES LIKE query_cache", "-"),
            ("SHOW VARIABLES LIKE 'query_cache%'; SELECT 1", "-"),
            ("SHOW VARIABLES LIKE 'query_cache%' /*!40000 x */", "-"),
            ("SHOW TABLES LIKE 'query_cache%'", "-"),
            ("SELECT 'query_cache'", "-"),
        ] {
            assert_eq!(shown(query), expected, "{query}");
        }
    }
}
