//! The SELECT behind each SHOW.
//!
//! Names of schemas, tables and columns come from the `information_schema` that this crate fills at start, so that a
//! read-only account can be answered without reading the configuration.

use super::super::shown::{Filter, InfoLength, Show, VariableScope, WithType};
use crate::credentials::Rights;

/// SQL with the texts that stand for its parameters `?1`, `?2` …
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Select {
    pub(crate) sql: String,
    pub(crate) parameters: Vec<String>,
}

impl Select {
    fn new(sql: impl Into<String>) -> Self {
        Self { sql: sql.into(), parameters: Vec::new() }
    }

    fn with(mut self, parameter: impl Into<String>) -> Self {
        self.parameters.push(parameter.into());
        self
    }

    /// Keeps the rows that the filter lets through; LIKE looks at the column `column`.
    fn filtered(self, filter: &Filter, column: &str) -> Self {
        let Self { sql, mut parameters } = self;
        match filter {
            Filter::None => Self { sql, parameters },
            Filter::Where(expression) => {
                Self { sql: format!("SELECT * FROM ({sql}) WHERE {expression}"), parameters }
            }
            Filter::Like(pattern) => {
                parameters.push(pattern.clone());
                let place = parameters.len();
                let sql = format!("SELECT * FROM ({sql}) WHERE {column} LIKE ?{place} ESCAPE '\\'");
                Self { sql, parameters }
            }
        }
    }
}

impl Show {
    /// The SELECT that answers it, for a session whose schema is `current` and which has these rights.
    pub(crate) fn select(&self, current: &str, rights: Rights) -> Select {
        let schema = |named: &Option<String>| named.clone().unwrap_or_else(|| current.to_owned());
        match self {
            Self::Databases(filter) => Select::new(DATABASES).filtered(filter, "Database"),
            Self::Tables { schema: named, with_type, filter } => {
                tables(*with_type).with(schema(named)).filtered(filter, "tables")
            }
            Self::TableStatus { schema: named, filter } => {
                Select::new(TABLE_STATUS).with(schema(named)).filtered(filter, "Name")
            }
            Self::CreateTable { schema: named, table } => {
                Select::new(CREATE_TABLE).with(table.as_str()).with(named.as_deref().unwrap_or_default())
            }
            Self::Columns { schema: named, table, filter } => Select::new(COLUMNS)
                .with(table.as_str())
                .with(named.as_deref().unwrap_or_default())
                .filtered(filter, "Field"),
            Self::Indexes => Select::new(INDEXES),
            Self::Variables { scope, filter } => {
                variables(*scope, filter, rights).filtered(filter, "Variable_name")
            }
            Self::Status(filter) => Select::new(STATUS).filtered(filter, "Variable_name"),
            Self::Processlist(length) => processlist(*length),
            Self::Servers => {
                Select::new("SELECT * FROM main.mysql_servers ORDER BY hostgroup_id, hostname, port")
            }
            Self::Users => Select::new("SELECT * FROM main.mysql_users ORDER BY username, active DESC"),
            Self::Charsets(filter) => Select::new(CHARSETS).filtered(filter, "Charset"),
            Self::Collations(filter) => Select::new(COLLATIONS).filtered(filter, "Collation"),
            Self::Engines => Select::new(ENGINES),
        }
    }
}

const DATABASES: &str = "SELECT SCHEMA_NAME AS Database FROM information_schema.SCHEMATA";

const TABLE_STATUS: &str = "SELECT TABLE_NAME AS Name, ENGINE AS Engine, NULL AS Version, NULL AS Row_format, \
     NULL AS Rows, NULL AS Avg_row_length, NULL AS Data_length, NULL AS Max_data_length, NULL AS Index_length, \
     NULL AS Data_free, NULL AS Auto_increment, NULL AS Create_time, NULL AS Update_time, NULL AS Check_time, \
     'utf8mb4_bin' AS Collation, NULL AS Checksum, '' AS Create_options, '' AS Comment \
     FROM information_schema.TABLES WHERE TABLE_SCHEMA = ?1 COLLATE NOCASE ORDER BY TABLE_NAME";

