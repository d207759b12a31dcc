//! Hostgroups that belong together: who writes and who reads in them is found out, not configured.
//!
//! The rows of `mysql_replication_hostgroups`, `mysql_group_replication_hostgroups` and `mysql_galera_hostgroups`, typed. What is made of
//! them is [`crate::Placer`]'s.

use std::{fmt, str::FromStr};

use crate::server::HostgroupId;

/// By what a server of a replication pair is known to be a writer: ProxySQL's `check_type`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum CheckType {
    /// `read_only` is off.
    #[default]
    ReadOnly,
    /// `innodb_read_only` is off.
    InnodbReadOnly,
    /// `super_read_only` is off.
    SuperReadOnly,
    /// Both `read_only` and `innodb_read_only` are off.
    ReadOnlyOrInnodb,
    /// One of `read_only` and `innodb_read_only` is off.
    ReadOnlyAndInnodb,
}

impl CheckType {
    const ALL: [Self; 5] = [
        Self::ReadOnly,
        Self::InnodbReadOnly,
        Self::SuperReadOnly,
        Self::ReadOnlyOrInnodb,
        Self::ReadOnlyAndInnodb,
    ];

    /// ProxySQL's word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::InnodbReadOnly => "innodb_read_only",
            Self::SuperReadOnly => "super_read_only",
            Self::ReadOnlyOrInnodb => "read_only|innodb_read_only",
            Self::ReadOnlyAndInnodb => "read_only&innodb_read_only",
        }
    }

    /// Who is read-only, in words behind "a writer is whose".
    pub const fn variables(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::InnodbReadOnly => "innodb_read_only",
            Self::SuperReadOnly => "super_read_only",
            Self::ReadOnlyOrInnodb => "read_only or innodb_read_only",
            Self::ReadOnlyAndInnodb => "read_only and innodb_read_only",
        }
    }
}

impl fmt::Display for CheckType {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

/// The text is no type of check.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("is none of ProxySQL's types of checks")]
pub struct UnknownCheckType;

impl FromStr for CheckType {
    type Err = UnknownCheckType;

    fn from_str(text: &str) -> Result<Self, UnknownCheckType> {
        let is_it = |check: &Self| check.as_str().eq_ignore_ascii_case(text);
        Self::ALL.into_iter().find(is_it).ok_or(UnknownCheckType)
    }
}

/// A row of `mysql_replication_hostgroups`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReplicationPair {
    /// Who takes writes stands here.
    pub writer: HostgroupId,
    /// Who does not stands here.
    pub reader: HostgroupId,
    /// How that is found out.
    pub check: CheckType,
    /// Free text.
    pub comment: String,
}

/// What kind of cluster it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ClusterKind {
    /// MySQL's group replication.
    GroupReplication,
    /// Galera.
    Galera,
}

impl ClusterKind {
    /// Its name in words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::GroupReplication => "group replication",
            Self::Galera => "Galera",
        }
    }
}

/// An active row of `mysql_group_replication_hostgroups` or `mysql_galera_hostgroups`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cluster {
    /// Which of the two.
    pub kind: ClusterKind,
    /// Up to `writers_max` of those that can write.
    pub writer: HostgroupId,
    /// The others that can write.
    pub backup_writer: HostgroupId,
    /// Who can only be read.
    pub reader: HostgroupId,
    /// Who is of no use now.
    pub offline: HostgroupId,
    /// How many may stand in `writer`.
    pub writers_max: u64,
    /// Which of those that can write are read from too.
    pub writers_read: WritersRead,
    /// How far a member may be behind; 0 for no limit.
    pub behind_max: u64,
}

/// ProxySQL's `writer_is_also_reader`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum WritersRead {
    /// No writer is a reader.
    #[default]
    Never,
    /// All are.
    Always,
    /// Those in the backup writer hostgroup are.
    Backups,
}

/// All hostgroups that belong together.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Clusters {
    /// Pairs of asynchronous replication, by their writer hostgroups.
    pub pairs: Vec<ReplicationPair>,
    /// Clusters whose members agree with each other, by their writer hostgroups.
    pub clusters: Vec<Cluster>,
}

impl ReplicationPair {
    /// Whether the hostgroup is one of the two.
    pub fn has(&self, hostgroup: HostgroupId) -> bool {
        hostgroup == self.writer || hostgroup == self.reader
    }
}

impl Cluster {
    /// Its hostgroups, the writers' first.
    pub const fn hostgroups(&self) -> [HostgroupId; 4] {
        [self.writer, self.backup_writer, self.reader, self.offline]
    }

    /// Whether the hostgroup is one of its.
    pub fn has(&self, hostgroup: HostgroupId) -> bool {
        self.hostgroups().contains(&hostgroup)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_type_reads_and_writes_the_same_word() {
        for check in CheckType::ALL {
            assert_eq!(check.to_string().to_uppercase().parse(), Ok(check));
        }
        assert_eq!("read-only".parse::<CheckType>(), Err(UnknownCheckType));
    }
}
