//! SQL and SHOW: what SQLite answers.

use nuthatch_config::{ServerStatus, StoreError};
use rusqlite::Connection;
use rusqlite::types::Value;

use super::{Desk, typed};
use crate::answer::{Answer, Rows};
use crate::clerk::scout::Seen;
use crate::clerk::{Call, TransactionState, Undone, execute};
use crate::command::{self, Filter, Select, Show};
use crate::credentials::Rights;
use crate::error::AdminError;
use crate::stats;

impl Desk {
    /// A client's own SQL.
    pub(super) fn sql(&mut self, call: &Call, text: &str) -> Result<Answer, Undone> {
        let (sql, variables) = command::rewrite(text);
        let values = variables
            .iter()
            .map(|variable| self.variable(call, &variable.name))
            .collect::<Result<Vec<_>, _>>()?;
        let mut answer = self.execute(call, &sql, &values)?;
        if let Answer::Rows(Rows { columns, .. }) = &mut answer {
            // A column without an alias is named by its text, and that was typed with the variables' names.
            for (place, variable) in variables.iter().enumerate().rev() {
                let parameter = format!("?{}", place + 1);
                columns
                    .iter_mut()
                    .for_each(|column| column.name = column.name.replace(&parameter, &variable.typed));
            }
        }
        Ok(answer)
    }

    /// COMMIT or ROLLBACK. Drivers send it whether or not there is anything to end.
    pub(super) fn end_transaction(&mut self, call: &Call, sql: &str) -> Result<Answer, Undone> {
        match self.transaction_of(&call.caller) {
            TransactionState::Open => self.execute(call, sql, &[]),
            TransactionState::None => Ok(Answer::done()),
        }
    }

    /// A SHOW, by the SELECT behind it.
    pub(super) fn show(&mut self, call: &Call, show: &Show) -> Result<Answer, Undone> {
        let Select { sql, parameters } = show.select(&call.schema, call.caller.rights);
        let parameters: Vec<Value> = parameters.into_iter().map(Value::Text).collect();
        let answer = self.execute(call, &sql, &parameters)?;
        match (show, &answer) {
            (
                Show::Columns { schema, table, filter: Filter::None } | Show::CreateTable { schema, table },
                Answer::Rows(Rows { rows, .. }),
            ) if rows.is_empty() => {
                let schema = schema.as_deref().unwrap_or(&call.schema);
                Err(AdminError::UnknownTable(format!("{schema}.{table}")).into())
            }
            _ => Ok(answer),
        }
    }

    fn execute(&mut self, call: &Call, sql: &str, parameters: &[Value]) -> Result<Answer, Undone> {
        let seen = self.scout.look(sql, call.caller.rights)?;
        if seen.touches_configuration {
            self.wait_for_others(&call.caller)?;
        }
        self.fill(&seen)?;
        let run = |connection: &Connection| {
            execute::run(connection, &self.watch, sql, parameters, seen.inserts_into.as_deref())
        };
        let answer = match seen.writes_to_disk {
            true => self.layers.sealing_disk(run).map_err(|error| refused(&error)).flatten(),
            false => run(self.layers.connection()),
        };
        self.note_transaction(&call.caller);
        Ok(answer?)
    }

    /// Brings what the statement mentions of the running proxy up to this moment.
    fn fill(&self, seen: &Seen) -> Result<(), AdminError> {
        let filled = self.layers.trusted(|connection| {
            for table in &seen.stats_tables {
                stats::refill(connection, table, self.plane.as_ref())?;
            }
            Ok(())
        });
        let shown = seen
            .runtime_tables
            .iter()
            .filter(|table| table.eq_ignore_ascii_case("runtime_mysql_servers"))
            .try_for_each(|_| self.show_servers());
        filled.and(shown).map_err(|error| refused(&error))
    }

    /// Brings `runtime_mysql_servers` up to this moment.
    fn show_servers(&self) -> Result<(), StoreError> {
        self.layers.show_servers(&self.plane.servers_in_force())
    }

    /// The same with the statuses that are asked for, by the operator or by what servers are: what they do right now is not to be kept.
    pub(super) fn show_servers_to_keep(&self) -> Result<(), StoreError> {
        let mut servers = self.plane.servers_in_force();
        for (server, status) in &mut servers {
            *status = match server.status {
                ServerStatus::Shunned => ServerStatus::Online,
                asked_for => asked_for,
            };
        }
        self.layers.show_servers(&servers)
    }

    /// The value of `@@name`: ours from memory, as ProxySQL answers, and only for those who may read the configuration;
    /// others as probed.
    fn variable(&self, call: &Call, name: &str) -> Result<Value, Undone> {
        let (table, column) = if name.starts_with("mysql-") || name.starts_with("admin-") {
            if call.caller.rights == Rights::ReadStats {
                return Err(AdminError::StatsAccount.into());
            }
            self.wait_for_others(&call.caller)?;
            ("main.global_variables", "variable")
        } else {
            ("information_schema.SYSTEM_VARIABLES", "VARIABLE")
        };
        let sql = format!("SELECT {column}_value FROM {table} WHERE {column}_name = ?1 COLLATE NOCASE");
        let found: Result<String, _> = self.layers.connection().query_row(&sql, [name], |row| row.get(0));
        match found {
            Ok(text) => Ok(typed(text)),
            Err(rusqlite::Error::QueryReturnedNoRows) => {
                Err(AdminError::UnknownVariable(name.to_owned()).into())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The line of COM_STATISTICS, in MySQL's form.
    pub(super) fn statistics_line(&self) -> String {
        use crate::statistic::Statistic;
        let samples = self.plane.status();
        let value = |statistic: Statistic| {
            samples.iter().find(|sample| sample.statistic == statistic).map_or(0, |sample| sample.value)
        };
        format!(
            "Uptime: {}  Threads: {}  Questions: {}  Slow queries: {}",
            value(Statistic::Uptime),
            value(Statistic::ClientConnectionsConnected),
            value(Statistic::Questions),
            value(Statistic::SlowQueries),
        )
    }
}

/// What the layers refused, in their words and those of what is below.
pub(super) fn refused(error: &StoreError) -> AdminError {
    use std::error::Error as _;
    let mut text = format!("failed to {error}");
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    AdminError::Refused(text)
}
