//! `mysql_users` and the mapping of LDAP names.

use super::column::{Column, Table};

/// Who may log in, and as whom the proxy does.
pub(crate) static MYSQL_USERS: Table = Table {
    name: "mysql_users",
    columns: &[
        Column::text("username"),
        Column::text("password").or_null(),
        Column::int("active").check("active IN (0, 1)").default_int(1),
        Column::int("use_ssl").check("use_ssl IN (0, 1)").default_int(0),
        Column::int("default_hostgroup").default_int(0),
        Column::text("default_schema").or_null(),
        Column::int("schema_locked").check("schema_locked IN (0, 1)").default_int(0),
        Column::int("transaction_persistent").check("transaction_persistent IN (0, 1)").default_int(1),
        Column::int("fast_forward").check("fast_forward IN (0, 1)").default_int(0),
        Column::int("backend").check("backend IN (0, 1)").default_int(1),
        Column::int("frontend").check("frontend IN (0, 1)").default_int(1),
        Column::int("max_connections").check("max_connections >= 0").default_int(10000),
        Column::text("attributes").check("JSON_VALID(attributes) OR attributes = ''").default_text(""),
        Column::text("comment").default_text(""),
    ],
    keys: &["PRIMARY KEY (username, backend)", "UNIQUE (username, frontend)"],
    has_twin: true,
    acts: true,
};

/// LDAP names and the accounts they use.
pub(crate) static MYSQL_LDAP_MAPPING: Table = Table {
    name: "mysql_ldap_mapping",
    columns: &[
        Column::int("priority").of_type("INTEGER PRIMARY KEY").check("priority >= 1 AND priority <= 1000000"),
        Column::text("frontend_entity"),
        Column::text("backend_entity"),
        Column::text("comment").default_text(""),
    ],
    keys: &["UNIQUE (frontend_entity)"],
    has_twin: true,
    acts: false,
};
