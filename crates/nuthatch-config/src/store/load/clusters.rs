//! `mysql_replication_hostgroups`, `mysql_group_replication_hostgroups` and `mysql_galera_hostgroups` into [`Clusters`].

use std::collections::HashMap;

use rusqlite::Connection;

use super::rows::{read_rows, table};
use super::{StoreError, Warnings};
use crate::clusters::{Cluster, ClusterKind, Clusters, ReplicationPair, UnknownCheckType, WritersRead};
use crate::server::HostgroupId;
use crate::store::row::{ColumnFault, RowReader, fault};

/// Rows of which none names a hostgroup that another one does.
pub(super) fn read(connection: &Connection, warnings: &mut Warnings) -> Result<Clusters, StoreError> {
    let order = "writer_hostgroup";
    let pairs_table = table("mysql_replication_hostgroups");
    let pairs = read_rows(connection, pairs_table, order, pair_name, pair, warnings)?;
    let mut clusters = Vec::new();
    for (name, kind) in [
        ("mysql_group_replication_hostgroups", ClusterKind::GroupReplication),
        ("mysql_galera_hostgroups", ClusterKind::Galera),
    ] {
        let named = |row: &RowReader<'_>| format!("{name}, writer_hostgroup {}", number(row));
        let read = |row: &RowReader<'_>| Ok((row.flag("active")?, cluster(row, kind)?));
        let rows = read_rows(connection, table(name), order, named, read, warnings)?;
        clusters.extend(rows.into_iter().filter(|(is_active, _)| *is_active).map(|(_, cluster)| cluster));
    }
    let mut clusters = Clusters { pairs, clusters };
    drop_those_that_overlap(&mut clusters, warnings);
    Ok(clusters)
}

fn number(row: &RowReader<'_>) -> String {
    row.text("writer_hostgroup").unwrap_or_default()
}

fn pair_name(row: &RowReader<'_>) -> String {
    format!("mysql_replication_hostgroups, writer_hostgroup {}", number(row))
}

fn hostgroup(row: &RowReader<'_>, column: &'static str) -> Result<HostgroupId, ColumnFault> {
    row.number(column).map(HostgroupId)
}

fn pair(row: &RowReader<'_>) -> Result<ReplicationPair, ColumnFault> {
    Ok(ReplicationPair {
        writer: hostgroup(row, "writer_hostgroup")?,
        reader: hostgroup(row, "reader_hostgroup")?,
        check: row
            .text("check_type")?
            .parse()
            .map_err(|unknown: UnknownCheckType| fault("check_type", &unknown.to_string()))?,
        comment: row.text("comment")?,
    })
}

fn cluster(row: &RowReader<'_>, kind: ClusterKind) -> Result<Cluster, ColumnFault> {
    Ok(Cluster {
        kind,
        writer: hostgroup(row, "writer_hostgroup")?,
        backup_writer: hostgroup(row, "backup_writer_hostgroup")?,
        reader: hostgroup(row, "reader_hostgroup")?,
        offline: hostgroup(row, "offline_hostgroup")?,
        writers_max: row.number("max_writers")?,
        writers_read: match row.number::<u8>("writer_is_also_reader")? {
            0 => WritersRead::Never,
            1 => WritersRead::Always,
            _ => WritersRead::Backups,
        },
        behind_max: row.number("max_transactions_behind")?,
    })
}

/// A hostgroup of two rows would be arranged twice: the first of them has it.
fn drop_those_that_overlap(clusters: &mut Clusters, warnings: &mut Warnings) {
    let mut taken: HashMap<HostgroupId, HostgroupId> = HashMap::new();
    let mut is_free = |writer: HostgroupId, hostgroups: &[HostgroupId]| {
        if let Some((known, by)) = hostgroups.iter().find_map(|id| Some((id, taken.get(id)?))) {
            warnings.push(format!(
                "the row with writer_hostgroup {writer} does not act: hostgroup {known} belongs to the row with \
                 writer_hostgroup {by}"
            ));
            return false;
        }
        taken.extend(hostgroups.iter().map(|id| (*id, writer)));
        true
    };
    clusters.pairs.retain(|pair| is_free(pair.writer, &[pair.writer, pair.reader]));
    clusters.clusters.retain(|cluster| is_free(cluster.writer, &cluster.hostgroups()));
}
