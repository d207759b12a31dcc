//! What `mysql-failover` takes: accounts; and, to act by itself, three servers of a pair: two have no majority when one of them is gone.

use std::collections::HashSet;

use rusqlite::Connection;

use super::{StoreError, Warnings, variables};
use crate::clusters::ReplicationPair;
use crate::snapshot::Snapshot;

/// How many servers a pair must have, the one that may fail included.
const SERVERS_MIN: usize = 3;

/// Puts the variable back to what it was where no pair has enough servers.
pub(super) fn refuse(
    connection: &Connection,
    next: &mut Snapshot,
    before: &str,
    warnings: &mut Warnings,
) -> Result<(), StoreError> {
    let pairs = &next.clusters.pairs;
    let is_refused = next.mysql.failover == "auto"
        && before != "auto"
        && !pairs.is_empty()
        && pairs.iter().all(|pair| servers(next, pair) < SERVERS_MIN);
    if is_refused {
        variables::set_one(connection, &mut next.mysql, "failover", before)?;
        warnings.push(format!(
            "variable \"mysql-failover\" keeps its old value: auto is refused, since no replication pair has {SERVERS_MIN} \
             servers, and with fewer there is no majority when one is gone"
        ));
    }
    Ok(())
}

/// Warns of pairs for which it does not act.
pub(super) fn warn(next: &Snapshot, warnings: &mut Warnings) {
    let mysql = &next.mysql;
    if mysql.failover != "off"
        && (mysql.failover_username.is_empty() || mysql.replication_username.is_empty())
    {
        warnings.push(format!(
            "mysql-failover = {} takes two accounts: set mysql-failover_username and mysql-replication_username, with their \
             passwords",
            mysql.failover
        ));
    }
    if mysql.failover != "auto" {
        return;
    }
    for pair in &next.clusters.pairs {
        let servers = servers(next, pair);
        if servers < SERVERS_MIN {
            warnings.push(format!(
                "mysql-failover = auto does not act for the pair with writer_hostgroup {}: it has {servers} servers, and a \
                 majority takes {SERVERS_MIN}",
                pair.writer
            ));
        }
    }
}

/// All that are configured, whatever their status.
fn servers(next: &Snapshot, pair: &ReplicationPair) -> usize {
    let rows = [pair.writer, pair.reader].into_iter().flat_map(|id| next.hostgroups.servers(id));
    rows.map(|row| row.name()).collect::<HashSet<_>>().len()
}
