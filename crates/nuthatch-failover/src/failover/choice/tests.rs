//! Choices by example, and that none loses what another server has.

use nuthatch_sql::{GtidSet, ServerFlavor};
use proptest::prelude::*;

use super::*;
use crate::gtid::Gtids;
use crate::hindrance::Weight;

const MARIADB: ServerFlavor = ServerFlavor::MariaDb(101_119);
const MYSQL: ServerFlavor = ServerFlavor::MySql(90_704);

fn name(host: &str) -> ServerName {
    ServerName { host: host.to_owned(), port: 3306 }
}

fn replica(flavor: ServerFlavor, host: &str, server_id: u64, has: &str, received: &str) -> Survey {
    let gtids = |text| Gtids::parse(flavor, text).expect("GTIDs");
    let channel = Channel {
        name: String::new(),
        source: name("a"),
        source_id: 1,
        source_uuid: String::new(),
        fetches: "Connecting".to_owned(),
        applies: "Yes".to_owned(),
        behind_s: None,
        delay_s: 0,
        received: gtids(received),
        by_gtid: true,
        filters: false,
        over_tls: false,
        error: String::new(),
    };
    Survey {
        name: name(host),
        flavor,
        server_id,
        uuid: String::new(),
        is_read_only: true,
        binlog: Binlog::All,
        has: gtids(has),
        history: gtids(has),
        runs_events: false,
        follows: vec![channel],
    }
}

fn chosen(servers: &[Survey], may_write: &[(&str, u64)], to: Option<&str>) -> Result<String, String> {
    chosen_beside(&[], servers, may_write, to)
}

fn chosen_beside(
    kept_out: &[KeptOut],
    servers: &[Survey],
    may_write: &[(&str, u64)],
    to: Option<&str>,
) -> Result<String, String> {
    let old = name("a");
    let may_write: Vec<_> = may_write.iter().map(|(host, weight)| (name(host), *weight)).collect();
    let to = to.map(name);
    let old = Primary { name: &old, present: None };
    let wanted = Wanted { old, may_write: &may_write, kept_out, to: to.as_ref() };
    let servers: Vec<_> = servers.iter().collect();
    match choose(&servers, &wanted) {
        Ok(place) => Ok(servers[place].name.host.clone()),
        Err(findings) => {
            assert!(findings.iter().all(|one| one.weight == Weight::Refused));
            Err(findings.into_iter().map(|one| one.what).collect::<Vec<_>>().join("; "))
        }
    }
}

#[track_caller]
fn check(change: impl FnOnce(&mut Survey, &mut Survey), to: Option<&str>, expected: Result<&str, &str>) {
    let mut b = replica(MARIADB, "b", 2, "0-1-7", "0-1-9");
    let mut c = replica(MARIADB, "c", 3, "0-1-9", "0-1-9");
    change(&mut b, &mut c);
    let chosen = chosen(&[b, c], &[("b", 1), ("c", 1)], to);
    match (&chosen, expected) {
        (Ok(chosen), Ok(expected)) => assert_eq!(chosen, expected),
        (Err(words), Err(expected)) => assert!(words.contains(expected), "{expected}: {words}"),
        (other, expected) => panic!("{expected:?}: {other:?}"),
    }
}

fn position(text: &str) -> Gtids {
    Gtids::parse(MARIADB, text).expect("a position")
}

#[test]
fn replica_that_has_received_all_is_chosen_and_who_could_lose_something_is_not() {
    check(|_, _| {}, None, Ok("b"));
    check(|_, _| {}, Some("c"), Ok("c"));
    check(|_, _| {}, Some("x"), Err("x:3306 cannot be asked"));
    check(|_, c| c.follows[0].received = position("0-1-10"), None, Ok("c"));
    check(|_, c| c.follows[0].received = position("0-1-10"), Some("b"), Err("does not have all that c:3306"));
    check(|b, _| b.follows[0].applies = "No".to_owned(), None, Ok("c"));
    check(|b, _| b.follows[0].delay_s = 5, None, Ok("c"));
    check(|b, _| b.follows[0].filters = true, None, Ok("c"));
    check(|b, _| b.follows[0].by_gtid = false, None, Ok("c"));
    check(|b, _| b.follows.clear(), None, Ok("c"));
    check(|b, _| b.binlog = Binlog::Own, None, Ok("c"));
    check(|b, _| b.name.host = "z".to_owned(), None, Ok("c"));
    check(|b, _| b.is_read_only = false, None, Err("b:3306 takes writes already"));
    // Who has more and cannot be chosen forbids it.
    let ahead = |b: &mut Survey| b.follows[0].received = position("0-1-12");
    check(
        |b, _| {
            ahead(b);
            b.follows[0].applies = "No".to_owned();
            b.follows[0].error = "Duplicate entry".to_owned();
        },
        None,
        Err("its SQL thread says No, Duplicate entry"),
    );
    check(
        |b, _| {
            ahead(b);
            b.name.host = "z".to_owned();
        },
        None,
        Err("z:3306 is not ONLINE with a weight"),
    );
}

