//! Rule sets and statements in rows; what the walk must say of each.

use super::*;
use crate::server::HostgroupId;

/// What a row expects: hostgroup, TTL, next flag, and the numbers of the rules that matched, in order.
type Said = (Option<u32>, Option<u32>, &'static [u32]);

const POINT: RuleInput<'_> = RuleInput {
    user: b"app",
    schema: b"shop",
    client_addr: "10.1.2.3",
    proxy_addr: "10.0.0.1",
    proxy_port: 6033,
    digest: 0xBF00_1A0C_1378_1C1D,
    digest_text: b"SELECT c FROM sbtest1 WHERE id=?",
    query: b"SELECT c FROM sbtest1 WHERE id=42",
    flag_in: 0,
};

fn rule(rule_id: u32, change: impl FnOnce(&mut Rule)) -> Rule {
    let mut rule = Rule::new(rule_id);
    change(&mut rule);
    rule
}

fn to(rule_id: u32, hostgroup: u32, change: impl FnOnce(&mut Rule)) -> Rule {
    rule(rule_id, |rule| {
        rule.destination_hostgroup = Some(HostgroupId(hostgroup));
        change(rule);
    })
}

fn compile(rules: Vec<Rule>, restarts_max: u64) -> Rules {
    let (rules, faults) = Rules::compile(rules, restarts_max);
    assert_eq!(faults, []);
    rules
}

/// The numbers of the rules whose counters the verdict lists.
fn matched(verdict: &Verdict) -> Vec<u32> {
    verdict.matched.iter().map(|hits| hits.rule_id()).collect()
}

fn check(name: &str, rules: Vec<Rule>, restarts_max: u64, input: &RuleInput<'_>, expected: Said) {
    let rules = compile(rules, restarts_max);
    let verdict = rules.evaluate(input);
    let hostgroup = verdict.destination_hostgroup.map(|hostgroup| hostgroup.0);
    assert_eq!((hostgroup, verdict.cache_ttl_ms, &*matched(&verdict)), expected, "{name}");
}

/// A row changes the one rule, and tells whether it then matches `POINT`.
type Change = fn(&mut Rule);

const TESTS: &[(&str, Change, bool)] = &[
    ("nothing set", |_| (), true),
    ("user", |rule| rule.username = Some("app".into()), true),
    ("other user", |rule| rule.username = Some("APP".into()), false),
    ("empty user", |rule| rule.username = Some(String::new()), true),
    ("schema", |rule| rule.schemaname = Some("shop".into()), true),
    ("other schema", |rule| rule.schemaname = Some("sho".into()), false),
    ("client", |rule| rule.client_addr = Some("10.1.2.3".into()), true),
    ("client's beginning", |rule| rule.client_addr = Some("10.1.2".into()), false),
    ("client with wildcard", |rule| rule.client_addr = Some("10.1.%".into()), true),
    ("any client", |rule| rule.client_addr = Some("%".into()), true),
    ("other client with wildcard", |rule| rule.client_addr = Some("10.2.%".into()), false),
    ("proxy", |rule| rule.proxy_addr = Some("10.0.0.1".into()), true),
    ("other proxy", |rule| rule.proxy_addr = Some("10.0.0.%".into()), false),
    ("port", |rule| rule.proxy_port = Some(6033), true),
    ("other port", |rule| rule.proxy_port = Some(6034), false),
    ("digest", |rule| rule.digest = Some("0xBF001A0C13781C1D".into()), true),
    ("digest in lower case", |rule| rule.digest = Some("0xbf001a0c13781c1d".into()), true),
    ("other digest", |rule| rule.digest = Some("0x1".into()), false),
    ("digest text", |rule| rule.match_digest = Some("where ID=\\?$".into()), true),
    ("digest text, not the query", |rule| rule.match_digest = Some("42".into()), false),
    ("query", |rule| rule.match_pattern = Some("id=42$".into()), true),
    ("query, not the digest text", |rule| rule.match_pattern = Some("\\?".into()), false),
    (
        "case matters",
        |rule| {
            rule.match_pattern = Some("SBTEST".into());
            rule.re_modifiers.caseless = false;
        },
        false,
    ),
    (
        "negated match",
        |rule| {
            rule.match_digest = Some("^SELECT".into());
            rule.negate_match_pattern = true;
        },
        false,
    ),
    (
        "negated mismatch",
        |rule| {
            rule.match_digest = Some("^INSERT".into());
            rule.negate_match_pattern = true;
        },
        true,
    ),
    (
        "negation is of each pattern",
        |rule| {
            rule.match_digest = Some("^INSERT".into());
            rule.match_pattern = Some("^SELECT".into());
            rule.negate_match_pattern = true;
        },
        false,
    ),
    (
        "negation is of patterns only",
        |rule| {
            rule.username = Some("app".into());
            rule.negate_match_pattern = true;
        },
        true,
    ),
    (
        "all tests must hold",
        |rule| {
            rule.username = Some("app".into());
            rule.match_digest = Some("^INSERT".into());
        },
        false,
    ),
    ("other flag", |rule| rule.flag_in = 1, false),
    ("inactive", |rule| rule.active = false, false),
];

