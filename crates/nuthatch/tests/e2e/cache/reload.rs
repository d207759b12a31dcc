//! After `LOAD … TO RUNTIME` returns, no hit is given that the new configuration would not give.

use super::{SELECT, fill_and_change};
use crate::client::Client;
use crate::stage::Stage;

const LOAD_RULES: &str = "LOAD MYSQL QUERY RULES TO RUNTIME";

/// A stage whose cache has the old value, and the client that filled it.
fn filled() -> (Stage, Client) {
    let stage = Stage::caching();
    let mut client = stage.client();
    fill_and_change(&stage, &mut client);
    (stage, client)
}

#[test]
fn no_hit_after_the_ttl_was_lowered() {
    let (stage, mut client) = filled();
    stage.administer(["UPDATE mysql_query_rules SET cache_ttl = 1", LOAD_RULES]);
    assert_eq!(client.value(SELECT), "changed");
}

#[test]
fn no_hit_after_the_ttl_was_removed() {
    let (stage, mut client) = filled();
    stage.administer(["UPDATE mysql_query_rules SET cache_ttl = NULL", LOAD_RULES]);
    assert_eq!(client.value(SELECT), "changed");
    assert_eq!(stage.client().value(SELECT), "changed", "nor for a new session");
}

#[test]
fn no_hit_after_the_rule_was_deactivated() {
    let (stage, mut client) = filled();
    stage.administer(["UPDATE mysql_query_rules SET active = 0", LOAD_RULES]);
    assert_eq!(client.value(SELECT), "changed");
}

#[test]
fn no_hit_after_the_destination_hostgroup_changed() {
    let (stage, mut client) = filled();
    stage.replica();
    stage.administer(["UPDATE mysql_query_rules SET destination_hostgroup = 1", LOAD_RULES]);
    assert_eq!(client.value(SELECT), "changed");
    assert_eq!(stage.pool("Queries", 1), 1, "the replica answered");
}

#[test]
fn no_hit_after_an_error_message_was_added() {
    let (stage, mut client) = filled();
    stage.administer(["UPDATE mysql_query_rules SET error_msg = 'closed today'", LOAD_RULES]);
    let error = client.refused(SELECT);
    assert_eq!((error.code, error.message.as_str()), (1148, "closed today"));
}

#[test]
fn no_hit_after_an_ok_message_was_added() {
    let (stage, mut client) = filled();
    stage.administer(["UPDATE mysql_query_rules SET OK_msg = 'done'", LOAD_RULES]);
    assert_eq!(client.ok(SELECT).message, "done");
}

#[test]
fn no_hit_after_an_earlier_rule_took_the_statement() {
    let (stage, mut client) = filled();
    stage.administer([
        "UPDATE mysql_query_rules SET rule_id = 10",
        "INSERT INTO mysql_query_rules (rule_id, active, match_pattern, apply) VALUES (5, 1, 'FROM t', 1)",
        LOAD_RULES,
    ]);
    assert_eq!(client.value(SELECT), "changed");
}

#[test]
fn no_hit_for_a_user_who_is_no_longer_active() {
    let (stage, mut client) = filled();
    stage.administer(["UPDATE mysql_users SET active = 0", "LOAD MYSQL USERS TO RUNTIME"]);
    let error = client.query(SELECT).unwrap_err().server();
    assert_eq!(error.code, 1045, "{error:?}");
    assert!(client.is_closed_by_server());
    let refused = stage.proxy.try_client(&stage.login()).unwrap_err().server();
    assert_eq!(refused.code, 1045);
}

#[test]
fn no_hit_after_the_users_default_hostgroup_changed() {
    let (stage, mut client) = filled();
    stage.replica();
    stage.administer(["UPDATE mysql_users SET default_hostgroup = 1", "LOAD MYSQL USERS TO RUNTIME"]);
    assert_eq!(client.value(SELECT), "changed");
}

#[test]
fn hits_go_on_after_a_load_that_would_have_cached_the_same() {
    let (stage, mut client) = filled();
    let asked = stage.backend_queries();
    stage.administer(["UPDATE mysql_query_rules SET comment = 'the same'", LOAD_RULES]);
    stage.administer(["UPDATE mysql_servers SET comment = 'the same'", "LOAD MYSQL SERVERS TO RUNTIME"]);
    (0..3).for_each(|_| assert_eq!(client.value(SELECT), "one"));
    assert_eq!(stage.backend_queries(), asked);
}

#[test]
fn no_hit_on_a_fill_that_was_under_way_when_its_ttl_was_removed() {
    let stage = Stage::caching();
    let mut slow = stage.client();
    let select = "SELECT v, SLEEP(0.7) FROM t WHERE id = 1";
    slow.send(3, select.as_bytes()).unwrap();
    crate::deadline::await_that("the statement runs", || stage.pool("ConnUsed", 0) == 1);
    stage.administer(["UPDATE mysql_query_rules SET cache_ttl = NULL", LOAD_RULES]);
    slow.read_answers().unwrap();
    super::change_behind(&stage);
    assert_eq!(stage.client().value(select), "changed");
    assert_eq!(slow.value(select), "changed");
}

#[test]
fn entry_of_a_rule_under_another_flag_is_not_served_at_flag_0() {
    let stage = Stage::plain();
    stage.administer([
        "INSERT INTO mysql_query_rules (rule_id, active, match_pattern, next_query_flagIN) VALUES (1, 1, '^SELECT .next', 7)",
        "INSERT INTO mysql_query_rules (rule_id, active, flagIN, match_pattern, cache_ttl) VALUES (2, 1, 7, '.', 60000)",
        LOAD_RULES,
    ]);
    let mut flagged = stage.client();
    flagged.ok("SELECT 'next'");
    assert_eq!(flagged.value(SELECT), "one");
    flagged.settle();
    super::change_behind(&stage);
    assert_eq!(stage.client().value(SELECT), "changed", "at flag 0 nothing is cached");
}

#[test]
fn flush_empties_the_cache_under_both_names() {
    for verb in ["PROXYSQL FLUSH QUERY CACHE", "NUTHATCH FLUSH QUERY CACHE"] {
        let (stage, mut client) = filled();
        stage.administer([verb]);
        assert_eq!(stage.figure("Query_Cache_Entries"), 0);
        assert_eq!(client.value(SELECT), "changed", "{verb}");
    }
}
