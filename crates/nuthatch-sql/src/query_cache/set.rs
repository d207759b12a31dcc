//! What a SET says to the query cache.

use super::variable::CacheVariable;
use crate::assignments::{Assignment, Assignments, ServerScope, Value, assignments, render};
use crate::classify::cursor::Cursor;
use crate::statement::Name;
use crate::token::{Lexing, Token, TokenKind};

/// What a SET says to the query cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CacheSettings {
    /// It sets nothing else; in the order of the statement.
    Alone(Vec<CacheSetting>),
    /// It sets other things too.
    Among {
        /// What it sets of the cache.
        settings: Vec<CacheSetting>,
        /// A statement that sets all the others.
        rest: Vec<u8>,
    },
    /// It sets something of the cache, and what else it does cannot be told, or not be written without that.
    Entangled,
}

/// A variable of the query cache that gets a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheSetting {
    /// `query_cache_type` or `query_cache_size`.
    pub variable: CacheVariable,
    /// The server's value, if not the session's.
    pub scope: Option<ServerScope>,
    /// To what.
    pub value: Value,
}

/// What `query`, a SET or several statements, says of type and size of the query cache; `None` if it says nothing of them.
#[must_use]
pub fn cache_settings(query: &[u8], lexing: Lexing) -> Option<CacheSettings> {
    let list = match assignments(query, lexing) {
        Some(Assignments::List(list)) => list,
        // The server itself refuses it there.
        Some(_) => return None,
        None => return names_target(query, lexing).then_some(CacheSettings::Entangled),
    };
    let (mut settings, mut others) = (Vec::new(), Vec::new());
    for assignment in list {
        match of_cache(&assignment) {
            Some(setting) => settings.push(setting),
            None => others.push(assignment),
        }
    }
    match (settings.is_empty(), others.is_empty()) {
        (true, _) => None,
        (false, true) => Some(CacheSettings::Alone(settings)),
        (false, false) => Some(match render(&others, lexing) {
            Some(rest) => CacheSettings::Among { settings, rest },
            None => CacheSettings::Entangled,
        }),
    }
}

fn of_cache(assignment: &Assignment) -> Option<CacheSetting> {
    let (scope, variable, value) = match assignment {
        Assignment::Session { variable, value } => (None, variable, value),
        Assignment::Server { scope, variable, value } => (Some(*scope), variable, value),
        _ => return None,
    };
    let variable = settable(variable.name().as_bytes())?;
    Some(CacheSetting { variable, scope, value: value.clone() })
}

fn settable(name: &[u8]) -> Option<CacheVariable> {
    CacheVariable::named(name)
        .filter(|variable| matches!(variable, CacheVariable::Type | CacheVariable::Size))
}

/// Whether one of the statements is a SET with such a variable before a `=`.
fn names_target(query: &[u8], lexing: Lexing) -> bool {
    let mut cursor = Cursor::new(query, lexing);
    while cursor.peek().is_some() {
        let is_set = cursor.take_word(b"SET");
        while !cursor.at_end() {
            let is_target = cursor.bump().is_some_and(is_settable);
            if is_set && is_target && (cursor.peek_symbol(b'=') || cursor.peek_symbol(b':')) {
                return true;
            }
        }
        cursor.advance();
    }
    false
}

fn is_settable(token: Token<'_>) -> bool {
    let name = match token.kind {
        TokenKind::Word | TokenKind::Quoted => Name(token.text).text(),
        TokenKind::SystemVariable => {
            token.text.rsplit(|byte| matches!(byte, b'@' | b'.')).next().unwrap_or_default().into()
        }
        _ => return false,
    };
    settable(&name).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::ServerFlavor;

    fn shown(query: &str) -> String {
        let lexing = Lexing::of(ServerFlavor::MySql(80_400));
        let one = |setting: &CacheSetting| {
            let scope = setting.scope.map_or_else(String::new, |scope| format!("{scope:?} "));
            let value = setting.value.literal().map_or("?".into(), String::from_utf8_lossy);
            format!("{scope}{} {value}", setting.variable.name())
        };
        let all = |settings: &[CacheSetting]| settings.iter().map(one).collect::<Vec<_>>().join(", ");
        match cache_settings(query.as_bytes(), lexing) {
            None => "-".to_owned(),
            Some(CacheSettings::Entangled) => "entangled".to_owned(),
            Some(CacheSettings::Alone(settings)) => all(&settings),
            Some(CacheSettings::Among { settings, rest }) => {
                format!("{} | {}", all(&settings), String::from_utf8_lossy(&rest))
            }
        }
    }

    #[test]
    fn settings_are_taken_out_and_the_rest_is_written_again() {
        for (query, expected) in [
            ("SET query_cache_type = OFF", "query_cache_type OFF"),
            ("set session Query_Cache_Type := 2;", "query_cache_type 2"),
            ("SET @@local.query_cache_type='DEMAND'", "query_cache_type DEMAND"),
            ("SET `query_cache_type` = DEFAULT", "query_cache_type default"),
            ("SET query_cache_type = @x", "query_cache_type ?"),
            ("SET GLOBAL query_cache_size = 1024", "Global query_cache_size 1024"),
            (
                "SET GLOBAL query_cache_type = 1, query_cache_size = 0",
                "Global query_cache_type 1, Global query_cache_size 0",
            ),
            ("SET PERSIST query_cache_size = 1", "Persist query_cache_size 1"),
            ("SET query_cache_type = 0, sql_mode = ''", "query_cache_type 0 | SET @@session.sql_mode = ''"),
            (
                "SET NAMES utf8mb4, query_cache_type = 0, @a = 1",
                "query_cache_type 0 | SET NAMES 'utf8mb4', @`a` = 1",
            ),
            ("SET query_cache_type = 0, @a = RAND()", "entangled"),
            ("SET query_cache_type = 0, @a = f()", "entangled"),
            ("SET query_cache_type = 0; SELECT 1", "entangled"),
            ("SELECT 1; SET @@session.query_cache_type = 0", "entangled"),
            ("SET @a = 'query_cache_type = 0', @b = f()", "-"),
            ("SET @a = f(@@query_cache_type)", "-"),
            ("SET @a = @@query_cache_type", "-"),
            ("SELECT 1; UPDATE t SET query_cache_type = 0", "-"),
            ("SET STATEMENT query_cache_type = 0 FOR SELECT 1", "-"),
            ("SET query_cache_limit = 5", "-"),
            ("SET NAMES utf8", "-"),
            ("SELECT query_cache_type = 0", "-"),
        ] {
            assert_eq!(shown(query), expected, "{query}");
        }
    }
}
