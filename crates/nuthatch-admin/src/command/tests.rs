//! The grammar, row by row.

use super::shown::{InfoLength, VariableScope, WithType};
use super::*;
use crate::data_plane::{FailoverOrder, SwitchoverMode, SwitchoverOrder};

fn check(rows: &[(&str, Command)]) {
    for (statement, expected) in rows {
        assert_eq!(&parse(statement), expected, "{statement}");
    }
}

#[test]
fn loads_and_saves_are_the_configurations_verbs() {
    use nuthatch_config::{Direction, Module, Verb};
    for (statement, module, direction) in [
        ("LOAD MYSQL USERS TO RUNTIME", Module::MysqlUsers, Direction::MemoryToRuntime),
        ("load  mysql\n query rules to run", Module::MysqlQueryRules, Direction::MemoryToRuntime),
        ("SAVE MYSQL SERVERS TO DISK", Module::MysqlServers, Direction::MemoryToDisk),
        ("SAVE ADMIN VARIABLES FROM RUNTIME", Module::AdminVariables, Direction::RuntimeToMemory),
        ("LOAD MYSQL VARIABLES FROM CONFIG", Module::MysqlVariables, Direction::ConfigToMemory),
    ] {
        assert_eq!(parse(statement), Command::Transfer(Verb::Copy(module, direction)), "{statement}");
    }
}

#[test]
fn wrong_loads_say_what_is_taken() {
    for statement in
        ["LOAD", "LOAD MYSQL USERS", "SAVE MYSQL USERS TO RUNTIME", "LOAD MYSQL USERS TO RUNTIME NOW"]
    {
        assert!(matches!(parse(statement), Command::Malformed(_)), "{statement}");
    }
    for statement in ["LOAD LDAP VARIABLES TO RUNTIME", "SAVE PGSQL SERVERS TO DISK"] {
        assert!(matches!(parse(statement), Command::Unsupported(_)), "{statement}");
    }
}

#[test]
fn verbs_answer_to_both_names() {
    for name in ["PROXYSQL", "nuthatch"] {
        for (verb, expected) in [
            ("FLUSH QUERY CACHE", Command::EmptyQueryCache),
            ("flush  query cache", Command::EmptyQueryCache),
            ("PAUSE", Command::Act(ProcessVerb::Pause)),
            ("RESUME", Command::Act(ProcessVerb::Resume)),
            ("SHUTDOWN", Command::Act(ProcessVerb::Shutdown)),
            ("SHUTDOWN SLOW", Command::Act(ProcessVerb::Shutdown)),
            ("KILL", Command::Act(ProcessVerb::Kill)),
            (
                "FLUSH LOGS",
                Command::Unsupported("the verb FLUSH LOGS (PROXYSQL HELP lists those that are)".to_owned()),
            ),
        ] {
            assert_eq!(parse(&format!("{name} {verb}")), expected, "{name} {verb}");
        }
    }
}

#[test]
fn query_cache_is_flushed_reset_and_purged_in_mysqls_words() {
    check(&[
        ("FLUSH QUERY CACHE", Command::Nothing),
        ("reset query cache", Command::EmptyQueryCache),
        ("PURGE QUERY CACHE", Command::EmptyQueryCache),
        ("PURGE QUERY CACHE RULE 7", Command::PurgeQueryCache("PURGE QUERY CACHE RULE 7".to_owned())),
        ("explain cache SELECT 1", Command::ExplainCache("explain cache SELECT 1".to_owned())),
    ]);
    assert!(matches!(parse("PURGE LOGS"), Command::Malformed(_)));
}

#[test]
fn switchover_names_hostgroup_and_server() {
    let order = |hostname: &str, port, mode| {
        Command::Switchover(SwitchoverOrder { hostgroup: 10, hostname: hostname.to_owned(), port, mode })
    };
    check(&[
        ("NUTHATCH SWITCHOVER HOSTGROUP 10 TO 'db2:3307'", order("db2", 3307, SwitchoverMode::Act)),
        ("nuthatch switchover hostgroup 10 to \"db2\" check", order("db2", 3306, SwitchoverMode::Check)),
    ]);
    for wrong in
        ["", "HOSTGROUP 1", "HOSTGROUP x TO 'a:1'", "HOSTGROUP 1 TO 'a:x'", "HOSTGROUP 1 TO 'a:1' NOW"]
    {
        assert!(matches!(parse(&format!("NUTHATCH SWITCHOVER {wrong}")), Command::Malformed(_)), "{wrong}");
    }
}

