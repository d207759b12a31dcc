//! Questions of a client that its session can answer without a server: `SELECT LAST_INSERT_ID()` and its like.

use crate::assignments::Reads;
use crate::classify::cursor::{Cursor, is_word};
use crate::classify::is_ambiguous;
use crate::query_cache::CacheVariable;
use crate::statement::Name;
use crate::token::{Lexing, Token, TokenKind};

/// One value that a statement asks the session for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question<'q> {
    /// For what.
    pub asked: Asked,
    /// By a variable, not by a function.
    pub is_variable: bool,
    /// The result's column name as the server would give it: the alias, or the expression as written.
    pub column: Name<'q>,
}

/// What a session is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Asked {
    /// `LAST_INSERT_ID()`, `@@last_insert_id`, `@@identity`.
    LastInsertId,
    /// `CONNECTION_ID()`.
    ConnectionId,
    /// `ROW_COUNT()`.
    RowCount,
    /// `SQL%ROWCOUNT`, in MariaDB's Oracle mode: `ROW_COUNT()`, or `FOUND_ROWS()` where that is -1.
    OracleRowCount,
    /// `FOUND_ROWS()`.
    FoundRows,
    /// `@@query_cache_type` and its like, and whose value of it.
    QueryCache(CacheVariable, Reads),
}

/// The questions that the whole of `query` is, if it is nothing else: with aliases, FROM DUAL, LIMIT 1, comments or a semicolon
/// at most. A statement with an executable comment is none, nor is one that the server may cut otherwise.
#[must_use]
pub fn session_questions(query: &[u8], lexing: Lexing) -> Option<Vec<Question<'_>>> {
    let mut cursor = Cursor::new(query, lexing);
    if !cursor.take_word(b"SELECT") {
        return None;
    }
    let mut questions = Vec::with_capacity(1);
    loop {
        questions.push(question(query, &mut cursor)?);
        if !cursor.take_symbol(b',') {
            break;
        }
    }
    if cursor.take_word(b"FROM") && !cursor.take_word(b"DUAL") {
        return None;
    }
    if cursor.take_word(b"LIMIT") && cursor.bump()?.text != b"1" {
        return None;
    }
    let is_whole = cursor.ends_statement();
    (is_whole && !is_ambiguous(query, lexing)).then_some(questions)
}

fn question<'q>(query: &'q [u8], cursor: &mut Cursor<'q>) -> Option<Question<'q>> {
    let (asked, start, end) = expression(cursor)?;
    let written = query.get(start..end)?;
    let column = alias(cursor)?.unwrap_or(Name(written));
    // A comment inside the expression, or a quote around a part of it, makes another name.
    let is_plain =
        column.0 != written || !written.iter().any(|byte| matches!(byte, b'*' | b'#' | b'`' | b'-'));
    is_plain.then_some(Question { asked, is_variable: written.starts_with(b"@@"), column })
}

/// What is asked for, and where the expression begins and ends.
fn expression(cursor: &mut Cursor<'_>) -> Option<(Asked, usize, usize)> {
    let first = cursor.bump()?;
    let end = |token: Token<'_>| token.start + token.text.len();
    if first.kind == TokenKind::SystemVariable {
        let asked = asked_by_variable(first.text).filter(|_| !cursor.peek_symbol(b'.'))?;
        return Some((asked, first.start, end(first)));
    }
    if is_word(first, b"SQL") {
        let last = cursor.take_symbol(b'%').then(|| cursor.bump()).flatten()?;
        return is_word(last, b"ROWCOUNT").then(|| (Asked::OracleRowCount, first.start, end(last)));
    }
    let asked = if is_word(first, b"LAST_INSERT_ID") {
        Asked::LastInsertId
    } else if is_word(first, b"CONNECTION_ID") {
        Asked::ConnectionId
    } else if is_word(first, b"ROW_COUNT") {
        Asked::RowCount
    } else if is_word(first, b"FOUND_ROWS") {
        Asked::FoundRows
    } else {
        return None;
    };
    if !cursor.take_symbol(b'(') {
        return None;
    }
    let close = cursor.bump().filter(|token| token.kind == TokenKind::Symbol(b')'))?;
    Some((asked, first.start, end(close)))
}

fn asked_by_variable(text: &[u8]) -> Option<Asked> {
    let names_insert_id = [
        &b"@@last_insert_id"[..],
        b"@@identity",
        b"@@session.last_insert_id",
        b"@@session.identity",
        b"@@local.last_insert_id",
        b"@@local.identity",
    ]
    .iter()
    .any(|name| text.eq_ignore_ascii_case(name));
    if names_insert_id {
        return Some(Asked::LastInsertId);
    }
    CacheVariable::read(text).map(|(variable, reads)| Asked::QueryCache(variable, reads))
}

/// The alias, if there is one; none if what follows is something else.
#[expect(clippy::option_option, reason = "no alias is an answer, a text that is no alias is not")]
pub(crate) fn alias<'q>(cursor: &mut Cursor<'q>) -> Option<Option<Name<'q>>> {
    let has_as = cursor.take_word(b"AS");
    let Some(token) = cursor.peek() else { return (!has_as).then_some(None) };
    let is_name = match token.kind {
        TokenKind::Word => !RESERVED.iter().any(|word| is_word(token, word)),
        TokenKind::Quoted => true,
        TokenKind::String => !token.text.contains(&b'\\'),
        _ => false,
    };
    if is_name {
        cursor.bump();
        return Some(Some(Name(token.text)));
    }
    (!has_as).then_some(None)
}

/// The words that may follow the expression and are no alias.
const RESERVED: [&[u8]; 12] = [
    b"FROM", b"LIMIT", b"WHERE", b"UNION", b"INTO", b"FOR", b"LOCK", b"HAVING", b"ORDER", b"GROUP", b"AND",
    b"OR",
];

#[cfg(test)]
mod tests;
