//! Several proxies before one server: what one writes, the others do not serve as it was.

use std::time::Duration;

use nuthatch_lab::Kind;
use rustix::process::Signal;

use super::{COUNT, ROW, await_known, await_mode, following, setup, told, until, waiting};
use crate::cache::exact::is_hit;
use crate::deadline::await_that;
use crate::proxy::Setup;
use crate::stage::Stage;

const EACH_WAITS_FOR_TWO: &str = "SET GLOBAL rpl_semi_sync_source_wait_for_replica_count = 2";

/// Two proxies before a MySQL that waits for both, both exact.
fn pair_of_exact() -> [Stage; 2] {
    let one = waiting(Kind::MySql);
    await_mode(&one, "exact");
    one.primary().ok(EACH_WAITS_FOR_TWO);
    let other = one.beside(setup("exact", "pw"));
    let pair = [one, other];
    come_back(&pair, 2);
    for stage in &pair {
        await_known(stage, &mut stage.client(), ROW);
    }
    pair
}

/// Returns when both are exact: by themselves, but for one that fell three times within ten minutes, as a busy machine makes it. That needs another
/// configuration.
#[track_caller]
fn come_back(pair: &[Stage; 2], number: u32) {
    for stage in pair {
        let rests = || told(stage, "why").contains("three times within ten minutes");
        await_that("it is exact, or rests", || told(stage, "mode") == "exact" || rests());
        if rests() {
            let set = format!("SET mysql-long_query_time = {}", 1000 + number);
            stage.administer([set.as_str(), "LOAD MYSQL VARIABLES TO RUNTIME"]);
        }
    }
    pair.iter().for_each(|stage| await_mode(stage, "exact"));
}

/// How often one of them has fallen from exact.
fn falls(pair: &[Stage; 2]) -> u64 {
    pair.iter().map(|stage| told(stage, "falls").parse::<u64>().expect("a count")).sum()
}

/// Returns when both are exact, with how often one had fallen before.
#[track_caller]
fn await_exact(pair: &[Stage; 2]) -> u64 {
    let fallen = falls(pair);
    for stage in pair {
        await_mode(stage, "exact");
    }
    fallen
}

#[test]
fn no_read_of_one_proxy_is_older_than_what_another_acknowledged() {
    let pair = pair_of_exact();
    let mut clients = [pair[0].client(), pair[1].client()];
    // On a machine that is too busy to answer in time they are bounded for a while.
    let mut fallen = await_exact(&pair);
    for round in 0..300 {
        let (writer, reader) = (round % 2, 1 - round % 2);
        clients[writer].ok(format!("UPDATE t SET v = '{round}' WHERE id = 1"));
        let read = clients[reader].value(ROW);
        if read != round.to_string() {
            assert!(falls(&pair) > fallen, "{read} after the other's OK to {round}");
            fallen = await_exact(&pair);
        }
        if round % 10 < 2 {
            await_that("it is served again", || is_hit(&pair[reader], &mut clients[reader], ROW));
            until(&mut clients[reader], ROW, &round.to_string());
            fallen = await_exact(&pair);
        }
    }
}

#[test]
fn proxy_whose_neighbour_stands_still_is_bounded_until_it_comes_back() {
    let pair = pair_of_exact();
    let (mut direct, mut client) = (pair[0].primary(), pair[0].client());
    for round in 0..2 {
        pair[1].proxy.signal(Signal::STOP);
        for turn in 0..5 {
            let value = format!("{round}.{turn}");
            direct.ok(format!("UPDATE t SET v = '{value}' WHERE id = 1"));
            match turn {
                // The server has waited for both, until it gave up.
                0 => assert_eq!(client.value(ROW), value),
                // It waits for nobody, so the one is no more than bounded.
                _ => assert!(until(&mut client, ROW, &value) < Duration::from_secs(1)),
            }
        }
        pair[1].proxy.signal(Signal::CONT);
        // What it had stored was served until a moment that is long past.
        assert_eq!(pair[1].client().value(ROW), format!("{round}.4"));
        come_back(&pair, round);
    }
}

/// A server that waits for one of two acknowledges what the other has not carried: so the second does not join.
#[test]
fn second_before_a_mysql_that_waits_for_one_is_not_exact_and_says_what_to_set() {
    let one = waiting(Kind::MySql);
    await_mode(&one, "exact");
    let other = one.beside(setup("exact", "pw"));
    await_that("it says what to set", || {
        told(&other, "mode") == "bounded" && told(&other, "why").contains("wait_for_replica_count = 2")
    });
    await_mode(&one, "exact");
    one.primary().ok(EACH_WAITS_FOR_TWO);
    for stage in [&one, &other] {
        await_mode(stage, "exact");
    }
}

#[test]
fn what_one_proxy_writes_another_before_mariadb_shows_within_the_bound() {
    let bound = |setup: Setup| setup.variable("mysql-query_cache_max_staleness_ms", 1000);
    let one = following(Kind::MariaDb, "bounded", &[], bound);
    let pair = [&one, &one.beside(bound(setup("bounded", "pw")))];
    let mut clients = pair.map(Stage::client);
    for (stage, client) in pair.into_iter().zip(&mut clients) {
        await_known(stage, client, ROW);
        await_mode(stage, "bounded");
    }
    for (round, (write, sql, expected)) in [
        ("UPDATE t SET v = 'of one' WHERE id = 1", ROW, "of one"),
        ("UPDATE t SET v = 'of the other' WHERE id = 1", ROW, "of the other"),
        ("INSERT INTO t VALUES (4, 'four')", COUNT, "4"),
        ("ALTER TABLE t ADD w INT", COUNT, "4"),
        ("DELETE FROM t WHERE id > 2", COUNT, "2"),
    ]
    .into_iter()
    .enumerate()
    {
        let (writer, reader) = (round % 2, 1 - round % 2);
        await_that("it is served", || is_hit(pair[reader], &mut clients[reader], sql));
        clients[writer].ok(write);
        let late = until(&mut clients[reader], sql, expected);
        assert!(late < Duration::from_millis(1100), "{write} is seen after {late:?}");
    }
}
