//! Query rules: what each condition matches, how rules chain, what they do.

use crate::client::Failure;
use crate::stage::Stage;

/// Loads rules, numbered in their order; each is `column = value, …` as SQL.
fn load(stage: &Stage, rules: &[&str]) {
    let mut operator = stage.proxy.operator();
    operator.ok("DELETE FROM mysql_query_rules");
    for (place, rule) in (1..).zip(rules) {
        operator.ok(format!("INSERT INTO mysql_query_rules (rule_id, active) VALUES ({place}, 1)"));
        operator.ok(format!("UPDATE mysql_query_rules SET {rule} WHERE rule_id = {place}"));
    }
    operator.ok("LOAD MYSQL QUERY RULES TO RUNTIME");
}

/// What becomes of a statement: the error message of a rule, `OK: message`, or `-` when it was answered as usual.
fn outcome(stage: &Stage, statement: &str) -> String {
    match stage.client().query(statement) {
        Ok(answer) if answer.message.is_empty() => "-".to_owned(),
        Ok(answer) => format!("OK: {}", answer.message),
        Err(Failure::Server(error)) => error.message,
        Err(failure) => panic!("{failure:?}"),
    }
}

#[track_caller]
fn check(stage: &Stage, rules: &[&str], expectations: &[(&str, &str)]) {
    load(stage, rules);
    for (statement, expected) in expectations {
        assert_eq!(outcome(stage, statement), *expected, "{statement} under {rules:?}");
    }
}

#[test]
fn match_digest_sees_the_normalised_text_and_match_pattern_the_text_itself() {
    let stage = Stage::plain();
    let statements =
        |a, b| [("SELECT v FROM t WHERE id = 2", a), ("select v from t where id=2", b), ("SELECT 5", "-")];
    check(&stage, &["match_digest = 'id = \\?$', error_msg = 'hit', apply = 1"], &statements("hit", "-"));
    check(&stage, &["match_pattern = 'id ?= ?2$', error_msg = 'hit', apply = 1"], &statements("hit", "hit"));
    check(&stage, &["match_pattern = 'ID = 2', re_modifiers = '', error_msg = 'hit'"], &statements("-", "-"));
    check(
        &stage,
        &["match_pattern = 'ID = 2', re_modifiers = 'CASELESS', error_msg = 'hit'"],
        &statements("hit", "-"),
    );
}

#[test]
fn negated_pattern_matches_all_else() {
    let stage = Stage::plain();
    check(
        &stage,
        &["match_pattern = 'FROM t', negate_match_pattern = 1, error_msg = 'hit', apply = 1"],
        &[("SELECT v FROM t WHERE id = 1", "-"), ("SELECT 1", "hit")],
    );
    check(
        &stage,
        &["match_digest = 'FROM t', negate_match_pattern = 1, error_msg = 'hit', apply = 1"],
        &[("SELECT v FROM t WHERE id = 1", "-"), ("SELECT 1", "hit")],
    );
}

#[test]
fn digest_is_the_one_that_the_statistics_show() {
    let stage = Stage::plain();
    let mut client = stage.client();
    client.ok("SELECT v FROM t WHERE id = 2");
    client.settle();
    let digest = stage.proxy.operator().value("SELECT digest FROM stats_mysql_query_digest");
    let rule = format!("digest = '{digest}', error_msg = 'hit', apply = 1");
    check(
        &stage,
        &[&rule],
        &[("SELECT v FROM t WHERE id = 77", "hit"), ("SELECT v FROM t WHERE id = 1 LIMIT 1", "-")],
    );
}

#[test]
fn user_schema_and_port_are_conditions() {
    let stage = Stage::plain();
    let (user, schema) = (stage.login().user, stage.schema.clone());
    let port = stage.proxy.mysql.port();
    for (yes, no) in [
        (format!("username = '{user}'"), "username = 'nobody'".to_owned()),
        (format!("schemaname = '{schema}'"), "schemaname = 'elsewhere'".to_owned()),
        (format!("proxy_port = {port}"), "proxy_port = 1".to_owned()),
        ("proxy_addr = '127.0.0.1'".to_owned(), "proxy_addr = '10.0.0.1'".to_owned()),
        ("client_addr = '127.0.0.1'".to_owned(), "client_addr = '10.0.0.1'".to_owned()),
        ("client_addr = '127.%'".to_owned(), "client_addr = '10.%'".to_owned()),
    ] {
        check(&stage, &[&format!("{yes}, error_msg = 'hit', apply = 1")], &[("SELECT 1", "hit")]);
        check(&stage, &[&format!("{no}, error_msg = 'hit', apply = 1")], &[("SELECT 1", "-")]);
    }
}

#[test]
fn schema_condition_follows_use() {
    let stage = Stage::plain();
    load(&stage, &["schemaname = 'mysql', match_pattern = '^SELECT', error_msg = 'not there', apply = 1"]);
    let mut client = stage.client();
    client.ok("SELECT 1");
    client.ok("USE mysql");
    assert_eq!(client.refused("SELECT 1").message, "not there");
}

#[test]
fn flags_chain_rules() {
    let stage = Stage::plain();
    let rules = [
        "match_pattern = '^SELECT', flagOUT = 10",
        "flagIN = 10, match_pattern = 'FROM t', flagOUT = 20",
        "flagIN = 10, match_pattern = 'SELECT 7', error_msg = 'seven', apply = 1",
        "flagIN = 20, match_pattern = 'id = 2', error_msg = 'two of t', apply = 1",
        "match_pattern = 'id = 2', error_msg = 'flag 0', apply = 1",
    ];
    let expectations = [
        ("SELECT 7", "seven"),
        ("SELECT v FROM t WHERE id = 2", "two of t"),
        ("SELECT v FROM t WHERE id = 1", "-"),
        ("UPDATE t SET v = v WHERE id = 2", "flag 0"),
    ];
    check(&stage, &rules, &expectations);
}

