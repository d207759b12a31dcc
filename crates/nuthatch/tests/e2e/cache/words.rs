//! What clients say to the cache in MySQL's own words: SET, SHOW, FLUSH, RESET, PURGE.
//!
//! The servers of these tests have a query cache of their own, which is off and must not hear any of it.

use nuthatch_lab::Kind;
use nuthatch_wire::Command;

use super::{SELECT, change_behind, fill_and_change};
use crate::client::Client;
use crate::proxy::Setup;
use crate::stage::{CACHE_ALL, Stage};

/// The column for a user who may change the cache for all.
const MAY: &str = ", attributes='{\"query_cache_admin\": true}'";

/// With every SELECT cached for a minute, and a user who may.
fn stage_of_admin() -> Stage {
    Stage::with_user(Setup::default().rule(CACHE_ALL), MAY)
}

/// What the servers were asked while `work` ran, in statements.
#[track_caller]
fn asked_meanwhile(stage: &Stage, client: &mut Client, work: impl FnOnce(&mut Client)) -> u64 {
    client.settle();
    let before = stage.backend_queries();
    work(client);
    client.settle();
    stage.backend_queries() - before
}

fn type_of(client: &mut Client) -> String {
    client.value("SELECT @@query_cache_type")
}

#[test]
fn session_sets_its_own_type_in_every_spelling_and_no_server_hears_of_it() {
    let stage = Stage::plain();
    let mut client = stage.client();
    let asked = asked_meanwhile(&stage, &mut client, |client| {
        for (statement, expected) in [
            ("SET query_cache_type = ON", "ON"),
            ("SET SESSION query_cache_type = 2", "DEMAND"),
            ("SET LOCAL query_cache_type := off", "OFF"),
            ("SET @@session.query_cache_type = 'on'", "ON"),
            ("SET @@query_cache_type = \"DEMAND\"", "DEMAND"),
            ("set `query_cache_type` = 0;", "OFF"),
            ("SET query_cache_type = TRUE", "ON"),
            ("SET query_cache_type = @@global.query_cache_type", "OFF"),
            ("SET query_cache_type = 1, query_cache_type = 2", "DEMAND"),
            ("SET query_cache_type = DEFAULT", "OFF"),
        ] {
            assert_eq!(client.ok(statement).warnings, 0, "{statement}");
            assert_eq!(type_of(client), expected, "{statement}");
        }
        client.ok("SET query_cache_type = ON");
        assert_eq!(client.value("SELECT @@global.query_cache_type"), "OFF", "the others' is as it was");
    });
    assert_eq!(asked, 0);
    assert_eq!(type_of(&mut stage.client()), "OFF");
    stage.await_unpinned();
}

#[test]
fn wrong_values_are_refused_as_mariadb_refuses_them() {
    let stage = Stage::plain();
    let (mut client, mut primary) = (stage.client(), stage.primary());
    for statement in [
        "SET query_cache_type = 3",
        "SET query_cache_type = -1",
        "SET query_cache_type = 1.5",
        "SET query_cache_type = NULL",
        "SET query_cache_type = ''",
        "SET query_cache_type = '1'",
        "SET query_cache_type = 'on '",
        "SET query_cache_type = nonsense",
        "SET SESSION query_cache_size = 1024",
        "SET @a = 1, query_cache_type = 'x'",
    ] {
        assert_eq!(client.refused(statement), primary.refused(statement), "{statement}");
        assert_eq!(client.table("SHOW WARNINGS")[0][0], "Error", "{statement}");
    }
    assert_eq!(client.value("SELECT COALESCE(@a, 'unset')"), "unset", "all or nothing");
    assert_eq!(type_of(&mut client), "OFF");
}

