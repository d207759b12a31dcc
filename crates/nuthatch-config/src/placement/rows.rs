//! Rows of `mysql_servers` while servers are being placed.

use std::sync::Arc;

use crate::server::{HostgroupId, Hostgroups, Server, ServerName, ServerStatus};

/// See the module's doc. In the order of the table, what is added at the end.
pub(super) struct Rows(Vec<Server>);

impl Rows {
    pub(super) fn of(hostgroups: &Hostgroups) -> Self {
        Self(hostgroups.iter().flat_map(|(_, servers)| servers).map(|server| Server::clone(server)).collect())
    }

    pub(super) fn into_hostgroups(self) -> Hostgroups {
        Hostgroups::new(self.0)
    }

    /// Each server that stands in one of these hostgroups once, those of the first before those of the next.
    pub(super) fn servers_in(&self, hostgroups: &[HostgroupId]) -> Vec<ServerName> {
        let mut servers = Vec::new();
        for hostgroup in hostgroups {
            let names = self.0.iter().filter(|row| row.hostgroup == *hostgroup).map(Server::name);
            for name in names {
                if !servers.contains(&name) {
                    servers.push(name);
                }
            }
        }
        servers
    }

    pub(super) fn row(&self, hostgroup: HostgroupId, server: &ServerName) -> Option<&Server> {
        self.0.iter().find(|row| row.hostgroup == hostgroup && row.name() == *server)
    }

    /// Whether an operator lets it be used in one of these hostgroups.
    pub(super) fn is_online(&self, hostgroups: &[HostgroupId], server: &ServerName) -> bool {
        let rows = hostgroups.iter().filter_map(|hostgroup| self.row(*hostgroup, server));
        rows.into_iter().any(|row| row.status == ServerStatus::Online)
    }

    /// The server has a row in these hostgroups of its cluster and in no other of it; where there was none, it is that of another.
    pub(super) fn stand(&mut self, server: &ServerName, cluster: &[HostgroupId], wanted: &[HostgroupId]) {
        let Some(model) = cluster.iter().find_map(|hostgroup| self.row(*hostgroup, server)).cloned() else {
            return;
        };
        self.0.retain(|row| {
            row.name() != *server || !cluster.contains(&row.hostgroup) || wanted.contains(&row.hostgroup)
        });
        for hostgroup in wanted {
            if self.row(*hostgroup, server).is_none() {
                // Who is not read from may be needed to write.
                let weight =
                    if cluster.first() == Some(hostgroup) { model.weight.max(1) } else { model.weight };
                self.0.push(Server { hostgroup: *hostgroup, weight, ..model.clone() });
            }
        }
    }

    /// Nothing is sent to the server any more, in whatever hostgroup.
    pub(super) fn cut_off(&mut self, server: &ServerName) {
        for row in self.0.iter_mut().filter(|row| row.name() == *server) {
            row.status = ServerStatus::OfflineHard;
        }
    }

    /// The server's rows in these hostgroups get another status, unless an operator wants less of it.
    pub(super) fn set_status(
        &mut self,
        server: &ServerName,
        hostgroups: &[HostgroupId],
        status: ServerStatus,
    ) {
        let is_it = |row: &&mut Server| hostgroups.contains(&row.hostgroup) && row.name() == *server;
        for row in self.0.iter_mut().filter(is_it) {
            if row.status == ServerStatus::Online || status == ServerStatus::OfflineHard {
                row.status = status;
            }
        }
    }
}

impl Hostgroups {
    /// The server's row in that hostgroup.
    pub fn server(&self, hostgroup: HostgroupId, server: &ServerName) -> Option<&Arc<Server>> {
        self.servers(hostgroup).iter().find(|row| (&row.host, row.port) == (&server.host, server.port))
    }
}
