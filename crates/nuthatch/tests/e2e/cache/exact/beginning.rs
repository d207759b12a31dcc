//! What was written, or begun, before anybody wanted anything cached as exact.

use crate::client::Client;
use crate::deadline::await_that;
use crate::proxy::Setup;
use crate::stage::Stage;

use super::{await_known, is_hit};

const ONE: &str = "SELECT v FROM t WHERE id = 1";
const TWO: &str = "SELECT v FROM t WHERE id = 2";

/// Switches the cache on, and returns when tables are known.
fn switch_on(stage: &Stage) {
    stage.administer(["SET mysql-query_cache_type=1", "LOAD MYSQL VARIABLES TO RUNTIME"]);
    await_that("the tables are known", || stage.figure("Query_Cache_Tables") > 0);
}

/// A write that waits for a lock on the row, which `holder` has.
fn blocked_write(stage: &Stage, holder: &mut Client) -> Client {
    holder.ok("BEGIN");
    holder.ok("SELECT v FROM t WHERE id = 1 FOR UPDATE");
    let mut writer = stage.client();
    writer.send(3, b"UPDATE t SET v = 'late' WHERE id = 1").expect("it is sent");
    await_that("the server has it", || has_write(stage));
    writer
}

fn has_write(stage: &Stage) -> bool {
    let threads = "SELECT COUNT(*) FROM information_schema.processlist WHERE db = DATABASE() AND info LIKE 'UPDATE t SET v = ''late''%'";
    stage.primary().value(threads) == "1"
}

#[test]
fn write_in_flight_when_the_cache_is_switched_on_is_waited_for() {
    let stage = Stage::with(Setup::default());
    let (mut reader, mut holder) = (stage.client(), stage.primary());
    let mut writer = blocked_write(&stage, &mut holder);
    assert_eq!(stage.figure("Query_Cache_Writes_Pending"), 0, "nobody watches");
    switch_on(&stage);
    assert_eq!(stage.figure("Query_Cache_Writes_Pending"), 1);
    (0..5).for_each(|_| assert!(!is_hit(&stage, &mut reader, ONE), "it may be written at any time"));
    holder.ok("COMMIT");
    writer.read_answers().expect("it is written");
    assert_eq!(reader.value(ONE), "late");
    await_known(&stage, &mut reader, ONE);
    assert_eq!(stage.figure("Query_Cache_Writes_Pending"), 0);
}

#[test]
fn write_whose_client_has_gone_before_the_cache_is_switched_on_is_waited_for() {
    let setup = Setup::default().variable("mysql-kill_backend_connection_when_disconnect", "false");
    let stage = Stage::with(setup);
    let (mut reader, mut holder) = (stage.client(), stage.primary());
    drop(blocked_write(&stage, &mut holder));
    await_that("it is noticed", || stage.figure("Query_Cache_Writes_Pending") == 1);
    switch_on(&stage);
    (0..5).for_each(|_| assert!(!is_hit(&stage, &mut reader, ONE), "it may be written at any time"));
    holder.ok("COMMIT");
    await_that("nothing is pending", || stage.figure("Query_Cache_Writes_Pending") == 0);
    assert_eq!(reader.value(ONE), stage.primary().value(ONE));
}

#[test]
fn what_a_transaction_wrote_before_the_cache_was_switched_on_is_written_when_it_commits() {
    let stage = Stage::with(Setup::default());
    let (mut reader, mut writer) = (stage.client(), stage.client());
    writer.ok("BEGIN");
    writer.ok("UPDATE t SET v = 'late' WHERE id = 1");
    switch_on(&stage);
    await_known(&stage, &mut reader, ONE);
    writer.ok("COMMIT");
    assert_eq!(reader.value(ONE), "late");
}

#[test]
fn snapshot_from_before_what_was_written_unwatched_fills_nothing() {
    let stage = Stage::with(Setup::default());
    let (mut old, mut writer, mut reader) = (stage.client(), stage.client(), stage.client());
    old.ok("START TRANSACTION");
    old.ok(TWO);
    writer.ok("UPDATE t SET v = 'late' WHERE id = 1");
    switch_on(&stage);
    await_known(&stage, &mut reader, TWO);
    (0..3).for_each(|_| assert_eq!(old.value(ONE), "one"));
    (0..3).for_each(|_| assert_eq!(reader.value(ONE), "late"));
}
