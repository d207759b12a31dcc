//! The tables of the configuration: ProxySQL's, column by column, with its checks, defaults and keys.
//!
//! One definition makes the `CREATE TABLE` text, the copies between layers, the reading of rows and the warning for a
//! column that is set and does not act yet.

mod column;
mod groups;
mod other;
mod query_rules;
mod servers;
mod users;

pub use self::column::{Column, ColumnDefault, Table};

/// Every table of the configuration. A table comes after those that its module is named for.
pub static TABLES: &[&Table] = &[
    &servers::MYSQL_SERVERS,
    &users::MYSQL_USERS,
    &query_rules::MYSQL_QUERY_RULES,
    &query_rules::MYSQL_QUERY_RULES_FAST_ROUTING,
    &other::GLOBAL_VARIABLES,
    &groups::MYSQL_REPLICATION_HOSTGROUPS,
    &groups::MYSQL_GROUP_REPLICATION_HOSTGROUPS,
    &groups::MYSQL_GALERA_HOSTGROUPS,
    &groups::MYSQL_AWS_AURORA_HOSTGROUPS,
    &groups::MYSQL_HOSTGROUP_ATTRIBUTES,
    &servers::MYSQL_SERVERS_SSL_PARAMS,
    &other::SCHEDULER,
    &other::RESTAPI_ROUTES,
    &other::PROXYSQL_SERVERS,
    &other::MYSQL_FIREWALL_WHITELIST_USERS,
    &other::MYSQL_FIREWALL_WHITELIST_RULES,
    &other::MYSQL_FIREWALL_WHITELIST_SQLI_FINGERPRINTS,
    &users::MYSQL_LDAP_MAPPING,
    &other::MYSQL_COLLATIONS,
];

/// The table of that name, in either case.
pub fn table(name: &str) -> Option<&'static Table> {
    TABLES.iter().copied().find(|table| table.name.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests;
