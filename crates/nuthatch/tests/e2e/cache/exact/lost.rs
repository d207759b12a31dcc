//! Writes whose outcome nobody heard of.

use crate::client::Client;
use crate::deadline::await_that;
use crate::stage::Stage;

use super::{await_known, exact, is_hit};

const ONE: &str = "SELECT v FROM t WHERE id = 1";

fn pending(stage: &Stage) -> u64 {
    stage.figure("Query_Cache_Writes_Pending")
}

/// A write that waits for a lock on the row, which `holder` has.
fn blocked_write(stage: &Stage, holder: &mut Client) -> Client {
    holder.ok("BEGIN");
    holder.ok("SELECT v FROM t WHERE id = 1 FOR UPDATE");
    let mut writer = stage.client();
    writer.send(3, b"UPDATE t SET v = 'late' WHERE id = 1").expect("it is sent");
    await_that("it waits for the lock", || pending(stage) == 1);
    writer
}

#[test]
fn write_whose_client_has_gone_stays_pending_until_its_thread_is_gone() {
    let stage = exact();
    let (mut reader, mut holder) = (stage.client(), stage.primary());
    await_known(&stage, &mut reader, ONE);
    let writer = blocked_write(&stage, &mut holder);
    assert!(!is_hit(&stage, &mut reader, ONE), "it may be written at any time");
    drop(writer);
    await_that("nothing is pending", || pending(&stage) == 0);
    holder.ok("COMMIT");
    assert_eq!(reader.value(ONE), stage.primary().value(ONE));
    await_known(&stage, &mut reader, ONE);
}

#[test]
fn write_whose_server_thread_was_killed_is_settled() {
    let stage = exact();
    let (mut reader, mut holder) = (stage.client(), stage.primary());
    await_known(&stage, &mut reader, ONE);
    let mut writer = blocked_write(&stage, &mut holder);
    let thread = "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND info LIKE 'UPDATE t SET v = ''late''%'";
    let id = stage.primary().value(thread);
    stage.primary().ok(format!("KILL {id}"));
    assert!(writer.read_answers().is_err());
    await_that("nothing is pending", || pending(&stage) == 0);
    holder.ok("COMMIT");
    await_known(&stage, &mut reader, ONE);
    assert_eq!(reader.value(ONE), "one");
}

#[test]
fn session_that_is_killed_in_the_middle_of_a_write_leaves_nothing_pending() {
    let stage = exact();
    let (mut reader, mut holder) = (stage.client(), stage.primary());
    await_known(&stage, &mut reader, ONE);
    let mut writer = blocked_write(&stage, &mut holder);
    let session = "SELECT SessionID FROM stats_mysql_processlist WHERE info LIKE 'UPDATE t%'";
    let id = stage.proxy.operator().value(session);
    stage.administer([&format!("KILL CONNECTION {id}")]);
    assert!(writer.read_answers().is_err());
    await_that("nothing is pending", || pending(&stage) == 0);
    holder.ok("COMMIT");
    await_known(&stage, &mut reader, ONE);
    assert_eq!(reader.value(ONE), stage.primary().value(ONE));
}
