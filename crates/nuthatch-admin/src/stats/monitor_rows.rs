//! The row types of the `monitor` schema: what the monitor's checks came to, under ProxySQL's names.

use crate::stats::table::stats_table;

stats_table! {
    /// One login of the monitor's, in `mysql_server_connect_log`.
    ConnectLogRow in "mysql_server_connect_log", schema: "monitor",
        rows: |plane, _| plane.connect_log(),
        constraints: " , PRIMARY KEY (hostname, port, time_start_us)";
    /// As configured.
    hostname: String => "hostname VARCHAR NOT NULL",
    /// As configured.
    port: u16 => "port INT NOT NULL DEFAULT 3306",
    /// When it began, in microseconds since 1970.
    time_start_us: u64 => "time_start_us INT NOT NULL DEFAULT 0",
    /// Microseconds that it took; 0 where it failed.
    connect_success_time_us: u64 => "connect_success_time_us INT DEFAULT 0",
    /// Why it failed; NULL if it did not.
    connect_error: Option<String> => "connect_error VARCHAR",
}

stats_table! {
    /// One ping, in `mysql_server_ping_log`.
    PingLogRow in "mysql_server_ping_log", schema: "monitor",
        rows: |plane, _| plane.ping_log(),
        constraints: " , PRIMARY KEY (hostname, port, time_start_us)";
    /// As configured.
    hostname: String => "hostname VARCHAR NOT NULL",
    /// As configured.
    port: u16 => "port INT NOT NULL DEFAULT 3306",
    /// When it began, in microseconds since 1970.
    time_start_us: u64 => "time_start_us INT NOT NULL DEFAULT 0",
    /// Microseconds from the ping to its answer; 0 where there was none.
    ping_success_time_us: u64 => "ping_success_time_us INT DEFAULT 0",
    /// Why there was none; NULL if there was.
    ping_error: Option<String> => "ping_error VARCHAR",
}

stats_table! {
    /// One look at how far a replica is behind, in `mysql_server_replication_lag_log`.
    ReplicationLagLogRow in "mysql_server_replication_lag_log", schema: "monitor",
        rows: |plane, _| plane.replication_lag_log(),
        constraints: " , PRIMARY KEY (hostname, port, time_start_us)";
    /// As configured.
    hostname: String => "hostname VARCHAR NOT NULL",
    /// As configured.
    port: u16 => "port INT NOT NULL DEFAULT 3306",
    /// When it began, in microseconds since 1970.
    time_start_us: u64 => "time_start_us INT NOT NULL DEFAULT 0",
    /// Microseconds that it took; 0 where it failed.
    success_time_us: u64 => "success_time_us INT DEFAULT 0",
    /// Seconds; `mysql-monitor_slave_lag_when_null` where the server does not know, NULL where it replicates from nobody.
    repl_lag: Option<u64> => "repl_lag INT DEFAULT 0",
    /// Why it failed; NULL if it did not.
    error: Option<String> => "error VARCHAR",
}
