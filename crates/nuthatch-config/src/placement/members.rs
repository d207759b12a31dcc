//! Group replication and Galera: the members agree among themselves who can write, and the proxy chooses how many do.
//!
//! Of those that can write the heaviest do; of equal ones who does stays.

use std::cmp::Reverse;

use super::finding::{Findings, Member};
use super::rows::Rows;
use super::{Placed, Placer, Role};
use crate::clusters::{Cluster, ClusterKind, WritersRead};
use crate::server::{HostgroupId, ServerName, ServerStatus};
use crate::variables::MysqlVariables;

/// What a member is found to be, as far as it matters for its place.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Standing {
    Unknown,
    Unusable(String),
    ReadOnly,
    CanWrite,
    /// It is too far behind.
    Behind {
        why: String,
        is_read_only: bool,
    },
}

impl Standing {
    fn of(found: Option<&Member>, kind: ClusterKind, variables: &MysqlVariables) -> Self {
        let counts = |is_read_only: bool| match (kind, is_read_only) {
            (ClusterKind::Galera, _) => true,
            // 0: writers, 1: readers, 2: both.
            (ClusterKind::GroupReplication, true) => {
                variables.monitor_groupreplication_max_transactions_behind_for_read_only > 0
            }
            (ClusterKind::GroupReplication, false) => {
                variables.monitor_groupreplication_max_transactions_behind_for_read_only != 1
            }
        };
        match found {
            None => Self::Unknown,
            Some(Member::Unusable { why }) => Self::Unusable(why.clone()),
            Some(Member::Usable { is_read_only, behind: Some(why) }) if counts(*is_read_only) => {
                Self::Behind { why: why.clone(), is_read_only: *is_read_only }
            }
            Some(Member::Usable { is_read_only: true, .. }) => Self::ReadOnly,
            Some(Member::Usable { is_read_only: false, .. }) => Self::CanWrite,
        }
    }
}

impl Placer {
    pub(super) fn place_members(
        &mut self,
        cluster: &Cluster,
        variables: &MysqlVariables,
        findings: &Findings,
        rows: &mut Rows,
    ) -> Vec<Placed> {
        let standing = |name: &ServerName| {
            let found = findings.get(name).and_then(|finding| finding.member.as_ref());
            Standing::of(found, cluster.kind, variables)
        };
        let members: Vec<_> =
            rows.servers_in(&cluster.hostgroups()).into_iter().map(|name| (standing(&name), name)).collect();
        let writers = self.choose_writers(cluster, &members, rows);
        let mut placed = Vec::new();
        for (standing, server) in members {
            let (role, why) = role(&standing, writers.contains(&server), cluster);
            if let Some(places) = places(role, cluster) {
                rows.stand(&server, &cluster.hostgroups(), &places);
            }
            if matches!(standing, Standing::Behind { .. }) && role != Role::Writer {
                rows.set_status(&server, &cluster.hostgroups(), ServerStatus::Shunned);
            }
            placed.push(Placed { server, writer_hostgroup: cluster.writer, role, why });
        }
        self.writers.insert(cluster.writer, writers);
        placed
    }

    fn choose_writers(
        &self,
        cluster: &Cluster,
        members: &[(Standing, ServerName)],
        rows: &Rows,
    ) -> Vec<ServerName> {
        let hostgroups = cluster.hostgroups();
        let weight = |name: &ServerName| {
            let mut known = hostgroups.iter().filter_map(|hostgroup| rows.row(*hostgroup, name));
            known.next().map(|row| row.weight)
        };
        let are = |is_it: &dyn Fn(&Standing, &ServerName) -> bool| -> Vec<ServerName> {
            let some =
                members.iter().filter(|(standing, name)| is_it(standing, name)).map(|(_, name)| name.clone());
            some.filter(|name| rows.is_online(&hostgroups, name)).collect()
        };
        let mut able = are(&|standing, _| *standing == Standing::CanWrite);
        if able.is_empty() {
            // Rather one that is behind than none.
            able = are(&|standing, name| {
                matches!(standing, Standing::Behind { is_read_only: false, .. })
                    && self.was_writer(cluster.writer, name)
            });
        }
        able.sort_by_key(|name| {
            (Reverse(weight(name)), !self.was_writer(cluster.writer, name), name.clone())
        });
        able.truncate(usize::try_from(cluster.writers_max).unwrap_or(usize::MAX));
        able
    }
}

fn role(standing: &Standing, is_writer: bool, cluster: &Cluster) -> (Role, String) {
    let could = || {
        let (max, kind) = (cluster.writers_max, cluster.kind.as_str());
        format!("it can write, and max_writers of its {kind} is {max}")
    };
    match standing {
        Standing::Unknown => (Role::Unknown, "no look at it has told anything yet".to_owned()),
        Standing::Unusable(why) => (Role::Offline, why.clone()),
        Standing::Behind { why, .. } if is_writer => {
            (Role::Writer, format!("{why}, and nobody else can write"))
        }
        Standing::Behind { why, is_read_only: true } => (Role::Reader, why.clone()),
        Standing::Behind { why, is_read_only: false } => (Role::BackupWriter, why.clone()),
        Standing::ReadOnly => (Role::Reader, "read_only is on".to_owned()),
        Standing::CanWrite if is_writer => (Role::Writer, "it can write".to_owned()),
        Standing::CanWrite => (Role::BackupWriter, could()),
    }
}

/// In which hostgroups a server of that role stands; none where the configuration says.
fn places(role: Role, cluster: &Cluster) -> Option<Vec<HostgroupId>> {
    let Cluster { writer, backup_writer, reader, offline, writers_read, .. } = *cluster;
    Some(match (role, writers_read) {
        (Role::Writer, WritersRead::Always) => vec![writer, reader],
        (Role::Writer, _) => vec![writer],
        (Role::BackupWriter, WritersRead::Never) => vec![backup_writer],
        (Role::BackupWriter, _) => vec![backup_writer, reader],
        (Role::Reader, _) => vec![reader],
        (Role::Offline | Role::KeptOut, _) => vec![offline],
        (Role::Unknown, _) => return None,
    })
}