const CREATE_TABLE: &str = "SELECT TABLE_NAME AS \"table\", CREATE_STATEMENT AS \"Create Table\" \
     FROM information_schema.TABLES \
     WHERE TABLE_NAME = ?1 COLLATE NOCASE AND ?2 IN ('', TABLE_SCHEMA) ORDER BY SCHEMA_PLACE LIMIT 1";

const COLUMNS: &str = "SELECT COLUMN_NAME AS Field, COLUMN_TYPE AS Type, IS_NULLABLE AS \"Null\", \
     COLUMN_KEY AS Key, COLUMN_DEFAULT AS \"Default\", EXTRA AS Extra FROM information_schema.COLUMNS \
     WHERE TABLE_NAME = ?1 COLLATE NOCASE AND TABLE_SCHEMA = (SELECT TABLE_SCHEMA FROM information_schema.TABLES t \
     WHERE t.TABLE_NAME = ?1 COLLATE NOCASE AND ?2 IN ('', t.TABLE_SCHEMA) ORDER BY t.SCHEMA_PLACE LIMIT 1) \
     ORDER BY ORDINAL_POSITION";

const INDEXES: &str = "SELECT '' AS \"Table\", 0 AS Non_unique, '' AS Key_name, 0 AS Seq_in_index, \
     '' AS Column_name WHERE 0";

const STATUS: &str =
    "SELECT Variable_Name AS Variable_name, Variable_Value AS Value FROM stats.stats_mysql_global";

const CHARSETS: &str = "SELECT CHARSET AS Charset, CHARSET AS Description, COLLATION AS \"Default collation\", \
     MAXLEN AS Maxlen FROM information_schema.COLLATIONS_SHOWN WHERE IS_DEFAULT = 'Yes'";

const COLLATIONS: &str = "SELECT COLLATION AS Collation, CHARSET AS Charset, ID AS Id, IS_DEFAULT AS \"Default\", \
     'Yes' AS Compiled, 1 AS Sortlen FROM information_schema.COLLATIONS_SHOWN";

const ENGINES: &str = "SELECT 'SQLite' AS Engine, 'DEFAULT' AS Support, \
     'Tables of the admin interface' AS Comment, 'YES' AS Transactions, 'NO' AS XA, 'YES' AS Savepoints";

fn tables(with_type: WithType) -> Select {
    let column = match with_type {
        WithType::Yes => ", TABLE_TYPE AS Table_type",
        WithType::No => "",
    };
    Select::new(format!(
        "SELECT TABLE_NAME AS tables{column} FROM information_schema.TABLES \
         WHERE TABLE_SCHEMA = ?1 COLLATE NOCASE ORDER BY TABLE_NAME"
    ))
}

fn processlist(length: InfoLength) -> Select {
    let info = match length {
        InfoLength::First100 => "SUBSTR(info, 1, 100) AS info",
        InfoLength::Full => "info",
    };
    Select::new(format!(
        "SELECT SessionID, user, db, hostgroup, command, time_ms, {info} FROM stats.stats_mysql_processlist \
         ORDER BY SessionID"
    ))
}

/// A read-only account must not see our variables (passwords are among them): it sees those that clients probe for.
fn variables(scope: VariableScope, filter: &Filter, rights: Rights) -> Select {
    let own = "SELECT variable_name AS Variable_name, variable_value AS Value FROM main.global_variables";
    let probed = "SELECT VARIABLE_NAME AS Variable_name, VARIABLE_VALUE AS Value FROM information_schema.SYSTEM_VARIABLES";
    let sql = match (rights, scope, filter) {
        (Rights::ReadStats, VariableScope::All, _) => probed.to_owned(),
        (Rights::Full, VariableScope::All, Filter::Like(_) | Filter::Where(_)) => {
            format!("{own} UNION ALL {probed}")
        }
        (Rights::Full, VariableScope::All, Filter::None) => own.to_owned(),
        (_, VariableScope::Mysql, _) => format!("{own} WHERE variable_name LIKE 'mysql-%'"),
        (_, VariableScope::Admin, _) => format!("{own} WHERE variable_name LIKE 'admin-%'"),
    };
    Select::new(format!("SELECT * FROM ({sql}) ORDER BY Variable_name"))
}