#[test]
fn failover_names_hostgroup_and_perhaps_a_server() {
    let order = |to: Option<(&str, u16)>, mode| {
        let to = to.map(|(host, port)| (host.to_owned(), port));
        Command::Failover(FailoverOrder { hostgroup: 10, to, mode })
    };
    check(&[
        ("NUTHATCH FAILOVER HOSTGROUP 10", order(None, SwitchoverMode::Act)),
        ("nuthatch failover hostgroup 10 check", order(None, SwitchoverMode::Check)),
        (
            "NUTHATCH FAILOVER HOSTGROUP 10 TO 'db2:3307' CHECK",
            order(Some(("db2", 3307)), SwitchoverMode::Check),
        ),
    ]);
    for wrong in ["", "HOSTGROUP x", "HOSTGROUP 1 TO", "HOSTGROUP 1 TO 'a:x'", "HOSTGROUP 1 NOW"] {
        assert!(matches!(parse(&format!("NUTHATCH FAILOVER {wrong}")), Command::Malformed(_)), "{wrong}");
    }
}

#[test]
fn hostgroup_is_held_for_a_minute_or_as_long_as_it_says() {
    let hold = |max_ms| Command::Order { hostgroup: 10, order: HostgroupOrder::Hold { max_ms } };
    check(&[
        ("NUTHATCH HOLD HOSTGROUP 10", hold(60_000)),
        ("proxysql hold hostgroup 10 max 500", hold(500)),
        ("NUTHATCH RELEASE HOSTGROUP 10", Command::Order { hostgroup: 10, order: HostgroupOrder::Release }),
    ]);
    for wrong in [
        "HOLD HOSTGROUP",
        "HOLD HOSTGROUP -1",
        "HOLD HOSTGROUP 1 MAX 0",
        "HOLD HOSTGROUP 1 MAX 3600001",
        "HOLD HOSTGROUP 1 2",
        "RELEASE HOSTGROUP x",
    ] {
        assert!(matches!(parse(&format!("NUTHATCH {wrong}")), Command::Malformed(_)), "{wrong}");
    }
}

#[test]
fn kill_truncate_and_use_take_one_thing() {
    check(&[
        ("KILL CONNECTION 7", Command::Kill(7)),
        ("kill 7", Command::Kill(7)),
        ("KILL QUERY 7", Command::Unsupported("KILL QUERY".to_owned())),
        ("TRUNCATE stats.stats_mysql_query_digest", Command::TruncateDigests),
        ("TRUNCATE TABLE `stats`.`stats_mysql_query_digest`", Command::TruncateDigests),
        ("TRUNCATE TABLE stats_mysql_query_digest_reset", Command::TruncateDigests),
        ("USE stats", Command::Use("stats".to_owned())),
        ("use `stats`", Command::Use("stats".to_owned())),
    ]);
    for statement in [
        "KILL",
        "KILL x",
        "KILL 1 2",
        "TRUNCATE mysql_users",
        "TRUNCATE disk.stats_mysql_query_digest",
        "USE",
    ] {
        assert!(matches!(parse(statement), Command::Malformed(_)), "{statement}");
    }
}

#[test]
fn own_variables_are_set_and_session_settings_are_taken() {
    let set =
        |name: &str, value: &str| Command::SetVariable { name: name.to_owned(), value: value.to_owned() };
    check(&[
        ("SET mysql-max_connections=2000", set("mysql-max_connections", "2000")),
        ("set mysql-server_version = '8.0.11'", set("mysql-server_version", "8.0.11")),
        ("SET MYSQL-x=\"a;b\"", set("mysql-x", "a;b")),
        (
            "SET admin-admin_credentials='admin:a=b;x:it''s'",
            set("admin-admin_credentials", "admin:a=b;x:it's"),
        ),
        ("SET GLOBAL mysql-x=1", set("mysql-x", "1")),
        ("SET @@mysql-x = true", set("mysql-x", "true")),
        ("SET @@global.mysql-x := 1", set("mysql-x", "1")),
        ("SET admin-stats_credentials=''", set("admin-stats_credentials", "")),
        ("SET NAMES utf8mb4", Command::Nothing),
        ("SET AUTOCOMMIT = 0", Command::Nothing),
        ("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", Command::Nothing),
        ("SET sql_mode='ANSI'", Command::Nothing),
        ("SET character_set_results = NULL", Command::Nothing),
    ]);
    for statement in ["SET mysql-x=", "SET mysql-x='a' 'b'", "SET mysql-x='a', mysql-y='b'"] {
        assert!(matches!(parse(statement), Command::Malformed(_)), "{statement}");
    }
}

