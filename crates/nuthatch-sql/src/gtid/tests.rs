//! Parsing by example, containment against naive sets.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

const A: &str = "3e11fa47-71ca-11e1-9e33-c80aa9429562";
const B: &str = "91DD2BC0-E663-11F1-A8EF-02FC00000001";

fn set(text: &str) -> GtidSet {
    let text = text.replace("A:", &format!("{A}:")).replace("B:", &format!("{B}:"));
    GtidSet::parse(&text).expect(&text)
}

#[test]
fn sets_are_equal_however_they_are_written() {
    for (one, other) in [
        ("", ""),
        ("A:1-5", "A:1-2:3:4-5"),
        ("A:1-5", "A:4-5:1-4"),
        ("A:1-5:7", "A:7,A:1-5"),
        ("A:1-5,\nB:3", "B:3 , A:1-5,"),
        ("A:1:tag:4-5", "A:TAG:5:4,A:1"),
        ("A:tag:1:other:2", "A:other:2,A:tag:1"),
    ] {
        assert_eq!(set(one), set(other), "{one} {other}");
    }
    assert_eq!(GtidSet::parse(&format!("{}:1", A.to_uppercase())), GtidSet::parse(&format!("{A}:1")));
    assert_ne!(set("A:tag:1"), set("A:1"));
}

#[test]
fn what_is_no_set_is_not_understood() {
    let long_tag = format!("{A}:{}:1", "t".repeat(33));
    for text in [
        "A",
        "A:",
        "A:1:",
        "A:0",
        "A:5-4",
        "A:1-",
        "A:-1",
        "A:+1",
        "A:tag",
        "A:tag:",
        "A:1:tag",
        "A::1",
        "x:1",
        "A:1-2-3",
        "A:ta-g:1",
        "A:18446744073709551616",
    ] {
        assert_eq!(GtidSet::parse(&text.replace('A', A)), None, "{text}");
    }
    assert_eq!(GtidSet::parse(&long_tag), None);
    assert_eq!(GtidSet::parse("0-1-5"), None, "MariaDB's");
}

#[test]
fn set_contains_what_each_of_its_intervals_covers() {
    for (whole, part, expected) in [
        ("", "", true),
        ("A:1", "", true),
        ("", "A:1", false),
        ("A:1-5", "A:2-3", true),
        ("A:1-5", "A:5-6", false),
        ("A:1-3:5", "A:3-5", false),
        ("A:1-3:4-5", "A:3-5", true),
        ("A:1-5", "B:1", false),
        ("A:1-5", "A:tag:1", false),
        ("A:1:tag:1-5", "A:tag:2", true),
        ("A:1-18446744073709551615", "A:7", true),
    ] {
        assert_eq!(set(whole).contains(&set(part)), expected, "{whole} {part}");
    }
}

#[test]
fn position_is_reached_by_a_later_one_of_its_domain() {
    let positions = |text| GtidPositions::parse(text).expect(text);
    for (reached, target, expected) in [
        ("", "", true),
        ("0-1-5", "", true),
        ("", "0-1-1", false),
        ("0-1-5", "0-1-5", true),
        ("0-1-4", "0-1-5", false),
        ("0-2-6", "0-1-5", true),
        ("0-2-5", "0-1-5", false),
        ("0-1-9", "0-1-5,1-1-1", false),
        ("1-1-1, 0-1-9", "0-1-5,1-1-1", true),
    ] {
        assert_eq!(positions(reached).reaches(&positions(target)), expected, "{reached} {target}");
    }
    let state = positions("0-1-7,0-2-9,1-1-3");
    for (of, expected) in
        [("0-1-7", true), ("0-1-8", false), ("0-2-8,1-1-3", true), ("0-3-1", false), ("", true)]
    {
        assert_eq!(positions(of).is_known_in(&state), expected, "{of}");
    }
    for text in ["0", "0-1", "0-1-", "0-1-2-3", "a-1-2", "0-1-x", "4294967296-1-1", "0--1", "A:1"] {
        assert_eq!(GtidPositions::parse(text), None, "{text}");
    }
}