#[test]
fn type_is_taken_out_of_a_set_of_other_things() {
    let stage = Stage::plain();
    let mut client = stage.client();
    client.ok("SET NAMES latin1, query_cache_type = 2, sql_select_limit = 5, @a = 'b'");
    assert_eq!(client.table("SELECT @@character_set_client, @@sql_select_limit, @a"), [["latin1", "5", "b"]]);
    assert_eq!(type_of(&mut client), "DEMAND");
    client.ok("SET autocommit = 0, query_cache_type = 1");
    assert_eq!((client.value("SELECT @@autocommit"), type_of(&mut client)), ("0".into(), "ON".into()));

    assert_eq!(client.refused("SET query_cache_type = 0, sql_mode = 'NO_SUCH_MODE'").code, 1231);
    assert_eq!(type_of(&mut client), "ON", "the server refused the statement");
    for (statement, code) in
        [("SET query_cache_type = 0, @b = RAND()", 1235), ("SET @b = 1, GLOBAL query_cache_type = 0", 1227)]
    {
        assert_eq!(client.refused(statement).code, code, "{statement}");
        assert_eq!(type_of(&mut client), "ON", "{statement}");
        assert_eq!(client.value("SELECT COALESCE(@b, 'unset')"), "unset", "{statement}");
    }
}

#[test]
fn own_off_turns_all_caching_off_and_default_lets_rules_act_again() {
    let stage = Stage::caching();
    let mut client = stage.client();
    fill_and_change(&stage, &mut client);
    client.ok("SET query_cache_type = OFF");
    assert_eq!(client.value(SELECT), "changed", "it is not served");
    assert_eq!(client.value("SELECT v FROM t WHERE id = 2"), "two");
    assert_eq!(stage.figure("Query_Cache_Entries"), 1, "nor is its answer stored");
    client.ok("SET query_cache_type = DEFAULT");
    assert_eq!(client.value(SELECT), "one");
}

#[test]
fn reset_and_change_of_user_forget_the_type() {
    let stage = Stage::plain();
    let mut client = stage.client();
    client.ok("SET query_cache_type = DEMAND");
    client.command(Command::ResetConnection as u8, &[]).expect("it is reset");
    assert_eq!(type_of(&mut client), "OFF");
    client.ok("SET query_cache_type = DEMAND");
    client.change_user(&stage.login()).expect("it is itself");
    assert_eq!(type_of(&mut client), "OFF");
}

#[test]
fn variables_and_status_are_the_proxys_and_no_server_is_asked() {
    let stage = Stage::caching();
    let mut client = stage.client();
    fill_and_change(&stage, &mut client);
    client.ok("SELECT v FROM t WHERE id = 2 FOR UPDATE");
    let asked = asked_meanwhile(&stage, &mut client, |client| {
        let shown = client.table("SHOW VARIABLES LIKE '%query_cache%'");
        let expected = [
            ["have_query_cache", "YES"],
            ["query_cache_limit", "4194304"],
            ["query_cache_min_res_unit", "0"],
            ["query_cache_size", "268435456"],
            ["query_cache_strip_comments", "OFF"],
            ["query_cache_type", "OFF"],
            ["query_cache_wlock_invalidate", "OFF"],
        ];
        assert_eq!(shown, expected);
        assert_eq!(client.value("SELECT FOUND_ROWS()"), "7");
        client.ok("SET query_cache_type = 1");
        let both = "SHOW VARIABLES WHERE Variable_name = 'query_cache_type'";
        assert_eq!(client.table(both), [["query_cache_type", "ON"]]);
        let global = "SHOW GLOBAL VARIABLES LIKE 'query\\_cache\\_type'";
        assert_eq!(client.table(global), [["query_cache_type", "OFF"]]);
        let answer = client.ok("SELECT @@query_cache_size, @@have_query_cache AS has");
        assert_eq!(answer.table(), [["268435456", "YES"]]);

        let status = client.table("SHOW GLOBAL STATUS LIKE 'Qcache%'");
        let figure = |name: &str| {
            let row =
                status.iter().find(|row| row[0] == name).unwrap_or_else(|| panic!("{name}: {status:?}"));
            row[1].parse::<u64>().expect("a number")
        };
        assert_eq!(status.len(), 8);
        assert_eq!((figure("Qcache_hits"), figure("Qcache_inserts")), (1, 1));
        assert_eq!((figure("Qcache_queries_in_cache"), figure("Qcache_not_cached")), (1, 1));
        assert_eq!((figure("Qcache_total_blocks"), figure("Qcache_free_blocks")), (2, 1));
        assert_eq!(figure("Qcache_lowmem_prunes"), 0);
        assert!(figure("Qcache_free_memory") > 1 << 20);
    });
    assert_eq!(asked, 0);
}

