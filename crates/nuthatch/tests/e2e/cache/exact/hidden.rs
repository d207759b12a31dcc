//! What an answer may follow although it is nowhere to be seen in the text, and no table has changed: today's date, behind a TIME; the
//! session's last insert id, row count and place in a sequence.

use nuthatch_lab::Kind;
use nuthatch_wire::CapabilityFlags;

use super::{await_known, hits, is_hit, on};
use crate::client::{Client, Value};
use crate::proxy::Setup;
use crate::stage::Stage;

const SHIFTS: [&str; 6] = [
    "CREATE TABLE shifts (id INT PRIMARY KEY AUTO_INCREMENT, begins TIME, ends TIME, moment DATETIME)",
    "INSERT INTO shifts VALUES (1, '10:00:00', '12:00:00', '2020-01-01 10:00:00')",
    "CREATE TABLE days (id INT PRIMARY KEY, begins DATETIME)",
    "INSERT INTO days VALUES (1, '2020-01-01 10:00:00')",
    "CREATE VIEW plain AS SELECT id, begins AS b, HOUR(ends) AS hour, moment FROM shifts",
    "CREATE VIEW dated AS SELECT id, TIMESTAMP(begins) AS b FROM shifts",
];

/// With nothing but SELECTs of these kept.
const KEPT: &str = "SELECT begins, ends FROM shifts WHERE id = 1";

fn stage(kind: Kind, statements: &[&str]) -> (Stage, Client) {
    let stage = Stage::of(kind, on(Setup::default()));
    let mut client = stage.client();
    for statement in SHIFTS.iter().chain(statements) {
        client.ok(statement);
    }
    await_known(&stage, &mut client, KEPT);
    (stage, client)
}

/// How many sessions keep a connection for that reason.
fn pinned_by(stage: &Stage, reason: &str) -> String {
    stage
        .proxy
        .operator()
        .value(format!("SELECT COUNT(*) FROM stats_mysql_processlist WHERE extended_info LIKE '%{reason}%'"))
}

#[track_caller]
fn assert_never_hit(stage: &Stage, client: &mut Client, select: &str) {
    client.ok(select);
    assert!(!is_hit(stage, client, select), "{select}");
}

fn answers_that_may_rest_on_today_are_not_cached(kind: Kind) {
    let (stage, mut client) = stage(kind, &[]);
    for select in [
        "SELECT TIMESTAMP(begins) FROM shifts",
        "SELECT DATE(begins), DAYNAME(begins) FROM shifts",
        "SELECT CAST(begins AS DATETIME) FROM shifts",
        "SELECT DATEDIFF(begins, moment) FROM shifts",
        "SELECT IF(id, begins, moment) FROM shifts",
        "SELECT begins FROM shifts UNION SELECT moment FROM shifts",
        "SELECT * FROM shifts WHERE moment > begins",
        "SELECT b > moment FROM plain",
        "SELECT b FROM dated",
        "SELECT COUNT(*) FROM shifts NATURAL JOIN days",
        "SELECT COUNT(*) FROM shifts JOIN days USING (begins)",
        "SELECT begins > TIME'10:00:00' FROM days",
        "SELECT begins > {t '10:00:00'} FROM days",
        "SELECT begins > SEC_TO_TIME(id) FROM days",
        "SELECT x > moment FROM (SELECT begins AS x, moment FROM shifts) s",
    ] {
        assert_never_hit(&stage, &mut client, select);
    }
    assert_eq!(
        client
            .table("EXPLAIN CACHE SELECT DATE(begins) FROM shifts")
            .iter()
            .filter(|row| row[1].contains("today's"))
            .count(),
        1
    );
    for select in [
        KEPT,
        "SELECT * FROM shifts ORDER BY begins",
        "SELECT id FROM shifts WHERE begins < '11:00:00' AND ends > begins AND moment > '2019-01-01'",
        "SELECT HOUR(begins), COUNT(*) FROM shifts GROUP BY HOUR(begins)",
        "SELECT * FROM plain WHERE b >= '09:00'",
        "SELECT days.begins FROM shifts JOIN days ON days.id = shifts.id",
    ] {
        client.ok(select);
        assert!(is_hit(&stage, &mut client, select), "{select}");
    }
}

