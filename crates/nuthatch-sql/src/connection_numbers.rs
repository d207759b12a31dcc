//! Where a statement asks for numbers of connections inside something larger: `CONNECTION_ID()` and `IS_USED_LOCK('x')`.
//!
//! A server would give the number of the connection that happens to run the statement, and know the holder of a lock by the number of its
//! connection. What stands in their place must not change the names of columns, so those that would have come from the text are written out.
//! All or nothing: where one of them cannot be told beforehand, or the text takes or releases a lock besides, or asks for the server's list of
//! its connections, all are left to the server, whose numbers agree with each other within the statement.

use std::ops::Range;

use crate::classify::cursor::{Cursor, is_word};
use crate::classify::is_ambiguous;
use crate::token::{Lexing, Token, TokenKind};
use crate::words::{has_part, is_one_of};

/// A change of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NumberEdit {
    /// This part is to be replaced by that number.
    Replace(Range<usize>, ConnectionNumber),
    /// Here an alias is to be written: that part of the text.
    Name(usize, Range<usize>),
}

/// Which number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectionNumber {
    /// The session's own.
    Own,
    /// That of who has the lock, if anybody has: `IS_USED_LOCK` of this literal.
    LockHolder(Range<usize>),
}

/// Schemas with tables that have numbers of connections in them; by their own names those are asked for where such a schema is in use.
const WITH_LISTS: [&[u8]; 3] = [b"performance_schema", b"information_schema", b"sys"];

/// Functions that change who has a lock while the statement runs.
const LOCKING: [&[u8]; 3] = [b"get_lock", b"release_lock", b"release_all_locks"];

/// A list of columns that is being read.
struct Items {
    depth: usize,
    /// Where the item at hand begins; none until its first token.
    start: Option<usize>,
    /// A number stands in it.
    has_number: bool,
    has_as: bool,
    last: [Option<(TokenKind, usize)>; 2],
}

/// What must be changed in `query` for its numbers of connections to be the session's; nothing if it has none, or they cannot be told. It runs
/// with `schema` in use.
#[must_use]
pub fn connection_numbers(query: &[u8], lexing: Lexing, schema: &[u8]) -> Vec<NumberEdit> {
    match is_one_of(schema, &WITH_LISTS) {
        true => Vec::new(),
        false => edits(query, lexing).unwrap_or_default(),
    }
}

fn edits(query: &[u8], lexing: Lexing) -> Option<Vec<NumberEdit>> {
    let mut cursor = Cursor::new(query, lexing);
    let (mut edits, mut lists, mut depth) = (Vec::new(), Vec::<Items>::new(), 0_usize);
    let (mut is_behind_dot, mut changes_locks) = (false, false);
    while let Some(token) = cursor.bump() {
        let is_servers = token.kind == TokenKind::SystemVariable && has_part(token.text, b"pseudo_thread_id");
        if names_list(token) || is_servers {
            return None;
        }
        changes_locks |= token.kind == TokenKind::Word && is_one_of(token.text, &LOCKING);
        close_items(&mut lists, &mut edits, token, depth);
        match token.kind {
            TokenKind::Symbol(b'(') => depth += 1,
            TokenKind::Symbol(b')') => depth = depth.checked_sub(1)?,
            _ => {}
        }
        let number = if is_behind_dot { None } else { number(token, &mut cursor)? };
        is_behind_dot = token.kind == TokenKind::Symbol(b'.');
        let mut end = token.start + token.text.len();
        if let Some((number, number_end)) = number {
            end = number_end;
            edits.push(NumberEdit::Replace(token.start..end, number));
            lists.iter_mut().for_each(|items| items.has_number = true);
        }
        for items in lists.iter_mut().filter(|items| !begins_list(items, token)) {
            items.start.get_or_insert(token.start);
            items.has_as |= items.depth == depth && is_word(token, b"AS");
            let kind =
                if end == token.start + token.text.len() { token.kind } else { TokenKind::Symbol(b')') };
            items.last = [items.last[1], Some((kind, end))];
        }
        if is_word(token, b"SELECT") && !is_behind_dot {
            lists.push(Items { depth, start: None, has_number: false, has_as: false, last: [None, None] });
        }
    }
    while let Some(items) = lists.pop() {
        name(&items, &mut edits);
    }
    let asks_for_holder =
        edits.iter().any(|edit| matches!(edit, NumberEdit::Replace(_, ConnectionNumber::LockHolder(_))));
    let is_clear = !cursor.is_unclosed && !cursor.has_executable && !is_ambiguous(query, lexing);
    (is_clear && !(changes_locks && asks_for_holder)).then_some(edits).filter(|edits| !edits.is_empty())
}

