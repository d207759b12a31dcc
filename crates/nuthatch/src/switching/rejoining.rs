//! Old primaries that were replaced: each is looked for until it follows the new one, or nobody knows it any more.

use std::time::Duration;

use nuthatch_config::{AccessFinding, ServerName};
use nuthatch_failover::{Rejoined, rejoin, takes_writes_again};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::failing_over::ANSWER;
use super::fenced::Old;
use super::losses::KnownBy;
use super::{Switching, is_equipped, replication};

/// Between two looks for one that is not there.
const PAUSE: Duration = Duration::from_millis(500);

/// One that has a surplus is looked at every so many times only: until somebody has built it anew.
const PATIENT: u32 = 20;

/// Looks for them until `stop`.
pub(crate) async fn keep(switching: Switching, stop: CancellationToken) {
    while stop.run_until_cancelled(sleep(PAUSE)).await.is_some() {
        for old in switching.fenced.all() {
            let now = look(&switching, &old).await;
            switching.fenced.put(&old, now);
        }
    }
}

/// What is known of it now; none if it follows, or its pair is gone. One that an operator has cut off is looked for when it is let in
/// again.
async fn look(switching: &Switching, old: &Old) -> Option<Old> {
    let mut now = Old { rounds: old.rounds.wrapping_add(1), ..old.clone() };
    let snapshot = switching.proxy.snapshot();
    let pair = switching.proxy.pair(old.hostgroup)?;
    let is_writer_known = pair.writer.is_some();
    let is_patient = is_writer_known && old.surplus.is_some() && !old.rounds.is_multiple_of(PATIENT);
    if is_patient || is_equipped(&snapshot.mysql).is_err() {
        return Some(now);
    }
    let Some(writer) = pair.writer.or(pair.last_writer) else { return Some(now) };
    if writer == old.name {
        return (!is_writer_known).then_some(now);
    }
    let servers = switching.servers(&pair.servers, &snapshot.mysql);
    let of = |name: &ServerName| servers.iter().find(|(known, ..)| known == name);
    let (Some(old_server), Some(new_server)) = (of(&old.name), of(&writer)) else { return Some(now) };
    let rejoined = match is_writer_known {
        true => rejoin(old_server, new_server, &replication(&snapshot.mysql), old.over_tls, ANSWER).await,
        false if takes_writes_again(old_server, new_server, ANSWER).await => Rejoined::Writes,
        false => Rejoined::NotYet("nobody takes the writes".to_owned()),
    };
    match rejoined {
        Rejoined::Follows => {
            tracing::info!(hostgroup = old.hostgroup.0, server = %old.name, "an old primary follows {writer}");
            switching.proxy.has_become(&old.name, pair.check, &AccessFinding::ReadOnly);
            switching.proxy.readmit(old.hostgroup, &old.name);
            return None;
        }
        Rejoined::Writes => {
            tracing::warn!(
                hostgroup = old.hostgroup.0, server = %old.name,
                "an old primary takes the writes again: somebody has had {writer} follow it"
            );
            switching.proxy.readmit(old.hostgroup, &old.name);
            return None;
        }
        Rejoined::HasSurplus(surplus) => {
            if old.surplus.as_ref() != Some(&surplus) {
                tracing::error!(
                    hostgroup = old.hostgroup.0, server = %old.name, count = surplus.count, gtids = surplus.gtids,
                    "an old primary has transactions that {writer} does not have: it stays out, and must be built anew"
                );
                let time = switching.proxy.unix_seconds_now();
                let both = [&old.name, &writer];
                switching.losses.note(old.hostgroup, both, KnownBy::Surplus, Some(&surplus), time);
            }
            now.surplus = Some(surplus);
        }
        Rejoined::NotYet(why) => {
            tracing::debug!(server = %old.name, why, "an old primary does not follow yet");
        }
    }
    Some(now)
}
