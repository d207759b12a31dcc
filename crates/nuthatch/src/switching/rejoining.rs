//! Old primaries that were replaced: each is looked for until it follows the new one, or nobody knows it any more.

use std::time::Duration;

use nuthatch_config::{AccessFinding, ServerName};
use nuthatch_failover::{Lacking, Rejoined, Rejoining, rejoin};
use nuthatch_proxy::Pair;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::crew::Crew;
use super::failing_over::{ANSWER, OFF};
use super::memory::{By, Came, Kind, Old};
use super::{Suspicions, Switching, is_equipped, replication};

/// Between two looks for one that is not there.
const PAUSE: Duration = Duration::from_millis(500);

/// One that has a surplus, or cannot be made to follow, is looked at every so many times only: until somebody has built it anew, or given the
/// accounts what they lack. While it is told to follow, nobody else can change roles there.
const PATIENT: u32 = 20;

/// After so many tries it cannot.
const FAILURES: u32 = 5;

/// In how many looks in a row an old primary must take writes, and the new one not be there, until the old one is let in again.
const ALONE: u32 = 3;

/// Why nothing is sent to it.
const WHY: &str = "a failover replaced it, and it does not follow yet";

/// Looks for them until `stop`, for all at once: one that hangs makes no other wait.
pub(crate) async fn keep(switching: Switching, suspicions: Suspicions, stop: CancellationToken) {
    let mut crew = Crew::new(&switching.tasks);
    while stop.run_until_cancelled(sleep(PAUSE)).await.is_some() {
        switching.tell_expected_losses();
        for old in switching.memory.fenced.all() {
            let (switching, suspicions) = (switching.clone(), suspicions.clone());
            crew.begin((old.hostgroup, old.name.clone()), async move {
                let now = look(&switching, &suspicions, &old).await;
                switching.memory.fenced.put(&old, now);
            });
        }
    }
}

/// What is known of it now; none if it follows, or takes the writes. One that an operator has cut off is looked for when it is let in
/// again.
async fn look(switching: &Switching, suspicions: &Suspicions, old: &Old) -> Option<Old> {
    let mut now = Old { rounds: old.rounds.wrapping_add(1), ..old.clone() };
    let snapshot = switching.proxy.snapshot();
    // It may be configured again.
    let Some(pair) = switching.proxy.pair(old.hostgroup) else { return Some(now) };
    if is_equipped(&snapshot.mysql).is_err() {
        return Some(now);
    }
    // While the monitor was off nothing was fenced: it may write since.
    if switching.found_writer(old.hostgroup).as_ref() == Some(&old.name) {
        return None;
    }
    if switching.memory.fenced.has(old.hostgroup, &old.name) {
        switching.proxy.fence(old.hostgroup, &old.name, WHY);
    }
    let is_writer_known = pair.writer.is_some();
    let Some(writer) = pair.writer.clone().or_else(|| pair.last_writer.clone()) else { return Some(now) };
    let is_well = is_writer_known && suspicions.of(&writer).is_none();
    let takes_long = old.surplus.is_some() || old.failures >= FAILURES;
    let is_patient = is_well && takes_long && !old.rounds.is_multiple_of(PATIENT);
    if is_patient || writer == old.name {
        return Some(now);
    }
    let servers = switching.servers(&pair.servers, &snapshot.mysql);
    let of = |name: &ServerName| servers.iter().find(|(known, ..)| known == name);
    let (Some(old_server), Some(new_server)) = (of(&old.name), of(&writer)) else { return Some(now) };
    let replication = replication(&snapshot.mysql);
    let rejoining = match is_writer_known && snapshot.mysql.failover != OFF {
        true => Rejoining::Follow { replication: &replication, over_tls: old.over_tls },
        false => Rejoining::Look,
    };
    let rejoined = rejoin(old_server, new_server, &servers, rejoining, ANSWER).await;
    if !matches!(rejoined, Rejoined::WritesAlone { .. }) {
        now.alone = 0;
    }
    take_note(switching, now, rejoined, (&pair, &writer, is_well))
}

