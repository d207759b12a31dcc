//! What replicas answer, where the binlog of their primary is followed: stored, and served as if the primary had given it.

use std::time::Duration;

use nuthatch_lab::Kind;

use super::{ROW, await_mode, before, hits, setup, told, wait_for_replicas, waits};
use crate::client::Client;
use crate::deadline::{Stopwatch, await_that};
use crate::servers;
use crate::stage::Stage;

const ROUNDS: u32 = 150;

/// A proxy that follows so, whose reads go to a replica.
fn pair(kind: Kind, mode: &str) -> Stage {
    let of_pair = setup(mode, "pw")
        .variable("mysql-query_cache_catalogue_interval_ms", 1000)
        .rule("rule_id=1, match_pattern='^SELECT', destination_hostgroup=1, apply=1");
    let stage = before(kind, 1, waits(kind), of_pair);
    wait_for_replicas(kind, &mut stage.primary());
    stage
}

/// What is answered, and whether from the cache.
fn asked(stage: &Stage, client: &mut Client) -> (String, bool) {
    let before = hits(stage);
    let value = client.value(ROW);
    (value, hits(stage) > before)
}

#[test]
fn replicas_of_mariadb_fill_the_cache_within_the_bound() {
    replicas_fill_the_cache(Kind::MariaDb, "bounded");
}

#[test]
fn replicas_of_mariadb_fill_the_cache_exactly() {
    replicas_fill_the_cache(Kind::MariaDb, "exact");
}

#[test]
fn replicas_of_mysql_fill_the_cache_within_the_bound() {
    replicas_fill_the_cache(Kind::MySql, "bounded");
}

#[test]
fn replicas_of_mysql_fill_the_cache_exactly() {
    replicas_fill_the_cache(Kind::MySql, "exact");
}

fn replicas_fill_the_cache(kind: Kind, mode: &str) {
    let stage = pair(kind, mode);
    let (mut client, mut direct, mut replica) = (stage.client(), stage.primary(), stage.replica());
    await_mode(&stage, mode);
    let by_primary = stage.pool("Queries", 0);
    let served_again = |client: &mut Client, value: &str| {
        await_that(value, || asked(&stage, client) == (value.to_owned(), true));
    };
    served_again(&mut client, "one");
    let falls = || told(&stage, "falls");
    for round in 0..ROUNDS {
        let fallen = falls();
        direct.ok(format!("UPDATE t SET v = '{round}' WHERE id = 1"));
        if mode == "bounded" {
            std::thread::sleep(Duration::from_millis(100));
        }
        // What the replica itself says may be older, as without a cache.
        for _ in 0..3 {
            let (value, is_hit) = asked(&stage, &mut client);
            let is_excused = mode == "exact" && falls() != fallen;
            assert!(!is_hit || value == round.to_string() || is_excused, "{value} in round {round}");
        }
        if round % 10 == 0 {
            served_again(&mut client, &round.to_string());
        }
    }
    let word = servers::replica_word(kind);
    replica.ok(format!("STOP {word} SQL_THREAD"));
    direct.ok("UPDATE t SET v = 'behind' WHERE id = 1");
    let watch = Stopwatch::start();
    std::thread::sleep(Duration::from_millis(100));
    while watch.elapsed() < Duration::from_millis(600) {
        let (value, is_hit) = asked(&stage, &mut client);
        assert!(!is_hit, "{value} is served, though the replica is behind");
    }
    replica.ok(format!("START {word} SQL_THREAD"));
    served_again(&mut client, "behind");
    assert_eq!(stage.pool("Queries", 0), by_primary, "no read went to the primary");
}
