//! Switchovers that were begun and that nobody brings to an end, as their proxy has ended in the middle: each is taken back.

use std::collections::HashMap;
use std::time::Duration;

use nuthatch_config::AccessFinding;
use nuthatch_failover::{Begun, Interrupted, look_at_interrupted, take_back};
use nuthatch_proxy::Pair;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::failing_over::ANSWER;
use super::memory::{By, Came, Kind};
use super::{Switching, is_equipped};

/// Between two looks at those that are known.
const PAUSE: Duration = Duration::from_millis(500);

/// One that was begun longer ago is told of: somebody may have had everything read-only since, and want it so.
const YOUNG_S: u64 = 600;

/// Takes back, until `stop`, what nobody brings to an end.
pub(crate) async fn keep(switching: Switching, stop: CancellationToken) {
    let mut told = HashMap::new();
    while stop.run_until_cancelled(sleep(PAUSE)).await.is_some() {
        for (begun, time) in switching.memory.ledger.all() {
            match look(&switching, &begun, time).await {
                Stands::MayBeUnderWay => {}
                Stands::Ended => drop(told.remove(&begun.hostgroup)),
                Stands::Open(why) => {
                    if told.get(&begun.hostgroup) != Some(&why) {
                        tracing::error!(hostgroup = begun.hostgroup.0, "{why}");
                        told.insert(begun.hostgroup, why);
                    }
                }
            }
        }
    }
}

/// How it stands with one that was begun.
enum Stands {
    /// Somebody may bring it to an end.
    MayBeUnderWay,
    /// It was, or is taken back.
    Ended,
    /// It is not, and why: a sentence.
    Open(String),
}

/// Looks how it stands, and takes it back if nobody else does.
async fn look(switching: &Switching, begun: &Begun, time: u64) -> Stands {
    let snapshot = switching.proxy.snapshot();
    let pair = switching.proxy.pair(begun.hostgroup);
    let (Some(pair), Ok(())) = (pair, is_equipped(&snapshot.mysql)) else { return Stands::MayBeUnderWay };
    if switching.turns.take(&pair.servers).is_err() {
        return Stands::MayBeUnderWay;
    }
    let servers = switching.servers(&pair.servers, &snapshot.mysql);
    match look_at_interrupted(begun, &servers, ANSWER).await {
        Interrupted::Over => {
            switching.memory.ledger.end_of(begun, time);
            Stands::Ended
        }
        Interrupted::NotKnown(why) => Stands::Open(why),
        Interrupted::ToBeTakenBack if time + YOUNG_S < switching.proxy.unix_seconds_now() => {
            Stands::Open(format!(
                "a switchover from {} to {} was begun long ago, and no server takes writes: lift read_only on one of them",
                begun.old, begun.new
            ))
        }
        Interrupted::ToBeTakenBack => end(switching, begun, &pair).await,
    }
}

/// Takes it back, if nobody else changes roles meanwhile.
async fn end(switching: &Switching, begun: &Begun, pair: &Pair) -> Stands {
    let Ok(turn) = switching.turns.take(&pair.servers) else { return Stands::MayBeUnderWay };
    let servers = switching.servers(&pair.servers, &switching.proxy.snapshot().mysql);
    let attempt = switching.attempt(Kind::Repair, By::Proxy, begun.hostgroup);
    let taken_back = take_back(begun, &servers, pair.configured, ANSWER).await;
    drop(turn);
    let what = match taken_back {
        Ok(what) => what,
        Err(why) => return Stands::Open(why),
    };
    tracing::warn!(hostgroup = begun.hostgroup.0, "{what}");
    switching.proxy.has_become(&begun.old, pair.check, &AccessFinding::Writable);
    switching.memory.history.note(attempt, [Some(&begun.new), Some(&begun.old)], Came::done(what));
    switching.memory.ledger.end(begun.hostgroup);
    Stands::Ended
}
