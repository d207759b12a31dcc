//! What failovers have left that nobody finished, looked for again and again, and mended where `mysql-failover` = `auto`: replicas that were
//! left behind, and who writes that still knows whom it followed.

use std::collections::HashMap;
use std::time::Duration;

use nuthatch_config::{HostgroupId, ServerName};
use nuthatch_failover::{Care, Leftover, look_for_leftover};
use nuthatch_proxy::Pair;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::failing_over::{ANSWER, AUTO};
use super::memory::{By, Came, Kind};
use super::{Switching, replication};

/// Between two looks at all of them.
const PAUSE: Duration = Duration::from_secs(2);

/// In how many looks in a row it must have been left behind: somebody may be about to tell it.
const LOOKS: u32 = 3;

/// What is known of a server that something is to be done with.
#[derive(Debug, Default)]
struct Known {
    looks: u32,
    /// What was told of it last.
    told: String,
}

/// Looks for them until `stop`.
pub(crate) async fn keep(switching: Switching, stop: CancellationToken) {
    let mut all: HashMap<(HostgroupId, ServerName), Known> = HashMap::new();
    while stop.run_until_cancelled(sleep(PAUSE)).await.is_some() {
        let mut found = HashMap::new();
        for (hostgroup, _) in switching.replaceable() {
            let Some(pair) = switching.proxy.pair(hostgroup) else { continue };
            for name in &pair.servers {
                let key = (hostgroup, name.clone());
                let known = all.remove(&key).unwrap_or_default();
                if let Some(known) = look(&switching, hostgroup, &pair, name, known).await {
                    found.insert(key, known);
                }
            }
        }
        all = found;
    }
}

/// What is known of a server now; none if nothing is to be done with it.
async fn look(
    switching: &Switching,
    hostgroup: HostgroupId,
    pair: &Pair,
    name: &ServerName,
    mut known: Known,
) -> Option<Known> {
    let writer = pair.writer.as_ref()?;
    if switching.memory.fenced.has(hostgroup, name) {
        return None;
    }
    let snapshot = switching.proxy.snapshot();
    let servers = switching.servers(&pair.servers, &snapshot.mysql);
    let of = |name: &ServerName| servers.iter().find(|(known, ..)| known == name);
    let (server, writer) = (of(name)?, of(writer)?);
    known.looks += 1;
    let is_due = known.looks >= LOOKS;
    // Nobody changes roles meanwhile.
    let names = [name.clone(), writer.0.clone()];
    let may_mend = is_due && snapshot.mysql.failover == AUTO;
    let turn = if may_mend { switching.turns.take(&names).ok() } else { None };
    let account = replication(&snapshot.mysql);
    let care = if turn.is_some() { Care::Repair(&account) } else { Care::Look };
    let found = look_for_leftover(server, writer, &servers, care, ANSWER).await;
    drop(turn);
    let note = |came: Came| {
        let attempt = switching.attempt(Kind::Repair, By::Proxy, hostgroup);
        switching.memory.history.note(attempt, [Some(name), Some(&writer.0)], came);
    };
    match found {
        Leftover::None => return None,
        Leftover::Mended(what) => {
            tracing::warn!(hostgroup = hostgroup.0, server = %name, "{what}");
            note(Came::done(what));
            return None;
        }
        Leftover::Found(_) if !is_due => {}
        Leftover::Found(why) | Leftover::Left(why) => {
            if known.tell(hostgroup, name, &why) {
                note(Came::refused(why));
            }
        }
    }
    Some(known)
}

impl Known {
    /// Returns whether that is news.
    fn tell(&mut self, hostgroup: HostgroupId, server: &ServerName, why: &str) -> bool {
        let is_news = self.told != why;
        if is_news {
            tracing::error!(hostgroup = hostgroup.0, %server, why, "what a failover has left is to be mended");
            why.clone_into(&mut self.told);
        }
        is_news
    }
}
