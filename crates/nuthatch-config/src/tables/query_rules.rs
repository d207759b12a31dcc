//! `mysql_query_rules` and the fast routing map.

use super::column::{Column, Table};

/// What is done with which statement.
pub(crate) static MYSQL_QUERY_RULES: Table = Table {
    name: "mysql_query_rules",
    columns: &[
        Column::serial("rule_id"),
        Column::int("active").check("active IN (0, 1)").default_int(0),
        Column::text("username").or_null(),
        Column::text("schemaname").or_null(),
        Column::int("flagIN").check("flagIN >= 0").default_int(0),
        Column::text("client_addr").or_null(),
        Column::text("proxy_addr").or_null(),
        Column::int("proxy_port").check("proxy_port >= 0 AND proxy_port <= 65535").or_null(),
        Column::text("digest").or_null(),
        Column::text("match_digest").or_null(),
        Column::text("match_pattern").or_null(),
        Column::int("negate_match_pattern").check("negate_match_pattern IN (0, 1)").default_int(0),
        Column::text("re_modifiers").or_null().default_text("CASELESS"),
        Column::int("flagOUT").check("flagOUT >= 0").or_null(),
        Column::text("replace_pattern")
            .check(
                "CASE WHEN replace_pattern IS NULL THEN 1 \
                 WHEN replace_pattern IS NOT NULL AND match_pattern IS NOT NULL THEN 1 ELSE 0 END",
            )
            .or_null()
            .stored(),
        Column::int("destination_hostgroup").default_null(),
        Column::int("cache_ttl").check("cache_ttl > 0").or_null(),
        Column::int("cache_empty_result").check("cache_empty_result IN (0, 1)").default_null(),
        Column::int("cache_timeout").check("cache_timeout >= 0").or_null(),
        Column::int("reconnect").check("reconnect IN (0, 1)").default_null().stored(),
        Column::int("timeout").of_type("INT UNSIGNED").check("timeout >= 0").or_null(),
        Column::int("retries").check("retries >= 0 AND retries <= 1000").or_null(),
        Column::int("delay").of_type("INT UNSIGNED").check("delay >= 0").or_null(),
        Column::int("next_query_flagIN").of_type("INT UNSIGNED").or_null(),
        Column::int("mirror_flagOUT").of_type("INT UNSIGNED").or_null().stored(),
        Column::int("mirror_hostgroup").of_type("INT UNSIGNED").or_null().stored(),
        Column::text("error_msg").or_null(),
        Column::text("OK_msg").or_null(),
        Column::int("sticky_conn").check("sticky_conn IN (0, 1)").or_null().stored(),
        Column::int("multiplex").check("multiplex IN (0, 1, 2)").or_null(),
        Column::int("gtid_from_hostgroup").of_type("INT UNSIGNED").or_null(),
        Column::int("log").check("log IN (0, 1)").or_null().stored(),
        Column::int("apply").check("apply IN (0, 1)").default_int(0),
        Column::text("attributes").check("JSON_VALID(attributes) OR attributes = ''").default_text(""),
        Column::text("comment").or_null(),
    ],
    keys: &[],
    has_twin: true,
    acts: true,
};

/// Hostgroups by user, schema and flag.
pub(crate) static MYSQL_QUERY_RULES_FAST_ROUTING: Table = Table {
    name: "mysql_query_rules_fast_routing",
    columns: &[
        Column::text("username"),
        Column::text("schemaname"),
        Column::int("flagIN").default_int(0),
        Column::int("destination_hostgroup").check("destination_hostgroup >= 0"),
        Column::text("comment"),
    ],
    keys: &["PRIMARY KEY (username, schemaname, flagIN)"],
    has_twin: true,
    acts: false,
};
