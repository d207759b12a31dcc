//! `mysql_servers` and the TLS settings of single servers.

use super::column::{Column, Table};

/// Backends and the hostgroups they stand in.
pub(crate) static MYSQL_SERVERS: Table = Table {
    name: "mysql_servers",
    columns: &[
        Column::int("hostgroup_id").check("hostgroup_id >= 0").default_int(0),
        Column::text("hostname"),
        Column::int("port").check("port >= 0 AND port <= 65535").default_int(3306),
        Column::int("gtid_port")
            .check("(gtid_port <> port OR gtid_port = 0) AND gtid_port >= 0 AND gtid_port <= 65535")
            .default_int(0)
            .stored(),
        Column::text("status")
            .check("UPPER(status) IN ('ONLINE', 'SHUNNED', 'OFFLINE_SOFT', 'OFFLINE_HARD')")
            .default_text("ONLINE"),
        Column::int("weight").check("weight >= 0 AND weight <= 10000000").default_int(1),
        Column::int("compression").check("compression IN (0, 1)").default_int(0),
        Column::int("max_connections").check("max_connections >= 0").default_int(1000),
        Column::int("max_replication_lag")
            .check("max_replication_lag >= 0 AND max_replication_lag <= 126144000")
            .default_int(0),
        Column::int("use_ssl").check("use_ssl IN (0, 1)").default_int(0),
        Column::int("max_latency_ms").of_type("INT UNSIGNED").check("max_latency_ms >= 0").default_int(0),
        Column::text("comment").default_text(""),
    ],
    keys: &["PRIMARY KEY (hostgroup_id, hostname, port)"],
    has_twin: true,
    acts: true,
};

/// TLS towards single backends.
pub(crate) static MYSQL_SERVERS_SSL_PARAMS: Table = Table {
    name: "mysql_servers_ssl_params",
    columns: &[
        Column::text("hostname"),
        Column::int("port").check("port >= 0 AND port <= 65535").default_int(3306),
        Column::text("username").default_text(""),
        Column::text("ssl_ca").default_text(""),
        Column::text("ssl_cert").default_text(""),
        Column::text("ssl_key").default_text(""),
        Column::text("ssl_capath").default_text(""),
        Column::text("ssl_crl").default_text(""),
        Column::text("ssl_crlpath").default_text(""),
        Column::text("ssl_cipher").default_text("").stored(),
        Column::text("tls_version").default_text(""),
        Column::text("comment").default_text(""),
    ],
    keys: &["PRIMARY KEY (hostname, port, username)"],
    has_twin: true,
    acts: true,
};
