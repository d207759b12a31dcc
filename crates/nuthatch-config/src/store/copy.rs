//! Copies between memory and disk, and from runtime back to memory. Secrets are sealed on the way to the disk and opened on
//! the way from it.

use rusqlite::Connection;

use super::{StoreError, sealing};
use crate::{
    tables::{self, Table},
    variables::{AdminVariables, MysqlVariables},
    verb::Module,
};

impl Module {
    /// The tables that go together.
    pub(super) fn tables(self) -> &'static [&'static str] {
        match self {
            Self::MysqlUsers => &["mysql_users"],
            Self::MysqlServers => &[
                "mysql_servers",
                "mysql_replication_hostgroups",
                "mysql_group_replication_hostgroups",
                "mysql_galera_hostgroups",
                "mysql_aws_aurora_hostgroups",
                "mysql_hostgroup_attributes",
                "mysql_servers_ssl_params",
            ],
            Self::MysqlQueryRules => &["mysql_query_rules", "mysql_query_rules_fast_routing"],
            Self::MysqlVariables | Self::AdminVariables => &["global_variables"],
            Self::MysqlFirewall => &[
                "mysql_firewall_whitelist_users",
                "mysql_firewall_whitelist_rules",
                "mysql_firewall_whitelist_sqli_fingerprints",
            ],
            Self::Scheduler => &["scheduler"],
            Self::Restapi => &["restapi_routes"],
            Self::ProxysqlServers => &["proxysql_servers"],
            Self::LdapMapping => &["mysql_ldap_mapping"],
        }
    }

    /// The module's tables, defined.
    pub(super) fn definitions(self) -> impl Iterator<Item = &'static Table> {
        self.tables().iter().map(|name| tables::table(name).expect("a module names tables that are defined"))
    }

    /// Which rows of its tables are the module's, as SQL.
    pub(super) fn own_rows(self) -> String {
        match self {
            Self::MysqlVariables => format!("variable_name LIKE '{}-%'", MysqlVariables::MODULE),
            Self::AdminVariables => format!("variable_name LIKE '{}-%'", AdminVariables::MODULE),
            _ => "1".to_owned(),
        }
    }
}

/// The module was saved to disk, or somebody wrote rows of it there.
pub(super) fn is_on_disk(connection: &Connection, module: Module) -> Result<bool, StoreError> {
    let rows: Vec<String> = module
        .tables()
        .iter()
        .map(|table| format!("EXISTS (SELECT 1 FROM disk.{table} WHERE {})", module.own_rows()))
        .collect();
    let sql = format!(
        "SELECT EXISTS (SELECT 1 FROM disk.nuthatch_saved WHERE module = ?1) OR {}",
        rows.join(" OR ")
    );
    Ok(connection.query_row(&sql, [module.as_str()], |row| row.get(0))?)
}

/// `LOAD … FROM DISK`: what is on disk replaces what is in memory.
pub(super) fn disk_to_memory(connection: &Connection, module: Module) -> Result<(), StoreError> {
    replace_rows(connection, module, "disk", "main", sealing::opened_columns)
}

/// `SAVE … TO DISK`: what is in memory replaces what is on disk.
pub(super) fn memory_to_disk(connection: &Connection, module: Module) -> Result<(), StoreError> {
    for table in module.definitions() {
        sealing::refuse_lost(connection, "main", table.name)?;
    }
    replace_rows(connection, module, "main", "disk", sealing::sealed_columns)?;
    connection.execute("INSERT OR IGNORE INTO disk.nuthatch_saved VALUES (?1)", [module.as_str()])?;
    Ok(())
}

/// `values` gives what is selected of a table's columns.
fn replace_rows(
    connection: &Connection,
    module: Module,
    from: &str,
    to: &str,
    values: fn(&Table) -> String,
) -> Result<(), StoreError> {
    let own_rows = module.own_rows();
    for table in module.definitions() {
        let (name, columns, values) = (table.name, table.column_list(), values(table));
        connection.execute_batch(&format!(
            "DELETE FROM {to}.{name} WHERE {own_rows};
             INSERT INTO {to}.{name} ({columns}) SELECT {values} FROM {from}.{name} WHERE {own_rows};"
        ))?;
    }
    Ok(())
}

/// `SAVE … TO MEMORY`: what is in force replaces what is in memory, as the twins show it: passwords sealed. Users and rules that are not in
/// force stay in memory, inactive.
pub(super) fn runtime_to_memory(connection: &Connection, module: Module) -> Result<(), StoreError> {
    let own_rows = module.own_rows();
    for table in module.definitions().filter(|table| table.has_twin) {
        let (name, twin, columns) = (table.name, table.twin(), table.column_list());
        let make_room = match name {
            "mysql_users" | "mysql_query_rules" => format!("UPDATE main.{name} SET active = 0"),
            _ => format!("DELETE FROM main.{name} WHERE {own_rows}"),
        };
        connection.execute_batch(&format!(
            "{make_room};
             INSERT OR REPLACE INTO main.{name} ({columns}) SELECT {columns} FROM main.{twin} WHERE {own_rows};"
        ))?;
    }
    Ok(())
}