#[test]
fn answers_that_may_rest_on_today_are_not_cached_on_mariadb() {
    answers_that_may_rest_on_today_are_not_cached(Kind::MariaDb);
}

#[test]
fn answers_that_may_rest_on_today_are_not_cached_on_mysql() {
    answers_that_may_rest_on_today_are_not_cached(Kind::MySql);
}

#[test]
fn time_that_is_bound_is_no_reason_beside_a_time_and_one_beside_a_date() {
    let (stage, mut client) = stage(Kind::MariaDb, &[]);
    for (select, expected) in [
        ("SELECT id FROM shifts WHERE begins <= ?", true),
        ("SELECT id FROM shifts WHERE moment > ?", false),
        ("SELECT COUNT(*) FROM days WHERE begins > ?", false),
    ] {
        let statement = client.prepare(select).expect("it is prepared");
        let mut ask = || client.execute(&statement, &[Value::Time([10, 0, 0])]).expect("it runs");
        ask();
        let before = hits(&stage);
        ask();
        assert_eq!(hits(&stage) > before, expected, "{select}");
    }
}

#[test]
fn hint_that_asks_for_the_last_insert_id_gives_nobody_that_of_another() {
    let (stage, _) = stage(Kind::MySql, &[]);
    let [mut writer, mut other] = [(); 2].map(|()| stage.client());
    let select = "SELECT /*+ SET_VAR(sql_auto_is_null=1) */ id FROM shifts WHERE id IS NULL";
    for id in ["2", "3"] {
        writer.ok("INSERT INTO shifts (begins) VALUES ('11:00:00')");
        assert_eq!(writer.table(select), [[id]]);
        assert_eq!(other.table(select), [[""; 0]; 0], "it has made no row");
    }
    assert!(!is_hit(&stage, &mut other, select));
}

/// MySQL does not put these back: whoever had the connection next stood still in time, or wrote the row of another.
#[test]
fn what_a_hint_leaves_on_its_connection_is_met_by_nobody_else() {
    let (stage, _) = stage(Kind::MySql, &[]);
    let mut other = stage.client();
    for eof in [true, false] {
        for (hint, checks) in [
            ("timestamp = 1000000000", "now() > '2010-01-01'"),
            ("max_join_size = 1", "@@sql_big_selects = 0"),
        ] {
            for statement in [
                format!("SELECT /*+ SET_VAR({hint}) */ 1"),
                format!("SELECT /*+ SET_VAR({hint}) */ 1 FROM nowhere"),
                format!("EXPLAIN SELECT /*+ SET_VAR({hint}) */ 1"),
                format!("PREPARE one FROM 'SELECT /*+ SET_VAR({hint}) */ 1'"),
            ] {
                let login = stage.login();
                let login = if eof { login } else { login.without(CapabilityFlags::CLIENT_DEPRECATE_EOF) };
                let mut client = stage.proxy.client(&login);
                client.ok("SET sql_big_selects = 0");
                drop(client.query(&statement));
                other.ok("SET sql_big_selects = 0");
                assert_eq!(other.value(format!("SELECT {checks}")), "1", "{statement}");
            }
            let mut client = stage.client();
            let select = format!("SELECT /*+ SET_VAR({hint}) */ ?");
            client.prepare(&select).expect("it is prepared");
            assert_eq!(other.value(format!("SELECT {checks}")), "1", "prepared: {select}");
        }
    }
    let mut client = stage.client();
    client.ok("SELECT /*+ SET_VAR(insert_id = 77) */ 1");
    other.ok("INSERT INTO shifts (begins) VALUES ('11:00:00')");
    assert_eq!(other.value("SELECT LAST_INSERT_ID()"), "2");
    assert_eq!(pinned_by(&stage, "session_variable"), "1");
    client.ok("SELECT /*+ SET_VAR(sort_buffer_size = 65536) */ 1");
    assert_eq!(pinned_by(&stage, "stored_code"), "0", "the text explains what the server tells of");
}