#[test]
fn each_test_of_a_rule_decides() {
    for (name, change, matches) in TESTS {
        let expected: Said = if *matches { (Some(5), None, &[1]) } else { (None, None, &[]) };
        check(name, vec![to(1, 5, change)], 0, &POINT, expected);
    }
}

#[test]
fn later_match_overrides_only_what_it_sets() {
    let ttl = |rule: &mut Rule| rule.cache_ttl_ms = Some(100);
    let apply = |rule: &mut Rule| rule.apply = true;
    let misses = |rule: &mut Rule| rule.username = Some("nobody".into());
    check("last wins", vec![to(1, 1, |_| ()), to(2, 2, |_| ())], 0, &POINT, (Some(2), None, &[1, 2]));
    check(
        "order is of numbers",
        vec![to(2, 2, |_| ()), to(1, 1, |_| ())],
        0,
        &POINT,
        (Some(2), None, &[1, 2]),
    );
    check("unset stays", vec![to(1, 1, ttl), to(2, 2, |_| ())], 0, &POINT, (Some(2), Some(100), &[1, 2]));
    check("each its own", vec![rule(1, ttl), to(2, 2, |_| ())], 0, &POINT, (Some(2), Some(100), &[1, 2]));
    check("apply ends", vec![to(1, 1, apply), to(2, 2, ttl)], 0, &POINT, (Some(1), None, &[1]));
    let missed = to(1, 1, |rule| {
        misses(rule);
        apply(rule);
    });
    check("apply of a miss does not", vec![missed, to(2, 2, ttl)], 0, &POINT, (Some(2), Some(100), &[2]));
}

#[test]
fn every_field_reaches_the_verdict() {
    let full = rule(1, |rule| {
        rule.destination_hostgroup = Some(HostgroupId(3));
        rule.cache_ttl_ms = Some(5);
        rule.cache_empty_result = Some(false);
        rule.error_msg = Some("no".into());
        rule.ok_msg = Some("yes".into());
        rule.multiplex = Some(2);
        rule.next_query_flag_in = Some(9);
    });
    for rules in [vec![full.clone()], vec![full, rule(2, |_| ())]] {
        let verdict = compile(rules, 0).evaluate(&POINT);
        assert_eq!(verdict.destination_hostgroup, Some(HostgroupId(3)));
        assert_eq!((verdict.cache_ttl_ms, verdict.cache_empty_result), (Some(5), Some(false)));
        assert_eq!((verdict.error_msg.as_deref(), verdict.ok_msg.as_deref()), (Some("no"), Some("yes")));
        assert_eq!((verdict.multiplex, verdict.next_query_flag_in), (Some(2), Some(9)));
    }
}

/// A rule that goes to the hostgroup of its own number under `flag_in`.
fn under(rule_id: u32, flag_in: u32) -> Rule {
    to(rule_id, rule_id, |rule| rule.flag_in = flag_in)
}

fn out(rule_id: u32, flag_in: u32, flag_out: u32) -> Rule {
    Rule { flag_out: Some(flag_out), ..under(rule_id, flag_in) }
}

fn applied(rule: Rule) -> Rule {
    Rule { apply: true, ..rule }
}

#[test]
fn flags_chain_rules_down_the_list() {
    let missed = Rule { username: Some("nobody".into()), ..out(1, 0, 10) };
    let later = RuleInput { flag_in: 7, ..POINT };
    let rows: [(_, _, _, Said); 4] = [
        ("down", vec![out(1, 0, 10), under(2, 0), under(3, 10)], POINT, (Some(3), None, &[1, 3])),
        ("not up", vec![under(1, 10), out(2, 0, 10), under(3, 0)], POINT, (Some(2), None, &[2])),
        ("a miss leaves the flag", vec![missed, under(2, 0)], POINT, (Some(2), None, &[2])),
        ("from the session's flag", vec![under(1, 0), under(2, 7)], later, (Some(2), None, &[2])),
    ];
    for (name, rules, input, expected) in rows {
        check(name, rules, 0, &input, expected);
    }
}

