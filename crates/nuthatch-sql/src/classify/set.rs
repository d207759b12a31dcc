//! What a SET leaves in the session: only the forms that are understood whole are named, all others are unknown.

use super::cursor::{Cursor, is_word};
use crate::statement::{Name, SetEffect, TransactionEnd};
use crate::token::{Token, TokenKind};

/// What was found of a SET; user variables are found by the scan of its body.
pub(super) struct Set<'q> {
    pub(super) effect: SetEffect<'q>,
    pub(super) writes: bool,
    pub(super) ends_transaction: TransactionEnd,
}

impl<'q> Set<'q> {
    fn of(effect: SetEffect<'q>) -> Self {
        Self { effect, writes: false, ends_transaction: TransactionEnd::No }
    }
}

/// Reads what follows SET.
pub(super) fn set<'q>(mut cursor: Cursor<'q>) -> Set<'q> {
    let Some(first) = cursor.peek() else { return Set::of(SetEffect::Unknown) };
    if is_word(first, b"NAMES") {
        cursor.bump();
        return Set::of(names(cursor));
    }
    if cursor.take_word(b"CHARSET")
        || cursor.take_words(&[b"CHARACTER", b"SET"])
        || cursor.take_words(&[b"CHAR", b"SET"])
    {
        return Set::of(character_set(cursor));
    }
    if is_word(first, b"PASSWORD") || cursor.take_words(&[b"DEFAULT", b"ROLE"]) {
        // An account changes, not the session; it commits, also when it fails.
        return Set { effect: SetEffect::None, writes: true, ends_transaction: TransactionEnd::Implicit };
    }
    if is_word(first, b"STATEMENT") {
        // What stands after its FOR may do anything.
        return Set { effect: SetEffect::Unknown, writes: true, ends_transaction: TransactionEnd::Maybe };
    }
    let effect = autocommit(cursor.clone())
        .unwrap_or_else(|| if is_global_only(cursor) { SetEffect::None } else { SetEffect::Unknown });
    Set::of(effect)
}

fn names<'q>(mut cursor: Cursor<'q>) -> SetEffect<'q> {
    if let Some(token) = cursor.peek().filter(|token| is_word(*token, b"DEFAULT")) {
        cursor.bump();
        let charset = Name(token.text);
        return if cursor.at_end() {
            SetEffect::Names { charset, collation: None }
        } else {
            SetEffect::Unknown
        };
    }
    let Some(charset) = take_name(&mut cursor) else { return SetEffect::Unknown };
    let collation = if cursor.take_word(b"COLLATE") {
        match take_name(&mut cursor) {
            Some(collation) => Some(collation),
            None => return SetEffect::Unknown,
        }
    } else {
        None
    };
    if cursor.at_end() { SetEffect::Names { charset, collation } } else { SetEffect::Unknown }
}

fn character_set<'q>(mut cursor: Cursor<'q>) -> SetEffect<'q> {
    match take_name(&mut cursor) {
        Some(charset) if cursor.at_end() => SetEffect::CharacterSet(charset),
        _ => SetEffect::Unknown,
    }
}

/// A name or string that is not the word DEFAULT.
fn take_name<'q>(cursor: &mut Cursor<'q>) -> Option<Name<'q>> {
    let token = cursor.peek().filter(|token| match token.kind {
        TokenKind::Word => !is_word(*token, b"DEFAULT"),
        // A backslash may stand for something.
        TokenKind::String => !token.text.contains(&b'\\'),
        TokenKind::Quoted => true,
        _ => false,
    })?;
    cursor.bump();
    Some(Name(token.text))
}

/// `[SESSION|LOCAL|@@[session.|local.]]autocommit {=|:=} literal`, and nothing else.
fn autocommit<'q>(mut cursor: Cursor<'q>) -> Option<SetEffect<'q>> {
    let first = cursor.bump()?;
    let is_autocommit = match first.kind {
        TokenKind::SystemVariable => [&b"@@autocommit"[..], b"@@session.autocommit", b"@@local.autocommit"]
            .iter()
            .any(|name| first.text.eq_ignore_ascii_case(name)),
        _ if is_word(first, b"SESSION") || is_word(first, b"LOCAL") => cursor.take_word(b"AUTOCOMMIT"),
        _ => is_word(first, b"AUTOCOMMIT") || first.text.eq_ignore_ascii_case(b"`autocommit`"),
    };
    if !is_autocommit || !take_assign(&mut cursor) {
        return None;
    }
    let value = switch(cursor.bump()?)?;
    cursor.at_end().then_some(SetEffect::Autocommit(value))
}

fn switch(token: Token<'_>) -> Option<bool> {
    let bare = match token.kind {
        TokenKind::String => token.text.get(1..token.text.len().saturating_sub(1))?,
        TokenKind::Word | TokenKind::Number => token.text,
        _ => return None,
    };
    match bare {
        b"1" if token.kind == TokenKind::Number => Some(true),
        b"0" if token.kind == TokenKind::Number => Some(false),
        _ if bare.eq_ignore_ascii_case(b"ON") => Some(true),
        _ if bare.eq_ignore_ascii_case(b"OFF") => Some(false),
        _ if token.kind == TokenKind::Word && bare.eq_ignore_ascii_case(b"TRUE") => Some(true),
        _ if token.kind == TokenKind::Word && bare.eq_ignore_ascii_case(b"FALSE") => Some(false),
        _ => None,
    }
}

fn take_assign(cursor: &mut Cursor<'_>) -> bool {
    cursor.take_symbol(b':');
    cursor.take_symbol(b'=')
}

/// Each assignment names a global scope of its own.
fn is_global_only(mut cursor: Cursor<'_>) -> bool {
    loop {
        let Some(first) = cursor.bump() else { return false };
        let is_global = match first.kind {
            TokenKind::SystemVariable => {
                [&b"@@global."[..], b"@@persist.", b"@@persist_only."].iter().any(|scope| {
                    first.text.get(..scope.len()).is_some_and(|head| head.eq_ignore_ascii_case(scope))
                })
            }
            _ => [&b"GLOBAL"[..], b"PERSIST", b"PERSIST_ONLY"].iter().any(|scope| is_word(first, scope)),
        };
        // `SET global = 1` would be a variable of that name.
        if !is_global || (first.kind == TokenKind::Word && cursor.peek_symbol(b'=')) {
            return false;
        }
        skip_to_comma(&mut cursor);
        if !cursor.take_symbol(b',') {
            return cursor.at_end();
        }
    }
}

/// Takes an assignment up to the comma after it, or to the end of the statement.
fn skip_to_comma(cursor: &mut Cursor<'_>) {
    let mut depth = 0_u32;
    while !(cursor.at_end() || depth == 0 && cursor.peek_symbol(b',')) {
        match cursor.bump().map(|token| token.kind) {
            Some(TokenKind::Symbol(b'(')) => depth += 1,
            Some(TokenKind::Symbol(b')')) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
}