#[test]
fn show_forms_are_known() {
    let show = Command::Show;
    let like = |pattern: &str| Filter::Like(pattern.to_owned());
    let name = |name: &str| Some(name.to_owned());
    check(&[
        ("SHOW DATABASES", show(Show::Databases(Filter::None))),
        ("show schemas like 'm%'", show(Show::Databases(like("m%")))),
        ("SHOW TABLES", show(Show::Tables { schema: None, with_type: WithType::No, filter: Filter::None })),
        (
            "SHOW FULL TABLES FROM `stats` LIKE \"stats\\_%\"",
            show(Show::Tables { schema: name("stats"), with_type: WithType::Yes, filter: like("stats\\_%") }),
        ),
        ("SHOW CREATE TABLE disk.mysql_users", {
            show(Show::CreateTable { schema: name("disk"), table: "mysql_users".to_owned() })
        }),
        (
            "SHOW VARIABLES WHERE Variable_name IN ('a')",
            show(Show::Variables {
                scope: VariableScope::All,
                filter: Filter::Where("Variable_name IN ('a')".to_owned()),
            }),
        ),
        ("SHOW GLOBAL VARIABLES", show(Show::Variables { scope: VariableScope::All, filter: Filter::None })),
        ("SHOW ALL VARIABLES", show(Show::Variables { scope: VariableScope::All, filter: Filter::None })),
        ("SHOW MYSQL VARIABLES", show(Show::Variables { scope: VariableScope::Mysql, filter: Filter::None })),
        ("SHOW ADMIN VARIABLES", show(Show::Variables { scope: VariableScope::Admin, filter: Filter::None })),
        ("SHOW MYSQL STATUS", show(Show::Status(Filter::None))),
        ("SHOW GLOBAL STATUS LIKE 'Questions'", show(Show::Status(like("Questions")))),
        ("SHOW PROCESSLIST", show(Show::Processlist(InfoLength::First100))),
        ("SHOW FULL PROCESSLIST", show(Show::Processlist(InfoLength::Full))),
        ("SHOW MYSQL SERVERS", show(Show::Servers)),
        ("SHOW MYSQL USERS", show(Show::Users)),
        ("SHOW CHARSET", show(Show::Charsets(Filter::None))),
        ("SHOW CHARACTER SET LIKE 'utf8%'", show(Show::Charsets(like("utf8%")))),
        ("SHOW COLLATION", show(Show::Collations(Filter::None))),
        ("SHOW ENGINES", show(Show::Engines)),
        (
            "SHOW TABLE STATUS FROM main",
            show(Show::TableStatus { schema: name("main"), filter: Filter::None }),
        ),
        (
            "SHOW FULL COLUMNS FROM t FROM stats LIKE 'a'",
            show(Show::Columns { schema: name("stats"), table: "t".to_owned(), filter: like("a") }),
        ),
        (
            "SHOW FIELDS IN stats.t",
            show(Show::Columns { schema: name("stats"), table: "t".to_owned(), filter: Filter::None }),
        ),
        ("DESC t", show(Show::Columns { schema: None, table: "t".to_owned(), filter: Filter::None })),
        ("SHOW WARNINGS", Command::Warnings),
        ("SHOW WARNINGS LIMIT 10", Command::Warnings),
        ("SHOW COUNT(*) WARNINGS", Command::WarningCount),
        ("SHOW PROMETHEUS METRICS", Command::PrometheusMetrics),
        ("SHOW NONSENSE", Command::Malformed("SHOW does not know NONSENSE".to_owned())),
    ]);
}

#[test]
fn the_rest_is_sql() {
    check(&[
        ("", Command::Nothing),
        ("SELECT 1", Command::Sql("SELECT 1".to_owned())),
        ("start transaction", Command::Sql("BEGIN".to_owned())),
        ("COMMIT", Command::EndTransaction("COMMIT")),
        ("rollback work", Command::EndTransaction("ROLLBACK")),
        ("ROLLBACK TO a", Command::Sql("ROLLBACK TO a".to_owned())),
        ("REPLACE INTO t VALUES (1)", Command::Sql("REPLACE INTO t VALUES (1)".to_owned())),
    ]);
}
