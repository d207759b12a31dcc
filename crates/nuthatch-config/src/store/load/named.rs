//! Hostgroups that the configuration names: those of whole clusters, into which servers may come; and who is sent to one without a server.

use std::collections::HashSet;

use rusqlite::Connection;

use super::{StoreError, Warnings};
use crate::{server::HostgroupId, snapshot::Snapshot, verb::Module};

/// The hostgroups of all `mysql_*_hostgroups` rows in force.
pub(super) fn read(connection: &Connection) -> Result<HashSet<HostgroupId>, StoreError> {
    let mut named = HashSet::new();
    let clusters = Module::MysqlServers.definitions().filter(|table| table.name.ends_with("_hostgroups"));
    for table in clusters.filter(|table| table.has_twin) {
        let columns = table.columns.iter().filter(|column| column.name.ends_with("_hostgroup"));
        for column in columns {
            let sql = format!("SELECT {} FROM main.{}", column.name, table.twin());
            let mut select = connection.prepare(&sql)?;
            for id in select.query_map([], |row| row.get::<_, u32>(0))? {
                named.insert(HostgroupId(id?));
            }
        }
    }
    Ok(named)
}

/// Warns of users and rules that send statements where no server can be. What was loaded just now is looked at, and all of it after a
/// LOAD of servers; without any server nothing is told, since they may be loaded next.
pub(super) fn warn_of_empty(next: &Snapshot, module: Module, warnings: &mut Warnings) {
    let is_empty =
        |id: HostgroupId| next.hostgroups.servers(id).is_empty() && !next.named_hostgroups.contains(&id);
    let looks_at = |loaded| module == loaded || module == Module::MysqlServers;
    if next.hostgroups.iter().next().is_none() {
        return;
    }
    if looks_at(Module::MysqlUsers) {
        for user in next.users.iter().filter(|user| is_empty(user.default_hostgroup)) {
            warnings.push(format!(
                "user '{}': no server stands in its default_hostgroup {}",
                user.name, user.default_hostgroup.0
            ));
        }
    }
    if looks_at(Module::MysqlQueryRules) {
        for rule in next.rules.iter() {
            if let Some(hostgroup) = rule.destination_hostgroup.filter(|id| is_empty(*id)) {
                warnings.push(format!(
                    "rule {}: no server stands in its destination_hostgroup {}",
                    rule.rule_id, hostgroup.0
                ));
            }
        }
    }
}
