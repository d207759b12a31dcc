//! What a statement says of the query cache: the options SQL_CACHE and SQL_NO_CACHE, and comments such as
//! `/* nuthatch: cache, ttl=5000 */`.
//!
//! The options count in their place only: among those behind the first SELECT, of a statement that begins with it. A comment counts
//! wherever a comment may stand. What forbids goes before what asks, comments before SQL_CACHE, and of two comments the first.

use std::ops::Range;

use crate::classify::cursor::{Cursor, is_word};
use crate::token::{Lexing, ServerFlavor, Token, TokenKind, Tokens};

/// What a statement says of the cache.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CacheHint {
    /// Whether it wants to be cached.
    pub wish: CacheWish,
    /// For how long its answer may be served, in milliseconds, whatever is written meanwhile.
    pub ttl_ms: Option<u32>,
    /// Where the option SQL_CACHE stands.
    pub sql_cache: Option<Range<usize>>,
}

/// Whether a statement wants to be cached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CacheWish {
    /// It does not say.
    #[default]
    None,
    /// SQL_CACHE, `/* nuthatch: cache */`.
    Cache,
    /// SQL_NO_CACHE, `/* nuthatch: no_cache */`.
    NoCache,
}

/// From this version on MySQL does not know SQL_CACHE.
const MYSQL_WITHOUT_SQL_CACHE: u32 = 80_000;

/// What `query` says of the cache. Cost: a few tokens, and a search for comments.
#[must_use]
pub fn cache_hint(query: &[u8], lexing: Lexing) -> CacheHint {
    let mut hint = CacheHint::default();
    if query.windows(2).any(|pair| pair == b"/*") {
        comments(query, lexing).for_each(|comment| hint.read_comment(comment));
    }
    hint.read_options(query, lexing);
    hint
}

impl CacheHint {
    /// `query` without the SQL_CACHE that stands there, every other byte in its place; `None` if there is none, or `server` knows it.
    #[must_use]
    pub fn without_sql_cache(&self, query: &[u8], server: ServerFlavor) -> Option<Vec<u8>> {
        let place = self.sql_cache.clone()?;
        let is_unknown = matches!(server, ServerFlavor::MySql(version) if version >= MYSQL_WITHOUT_SQL_CACHE);
        let mut out = is_unknown.then(|| query.to_vec())?;
        out.get_mut(place)?.fill(b' ');
        Some(out)
    }

    /// Takes a comment's inside, if it is for us: keys behind `nuthatch:`, with commas between them. Unknown ones say nothing.
    fn read_comment(&mut self, comment: &[u8]) {
        let text = comment.trim_ascii();
        let Some((name, rest)) = text.split_at_checked(b"nuthatch".len()) else { return };
        let Some(keys) = rest.trim_ascii_start().strip_prefix(b":") else { return };
        if !name.eq_ignore_ascii_case(b"nuthatch") {
            return;
        }
        for key in keys.split(|byte| *byte == b',') {
            let (key, value) = match key.iter().position(|byte| *byte == b'=') {
                Some(place) => (key.get(..place), key.get(place + 1..)),
                None => (Some(key), None),
            };
            self.read_key(key.unwrap_or_default().trim_ascii(), value.map(<[u8]>::trim_ascii));
        }
    }

    fn read_key(&mut self, key: &[u8], value: Option<&[u8]>) {
        let wish = match value {
            None if key.eq_ignore_ascii_case(b"cache") => CacheWish::Cache,
            None if key.eq_ignore_ascii_case(b"no_cache") => CacheWish::NoCache,
            Some(value) if key.eq_ignore_ascii_case(b"ttl") => {
                let ttl_ms = || std::str::from_utf8(value).ok()?.parse().ok();
                self.ttl_ms = self.ttl_ms.or_else(ttl_ms);
                return;
            }
            _ => return,
        };
        if self.wish == CacheWish::None {
            self.wish = wish;
        }
    }

    fn read_options(&mut self, query: &[u8], lexing: Lexing) {
        let mut cursor = Cursor::new(query, lexing);
        while cursor.take_symbol(b'(') {}
        if !cursor.take_word(b"SELECT") {
            return;
        }
        while let Some(option) = take_option(&mut cursor) {
            if is_word(option, b"SQL_NO_CACHE") {
                self.wish = CacheWish::NoCache;
            } else if is_word(option, b"SQL_CACHE") && self.sql_cache.is_none() {
                self.sql_cache = Some(option.start..option.start + option.text.len());
            }
        }
        if self.sql_cache.is_some() && self.wish == CacheWish::None {
            self.wish = CacheWish::Cache;
        }
    }
}

/// The options of a SELECT.
const OPTIONS: [&[u8]; 11] = [
    b"ALL",
    b"DISTINCT",
    b"DISTINCTROW",
    b"HIGH_PRIORITY",
    b"STRAIGHT_JOIN",
    b"SQL_SMALL_RESULT",
    b"SQL_BIG_RESULT",
    b"SQL_BUFFER_RESULT",
    b"SQL_CALC_FOUND_ROWS",
    b"SQL_CACHE",
    b"SQL_NO_CACHE",
];

/// Takes an option that comes next. A word that no expression follows is the name of a column.
fn take_option<'q>(cursor: &mut Cursor<'q>) -> Option<Token<'q>> {
    let option = cursor.peek().filter(|token| OPTIONS.iter().any(|option| is_word(*token, option)))?;
    let mut ahead = cursor.clone();
    ahead.advance();
    let is_column = ahead.at_end()
        || [b',', b'.', b')', b'=', b'<', b'>'].iter().any(|symbol| ahead.peek_symbol(*symbol))
        || [&b"FROM"[..], b"AS"].iter().any(|word| ahead.peek_word(word));
    if is_column {
        return None;
    }
    *cursor = ahead;
    Some(option)
}

/// The insides of the comments `/* … */` that no server executes.
fn comments(query: &[u8], lexing: Lexing) -> impl Iterator<Item = &[u8]> {
    let comments = Tokens::new(query, lexing).filter(|token| token.kind == TokenKind::Comment);
    comments.filter_map(|comment| comment.text.strip_prefix(b"/*")?.strip_suffix(b"*/"))
}

#[cfg(test)]
mod tests;
