//! The rows of `stats_query_cache_tables`.

use std::collections::BTreeMap;

use crate::exact::Exact;

/// A row of `stats_query_cache_tables`, by the table's folded names.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the columns of the table under their names")]
pub struct CachedTableRow {
    pub schema: Vec<u8>,
    pub table: Vec<u8>,
    pub reads: u64,
    pub writes: u64,
    pub invalidations: u64,
    /// Why its results are not cached.
    pub unsuitable: Option<String>,
}

/// The rows of `stats_query_cache_tables`: all tables that are known, those of several hostgroups once.
pub(super) fn cached_tables(exact: &Exact) -> Vec<CachedTableRow> {
    let catalogues = exact.catalogues.current();
    let mut rows = BTreeMap::new();
    for (schema, name, table) in catalogues.domains().flat_map(|domain| domain.catalogue.tables()) {
        rows.entry((schema, name)).or_insert_with(|| {
            let figures = exact.table_counters.read(table.id);
            CachedTableRow {
                schema: schema.to_vec(),
                table: name.to_vec(),
                reads: figures.reads,
                writes: figures.writes,
                invalidations: figures.invalidations,
                unsuitable: table.unsuitable.map(|why| why.to_string()),
            }
        });
    }
    rows.into_values().collect()
}
