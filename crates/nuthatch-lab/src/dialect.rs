//! Where MariaDB and MySQL differ, as one trait: programs, options, accounts, replication.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::LabError;
use crate::mariadb::MariaDb;
use crate::mysql::MySql;
use crate::options::{Installation, Kind};
use crate::password::Password;

/// The account that replicas use.
pub(crate) const REPLICATION_USER: &str = "nuthatch_replication";

/// Hosts that an account is made for: by Unix socket, by loopback without name lookup, from anywhere else.
pub(crate) const ACCOUNT_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "%"];

/// A program of an installation, and what to do where it is not there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) remedy: &'static str,
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
    fn server(&self) -> Program;
    fn client(&self) -> Program;
    fn initializer(&self) -> Program;

    /// The command that fills `data` (which does not exist yet) with system tables and a passwordless root.
    fn initialize(&self, program: &Path, root: &Path, data: &Path) -> Command;
    /// Files of a fresh data directory that must not be copied into a second one.
    fn unique_files(&self) -> &'static [&'static str];
    /// Option lines that only this kind knows.
    fn option_lines(&self, root: &Path, query_cache_mib: u32) -> Vec<String>;

    /// For the init file, one statement a line: no one but root with this password may log in.
    fn lock_down(&self, root_password: &Password) -> String;
    /// One account with all privileges, made or mended.
    fn account(&self, user: &str, host: &str, password: &Password) -> String;
    /// Points a replica at the primary's port and starts it.
    fn follow(&self, primary_port: u16, password: &Password) -> String;
    /// Starts a replica that knows its primary already.
    fn resume(&self) -> &'static str;
    fn replica_status(&self) -> &'static str;
    fn replica_columns(&self) -> ReplicaColumns;
    /// One row, one column: the GTID set or position that the server has executed.
    fn position(&self) -> &'static str;
    /// Waits until `position` is applied; the answer is `0` then.
    fn wait_for(&self, position: &str, wait_s: u64) -> String;
}

impl Installation {
    pub(crate) fn dialect(&self) -> &'static dyn Dialect {
        match self.kind {
            Kind::MariaDb => &MariaDb,
            Kind::MySql => &MySql,
        }
    }

    /// The full path of a program of this installation. MariaDB's, which go by MySQL's old names too, are no MySQL.
    pub(crate) fn find(&self, program: Program) -> Result<PathBuf, LabError> {
        let places =
            ["usr/sbin", "usr/bin", "usr/local/sbin", "usr/local/bin"].map(|place| self.root.join(place));
        let missing = || LabError::ProgramMissing {
            program: program.name,
            places: places.iter().map(|place| place.display().to_string()).collect(),
            remedy: program.remedy,
        };
        let is_it = |path: &PathBuf| path.exists() && (self.kind == Kind::MariaDb || !is_mariadb(path));
        places.iter().map(|place| place.join(program.name)).find(is_it).ok_or_else(missing)
    }
}

/// Whether it is a link to a program of MariaDB's, as Debian's `mysqld` and `mysql` are.
fn is_mariadb(path: &Path) -> bool {
    let real = path.canonicalize();
    real.is_ok_and(|real| real.file_name().is_some_and(|name| name.to_string_lossy().starts_with("mariadb")))
}

/// `ALTER`s or creates accounts for the lab's user and the replicas, and the schema `test`; written to no
/// binlog, so that every server has its own and a fresh replica begins with an empty position.
pub(crate) fn accounts_sql(
    dialect: &dyn Dialect,
    user: &str,
    password: &Password,
    replication: &Password,
) -> String {
    let mut sql = String::from("SET sql_log_bin = 0;\nCREATE DATABASE IF NOT EXISTS test;\n");
    for host in ACCOUNT_HOSTS {
        sql += &dialect.account(user, host, password);
    }
    sql + &dialect.account(REPLICATION_USER, "127.0.0.1", replication)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mariadb_under_mysqls_name_is_no_mysql() {
        let root = tempfile::tempdir().unwrap();
        let place = root.path().join("usr/sbin");
        std::fs::create_dir_all(&place).unwrap();
        std::fs::write(place.join("mariadbd"), "").unwrap();
        std::os::unix::fs::symlink("mariadbd", place.join("mysqld")).unwrap();
        let installation = Installation { kind: Kind::MySql, root: root.path().into() };
        let error = installation.find(MySql.server()).unwrap_err().to_string();
        assert!(error.contains("tools/side-apt.sh"), "{error}");
        std::fs::remove_file(place.join("mysqld")).unwrap();
        std::fs::write(place.join("mysqld"), "").unwrap();
        assert_eq!(installation.find(MySql.server()).unwrap(), place.join("mysqld"));
    }
}
