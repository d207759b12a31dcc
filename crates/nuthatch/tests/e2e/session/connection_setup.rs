//! What applications, frameworks and drivers send when they connect, and on each page: none of it pins a connection or keeps the session off
//! the cache, and all of it does what it does on a server.
//!
//! The statements are those of the programs' own sources, of the versions that are in use.

use nuthatch_lab::Kind;
use nuthatch_wire::CapabilityFlags;

use crate::client::Client;
use crate::proxy::Setup;
use crate::session::differential::check_same;
use crate::stage::{CACHE_ALL, Stage};

/// A program, and what it sends in one session.
struct Habit {
    of: &'static str,
    only: Option<Kind>,
    sends: &'static [&'static str],
}

const fn habit(of: &'static str, sends: &'static [&'static str]) -> Habit {
    Habit { of, only: None, sends }
}

const fn on(kind: Kind, of: &'static str, sends: &'static [&'static str]) -> Habit {
    Habit { of, only: Some(kind), sends }
}

#[rustfmt::skip]
const HABITS: &[Habit] = &[
    habit("Adminer", &["SET sql_quote_show_create = 1, autocommit = 1", "SELECT USER()", "SELECT @@version_comment"]),
    habit("Adminer, an export", &[
        "SET NAMES utf8mb4", "SET time_zone = '+00:00'", "SET foreign_key_checks = 0", "SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO'",
    ]),
    habit("phpMyAdmin", &[
        "SET NAMES 'utf8mb4' COLLATE 'utf8mb4_general_ci'", "SET collation_connection = 'utf8mb4_unicode_ci';",
        "SET lc_messages = 'en_US';", "SELECT @@version, @@version_comment", "SET SQL_MODE=\"\"", "SET time_zone = \"+00:00\"",
        "SELECT 1 FROM mysql.user LIMIT 1", "SELECT CURRENT_USER()", "SHOW VARIABLES LIKE 'lower_case_table_names'",
        "SELECT `SCHEMA_NAME` FROM `INFORMATION_SCHEMA`.`SCHEMATA`", "SET SQL_QUOTE_SHOW_CREATE = 1;", "SET FOREIGN_KEY_CHECKS = ON;",
        "SET SESSION sql_big_selects=1", "SET character_set_client = utf8mb4", "SHOW GRANTS",
    ]),
    habit("phpMyAdmin, who looks for users", &[
        "SELECT COUNT(*) FROM mysql.user", "SELECT 1 FROM `mysql`.`db` LIMIT 1", "SELECT * FROM mysql.user WHERE User = 'nobody'",
    ]),
    habit("WordPress", &[
        "SET NAMES utf8mb4", "SELECT @@SESSION.sql_mode",
        "SET SESSION sql_mode='ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'",
        "SET NAMES 'utf8mb4' COLLATE 'utf8mb4_unicode_520_ci'",
    ]),
    habit("MediaWiki", &[
        "SET /* Wikimedia */ group_concat_max_len = 262144, sql_mode = ''", "SET NAMES binary", "SET lock_wait_timeout = 10",
        "SET SESSION innodb_lock_wait_timeout = 15, SESSION lock_wait_timeout = 10",
    ]),
    habit("Joomla", &["SET @@SESSION.sql_mode = '';", "SET sql_big_selects=1", "SET NAMES 'utf8mb4'"]),
    habit("Drupal", &[
        "SET NAMES utf8mb4 COLLATE utf8mb4_general_ci", "SET sql_mode = 'ANSI,TRADITIONAL'",
        "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    ]),
    habit("Magento", &["SET SQL_MODE=''", "SET NAMES utf8", "SET TIME_ZONE='+00:00'", "SET FOREIGN_KEY_CHECKS=0"]),
    habit("Django", &["SET SQL_AUTO_IS_NULL = 0", "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "SET foreign_key_checks=1"]),
    habit("Rails 7", &[
        "SET NAMES utf8mb4 COLLATE utf8mb4_unicode_ci, @@SESSION.sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES'), @@SESSION.sql_auto_is_null = 0, @@SESSION.wait_timeout = 2147483",
    ]),
    habit("Rails 4", &["SET NAMES utf8, @@SESSION.sql_auto_is_null = 0, @@SESSION.wait_timeout = 2147483, @@SESSION.sql_mode = 'STRICT_ALL_TABLES'"]),
    habit("Laravel 8", &[
        "use `{schema}`;", "set names 'utf8mb4' collate 'utf8mb4_unicode_ci'", "set time_zone=\"+00:00\"",
        "set session sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'",
    ]),
    habit("Laravel 11", &[
        "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED;",
        "SET NAMES 'utf8mb4' COLLATE 'utf8mb4_unicode_ci', time_zone='+00:00', SESSION sql_mode='NO_ENGINE_SUBSTITUTION';",
    ]),
    habit("Yii, Symfony, Sequelize, TypeORM", &[
        "SET NAMES 'utf8mb4'", "SET SESSION time_zone = '+00:00'", "SET autocommit = 1", "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ;",
    ]),
    habit("Hibernate over Connector/J", &[
        "/* mysql-connector-j-8.4.0 */SELECT @@session.auto_increment_increment AS auto_increment_increment, @@wait_timeout AS wait_timeout",
        "SET character_set_results = NULL", "SET autocommit=1", "SET sql_mode='STRICT_TRANS_TABLES'", "SET SESSION TRANSACTION READ WRITE",
        "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", "SET SQL_SELECT_LIMIT=DEFAULT", "SET net_write_timeout=600",
        "SET NAMES utf8mb4", "SET SESSION sql_mode=concat(@@sql_mode,',STRICT_TRANS_TABLES')",
    ]),
    habit("MariaDB Connector/J", &[
        "set autocommit=1, sql_mode = concat(@@sql_mode,',STRICT_TRANS_TABLES')",
        "set autocommit=1, names utf8mb4, session sql_mode = 'STRICT_TRANS_TABLES'", "SELECT @@max_allowed_packet, @@wait_timeout",
        "SET SQL_SELECT_LIMIT=DEFAULT", "SET NAMES utf8mb4",
    ]),
    habit("MariaDB Connector/J, session variables", &["set session_track_schema=1, autocommit=1, sql_mode=concat(@@sql_mode,',STRICT_TRANS_TABLES')"]),
    habit("MySQL Connector/ODBC", &[
        "SET NAMES utf8", "SET character_set_results = NULL", "SET SQL_AUTO_IS_NULL = 0", "SET AUTOCOMMIT=1", "set @@sql_select_limit=DEFAULT",
        "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    ]),
    habit("MariaDB Connector/ODBC", &["SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", "SET AUTOCOMMIT=1, SQL_AUTO_IS_NULL=0", "SET NAMES utf8mb4"]),
    habit("MySQL Connector/Python", &[
        "SET NAMES 'utf8mb4' COLLATE 'utf8mb4_general_ci'", "SET @@session.time_zone = '+00:00'",
        "SET @@session.sql_mode = 'TRADITIONAL'", "SET @@session.autocommit = ON",
    ]),
    habit("PyMySQL and mysqlclient", &["SET NAMES utf8mb4", "SET sql_mode='ANSI'", "SET AUTOCOMMIT = 1"]),
    habit("go-sql-driver, parameters", &["SET NAMES utf8mb4 COLLATE utf8mb4_bin", "SET autocommit=1,sql_mode='ANSI',time_zone='+00:00'"]),
    habit("DBD::mysql", &["SET NAMES 'utf8'", "SET AUTOCOMMIT=1", "set wait_timeout=10000"]),
    habit("MySqlConnector and Connector/NET", &[
        "SHOW VARIABLES LIKE 'max_allowed_packet'", "SET character_set_results=NULL", "SET SQL_MODE=ANSI_QUOTES", "SET sql_safe_updates=0",
        "SET NAMES utf8mb4", "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    ]),
    habit("DBeaver", &[
        "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", "SET SQL_SELECT_LIMIT=200", "SET autocommit=1", "SELECT DATABASE()",
        "SHOW VARIABLES LIKE 'lower_case_table_names'", "SET SQL_SELECT_LIMIT=DEFAULT",
    ]),
    habit("MySQL Workbench", &[
        "SET NAMES 'utf8'", "SET CHARACTER SET utf8", "SET SQL_SAFE_UPDATES=1", "SHOW SESSION STATUS LIKE 'Ssl_cipher'", "set autocommit=1",
        "SHOW SESSION VARIABLES LIKE 'sql_mode'", "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", "SET net_read_timeout=600",
        "SELECT current_user()", "SET CHARACTER SET utf8mb4",
    ]),
    habit("HeidiSQL", &[
        "SET NAMES utf8mb4", "SHOW VARIABLES", "SHOW /*!50002 GLOBAL */ STATUS", "SELECT NOW()",
        "SET SQL_MODE='NO_ENGINE_SUBSTITUTION'", "SHOW DATABASES",
    ]),
    habit("the mysql client with --safe-updates", &["SET sql_safe_updates=1, sql_select_limit=1000, max_join_size=1000000"]),
    habit("mysqldump", &[
        "/*!40100 SET @@SQL_MODE='' */", "/*!40103 SET TIME_ZONE='+00:00' */", "SET SESSION NET_READ_TIMEOUT= 86400, SESSION NET_WRITE_TIMEOUT= 86400",
        "SET SQL_QUOTE_SHOW_CREATE=1", "SET SESSION character_set_results = 'binary'", "SET SESSION character_set_results = 'utf8mb4'",
        "/*!80000 SET SESSION information_schema_stats_expiry=0 */", "SET NAMES utf8mb4",
    ]),
    on(Kind::MariaDb, "mariadb-dump", &["/*!100100 SET @@MAX_STATEMENT_TIME=0.000000 */", "/*M!100200 SET NAMES utf8mb4 */"]),
    habit("pt-table-checksum and gh-ost", &[
        "SET SESSION innodb_lock_wait_timeout=1", "SET SESSION lock_wait_timeout=60", "SET @@SQL_QUOTE_SHOW_CREATE = 1/*!40101, @@SQL_MODE='NO_AUTO_VALUE_ON_ZERO'*/",
        "/*!40101 SET NAMES \"utf8mb4\"*/", "SET SESSION time_zone = '+00:00'", "SET autocommit = 1",
    ]),
    habit("those who tune", &[
        "SET optimizer_switch = 'index_merge=off'", "SET SESSION optimizer_switch='mrr=on,mrr_cost_based=off'", "SET SESSION sort_buffer_size = 1024*1024*4",
        "SET max_join_size = DEFAULT", "SET sql_big_selects = DEFAULT", "SET character_set_server = utf8mb4", "SET collation_server = 'utf8mb4_bin'",
        "SET profiling = 1",
    ]),
    habit("old PHP", &["SET CHARACTER SET utf8", "SET CHARACTER SET 'utf8mb4'", "SET character_set_client='utf8', character_set_results='utf8', collation_connection='utf8_general_ci'"]),
    on(Kind::MariaDb, "Galera and slow logs", &[
        "SET SESSION wsrep_sync_wait = 7", "SET SESSION wsrep_causal_reads = 1", "SET log_queries_not_using_indexes = 1", "SET log_slow_filter = 'admin'",
        "SET log_slow_admin_statements = 0",
    ]),
];

fn check(kind: Kind) {
    let stage = Stage::before_kind(kind, Setup::default().rule(CACHE_ALL));
    let wrong: Vec<String> = HABITS
        .iter()
        .filter(|habit| habit.only.is_none_or(|only| only == kind))
        .filter_map(|habit| pinned_by(&stage, habit))
        .collect();
    assert!(wrong.is_empty(), "on {kind:?}:\n{}", wrong.join("\n"));
}

/// After which statement the session holds a connection, or is given no hit.
fn pinned_by(stage: &Stage, habit: &Habit) -> Option<String> {
    let mut client = stage.client();
    let asked = "SELECT v FROM t WHERE id = 1";
    for sent in habit.sends {
        let sent = sent.replace("{schema}", &stage.schema);
        client.ok(&sent);
        client.settle();
        let said = |what: &str| Some(format!("{}: {sent}: {what}", habit.of));
        let held = stage
            .proxy
            .operator()
            .value("SELECT COALESCE(GROUP_CONCAT(extended_info), '') FROM stats_mysql_processlist");
        if !held.is_empty() {
            return said(&format!("holds {held}"));
        }
        client.ok(asked);
        let hits = stage.figure("Query_Cache_count_GET_OK");
        client.ok(asked);
        if stage.figure("Query_Cache_count_GET_OK") == hits {
            return said("no hit");
        }
    }
    client.quit();
    None
}

/// Why sessions hold connections.
fn held(stage: &Stage) -> String {
    let reasons = "SELECT COALESCE(GROUP_CONCAT(extended_info), '') FROM stats_mysql_processlist";
    stage.proxy.operator().value(reasons)
}

#[test]
fn what_programs_send_when_they_connect_pins_nothing() {
    check(Kind::MariaDb);
}

#[test]
fn what_programs_send_when_they_connect_to_mysql_pins_nothing() {
    check(Kind::MySql);
}

/// Client libraries without `CLIENT_DEPRECATE_EOF` (PHP's) are told no more than that something has changed.
#[test]
fn views_of_the_servers_own_pin_nothing() {
    let stage = Stage::plain();
    let mut primary = stage.primary();
    let old = stage.login().without(CapabilityFlags::CLIENT_DEPRECATE_EOF);
    for login in
        [stage.login(), old.clone(), old.clone().schema(""), old.clone().schema("mysql"), old.schema("sys")]
    {
        for asked in [
            "SELECT 1 FROM mysql.user LIMIT 1",
            "SELECT COUNT(*) FROM `mysql`.`user`",
            "SELECT * FROM sys.version",
            "DESCRIBE mysql.user",
            "SELECT COUNT(*) FROM information_schema.tables",
        ] {
            // So that the view is loaded.
            primary.ok("FLUSH TABLES");
            let mut client = stage.proxy.client(&login);
            client.ok(asked);
            client.settle();
            assert_eq!(held(&stage), "", "{asked}");
        }
    }
}

/// Measured on MariaDB 10.11 and MySQL 9.7: profiles belong to the connection, and outlive a reset on MariaDB.
#[test]
fn profiles_are_each_sessions_own() {
    for kind in [Kind::MariaDb, Kind::MySql] {
        let stage = Stage::before_kind(kind, Setup::default());
        stage.administer([
            "UPDATE mysql_servers SET max_connections = 2 WHERE hostgroup_id = 0",
            "LOAD MYSQL SERVERS TO RUNTIME",
        ]);
        let (mut profiled, mut plain) = (stage.client(), stage.client());
        profiled.ok("SET profiling = 1");
        profiled.settle();
        assert_eq!(held(&stage), "", "nothing is profiled yet");
        plain.ok("SELECT v FROM t WHERE id = 1");
        profiled.ok("SELECT v FROM t WHERE id = 2");
        plain.ok("SELECT v FROM t WHERE id = 3");
        profiled.ok("SELECT v FROM t WHERE id = 2");
        assert_eq!(held(&stage), "{\"pinned_by\":\"profiles\"}");
        let texts = |client: &mut Client| -> Vec<String> {
            client.table("SHOW PROFILES").into_iter().map(|mut row| row.remove(2)).collect()
        };
        assert_eq!(texts(&mut profiled), ["SELECT v FROM t WHERE id = 2"; 2]);
        profiled.ok("SET profiling = 0");
        assert_eq!(texts(&mut profiled).len(), 2);
        assert!(texts(&mut plain).is_empty());
        profiled.quit();
        plain.ok("SELECT v FROM t WHERE id = 1");
        for mut next in [stage.client(), stage.client()] {
            assert!(texts(&mut next).is_empty(), "{kind:?}");
        }
    }
}

#[test]
fn a_set_of_several_kinds_does_what_it_does_on_a_server() {
    check_same(
        &Stage::plain(),
        &[
            "SET sql_quote_show_create = 0, autocommit = 0",
            "SHOW CREATE TABLE t",
            "INSERT INTO c (a) VALUES (7)",
            "SET NAMES latin1, autocommit = 1, @a = 5, sql_notes = 0",
            "ROLLBACK",
            "SELECT COUNT(*), @a, @@autocommit, @@sql_notes, @@character_set_client, @@collation_connection FROM c",
            "SET autocommit = 0, NAMES utf8mb4, sql_mode = 'nonsense'",
            "SELECT @@autocommit, @@character_set_client, @@sql_mode",
            "SET NAMES nonsense, autocommit = 0",
            "SET autocommit = 0, NAMES latin1 COLLATE utf8mb4_bin",
            "SELECT @@autocommit, @@character_set_client",
            "SET NAMES utf8mb4, @s = 'x'",
            "SELECT @s, COLLATION(@s), COLLATION('x')",
            "SET @s = 'y', collation_connection = latin1_bin",
            "SELECT @s, COLLATION(@s), COLLATION('x')",
            "SET character_set_results = latin1, NAMES utf8mb4",
            "SELECT @@character_set_results",
            "SET NAMES utf8mb4, character_set_results = latin1",
            "SELECT @@character_set_results",
            "SET @@tx_isolation = 'READ-COMMITTED', NAMES utf8mb4, @b = @@autocommit",
            "SELECT @@tx_isolation, @b",
            "SET autocommit = DEFAULT, @c = 3, max_statement_time = @@lock_wait_timeout",
            "SELECT @@autocommit, @c, @@max_statement_time = @@lock_wait_timeout FROM t",
            "SET autocommit = 0, autocommit = 1, autocommit = 0, @d = 1",
            "INSERT INTO c (a) VALUES (8)",
            "SET @old = @@autocommit, autocommit = 1",
            "ROLLBACK",
            "SELECT COUNT(*), @old FROM c",
            "SET autocommit = @old",
            "SELECT @@autocommit FROM t",
        ],
    );
}

#[test]
fn parts_of_the_character_sets_are_set_as_on_a_server() {
    let charsets = "SELECT @@character_set_client, @@character_set_results, @@character_set_connection, @@collation_connection, v FROM t";
    check_same(
        &Stage::plain(),
        &[
            "SET CHARACTER SET latin1",
            charsets,
            "SET NAMES utf8mb4",
            charsets,
            "SET character_set_client = latin1",
            charsets,
            "SET collation_connection = utf8mb4_bin",
            charsets,
            "SET character_set_client = utf8mb4, character_set_results = NULL",
            charsets,
            "SET character_set_client = latin1, collation_connection = utf8mb4_german2_ci",
            charsets,
            "SET character_set_results = NULL",
            "SET character_set_client = latin1",
            charsets,
            "SET CHARACTER SET utf8mb4, NAMES latin1",
            charsets,
            "SET CHARACTER SET nonsense",
            "SET character_set_client = utf16",
            "SET CHARACTER SET utf16",
            charsets,
            "SET CHARACTER SET DEFAULT",
            charsets,
            "SET NAMES utf8mb4",
            charsets,
        ],
    );
}

#[test]
fn what_sets_a_part_of_more_does_what_it_does_on_a_server() {
    let selects = "SELECT @@max_join_size, @@sql_big_selects, v FROM t WHERE id = 1";
    let of_servers = "SELECT @@character_set_server, @@collation_server, v FROM t WHERE id = 1";
    let logged = "SELECT @@log_slow_filter, @@log_queries_not_using_indexes, @@log_slow_disabled_statements, @@log_slow_admin_statements, v FROM t";
    let galera = "SELECT @@wsrep_sync_wait, @@wsrep_causal_reads, v FROM t";
    check_same(
        &Stage::plain(),
        &[
            "SET max_join_size = 100000",
            selects,
            "SET sql_big_selects = 1",
            selects,
            "SET max_join_size = 200000",
            selects,
            "SET sql_big_selects = 1, max_join_size = 300000",
            selects,
            "SET max_join_size = 300000, sql_big_selects = 1",
            selects,
            "SET max_join_size = DEFAULT",
            selects,
            "SET sql_big_selects = 0",
            selects,
            "SET sql_big_selects = DEFAULT",
            selects,
            "SET max_join_size = @@lock_wait_timeout + 5, sql_big_selects = 1",
            selects,
            "SET character_set_server = latin1",
            of_servers,
            "SET collation_server = utf8mb4_bin",
            of_servers,
            "SET character_set_server = DEFAULT",
            of_servers,
            "SET optimizer_switch = 'mrr=on'",
            "SET optimizer_switch = 'index_merge=off'",
            "SELECT @@optimizer_switch, v FROM t",
            "SET optimizer_switch = DEFAULT",
            "SELECT @@optimizer_switch, v FROM t",
            "SET log_queries_not_using_indexes = 1",
            logged,
            "SET log_slow_filter = 'admin,filesort'",
            logged,
            "SET log_slow_admin_statements = 0",
            logged,
            "SET log_slow_disabled_statements = 'slave,call'",
            logged,
            "SET wsrep_causal_reads = 1",
            galera,
            "SET wsrep_sync_wait = 6",
            galera,
        ],
    );
}

#[test]
fn what_several_sets_gave_a_session_of_mysql_follows_it() {
    let stage = Stage::before_kind(Kind::MySql, Setup::default());
    stage.administer([
        "UPDATE mysql_servers SET max_connections = 1 WHERE hostgroup_id = 0",
        "LOAD MYSQL SERVERS TO RUNTIME",
    ]);
    let asked = "SELECT @@character_set_client, @@collation_connection, @@character_set_results, @@autocommit, @@sql_quote_show_create, @a, @@sql_big_selects, @@max_join_size, @@collation_server, @@optimizer_switch LIKE '%mrr=off%', v FROM t WHERE id = 1";
    let sets: &[&[&str]] = &[
        &[],
        &["SET sql_quote_show_create = 0, autocommit = 1, NAMES latin1, @a = 5"],
        &["SET CHARACTER SET latin1", "SET autocommit = 1, max_join_size = 77777777"],
        &["SET character_set_client = latin1", "SET max_join_size = 77777778, sql_big_selects = 1"],
        &["SET optimizer_switch = 'mrr=off'", "SET collation_server = latin1_bin", "SET sql_big_selects = 0"],
    ];
    let shown = |client: &mut Client, sets: &[&str]| {
        sets.iter().for_each(|set| drop(client.ok(set)));
        client.table(asked)
    };
    let expected: Vec<_> = sets.iter().map(|sets| shown(&mut stage.primary(), sets)).collect();
    let mut clients: Vec<_> = sets.iter().map(|_| stage.client()).collect();
    for ((client, sets), expected) in clients.iter_mut().zip(sets).zip(&expected) {
        assert_eq!(&shown(client, sets), expected, "{sets:?}");
        client.settle();
    }
    for _ in 0..3 {
        for ((client, sets), expected) in clients.iter_mut().zip(sets).zip(&expected) {
            assert_eq!(&client.table(asked), expected, "{sets:?}");
        }
    }
    assert_eq!(held(&stage), "");
}
