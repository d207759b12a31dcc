//! The `information_schema` that clients probe: schemas, tables and columns of this interface, as ordinary tables.
//!
//! Filled once at start, when all other schemas are there: nothing but data can be changed afterwards. The tables that
//! end in `_SHOWN` and SYSTEM_VARIABLES are ours, for SHOW.

use rusqlite::{Connection, params};

use crate::version;

const TABLES: &str = "
CREATE TABLE information_schema.SCHEMATA (
    CATALOG_NAME VARCHAR, SCHEMA_NAME VARCHAR COLLATE NOCASE, DEFAULT_CHARACTER_SET_NAME VARCHAR,
    DEFAULT_COLLATION_NAME VARCHAR);
CREATE TABLE information_schema.TABLES (
    TABLE_CATALOG VARCHAR, TABLE_SCHEMA VARCHAR COLLATE NOCASE, TABLE_NAME VARCHAR COLLATE NOCASE,
    TABLE_TYPE VARCHAR, ENGINE VARCHAR, TABLE_COMMENT VARCHAR, CREATE_STATEMENT VARCHAR, SCHEMA_PLACE INT);
CREATE TABLE information_schema.COLUMNS (
    TABLE_CATALOG VARCHAR, TABLE_SCHEMA VARCHAR COLLATE NOCASE, TABLE_NAME VARCHAR COLLATE NOCASE,
    COLUMN_NAME VARCHAR COLLATE NOCASE, ORDINAL_POSITION INT, COLUMN_DEFAULT VARCHAR, IS_NULLABLE VARCHAR,
    DATA_TYPE VARCHAR, COLUMN_TYPE VARCHAR, COLUMN_KEY VARCHAR, EXTRA VARCHAR, COLUMN_COMMENT VARCHAR);
CREATE TABLE information_schema.ROUTINES (
    ROUTINE_NAME VARCHAR, ROUTINE_SCHEMA VARCHAR, ROUTINE_TYPE VARCHAR);
CREATE TABLE information_schema.SYSTEM_VARIABLES (VARIABLE_NAME VARCHAR COLLATE NOCASE, VARIABLE_VALUE VARCHAR);
CREATE TABLE information_schema.COLLATIONS_SHOWN (
    COLLATION VARCHAR, CHARSET VARCHAR, ID INT, IS_DEFAULT VARCHAR, MAXLEN INT);
INSERT INTO information_schema.COLLATIONS_SHOWN VALUES
    ('utf8mb4_general_ci', 'utf8mb4', 45, 'Yes', 4), ('utf8mb4_bin', 'utf8mb4', 46, '', 4),
    ('utf8mb4_unicode_ci', 'utf8mb4', 224, '', 4), ('utf8mb3_general_ci', 'utf8mb3', 33, 'Yes', 3),
    ('latin1_swedish_ci', 'latin1', 8, 'Yes', 1), ('binary', 'binary', 63, 'Yes', 1);";

/// Which rows of `sqlite_master` are tables that operators know of.
pub(crate) const VISIBLE: &str = "type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
     AND name NOT LIKE 'nuthatch\\_%' ESCAPE '\\'";

/// Attaches the schema and describes all schemas that are attached by then, itself included.
pub(crate) fn attach(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute("ATTACH DATABASE ':memory:' AS information_schema", [])?;
    connection.execute_batch(TABLES)?;
    let mut insert = connection.prepare("INSERT INTO information_schema.SYSTEM_VARIABLES VALUES (?1, ?2)")?;
    for (name, value) in system_variables() {
        insert.execute(params![name, value])?;
    }
    for (place, schema) in schemas(connection)?.into_iter().enumerate() {
        describe(connection, place, &schema)?;
    }
    Ok(())
}

/// The attached schemas in order; `temp` is not one of them.
pub(crate) fn schemas(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut list =
        connection.prepare("SELECT name FROM pragma_database_list WHERE name <> 'temp' ORDER BY seq")?;
    let names = list.query_map([], |row| row.get(0))?;
    names.collect()
}

fn describe(connection: &Connection, place: usize, schema: &str) -> rusqlite::Result<()> {
    connection.execute(
        "INSERT INTO information_schema.SCHEMATA VALUES ('def', ?1, 'utf8mb4', 'utf8mb4_bin')",
        [schema],
    )?;
    connection.execute(
        &format!(
            "INSERT INTO information_schema.TABLES SELECT 'def', ?1, name, 'BASE TABLE', 'SQLite', '', sql, ?2 \
             FROM {schema}.sqlite_master WHERE {VISIBLE}"
        ),
        params![schema, i64::try_from(place).unwrap_or(i64::MAX)],
    )?;
    connection.execute(
        "INSERT INTO information_schema.COLUMNS \
         SELECT 'def', t.TABLE_SCHEMA, t.TABLE_NAME, c.name, c.cid + 1, c.dflt_value, \
             IIF(c.\"notnull\" OR c.pk, 'NO', 'YES'), \
             LOWER(IIF(INSTR(c.type, '('), SUBSTR(c.type, 1, INSTR(c.type, '(') - 1), c.type)), c.type, \
             IIF(c.pk, 'PRI', ''), '', '' \
         FROM information_schema.TABLES t JOIN pragma_table_info(t.TABLE_NAME, t.TABLE_SCHEMA) c \
         WHERE t.TABLE_SCHEMA = ?1",
        [schema],
    )?;
    Ok(())
}

/// What clients ask a server for by habit, with values that are true of this interface.
fn system_variables() -> [(&'static str, String); 34] {
    [
        ("auto_increment_increment", "1".to_owned()),
        ("autocommit", "1".to_owned()),
        ("character_set_client", "utf8mb4".to_owned()),
        ("character_set_connection", "utf8mb4".to_owned()),
        ("character_set_database", "utf8mb4".to_owned()),
        ("character_set_results", "utf8mb4".to_owned()),
        ("character_set_server", "utf8mb4".to_owned()),
        ("character_set_system", "utf8mb4".to_owned()),
        ("collation_connection", "utf8mb4_general_ci".to_owned()),
        ("collation_database", "utf8mb4_general_ci".to_owned()),
        ("collation_server", "utf8mb4_general_ci".to_owned()),
        ("have_ssl", "DISABLED".to_owned()),
        ("init_connect", String::new()),
        ("interactive_timeout", "28800".to_owned()),
        ("license", "Apache-2.0".to_owned()),
        ("lower_case_file_system", "OFF".to_owned()),
        ("lower_case_table_names", "0".to_owned()),
        ("max_allowed_packet", crate::limits::STATEMENT_BYTES_MAX.to_string()),
        ("net_buffer_length", "16384".to_owned()),
        ("net_read_timeout", "30".to_owned()),
        ("net_write_timeout", "60".to_owned()),
        ("performance_schema", "0".to_owned()),
        ("protocol_version", "10".to_owned()),
        ("query_cache_size", "0".to_owned()),
        ("query_cache_type", "OFF".to_owned()),
        ("sql_auto_is_null", "0".to_owned()),
        ("sql_mode", "NO_BACKSLASH_ESCAPES".to_owned()),
        ("system_time_zone", "UTC".to_owned()),
        ("time_zone", "SYSTEM".to_owned()),
        ("transaction_isolation", "SERIALIZABLE".to_owned()),
        ("tx_isolation", "SERIALIZABLE".to_owned()),
        ("version", version::SERVER_VERSION.to_owned()),
        ("version_comment", version::VERSION_COMMENT.to_owned()),
        ("wait_timeout", "28800".to_owned()),
    ]
}
