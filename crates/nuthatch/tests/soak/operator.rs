//! Who operates the proxy meanwhile: purges the cache or a part of it, and makes it smaller and large again.

use std::thread::sleep;
use std::time::Duration;

use crate::client::Client;
use crate::random::Random;
use crate::scene::Scene;

/// The size of the cache, and what it is for a moment now and then: at first so small that a short run evicts.
pub(crate) const CACHE_MIB: u32 = 32;
const SMALLER_MIB: [u32; 3] = [1, 8, 16];

/// Between two orders.
const PAUSE: Duration = Duration::from_millis(500);

/// What an operator is told who purges a table that is not there.
const UNKNOWN_TABLE: u16 = 1231;

/// Parts of the cache, and what purges nothing.
const ORDERS: [&str; 6] = [
    "PURGE QUERY CACHE TABLE soak.item",
    "PURGE QUERY CACHE TABLE soak.altered_1",
    "PURGE QUERY CACHE RULE 1",
    "PURGE QUERY CACHE SCHEMA elsewhere",
    "FLUSH QUERY CACHE",
    "SELECT digest, entries, bytes, hit_ratio FROM stats_query_cache ORDER BY bytes DESC LIMIT 5",
];

/// After so many orders the cache is purged, made smaller for a moment: so seldom that it is full for most of the time. The first times come
/// within some seconds, so that a short run has them.
const PURGE_EVERY: usize = 240;
const RESIZE_EVERY: usize = 120;
const FIRST_PURGE: usize = 14;
const FIRST_RESIZE: usize = 10;

/// Operates until the run is over.
pub(crate) fn operate(scene: &Scene, mut operator: Client, mut random: Random) {
    for turn in 0.. {
        if scene.is_over() {
            return;
        }
        if turn % PURGE_EVERY == FIRST_PURGE {
            operator.ok("PURGE QUERY CACHE");
        } else if turn % RESIZE_EVERY == FIRST_RESIZE {
            resize(&mut operator, SMALLER_MIB[turn / RESIZE_EVERY % SMALLER_MIB.len()]);
            sleep(PAUSE);
            resize(&mut operator, CACHE_MIB);
        } else if random.below(4) == 0 {
            order(&mut operator, ORDERS[random.below(ORDERS.len())]);
        }
        sleep(PAUSE);
    }
}

/// A table that is just being made anew is not known.
fn order(operator: &mut Client, sql: &str) {
    if let Err(failure) = operator.query(sql) {
        assert_eq!(failure.server().code, UNKNOWN_TABLE, "{sql}");
    }
}

fn resize(operator: &mut Client, mib: u32) {
    operator.ok(format!("SET mysql-query_cache_size_MB = {mib}"));
    operator.ok("LOAD MYSQL VARIABLES TO RUNTIME");
}
