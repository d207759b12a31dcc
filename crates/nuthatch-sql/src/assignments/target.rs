//! What stands before the `=`: a variable, and whose value of it.
//!
//! A scope keyword (GLOBAL, SESSION, …) also holds for the assignments after it that have none, up to the next keyword; one
//! after `@@` holds for its own assignment only.

use super::{ServerScope, UserVariable};
use crate::classify::cursor::{Cursor, is_word};
use crate::statement::Name;
use crate::token::{ServerFlavor, Token, TokenKind};
use crate::variable::SystemVariable;

/// What is assigned.
pub(super) enum Target {
    User(UserVariable),
    System(SystemVariable, Scope),
    NextTransaction(SystemVariable),
}

/// Whose value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    Session,
    Server(ServerScope),
}

impl Scope {
    pub(super) fn of_server(self) -> Option<ServerScope> {
        match self {
            Self::Session => None,
            Self::Server(scope) => Some(scope),
        }
    }

    fn of_word(word: &[u8]) -> Option<Self> {
        [
            (&b"SESSION"[..], Self::Session),
            (b"LOCAL", Self::Session),
            (b"GLOBAL", Self::Server(ServerScope::Global)),
            (b"PERSIST", Self::Server(ServerScope::Persist)),
            (b"PERSIST_ONLY", Self::Server(ServerScope::PersistOnly)),
        ]
        .iter()
        .find_map(|(name, scope)| word.eq_ignore_ascii_case(name).then_some(*scope))
    }
}

/// Takes what is assigned; `scope` is the one that a keyword has given so far.
pub(super) fn target(cursor: &mut Cursor<'_>, scope: &mut Scope, server: ServerFlavor) -> Option<Target> {
    let first = cursor.bump()?;
    match first.kind {
        TokenKind::UserVariable => UserVariable::written(first.text).map(Target::User),
        TokenKind::SystemVariable => {
            let (variable, scope) = system_variable(first, cursor, server)?;
            Some(match scope {
                None if variable.has_transaction_scope() => Target::NextTransaction(variable),
                None => Target::System(variable, Scope::Session),
                Some(scope) => Target::System(variable, scope),
            })
        }
        TokenKind::Word | TokenKind::Quoted => {
            let keyword = Some(first).filter(|token| token.kind == TokenKind::Word);
            let name = match keyword.and_then(|token| Scope::of_word(token.text)) {
                Some(given) => {
                    *scope = given;
                    cursor.bump()?
                }
                None => first,
            };
            Some(Target::System(variable(name, server)?, *scope))
        }
        _ => None,
    }
}

/// The variable that `token` (`@@…`) and what follows it name, with the scope that is given, if one is.
pub(super) fn system_variable(
    token: Token<'_>,
    cursor: &mut Cursor<'_>,
    server: ServerFlavor,
) -> Option<(SystemVariable, Option<Scope>)> {
    let written = token.text.get(2..)?;
    if written.starts_with(b"`") {
        return Some((SystemVariable::named(&Name(written).text(), server)?, None));
    }
    let dot = written.iter().position(|&byte| byte == b'.');
    let Some(dot) = dot else {
        if !cursor.take_symbol(b'.') {
            return Some((SystemVariable::named(written, server)?, None));
        }
        return Some((variable(cursor.bump()?, server)?, Some(Scope::of_word(written)?)));
    };
    let (scope, rest) = written.split_at_checked(dot)?;
    let scope = Some(Scope::of_word(scope)?);
    match rest.get(1..)? {
        [] => Some((variable(cursor.bump()?, server)?, scope)),
        name => Some((SystemVariable::named(name, server)?, scope)),
    }
}

/// The variable of this name, with quotes or without.
fn variable(name: Token<'_>, server: ServerFlavor) -> Option<SystemVariable> {
    let is_name = matches!(name.kind, TokenKind::Word | TokenKind::Quoted);
    // The server takes these for keywords here.
    let is_keyword = is_word(name, b"TRANSACTION") || is_word(name, b"NAMES") || is_word(name, b"PASSWORD");
    (is_name && !is_keyword).then(|| SystemVariable::named(&Name(name.text).text(), server)).flatten()
}