#[test]
fn flag_out_restarts_the_walk_as_often_as_allowed() {
    let rows: [(_, _, _, Said); 6] = [
        ("up", vec![applied(under(1, 10)), out(2, 0, 10)], 1, (Some(1), None, &[2, 1])),
        ("none left", vec![applied(under(1, 10)), out(2, 0, 10)], 0, (Some(2), None, &[2])),
        (
            "down all the same",
            vec![out(1, 0, 10), under(2, 10), under(3, 10)],
            1,
            (Some(3), None, &[1, 2, 3]),
        ),
        ("bounded", vec![out(1, 0, 0)], 3, (Some(1), None, &[1, 1, 1, 1])),
        ("two flags in a circle", vec![out(1, 0, 1), out(2, 1, 0)], 2, (Some(2), None, &[1, 2, 1, 2])),
        ("apply first", vec![applied(out(1, 0, 0))], 5, (Some(1), None, &[1])),
    ];
    for (name, rules, restarts_max, expected) in rows {
        check(name, rules, restarts_max, &POINT, expected);
    }
}

#[test]
fn faulty_rule_is_left_out_and_named() {
    let rules = vec![
        rule(1, |rule| rule.match_digest = Some("(".into())),
        rule(2, |rule| rule.digest = Some("BF001A0C13781C1D".into())),
        rule(3, |rule| rule.digest = Some("0x+1".into())),
        rule(4, |rule| rule.digest = Some("0xBF001A0C13781C1D0".into())),
        rule(5, |_| ()),
    ];
    let (rules, faults) = Rules::compile(rules, 0);
    assert_eq!(faults.iter().map(RuleFault::rule_id).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert_eq!(rules.hits().collect::<Vec<_>>(), [(5, 0)]);
}

#[test]
fn rules_tell_what_they_look_at() {
    let rows: [(Change, (bool, bool)); 5] = [
        (|rule| rule.username = Some("app".into()), (false, false)),
        (|rule| rule.client_addr = Some("%".into()), (true, false)),
        (|rule| rule.proxy_addr = Some("a".into()), (false, true)),
        (|rule| rule.proxy_port = Some(0), (false, true)),
        (|rule| (rule.active, rule.client_addr) = (false, Some("a".into())), (false, false)),
    ];
    for (change, expected) in rows {
        let rules = compile(vec![rule(1, change)], 0);
        assert_eq!((rules.looks_at_client_addr(), rules.looks_at_proxy_addr()), expected);
    }
    assert!(Rules::default().is_empty() && compile(vec![rule(1, |rule| rule.active = false)], 0).is_empty());
}

#[test]
fn limits_of_the_last_rule_that_has_some_count_and_the_shortest_time_is_told() {
    let rules = compile(
        vec![
            rule(1, |rule| (rule.timeout_ms, rule.retries, rule.delay_ms) = (Some(500), Some(3), Some(20))),
            rule(2, |rule| (rule.timeout_ms, rule.retries) = (Some(700), Some(0))),
            rule(3, |rule| (rule.active, rule.timeout_ms) = (false, Some(1))),
        ],
        0,
    );
    let verdict = rules.evaluate(&POINT);
    assert_eq!((verdict.timeout_ms, verdict.retries, verdict.delay_ms), (Some(700), Some(0), Some(20)));
    assert_eq!(rules.timeout_ms_min(), Some(500));
    let without = compile(vec![rule(1, |rule| rule.timeout_ms = Some(0))], 0);
    assert_eq!(without.timeout_ms_min(), None, "0 leaves it to the variable");
}

#[test]
fn counters_are_the_callers_to_bump() {
    let rules = compile(vec![rule(3, |_| ()), rule(1, |rule| rule.apply = false)], 0);
    let verdict = rules.evaluate(&POINT);
    assert_eq!(rules.hits().collect::<Vec<_>>(), [(1, 0), (3, 0)]);
    verdict.matched.iter().for_each(|hits| hits.bump());
    rules.evaluate(&POINT).matched[0].bump();
    assert_eq!(rules.hits().collect::<Vec<_>>(), [(1, 2), (3, 1)]);
    assert_eq!(rules.with_restarts_max(4).hits().collect::<Vec<_>>(), [(1, 2), (3, 1)]);
}
