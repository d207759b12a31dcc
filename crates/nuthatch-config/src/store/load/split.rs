//! What `mysql-read_write_split` does not reach.

use super::Warnings;
use crate::snapshot::Snapshot;

/// Warns of clusters whose reads all go to who writes, whatever the variable says.
pub(super) fn warn(next: &Snapshot, warnings: &mut Warnings) {
    if next.mysql.read_write_split != 1 {
        return;
    }
    for cluster in &next.clusters.clusters {
        warnings.push(format!(
            "mysql-read_write_split acts for mysql_replication_hostgroups only: reads of hostgroup {} ({}) are not split",
            cluster.writer,
            cluster.kind.as_str()
        ));
    }
}