#[test]
fn wider_patterns_are_the_servers_to_answer() {
    let stage = Stage::plain();
    let mut client = stage.client();
    let shown = client.table("SHOW VARIABLES LIKE 'query%'");
    assert!(shown.iter().any(|row| row[0] == "query_alloc_block_size"), "{shown:?}");
    let mixed = "SHOW VARIABLES WHERE Variable_name IN ('query_cache_type', 'version')";
    assert_eq!(client.table(mixed).len(), 2);
}

#[test]
fn what_holds_for_all_needs_the_users_attribute() {
    let stage = Stage::caching();
    let mut client = stage.client();
    fill_and_change(&stage, &mut client);
    for statement in [
        "SET GLOBAL query_cache_type = 1",
        "SET @@global.query_cache_size = 0",
        "FLUSH QUERY CACHE",
        "RESET QUERY CACHE",
        "PURGE QUERY CACHE",
        "PURGE QUERY CACHE TABLE t",
    ] {
        let refused = client.refused(statement);
        assert_eq!((refused.code, refused.state.as_str()), (1227, "42000"), "{statement}");
        assert!(refused.message.contains("'query_cache_admin' user attribute"), "{}", refused.message);
    }
    assert_eq!(client.value(SELECT), "one", "nothing was emptied");
}

#[test]
fn flush_keeps_the_entries_and_reset_and_purge_drop_them() {
    let stage = stage_of_admin();
    let mut client = stage.client();
    fill_and_change(&stage, &mut client);
    client.ok("FLUSH QUERY CACHE");
    assert_eq!(client.value(SELECT), "one");
    client.ok("RESET QUERY CACHE");
    assert_eq!(client.value(SELECT), "changed");
    stage.primary().ok("UPDATE t SET v = 'again' WHERE id = 1");
    client.ok("PURGE QUERY CACHE");
    assert_eq!(client.value(SELECT), "again");
}

#[test]
fn operators_have_the_same_words() {
    let stage = Stage::caching();
    let mut client = stage.client();
    fill_and_change(&stage, &mut client);
    stage.administer(["FLUSH QUERY CACHE"]);
    assert_eq!(client.value(SELECT), "one");
    stage.administer(["RESET QUERY CACHE"]);
    assert_eq!(client.value(SELECT), "changed");
    // It is stored after the client has it.
    client.settle();
    stage.administer(["PURGE QUERY CACHE"]);
    assert_eq!(stage.figure("Query_Cache_Entries"), 0);
    assert_eq!(stage.proxy.operator().refused("PURGE ENTRIES").code, 1064);
}

#[test]
fn set_global_is_what_the_operators_variable_says() {
    let stage = stage_of_admin();
    let mut client = stage.client();
    let runtime = |name: &str| {
        let of =
            format!("SELECT variable_value FROM runtime_global_variables WHERE variable_name = '{name}'");
        stage.proxy.operator().value(of)
    };
    client.ok("SET GLOBAL query_cache_size = 8388608");
    assert_eq!(client.value("SELECT @@global.query_cache_size"), "8388608");
    assert_eq!(runtime("mysql-query_cache_size_MB"), "8");
    assert_eq!(stage.figure("Query_Cache_Limit_bytes"), 8 << 20);

    assert_eq!(client.ok("SET GLOBAL query_cache_size = 1000000").warnings, 1);
    let truncated = ["Warning", "1292", "Truncated incorrect query_cache_size value: '1000000'"];
    assert_eq!(client.table("SHOW WARNINGS"), [truncated]);
    assert_eq!(client.value("SELECT @@query_cache_size"), "999424");
    assert_eq!(runtime("mysql-query_cache_size_MB"), "0.953125");

    client.ok("SET GLOBAL query_cache_type = DEMAND");
    assert_eq!((type_of(&mut client), runtime("mysql-query_cache_type")), ("DEMAND".into(), "2".into()));
    stage.administer(["SET mysql-query_cache_size_MB = 64", "LOAD MYSQL VARIABLES TO RUNTIME"]);
    assert_eq!(client.value("SELECT @@query_cache_size"), "67108864");
    assert_eq!(type_of(&mut client), "DEMAND", "the LOAD has kept it");
    client.ok("SET GLOBAL query_cache_type = DEFAULT, GLOBAL query_cache_size = DEFAULT");
    assert_eq!(client.table("SELECT @@query_cache_type, @@query_cache_size"), [["OFF", "268435456"]]);

    for (statement, code) in [
        ("SET GLOBAL query_cache_size = 10485760001", 1231),
        ("SET GLOBAL query_cache_size = -1", 1231),
        ("SET GLOBAL query_cache_size = '1024'", 1232),
        ("SET GLOBAL query_cache_type = 7", 1231),
        ("SET GLOBAL query_cache_type = 1, GLOBAL query_cache_size = 'x'", 1232),
        ("SET PERSIST query_cache_type = 1", 1235),
        ("SET GLOBAL query_cache_size = @x", 1235),
    ] {
        assert_eq!(client.refused(statement).code, code, "{statement}");
    }
    assert_eq!(client.table("SELECT @@query_cache_type, @@query_cache_size"), [["OFF", "268435456"]]);
}

