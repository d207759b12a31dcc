//! `LOAD … TO RUNTIME`: rows of memory become a part of the snapshot.
//!
//! The twin is filled first, with the active rows; what cannot be used is taken out of it again with a warning; the
//! snapshot's part is made of what is left. So the twin always shows exactly what is in force; passwords it shows sealed.

mod attributes;
mod clusters;
mod failover;
mod named;
mod rows;
mod rules;
mod servers;
mod split;
mod ssl_params;
mod users;
mod variables;

use std::sync::Arc;

use rusqlite::Connection;

use self::rows::table;
use super::{Layers, Outcome, StoreError, Warnings, sealing};
use crate::{snapshot::Snapshot, verb::Module};

impl Layers {
    /// Puts a module in force.
    pub(super) fn load(&mut self, module: Module) -> Result<Outcome, StoreError> {
        let mut warnings = Warnings::default();
        if !matches!(module, Module::MysqlVariables | Module::AdminVariables) {
            fill_twins(&self.connection, module)?;
            warn_of_stored_tables(&self.connection, module, &mut warnings)?;
        }
        let mut next = (*self.snapshot).clone();
        match module {
            Module::MysqlUsers => next.users = users::read(&self.connection, &self.vault, &mut warnings)?,
            Module::MysqlServers => {
                next.hostgroups = servers::read(&self.connection, &mut warnings)?;
                next.hostgroup_attributes = Arc::new(attributes::read(&self.connection, &mut warnings)?);
                next.clusters = Arc::new(clusters::read(&self.connection, &mut warnings)?);
                next.named_hostgroups = Arc::new(named::read(&self.connection)?);
                next.ssl_params = ssl_params::read(&self.connection, &mut warnings)?.into();
            }
            Module::MysqlQueryRules => {
                next.rules =
                    rules::read(&self.connection, next.mysql.query_processor_iterations, &mut warnings)?;
            }
            Module::MysqlVariables => {
                let failover = next.mysql.failover.clone();
                variables::load_mysql(&self.connection, &self.vault, &mut next.mysql, &mut warnings)?;
                failover::refuse(&self.connection, &mut next, &failover, &mut warnings)?;
                next.rules = next.rules.with_restarts_max(next.mysql.query_processor_iterations);
            }
            Module::AdminVariables => {
                variables::load_admin(&self.connection, &self.vault, &mut next.admin, &mut warnings)?;
            }
            _ => return Ok(Outcome { snapshot: None, warnings }),
        }
        named::warn_of_empty(&next, module, &mut warnings);
        if matches!(module, Module::MysqlServers | Module::MysqlVariables) {
            failover::warn(&next, &mut warnings);
            split::warn(&next, &mut warnings);
        }
        Ok(Outcome { snapshot: Some(self.publish(next)), warnings })
    }

    /// Puts the rows of one user in force, as they are in memory.
    pub(super) fn load_user(&mut self, name: &str) -> Result<Outcome, StoreError> {
        let mut warnings = Warnings::default();
        let users = table("mysql_users");
        let (columns, values) = (users.column_list(), sealing::sealed_columns(users));
        self.connection.execute("DELETE FROM main.runtime_mysql_users WHERE username = ?1", [name])?;
        let sql = format!(
            "INSERT INTO main.runtime_mysql_users ({columns}) \
             SELECT {values} FROM main.mysql_users WHERE username = ?1 AND active = 1"
        );
        self.connection.execute(&sql, [name])?;
        let users = users::read(&self.connection, &self.vault, &mut warnings)?;
        let next = Snapshot { users, ..(*self.snapshot).clone() };
        Ok(Outcome { snapshot: Some(self.publish(next)), warnings })
    }

    /// Puts one variable of `mysql-*` in force, and the same in memory, so that the next LOAD keeps it.
    pub(super) fn load_variable(&mut self, name: &str, value: &str) -> Result<Arc<Snapshot>, StoreError> {
        let mut next = (*self.snapshot).clone();
        variables::set_one(&self.connection, &mut next.mysql, name, value)?;
        Ok(self.publish(next))
    }

    fn publish(&mut self, mut next: Snapshot) -> Arc<Snapshot> {
        if !next.serves_like(&self.snapshot) {
            next.epoch = next.epoch.next();
        }
        self.snapshot = Arc::new(next);
        Arc::clone(&self.snapshot)
    }
}

fn fill_twins(connection: &Connection, module: Module) -> Result<(), StoreError> {
    for table in module.definitions().filter(|table| table.has_twin) {
        let (name, twin, columns) = (table.name, table.twin(), table.column_list());
        let values = sealing::sealed_columns(table);
        let in_force = match name {
            "mysql_users" | "mysql_query_rules" => "active = 1",
            _ => "1",
        };
        connection.execute_batch(&format!(
            "DELETE FROM main.{twin};
             INSERT INTO main.{twin} ({columns}) SELECT {values} FROM main.{name} WHERE {in_force};"
        ))?;
    }
    Ok(())
}

fn warn_of_stored_tables(
    connection: &Connection,
    module: Module,
    warnings: &mut Warnings,
) -> Result<(), StoreError> {
    for table in module.definitions().filter(|table| !table.acts && table.has_twin) {
        let sql = format!("SELECT EXISTS (SELECT 1 FROM main.{})", table.twin());
        if connection.query_row(&sql, [], |row| row.get(0))? {
            warnings.push(format!("table \"{}\" is stored but does not act yet", table.name));
        }
    }
    Ok(())
}