fn names_list(token: Token<'_>) -> bool {
    let text = match token.kind {
        TokenKind::Word => token.text,
        TokenKind::Quoted => token.text.get(1..token.text.len().saturating_sub(1)).unwrap_or_default(),
        _ => return false,
    };
    is_one_of(text, &WITH_LISTS)
}

/// A modifier behind SELECT, or the comma before a column, which belong to none.
fn begins_list(items: &Items, token: Token<'_>) -> bool {
    const MODIFIERS: [&[u8]; 9] = [
        b"ALL",
        b"DISTINCT",
        b"DISTINCTROW",
        b"HIGH_PRIORITY",
        b"STRAIGHT_JOIN",
        b"SQL_SMALL_RESULT",
        b"SQL_BIG_RESULT",
        b"SQL_BUFFER_RESULT",
        b"SQL_CALC_FOUND_ROWS",
    ];
    let is_between =
        token.kind == TokenKind::Symbol(b',') || MODIFIERS.iter().any(|word| is_word(token, word));
    items.start.is_none() && is_between
}

/// Ends the items, and lists of items, that the token ends.
fn close_items(lists: &mut Vec<Items>, edits: &mut Vec<NumberEdit>, token: Token<'_>, depth: usize) {
    const BEHIND: [&[u8]; 13] = [
        b"FROM",
        b"WHERE",
        b"GROUP",
        b"HAVING",
        b"ORDER",
        b"LIMIT",
        b"UNION",
        b"EXCEPT",
        b"INTERSECT",
        b"INTO",
        b"FOR",
        b"LOCK",
        b"PROCEDURE",
    ];
    while let Some(items) = lists.last_mut() {
        let ends_list = match token.kind {
            TokenKind::Symbol(b')') => items.depth == depth,
            TokenKind::Symbol(b';') => true,
            _ => items.depth == depth && BEHIND.iter().any(|word| is_word(token, word)),
        };
        if ends_list {
            name(items, edits);
            lists.pop();
        } else if token.kind == TokenKind::Symbol(b',') && items.depth == depth {
            name(items, edits);
            *items = Items { depth, start: None, has_number: false, has_as: false, last: [None, None] };
            return;
        } else {
            return;
        }
    }
}

/// Writes the name of a column out that would have come from a text which is changed.
fn name(items: &Items, edits: &mut Vec<NumberEdit>) {
    let (Some(start), [before, Some((last, end))]) = (items.start, items.last) else { return };
    // `f() x` and `1 x` have an alias; what ends with an operand behind an operator has none.
    let is_name = matches!(last, TokenKind::Word | TokenKind::Quoted | TokenKind::String);
    let follows_operand = before.is_some_and(|(kind, _)| {
        matches!(kind, TokenKind::Symbol(b')') | TokenKind::Number | TokenKind::String | TokenKind::Quoted)
    });
    if items.has_number && !items.has_as && !(is_name && follows_operand) {
        edits.push(NumberEdit::Name(end, start..end));
    }
}

