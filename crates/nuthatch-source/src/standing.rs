//! Whether a server changes by the writes that it acknowledges only, or also by those of others.

use nuthatch_sql::ServerFlavor;

use crate::PictureError;
use crate::question::{NamedRow, Question, Row, Server};

const GALERA: Question =
    Question { what: "Galera's state", sql: "SHOW GLOBAL STATUS LIKE 'wsrep_cluster_size'" };
/// Filled without performance_schema too (measured on 9.7).
const GROUP: Question = Question {
    what: "members of the replication group",
    sql: "SELECT COUNT(*) FROM performance_schema.replication_group_members",
};

/// Why answers of a server are not stored: others' writes reach it too, or its sessions are not what they seem to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotASource {
    /// It replicates from another server, or is set up to.
    Replica,
    /// It is one of several members of a Galera cluster or of a replication group.
    Cluster,
    /// InnoDB takes no writes there, so that what changes its tables comes from elsewhere: a reader of Amazon Aurora.
    ReadOnlyStorage,
    /// Its sessions begin with `sql_auto_is_null`: what they are answered follows their last insert id.
    AutoIsNull,
    /// Its `init_connect` gives sessions an isolation, SQL mode or `sql_auto_is_null` that its other variables do not tell.
    InitConnect,
    /// Its sessions begin with ANSI_QUOTES, of which a MySQL never tells.
    AnsiQuotes,
}

/// What the server says of those that it replicates from.
///
/// # Errors
/// When it cannot be asked.
pub(crate) async fn replica_status(
    server: &mut impl Server,
    flavor: ServerFlavor,
) -> Result<Vec<NamedRow>, PictureError> {
    server.ask_named(Question { what: "replication", sql: flavor.replica_status() }).await
}

/// Whether the server is alone, or others of its kind take writes too.
///
/// # Errors
/// When it cannot be asked.
pub(crate) async fn standing(
    server: &mut impl Server,
    flavor: ServerFlavor,
) -> Result<Result<(), NotASource>, PictureError> {
    if last_number(&server.ask(GALERA).await?) > 1 {
        return Ok(Err(NotASource::Cluster));
    }
    if let ServerFlavor::MySql(_) = flavor
        && last_number(&server.ask(GROUP).await?) > 1
    {
        return Ok(Err(NotASource::Cluster));
    }
    Ok(Ok(()))
}

/// The number at the end of the first row; 0 without a row.
fn last_number(rows: &[Row]) -> u64 {
    let last = rows.first().and_then(|row| row.last());
    // What is no number is not known to be small.
    last.map_or(0, |text| {
        std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).unwrap_or(u64::MAX)
    })
}
