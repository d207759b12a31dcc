//! What a first start begins with: rows from the configuration file and the command line.

use std::{collections::BTreeMap, fmt};

use serde::Deserialize;

use crate::{
    variables::{AdminVariables, MysqlVariables},
    verb::Module,
};

/// Rows and variables for the layers, before any disk is read.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Seed {
    /// Rows of `mysql_users`.
    pub users: Vec<SeedRow>,
    /// Rows of `mysql_servers`.
    pub servers: Vec<SeedRow>,
    /// Rows of `mysql_query_rules`. A rule that does not say whether it is active is.
    pub rules: Vec<SeedRow>,
    /// Full names (`mysql-max_connections`) and values.
    pub variables: BTreeMap<String, SeedValue>,
}

/// One row: values by column, under the columns' own names. Columns that are not named take their defaults.
/// `Debug` shows the columns, not what stands in them.
#[derive(Clone, PartialEq, Default, Deserialize)]
#[serde(transparent)]
pub struct SeedRow(BTreeMap<String, SeedValue>);

/// A value of a column or variable.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum SeedValue {
    /// `true` and `false`, as 1 and 0 in a column.
    Flag(bool),
    /// A whole number.
    Integer(i64),
    /// A text.
    Text(String),
}

impl Seed {
    /// Whether it says anything of the module.
    pub(super) fn has(&self, module: Module) -> bool {
        let has_variable = |of: &str| self.variables.keys().any(|name| name.split('-').next() == Some(of));
        match module {
            Module::MysqlUsers => !self.users.is_empty(),
            Module::MysqlServers => !self.servers.is_empty(),
            Module::MysqlQueryRules => !self.rules.is_empty(),
            Module::MysqlVariables => has_variable(MysqlVariables::MODULE),
            Module::AdminVariables => has_variable(AdminVariables::MODULE),
            _ => false,
        }
    }
}

impl SeedRow {
    /// A row that takes every default.
    pub fn new() -> Self {
        Self::default()
    }

    /// The row with `column` set.
    #[must_use]
    pub fn with(mut self, column: &str, value: impl Into<SeedValue>) -> Self {
        self.0.insert(column.to_owned(), value.into());
        self
    }

    pub(super) fn columns(&self) -> impl Iterator<Item = (&str, &SeedValue)> {
        self.0.iter().map(|(column, value)| (column.as_str(), value))
    }
}

impl From<bool> for SeedValue {
    fn from(value: bool) -> Self {
        Self::Flag(value)
    }
}

impl From<i64> for SeedValue {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<&str> for SeedValue {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for SeedValue {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl SeedValue {
    /// As a variable's text.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Flag(value) => value.to_string(),
            Self::Integer(value) => value.to_string(),
            Self::Text(value) => value.clone(),
        }
    }
}

impl rusqlite::ToSql for SeedValue {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        match self {
            Self::Flag(value) => value.to_sql(),
            Self::Integer(value) => value.to_sql(),
            Self::Text(value) => value.to_sql(),
        }
    }
}

impl fmt::Debug for SeedRow {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_set().entries(self.0.keys()).finish()
    }
}

impl fmt::Debug for SeedValue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("..")
    }
}