#[test]
fn what_belongs_to_the_session_in_oracle_mode_is_given_to_nobody_else() {
    let (stage, mut first) = stage(Kind::MariaDb, &["CREATE SEQUENCE numbers"]);
    let mut second = stage.client();
    for client in [&mut first, &mut second] {
        client.ok("SET sql_mode = 'ORACLE'");
    }
    first.ok("UPDATE shifts SET ends = '13:00:00'");
    assert_eq!(first.value("SELECT SQL%ROWCOUNT FROM DUAL"), "1");
    second.ok("DELETE FROM days WHERE id = 7");
    assert_eq!(second.value("SELECT SQL%ROWCOUNT FROM DUAL"), "0");
    // Behind rows it is their number, and each such question is a row.
    second.ok("SELECT id FROM shifts UNION SELECT 9 UNION SELECT 10");
    for expected in ["3", "1"] {
        assert_eq!(second.value("SELECT SQL%ROWCOUNT"), expected);
    }
    for (client, expected) in [(&mut first, "1"), (&mut second, "2")] {
        assert_eq!(client.value("SELECT numbers.nextval FROM DUAL"), expected);
    }
    first.ok("START TRANSACTION");
    assert_eq!(first.value("SELECT numbers.nextval FROM DUAL"), "3");
    for select in ["SELECT numbers.currval FROM DUAL", "SELECT numbers.\"CURRVAL\" FROM DUAL"] {
        assert_never_hit(&stage, &mut first, select);
    }
    first.ok("COMMIT");
    assert_never_hit(&stage, &mut first, "SELECT SYSDATE, id FROM shifts");
    let limited = "SELECT id FROM shifts WHERE ROWNUM <= 1";
    first.ok(limited);
    assert!(is_hit(&stage, &mut first, limited));
}

#[test]
fn definition_of_a_table_in_brackets_is_seen() {
    let (stage, mut reader) = stage(
        Kind::MariaDb,
        &["CREATE TABLE `my table` (id INT PRIMARY KEY)", "INSERT INTO `my table` VALUES (1)"],
    );
    let select = "SELECT * FROM `my table`";
    await_known(&stage, &mut reader, select);
    let mut writer = stage.client();
    writer.ok("SET sql_mode = 'MSSQL'");
    writer.ok("ALTER TABLE [my table] ADD [a column] INT DEFAULT 5");
    assert_eq!(reader.table(select), [["1", "5"]]);
    await_known(&stage, &mut reader, select);
    writer.ok("INSERT INTO [my table] VALUES (2, 6)");
    assert_eq!(reader.table(select).len(), 2);
}

/// `$@i` in a path is the session's user variable, and the default of a column the clock.
#[test]
fn what_rests_on_a_variable_or_a_default_out_of_sight_is_not_cached() {
    for kind in [Kind::MariaDb, Kind::MySql] {
        let (stage, mut first) = stage(
            kind,
            &[
                "CREATE TABLE docs (id INT PRIMARY KEY, x TEXT, at DATETIME DEFAULT CURRENT_TIMESTAMP)",
                "INSERT INTO docs (id, x) VALUES (1, '<a><b>x</b><b>y</b></a>')",
                "CREATE VIEW paths AS SELECT ExtractValue(x, '//b[$@i]') AS b FROM docs",
            ],
        );
        let mut second = stage.client();
        first.ok("SET @i = 1");
        second.ok("SET @i = 2");
        for select in [
            "SELECT ExtractValue('<a><b>x</b><b>y</b></a>', '//b[$@i]')",
            "SELECT UpdateXML(x, '//b[$@i]', '') FROM docs",
            "SELECT b FROM paths",
        ] {
            let [one, two] = [&mut first, &mut second].map(|client| client.value(select));
            assert_ne!(one, two, "{kind:?}: {select}");
        }
        // MySQL makes no such view.
        if kind == Kind::MariaDb {
            first.ok("CREATE VIEW later AS SELECT id, DEFAULT(at) AS at FROM docs");
            await_known(&stage, &mut first, KEPT);
            assert_never_hit(&stage, &mut first, "SELECT at FROM later");
        }
    }
}
