//! What FOUND_ROWS() tells behind a statement that does not have SQL_CALC_FOUND_ROWS, as far as its text says.
//!
//! Behind a SELECT it is the number of its rows, and of those that LIMIT has passed over; with a UNION, what servers make of a LIMIT
//! differs. Other statements leave it as it was, or set it where rows are found on the way. Measured on MariaDB 10.11 and MySQL 9.7.

use crate::classify::cursor::{Cursor, is_word};
use crate::classify::parts;
use crate::statement::{Ddl, Kind};
use crate::token::{Lexing, ServerFlavor, TokenKind};

/// What a statement does to FOUND_ROWS(), if it does not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundRows {
    /// Nothing.
    LeftAlone,
    /// It is the number of rows in the answer.
    Rows,
    /// The same, with what its [`page_offset`] has passed over; not known if the answer is empty.
    Page,
    /// It is set, and only the server knows to what.
    Set,
    /// Only the server knows.
    Unknown,
}

/// Where an answer begins among the rows that are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageOffset {
    /// Behind so many.
    Rows(u64),
    /// Behind as many as this parameter says, from 0.
    Parameter(usize),
}

/// What a statement of that kind does to FOUND_ROWS(). Cost: some passes over the text.
#[must_use]
pub fn found_rows(text: &[u8], kind: Kind, lexing: Lexing) -> FoundRows {
    let has_no = |words: &[&[u8]]| !words.iter().any(|word| stands_in(text, word));
    let finds_nothing = || has_no(&[b"select", b"table", b"with", b"returning"]);
    match kind {
        Kind::Select => select(text, lexing),
        Kind::Show => show(text, lexing),
        Kind::Multi => found_rows_of_first(text, lexing, usize::MAX),
        Kind::Begin
        | Kind::Commit
        | Kind::Rollback
        | Kind::Savepoint
        | Kind::Use
        | Kind::Lock
        | Kind::Unlock
        | Kind::Prepare
        | Kind::Deallocate
        | Kind::Kill
        | Kind::Grant
        | Kind::Flush
        | Kind::Empty => FoundRows::LeftAlone,
        Kind::Ddl(Ddl::Create) | Kind::Set | Kind::LoadData if has_no(&[b"select"]) => FoundRows::LeftAlone,
        Kind::Ddl(Ddl::Alter | Ddl::Drop | Ddl::Truncate | Ddl::Rename) => FoundRows::LeftAlone,
        Kind::Ddl(Ddl::Create) if matches!(lexing.server, ServerFlavor::MySql(_)) => FoundRows::LeftAlone,
        Kind::Ddl(Ddl::Create) if has_no(&[b"exists"]) && surely_fills_a_table(text, lexing) => {
            FoundRows::Set
        }
        Kind::Insert | Kind::Replace if finds_nothing() => FoundRows::LeftAlone,
        Kind::Insert | Kind::Replace if surely_selects(text, lexing) => FoundRows::Set,
        Kind::Delete if finds_nothing() && has_no(&[b"using", b"join", b","]) => FoundRows::LeftAlone,
        Kind::Update | Kind::Do if matches!(lexing.server, ServerFlavor::MySql(_)) => FoundRows::Set,
        Kind::Update if finds_nothing() && is_of_one_table(text, lexing) => FoundRows::LeftAlone,
        Kind::Do if finds_nothing() => FoundRows::LeftAlone,
        Kind::Explain if has_no(&[b"analyze"]) && !has_no(&[b"select"]) => FoundRows::LeftAlone,
        _ => FoundRows::Unknown,
    }
}

/// What the first `count` statements of a text of several do to it, one behind the other. [`FoundRows::Rows`]: it is the number of rows in the
/// last of their result sets.
#[must_use]
pub fn found_rows_of_first(text: &[u8], lexing: Lexing, count: usize) -> FoundRows {
    use FoundRows::{LeftAlone, Page, Rows, Set, Unknown};
    let Some(parts) = parts(text, lexing) else { return Unknown };
    let mut found = LeftAlone;
    for (part, kind) in parts.iter().copied().take(count) {
        found = match (found, found_rows(part, kind, lexing)) {
            // A SET may limit what a SELECT gives.
            (_, Rows) if !stands_in(part, b"sql_calc_found_rows") && !sets(&parts) => Rows,
            (_, Rows | Page | Set) => Set,
            (Rows, LeftAlone) if gives_no_rows(kind) => Rows,
            // How many results it has given is not known either.
            (_, Unknown) if count < parts.len() => return Unknown,
            (Rows | Set, LeftAlone | Unknown) => Set,
            (LeftAlone, LeftAlone) => LeftAlone,
            _ => Unknown,
        };
    }
    found
}

