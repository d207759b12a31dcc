//! The lists are in order, and names lead to them.

use super::{ALIASES, Carry, PLAIN, SPECIAL, SystemVariable};
use crate::assignments::{Text, Value};
use crate::token::ServerFlavor;

const MARIADB_10: ServerFlavor = ServerFlavor::MariaDb(101_119);
const MARIADB_11: ServerFlavor = ServerFlavor::MariaDb(110_806);
const MYSQL: ServerFlavor = ServerFlavor::MySql(90_704);

fn named(name: &str, server: ServerFlavor) -> SystemVariable {
    SystemVariable::named(name.as_bytes(), server).expect("a name")
}

#[test]
fn each_list_is_sorted_and_no_variable_stands_in_both() {
    let special: Vec<&str> = SPECIAL.iter().map(|row| row.name).collect();
    for list in [PLAIN, &special] {
        for (name, next) in list.iter().zip(list.iter().skip(1)) {
            assert!(name < next, "{name} before {next}");
        }
    }
    for name in &special {
        assert!(!PLAIN.contains(name), "{name} stands in both lists");
    }
    for alias in ALIASES {
        assert!(special.contains(&alias.of) || PLAIN.contains(&alias.of), "{} leads nowhere", alias.name);
    }
}

#[test]
fn several_names_of_one_variable_are_one_key() {
    for (name, server, expected) in [
        ("SQL_Mode", MYSQL, "sql_mode"),
        ("tx_isolation", MARIADB_10, "transaction_isolation"),
        ("TX_READ_ONLY", MYSQL, "transaction_read_only"),
        ("identity", MYSQL, "last_insert_id"),
        ("log_slow_query_time", MARIADB_10, "long_query_time"),
        ("old_alter_table", MARIADB_10, "alter_algorithm"),
        ("old_alter_table", MYSQL, "old_alter_table"),
        ("pseudo_replica_mode", MYSQL, "pseudo_slave_mode"),
        ("nobody_knows_it", MYSQL, "nobody_knows_it"),
    ] {
        assert_eq!(named(name, server).name(), expected, "{name}");
    }
    for wrong in ["", "a.b", "a b", "é", &"a".repeat(65)] {
        assert_eq!(SystemVariable::named(wrong.as_bytes(), MYSQL), None, "{wrong}");
    }
}

#[test]
fn a_server_is_told_the_name_that_it_knows() {
    for (server, expected) in [
        (MARIADB_10, "tx_isolation"),
        (MARIADB_11, "transaction_isolation"),
        (ServerFlavor::MySql(50_719), "tx_isolation"),
        (MYSQL, "transaction_isolation"),
    ] {
        assert_eq!(named("transaction_isolation", server).name_on(server), expected);
    }
    assert_eq!(named("sql_mode", MARIADB_10).name_on(MARIADB_10), "sql_mode");
}

#[test]
fn what_is_carried_depends_on_variable_and_value() {
    let number = |text: &str| Value::Number(text.into());
    let word = |text: &str| Value::Word(text.into());
    let text = |text: &str| Value::Text(Text::new(text.as_bytes()));
    let worked_out = Value::Expression { source: b"1+1".as_slice().into(), is_repeatable: true };
    for (name, value, expected) in [
        ("foreign_key_checks", number("0"), true),
        ("foreign_key_checks", Value::Default, true),
        ("foreign_key_checks", worked_out, false),
        ("sql_auto_is_null", number("0"), true),
        ("sql_auto_is_null", word("Off"), true),
        ("sql_auto_is_null", number("1"), false),
        ("sql_auto_is_null", Value::Default, false),
        ("gtid_next", text("AUTOMATIC"), true),
        ("gtid_next", text("u:1"), false),
        ("timestamp", Value::Default, true),
        ("system_versioning_asof", Value::Default, true),
        ("system_versioning_asof", text("DEFAULT"), false),
        ("time_zone", text("\u{e9}"), false),
        ("timestamp", number("5"), false),
        ("sql_log_bin", number("0"), false),
        ("insert_id", number("5"), false),
        ("wait_timeout", number("5"), false),
        ("sql_mode", text(""), true),
        ("nobody_knows_it", number("1"), false),
    ] {
        assert_eq!(named(name, MYSQL).carry().allows(&value), expected, "{name} {value:?}");
    }
    assert_eq!(named("nobody_knows_it", MYSQL).carry(), Carry::Pins);
    assert!(named("sql_log_bin", MYSQL).why().is_some());
}

/// ProxySQL 2.7's list, without those that are no variables. `gtid_next`, `sql_log_bin`, `profiling` and `timestamp` are
/// carried for some values only; `special` says why.
#[test]
fn proxysql_s_list_is_known() {
    for name in PROXYSQL {
        let carry = named(name, MYSQL).carry();
        let is_expected = !matches!(carry, Carry::Pins | Carry::ReadOnly) || name == "character_set_database";
        assert!(is_expected, "{name} is not carried: {carry:?}");
    }
}

#[rustfmt::skip]
const PROXYSQL: [&str; 50] = [
    "character_set_results", "character_set_connection", "character_set_client", "character_set_database",
    "collation_connection", "aurora_read_replica_read_committed", "auto_increment_increment",
    "auto_increment_offset", "big_tables", "default_storage_engine", "default_tmp_storage_engine",
    "foreign_key_checks", "group_concat_max_len", "group_replication_consistency", "gtid_next",
    "innodb_lock_wait_timeout", "innodb_strict_mode", "innodb_table_locks", "join_buffer_size", "lc_messages",
    "lc_time_names", "lock_wait_timeout", "log_slow_filter", "long_query_time", "max_execution_time",
    "max_heap_table_size", "max_join_size", "max_sort_length", "max_statement_time", "optimizer_prune_level",
    "optimizer_search_depth", "optimizer_switch", "profiling", "query_cache_type", "sort_buffer_size",
    "sql_auto_is_null", "sql_big_selects", "sql_generate_invisible_primary_key", "sql_log_bin",
    "sql_quote_show_create", "sql_require_primary_key", "sql_safe_updates", "sql_select_limit", "time_zone",
    "timestamp", "tmp_table_size", "unique_checks", "wsrep_osu_method", "wsrep_sync_wait", "sql_mode",
];
