//! Limits of time: of statements, of transactions; statements that are held back, tries, servers that come back slowly.

mod statements;
mod streams;
mod transactions;
mod tries;

use crate::client::{Client, ServerError};
use crate::deadline::Stopwatch;
use crate::proxy::Setup;
use crate::stage::Stage;

/// How many milliseconds the marked statements may take.
const LIMIT_MS: u64 = 300;

/// What a proxy that comes to the aid only after the statement is done would take.
const FAR_TOO_LONG_MS: u128 = 8_000;

/// Statements marked `/*late*/` may take [`LIMIT_MS`].
fn limited() -> Setup {
    Setup::default().rule(format!("rule_id=1, match_pattern='late', timeout={LIMIT_MS}, apply=1"))
}

/// That this is the error for a statement whose time was over.
#[track_caller]
fn assert_late(error: &ServerError) {
    let expected = (1907, "70100", "Query execution was interrupted, query_timeout exceeded");
    assert_eq!((error.code, error.state.as_str(), error.message.as_str()), expected);
}

/// That the statement is ended when its time is over.
#[track_caller]
fn assert_ends_late(client: &mut Client, statement: &str) {
    let watch = Stopwatch::start();
    let answers = client.query_whole(statement).expect("the session goes on");
    let took_ms = watch.elapsed().as_millis();
    match answers.last() {
        Some(Err(error)) => assert_late(error),
        answer => panic!("{statement}: {answer:?}"),
    }
    assert!((u128::from(LIMIT_MS)..FAR_TOO_LONG_MS).contains(&took_ms), "{statement}: {took_ms} ms");
}

/// Statements that the server is at, but for the one that asks.
fn running(stage: &Stage) -> String {
    stage.primary().value(
        "SELECT COUNT(*) FROM information_schema.processlist \
         WHERE command IN ('Query', 'Execute') AND db = DATABASE() AND id <> CONNECTION_ID()",
    )
}
