//! The key `cache` in a rule's attributes: until when what it matches is served.

use super::SELECT;
use super::exact::is_hit;
use crate::deadline::await_that;
use crate::proxy::Setup;
use crate::stage::Stage;

/// A proxy with one rule, which matches everything; nothing is cached by itself.
fn ruled(columns: &str) -> Stage {
    Stage::with(Setup::default().rule(format!("rule_id=1, match_pattern='.', {columns}, apply=1")))
}

fn modes(stage: &Stage) -> Vec<String> {
    stage.proxy.operator().ok("SELECT mode FROM stats_query_cache_entries").column()
}

#[test]
fn rule_caches_as_exact_though_the_switch_is_off() {
    let stage = ruled(r#"attributes='{"cache":"exact"}', cache_ttl=1"#);
    let mut client = stage.client();
    await_that("the tables are known", || is_hit(&stage, &mut client, SELECT));
    assert_eq!(modes(&stage), ["exact"]);
    stage.client().ok("UPDATE t SET v = 'new' WHERE id = 1");
    assert_eq!(client.value(SELECT), "new");
    client.ok("BEGIN");
    client.ok("SELECT v FROM t WHERE id = 2");
    client.ok(SELECT);
    assert!(is_hit(&stage, &mut client, SELECT), "also in a transaction");
    client.ok("COMMIT");
    client.ok("SET SESSION query_cache_type = OFF");
    assert!(!is_hit(&stage, &mut client, SELECT), "a session's own word goes before");
}

#[test]
fn both_ends_with_a_write_or_with_the_time() {
    let stage = ruled(r#"attributes='{"cache":"both"}', cache_ttl=700"#);
    let mut client = stage.client();
    await_that("the tables are known", || is_hit(&stage, &mut client, SELECT));
    assert_eq!(modes(&stage), ["both"]);
    stage.client().ok("UPDATE t SET v = 'new' WHERE id = 1");
    assert_eq!(client.value(SELECT), "new");
    super::change_behind(&stage);
    await_that("its time is over", || client.value(SELECT) == "changed");
    let told = client.table(format!("EXPLAIN CACHE {SELECT}"));
    let mode = told.iter().find(|row| row[0] == "mode").expect("it tells the mode");
    assert_eq!(mode[1], "both: until something is written that it depends on, for 700 ms at most");
}

#[test]
fn ttl_and_off_keep_what_matches_from_the_exact_cache() {
    for (columns, why) in [
        (
            r#"attributes='{"cache":"off"}', cache_ttl=60000"#,
            "a rule says so: its attributes have \"cache\": \"off\"",
        ),
        (
            r#"attributes='{"cache":"ttl"}'"#,
            "a rule's attributes have \"cache\": \"ttl\", and no rule gives it a time",
        ),
    ] {
        let rule = format!("rule_id=1, match_pattern=' t ', {columns}, apply=1");
        let stage = Stage::with(Setup::default().rule(rule).variable("mysql-query_cache_type", 1));
        let mut client = stage.client();
        client.ok("CREATE TABLE other (id INT PRIMARY KEY)");
        await_that("tables are known", || is_hit(&stage, &mut client, "SELECT COUNT(*) FROM other"));
        client.ok(SELECT);
        assert!(!is_hit(&stage, &mut client, SELECT), "{columns}");
        let told = client.table(format!("EXPLAIN CACHE {SELECT}"));
        assert!(told.iter().any(|row| row[0] == "mode" && row[1].contains(why)), "{told:?}");
    }
    let ttl = r#"rule_id=1, match_pattern=' t ', attributes='{"cache":"ttl"}', cache_ttl=60000"#;
    let stage = Stage::with(Setup::default().rule(ttl).variable("mysql-query_cache_type", 1));
    let mut client = stage.client();
    super::fill_and_change(&stage, &mut client);
    assert_eq!(modes(&stage), ["ttl"]);
}

#[test]
fn what_a_rule_says_that_is_no_mode_is_told() {
    let stage = Stage::plain();
    let mut operator = stage.proxy.operator();
    for (attributes, ttl, said) in [
        (
            r#"{"cache":"maybe"}"#,
            "NULL",
            r#"rule 7: column "attributes": "cache" takes "exact", "ttl", "both" or "off"; it is ignored"#,
        ),
        ("[1]", "NULL", r#"rule 7: column "attributes": is no JSON object"#),
        (
            r#"{"cache":"both"}"#,
            "NULL",
            r#"rule 7: column "attributes": "cache" speaks of a time, and this rule's column "cache_ttl" gives none"#,
        ),
    ] {
        operator.ok("DELETE FROM mysql_query_rules WHERE rule_id = 7");
        operator.ok(format!("INSERT INTO mysql_query_rules (rule_id, active, attributes, cache_ttl) VALUES (7, 1, '{attributes}', {ttl})"));
        operator.ok("LOAD MYSQL QUERY RULES TO RUNTIME");
        let warnings = operator.table("SHOW WARNINGS");
        assert!(warnings.iter().any(|row| row.iter().any(|cell| cell.contains(said))), "{warnings:?}");
    }
}