#[test]
fn apply_ends_the_walk_and_without_it_later_rules_count() {
    let stage = Stage::plain();
    for (apply, expected) in [(1, "first"), (0, "second")] {
        let first = format!("match_pattern = '^SELECT', error_msg = 'first', apply = {apply}");
        check(
            &stage,
            &[&first, "match_pattern = '^SELECT', error_msg = 'second', apply = 1"],
            &[("SELECT 1", expected)],
        );
    }
}

#[test]
fn inactive_rules_do_nothing() {
    let stage = Stage::plain();
    check(&stage, &["match_pattern = '.', error_msg = 'hit', active = 0"], &[("SELECT 1", "-")]);
}

#[test]
fn error_and_ok_messages_are_answers_and_reach_no_server() {
    let stage = Stage::plain();
    load(
        &stage,
        &["match_pattern = 'bad', error_msg = 'keep out'", "match_pattern = 'good', OK_msg = 'well done'"],
    );
    let mut client = stage.client();
    let asked = stage.backend_queries();
    let error = client.refused("SELECT 'bad'");
    assert_eq!((error.code, error.state.as_str(), error.message.as_str()), (1148, "42000", "keep out"));
    let ok = client.ok("SELECT 'good'");
    assert_eq!((ok.message.as_str(), ok.columns.len(), ok.affected_rows), ("well done", 0, 0));
    assert_eq!(client.prepare("SELECT 'bad'").unwrap_err().server().message, "keep out");
    assert_eq!(stage.backend_queries(), asked);
    client.ok("BEGIN");
    assert_eq!(client.refused("SELECT 'bad'").message, "keep out");
    assert!(client.ok("SELECT 'good'").in_transaction());
}

#[test]
fn next_query_flag_in_begins_the_next_walk() {
    let stage = Stage::plain();
    load(
        &stage,
        &[
            "match_pattern = 'first', next_query_flagIN = 7",
            "flagIN = 7, match_pattern = '.', error_msg = 'flag 7', apply = 1",
        ],
    );
    let mut client = stage.client();
    client.ok("SELECT 'first'");
    assert_eq!(client.refused("SELECT 1").message, "flag 7");
    client.ok("SELECT 1");
}

#[test]
fn reads_go_to_the_replica_and_writes_to_the_primary() {
    let stage = Stage::plain();
    stage.replica();
    load(
        &stage,
        &[
            "match_digest = '^SELECT.*FOR UPDATE', destination_hostgroup = 0, apply = 1",
            "match_digest = '^SELECT', destination_hostgroup = 1, apply = 1",
        ],
    );
    let mut client = stage.client();
    assert_eq!(client.value("SELECT @@server_id"), "2");
    assert_eq!(client.value("SELECT @@server_id FROM t WHERE id = 1 FOR UPDATE"), "1");
    assert_eq!(client.ok("UPDATE t SET v = 'written' WHERE id = 1").affected_rows, 1);
    assert_eq!(stage.primary().value("SELECT v FROM t WHERE id = 1"), "written");
    client.ok("BEGIN");
    assert_eq!(client.value("SELECT @@server_id"), "1", "a transaction stays where it began");
    client.ok("COMMIT");
    assert_eq!(client.value("SELECT @@server_id"), "2");
    let rows = stage
        .proxy
        .operator()
        .table("SELECT DISTINCT hostgroup FROM stats_mysql_query_digest WHERE digest_text LIKE 'UPDATE%'");
    assert_eq!(rows, [["0"]]);
}

#[test]
fn without_transaction_persistent_reads_leave_the_transactions_server() {
    for (persistent, server) in [(1, "1"), (0, "2")] {
        let stage = Stage::with_user(
            crate::proxy::Setup::default(),
            &format!(", transaction_persistent={persistent}"),
        );
        stage.replica();
        load(&stage, &["match_digest = '^SELECT', destination_hostgroup = 1, apply = 1"]);
        let mut client = stage.client();
        client.ok("BEGIN");
        client.ok("UPDATE t SET v = 'open' WHERE id = 1");
        assert_eq!(client.value("SELECT @@server_id"), server, "transaction_persistent={persistent}");
        client.ok("ROLLBACK");
        assert_eq!(stage.primary().value("SELECT v FROM t WHERE id = 1"), "one");
        client.settle();
        assert_eq!(stage.pool("ConnUsed", 0) + stage.pool("ConnUsed", 1), 0);
    }
}

#[test]
fn rule_hits_are_counted_and_set_to_0_by_a_load() {
    let stage = Stage::plain();
    load(&stage, &["match_digest = '^SELECT', apply = 1"]);
    let mut client = stage.client();
    (0..7).for_each(|_| drop(client.ok("SELECT 1 FROM t")));
    client.ok("DO 1");
    let hits = "SELECT hits FROM stats_mysql_query_rules WHERE rule_id = 1";
    assert_eq!(stage.proxy.operator().value(hits), "7");
    stage.administer(["LOAD MYSQL QUERY RULES TO RUNTIME"]);
    assert_eq!(stage.proxy.operator().value(hits), "0");
}
