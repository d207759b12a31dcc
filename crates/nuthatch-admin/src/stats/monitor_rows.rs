//! The row types of the `monitor` schema: what the monitor's checks came to, under ProxySQL's names.

use crate::data_plane::{CheckLog, CheckResult};
use crate::stats::table::stats_table;

/// A table of checks. All begin with the same columns; what it took, found and failed for has a name of its own in each.
macro_rules! check_table {
    (
        $(#[$doc:meta])*
        $row:ident in $table:literal, $log:expr;
        $took:ident => $took_column:literal,
        $error:ident => $error_column:literal
        $(; $(#[$found_doc:meta])* $found:ident => $found_column:literal)*
    ) => {
        stats_table! {
            $(#[$doc])*
            $row in $table, schema: "monitor",
                rows: |plane, _| plane.check_log($log).into_iter().map(Self::of).collect(),
                constraints: " , PRIMARY KEY (hostname, port, time_start_us)";
            /// As configured.
            hostname: String => "hostname VARCHAR NOT NULL",
            /// As configured.
            port: u16 => "port INT NOT NULL DEFAULT 3306",
            /// When it began, in microseconds since 1970.
            time_start_us: u64 => "time_start_us INT NOT NULL DEFAULT 0",
            /// Microseconds that it took; 0 where it failed.
            $took: u64 => $took_column,
            $($(#[$found_doc])* $found: Option<String> => $found_column,)*
            /// Why it failed; NULL if it did not.
            $error: Option<String> => $error_column,
        }

        impl $row {
            fn of(result: CheckResult) -> Self {
                let mut _found = result.found.into_iter();
                Self {
                    hostname: result.hostname,
                    port: result.port,
                    time_start_us: result.began_us,
                    $took: result.took_us.unwrap_or(0),
                    $($found: _found.next().flatten(),)*
                    $error: result.error,
                }
            }
        }
    };
}

check_table! {
    /// One login of the monitor's, in `mysql_server_connect_log`.
    ConnectLogRow in "mysql_server_connect_log", CheckLog::Connect;
    connect_success_time_us => "connect_success_time_us INT DEFAULT 0",
    connect_error => "connect_error VARCHAR"
}

check_table! {
    /// One ping, in `mysql_server_ping_log`: what it took is the time from the ping to its answer.
    PingLogRow in "mysql_server_ping_log", CheckLog::Ping;
    ping_success_time_us => "ping_success_time_us INT DEFAULT 0",
    ping_error => "ping_error VARCHAR"
}

check_table! {
    /// One look at how far a replica is behind, in `mysql_server_replication_lag_log`.
    ReplicationLagLogRow in "mysql_server_replication_lag_log", CheckLog::ReplicationLag;
    success_time_us => "success_time_us INT DEFAULT 0",
    error => "error VARCHAR";
    /// Seconds; `mysql-monitor_slave_lag_when_null` where the server does not know, NULL where it replicates from nobody.
    repl_lag => "repl_lag INT DEFAULT 0"
}

check_table! {
    /// One look at whether a server takes writes, in `mysql_server_read_only_log`.
    ReadOnlyLogRow in "mysql_server_read_only_log", CheckLog::ReadOnly;
    success_time_us => "success_time_us INT DEFAULT 0",
    error => "error VARCHAR";
    /// 1 where it does not; NULL where it did not tell.
    read_only => "read_only INT DEFAULT 1"
}

check_table! {
    /// One look at a member of a group, in `mysql_server_group_replication_log`.
    GroupReplicationLogRow in "mysql_server_group_replication_log", CheckLog::GroupReplication;
    success_time_us => "success_time_us INT DEFAULT 0",
    error => "error VARCHAR";
    /// `YES` where it is online in the group's majority.
    viable_candidate => "viable_candidate VARCHAR NOT NULL DEFAULT 'NO'";
    /// `YES` where it takes no writes.
    read_only => "read_only VARCHAR NOT NULL DEFAULT 'YES'";
    /// Transactions that it has not applied yet.
    transactions_behind => "transactions_behind INT DEFAULT 0"
}

check_table! {
    /// One look at a node of a Galera cluster, in `mysql_server_galera_log`.
    GaleraLogRow in "mysql_server_galera_log", CheckLog::Galera;
    success_time_us => "success_time_us INT DEFAULT 0",
    error => "error VARCHAR";
    /// `YES` where it belongs to the part that goes on.
    primary_partition => "primary_partition VARCHAR NOT NULL DEFAULT 'NO'";
    /// `YES` where it takes no writes.
    read_only => "read_only VARCHAR NOT NULL DEFAULT 'YES'";
    /// Write sets that it has not applied yet.
    wsrep_local_recv_queue => "wsrep_local_recv_queue INT DEFAULT 0";
    /// 4 where it is synced.
    wsrep_local_state => "wsrep_local_state INT DEFAULT 0";
    /// The variable of that name.
    wsrep_desync => "wsrep_desync VARCHAR NOT NULL DEFAULT 'NO'";
    /// The variable of that name.
    wsrep_reject_queries => "wsrep_reject_queries VARCHAR NOT NULL DEFAULT 'NO'";
    /// The variable of that name.
    wsrep_sst_donor_rejects_queries => "wsrep_sst_donor_rejects_queries VARCHAR NOT NULL DEFAULT 'NO'";
    /// Always `DISABLED`: only Percona's cluster has the variable.
    pxc_maint_mode => "pxc_maint_mode VARCHAR NOT NULL DEFAULT 'DISABLED'"
}
