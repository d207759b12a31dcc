//! The exact cache: what is served again, what a write takes with it, and that nobody is given what was written over.

mod beginning;
mod behind;
mod definitions;
mod engines;
mod followed;
mod hidden;
mod introspection;
mod lost;
mod opened;
mod replicas;
mod restarts;
mod rows;
mod snapshots;
mod transactions;
mod variables;
mod where_not;

use nuthatch_wire::Command;

use crate::client::{Client, Login};
use crate::deadline::await_that;
use crate::proxy::Setup;
use crate::servers;
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
pub(super) fn await_known(stage: &Stage, client: &mut Client, sql: &str) {
    await_that(sql, || is_hit(stage, client, sql));
}

/// Asks, and says whether the answer came from the cache.
pub(super) fn is_hit(stage: &Stage, client: &mut Client, sql: &str) -> bool {
    let before = hits(stage);
    client.ok(sql);
    hits(stage) > before
}

fn hits(stage: &Stage) -> u64 {
    stage.figure("Query_Cache_count_GET_OK")
}

/// Has the answer stored. The second time does not always do: other tests make tables on the same server, and what was asked while such a change
/// was learnt is not kept.
#[track_caller]
fn warm(stage: &Stage, client: &mut Client, sql: &str) {
    client.ok(sql);
    await_known(stage, client, sql);
}

/// Sends a statement that has to wait, and returns when the server is at it. (`innodb_trx` does not tell: that is a copy which
/// is not renewed while others look at it all the time.)
#[track_caller]
fn send_to_wait(stage: &Stage, client: &mut Client, statement: &str) {
    client.send(Command::Query as u8, statement.as_bytes()).expect("it is sent");
    let executed = format!(
        "SELECT COUNT(*) FROM information_schema.processlist WHERE db = DATABASE() AND info = \"{statement}\""
    );
    await_that("the server is at it", || stage.primary().value(&executed) == "1");
}

/// A user that is new to server and proxy, with this granted, and a session of its own.
#[track_caller]
fn user_with(stage: &Stage, granted: &str) -> (String, Client) {
    let (mut admin, name) = (stage.client(), servers::fresh_name("reader"));
    admin.ok(format!("CREATE USER {name}@'%' IDENTIFIED BY 'pw'"));
    admin.ok(format!("GRANT {granted} TO {name}@'%'"));
    stage.administer([
        &format!("INSERT INTO mysql_users (username, password) VALUES ('{name}', 'pw')"),
        "LOAD MYSQL USERS TO RUNTIME",
    ]);
    let session = stage.proxy.client(&Login::new(&name, "pw").schema(&stage.schema));
    (name, session)
}