fn sets(parts: &[(&[u8], Kind)]) -> bool {
    parts.iter().any(|(_, kind)| *kind == Kind::Set)
}

/// Whether the answer to a statement of that kind, which leaves FOUND_ROWS() alone, is an OK.
const fn gives_no_rows(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Begin
            | Kind::Commit
            | Kind::Rollback
            | Kind::Savepoint
            | Kind::Use
            | Kind::Insert
            | Kind::Replace
            | Kind::Update
            | Kind::Delete
            | Kind::Do
            | Kind::Ddl(_)
    )
}

/// Whether `word` stands anywhere in it, in comments and quotes too, and is no part of a longer name. Behind a digit it may be none: servers
/// read `1.5LIMIT 2` as two words.
fn stands_in(text: &[u8], word: &[u8]) -> bool {
    let is_part = |at: usize| {
        let before = text
            .get(..at)
            .and_then(<[u8]>::last)
            .is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
        let behind = text.get(at + word.len());
        before || behind.is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_$".contains(byte))
    };
    let mut places = text.windows(word.len()).enumerate();
    places.any(|(at, found)| found.eq_ignore_ascii_case(word) && (word == b"," || !is_part(at)))
}

/// Whether a SELECT is in what an INSERT inserts.
fn surely_selects(text: &[u8], lexing: Lexing) -> bool {
    let mut cursor = Cursor::behind_first_word(text, lexing);
    let mut selects = false;
    while let Some(token) = cursor.bump() {
        match token.kind {
            TokenKind::Word if is_word(token, b"DUPLICATE") => break,
            TokenKind::Word if is_word(token, b"RETURNING") => return false,
            TokenKind::Word if is_word(token, b"SELECT") => selects = true,
            TokenKind::Symbol(b'.') => cursor.advance(),
            _ => {}
        }
    }
    selects && !cursor.has_executable
}

/// Whether it is a CREATE TABLE with a SELECT.
fn surely_fills_a_table(text: &[u8], lexing: Lexing) -> bool {
    let mut cursor = Cursor::behind_first_word(text, lexing);
    cursor.take_words(&[b"OR", b"REPLACE"]);
    cursor.take_word(b"TEMPORARY");
    cursor.take_word(b"TABLE") && surely_selects(text, lexing)
}

/// Whether an UPDATE names one table before its SET: where there are more, MariaDB counts the rows that it finds.
fn is_of_one_table(text: &[u8], lexing: Lexing) -> bool {
    let mut cursor = Cursor::behind_first_word(text, lexing);
    while let Some(token) = cursor.bump() {
        match token.kind {
            TokenKind::Word if is_word(token, b"SET") => return !cursor.has_executable,
            TokenKind::Word if is_word(token, b"JOIN") || is_word(token, b"STRAIGHT_JOIN") => return false,
            TokenKind::Symbol(b',' | b'(') => return false,
            TokenKind::Symbol(b'.') => cursor.advance(),
            _ => {}
        }
    }
    false
}

fn select(text: &[u8], lexing: Lexing) -> FoundRows {
    let has = |word: &[u8]| stands_in(text, word);
    if has(b"values") {
        // MariaDB leaves it alone behind VALUES by itself, and adds to it with UNION ALL.
        let mut cursor = Cursor::at_statement(text, lexing);
        while cursor.take_symbol(b'(') {}
        if cursor.take_word(b"VALUES") || [&b"union"[..], b"except", b"intersect"].into_iter().any(has) {
            return FoundRows::Unknown;
        }
    }
    if [&b"fetch"[..], b"rownum", b"procedure", b"into"].into_iter().any(has) {
        return FoundRows::Set;
    }
    match has(b"limit") {
        false => FoundRows::Rows,
        true => limited(text, lexing).map_or(FoundRows::Set, |page| match page.offset {
            None => FoundRows::Rows,
            Some(_) => FoundRows::Page,
        }),
    }
}

