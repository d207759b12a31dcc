//! What `information_schema` and SHOW tell of definitions, as tools, object mappers and WordPress ask for it.

use nuthatch_lab::Kind;

use crate::client::{Client, Failure};
use crate::deadline::await_that;
use crate::proxy::Setup;
use crate::stage::Stage;

use super::{await_known, exact, is_hit, on, user_with, warm};

/// Django asks so behind each of its tests that commits.
const TABLES: &str = "SELECT table_name, table_type, table_comment FROM information_schema.tables \
                      WHERE table_schema = DATABASE()";
const COLUMNS: &str = "SELECT c.table_name, c.column_name, c.column_type, c.column_comment \
                       FROM information_schema.columns AS c WHERE c.table_schema = DATABASE()";
const KEYS: &str = "SELECT table_name, index_name, column_name FROM information_schema.statistics \
                    WHERE table_schema = DATABASE()";

/// Of which answers change by what is done in the test that asks them.
const SHOWN: [&str; 5] = [
    "SHOW FULL TABLES WHERE Table_type IN ('BASE TABLE', 'VIEW')",
    "SHOW TABLES LIKE '_'",
    "SHOW FULL COLUMNS FROM `t`",
    "SHOW COLUMNS FROM t LIKE 'v%'",
    "SHOW FIELDS FROM t WHERE Field = 'v'",
];

#[test]
fn definitions_are_cached_until_one_changes() {
    let stage = Stage::alone(on(Setup::default()));
    let (mut reader, mut writer) = (stage.client(), stage.client());
    for change in [
        "CREATE TABLE u (id INT PRIMARY KEY)",
        "CREATE TABLE IF NOT EXISTS w LIKE u",
        "CREATE TABLE x AS SELECT 1 AS y",
        "ALTER TABLE t COMMENT 'told'",
        "ALTER TABLE t MODIFY v VARCHAR(50) COMMENT 'how'",
        "ALTER TABLE t ADD INDEX by_v (v)",
        "CREATE INDEX other ON u (id)",
        "DROP INDEX by_v ON t",
        "CREATE VIEW n AS SELECT id FROM t",
        "ALTER VIEW n AS SELECT v FROM t",
        "DROP VIEW n",
        "RENAME TABLE u TO renamed, t TO u, renamed TO t",
        "DROP TABLE w, x",
        "DROP TABLE IF EXISTS t",
        "EXECUTE IMMEDIATE 'CREATE TABLE t (id INT PRIMARY KEY, v INT)'",
    ] {
        for question in [TABLES, COLUMNS, KEYS] {
            await_known(&stage, &mut reader, question);
        }
        writer.ok(change);
        for question in [TABLES, COLUMNS, KEYS] {
            assert_eq!(reader.table(question), stage.primary().table(question), "{change}");
        }
    }
}

#[test]
fn definitions_stay_when_rows_are_written() {
    let stage = Stage::alone(on(Setup::default()));
    let (mut reader, mut writer) = (stage.client(), stage.client());
    await_known(&stage, &mut reader, TABLES);
    for write in
        ["UPDATE t SET v = 'other' WHERE id = 1", "DELETE FROM t", "TRUNCATE TABLE t", "ANALYZE TABLE t"]
    {
        writer.ok(write);
        assert!(is_hit(&stage, &mut reader, TABLES), "{write}");
    }
    for sizes in [
        "SELECT table_name, table_rows FROM information_schema.tables WHERE table_schema = DATABASE()",
        "SELECT * FROM information_schema.tables WHERE table_schema = DATABASE()",
    ] {
        reader.ok(sizes);
        assert!(!is_hit(&stage, &mut reader, sizes), "{sizes}");
    }
}

#[test]
fn shown_definitions_of_mariadb_are_cached_until_one_changes() {
    are_cached_until_one_changes(Kind::MariaDb);
}

#[test]
fn shown_definitions_of_mysql_are_cached_until_one_changes() {
    are_cached_until_one_changes(Kind::MySql);
}

fn are_cached_until_one_changes(kind: Kind) {
    let stage = Stage::of(kind, on(Setup::default()));
    let (mut reader, mut writer) = (stage.client(), stage.client());
    let told = |client: &mut Client, question| {
        client.query(question).map(|answer| answer.rows).map_err(Failure::server)
    };
    for change in [
        "ALTER TABLE t ADD vv INT",
        "CREATE TABLE u (id INT PRIMARY KEY)",
        "ALTER TABLE t MODIFY v VARCHAR(50) NOT NULL COMMENT 'how'",
        "CREATE INDEX by_v ON t (v)",
        "CREATE VIEW n AS SELECT id FROM t",
        "RENAME TABLE u TO w, t TO u, w TO t",
        "ALTER TABLE t ADD v INT",
        "DROP TABLE t",
    ] {
        for question in SHOWN {
            await_known(&stage, &mut reader, question);
        }
        // Once the definitions of the change before are known.
        await_that("rows alone take nothing with them", || {
            writer.ok("DELETE FROM t");
            is_hit(&stage, &mut reader, SHOWN[2])
        });
        writer.ok(change);
        for question in SHOWN {
            let direct = told(&mut stage.primary(), question);
            assert_eq!(told(&mut reader, question), direct, "{change}: {question}");
        }
    }
    let later = format!("{}_later", stage.schema);
    let schemas = format!("SHOW DATABASES LIKE '{later}'");
    await_known(&stage, &mut reader, &schemas);
    writer.ok(format!("CREATE DATABASE {later}"));
    assert_eq!(reader.table(&schemas), [[later.clone()]]);
    writer.ok(format!("DROP DATABASE {later}"));
    assert!(reader.table(&schemas).is_empty());
}

