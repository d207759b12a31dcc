//! What is known of whole hostgroups: who writes, who reads, and their attributes.

use super::column::{Column, Table};

/// Writers and readers of asynchronous replication.
pub(crate) static MYSQL_REPLICATION_HOSTGROUPS: Table = Table {
    name: "mysql_replication_hostgroups",
    columns: &[
        Column::int("writer_hostgroup").check("writer_hostgroup >= 0"),
        Column::int("reader_hostgroup")
            .check("reader_hostgroup <> writer_hostgroup AND reader_hostgroup >= 0"),
        Column::text("check_type")
            .check(
                "LOWER(check_type) IN ('read_only', 'innodb_read_only', 'super_read_only', \
                 'read_only|innodb_read_only', 'read_only&innodb_read_only')",
            )
            .default_text("read_only"),
        Column::text("comment").default_text(""),
    ],
    keys: &["PRIMARY KEY (writer_hostgroup)", "UNIQUE (reader_hostgroup)"],
    has_twin: true,
    acts: true,
};

const CLUSTER_KEYS: &[&str] = &[
    "PRIMARY KEY (writer_hostgroup)",
    "UNIQUE (reader_hostgroup)",
    "UNIQUE (offline_hostgroup)",
    "UNIQUE (backup_writer_hostgroup)",
];

/// Group replication and Galera have the same columns.
const CLUSTER_COLUMNS: &[Column] = &[
    Column::int("writer_hostgroup").check("writer_hostgroup >= 0"),
    Column::int("backup_writer_hostgroup")
        .check("backup_writer_hostgroup >= 0 AND backup_writer_hostgroup <> writer_hostgroup"),
    Column::int("reader_hostgroup").check(
        "reader_hostgroup <> writer_hostgroup AND backup_writer_hostgroup <> reader_hostgroup \
         AND reader_hostgroup > 0",
    ),
    Column::int("offline_hostgroup").check(
        "offline_hostgroup <> writer_hostgroup AND offline_hostgroup <> reader_hostgroup \
         AND backup_writer_hostgroup <> offline_hostgroup AND offline_hostgroup >= 0",
    ),
    Column::int("active").check("active IN (0, 1)").default_int(1),
    Column::int("max_writers").check("max_writers >= 0").default_int(1),
    Column::int("writer_is_also_reader").check("writer_is_also_reader IN (0, 1, 2)").default_int(0),
    Column::int("max_transactions_behind").check("max_transactions_behind >= 0").default_int(0),
    Column::text("comment").or_null(),
];

/// Writers and readers of group replication.
pub(crate) static MYSQL_GROUP_REPLICATION_HOSTGROUPS: Table = Table {
    name: "mysql_group_replication_hostgroups",
    columns: CLUSTER_COLUMNS,
    keys: CLUSTER_KEYS,
    has_twin: true,
    acts: true,
};

/// Writers and readers of Galera.
pub(crate) static MYSQL_GALERA_HOSTGROUPS: Table = Table {
    name: "mysql_galera_hostgroups",
    columns: CLUSTER_COLUMNS,
    keys: CLUSTER_KEYS,
    has_twin: true,
    acts: true,
};

/// Writers and readers of Aurora.
pub(crate) static MYSQL_AWS_AURORA_HOSTGROUPS: Table = Table {
    name: "mysql_aws_aurora_hostgroups",
    columns: &[
        Column::int("writer_hostgroup").check("writer_hostgroup >= 0"),
        Column::int("reader_hostgroup")
            .check("reader_hostgroup <> writer_hostgroup AND reader_hostgroup > 0"),
        Column::int("active").check("active IN (0, 1)").default_int(1),
        Column::int("aurora_port").or_null().default_int(3306),
        Column::text("domain_name").check("SUBSTR(domain_name, 1, 1) = '.'"),
        Column::int("max_lag_ms").check("max_lag_ms >= 10 AND max_lag_ms <= 600000").default_int(600_000),
        Column::int("check_interval_ms")
            .check("check_interval_ms >= 100 AND check_interval_ms <= 600000")
            .default_int(1000),
        Column::int("check_timeout_ms")
            .check("check_timeout_ms >= 80 AND check_timeout_ms <= 3000")
            .default_int(800),
        Column::int("writer_is_also_reader").check("writer_is_also_reader IN (0, 1)").default_int(0),
        Column::int("new_reader_weight")
            .check("new_reader_weight >= 0 AND new_reader_weight <= 10000000")
            .default_int(1),
        Column::int("add_lag_ms").check("add_lag_ms >= 0 AND add_lag_ms <= 600000").default_int(30),
        Column::int("min_lag_ms").check("min_lag_ms >= 0 AND min_lag_ms <= 600000").default_int(30),
        Column::int("lag_num_checks").check("lag_num_checks >= 1 AND lag_num_checks <= 16").default_int(1),
        Column::text("comment").or_null(),
    ],
    keys: &["PRIMARY KEY (writer_hostgroup)", "UNIQUE (reader_hostgroup)"],
    has_twin: true,
    acts: false,
};

/// Settings of single hostgroups.
pub(crate) static MYSQL_HOSTGROUP_ATTRIBUTES: Table = Table {
    name: "mysql_hostgroup_attributes",
    columns: &[
        Column::int("hostgroup_id"),
        Column::int("max_num_online_servers")
            .check("max_num_online_servers >= 0 AND max_num_online_servers <= 1000000")
            .default_int(1_000_000)
            .stored(),
        Column::int("autocommit").check("autocommit IN (-1, 0, 1)").default_int(-1).stored(),
        Column::int("free_connections_pct")
            .check("free_connections_pct >= 0 AND free_connections_pct <= 100")
            .default_int(10),
        Column::text("init_connect").default_text(""),
        Column::int("multiplex").check("multiplex IN (0, 1)").default_int(1),
        Column::int("connection_warming").check("connection_warming IN (0, 1)").default_int(0),
        Column::int("throttle_connections_per_sec")
            .check("throttle_connections_per_sec >= 1 AND throttle_connections_per_sec <= 1000000")
            .default_int(1_000_000),
        Column::text("ignore_session_variables")
            .check("JSON_VALID(ignore_session_variables) OR ignore_session_variables = ''")
            .default_text("")
            .stored(),
        Column::text("hostgroup_settings")
            .check("JSON_VALID(hostgroup_settings) OR hostgroup_settings = ''")
            .default_text(""),
        Column::text("servers_defaults")
            .check("JSON_VALID(servers_defaults) OR servers_defaults = ''")
            .default_text("")
            .stored(),
        Column::text("comment").default_text(""),
    ],
    keys: &["PRIMARY KEY (hostgroup_id)"],
    has_twin: true,
    acts: true,
};