#[test]
fn set_global_waits_for_an_operators_transaction() {
    let stage = stage_of_admin();
    let mut client = stage.client();
    let mut operator = stage.proxy.operator();
    operator.ok("BEGIN");
    operator.ok("SET mysql-max_connections = 500");
    client.send(Command::Query as u8, b"SET GLOBAL query_cache_size = 1048576").expect("it is sent");
    std::thread::sleep(std::time::Duration::from_millis(100));
    assert_eq!(operator.value("SELECT @@mysql-query_cache_size_MB"), "256");
    operator.ok("COMMIT");
    client.read_answers().expect("it is done now");
    assert_eq!(client.value("SELECT @@query_cache_size"), "1048576");
}

#[test]
fn prepared_they_are_refused_before_a_server_hears_of_them() {
    let stage = stage_of_admin();
    let mut client = stage.client();
    for statement in [
        "SET query_cache_type = 0",
        "SET query_cache_type = 0, sql_select_limit = 5",
        "SET GLOBAL query_cache_size = 0",
        "FLUSH QUERY CACHE",
    ] {
        assert_eq!(client.prepare(statement).unwrap_err().server().code, 1295, "{statement}");
        assert_eq!(client.refused(format!("PREPARE p FROM '{statement}'")).code, 1295, "{statement}");
    }
}

#[test]
fn type_of_the_cache_does_not_keep_a_session_from_what_else_it_may() {
    let stage = Stage::plain();
    let mut client = stage.client();
    client.ok("BEGIN");
    client.ok("UPDATE t SET v = 'mine' WHERE id = 1");
    client.ok("SET query_cache_type = OFF");
    assert!(client.ok("SHOW VARIABLES LIKE 'query_cache_type'").in_transaction());
    client.ok("ROLLBACK");
    change_behind(&stage);
    assert_eq!(client.value(SELECT), "changed");
}

/// As test suites save, change and restore it.
#[test]
fn size_is_set_to_what_a_server_works_out() {
    for kind in [Kind::MariaDb, Kind::MySql] {
        let stage = Stage::before_kind(kind, Setup::default());
        stage.administer([
            "UPDATE mysql_users SET attributes = '{\"query_cache_admin\": true}'",
            "LOAD MYSQL USERS TO RUNTIME",
        ]);
        let mut client = stage.client();
        let size = |client: &mut Client| client.value("SELECT @@query_cache_size");
        let before = size(&mut client);
        client.ok("SET @saved = @@global.query_cache_size, @type = @@query_cache_type");
        client.ok("SET GLOBAL query_cache_size = 8*1024*1024");
        assert_eq!(size(&mut client), "8388608", "{kind:?}");
        client.ok("SET GLOBAL query_cache_size = @@query_cache_size / 2 DIV 1");
        assert_eq!(size(&mut client), "4194304");
        client.ok("SET @half = 2097152");
        client.ok("SET GLOBAL query_cache_size = @half");
        assert_eq!(size(&mut client), "2097152");
        client.ok("SET GLOBAL query_cache_size = @saved, query_cache_type = @type");
        assert_eq!(size(&mut client), before);
        assert_eq!(client.value("SELECT @type"), "OFF");
        assert_eq!(client.refused("SET GLOBAL query_cache_size = 'x' + nonsense").code, 1235);
    }
}
