//! Where servers stand by what they are: who takes writes stands in the writer hostgroup of its cluster, who does not in the reader one.
//!
//! The configuration says where servers stand as long as nothing is known of them; what the monitor has found ([`Findings`]) moves them from
//! there. A placement is made anew from both each time, so it does not depend on how things came about, but for one thing that a
//! [`Placer`] remembers: who was writer. By that, of two servers that both take writes, the one that was writer stays.
//!
//! Pure: it asks no server, and reads no clock.

mod finding;
mod members;
mod pairs;
mod rows;

use std::collections::{BTreeMap, HashSet};

pub use self::finding::{Access, AccessFinding, Finding, Findings, Member};
use self::rows::Rows;
use crate::server::{HostgroupId, Hostgroups, ServerName};
use crate::snapshot::Snapshot;

/// What a server is in its cluster.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Role {
    /// It takes the cluster's writes.
    Writer,
    /// It could, and others do.
    BackupWriter,
    /// It can only be read.
    Reader,
    /// It takes writes and may not: another server of its pair does.
    KeptOut,
    /// It is of no use to its cluster now.
    Offline,
    /// Nothing is known of it: it stands where the configuration has it.
    Unknown,
}

impl Role {
    /// Its word in tables and in the log.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Writer => "writer",
            Self::BackupWriter => "backup writer",
            Self::Reader => "reader",
            Self::KeptOut => "kept out",
            Self::Offline => "offline",
            Self::Unknown => "unknown",
        }
    }
}

/// What a server is in a cluster, and by what.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Placed {
    /// Who.
    pub server: ServerName,
    /// Of which cluster.
    pub writer_hostgroup: HostgroupId,
    /// What it is.
    pub role: Role,
    /// A clause for operators behind "because".
    pub why: String,
}

/// Where all servers stand.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Placement {
    /// Each in its hostgroups, those outside of clusters too.
    pub hostgroups: Hostgroups,
    /// What each server of a cluster is.
    pub placed: Vec<Placed>,
}

/// Places servers, and remembers who was writer.
#[derive(Debug, Default)]
pub struct Placer {
    /// By the writer hostgroup.
    writers: BTreeMap<HostgroupId, Vec<ServerName>>,
    /// Were writers, and have not been seen read-only since.
    deposed: HashSet<(HostgroupId, ServerName)>,
    /// Nothing is sent to these, whatever they are found to be, and why.
    fenced: BTreeMap<(HostgroupId, ServerName), String>,
}

impl Placer {
    /// Places all servers of the configuration by what was found. Without a monitor they stand where the operator has them, and nothing is
    /// remembered.
    pub fn place(&mut self, configured: &Snapshot, findings: &Findings) -> Placement {
        if !configured.mysql.monitor_enabled {
            *self = Self::default();
            return Placement { hostgroups: configured.hostgroups.clone(), placed: Vec::new() };
        }
        let mut rows = Rows::of(&configured.hostgroups);
        let mut placed = Vec::new();
        for pair in &configured.clusters.pairs {
            placed.extend(self.place_pair(pair, &configured.mysql, findings, &mut rows));
        }
        for cluster in &configured.clusters.clusters {
            placed.extend(self.place_members(cluster, &configured.mysql, findings, &mut rows));
        }
        let is_known = |hostgroup: &HostgroupId| {
            configured.clusters.pairs.iter().any(|pair| pair.writer == *hostgroup)
                || configured.clusters.clusters.iter().any(|cluster| cluster.writer == *hostgroup)
        };
        self.writers.retain(|hostgroup, _| is_known(hostgroup));
        self.deposed.retain(|(hostgroup, _)| is_known(hostgroup));
        self.fenced.retain(|(hostgroup, _), _| is_known(hostgroup));
        Placement { hostgroups: rows.into_hostgroups(), placed }
    }

    /// Nothing is sent to that server any more in the pair of that writer hostgroup, whatever it is found to be: somebody is about to put
    /// another one in its place. `why` is a clause for operators behind "because".
    pub fn fence(&mut self, hostgroup: HostgroupId, server: &ServerName, why: &str) {
        self.fenced.insert((hostgroup, server.clone()), why.to_owned());
    }

    /// It stands again where it belongs by what it is found to be.
    pub fn readmit(&mut self, hostgroup: HostgroupId, server: &ServerName) {
        let key = (hostgroup, server.clone());
        self.fenced.remove(&key);
        self.deposed.remove(&key);
    }

    /// That server wrote in that cluster last, as is remembered from another run: it counts as if it had been placed there, unless
    /// somebody has been since.
    pub fn remember_writer(&mut self, hostgroup: HostgroupId, server: ServerName) {
        self.writers.entry(hostgroup).or_insert_with(|| vec![server]);
    }

    /// Who is the one writer of each cluster, or was when it last had one.
    pub fn sole_writers(&self) -> BTreeMap<HostgroupId, ServerName> {
        let sole = |(hostgroup, writers): (&HostgroupId, &Vec<ServerName>)| match &writers[..] {
            [one] => Some((*hostgroup, one.clone())),
            _ => None,
        };
        self.writers.iter().filter_map(sole).collect()
    }

    /// Who wrote in that cluster last, there or not.
    pub fn last_writer(&self, hostgroup: HostgroupId) -> Option<&ServerName> {
        self.writers(hostgroup).first()
    }

    /// Who wrote in that cluster when its servers were placed last.
    fn writers(&self, hostgroup: HostgroupId) -> &[ServerName] {
        self.writers.get(&hostgroup).map_or(&[], Vec::as_slice)
    }

    fn was_writer(&self, hostgroup: HostgroupId, server: &ServerName) -> bool {
        self.writers(hostgroup).contains(server)
    }
}

#[cfg(test)]
mod tests;
