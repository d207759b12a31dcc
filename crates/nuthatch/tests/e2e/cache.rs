//! What the query cache gives, to whom, and when no more.
//!
//! Whether an answer came from the cache is seen by changing the row behind the proxy: a hit still has the old value.

mod admission;
mod ageing;
mod apart;
mod bounds;
mod by_rule;
mod compressed;
mod early;
mod exact;
mod executions;
mod explain;
mod hints;
mod hits;
mod never;
mod purge;
mod reload;
mod statistics;
mod together;
mod transactions;
mod words;

use crate::client::Client;
use crate::stage::Stage;

/// What is cached in most of these tests.
const SELECT: &str = "SELECT v FROM t WHERE id = 1";

/// How many statements of the test that are like that wait for a table at the primary.
fn waiting_for_table(stage: &Stage, like: &str) -> String {
    stage.primary().value(format!(
        "SELECT COUNT(*) FROM information_schema.PROCESSLIST \
         WHERE DB = DATABASE() AND INFO LIKE '{like}' AND STATE LIKE 'Waiting for table%lock%'"
    ))
}

/// Puts another value there past the proxy.
fn change_behind(stage: &Stage) {
    stage.primary().ok("UPDATE t SET v = 'changed' WHERE id = 1");
}

/// Has the answer stored, then changes the row behind the proxy.
#[track_caller]
fn fill_and_change(stage: &Stage, client: &mut Client) {
    assert_eq!(client.value(SELECT), "one");
    change_behind(stage);
    assert_eq!(client.value(SELECT), "one", "the answer was stored");
}