/// The number that begins with the token, and where it ends; `None` for a call that cannot be told beforehand.
#[expect(clippy::option_option, reason = "no number is an answer, one that cannot be told is not")]
fn number(token: Token<'_>, cursor: &mut Cursor<'_>) -> Option<Option<(ConnectionNumber, usize)>> {
    let is_own = is_word(token, b"CONNECTION_ID");
    if !(is_own || is_word(token, b"IS_USED_LOCK")) || !cursor.peek_symbol(b'(') {
        return Some(None);
    }
    cursor.bump();
    let number = if is_own {
        ConnectionNumber::Own
    } else {
        let literal = cursor.bump().filter(|token| token.kind == TokenKind::String)?;
        ConnectionNumber::LockHolder(literal.start..literal.start + literal.text.len())
    };
    let close = cursor.bump().filter(|token| token.kind == TokenKind::Symbol(b')'))?;
    Some(Some((number, close.start + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::ServerFlavor;

    /// The text with 7 for the session's number and 8 for a holder's.
    fn edited(query: &str) -> String {
        let mut edits =
            connection_numbers(query.as_bytes(), Lexing::of(ServerFlavor::MariaDb(101_119)), b"s");
        edits.sort_by_key(|edit| match edit {
            NumberEdit::Replace(range, _) => range.start,
            NumberEdit::Name(at, _) => *at,
        });
        let (mut out, mut done) = (String::new(), 0);
        for edit in edits {
            let (range, text) = match edit {
                NumberEdit::Replace(range, ConnectionNumber::Own) => (range, "7".to_owned()),
                NumberEdit::Replace(range, ConnectionNumber::LockHolder(_)) => (range, "8".to_owned()),
                NumberEdit::Name(at, name) => (at..at, format!(" AS `{}`", query.get(name).unwrap())),
            };
            out += query.get(done..range.start).unwrap();
            out += &text;
            done = range.end;
        }
        out + query.get(done..).unwrap()
    }

    #[test]
    fn numbers_are_put_in_and_columns_keep_their_names() {
        for (query, expected) in [
            ("SELECT CONNECTION_ID(), 1", "SELECT 7 AS `CONNECTION_ID()`, 1"),
            ("SELECT 1, connection_id () FROM t", "SELECT 1, 7 AS `connection_id ()` FROM t"),
            ("SELECT DISTINCT CONNECTION_ID() FROM t", "SELECT DISTINCT 7 AS `CONNECTION_ID()` FROM t"),
            ("SELECT CONNECTION_ID() id, v FROM t", "SELECT 7 id, v FROM t"),
            ("SELECT CONNECTION_ID() AS id, v FROM t", "SELECT 7 AS id, v FROM t"),
            ("SELECT CONNECTION_ID() + 1 x FROM t", "SELECT 7 + 1 x FROM t"),
            ("SELECT v = CONNECTION_ID() FROM t", "SELECT v = 7 AS `v = CONNECTION_ID()` FROM t"),
            ("SELECT CONNECTION_ID() = v FROM t", "SELECT 7 = v AS `CONNECTION_ID() = v` FROM t"),
            (
                "SELECT IS_USED_LOCK('x') = CONNECTION_ID()",
                "SELECT 8 = 7 AS `IS_USED_LOCK('x') = CONNECTION_ID()`",
            ),
            ("SELECT IF(IS_USED_LOCK('x') IS NULL, 1, 2) AS free", "SELECT IF(8 IS NULL, 1, 2) AS free"),
            (
                "UPDATE t SET owner = CONNECTION_ID() WHERE owner IS NULL",
                "UPDATE t SET owner = 7 WHERE owner IS NULL",
            ),
            (
                "INSERT INTO t VALUES (CONNECTION_ID(), 'CONNECTION_ID()')",
                "INSERT INTO t VALUES (7, 'CONNECTION_ID()')",
            ),
            (
                "INSERT INTO threads SELECT CONNECTION_ID() AS id FROM my.processlist",
                "INSERT INTO threads SELECT 7 AS id FROM my.processlist",
            ),
            ("SELECT GET_LOCK('x', 0), CONNECTION_ID() AS id", "SELECT GET_LOCK('x', 0), 7 AS id"),
            (
                "SELECT * FROM t WHERE owner = CONNECTION_ID() LIMIT 1",
                "SELECT * FROM t WHERE owner = 7 LIMIT 1",
            ),
            (
                "SELECT (SELECT CONNECTION_ID()), 2",
                "SELECT (SELECT 7 AS `CONNECTION_ID()`) AS `(SELECT CONNECTION_ID())`, 2",
            ),
            (
                "SELECT * FROM (SELECT CONNECTION_ID()) x, t",
                "SELECT * FROM (SELECT 7 AS `CONNECTION_ID()`) x, t",
            ),
        ] {
            assert_eq!(edited(query), expected, "{query}");
        }
    }

    #[test]
    fn what_cannot_be_told_is_left_to_the_server() {
        for query in [
            "SELECT 1",
            "SELECT x.CONNECTION_ID()",
            "SELECT CONNECTION_ID",
            "SELECT IS_USED_LOCK(name) = CONNECTION_ID() FROM t",
            "SELECT IS_USED_LOCK(?) = CONNECTION_ID()",
            "SELECT @@pseudo_thread_id = CONNECTION_ID()",
            "SELECT GET_LOCK('x', 0), IS_USED_LOCK('x') = CONNECTION_ID()",
            "SELECT * FROM information_schema.processlist WHERE id = CONNECTION_ID()",
            "SELECT * FROM performance_schema.threads WHERE processlist_id = CONNECTION_ID()",
            "SELECT 1 /*! + CONNECTION_ID() */",
            "SELECT CONNECTION_ID() + 'x",
        ] {
            assert_eq!(edited(query), query);
        }
        let lexing = Lexing::of(ServerFlavor::MySql(90_704));
        let query = b"SELECT * FROM processlist WHERE id = CONNECTION_ID()";
        assert_eq!(connection_numbers(query, lexing, b"information_schema"), []);
    }
}
