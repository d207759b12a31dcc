//! How MariaDB is set up, made to replicate and asked how it is.

use nuthatch_server::Password;

use crate::dialect::{Dialect, ReplicaColumns};
use crate::duty::{Duty, Login};

pub(crate) struct MariaDb;

impl Dialect for MariaDb {
    fn option_lines(&self, query_cache_mib: u32) -> Vec<String> {
        let mut lines: Vec<String> = [
            "log_slave_updates=ON",
            "gtid_strict_mode=ON",
            "skip_slave_start=ON",
            "innodb_log_file_size=32M",
            "innodb_buffer_pool_load_at_startup=OFF",
            "innodb_buffer_pool_dump_at_shutdown=OFF",
            "aria_pagecache_buffer_size=8M",
            "character_set_server=utf8mb4",
            "collation_server=utf8mb4_general_ci",
        ]
        .map(String::from)
        .into();
        lines.push(format!("query_cache_type={}", if query_cache_mib > 0 { "ON" } else { "OFF" }));
        lines.push(format!("query_cache_size={query_cache_mib}M"));
        lines
    }

    fn account(&self, user: &str, host: &str, password: &Password) -> String {
        format!(
            "CREATE USER IF NOT EXISTS '{user}'@'{host}';\n\
             ALTER USER '{user}'@'{host}' IDENTIFIED VIA mysql_native_password USING PASSWORD({});\n",
            password.to_sql()
        )
    }

    fn grants(&self, duty: Duty) -> &'static [(&'static str, &'static str)] {
        match duty {
            Duty::Monitor => &[("SLAVE MONITOR, BINLOG MONITOR", "*.*")],
            Duty::Replication => &[("REPLICATION SLAVE", "*.*")],
            // SUPER for event_scheduler, which no finer privilege lets anybody set.
            Duty::Failover => &[(
                "SUPER, READ ONLY ADMIN, REPLICATION SLAVE ADMIN, REPLICATION MASTER ADMIN, SLAVE MONITOR, \
                 BINLOG MONITOR, BINLOG ADMIN, CONNECTION ADMIN, SET USER, RELOAD, PROCESS, EVENT, SELECT",
                "*.*",
            )],
        }
    }

    /// `read_only` does not bind root.
    fn lift_read_only(&self) -> &'static str {
        ""
    }

    fn guard_replica(&self) -> &'static str {
        "SET GLOBAL read_only = ON"
    }

    fn replica_lines(&self) -> &'static [&'static str] {
        &["read_only=ON"]
    }

    fn semi_sync_lines(&self) -> &'static [&'static str] {
        &[
            "rpl_semi_sync_master_enabled=ON",
            "rpl_semi_sync_master_wait_point=AFTER_SYNC",
            "rpl_semi_sync_slave_enabled=ON",
        ]
    }

    fn follow(&self, primary_port: u16, login: &Login) -> String {
        format!(
            "STOP SLAVE;\n\
             CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = {primary_port}, \
             MASTER_USER = '{}', MASTER_PASSWORD = {}, MASTER_CONNECT_RETRY = 1, \
             MASTER_USE_GTID = slave_pos;\n\
             START SLAVE;\n",
            login.user,
            login.password.to_sql()
        )
    }

    fn promote(&self) -> &'static str {
        "STOP SLAVE; RESET SLAVE ALL; SET GLOBAL read_only = OFF"
    }

    fn demote(&self) -> &'static str {
        "SET GLOBAL read_only = ON; STOP SLAVE; SET GLOBAL gtid_slave_pos = @@GLOBAL.gtid_current_pos"
    }

    /// No option of the source may change while a thread runs.
    fn delay(&self, seconds: u32) -> String {
        format!("STOP SLAVE; CHANGE MASTER TO MASTER_DELAY = {seconds}; START SLAVE")
    }

    fn resume(&self) -> &'static str {
        "START SLAVE"
    }

    fn replica_status(&self) -> &'static str {
        "SHOW SLAVE STATUS"
    }

    fn replica_columns(&self) -> ReplicaColumns {
        ReplicaColumns {
            io_running: "Slave_IO_Running",
            sql_running: "Slave_SQL_Running",
            lag: "Seconds_Behind_Master",
            received: "Gtid_IO_Pos",
            errors: ["Last_IO_Error", "Last_SQL_Error"],
        }
    }

    fn position(&self) -> &'static str {
        "SELECT @@gtid_current_pos"
    }

    fn wait_for(&self, position: &str, wait_s: u64) -> String {
        format!("SELECT MASTER_GTID_WAIT('{position}', {wait_s})")
    }
}
