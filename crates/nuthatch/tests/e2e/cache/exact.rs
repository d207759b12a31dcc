//! The exact cache: what is served again, what a write takes with it, and that nobody is given what was written over.

mod behind;
mod definitions;
mod engines;
mod introspection;
mod lost;
mod replicas;
mod restarts;
mod rows;
mod transactions;
mod where_not;

use crate::client::Client;
use crate::deadline::await_that;
use crate::proxy::Setup;
use crate::stage::Stage;

/// The switch.
fn on(setup: Setup) -> Setup {
    setup.variable("mysql-query_cache_type", 1)
}

/// A proxy with the cache switched on, that knows the tables.
fn exact() -> Stage {
    exact_with(&[])
}

/// The same, with further tables.
fn exact_with(statements: &[&str]) -> Stage {
    let stage = Stage::with(on(Setup::default()));
    let mut client = stage.client();
    for statement in statements {
        client.ok(statement);
    }
    await_known(&stage, &mut client, "SELECT COUNT(*) FROM t");
    stage
}

/// Returns when the statement's answer is served from the cache: its tables are known.
#[track_caller]
fn await_known(stage: &Stage, client: &mut Client, sql: &str) {
    await_that(sql, || is_hit(stage, client, sql));
}

/// Asks, and says whether the answer came from the cache.
fn is_hit(stage: &Stage, client: &mut Client, sql: &str) -> bool {
    let before = hits(stage);
    client.ok(sql);
    hits(stage) > before
}

fn hits(stage: &Stage) -> u64 {
    stage.figure("Query_Cache_count_GET_OK")
}

/// Has the answer stored.
#[track_caller]
fn warm(stage: &Stage, client: &mut Client, sql: &str) {
    client.ok(sql);
    assert!(is_hit(stage, client, sql), "{sql} is served from the cache");
}
