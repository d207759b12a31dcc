//! What the scout sees and refuses, statement by statement.

use super::*;

fn scout() -> Scout {
    let other = Connection::open_in_memory().unwrap();
    other
        .execute_batch(
            "ATTACH ':memory:' AS disk; ATTACH ':memory:' AS stats;
             CREATE TABLE main.mysql_users (username VARCHAR, backend INT);
             CREATE TABLE main.runtime_mysql_users (username VARCHAR);
             CREATE TABLE disk.mysql_users (username VARCHAR);
             CREATE TABLE stats.stats_mysql_users (username VARCHAR);
             CREATE TABLE stats.stats_mysql_global (name VARCHAR);",
        )
        .unwrap();
    Scout::of(&other, &["main", "disk", "stats"].map(str::to_owned)).unwrap()
}

#[test]
fn what_a_statement_mentions_is_seen() {
    let scout = scout();
    for (sql, stats_tables, runtime_tables, touches_configuration) in [
        ("SELECT 1", vec![], vec![], false),
        ("SELECT username FROM stats_mysql_users", vec!["stats_mysql_users"], vec![], false),
        ("SELECT COUNT(*) FROM stats_mysql_users", vec!["stats_mysql_users"], vec![], false),
        ("SELECT COUNT(*) FROM STATS.Stats_MySQL_Users", vec!["stats_mysql_users"], vec![], false),
        ("SELECT 1 FROM stats_mysql_users WHERE 0", vec!["stats_mysql_users"], vec![], false),
        (
            "SELECT * FROM stats_mysql_users, (SELECT name FROM stats_mysql_global)",
            vec!["stats_mysql_users", "stats_mysql_global"],
            vec![],
            false,
        ),
        ("SELECT 'stats_mysql_users' FROM mysql_users", vec![], vec![], true),
        ("SELECT COUNT(*) FROM mysql_users", vec![], vec![], true),
        ("SELECT COUNT(*) FROM runtime_mysql_users", vec![], vec!["runtime_mysql_users"], true),
        ("DELETE FROM disk.mysql_users", vec![], vec![], true),
        ("BEGIN", vec![], vec![], true),
        ("SAVEPOINT a", vec![], vec![], true),
        ("WITH x AS (SELECT 1) SELECT COUNT(*) FROM x", vec![], vec![], false),
    ] {
        let mut seen = scout.look(sql, Rights::Full).unwrap();
        seen.stats_tables.sort_unstable_by_key(|table| std::cmp::Reverse(table.clone()));
        let found = (seen.stats_tables, seen.runtime_tables, seen.touches_configuration);
        assert_eq!(found, (owned(&stats_tables), owned(&runtime_tables), touches_configuration), "{sql}");
    }
}

#[test]
fn only_rows_of_the_configuration_can_be_changed() {
    let scout = scout();
    for sql in
        ["INSERT INTO mysql_users VALUES ('a', 1)", "UPDATE disk.mysql_users SET username = 'b'", "COMMIT"]
    {
        assert!(scout.look(sql, Rights::Full).is_ok(), "{sql}");
        assert_eq!(
            refusal(&scout, sql, Rights::ReadStats),
            "this account may only read the statistics",
            "{sql}"
        );
    }
    for sql in [
        "CREATE TABLE t (a)",
        "CREATE TEMP TABLE t (a)",
        "CREATE TEMP TRIGGER t AFTER INSERT ON mysql_users BEGIN SELECT 1; END",
        "ALTER TABLE mysql_users ADD COLUMN x",
        "DROP TABLE mysql_users",
        "DELETE FROM sqlite_master",
        "UPDATE runtime_mysql_users SET username = ''",
        "INSERT INTO Runtime_Mysql_Users VALUES ('')",
        "DELETE FROM stats_mysql_users",
        "ATTACH 'x' AS y",
        "DETACH disk",
        "PRAGMA writable_schema = 1",
        "ANALYZE",
        "SELECT load_extension('x')",
    ] {
        assert!(scout.look(sql, Rights::Full).is_err(), "{sql}");
    }
}

#[test]
fn an_account_for_statistics_reads_no_configuration() {
    let scout = scout();
    for sql in [
        "SELECT * FROM mysql_users",
        "SELECT COUNT(*) FROM mysql_users",
        "SELECT COUNT(*) FROM MAIN.Mysql_Users",
        "SELECT COUNT(*) FROM disk.mysql_users",
        "SELECT (SELECT username FROM mysql_users) FROM stats_mysql_users",
        "SELECT COUNT(*) FROM runtime_mysql_users",
        "SELECT sql FROM sqlite_master",
        "PRAGMA table_info(mysql_users)",
    ] {
        assert_eq!(
            refusal(&scout, sql, Rights::ReadStats),
            "this account may only read the statistics",
            "{sql}"
        );
    }
    assert!(scout.look("SELECT COUNT(*) FROM stats_mysql_users", Rights::ReadStats).is_ok());
}

fn refusal(scout: &Scout, sql: &str, rights: Rights) -> String {
    scout.look(sql, rights).unwrap_err().to_string()
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}
