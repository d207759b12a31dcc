//! The accounts that each server of a lab has.

use crate::dialect::Dialect;
use crate::password::Password;

/// The account that replicas use.
pub(crate) const REPLICATION_USER: &str = "nuthatch_replication";

/// Hosts that an account is made for: by Unix socket, by loopback without name lookup, from anywhere else.
pub(crate) const ACCOUNT_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "%"];

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