/// What is known of it then; none if statements go to it again. `is_well` says that the writer is there.
fn take_note(
    switching: &Switching,
    mut now: Old,
    rejoined: Rejoined,
    (pair, writer, is_well): (&Pair, &ServerName, bool),
) -> Option<Old> {
    match rejoined {
        Rejoined::Follows => {
            tracing::info!(hostgroup = now.hostgroup.0, server = %now.name, "an old primary follows {writer}");
            switching.proxy.has_become(&now.name, pair.check, &AccessFinding::ReadOnly);
            switching.proxy.readmit(now.hostgroup, &now.name);
            switching.proxy.forget_acknowledged(&now.name);
            note(switching, &now, writer, Came::done(format!("{} follows {writer}", now.name)));
            return None;
        }
        Rejoined::Writes => {
            let why = format!("somebody has had {writer} follow it");
            return (!let_in(switching, &now, writer, pair, &why)).then_some(now);
        }
        // Somebody has lifted read_only there.
        Rejoined::WritesAlone { up_s } if !is_well && is_same_process(&now, up_s) => {
            now.alone += 1;
            let why = format!("somebody wants that, and {writer} is not there");
            if now.alone >= ALONE && let_in(switching, &now, writer, pair, &why) {
                return None;
            }
        }
        Rejoined::WritesAlone { .. } => {
            now.alone = 0;
            tracing::debug!(server = %now.name, "an old primary takes writes, and {writer} is not there");
        }
        Rejoined::HasSurplus(surplus) => {
            if now.surplus.as_ref() != Some(&surplus) {
                tell_surplus(switching, &now, writer, &surplus);
            }
            (now.surplus, now.read_only_at) = (Some(surplus), Some(Instant::now()));
        }
        Rejoined::NotYet { why, is_read_only } => {
            now.read_only_at = is_read_only.then(Instant::now).or(now.read_only_at);
            now.failures = if is_read_only && is_well { now.failures.saturating_add(1) } else { 0 };
            tracing::debug!(server = %now.name, why, "an old primary does not follow yet");
        }
    }
    Some(now)
}

/// Whether who takes writes now was seen to be read-only by this proxy, and has not been started anew since, as its configuration has it.
fn is_same_process(old: &Old, up_s: u64) -> bool {
    // Servers count whole seconds.
    old.read_only_at.is_some_and(|then| then.elapsed().as_secs() + 2 < up_s)
}

fn note(switching: &Switching, old: &Old, writer: &ServerName, came: Came) {
    let attempt = switching.attempt(Kind::Rejoin, By::Proxy, old.hostgroup);
    switching.memory.history.note(attempt, [Some(&old.name), Some(writer)], came);
}

/// It has what the new primary does not have: somebody must look at it.
fn tell_surplus(switching: &Switching, old: &Old, writer: &ServerName, surplus: &Lacking) {
    let what = format!(
        "{} has transactions that {writer} does not have: it stays out, and must be built anew",
        old.name
    );
    let (hostgroup, count, gtids) = (old.hostgroup.0, surplus.count, &surplus.gtids);
    tracing::error!(hostgroup, count, gtids, "an old primary: {what}");
    let time = switching.proxy.unix_seconds_now();
    switching.memory.losses.note_surplus(old.hostgroup, [&old.name, writer], surplus, time);
    note(switching, old, writer, Came::refused(what));
}

/// Statements go to it again, unless somebody changes roles just now. Returns whether they do.
fn let_in(switching: &Switching, old: &Old, writer: &ServerName, pair: &Pair, why: &str) -> bool {
    let Ok(_turn) = switching.turns.take(&pair.servers) else { return false };
    let what = format!("{} takes the writes again: {why}", old.name);
    tracing::warn!(hostgroup = old.hostgroup.0, "an old primary: {what}");
    switching.proxy.readmit(old.hostgroup, &old.name);
    note(switching, old, writer, Came::done(what));
    true
}
