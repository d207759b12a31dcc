//! How MySQL is set up, made to replicate and asked how it is: 8.4 and 9, where `SLAVE` and `MASTER` are
//! gone.

use nuthatch_server::Password;

use crate::dialect::{Dialect, ReplicaColumns};
use crate::duty::{Duty, Login};

pub(crate) struct MySql;

impl Dialect for MySql {
    fn option_lines(&self, _query_cache_mib: u32) -> Vec<String> {
        [
            "log_replica_updates=ON",
            "gtid_mode=ON",
            "enforce_gtid_consistency=ON",
            "skip_replica_start=ON",
            "innodb_redo_log_capacity=32M",
            "innodb_buffer_pool_load_at_startup=OFF",
            "innodb_buffer_pool_dump_at_shutdown=OFF",
            "mysqlx=OFF",
            "secure_file_priv=NULL",
        ]
        .map(String::from)
        .into()
    }

    fn account(&self, user: &str, host: &str, password: &Password) -> String {
        format!(
            "CREATE USER IF NOT EXISTS '{user}'@'{host}';\n\
             ALTER USER '{user}'@'{host}' IDENTIFIED BY {};\n",
            password.to_sql()
        )
    }

    fn grants(&self, duty: Duty) -> &'static [(&'static str, &'static str)] {
        match duty {
            Duty::Monitor => &[
                ("REPLICATION CLIENT", "*.*"),
                ("SELECT", "performance_schema.*"),
                ("SELECT, EXECUTE", "sys.*"),
            ],
            // The three that are of no use to a plain replica are what a member of a group recovers with.
            Duty::Replication => &[
                ("REPLICATION SLAVE", "*.*"),
                ("CONNECTION_ADMIN, BACKUP_ADMIN, GROUP_REPLICATION_STREAM", "*.*"),
            ],
            Duty::Failover => &[
                ("SELECT, RELOAD, PROCESS, EVENT, REPLICATION CLIENT", "*.*"),
                (
                    "SYSTEM_VARIABLES_ADMIN, SESSION_VARIABLES_ADMIN, REPLICATION_SLAVE_ADMIN, BINLOG_ADMIN, \
                     CONNECTION_ADMIN, GROUP_REPLICATION_ADMIN, SET_ANY_DEFINER",
                    "*.*",
                ),
            ],
        }
    }

    fn lift_read_only(&self) -> &'static str {
        "SET GLOBAL super_read_only = OFF;\n"
    }

    fn guard_replica(&self) -> &'static str {
        "SET GLOBAL super_read_only = ON"
    }

    fn replica_lines(&self) -> &'static [&'static str] {
        &["super_read_only=ON"]
    }

    fn semi_sync_lines(&self) -> &'static [&'static str] {
        &[
            "plugin_load_add=semisync_source.so",
            "plugin_load_add=semisync_replica.so",
            "rpl_semi_sync_source_enabled=ON",
            "rpl_semi_sync_source_wait_point=AFTER_SYNC",
            "rpl_semi_sync_replica_enabled=ON",
        ]
    }

    fn follow(&self, primary_port: u16, login: &Login) -> String {
        format!(
            "STOP REPLICA;\n\
             CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = {primary_port}, \
             SOURCE_USER = '{}', SOURCE_PASSWORD = {}, SOURCE_CONNECT_RETRY = 1, \
             SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1;\n\
             START REPLICA;\n",
            login.user,
            login.password.to_sql()
        )
    }

    fn promote(&self) -> &'static str {
        "STOP REPLICA; RESET REPLICA ALL; SET GLOBAL super_read_only = OFF; SET GLOBAL read_only = OFF"
    }

    fn demote(&self) -> &'static str {
        "SET GLOBAL super_read_only = ON"
    }

    fn delay(&self, seconds: u32) -> String {
        format!(
            "STOP REPLICA SQL_THREAD; CHANGE REPLICATION SOURCE TO SOURCE_DELAY = {seconds}; \
             START REPLICA SQL_THREAD"
        )
    }

    fn resume(&self) -> &'static str {
        "START REPLICA"
    }

    fn replica_status(&self) -> &'static str {
        "SHOW REPLICA STATUS"
    }

    fn replica_columns(&self) -> ReplicaColumns {
        ReplicaColumns {
            io_running: "Replica_IO_Running",
            sql_running: "Replica_SQL_Running",
            lag: "Seconds_Behind_Source",
            received: "Retrieved_Gtid_Set",
            errors: ["Last_IO_Error", "Last_SQL_Error"],
        }
    }

    fn position(&self) -> &'static str {
        "SELECT REPLACE(@@GLOBAL.gtid_executed, '\\n', '')"
    }

    fn wait_for(&self, position: &str, wait_s: u64) -> String {
        format!("SELECT WAIT_FOR_EXECUTED_GTID_SET('{position}', {wait_s})")
    }
}
