//! Orders to the cache: `FLUSH QUERY CACHE`, `RESET QUERY CACHE`, `PURGE QUERY CACHE`, all of it or a part.

use super::show::string;
use crate::classify::cursor::Cursor;
use crate::temporary::{TableName, table};
use crate::token::{Lexing, TokenKind};

/// What is to be done with the cache's entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CacheOrder {
    /// `FLUSH QUERY CACHE`: they stay; a server puts its memory in order.
    Flush,
    /// `RESET QUERY CACHE`, `PURGE QUERY CACHE`: all are dropped.
    Empty,
    /// `PURGE QUERY CACHE` with more behind it: some are dropped.
    EmptyPart(CachePart),
    /// The same with something behind it that says nothing.
    Unclear,
}

/// Which entries an order is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CachePart {
    /// `DIGEST '0x…'`: those of statements of that digest.
    Digest(u64),
    /// `TABLE s.t`: those that depend on the table.
    Table(TableName),
    /// `SCHEMA s`: those of sessions in that schema.
    Schema(Vec<u8>),
    /// `USER 'u'`: those of that user.
    User(Vec<u8>),
    /// `RULE n`: those of statements that the rule has matched.
    Rule(u32),
}

/// The order that `query` is, if it is one. As one of several options of a FLUSH or RESET it is none.
#[must_use]
pub fn cache_order(query: &[u8], lexing: Lexing) -> Option<CacheOrder> {
    let mut cursor = Cursor::new(query, lexing);
    let (order, takes_more) = if cursor.take_word(b"FLUSH") {
        let _replication = cursor.take_word(b"LOCAL") || cursor.take_word(b"NO_WRITE_TO_BINLOG");
        (CacheOrder::Flush, false)
    } else if cursor.take_word(b"RESET") {
        (CacheOrder::Empty, false)
    } else if cursor.take_word(b"PURGE") {
        (CacheOrder::Empty, true)
    } else {
        return None;
    };
    if !cursor.take_words(&[b"QUERY", b"CACHE"]) {
        return None;
    }
    if cursor.ends_statement() {
        return Some(order);
    }
    let part = || part(&mut cursor, lexing).filter(|_| cursor.ends_statement());
    takes_more.then(part).map(|part| part.map_or(CacheOrder::Unclear, CacheOrder::EmptyPart))
}

fn part(cursor: &mut Cursor<'_>, lexing: Lexing) -> Option<CachePart> {
    Some(match () {
        () if cursor.take_word(b"DIGEST") => CachePart::Digest(digest(&string(cursor, lexing)?)?),
        () if cursor.take_word(b"TABLE") => CachePart::Table(table(cursor)?),
        () if cursor.take_word(b"SCHEMA") => CachePart::Schema(name_or_string(cursor, lexing)?),
        () if cursor.take_word(b"USER") => CachePart::User(name_or_string(cursor, lexing)?),
        () if cursor.take_word(b"RULE") => {
            let number = cursor.bump().filter(|token| token.kind == TokenKind::Number)?;
            CachePart::Rule(std::str::from_utf8(number.text).ok()?.parse().ok()?)
        }
        () => return None,
    })
}

/// As the statistics show it: `0x` and 16 digits.
fn digest(text: &[u8]) -> Option<u64> {
    let digits = std::str::from_utf8(text).ok()?.strip_prefix("0x")?;
    u64::from_str_radix(digits, 16).ok()
}

pub(super) fn name_or_string(cursor: &mut Cursor<'_>, lexing: Lexing) -> Option<Vec<u8>> {
    match cursor.peek()?.kind {
        TokenKind::String => string(cursor, lexing),
        _ => cursor.take_name(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::ServerFlavor;

    #[test]
    fn orders_are_told_from_all_else() {
        let lexing = Lexing::of(ServerFlavor::MySql(80_400));
        let part = |part| Some(CacheOrder::EmptyPart(part));
        let unclear = Some(CacheOrder::Unclear);
        let table = |schema: Option<&str>| {
            part(CachePart::Table(TableName { schema: schema.map(Into::into), name: "t".into() }))
        };
        for (query, expected) in [
            ("FLUSH QUERY CACHE", Some(CacheOrder::Flush)),
            ("/* x */ flush local query cache ; -- y", Some(CacheOrder::Flush)),
            ("FLUSH NO_WRITE_TO_BINLOG QUERY CACHE", Some(CacheOrder::Flush)),
            ("RESET QUERY CACHE;", Some(CacheOrder::Empty)),
            ("PURGE QUERY CACHE", Some(CacheOrder::Empty)),
            ("PURGE QUERY CACHE DIGEST '0x1'", part(CachePart::Digest(1))),
            ("PURGE QUERY CACHE DIGEST '0xFFFFFFFFFFFFFFFF'", part(CachePart::Digest(u64::MAX))),
            ("PURGE QUERY CACHE DIGEST 'x'", unclear.clone()),
            ("PURGE QUERY CACHE DIGEST '0x10000000000000000'", unclear.clone()),
            ("PURGE QUERY CACHE TABLE s.t", table(Some("s"))),
            ("purge query cache table `t`;", table(None)),
            ("PURGE QUERY CACHE SCHEMA 's'", part(CachePart::Schema(b"s".to_vec()))),
            ("PURGE QUERY CACHE SCHEMA `a b`", part(CachePart::Schema(b"a b".to_vec()))),
            ("PURGE QUERY CACHE USER 'it''s'", part(CachePart::User(b"it's".to_vec()))),
            ("PURGE QUERY CACHE RULE 7", part(CachePart::Rule(7))),
            ("PURGE QUERY CACHE RULE 7 8", unclear.clone()),
            ("PURGE QUERY CACHE NOW", unclear),
            ("FLUSH QUERY CACHE, STATUS", None),
            ("FLUSH STATUS", None),
            ("FLUSH PURGE QUERY CACHE", None),
            ("RESET MASTER", None),
            ("RESET QUERY CACHE, MASTER", None),
            ("PURGE BINARY LOGS TO 'x'", None),
            ("RESET QUERY CACHE; SELECT 1", None),
            ("QUERY CACHE", None),
            ("SELECT 1", None),
        ] {
            assert_eq!(cache_order(query.as_bytes(), lexing), expected, "{query}");
        }
    }
}
