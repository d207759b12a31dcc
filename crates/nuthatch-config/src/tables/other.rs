//! The variables' table, and tables that are stored for compatibility.

use super::column::{Column, Table};

/// All variables, as text.
pub(crate) static GLOBAL_VARIABLES: Table = Table {
    name: "global_variables",
    columns: &[Column::text("variable_name"), Column::text("variable_value")],
    keys: &["PRIMARY KEY (variable_name)"],
    has_twin: true,
    acts: true,
};

/// Programs to run at intervals.
pub(crate) static SCHEDULER: Table = Table {
    name: "scheduler",
    columns: &[
        Column::serial("id"),
        Column::int("active").check("active IN (0, 1)").default_int(1),
        Column::int("interval_ms")
            .of_type("INTEGER")
            .check("interval_ms >= 100 AND interval_ms <= 100000000"),
        Column::text("filename"),
        Column::text("arg1").or_null(),
        Column::text("arg2").or_null(),
        Column::text("arg3").or_null(),
        Column::text("arg4").or_null(),
        Column::text("arg5").or_null(),
        Column::text("comment").default_text(""),
    ],
    keys: &[],
    has_twin: true,
    acts: false,
};

/// Scripts behind the REST interface.
pub(crate) static RESTAPI_ROUTES: Table = Table {
    name: "restapi_routes",
    columns: &[
        Column::serial("id"),
        Column::int("active").check("active IN (0, 1)").default_int(1),
        Column::int("timeout_ms").of_type("INTEGER").check("timeout_ms >= 100 AND timeout_ms <= 100000000"),
        Column::text("method").check("UPPER(method) IN ('GET', 'POST')"),
        Column::text("uri"),
        Column::text("script"),
        Column::text("comment").default_text(""),
    ],
    keys: &[],
    has_twin: true,
    acts: false,
};

/// The other proxies of a cluster.
pub(crate) static PROXYSQL_SERVERS: Table = Table {
    name: "proxysql_servers",
    columns: &[
        Column::text("hostname"),
        Column::int("port").default_int(6032),
        Column::int("weight").check("weight >= 0").default_int(0),
        Column::text("comment").default_text(""),
    ],
    keys: &["PRIMARY KEY (hostname, port)"],
    has_twin: true,
    acts: false,
};

/// For whom the firewall works.
pub(crate) static MYSQL_FIREWALL_WHITELIST_USERS: Table = Table {
    name: "mysql_firewall_whitelist_users",
    columns: &[
        Column::int("active").check("active IN (0, 1)").default_int(1),
        Column::text("username"),
        Column::text("client_address"),
        Column::text("mode").check("mode IN ('OFF', 'DETECTING', 'PROTECTING')").default_text("OFF"),
        Column::text("comment"),
    ],
    keys: &["PRIMARY KEY (username, client_address)"],
    has_twin: true,
    acts: false,
};

/// What the firewall lets through.
pub(crate) static MYSQL_FIREWALL_WHITELIST_RULES: Table = Table {
    name: "mysql_firewall_whitelist_rules",
    columns: &[
        Column::int("active").check("active IN (0, 1)").default_int(1),
        Column::text("username"),
        Column::text("client_address"),
        Column::text("schemaname"),
        Column::int("flagIN").default_int(0),
        Column::text("digest"),
        Column::text("comment"),
    ],
    keys: &["PRIMARY KEY (username, client_address, schemaname, flagIN, digest)"],
    has_twin: true,
    acts: false,
};

/// Fingerprints of injections that are let through.
pub(crate) static MYSQL_FIREWALL_WHITELIST_SQLI_FINGERPRINTS: Table = Table {
    name: "mysql_firewall_whitelist_sqli_fingerprints",
    columns: &[Column::int("active").check("active IN (0, 1)").default_int(1), Column::text("fingerprint")],
    keys: &["PRIMARY KEY (fingerprint)"],
    has_twin: true,
    acts: false,
};

/// Collations and their numbers.
pub(crate) static MYSQL_COLLATIONS: Table = Table {
    name: "mysql_collations",
    columns: &[
        Column::int("Id").of_type("INTEGER PRIMARY KEY"),
        Column::text("Collation"),
        Column::text("Charset"),
        Column::text("Default"),
    ],
    keys: &[],
    has_twin: false,
    acts: false,
};
