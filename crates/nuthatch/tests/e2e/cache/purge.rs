//! `PURGE QUERY CACHE` of a part: what goes, and what stays.

use super::{SELECT, change_behind};
use crate::client::Client;
use crate::deadline::await_that;
use crate::proxy::Setup;
use crate::stage::{CACHE_ALL, Stage};

/// Purged by it, or not.
#[track_caller]
fn check(stage: &Stage, client: &mut Client, part: &str, entries: u64) {
    client.ok(SELECT);
    // It is stored when the client has it already.
    await_that("it is stored", || stage.figure("Query_Cache_Entries") == 1);
    let purged = client.ok(format!("PURGE QUERY CACHE {part}"));
    assert_eq!(purged.affected_rows, entries, "{part}");
    assert_eq!(stage.figure("Query_Cache_Entries"), 1 - entries, "{part}");
}

#[test]
fn entries_of_a_digest_schema_user_or_rule_go_and_others_stay() {
    let stage =
        Stage::with_user(Setup::default().rule(CACHE_ALL), ", attributes='{\"query_cache_admin\": true}'");
    let mut client = stage.client();
    let findings = client.table(format!("EXPLAIN CACHE {SELECT}"));
    let digest = &findings.iter().find(|row| row[0] == "digest").expect("a digest")[1];
    let (schema, user) = (&stage.schema, &stage.login().user);
    for (part, entries) in [
        (format!("DIGEST '{digest}'"), 1),
        ("DIGEST '0x1'".to_owned(), 0),
        (format!("SCHEMA {schema}"), 1),
        ("SCHEMA elsewhere".to_owned(), 0),
        (format!("USER '{user}'"), 1),
        ("USER 'somebody'".to_owned(), 0),
        ("RULE 1".to_owned(), 1),
        ("RULE 2".to_owned(), 0),
    ] {
        check(&stage, &mut client, &part, entries);
    }
    for (part, code) in [("TABLE nosuch", 1105), ("EVERYTHING", 1064), ("RULE x", 1064)] {
        assert_eq!(client.refused(format!("PURGE QUERY CACHE {part}")).code, code, "{part}");
    }
}

#[test]
fn what_depends_on_a_table_is_not_served_after_its_clocks_were_moved() {
    let stage = Stage::with(Setup::default().variable("mysql-query_cache_type", 1));
    let mut client = stage.client();
    let mode = |client: &mut Client| client.table(format!("EXPLAIN CACHE {SELECT}"));
    await_that("the answer is stored", || {
        client.ok(SELECT);
        mode(&mut client).iter().any(|row| row[1].starts_with("hit"))
    });
    change_behind(&stage);
    assert_eq!(client.value(SELECT), "one");
    let mut operator = stage.proxy.operator();
    operator.ok(format!("PURGE QUERY CACHE TABLE {}.t", stage.schema));
    assert!(operator.table("SHOW WARNINGS")[0][2].contains("clocks were moved"));
    assert_eq!(client.value(SELECT), "changed");
    assert_eq!(operator.refused("PURGE QUERY CACHE TABLE t").code, 1231, "an operator has no schema");
}
