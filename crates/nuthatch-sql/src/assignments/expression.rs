//! A value that has to be worked out: where it ends, that it has no effect, and whether it always comes to the same.

use super::Value;
use super::context::Context;
use crate::classify::cursor::{Cursor, is_word};
use crate::function::{Function, lookup};
use crate::token::{Token, TokenKind};

/// What one token tells of its expression.
enum Piece {
    /// Nothing: it is a literal, or works on what it is given only.
    Constant,
    /// It may come to something else another time or elsewhere.
    Changing,
    /// It has an effect, or may have one, or is not known.
    Acts,
}

/// Takes an expression up to the end of its assignment.
pub(super) fn expression(cursor: &mut Cursor<'_>, context: &Context<'_>) -> Option<Value> {
    let first = cursor.peek().filter(|token| token.kind != TokenKind::Symbol(b'='))?;
    let (start, mut end) = (first.start, first.start);
    let mut depth = 0_u32;
    let mut is_repeatable = true;
    let mut after_dot = false;
    while depth > 0 && !cursor.at_end() || !context.at_end(cursor) {
        let token = cursor.bump()?;
        end = token.start + token.text.len();
        match token.kind {
            TokenKind::Symbol(b'(') => depth += 1,
            TokenKind::Symbol(b')') => depth = depth.checked_sub(1)?,
            _ => {}
        }
        match piece(token, after_dot, cursor) {
            Piece::Constant => {}
            Piece::Changing => is_repeatable = false,
            Piece::Acts => return None,
        }
        after_dot = token.kind == TokenKind::Symbol(b'.');
    }
    let source = context.query.get(start..end).filter(|source| depth == 0 && !source.is_empty())?;
    let is_repeatable = is_repeatable && !has_comment(source);
    Some(Value::Expression { source: source.into(), is_repeatable })
}

fn piece(token: Token<'_>, after_dot: bool, cursor: &Cursor<'_>) -> Piece {
    match token.kind {
        TokenKind::Word => word(token, after_dot, cursor),
        TokenKind::Quoted if cursor.peek_symbol(b'(') => Piece::Acts,
        // A string in double quotes or with a backslash is another one under another SQL mode.
        TokenKind::String if token.text.iter().any(|byte| matches!(byte, b'"' | b'\\')) => Piece::Changing,
        TokenKind::String | TokenKind::Number => Piece::Constant,
        // What they come to may depend on SQL mode and other variables.
        TokenKind::Symbol(b'/' | b'%' | b'=' | b'<' | b'>' | b'!' | b'&' | b'|' | b'^' | b'~' | b'.') => {
            Piece::Changing
        }
        TokenKind::Symbol(b'(' | b')' | b',' | b'+' | b'-' | b'*') => Piece::Constant,
        TokenKind::Quoted | TokenKind::UserVariable | TokenKind::SystemVariable => Piece::Changing,
        _ => Piece::Acts,
    }
}

fn word(token: Token<'_>, after_dot: bool, cursor: &Cursor<'_>) -> Piece {
    let is_one_of = |words: &[&[u8]]| words.iter().any(|word| is_word(token, word));
    if cursor.peek_symbol(b'(') {
        if after_dot {
            return Piece::Acts;
        }
        // Without IGNORE_SPACE a space makes it another function, or none.
        let end = token.start + token.text.len();
        let is_call = cursor.peek().is_some_and(|next| next.start == end);
        return call(token, is_call && is_one_of(&REPEATABLE), cursor);
    }
    // INTO sets variables; FOR after VALUE, and NEXTVAL, move a sequence.
    let is_sequence = is_one_of(&[b"NEXTVAL"]) || (is_one_of(&[b"VALUE"]) && cursor.peek_word(b"FOR"));
    if is_sequence || is_one_of(&[b"INTO", b"PROCEDURE", b"SQL_CALC_FOUND_ROWS"]) {
        return Piece::Acts;
    }
    if is_one_of(&[b"NULL", b"TRUE", b"FALSE"]) { Piece::Constant } else { Piece::Changing }
}

fn call(name: Token<'_>, is_repeatable: bool, cursor: &Cursor<'_>) -> Piece {
    match lookup(name.text) {
        Function::Pure if is_repeatable => Piece::Constant,
        Function::Pure
        | Function::OfTimeZone(_)
        | Function::Volatile(_)
        | Function::FoundRows
        | Function::RowCount => Piece::Changing,
        Function::Session("release_lock") => Piece::Acts,
        Function::Session(_) => Piece::Changing,
        // With an argument it is set.
        Function::InsertId if has_no_argument(cursor) => Piece::Changing,
        Function::InsertId
        | Function::GetLock
        | Function::ReleaseAllLocks
        | Function::Sequence
        | Function::Unknown => Piece::Acts,
    }
}

fn has_no_argument(cursor: &Cursor<'_>) -> bool {
    let mut ahead = cursor.clone();
    ahead.take_symbol(b'(') && ahead.take_symbol(b')')
}

/// Functions of literals that no session variable changes.
const REPEATABLE: [&[u8]; 14] = [
    b"CONCAT",
    b"CONCAT_WS",
    b"IF",
    b"IFNULL",
    b"NULLIF",
    b"COALESCE",
    b"UPPER",
    b"LOWER",
    b"UCASE",
    b"LCASE",
    b"REPLACE",
    b"GREATEST",
    b"LEAST",
    b"ABS",
];

/// Also true of some strings, which does no harm.
fn has_comment(source: &[u8]) -> bool {
    source.windows(2).any(|pair| matches!(pair, b"/*" | b"--")) || source.contains(&b'#')
}
