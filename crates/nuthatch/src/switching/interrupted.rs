//! Switchovers that were begun and that nobody brings to an end, as their proxy has ended in the middle: each is taken back.

use std::time::Duration;

use nuthatch_config::AccessFinding;
use nuthatch_failover::{Begun, Interrupted, take_back};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::failing_over::ANSWER;
use super::memory::{By, Came, Kind};
use super::{Switching, is_equipped};

/// Between two looks at those that are known.
const PAUSE: Duration = Duration::from_millis(500);

/// Takes back, until `stop`, what nobody brings to an end.
pub(crate) async fn keep(switching: Switching, stop: CancellationToken) {
    let mut told = String::new();
    while stop.run_until_cancelled(sleep(PAUSE)).await.is_some() {
        for begun in switching.memory.ledger.all() {
            if let Some(why) = look(&switching, &begun).await.filter(|why| *why != told) {
                tracing::error!(hostgroup = begun.hostgroup.0, "{why}");
                told = why;
            }
        }
    }
}

/// Why it is not known, or not done; none where nothing is to be told.
async fn look(switching: &Switching, begun: &Begun) -> Option<String> {
    let snapshot = switching.proxy.snapshot();
    let pair = switching.proxy.pair(begun.hostgroup);
    let (Some(pair), Ok(())) = (pair, is_equipped(&snapshot.mysql)) else { return None };
    // It is under way.
    let turn = switching.turns.take(&pair.servers).ok()?;
    let servers = switching.servers(&pair.servers, &snapshot.mysql);
    let attempt = switching.attempt(Kind::Repair, By::Proxy, begun.hostgroup);
    let taken_back = take_back(begun, &servers, ANSWER).await;
    drop(turn);
    match taken_back {
        Interrupted::NotYet(why) => return Some(why),
        Interrupted::Over => {}
        Interrupted::TakenBack(what) => {
            tracing::warn!(hostgroup = begun.hostgroup.0, "{what}");
            switching.proxy.has_become(&begun.old, pair.check, &AccessFinding::Writable);
            switching.memory.history.note(attempt, [Some(&begun.new), Some(&begun.old)], Came::done(what));
        }
    }
    switching.memory.ledger.end(begun.hostgroup);
    None
}
