//! Variables that a session has set follow it over shared connections.

use crate::session::differential::check_same;
use crate::stage::Stage;

#[test]
fn variables_of_many_sessions_on_one_connection_are_each_sessions_own() {
    let stage = Stage::plain();
    stage.administer([
        "UPDATE mysql_servers SET max_connections = 1 WHERE hostgroup_id = 0",
        "LOAD MYSQL SERVERS TO RUNTIME",
    ]);
    let mut clients: Vec<_> = (0..4).map(|_| stage.client()).collect();
    for (number, client) in clients.iter_mut().enumerate().skip(1) {
        client
            .ok(format!("SET @n = {number}, SESSION sql_select_limit = {number}, @name := 'it is {number}'"));
        client.ok(format!(
            "SET time_zone = '+0{number}:00', @@sql_mode = 'ANSI_QUOTES', group_concat_max_len={number}0"
        ));
    }
    let asked = "SELECT @n, @name, @@sql_select_limit, @@time_zone, @@group_concat_max_len, @@sql_mode FROM t WHERE id = 1";
    let of_others = clients[0].table(asked);
    assert_eq!(of_others[0][..2], ["NULL", "NULL"]);
    for _ in 0..3 {
        assert_eq!(clients[0].table(asked), of_others);
        for (number, client) in clients.iter_mut().enumerate().skip(1) {
            let n = number.to_string();
            let expected = [
                n.clone(),
                format!("it is {n}"),
                n.clone(),
                format!("+0{n}:00"),
                format!("{n}0"),
                "ANSI_QUOTES".into(),
            ];
            assert_eq!(client.table(asked), [expected]);
            assert_eq!(
                client.value("SELECT \"v\" FROM t WHERE id = 2"),
                "two",
                "the text is read as the server reads it"
            );
        }
    }
    clients[1].ok("SET sql_select_limit = DEFAULT, time_zone = DEFAULT");
    let asked = "SELECT @n, @@sql_select_limit = @@global.sql_select_limit, @@time_zone FROM t WHERE id = 1";
    assert_eq!(clients[1].table(asked)[0], ["1", "1", "SYSTEM"]);
    stage.await_unpinned();
    let typed = "SELECT @n FROM t WHERE id = 1";
    let (of_one, of_none) = (clients[1].ok(typed).types, clients[0].ok(typed).types);
    assert_ne!(of_one, of_none, "one that was never set has another type");
    clients[1].ok("SET @n = NULL");
    assert_eq!(clients[1].ok(typed).types, of_one);
}

#[test]
fn set_statements_do_what_they_do_on_a_server() {
    check_same(
        &Stage::plain(),
        &[
            "SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'",
            "SELECT \"v\", 'a\\b' FROM t WHERE id = 1",
            "SET @a = 1, @b = 'x', @c = -1.50, @d = 1e3",
            "SELECT @a, @b, @c, @d, @a + 1, CONCAT(@b, @a)",
            "SELECT @nothing, @a IS NULL",
            "INSERT INTO c (a) VALUES (@a)",
            "SELECT a FROM c WHERE a = @a",
            "SET sql_mode = 'nonsense'",
            "SET nonsense = 1",
            "SET sql_mode = '', nonsense = 1",
            "SELECT @@sql_mode",
            "SET SESSION sql_mode = DEFAULT",
            "SELECT @@sql_mode",
            "SET foreign_key_checks = 0, unique_checks = OFF",
            "SELECT @@foreign_key_checks, @@unique_checks",
            "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
            "SELECT @@tx_isolation",
            "BEGIN",
            "SET @a = @a + 1",
            "SELECT @a",
            "ROLLBACK",
            "SELECT @a, @@tx_isolation",
            "SET max_statement_time = 5, lock_wait_timeout = 7",
            "SELECT @@max_statement_time, @@lock_wait_timeout",
            "SET long_query_time = @@global.long_query_time + 1, max_statement_time = @@global.max_statement_time + 2.5",
            "SELECT @@long_query_time, @@max_statement_time",
            "SET NAMES latin1",
            "SELECT @b, COLLATION(@b), @@character_set_client",
            "SET autocommit = 0, @z = 5",
            "SELECT @@autocommit, @z",
            "PREPARE p FROM 'SET @q = 7, sql_select_limit = 2'",
            "EXECUTE p",
            "SELECT @q, id FROM t",
        ],
    );
}

