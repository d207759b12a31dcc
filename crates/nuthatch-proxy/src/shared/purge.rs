//! `PURGE QUERY CACHE` of a part.
//!
//! By table it moves the table's clocks, at once and whatever the number of entries; those that depended on it are never served again, and leave
//! when they are met or their room is needed. By anything else it walks over all entries and removes those that match.

use std::sync::Arc;

use nuthatch_cache::ClockList;
use nuthatch_sql::{CacheOrder, CachePart, TableName, cache_order};

use crate::exact::of_definition;
use crate::shared::Shared;
use crate::stats::DigestCounters;

/// What a purge did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purged {
    /// So many entries were removed.
    Entries(u64),
    /// What depends on the table is not served any more.
    Clocks,
}

impl Purged {
    /// How many entries it removed.
    #[must_use]
    pub const fn entries(self) -> u64 {
        match self {
            Self::Entries(entries) => entries,
            Self::Clocks => 0,
        }
    }

    /// The same in words.
    #[must_use]
    pub fn told(self) -> String {
        match self {
            Self::Entries(entries) => format!("{entries} entries were purged"),
            Self::Clocks => {
                "the table's clocks were moved: no exact entry that depends on it is served any more"
                    .to_owned()
            }
        }
    }
}

/// Does what an operator's `PURGE QUERY CACHE DIGEST … | TABLE … | SCHEMA … | USER … | RULE …` says.
///
/// # Errors
/// A sentence: it is not of that form, or the table is not known.
pub(crate) fn purge_by_order(shared: &Shared, order: &[u8]) -> Result<Purged, String> {
    match cache_order(order, shared.greetings.lexing()) {
        Some(CacheOrder::EmptyPart(part)) => purge(shared, &part, b""),
        _ => Err(UNCLEAR.to_owned()),
    }
}

/// Purges a part; a table without a schema is that of `schema`.
pub(crate) fn purge(shared: &Shared, part: &CachePart, schema: &[u8]) -> Result<Purged, String> {
    let cache = &shared.answers.cache;
    let entries = match part {
        CachePart::Table(table) => return purge_table(shared, table, schema),
        CachePart::Digest(digest) => {
            let is_of_it = |counters: &Arc<DigestCounters>| counters.digest() == *digest;
            cache.purge_if(|entry| entry.plan().counters().is_some_and(is_of_it))
        }
        CachePart::Schema(schema) => cache.purge_if(|entry| entry.schema() == schema),
        CachePart::User(user) => cache.purge_if(|entry| entry.user() == user),
        CachePart::Rule(rule_id) => cache.purge_if(|entry| entry.plan().has_rule(*rule_id)),
    };
    Ok(Purged::Entries(entries))
}

fn purge_table(shared: &Shared, table: &TableName, schema: &[u8]) -> Result<Purged, String> {
    let schema = table.schema.as_deref().unwrap_or(schema);
    let catalogues = shared.exact.catalogues.current();
    let known = catalogues.domains().find_map(|domain| domain.catalogue.table(schema, &table.name));
    let known = known.ok_or("the table is not known, so no exact entry depends on it")?;
    let clocks = &shared.exact.clocks;
    clocks.raise(of_definition(clocks, known.id).collect::<ClockList>()).settle();
    Ok(Purged::Clocks)
}

/// What is said of a part that is none.
pub(crate) const UNCLEAR: &str = "PURGE QUERY CACHE is followed by nothing, DIGEST '0x…', TABLE schema.table, SCHEMA name, USER 'name' or RULE number";
