//! What a statement says to the cache itself.

use nuthatch_sql::{
    CacheOrder, CacheQuestion, CacheSettings, Kind, Lexing, cache_order, cache_question, cache_settings,
};

use crate::session::statement::names;

/// What a statement says to the cache itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SaidToCache {
    Order(CacheOrder),
    Settings(CacheSettings),
    /// What it would do with this statement; none of the session's own if it is to be for somebody else.
    Question(Option<Box<[u8]>>),
}

/// What a statement of that kind says to the cache, if it does.
pub(crate) fn said_to_cache(kind: Kind, text: &[u8], lexing: Lexing) -> Option<SaidToCache> {
    match kind {
        Kind::Flush | Kind::Other => cache_order(text, lexing).map(SaidToCache::Order),
        Kind::Set | Kind::Multi if names(text, b"query_cache_") => {
            cache_settings(text, lexing).map(SaidToCache::Settings)
        }
        Kind::Explain if names(text, b"cache") => {
            let CacheQuestion { user, schema, statement } = cache_question(text, lexing)?;
            let is_own = user.is_none() && schema.is_none();
            Some(SaidToCache::Question(is_own.then(|| statement.into())))
        }
        _ => None,
    }
}
