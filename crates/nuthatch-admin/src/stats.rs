//! The `stats` and `monitor` schemas: tables whose rows come from the running process.
//!
//! A table is emptied and filled anew each time a statement mentions it, so that its rows are of that moment. Naming a
//! table that ends in `_reset` takes the counters away from the data plane as a whole, whatever rows the statement then
//! returns. The tables are real SQLite tables, so they join with the configuration. Clients cannot write to them.

pub mod monitor_rows;
pub mod rows;

mod table;

use rusqlite::Connection;

use crate::data_plane::{DataPlane, Reading};
use monitor_rows::{
    ConnectLogRow, GaleraLogRow, GroupReplicationLogRow, PingLogRow, ReadOnlyLogRow, ReplicationLagLogRow,
};
use rows::{
    CommandCountersRow, ConnectionPoolRow, ErrorRow, GlobalRow, LineRow, LostTransactionsRow, MemoryRow,
    ProcessRow, QueryCacheAdviceRow, QueryCacheEntryRow, QueryCacheFollowRow, QueryCacheRow,
    QueryCacheTableRow, QueryDigestRow, QueryRuleRow, RoleChangeRow, ServerRow, UserRow,
};
pub(crate) use table::SCHEMA;
use table::StatsTable;

/// All schemas that they are in. A name is that of one table only.
pub(crate) const SCHEMAS: &[&str] = &[SCHEMA, "monitor"];

const RESET_SUFFIX: &str = "_reset";

/// One kind of rows: a table, and its `_reset` twin where there is one.
struct Source {
    table: &'static str,
    twin: Twin,
    create: fn(&Connection, &str) -> rusqlite::Result<()>,
    refill: fn(&Connection, &str, &dyn DataPlane, Reading) -> rusqlite::Result<()>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Twin {
    None,
    Reset,
}

impl Source {
    const fn of<T: StatsTable>(twin: Twin) -> Self {
        Self { table: T::TABLE, twin, create: table::create::<T>, refill: table::refill::<T> }
    }
}

static SOURCES: &[Source] = &[
    Source::of::<MemoryRow>(Twin::None),
    Source::of::<CommandCountersRow>(Twin::None),
    Source::of::<ConnectionPoolRow>(Twin::Reset),
    Source::of::<ErrorRow>(Twin::Reset),
    Source::of::<GlobalRow>(Twin::None),
    Source::of::<LineRow>(Twin::None),
    Source::of::<LostTransactionsRow>(Twin::None),
    Source::of::<ProcessRow>(Twin::None),
    Source::of::<QueryCacheRow>(Twin::Reset),
    Source::of::<QueryCacheTableRow>(Twin::None),
    Source::of::<QueryCacheEntryRow>(Twin::None),
    Source::of::<QueryCacheFollowRow>(Twin::None),
    Source::of::<QueryCacheAdviceRow>(Twin::None),
    Source::of::<QueryDigestRow>(Twin::Reset),
    Source::of::<QueryRuleRow>(Twin::None),
    Source::of::<RoleChangeRow>(Twin::None),
    Source::of::<UserRow>(Twin::None),
    Source::of::<ConnectLogRow>(Twin::None),
    Source::of::<PingLogRow>(Twin::None),
    Source::of::<ReplicationLagLogRow>(Twin::None),
    Source::of::<ReadOnlyLogRow>(Twin::None),
    Source::of::<GroupReplicationLogRow>(Twin::None),
    Source::of::<GaleraLogRow>(Twin::None),
    Source::of::<ServerRow>(Twin::None),
];

/// Creates the tables, empty, in the schemas that the layers have attached.
pub(crate) fn create(connection: &Connection) -> rusqlite::Result<()> {
    for source in SOURCES {
        (source.create)(connection, source.table)?;
        if source.twin == Twin::Reset {
            (source.create)(connection, &format!("{}{RESET_SUFFIX}", source.table))?;
        }
    }
    Ok(())
}

/// Fills the named table with the rows of this moment; a name that is none of these tables does nothing.
pub(crate) fn refill(connection: &Connection, table: &str, plane: &dyn DataPlane) -> rusqlite::Result<()> {
    for source in SOURCES {
        if table == source.table {
            return (source.refill)(connection, table, plane, Reading::Keep);
        }
        if source.twin == Twin::Reset && table.strip_suffix(RESET_SUFFIX) == Some(source.table) {
            return (source.refill)(connection, table, plane, Reading::Reset);
        }
    }
    Ok(())
}
