use rusqlite::Connection;

use super::*;

#[test]
fn every_table_can_be_created_and_its_twin() {
    let connection = Connection::open_in_memory().unwrap();
    for table in TABLES {
        connection.execute_batch(&table.create_text("main", table.name)).unwrap();
        connection.execute_batch(&table.create_text("", &table.twin())).unwrap();
    }
}

/// An empty row takes exactly the defaults that the definition says.
#[test]
fn defaults_are_what_the_definition_says() {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(&table("mysql_servers").unwrap().create_text("", "t")).unwrap();
    connection.execute("INSERT INTO t (hostname) VALUES ('h')", []).unwrap();
    let row: String = connection
        .query_row(
            "SELECT hostgroup_id || ',' || port || ',' || gtid_port || ',' || status || ',' || weight || ',' || \
             max_connections FROM t",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(row, "0,3306,0,ONLINE,1,1000");
}

#[test]
fn create_text_reads_as_proxysql_writes_it() {
    let text = table("MYSQL_USERS").unwrap().create_text("", "mysql_users");
    assert!(
        text.starts_with(
            "CREATE TABLE mysql_users (\n    username VARCHAR NOT NULL,\n    password VARCHAR,\n"
        )
    );
    assert!(text.contains("    active INT CHECK (active IN (0, 1)) NOT NULL DEFAULT 1,\n"));
    assert!(text.ends_with("    PRIMARY KEY (username, backend),\n    UNIQUE (username, frontend)\n)"));
}
