//! Servers that begin anew, and may have lost what they acknowledged.

use crate::deadline::await_that;
use crate::proxy::Setup;
use crate::stage::Stage;

use super::{await_known, is_hit, on};

const ONE: &str = "SELECT v FROM t WHERE id = 1";
const HOUR_MS: u64 = 3_600_000;

/// A server that was killed. What it has of row 1 afterwards is not what was acknowledged.
fn crashed(interval_ms: u64) -> Stage {
    let setup = on(Setup::default()).variable("mysql-query_cache_catalogue_interval_ms", interval_ms);
    let mut stage = Stage::alone(setup);
    // Numbers that the server will not give again soon.
    (0..200).for_each(|_| drop(stage.primary()));
    let mut clients: Vec<_> = (1..=3).map(|_| stage.client()).collect();
    for (id, client) in (1..).zip(&mut clients) {
        client.ok("BEGIN");
        client.ok(format!("SELECT v FROM t WHERE id = {id} FOR UPDATE"));
    }
    clients.iter_mut().for_each(|client| drop(client.ok("COMMIT")));
    // Beginnings are told in whole seconds.
    let uptime =
        "SELECT variable_value > 4 FROM information_schema.global_status WHERE variable_name = 'UPTIME'";
    await_that("two beginnings can be told apart", || stage.primary().value(uptime) == "1");
    await_known(&stage, &mut stage.client(), ONE);
    stage.crash();
    stage.primary().ok("UPDATE t SET v = 'lost' WHERE id = 1");
    stage
}

#[test]
fn answers_of_a_server_that_crashed_are_not_served_once_it_is_connected_to() {
    let stage = crashed(HOUR_MS);
    let mut reader = stage.client();
    await_that("the server answers", || stage.client().query("SELECT 1 FROM t FOR UPDATE").is_ok());
    assert_eq!(reader.value(ONE), "lost");
    assert!(stage.proxy.log().contains("begun anew"), "the log tells");
    await_known(&stage, &mut reader, ONE);
    reader.ok("UPDATE t SET v = 'found' WHERE id = 1");
    assert_eq!(reader.value(ONE), "found");
}

#[test]
fn answers_of_a_server_that_crashed_are_not_served_once_it_is_looked_at() {
    let stage = crashed(1000);
    let mut reader = stage.client();
    await_that("what is served is the server's", || reader.value(ONE) == "lost");
    await_that("and is cached again", || is_hit(&stage, &mut reader, ONE));
}
