//! Where MariaDB and MySQL differ, as one trait: options, accounts, replication.

use nuthatch_server::Password;

use crate::duty::{Duty, Login};

/// Whether what is run goes to the binlog, and so to other servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binlog {
    On,
    Off,
}

/// Columns of the replica's status that the lab reads.
pub(crate) struct ReplicaColumns {
    pub(crate) io_running: &'static str,
    pub(crate) sql_running: &'static str,
    pub(crate) lag: &'static str,
    pub(crate) received: &'static str,
    pub(crate) errors: [&'static str; 2],
}

/// What one kind of server wants to be told, and how.
pub(crate) trait Dialect {
    /// Option lines that only this kind knows.
    fn option_lines(&self, query_cache_mib: u32) -> Vec<String>;

    /// One account without privileges, made or mended.
    fn account(&self, user: &str, host: &str, password: &Password) -> String;
    /// What the duty needs: privileges, and on what.
    fn grants(&self, duty: Duty) -> &'static [(&'static str, &'static str)];
    /// Lets root write on a replica, until [`guard_replica`](Self::guard_replica).
    fn lift_read_only(&self) -> &'static str;
    /// Nobody but the replication writes on this server any more, as far as the server can hold that.
    fn guard_replica(&self) -> &'static str;
    /// Option lines that hold the same from the start on.
    fn replica_lines(&self) -> &'static [&'static str];
    /// Option lines of semi-synchronous replication, on each server, whoever writes.
    fn semi_sync_lines(&self) -> &'static [&'static str];
    /// Points a replica at the primary's port and starts it.
    fn follow(&self, primary_port: u16, login: &Login) -> String;
    /// Ends a replica's replication for good, and lets everybody write.
    fn promote(&self) -> &'static str;
    /// Ends writing, and has the server follow from what it has, wherever it has it from.
    fn demote(&self) -> &'static str;
    /// The replica applies nothing that is younger than so many seconds.
    fn delay(&self, seconds: u32) -> String;
    /// Starts a replica that knows its primary already.
    fn resume(&self) -> &'static str;
    fn replica_status(&self) -> &'static str;
    fn replica_columns(&self) -> ReplicaColumns;
    /// One row, one column: the GTID set or position that the server has executed.
    fn position(&self) -> &'static str;
    /// Waits until `position` is applied; the answer is `0` then.
    fn wait_for(&self, position: &str, wait_s: u64) -> String;
}