#[test]
fn what_a_server_has_written_itself_says_nothing_of_what_it_has_received() {
    // By position b is farther, and lacks 0-1-9.
    let errant = |b: &mut Survey| {
        b.has = position("0-2-30");
        b.history = position("0-1-7,0-2-30");
        b.follows[0].received = position("0-1-7");
    };
    check(|b, _| errant(b), Some("b"), Err("b:3306 does not have all that c:3306 has"));
    check(|b, _| errant(b), None, Err("c:3306 does not have all that b:3306 has"));
}

#[test]
fn heavier_one_of_equal_ones_is_chosen() {
    let servers = [
        replica(MARIADB, "b", 2, "0-1-9", "0-1-9"),
        replica(MARIADB, "c", 3, "0-1-9", "0-1-9"),
        replica(MARIADB, "d", 4, "0-1-8", "0-1-8"),
    ];
    assert_eq!(chosen(&servers, &[("b", 1), ("c", 5), ("d", 9)], None), Ok("c".to_owned()));
    assert_eq!(chosen(&servers, &[("b", 5), ("c", 5), ("d", 9)], None), Ok("b".to_owned()));
}

const UUID: &str = "3e11fa47-71ca-11e1-9e33-c80aa9429562";

proptest! {
    #[test]
    fn no_choice_loses_what_another_server_has(
        parts in prop::collection::vec((prop::collection::btree_set(1..12_u64, 1..8), 1..12_u64), 1..4),
    ) {
        let hosts = ["b", "c", "d"];
        let text = |numbers: &[u64]| {
            let numbers: Vec<_> = numbers.iter().map(ToString::to_string).collect();
            format!("{UUID}:{}", numbers.join(":"))
        };
        let servers: Vec<_> = hosts
            .iter()
            .zip(&parts)
            .map(|(host, (has, received))| {
                let has: Vec<_> = has.iter().copied().collect();
                replica(MYSQL, host, 2, &text(&has), &text(&[*received]))
            })
            .collect();
        let whole: Vec<_> = parts
            .iter()
            .map(|(has, received)| {
                let all: Vec<_> = has.iter().copied().chain([*received]).collect();
                GtidSet::parse(&text(&all)).expect("a set")
            })
            .collect();
        let has_all = |of: &GtidSet| whole.iter().all(|other| of.contains(other));
        let may_write = hosts.map(|host| (host, 1));
        match chosen(&servers, &may_write, None) {
            Ok(host) => {
                let place = hosts.iter().position(|one| *one == host).expect("one of them");
                prop_assert!(has_all(&whole[place]));
            }
            Err(words) => {
                prop_assert!(words.contains("does not have all that"), "{words}");
                prop_assert!(!whole.iter().any(has_all));
            }
        }
    }

    #[test]
    fn farthest_replica_of_one_stream_is_chosen(received in prop::collection::vec(1..50_u64, 1..4)) {
        let hosts = ["b", "c", "d"];
        let servers: Vec<_> = (2..)
            .zip(hosts)
            .zip(&received)
            .map(|((id, host), last)| replica(MARIADB, host, id, "", &format!("0-1-{last}")))
            .collect();
        let host = chosen(&servers, &hosts.map(|host| (host, 1)), None).expect("one is the farthest");
        let place = hosts.iter().position(|one| *one == host).expect("one of them");
        prop_assert_eq!(received[place], *received.iter().max().expect("there are some"));
    }
}

#[test]
fn server_that_is_kept_out_is_no_heir_unless_asked_for_and_what_was_given_up_with_it_is_not_missed() {
    let kept_out = |is_given_up| [KeptOut { name: name("b"), is_given_up }];
    let alike = [replica(MARIADB, "b", 2, "0-1-7", "0-1-7"), replica(MARIADB, "c", 3, "0-1-7", "0-1-7")];
    let both = [("b", 9), ("c", 1)];
    assert_eq!(chosen(&alike, &both, None), Ok("b".to_owned()));
    assert_eq!(chosen_beside(&kept_out(false), &alike, &both, None), Ok("c".to_owned()));
    assert_eq!(chosen_beside(&kept_out(false), &alike, &both, Some("b")), Ok("b".to_owned()));
    let why = chosen_beside(&kept_out(false), &alike[..1], &both, None).expect_err("there is no other");
    assert!(why.contains("b:3306 is kept out since a failover replaced it"), "{why}");
    let surplus = [replica(MARIADB, "b", 2, "0-2-8", "0-1-7"), replica(MARIADB, "c", 3, "0-1-7", "0-1-7")];
    let why = chosen_beside(&kept_out(false), &surplus, &both, None).expect_err("c lacks something");
    assert!(why.contains("c:3306 does not have all that b:3306 has"), "{why}");
    assert_eq!(chosen_beside(&kept_out(true), &surplus, &both, None), Ok("c".to_owned()));
}