/// Where the answer begins, of a SELECT that gives a [`FoundRows::Page`].
#[must_use]
pub fn page_offset(text: &[u8], lexing: Lexing) -> Option<PageOffset> {
    limited(text, lexing)?.offset
}

/// A plain SELECT's own LIMIT, or that it has none.
#[derive(Default)]
struct Page {
    offset: Option<PageOffset>,
}

/// None if it is no plain SELECT with at most one LIMIT of its own, of plain numbers and parameters.
fn limited(text: &[u8], lexing: Lexing) -> Option<Page> {
    let mut cursor = Cursor::at_statement(text, lexing);
    cursor.take_word(b"SELECT").then_some(())?;
    let (mut depth, mut page) = (0_u32, None);
    while let Some(token) = cursor.bump() {
        match token.kind {
            TokenKind::Symbol(b'(') => depth += 1,
            TokenKind::Symbol(b')') => depth = depth.saturating_sub(1),
            TokenKind::Symbol(b'.') => cursor.advance(),
            TokenKind::Word if depth == 0 && is_word(token, b"LIMIT") => {
                page.is_none().then_some(())?;
                page = Some(take_page(&mut cursor)?);
            }
            TokenKind::Word if depth == 0 => {
                const JOINS: [&[u8]; 4] = [b"UNION", b"EXCEPT", b"INTERSECT", b"MINUS"];
                (!JOINS.iter().any(|join| is_word(token, join))).then_some(())?;
            }
            _ => {}
        }
    }
    (!cursor.has_executable).then(|| page.unwrap_or_default())
}

/// Takes what stands behind LIMIT.
fn take_page(cursor: &mut Cursor<'_>) -> Option<Page> {
    let first = take_number(cursor)?;
    let offset = if cursor.take_symbol(b',') {
        take_number(cursor)?;
        Some(first)
    } else if cursor.take_word(b"OFFSET") {
        Some(take_number(cursor)?)
    } else {
        None
    };
    let ends = cursor.at_end() || cursor.peek_word(b"FOR") || cursor.peek_word(b"LOCK");
    ends.then_some(Page { offset })
}

fn take_number(cursor: &mut Cursor<'_>) -> Option<PageOffset> {
    let marker = cursor.markers.checked_sub(1);
    let token = cursor.bump()?;
    match token.kind {
        TokenKind::Number => Some(PageOffset::Rows(std::str::from_utf8(token.text).ok()?.parse().ok()?)),
        TokenKind::Symbol(b'?') => marker.map(PageOffset::Parameter),
        _ => None,
    }
}