#[test]
fn set_is_written_as_mysql_writes_it() {
    for text in ["", "A:1-5:7", "A:1:tag:1-3:8", "A:tag:2"] {
        assert_eq!(set(text).to_string(), text.replace('A', A), "{text}");
    }
    assert_eq!(set("B:3,A:1").to_string(), format!("{A}:1,{}:3", B.to_lowercase()));
    assert_eq!(
        set("A:1-18446744073709551615").without(&set("A:2-18446744073709551615")).to_string(),
        format!("{A}:1")
    );
}

#[test]
fn positions_are_added_by_domain_and_server() {
    let mut positions = GtidPositions::parse("0-1-7,0-2-9").expect("positions");
    positions.add(&GtidPositions::parse("0-1-8,0-2-3,4-1-1").expect("positions"));
    let gtids: Vec<_> = positions.gtids().iter().map(ToString::to_string).collect();
    assert_eq!(gtids, ["0-1-8", "0-2-9", "4-1-1"]);
    assert_eq!((positions.last(0, 2), positions.last(1, 2)), (Some(9), None));
}

/// Transactions of two servers, with and without a tag.
type Naive = BTreeSet<(usize, usize, u64)>;

/// The set as a server might write it, in the order given.
fn written(transactions: &[(usize, usize, u64)]) -> String {
    let one = |(server, tag, number): &(usize, usize, u64)| {
        let (server, tag) = (if *server == 0 { A } else { B }, if *tag == 0 { "" } else { "tag:" });
        format!("{server}:{tag}{number}")
    };
    transactions.iter().map(one).collect::<Vec<_>>().join(",\n")
}

proptest! {
    #[test]
    fn containment_is_that_of_naive_sets(
        one in prop::collection::vec((0..2_usize, 0..2_usize, 1..12_u64), 0..40),
        other in prop::collection::vec((0..2_usize, 0..2_usize, 1..12_u64), 0..6),
    ) {
        let (one_set, other_set) = (GtidSet::parse(&written(&one)), GtidSet::parse(&written(&other)));
        let (one_set, other_set) = (one_set.expect("a set"), other_set.expect("a set"));
        let [one, other] = [one, other].map(|all| all.into_iter().collect::<Naive>());
        prop_assert_eq!(one_set.contains(&other_set), one.is_superset(&other));
        prop_assert_eq!(other_set.contains(&one_set), other.is_superset(&one));
        prop_assert_eq!(one_set == other_set, one == other);
    }

    #[test]
    fn sum_and_difference_are_those_of_naive_sets(
        one in prop::collection::vec((0..2_usize, 0..2_usize, 1..12_u64), 0..20),
        other in prop::collection::vec((0..2_usize, 0..2_usize, 1..12_u64), 0..20),
    ) {
        let read = |all: &[_]| GtidSet::parse(&written(all)).expect("a set");
        let (one_set, other_set) = (read(&one), read(&other));
        let [one, other] = [one, other].map(|all| all.into_iter().collect::<Naive>());
        let of = |naive: Vec<_>| read(&naive);
        let rest = one_set.without(&other_set);
        prop_assert_eq!(rest.count(), one.difference(&other).count() as u64);
        prop_assert_eq!(&rest, &of(one.difference(&other).copied().collect()));
        let mut sum = one_set;
        sum.add(&other_set);
        prop_assert_eq!(&sum, &of(one.union(&other).copied().collect()));
        prop_assert_eq!(GtidSet::parse(&sum.to_string()), Some(sum));
    }

    #[test]
    fn any_text_is_read(text in "[0-9a-f:,\\- tg]{0,60}") {
        let _set = GtidSet::parse(&text);
        let _positions = GtidPositions::parse(&text);
    }
}