#[test]
fn set_transaction_holds_for_one_transaction() {
    let stage = Stage::plain();
    let mut client = stage.client();
    client.ok("SET TRANSACTION READ ONLY");
    assert_eq!(stage.pool("ConnUsed", 0), 1);
    client.ok("BEGIN");
    assert_eq!(client.refused("UPDATE t SET v = 'x' WHERE id = 1").code, 1792);
    client.ok("ROLLBACK");
    stage.await_unpinned();
    client.ok("UPDATE t SET v = 'y' WHERE id = 1");
}

#[test]
fn cached_answers_are_of_sessions_with_the_same_settings() {
    let stage = Stage::caching();
    let (mut plain, mut one, mut two) = (stage.client(), stage.client(), stage.client());
    let asked = "SELECT \"v\" FROM t WHERE id = 1";
    assert_eq!(plain.value(asked), "v");
    for client in [&mut one, &mut two] {
        client.ok("SET sql_mode = 'ANSI_QUOTES'");
        assert_eq!(client.value(asked), "one");
        client.settle();
    }
    assert_eq!(
        stage.figure("Query_Cache_count_GET_OK"),
        1,
        "the second with that mode was given the first one's"
    );
    one.ok("SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE");
    one.value(asked);
    assert_eq!(stage.figure("Query_Cache_count_GET_OK"), 1);
}

/// What frameworks send at each connect.
const GREETINGS: [&str; 6] = [
    // Rails.
    "SET  @@SESSION.sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO'),  @@SESSION.sql_auto_is_null = 0, @@SESSION.wait_timeout = 2147483",
    // Connector/J.
    "/* mysql-connector-j */SET character_set_results = NULL, sql_mode=concat(@@sql_mode,',STRICT_TRANS_TABLES')",
    // Django.
    "SET SQL_AUTO_IS_NULL = 0",
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    // Laravel.
    "set session sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'",
    "SET time_zone = '+00:00', NAMES utf8mb4",
];

#[test]
fn what_frameworks_send_at_each_connect_pins_nothing() {
    let stage = Stage::plain();
    for greeting in &GREETINGS[..5] {
        let mut client = stage.client();
        client.ok(greeting);
        client.ok("SELECT v FROM t WHERE id = 1");
        client.settle();
        stage.await_unpinned();
    }
}

#[test]
fn what_frameworks_send_does_what_it_does_on_a_server() {
    for greeting in GREETINGS {
        check_same(
            &Stage::plain(),
            &[
                greeting,
                "SELECT @@sql_mode, @@sql_auto_is_null, @@tx_isolation, @@time_zone, @@wait_timeout",
                "SELECT @@character_set_results, @@character_set_connection, @@collation_connection",
                "SET NAMES latin1",
                "SELECT @@character_set_results, @@character_set_connection, @@collation_connection",
                "SET collation_connection = latin1_german1_ci, character_set_results = utf8mb4",
                "SELECT @@character_set_results, @@character_set_connection, @@collation_connection",
                "SET character_set_connection = utf8mb4",
                "SELECT @@character_set_results, @@character_set_connection, @@collation_connection",
                "SELECT COLLATION('x'), v FROM t",
            ],
        );
    }
}

#[test]
fn parts_of_the_character_sets_are_each_sessions_own() {
    let stage = Stage::plain();
    stage.administer([
        "UPDATE mysql_servers SET max_connections = 1 WHERE hostgroup_id = 0",
        "LOAD MYSQL SERVERS TO RUNTIME",
    ]);
    let (mut plain, mut odd, mut other) = (stage.client(), stage.client(), stage.client());
    odd.ok("SET character_set_results = NULL");
    other.ok("SET collation_connection = utf8mb4_bin");
    let asked =
        "SELECT COALESCE(@@character_set_results, 'none'), @@collation_connection FROM t WHERE id = 1";
    for _ in 0..2 {
        assert_eq!(plain.table(asked)[0], ["utf8mb4", "utf8mb4_general_ci"]);
        assert_eq!(odd.table(asked)[0], ["none", "utf8mb4_general_ci"]);
        assert_eq!(other.table(asked)[0], ["utf8mb4", "utf8mb4_bin"]);
    }
    odd.ok("SET NAMES latin1");
    assert_eq!(odd.table(asked)[0], ["latin1", "latin1_swedish_ci"]);
    assert_eq!(plain.table(asked)[0], ["utf8mb4", "utf8mb4_general_ci"]);
    stage.await_unpinned();
}

#[test]
fn session_ends_after_a_wait_timeout_of_its_own() {
    let stage = Stage::plain();
    let mut client = stage.client();
    client.ok("SET SESSION wait_timeout = 100");
    client.settle();
    stage.await_unpinned();
    assert_eq!(client.value("SELECT @@wait_timeout"), "100");
    client.ok("SET SESSION wait_timeout = 1");
    assert!(client.is_closed_by_server());
}