#[test]
fn what_is_left_behind_shown_definitions_is_left_behind_a_hit() {
    let stage = exact();
    let mut reader = stage.client();
    let shown = "SHOW COLUMNS FROM t";
    await_known(&stage, &mut reader, shown);
    for (asked, expected) in
        [("SELECT FOUND_ROWS()", "2"), ("SELECT ROW_COUNT()", "-1"), ("SELECT @@warning_count", "0")]
    {
        reader.query_all("SELECT CAST('x' AS SIGNED), 1 LIMIT 1").unwrap();
        assert!(is_hit(&stage, &mut reader, shown));
        reader.table(shown);
        assert_eq!(reader.value(asked), expected, "{asked}");
    }
    for told in
        ["SHOW CREATE TABLE t", "SHOW INDEX FROM t", "SHOW TABLE STATUS LIKE 't'", "SHOW TABLES FROM mysql"]
    {
        reader.ok(told);
        assert!(!is_hit(&stage, &mut reader, told), "{told}");
    }
}

#[test]
fn shown_columns_tell_of_privileges_and_of_temporary_tables() {
    let stage = exact();
    let mut admin = stage.client();
    let (name, mut reader) = user_with(&stage, &format!("SELECT ON {}.t", stage.schema));
    let shown = "SHOW FULL COLUMNS FROM t LIKE 'v'";
    let privileges = |reader: &mut Client| reader.table(shown)[0][7].clone();
    await_known(&stage, &mut reader, shown);
    assert_eq!(privileges(&mut reader), "select");
    admin.ok(format!("GRANT UPDATE (v) ON {}.t TO {name}@'%'", stage.schema));
    assert_eq!(privileges(&mut reader), "select,update");
    await_known(&stage, &mut admin, "SHOW COLUMNS FROM t");
    admin.ok("CREATE TEMPORARY TABLE t (only_here INT)");
    assert_eq!(admin.table("SHOW COLUMNS FROM t")[0][0], "only_here");
    admin.ok("DROP TEMPORARY TABLE t");
    assert_eq!(admin.table("SHOW COLUMNS FROM t").len(), 2);
}

#[test]
fn columns_are_not_cached_where_a_view_has_others_each_time() {
    let stage = Stage::alone(on(Setup::default()));
    let (mut reader, mut writer) = (stage.client(), stage.client());
    await_known(&stage, &mut reader, COLUMNS);
    writer.ok("CREATE VIEW late AS SELECT REPEAT('a', SECOND(NOW())) AS x");
    await_known(&stage, &mut reader, TABLES);
    reader.ok(COLUMNS);
    assert!(!is_hit(&stage, &mut reader, COLUMNS));
    writer.ok("DROP VIEW late");
    await_known(&stage, &mut reader, COLUMNS);
}

#[test]
fn privileges_that_count_from_the_login_on_count_at_once() {
    let stage = exact();
    let mut admin = stage.client();
    let (name, mut reader) = user_with(&stage, &format!("SELECT ON {}.*", stage.schema));
    let told =
        "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'mysql' AND table_name = 'db'";
    for (change, expected) in [
        (format!("GRANT SELECT ON *.* TO {name}@'%'"), "1"),
        (format!("REVOKE SELECT ON *.* FROM {name}@'%'"), "0"),
        (format!("GRANT SELECT ON *.* TO {name}@'%'"), "1"),
        (format!("DO 1; REVOKE SELECT ON *.* FROM {name}@'%'"), "0"),
    ] {
        await_known(&stage, &mut reader, told);
        admin.query_all(&change).unwrap();
        assert_eq!(reader.value(told), expected, "{change}");
    }
}

#[test]
fn user_is_told_of_what_is_granted_now() {
    let stage = exact();
    let mut admin = stage.client();
    admin.ok("CREATE TABLE granted_later (id INT PRIMARY KEY)");
    let (name, mut reader) = user_with(&stage, &format!("SELECT ON {}.t", stage.schema));
    let names = "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY table_name";
    await_known(&stage, &mut reader, names);
    assert_eq!(reader.table(names), [["t"]]);
    admin.ok(format!("GRANT SELECT ON {}.granted_later TO {name}@'%'", stage.schema));
    assert_eq!(reader.table(names), [["granted_later"], ["t"]]);
    admin.ok(format!("REVOKE SELECT ON {}.t FROM {name}@'%'", stage.schema));
    assert_eq!(reader.table(names), [["granted_later"]]);
    let mut other = stage.client();
    warm(&stage, &mut other, names);
    assert_ne!(other.table(names), reader.table(names));
}