/// What is a SELECT of its rows for the server.
fn show(text: &[u8], lexing: Lexing) -> FoundRows {
    const LISTS: [&[u8]; 14] = [
        b"TABLES",
        b"VARIABLES",
        b"STATUS",
        b"COLUMNS",
        b"FIELDS",
        b"INDEX",
        b"INDEXES",
        b"KEYS",
        b"DATABASES",
        b"SCHEMAS",
        b"TRIGGERS",
        b"COLLATION",
        b"CHARSET",
        b"TABLE",
    ];
    let mut cursor = Cursor::behind_first_word(text, lexing);
    for word in [&b"FULL"[..], b"EXTENDED", b"GLOBAL", b"SESSION", b"LOCAL", b"CHARACTER"] {
        cursor.take_word(word);
    }
    let is_list = LISTS.iter().any(|list| cursor.peek_word(list)) || cursor.peek_word(b"SET");
    let is_of_last = [&b"WARNINGS"[..], b"ERRORS"].iter().any(|list| cursor.peek_word(list));
    match () {
        () if is_of_last || cursor.peek_word(b"CREATE") => FoundRows::LeftAlone,
        () if is_list && !stands_in(text, b"limit") => FoundRows::Rows,
        () => FoundRows::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn found_rows_of_a_statement_are_what_its_text_tells() {
        use FoundRows::{LeftAlone, Page, Rows, Set, Unknown};
        for (text, kind, expected) in [
            ("SELECT v FROM t", Kind::Select, Rows),
            ("SELECT v FROM t UNION SELECT 1", Kind::Select, Rows),
            ("SELECT v FROM t LIMIT 2", Kind::Select, Rows),
            ("SELECT v FROM t LIMIT ?", Kind::Select, Rows),
            ("SELECT * FROM (SELECT v FROM t LIMIT 2,1) d", Kind::Select, Rows),
            ("SELECT v AS `limit` FROM t", Kind::Select, Rows),
            ("SELECT v FROM t LIMIT 2,1", Kind::Select, Page),
            ("SELECT v FROM t ORDER BY v LIMIT 2 OFFSET 4 FOR UPDATE;", Kind::Select, Page),
            ("SELECT v FROM t WHERE a=? LIMIT ?, ?", Kind::Select, Page),
            ("SELECT v FROM t UNION ALL SELECT 1 LIMIT 1", Kind::Select, Set),
            ("(SELECT v FROM t LIMIT 2,3) LIMIT 1,1", Kind::Select, Set),
            ("WITH c AS (SELECT 1) SELECT * FROM c LIMIT 1,1", Kind::Select, Set),
            ("SELECT v FROM t LIMIT ROWS EXAMINED 5", Kind::Select, Set),
            ("SELECT v FROM t LIMIT 2,1 INTO @a", Kind::Select, Set),
            ("SELECT v FROM t /*! LIMIT 2,1 */", Kind::Select, Set),
            ("SHOW TABLES LIKE 't'", Kind::Show, Rows),
            ("SHOW FULL COLUMNS FROM t", Kind::Show, Rows),
            ("SHOW CREATE TABLE t", Kind::Show, LeftAlone),
            ("SHOW PROCESSLIST", Kind::Show, Unknown),
            ("SET sql_select_limit = 2", Kind::Set, LeftAlone),
            ("SET @a = (SELECT 1)", Kind::Set, Unknown),
            ("SELECT 1.5LIMIT 2,1", Kind::Select, Page),
            ("SELECT limited FROM t", Kind::Select, Rows),
            ("INSERT INTO t VALUES (1)", Kind::Insert, LeftAlone),
            ("INSERT INTO tables VALUES (1)", Kind::Insert, LeftAlone),
            ("INSERT INTO t SELECT 1", Kind::Insert, Set),
            ("REPLACE INTO t (v) VALUES ((SELECT 1))", Kind::Replace, Set),
            ("INSERT INTO t VALUES ('select')", Kind::Insert, Unknown),
            ("INSERT INTO t VALUES (t.select)", Kind::Insert, Unknown),
            ("INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE v=(SELECT 1)", Kind::Insert, Unknown),
            ("INSERT INTO t SELECT 1 RETURNING id", Kind::Insert, Unknown),
            ("INSERT INTO t VALUES (1) /*! , ((SELECT 2)) */", Kind::Insert, Unknown),
            ("CREATE TABLE x AS SELECT 1", Kind::Ddl(Ddl::Create), Set),
            ("CREATE OR REPLACE TEMPORARY TABLE x SELECT 1", Kind::Ddl(Ddl::Create), Set),
            ("CREATE TABLE IF NOT EXISTS x SELECT 1", Kind::Ddl(Ddl::Create), Unknown),
            ("CREATE VIEW x AS SELECT 1", Kind::Ddl(Ddl::Create), Unknown),
            ("DELETE FROM t WHERE id=1", Kind::Delete, LeftAlone),
            ("DELETE a FROM t a JOIN t b", Kind::Delete, Unknown),
            ("UPDATE t a SET a.v=1, a.w=2 WHERE id=1", Kind::Update, LeftAlone),
            ("UPDATE s.join SET v=1", Kind::Update, LeftAlone),
            ("UPDATE t a, u b SET a.v=1", Kind::Update, Unknown),
            ("UPDATE t a NATURAL JOIN u b SET a.v=1", Kind::Update, Unknown),
            ("UPDATE t a /*! , u b */ SET a.v=1", Kind::Update, Unknown),
            ("VALUES (1),(2)", Kind::Select, Unknown),
            ("(VALUES (1)) LIMIT 1", Kind::Select, Unknown),
            ("SELECT 1 UNION VALUES (1),(2)", Kind::Select, Unknown),
            ("SELECT `values` FROM t", Kind::Select, Rows),
            ("DO 1", Kind::Do, LeftAlone),
            ("DO (SELECT 1)", Kind::Do, Unknown),
            ("EXPLAIN SELECT 1", Kind::Explain, LeftAlone),
            ("DESC t", Kind::Explain, Unknown),
        ] {
            let lexing = Lexing::of(ServerFlavor::MariaDb(101_119));
            assert_eq!(found_rows(text.as_bytes(), kind, lexing), expected, "{text}");
        }
        let mysql = Lexing::of(ServerFlavor::MySql(90_704));
        assert_eq!(found_rows(b"UPDATE t SET v=1", Kind::Update, mysql), Set);
        assert_eq!(found_rows(b"CREATE TABLE x SELECT 1", Kind::Ddl(Ddl::Create), mysql), LeftAlone);
        for (text, expected) in [
            ("SELECT v FROM t LIMIT 2,1", PageOffset::Rows(2)),
            ("SELECT v FROM t LIMIT 2 OFFSET 4", PageOffset::Rows(4)),
            ("SELECT v FROM t WHERE a=? LIMIT ?, ?", PageOffset::Parameter(1)),
            ("SELECT v FROM t WHERE a=? LIMIT ? OFFSET ?", PageOffset::Parameter(2)),
        ] {
            assert_eq!(page_offset(text.as_bytes(), mysql), Some(expected), "{text}");
        }
    }

    #[test]
    fn found_rows_of_several_statements_are_what_the_first_of_them_leave() {
        use FoundRows::{LeftAlone, Rows, Set, Unknown};
        for (text, first, expected) in [
            ("SELECT 1; SELECT ROW_COUNT()", 9, Rows),
            ("SELECT v FROM t LIMIT 2,1; SELECT v FROM t;", 9, Rows),
            ("SELECT v FROM t; BEGIN; UPDATE t SET v=1; COMMIT", 9, Rows),
            ("SELECT v FROM t; SHOW WARNINGS", 9, Set),
            ("SELECT v FROM t; SET sql_select_limit=1", 9, Set),
            ("SET sql_select_limit=1; SELECT v FROM t", 9, Set),
            ("SELECT SQL_CALC_FOUND_ROWS v FROM t LIMIT 1; DO 1", 9, Set),
            ("SELECT SQL_CALC_FOUND_ROWS v FROM t LIMIT 1; SELECT 1", 9, Rows),
            ("SELECT v FROM t; SELECT v FROM t LIMIT 2,1", 9, Set),
            ("SELECT v FROM t; CALL p()", 9, Set),
            ("CALL p(); SELECT v FROM t", 9, Rows),
            ("CALL p(); DO 1", 9, Unknown),
            ("DO 1; CALL p()", 9, Unknown),
            ("DO 1; BEGIN; COMMIT", 9, LeftAlone),
            ("DO 1; SELECT v FROM t", 1, LeftAlone),
            ("CALL p(); SELECT v FROM t; SELECT 1", 2, Unknown),
            ("SELECT v FROM t; CALL p(); SELECT 1", 2, Unknown),
            ("SELECT v FROM t; DO (SELECT 1)", 1, Rows),
            ("SELECT v FROM t; SELECT 1", 0, LeftAlone),
            ("SELECT 1 /*! ; DO 1 */; SELECT 2", 9, Unknown),
            ("SELECT 1; SELECT 'a", 9, Unknown),
            ("SELECT 1; CREATE PROCEDURE q() BEGIN SELECT 1; SELECT 2; END", 9, Set),
        ] {
            let lexing = Lexing::of(ServerFlavor::MariaDb(101_119));
            assert_eq!(found_rows_of_first(text.as_bytes(), lexing, first), expected, "{text}, {first}");
        }
    }
}
