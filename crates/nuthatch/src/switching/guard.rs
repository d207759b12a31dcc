//! Watches over the primaries of pairs: one that the monitor does not reach is replaced, if that is configured and proven to be right.
//!
//! It trusts no old evidence: each try looks anew, and what the monitor has told is forgotten if this process stood still.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use nuthatch_config::HostgroupId;
use nuthatch_failover::{Outcome, Report};
use nuthatch_monitor::Lookout;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::{Suspicions, Switching};

/// It looks this often whether there is something to do, news or none.
const TICK: Duration = Duration::from_millis(200);

/// It has stood still that wakes so much too late.
const STANDSTILL: Duration = Duration::from_secs(1);

/// Between two tries: a little longer each time, for servers that are asked have something else to do.
const PAUSE_MIN: Duration = Duration::from_millis(150);
const PAUSE_MAX: Duration = Duration::from_secs(2);

/// The same where replicas were told to connect anew.
const PAUSE_DISTURBED: Duration = Duration::from_secs(15);

/// The tries for one pair.
#[derive(Debug)]
struct Tries {
    not_before: Instant,
    pause: Duration,
    /// What was told last, so that it is told once.
    told: String,
}

/// Guards until `stop`.
pub(crate) async fn keep(
    switching: Switching,
    suspicions: Suspicions,
    lookout: Lookout,
    stop: CancellationToken,
) {
    let mut tries = HashMap::new();
    loop {
        let began = Instant::now();
        tokio::select! {
            () = stop.cancelled() => return,
            () = suspicions.news() => {}
            () = sleep(TICK) => {}
        }
        let stood = began.elapsed();
        if stood > TICK + STANDSTILL {
            tracing::warn!(
                ms = stood.as_millis(),
                "this proxy stood still: what it has seen of servers is old"
            );
            suspicions.forget_all();
            tries.clear();
            continue;
        }
        look(&switching, &suspicions, &lookout, &mut tries).await;
    }
}

/// Tries what is due.
async fn look(
    switching: &Switching,
    suspicions: &Suspicions,
    lookout: &Lookout,
    tries: &mut HashMap<HostgroupId, Tries>,
) {
    let guarded = switching.guarded();
    tries.retain(|hostgroup, _| {
        guarded.iter().any(|(known, primary)| known == hostgroup && suspicions.of(primary).is_some())
    });
    for (hostgroup, primary) in guarded {
        let Some(silence) = suspicions.of(&primary) else { continue };
        let known = tries.entry(hostgroup).or_insert_with(|| Tries {
            not_before: Instant::now(),
            pause: PAUSE_MIN,
            told: String::new(),
        });
        if known.not_before > Instant::now() {
            continue;
        }
        let report = switching.fail_over_alone(hostgroup, silence).await;
        known.pause(report.as_ref().is_ok_and(|report| report.has_disturbed));
        if let Some(why) = refusal(report).filter(|why| *why != known.told) {
            tracing::warn!(hostgroup = hostgroup.0, %primary, why, "no failover: the primary is not replaced");
            known.told = why;
        }
        // Somebody else may have done it: who writes is to be known at once.
        switching.servers_of(hostgroup).iter().for_each(|server| lookout.look_at(server));
    }
}

impl Tries {
    fn pause(&mut self, has_disturbed: bool) {
        // Two proxies that hinder each other are not to do so again.
        let by_chance = Duration::from_millis(RandomState::new().hash_one(0) % 100);
        self.not_before =
            Instant::now() + if has_disturbed { PAUSE_DISTURBED } else { self.pause + by_chance };
        self.pause = (self.pause * 5 / 4).min(PAUSE_MAX);
    }
}

/// Why nothing was done; none if something was.
fn refusal(report: Result<Report, String>) -> Option<String> {
    match report {
        Ok(Report { outcome: Outcome::Refused(findings), .. }) => {
            let whys: Vec<_> = findings.into_iter().map(|one| one.what).collect();
            Some(whys.join("; "))
        }
        Ok(_) => None,
        Err(why) => Some(why),
    }
}
